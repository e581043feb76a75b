"""Generates hospital discharges: skewed, seeded, and in memory that does not grow with them."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

# Also the unit of generation, so that it bounds the memory.
# Between DuckDB's default (122,880) and pyarrow's (1,048,576).
RECORDS_PER_ROW_GROUP = 250_000

FIRST_DAY = np.datetime64("2024-01-01", "D")
N_DAYS = 731
N_REGIONS = 40
N_POSTCODES_PER_REGION = 50
MARITAL_STATUSES = ["single", "married", "divorced", "widowed", "partnership"]
CHILD, PUPIL, RETIRED = NOT_WORKING = ["child", "pupil or student", "retired"]
# The commonest first, as in DIAGNOSES.
TRADES = [
    "clerk", "shop assistant", "nurse", "teacher", "driver", "cleaner", "builder", "cook",
    "engineer", "farmer", "electrician", "mechanic", "accountant", "care worker",
    "warehouse worker", "manager", "programmer", "waiter", "plumber", "police officer",
    "hairdresser", "physician", "social worker", "carpenter", "baker", "painter",
    "security guard", "lawyer", "soldier", "postal worker", "scientist", "artist", "gardener",
    "tailor", "fisher", "pharmacist", "unemployed",
]
OCCUPATIONS = NOT_WORKING + TRADES
# First codes of ICD-10 blocks.
DIAGNOSES = """
    I20 O80 J09 K80 M16 I50 S72 C50 I60 N17 E10 K35 J40 F10 M54 K55 I48 G40 C34 O30 N20 A00 L00
    S06 C18 H25 P05 F32 I70 K20 D50 M17 R07 S82 C61 E86 I10 N30 T80 J18 G45 K70 B20 C81 F20 D10
    O20 Z51 H40 A40 Q20 C43 M05 G20 L40 P59 E66 T36 B15 Q65
""".split()

SCHEMA = pa.schema([
    ("age", pa.int32()),
    ("sex", pa.string()),
    ("postcode", pa.string()),
    ("marital_status", pa.string()),
    ("occupation", pa.string()),
    ("admission_date", pa.date32()),
    ("diagnosis", pa.string()),
])


def write_parquet(path, n_records, seed):
    """Writes the file; of two with the same seed, the shorter is the beginning of the longer."""
    hospital = Hospital(seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    # Without pyarrow's own schema in the file, every reader sees plain strings.
    with pq.ParquetWriter(partial, SCHEMA, compression="snappy", use_dictionary=True,
                          store_schema=False) as writer:
        for chunk_idx, start in enumerate(range(0, n_records, RECORDS_PER_ROW_GROUP)):
            records = hospital.discharges(random_numbers(seed, 1 + chunk_idx))
            table = pa.table(records).slice(0, n_records - start).cast(SCHEMA)
            writer.write_table(table, row_group_size=RECORDS_PER_ROW_GROUP)
    # A file of the final name is a whole one, also after an interruption.
    partial.replace(path)


class Hospital:
    """How the values of a discharge record are distributed, most of them depending on age."""

    # First age of each band.
    BANDS = [0, 6, 18, 30, 45, 67, 80]

    def __init__(self, seed):
        rng = random_numbers(seed, 0)

        # Newborns, births and the old.
        ages = np.arange(101)
        young = np.exp(-(((ages - 30) / 9) ** 2))
        old = np.exp(-(((ages - 74) / 14) ** 2))
        self.age = cumulative(0.15 + young + 2.4 * old + 6 * (ages == 0))

        # A region is a two-digit prefix; a few regions, and a few codes in each, hold most people.
        regions = np.sort(rng.choice(np.arange(1, 100), N_REGIONS, replace=False))
        self.postcodes, weights = [], []
        for region, weight in zip(regions, rng.permutation(zipf(N_REGIONS, 0.8))):
            codes = np.sort(rng.choice(1000, N_POSTCODES_PER_REGION, replace=False))
            self.postcodes += [f"{region:02}{code:03}" for code in codes]
            weights.append(weight * rng.permutation(zipf(N_POSTCODES_PER_REGION, 0.7)))
        self.postcode = cumulative(np.concatenate(weights))

        # Rows as in BANDS, columns as in MARITAL_STATUSES.
        self.marital_status = cumulative([
            [100, 0, 0, 0, 0],
            [100, 0, 0, 0, 0],
            [78, 12, 1, 0, 9],
            [34, 47, 8, 1, 10],
            [16, 60, 16, 3, 5],
            [7, 59, 12, 20, 2],
            [5, 38, 7, 49, 1],
        ])

        child, pupil, retired = np.eye(len(NOT_WORKING), len(OCCUPATIONS))
        working = np.append(np.zeros(len(NOT_WORKING)), zipf(len(TRADES), 0.9))
        self.occupation = cumulative([
            child,
            pupil,
            0.35 * pupil + 0.65 * working,
            working,
            0.12 * retired + 0.88 * working,
            0.93 * retired + 0.07 * working,
            0.99 * retired + 0.01 * working,
        ])

        # The same diagnoses at every age, each with its own emphasis.
        emphasis = rng.lognormal(0.0, 0.8, size=(len(self.BANDS), len(DIAGNOSES)))
        self.diagnosis = cumulative(zipf(len(DIAGNOSES), 0.9) * emphasis)

        # Fewer admissions on weekends, more in winter. Day 0 of numpy's calendar was a Thursday.
        days = np.arange(N_DAYS)
        is_weekend = (FIRST_DAY.astype(int) + 3 + days) % 7 >= 5
        self.day = cumulative((1 - 0.45 * is_weekend) * (1 + 0.15 * np.cos(days * np.pi / 182.6)))

    def discharges(self, rng):
        """One row group of records, as columns."""
        n = RECORDS_PER_ROW_GROUP
        age = draw(rng, self.age, n)
        band = np.searchsorted(self.BANDS, age, side="right") - 1
        is_male = rng.random(n) < 0.48
        return {
            "age": age,
            "sex": text(is_male, ["female", "male"]),
            "postcode": text(draw(rng, self.postcode, n), self.postcodes),
            "marital_status": text(draw_by_band(rng, self.marital_status, band), MARITAL_STATUSES),
            "occupation": text(draw_by_band(rng, self.occupation, band), OCCUPATIONS),
            "admission_date": FIRST_DAY + draw(rng, self.day, n),
            "diagnosis": text(draw_by_band(rng, self.diagnosis, band), DIAGNOSES),
        }


def random_numbers(seed, stream):
    return np.random.Generator(np.random.PCG64([seed, stream]))


def zipf(n, exponent):
    weights = 1 / np.arange(1, n + 1) ** exponent
    return weights / weights.sum()


def cumulative(weights):
    """Running shares along the last axis, ending in exactly 1."""
    sums = np.cumsum(weights, axis=-1)
    return sums / sums[..., -1:]


def draw(rng, shares, n):
    return np.searchsorted(shares, rng.random(n), side="right")


def draw_by_band(rng, shares_by_band, band):
    uniform = rng.random(len(band))
    codes = np.empty(len(band), dtype=np.int16)
    for band_idx, shares in enumerate(shares_by_band):
        members = band == band_idx
        codes[members] = np.searchsorted(shares, uniform[members], side="right")
    return codes


def text(codes, labels):
    return pa.DictionaryArray.from_arrays(codes.astype(np.int16), labels)
