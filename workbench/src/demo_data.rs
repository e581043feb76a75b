//! A made-up hospital to try things on: two years of discharges, and the project that describes them.
//!
//! Nobody in it exists. What is true to life is how the values hang together: who is married, who works as what,
//! who comes with which diagnosis and when. Without that, a table is either too easy or too hard to hide in.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use incrowd::Result;

use crate::input::project::FILE_NAME;
use crate::io_error;

/// The size and the seed of the table that [`REQUESTS`] are about.
pub const N_RECORDS: usize = 60_000;
pub const SEED: u64 = 1;

/// Three things to ask of that table: what each shows, and the flags of `negotiate` that ask it.
pub const REQUESTS: [(&str, &str); 3] = [
    (
        "the request is met: ages to ten years, two digits of the postcode, admissions by quarter",
        "--k 5 --max-suppressed 2% \
         --max-level age=2,sex=0,postcode=3,marital_status=1,occupation=1,admission_date=2",
    ),
    (
        "twice the crowd is too much to ask, and there are three ways out",
        "--k 10 --max-suppressed 2% \
         --max-level age=2,sex=0,postcode=3,marital_status=1,occupation=1,admission_date=2",
    ),
    (
        "no crowd shares one diagnosis any more, and few more records are lost for it",
        "--k 5 --l 3 --max-suppressed 2% \
         --max-level age=2,sex=0,postcode=3,marital_status=1,occupation=1,admission_date=2",
    ),
];

/// Writes the table, its hierarchies and the project file into a folder, which is made if need be.
///
/// The same number of records and the same seed give the same bytes on every machine: all arithmetic is in whole
/// numbers, because the mathematical functions of floating point round differently from one platform to the next.
pub fn write(folder: &Path, n_records: usize, seed: u64) -> Result<()> {
    let hierarchies = folder.join("hierarchies");
    std::fs::create_dir_all(&hierarchies).map_err(|error| io_error(&hierarchies, error))?;
    let table = folder.join("discharges.csv");
    write_discharges(&table, n_records, seed).map_err(|error| io_error(&table, error))?;
    let occupations = NOT_WORKING.into_iter().chain(TRADES.iter().map(|trade| (trade.name, trade.group)));
    for (path, text) in [
        (hierarchies.join("marital_status.csv"), hierarchy_text(MARITAL_STATUSES.into_iter())),
        (hierarchies.join("occupation.csv"), hierarchy_text(occupations)),
        (folder.join(FILE_NAME), PROJECT.to_string()),
    ] {
        std::fs::write(&path, text).map_err(|error| io_error(&path, error))?;
    }
    Ok(())
}

const PROJECT: &str = r#"# Two years of discharges from a hospital that does not exist.
#
# "incrowd negotiate" says whether what stands under [request] can be met, and if not, what could be.
#
# Levels count up from 0, the value as it is; the last level of every attribute is "*", nothing said at all.

[data]
path = "discharges.csv"
missing = [""]                # an empty cell means "no value" …
missing_records = "drop"      # … and a record that lacks one is left out; "keep" makes "no value" a value
other = "keep"                # what has no role below, or the role "other", is published as it is

# Whose record it is: never published. Some patients come back, and k counts patients, however often they came.
[attributes.patient_id]
role = "person"

# What a neighbour, an employer or a newspaper may know about a patient: published coarser, if need be.
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20, 40], origin = 0 }     # levels 1 to 4; level 5 is "*"
weight = 2.0                                                # the analyst cares twice as much as for the others

[attributes.sex]
role = "quasi-identifier"                                   # no hierarchy: as it is, or "*"

[attributes.postcode]
role = "quasi-identifier"
hierarchy = { mask = 5 }                                    # level 1 hides the last digit, level 5 all of them

[attributes.marital_status]
role = "quasi-identifier"
hierarchy = "hierarchies/marital_status.csv"                # one line per value: the value, its group, "*"

[attributes.occupation]
role = "quasi-identifier"
hierarchy = "hierarchies/occupation.csv"

[attributes.admission_date]
role = "quasi-identifier"
hierarchy = { dates = ["month", "quarter", "year"] }        # levels 1 to 3; level 4 is "*"

# What nobody should learn about a person: published as it is, but only within a crowd.
[attributes.diagnosis]
role = "sensitive"

# Neither what a person is known by, nor what would harm one if it were known.
[attributes.length_of_stay]
role = "other"

# What is wished for; the flags of negotiate override it.
[request]
k = 5                         # of every published group there are at least 5 patients
max_suppressed = "2%"         # at most so many records are lost
# and nothing coarser than this:
# max_level = { age = 2, sex = 0, postcode = 3, marital_status = 1, occupation = 1, admission_date = 2 }
"#;

const HEADER: &str = "patient_id,age,sex,postcode,marital_status,occupation,admission_date,length_of_stay,diagnosis\n";

/// One in so many records lacks a value.
const RECORDS_PER_MISSING: u64 = 200;

const SEXES: [&str; 2] = ["male", "female"];
const MALE: usize = 0;
const FEMALE: usize = 1;

/// How many people of an age come, at some ages; straight lines in between.
/// Newborns, births around 30, and then the old until few are left.
const AGE_WEIGHTS: [(u64, u64); 14] = [
    (0, 700),
    (1, 160),
    (4, 80),
    (11, 60),
    (17, 90),
    (24, 160),
    (32, 200),
    (43, 130),
    (52, 190),
    (63, 290),
    (75, 380),
    (82, 330),
    (91, 80),
    (98, 4),
];

/// The ages at which illness, and who comes with it, changes most; between 15 and 50 women also come to give birth.
const HEALTH_FROM_AGE: [u64; 9] = [0, 1, 15, 20, 30, 40, 50, 65, 80];
/// Women per thousand of each age.
const WOMEN: [u64; 9] = [480, 450, 540, 660, 630, 480, 450, 470, 590];

const MARITAL_STATUSES: [(&str, &str); 6] = [
    ("single", "without partner"),
    ("married", "with partner"),
    ("partnership", "with partner"),
    ("divorced", "without partner"),
    ("separated", "without partner"),
    ("widowed", "without partner"),
];
const MARITAL_FROM_AGE: [u64; 7] = [0, 18, 25, 35, 50, 65, 80];
/// Per thousand of each age, in the order of the statuses.
const MARITAL_WEIGHTS: [[u64; 6]; 7] = [
    [1000, 0, 0, 0, 0, 0],
    [920, 40, 35, 2, 3, 0],
    [540, 340, 60, 30, 25, 5],
    [240, 550, 50, 110, 40, 10],
    [120, 600, 30, 160, 40, 50],
    [60, 600, 15, 120, 15, 190],
    [50, 380, 5, 70, 5, 490],
];

const NOT_WORKING: [(&str, &str); 6] = [
    ("child", "child or in education"),
    ("pupil", "child or in education"),
    ("student", "child or in education"),
    ("retired", "not in work"),
    ("homemaker", "not in work"),
    ("job seeker", "not in work"),
];
const STUDENT: &str = "student";
const HOMEMAKER: usize = 4;
const STAGE_FROM_AGE: [u64; 9] = [0, 6, 19, 25, 35, 55, 63, 67, 75];
/// Per thousand of each age: the six above, then all who work.
const STAGE_WEIGHTS: [[u64; 7]; 9] = [
    [1000, 0, 0, 0, 0, 0, 0],
    [0, 1000, 0, 0, 0, 0, 0],
    [0, 50, 430, 0, 20, 70, 430],
    [0, 0, 60, 0, 70, 70, 800],
    [0, 0, 0, 10, 70, 70, 850],
    [0, 0, 0, 140, 70, 70, 720],
    [0, 0, 0, 600, 60, 10, 330],
    [0, 0, 0, 960, 24, 0, 16],
    [0, 0, 0, 978, 20, 0, 2],
];

/// An occupation of those who work, and how many of a thousand men and of a thousand women have it.
struct Trade {
    name: &'static str,
    group: &'static str,
    n_of_sex: [u64; 2],
}

const PROFESSIONAL: &str = "office and professional work";
const MANUAL: &str = "manual and service work";

const TRADES: [Trade; 20] = [
    trade("accountant", PROFESSIONAL, 35, 55),
    trade("civil servant", PROFESSIONAL, 55, 75),
    trade("clerk", PROFESSIONAL, 60, 150),
    trade("engineer", PROFESSIONAL, 75, 15),
    trade("manager", PROFESSIONAL, 60, 35),
    trade("nurse", PROFESSIONAL, 20, 110),
    trade("physician", PROFESSIONAL, 20, 20),
    trade("programmer", PROFESSIONAL, 55, 15),
    trade("teacher", PROFESSIONAL, 35, 90),
    trade("builder", MANUAL, 95, 5),
    trade("care worker", MANUAL, 20, 100),
    trade("cleaner", MANUAL, 15, 65),
    trade("cook", MANUAL, 30, 30),
    trade("driver", MANUAL, 100, 10),
    trade("electrician", MANUAL, 75, 5),
    trade("farmer", MANUAL, 30, 15),
    trade("hairdresser", MANUAL, 5, 35),
    trade("mechanic", MANUAL, 90, 5),
    trade("shop assistant", MANUAL, 45, 125),
    trade("warehouse worker", MANUAL, 80, 40),
];
const FARMER: &str = "farmer";

const fn trade(name: &'static str, group: &'static str, n_men: u64, n_women: u64) -> Trade {
    Trade { name, group, n_of_sex: [n_men, n_women] }
}

/// Where people live: the first three digits, how many postcodes begin with them, and how many of a thousand have one.
struct District {
    digits: &'static str,
    n_postcodes: usize,
    n_people: u64,
    is_urban: bool,
}

/// A city, a town and the country around them, and nobody from farther away.
const DISTRICTS: [District; 14] = [
    district("040", 38, 270, true),
    district("041", 32, 190, true),
    district("043", 20, 55, false),
    district("046", 14, 30, false),
    district("048", 10, 15, false),
    district("061", 28, 150, true),
    district("062", 18, 50, false),
    district("064", 14, 30, false),
    district("067", 12, 20, false),
    district("069", 10, 15, false),
    district("310", 20, 100, false),
    district("312", 14, 35, false),
    district("315", 11, 25, false),
    district("317", 9, 15, false),
];

const fn district(digits: &'static str, n_postcodes: usize, n_people: u64, is_urban: bool) -> District {
    District { digits, n_postcodes, n_people, is_urban }
}

/// When people with a diagnosis come.
#[derive(Clone, Copy)]
enum Season {
    /// By appointment: hardly ever on weekends, less in summer and around Christmas.
    Planned,
    /// Any day.
    Any,
    /// Any day, above all in winter.
    Winter,
    /// Any day, a little more in summer and when it freezes.
    Outdoors,
}

/// In the order in which they are declared.
const SEASONS: [Season; 4] = [Season::Planned, Season::Any, Season::Winter, Season::Outdoors];

impl Season {
    /// Admissions on an ordinary day of each month, January first.
    fn by_month(self) -> [u64; 12] {
        match self {
            Season::Planned => [104, 104, 104, 102, 102, 100, 88, 86, 104, 106, 106, 84],
            Season::Any => [100; 12],
            Season::Winter => [170, 180, 140, 100, 80, 65, 55, 55, 75, 95, 115, 150],
            Season::Outdoors => [106, 98, 90, 94, 104, 112, 116, 114, 104, 94, 88, 102],
        }
    }

    /// Of a hundred admissions on a weekday, how many there are on a day of the weekend.
    fn on_weekends(self) -> u64 {
        match self {
            Season::Planned => 35,
            Season::Any | Season::Winter => 90,
            Season::Outdoors => 120,
        }
    }
}

/// A group of diagnoses, how long people with it stay, and how many have it.
struct Diagnosis {
    name: &'static str,
    season: Season,
    /// Tenths of a day, for someone neither young nor old.
    stay: u64,
    /// In proportion to the others at the same age; see [`HEALTH_FROM_AGE`].
    men: [u64; 9],
    women: [u64; 9],
}

#[rustfmt::skip]
const DIAGNOSES: [Diagnosis; 18] = [
    diagnosis("Infections", Season::Any, 60,
        [60, 120, 60, 60, 45, 45, 35, 40, 55], [60, 120, 45, 45, 35, 35, 35, 40, 55]),
    diagnosis("Neoplasms", Season::Planned, 80,
        [5, 20, 20, 25, 45, 80, 180, 190, 110], [5, 20, 15, 25, 80, 160, 210, 180, 90]),
    diagnosis("Blood and immune disorders", Season::Any, 55,
        [8, 15, 8, 8, 8, 8, 10, 12, 16], [8, 15, 10, 10, 10, 10, 10, 12, 16]),
    diagnosis("Endocrine and metabolic diseases", Season::Planned, 60,
        [10, 25, 20, 20, 35, 35, 45, 40, 35], [10, 25, 30, 30, 50, 50, 55, 45, 45]),
    diagnosis("Mental disorders", Season::Any, 190,
        [3, 25, 150, 200, 215, 200, 95, 30, 20], [3, 30, 190, 120, 125, 120, 85, 35, 30]),
    diagnosis("Nervous system diseases", Season::Planned, 65,
        [10, 45, 50, 50, 60, 60, 55, 50, 45], [10, 45, 40, 40, 55, 55, 50, 45, 40]),
    diagnosis("Eye and ear diseases", Season::Planned, 25,
        [8, 70, 20, 20, 25, 25, 35, 45, 30], [8, 60, 15, 15, 20, 20, 35, 50, 35]),
    diagnosis("Circulatory diseases", Season::Any, 75,
        [5, 5, 20, 30, 75, 150, 220, 260, 280], [5, 5, 15, 20, 40, 75, 120, 210, 290]),
    diagnosis("Respiratory diseases", Season::Winter, 65,
        [110, 200, 80, 80, 55, 55, 65, 95, 120], [100, 180, 55, 55, 40, 40, 55, 75, 95]),
    diagnosis("Digestive diseases", Season::Any, 50,
        [25, 100, 130, 130, 135, 145, 125, 95, 80], [25, 100, 130, 100, 95, 110, 105, 90, 85]),
    diagnosis("Skin diseases", Season::Any, 60,
        [8, 25, 40, 40, 25, 25, 18, 14, 13], [8, 25, 25, 25, 15, 15, 14, 13, 14]),
    diagnosis("Musculoskeletal diseases", Season::Planned, 60,
        [5, 35, 70, 70, 100, 120, 115, 85, 40], [5, 35, 55, 45, 75, 110, 130, 120, 60]),
    diagnosis("Genitourinary diseases", Season::Planned, 40,
        [15, 45, 35, 35, 45, 55, 65, 75, 65], [15, 35, 60, 70, 90, 95, 65, 50, 45]),
    diagnosis("Pregnancy and childbirth", Season::Any, 35,
        [0; 9], [0, 0, 170, 900, 620, 90, 0, 0, 0]),
    diagnosis("Conditions of newborns", Season::Any, 70,
        [1300, 0, 0, 0, 0, 0, 0, 0, 0], [1300, 0, 0, 0, 0, 0, 0, 0, 0]),
    diagnosis("Congenital anomalies", Season::Planned, 60,
        [60, 35, 8, 8, 4, 4, 2, 1, 1], [55, 25, 8, 8, 4, 4, 2, 1, 1]),
    diagnosis("Injuries and poisonings", Season::Outdoors, 60,
        [15, 190, 290, 250, 160, 140, 100, 80, 110], [15, 150, 150, 90, 70, 75, 95, 110, 190]),
    diagnosis("Symptoms without a diagnosis", Season::Any, 30,
        [30, 80, 60, 60, 60, 60, 55, 50, 50], [30, 90, 65, 65, 55, 55, 55, 50, 50]),
];

const fn diagnosis(name: &'static str, season: Season, stay: u64, men: [u64; 9], women: [u64; 9]) -> Diagnosis {
    Diagnosis { name, season, stay, men, women }
}

/// How long a stay is, in percent of what its diagnosis takes, for the shortest to the longest of a thousand stays.
const STAY_PERCENT: [(u64, u64); 7] = [(0, 10), (250, 50), (500, 80), (750, 125), (900, 190), (980, 350), (999, 800)];

/// The days of the table begin on a Monday: 2024-01-01.
const FIRST_YEAR: u64 = 2024;
const N_DAYS_OF_MONTH: [[u64; 12]; 2] =
    [[31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]];

/// How many of a thousand patients come back never, once, twice and three times.
const READMISSIONS: [u64; 4] = [930, 50, 15, 5];

/// Everything that a record is drawn from, as running sums.
struct Hospital {
    readmissions: Vec<u64>,
    ages: Vec<u64>,
    marital_statuses: Vec<Vec<u64>>,
    /// By sex, then by age.
    stages: [Vec<Vec<u64>>; 2],
    trades: [Vec<u64>; 2],
    diagnoses: [Vec<Vec<u64>>; 2],
    /// Districts for most people, for students (mostly in towns) and for farmers (mostly not).
    districts: Vec<u64>,
    student_districts: Vec<u64>,
    farmer_districts: Vec<u64>,
    /// By district: the postcodes, and their running sums.
    postcodes: Vec<(Vec<String>, Vec<u64>)>,
    days: Vec<String>,
    /// In the order of [`SEASONS`].
    seasons: Vec<Vec<u64>>,
}

fn write_discharges(path: &Path, n_records: usize, seed: u64) -> std::io::Result<()> {
    let mut random = Random(seed);
    let hospital = hospital(&mut random);
    let mut patients: Vec<usize> = (1..=n_records).collect();
    shuffle(&mut random, &mut patients);
    let mut file = BufWriter::new(File::create(path)?);
    file.write_all(HEADER.as_bytes())?;
    let mut n_left = n_records;
    for number in patients {
        if n_left == 0 {
            break;
        }
        let n_admissions = (1 + draw(&mut random, &hospital.readmissions)).min(n_left);
        write_discharges_of(&mut file, &patient(number, &hospital, &mut random), n_admissions, &hospital, &mut random)?;
        n_left -= n_admissions;
    }
    file.flush()
}

/// Somebody as they are at their first admission.
struct Patient {
    number: usize,
    age: u64,
    /// The next birthday is so many days after the first admission.
    n_days_to_birthday: u64,
    sex: usize,
    postcode: String,
    marital_status: &'static str,
    occupation: &'static str,
}

fn patient(number: usize, hospital: &Hospital, random: &mut Random) -> Patient {
    let age = draw(random, &hospital.ages) as u64;
    let is_female = random.below(1000) < WOMEN[band(&HEALTH_FROM_AGE, age)];
    let sex = if is_female { FEMALE } else { MALE };
    let marital_status = draw(random, &hospital.marital_statuses[band(&MARITAL_FROM_AGE, age)]);
    let stage = draw(random, &hospital.stages[sex][band(&STAGE_FROM_AGE, age)]);
    let occupation = match NOT_WORKING.get(stage) {
        Some((name, _)) => *name,
        None => TRADES[draw(random, &hospital.trades[sex])].name,
    };
    let districts = match occupation {
        STUDENT => &hospital.student_districts,
        FARMER => &hospital.farmer_districts,
        _ => &hospital.districts,
    };
    let (postcodes, sums) = &hospital.postcodes[draw(random, districts)];
    let postcode = postcodes[draw(random, sums)].clone();
    let marital_status = MARITAL_STATUSES[marital_status].0;
    Patient { number, age, n_days_to_birthday: random.below(365), sex, postcode, marital_status, occupation }
}

/// The admissions of one patient, in time: the first by its season, the others whenever they have to come back.
fn write_discharges_of(
    file: &mut impl Write,
    patient: &Patient,
    n_admissions: usize,
    hospital: &Hospital,
    random: &mut Random,
) -> std::io::Result<()> {
    let diagnosis_at = |age: u64, random: &mut Random| {
        &DIAGNOSES[draw(random, &hospital.diagnoses[patient.sex][band(&HEALTH_FROM_AGE, age)])]
    };
    let last_day = hospital.days.len() - 1;
    let mut age = patient.age;
    let mut diagnosis = diagnosis_at(age, random);
    let first_day = draw(random, &hospital.seasons[diagnosis.season as usize]);
    let mut day = first_day;
    for n_left in (0..n_admissions).rev() {
        let length_of_stay = length_of_stay(diagnosis, age, random);
        write_discharge(file, patient, (age, &hospital.days[day], length_of_stay, diagnosis.name), random)?;
        if n_left > 0 {
            let from = (day + length_of_stay as usize).min(last_day);
            day = from + random.below((last_day - from) as u64 + 1) as usize;
            age = patient.age + ((day - first_day) as u64 + 364 - patient.n_days_to_birthday) / 365;
            diagnosis = diagnosis_at(age, random);
        }
    }
    Ok(())
}

fn write_discharge(
    file: &mut impl Write,
    patient: &Patient,
    (age, day, length_of_stay, diagnosis): (u64, &str, u64, &str),
    random: &mut Random,
) -> std::io::Result<()> {
    let mut cells = [
        format!("P{:06}", patient.number),
        age.to_string(),
        SEXES[patient.sex].to_string(),
        patient.postcode.clone(),
        patient.marital_status.to_string(),
        patient.occupation.to_string(),
        day.to_string(),
        length_of_stay.to_string(),
        diagnosis.to_string(),
    ];
    if random.below(RECORDS_PER_MISSING) == 0 {
        // What a patient may not want to say, or nobody asked: postcode, marital status, occupation.
        cells[3 + random.below(3) as usize].clear();
    }
    writeln!(file, "{}", cells.join(","))
}

fn length_of_stay(diagnosis: &Diagnosis, age: u64, random: &mut Random) -> u64 {
    // The old stay longer, the young shorter.
    let percent_of_age = 70 + age * 2 / 3;
    let percent = between(&STAY_PERCENT, random.below(1000));
    (diagnosis.stay * percent * percent_of_age / 100_000).max(1)
}

fn hospital(random: &mut Random) -> Hospital {
    let oldest = AGE_WEIGHTS[AGE_WEIGHTS.len() - 1].0;
    let stages = |sex: usize| {
        let of_sex = |mut weights: [u64; 7]| {
            if sex == MALE {
                // Few men keep house, and the more of them do something else.
                weights[HOMEMAKER] /= 8;
            }
            running_sums(weights)
        };
        STAGE_WEIGHTS.map(of_sex).to_vec()
    };
    let diagnoses = |sex: usize| {
        let of_age =
            |band: usize| running_sums(DIAGNOSES.iter().map(|diagnosis| [&diagnosis.men, &diagnosis.women][sex][band]));
        (0..HEALTH_FROM_AGE.len()).map(of_age).collect()
    };
    let districts = |in_towns: u64, in_country: u64| {
        let weight = |district: &District| district.n_people * if district.is_urban { in_towns } else { in_country };
        running_sums(DISTRICTS.iter().map(weight))
    };
    let (days, seasons) = calendar();
    Hospital {
        readmissions: running_sums(READMISSIONS),
        ages: running_sums((0..=oldest).map(|age| between(&AGE_WEIGHTS, age))),
        marital_statuses: MARITAL_WEIGHTS.map(running_sums).to_vec(),
        stages: [MALE, FEMALE].map(stages),
        trades: [MALE, FEMALE].map(|sex| running_sums(TRADES.iter().map(|trade| trade.n_of_sex[sex]))),
        diagnoses: [MALE, FEMALE].map(diagnoses),
        districts: districts(1, 1),
        student_districts: districts(4, 1),
        farmer_districts: districts(1, 12),
        postcodes: DISTRICTS.iter().map(|district| postcodes(district, random)).collect(),
        days,
        seasons,
    }
}

/// The postcodes of a district: a few hold most of its people.
fn postcodes(district: &District, random: &mut Random) -> (Vec<String>, Vec<u64>) {
    let mut endings: Vec<usize> = (0..100).collect();
    shuffle(random, &mut endings);
    let postcodes = endings.iter().take(district.n_postcodes).map(|ending| format!("{}{ending:02}", district.digits));
    let weights = (0..district.n_postcodes as u64).map(|rank| 10_000 / (rank + 2));
    (postcodes.collect(), running_sums(weights))
}

/// The days as they are written, and per season the running sums of admissions on them.
fn calendar() -> (Vec<String>, Vec<Vec<u64>>) {
    let mut days = Vec::new();
    let mut weights = vec![Vec::new(); SEASONS.len()];
    for (year, n_days_of_month) in (FIRST_YEAR..).zip(N_DAYS_OF_MONTH) {
        for (month, n_days) in n_days_of_month.into_iter().enumerate() {
            for day in 1..=n_days {
                let is_weekend = days.len() % 7 >= 5;
                for (season, weights) in SEASONS.iter().zip(&mut weights) {
                    weights.push(season.by_month()[month] * if is_weekend { season.on_weekends() } else { 100 });
                }
                days.push(format!("{year}-{:02}-{day:02}", month + 1));
            }
        }
    }
    (days, weights.into_iter().map(running_sums).collect())
}

/// A hierarchy as ARX writes it: the value, its group, `*`.
fn hierarchy_text(values: impl Iterator<Item = (&'static str, &'static str)>) -> String {
    values.map(|(value, group)| format!("{value};{group};*\n")).collect()
}

/// The last band that begins at or below an age; the first begins at 0.
fn band(from_age: &[u64], age: u64) -> usize {
    from_age.partition_point(|&from| from <= age) - 1
}

/// The height at a place of the straight lines through some points; the place lies between the first and the last.
fn between(points: &[(u64, u64)], at: u64) -> u64 {
    let right = points.partition_point(|&(place, _)| place < at).max(1);
    let ((left, left_height), (right, right_height)) = (points[right - 1], points[right]);
    (left_height * (right - at) + right_height * (at - left)) / (right - left)
}

fn running_sums(weights: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let add = |sum: &mut u64, weight| {
        *sum += weight;
        Some(*sum)
    };
    weights.into_iter().scan(0, add).collect()
}

/// An index, as often as its share of the running sums says.
fn draw(random: &mut Random, sums: &[u64]) -> usize {
    let at = random.below(*sums.last().expect("there is something to draw"));
    sums.partition_point(|&sum| sum <= at)
}

/// Fisher and Yates' shuffle: every order is as likely as any other.
fn shuffle(random: &mut Random, items: &mut [usize]) {
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last as u64 + 1) as usize);
    }
}

/// Random numbers from a seed, by splitmix64 (Steele, Lea and Flood, OOPSLA 2014): short, and good enough to draw from.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to below `n`.
    fn below(&mut self, n: u64) -> u64 {
        // The high half of the product; what it is off an even spread is far below what a table could show.
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use incrowd::criterion::Criteria;
    use incrowd::hierarchy::absent_values;
    use incrowd::task::Task;
    use incrowd::{Answer, Domain, Lattice, Level, Measure, Offer, Request, Scheme, negotiate};
    use tempfile::TempDir;

    use super::*;
    use crate::input::count::{Choice, Counted, count};
    use crate::input::project::Project;
    use crate::work::Work;

    fn demo(n_records: usize, seed: u64) -> TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        write(folder.path(), n_records, seed).expect("the folder can be written");
        folder
    }

    fn text(folder: &TempDir, path: &str) -> String {
        std::fs::read_to_string(folder.path().join(path)).expect("the file was written")
    }

    /// The cells of every record.
    fn records(folder: &TempDir) -> Vec<Vec<String>> {
        let cells = |line: &str| line.split(',').map(str::to_string).collect();
        text(folder, "discharges.csv").lines().skip(1).map(cells).collect()
    }

    fn counted(folder: &TempDir) -> Counted {
        let project = Project::open(folder.path()).expect("the project is well-formed");
        count(&project, &Choice::default(), &Work::default()).expect("the hierarchies cover the data")
    }

    #[test]
    fn same_seed_same_bytes() {
        let (one, same, other) = (demo(2000, 7), demo(2000, 7), demo(2000, 8));
        for path in ["discharges.csv", "incrowd.toml", "hierarchies/occupation.csv", "hierarchies/marital_status.csv"] {
            assert_eq!(text(&one, path), text(&same, path), "{path}");
        }
        assert_ne!(text(&one, "discharges.csv"), text(&other, "discharges.csv"));
    }

    #[test]
    fn records_and_columns_are_as_asked() {
        let folder = demo(5000, 1);
        assert!(text(&folder, "discharges.csv").starts_with(HEADER));
        let records = records(&folder);
        assert_eq!(records.len(), 5000);
        assert!(records.iter().all(|cells| cells.len() == HEADER.split(',').count()));
        let patients: HashSet<&str> = records.iter().map(|cells| cells[0].as_str()).collect();
        assert!((4400..4700).contains(&patients.len()), "{}", patients.len());
        assert!(patients.iter().all(|patient| patient.len() == 7 && patient.starts_with('P')));
        let postcodes: HashSet<&str> =
            records.iter().map(|cells| cells[3].as_str()).filter(|p| !p.is_empty()).collect();
        assert!(postcodes.len() > 200 && postcodes.iter().all(|postcode| postcode.len() == 5), "{}", postcodes.len());
        assert!(records.iter().all(|cells| ("2024-01-01"..="2025-12-31").contains(&cells[6].as_str())));
        let n_missing = records.iter().filter(|cells| cells.iter().any(String::is_empty)).count();
        assert!((10..50).contains(&n_missing), "{n_missing}");
    }

    #[test]
    fn any_size_is_a_table() {
        for n_records in [0, 1] {
            assert_eq!(records(&demo(n_records, 1)).len(), n_records);
        }
    }

    #[test]
    fn values_hang_together() {
        for cells in records(&demo(20_000, 3)) {
            let age: u64 = cells[1].parse().expect("an age is a number");
            match cells[8].as_str() {
                "Pregnancy and childbirth" => assert!(cells[2] == "female" && (15..50).contains(&age), "{cells:?}"),
                "Conditions of newborns" => assert_eq!(age, 0, "{cells:?}"),
                _ => {}
            }
            if age < 18 {
                assert!(["single", ""].contains(&cells[4].as_str()), "{cells:?}");
                assert!(["child", "pupil", ""].contains(&cells[5].as_str()), "{cells:?}");
            }
        }
    }

    #[test]
    fn patients_come_back_as_who_they_were() {
        let mut of_patient: HashMap<String, Vec<Vec<String>>> = HashMap::new();
        for cells in records(&demo(20_000, 5)) {
            of_patient.entry(cells[0].clone()).or_default().push(cells);
        }
        let again: Vec<&Vec<Vec<String>>> = of_patient.values().filter(|records| records.len() > 1).collect();
        assert!(again.len() > 1000 && again.iter().any(|records| records.len() == 4), "{}", again.len());
        let (mut n_older, mut n_other) = (0, 0);
        for two in again.iter().flat_map(|records| records.windows(2)) {
            let [age, older] = [0, 1].map(|i| two[i][1].parse::<u64>().expect("an age is a number"));
            assert!(two[0][6] <= two[1][6] && (age..=age + 2).contains(&older), "{two:?}");
            let is_same = |i: usize| two[0][i] == two[1][i] || two[0][i].is_empty() || two[1][i].is_empty();
            assert!([2, 3, 4, 5].into_iter().all(is_same), "{two:?}");
            n_older += usize::from(older > age);
            n_other += usize::from(two[0][8] != two[1][8]);
        }
        assert!(n_older > 100 && n_other > 500, "{n_older} older, {n_other} with another diagnosis");
        let counted = counted(&demo(5000, 1));
        assert!(counted.counts.people().is_some(), "people are counted");
    }

    #[test]
    fn hierarchies_cover_all_values() {
        let folder = demo(5000, 1);
        let tops: Vec<usize> = counted(&folder).hierarchies.iter().map(|hierarchy| hierarchy.top()).collect();
        assert_eq!(tops, [5, 1, 5, 2, 2, 4]);
        // Also what this table happens not to have.
        let project = Project::open(folder.path()).expect("the project is well-formed");
        let occupations = NOT_WORKING.iter().map(|(name, _)| *name).chain(TRADES.iter().map(|trade| trade.name));
        let marital_statuses = MARITAL_STATUSES.iter().map(|(name, _)| *name);
        for (name, values) in
            [("occupation", occupations.collect::<Vec<_>>()), ("marital_status", marital_statuses.collect())]
        {
            let rule = &project.attribute(name).expect("it is named").rule;
            let domain = Domain::new(name, values.iter().map(|value| value.to_string()).collect(), None);
            assert_eq!(domain.len(), values.len(), "{name}: no value twice");
            assert_eq!(absent_values(rule, &domain), Vec::<&str>::new());
            rule.resolve(&domain).expect("the labels are a tree");
        }
    }

    #[test]
    fn requests_show_what_they_say() {
        let counted = counted(&demo(N_RECORDS, SEED));
        let lattice = counted.annotate([], false, &Task::default()).expect("the lattice is small");
        let answers =
            REQUESTS.map(|(_, flags)| negotiate(&lattice, &request(&lattice, flags)).expect("it has a meaning"));
        let [Answer::Exact(met), Answer::Offers(offers), Answer::Exact(diverse)] = &answers else {
            panic!("{answers:?}");
        };
        let check = |offer: &Offer, scheme: &str, k: u64, n_suppressed: u64| {
            assert_eq!(
                (offer.scheme.to_string().as_str(), offer.criteria.value(Measure::Size), offer.n_suppressed),
                (scheme, Some(k), n_suppressed)
            );
        };
        check(met, "203112", 5, 920);
        assert_eq!(met.fewest_distinct(), Some(1), "which is what the third request mends");
        check(&offers.suppression, "203112", 10, 3549);
        check(offers.height.as_ref().expect("coarser dates do"), "103113", 10, 1108);
        check(offers.privacy.as_ref().expect("a smaller crowd does"), "203112", 5, 920);
        check(diverse, "203112", 5, 973);
        assert_eq!(diverse.fewest_distinct(), Some(3));
    }

    /// A request from flags as [`REQUESTS`] write them.
    fn request(lattice: &Lattice, flags: &str) -> Request {
        let words: Vec<&str> = flags.split_whitespace().collect();
        let value = |flag: &str| words.iter().position(|word| *word == flag).map(|at| words[at + 1]);
        let number = |flag: &str| value(flag).map(|text| text.parse::<u64>().expect("a number"));
        let percent = value("--max-suppressed").and_then(|text| text.strip_suffix('%')).expect("a percentage");
        let percent: u64 = percent.parse().expect("a number");
        let max_level = value("--max-level").expect("levels");
        let level = |attribute: &str| {
            let of_attribute = |pair: &str| pair.strip_prefix(attribute)?.strip_prefix('=')?.parse().ok();
            Level(max_level.split(',').find_map(of_attribute).expect("every attribute has a level"))
        };
        Request {
            criteria: Criteria::of(number("--k"), number("--l")),
            n_suppressed_max: lattice.n_records() * percent / 100,
            level_max: Scheme::new(lattice.hierarchies().iter().map(|h| level(h.attribute())).collect()),
            best_by: Default::default(),
        }
    }
}
