"""Makes up the two workbooks of the tutorial: patients.xlsx, and patients-2025.xlsx, the next delivery.

    python3 examples/patients/make.py

Nobody in them exists. The same Python gives the same cells; nothing beyond its standard library is needed.
"""

import datetime
import pathlib
import random
import zipfile

FIRST = "Ada Bela Cleo Dario Edda Fedor Gita Hugo Ines Jonas Kira Leo Mara Nils Olga Pavel Rosa Sami Tilda Ugo Vera Willem Xenia Yaro".split()
LAST = "Aalto Brand Costa Dubois Eriksen Ferrari Garcia Horvat Ivanov Jansen Kowalski Lund Meyer Novak Olsen Petrov Quist Rossi".split()
ILLNESSES = ["angina", "infarction", "arrhythmia", "appendicitis", "hernia", "gallstones", "pneumonia", "diabetes", "anaemia",
             "hip fracture", "arthrosis", "back pain"]
HEADER = ["patient_no", "name", "sex", "age", "postcode", "admitted", "diagnosis", "nights"]


def patients(n: int, year: int, seed: int) -> list[list]:
    chance = random.Random(seed)
    rows = []
    for number in range(n):
        age = min(97, max(18, round(chance.gauss(58, 17))))
        day = datetime.date(year, 1, 1) + datetime.timedelta(chance.randrange(365))
        postcode = f"{chance.choice(['101', '101', '102', '205'])}{chance.randrange(20):02}"
        name = f"{chance.choice(FIRST)} {chance.choice(LAST)}-{chance.choice(LAST)}"
        rows.append([f"P{year}-{number + 1:04}", name, chance.choice(["female", "male"]), age, postcode, day,
                     chance.choice(ILLNESSES), 1 + int(chance.expovariate(0.25))])
    return rows


def cell(value) -> str:
    if isinstance(value, datetime.date):
        return f'<c s="1"><v>{(value - datetime.date(1899, 12, 30)).days}</v></c>'
    if isinstance(value, int):
        return f"<c><v>{value}</v></c>"
    return f'<c t="inlineStr"><is><t>{value}</t></is></c>'


def write(path: pathlib.Path, rows: list[list]) -> None:
    head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    types = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    lines = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in [HEADER, *rows])
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{types}.sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{types}.styles+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{types}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="rId1" Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}">'
        '<sheets><sheet name="patients" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="rId1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="rId2" Type="{office}/styles" Target="styles.xml"/></Relationships>',
        # The second format is that of dates.
        "xl/styles.xml": f'<styleSheet xmlns="{main}"><fonts><font/></fonts><fills><fill/></fills><borders><border/></borders>'
        '<cellStyleXfs><xf/></cellStyleXfs><cellXfs><xf/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{lines}</sheetData></worksheet>',
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, text in parts.items():
            book.writestr(zipfile.ZipInfo(name), head + text, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    here = pathlib.Path(__file__).parent
    write(here / "patients.xlsx", patients(600, 2024, 1))
    write(here / "patients-2025.xlsx", patients(640, 2025, 2))
