//! The studies of the papers, by the orders that anybody can give: their tables to the last digit.

use std::time::Duration;

use incrowd::search::partial::Estimator;
use incrowd::{Answer, Criteria, Criterion, Measure};
use incrowd_workbench::input::project::Project;
use incrowd_workbench::orders::histogram::{Bar, GivenScheme, Histogram, Histogrammed};
use incrowd_workbench::orders::known::Known;
use incrowd_workbench::orders::request::{About, criterion_text};
use incrowd_workbench::orders::study_lattice::Difference;
use incrowd_workbench::orders::study_records::StudyRecords;
use incrowd_workbench::orders::study_requests::{AskedRequest, RequestSource, StudiedRequests, StudyRequests};
use incrowd_workbench::orders::study_suppression::{LossRange, MaxLevel, StudiedSuppression, StudySuppression};
use incrowd_workbench::words::studies::suppression_rows;
use incrowd_workbench::work::Work;

use crate::support;
use support::{Folder, adult_project};

const N_RECORDS: u64 = 30_162;

/// In the order in which chapter 3 adds them.
const NESTED: [&str; 6] = ["age", "workclass", "race", "occupation", "education", "marital-status"];

/// The study of chapter 3: over whole lattices, or the diamonds between 00…0 and 11…1.
fn chapter_3(project: &Project, is_diamond: bool) -> StudiedSuppression {
    let order = StudySuppression {
        about: About { quasi_identifiers: Some(NESTED.map(String::from).to_vec()), sensitive: None },
        sets: vec![3, 4, 5, 6],
        max_level: is_diamond.then_some(MaxLevel::All(1)),
        ..StudySuppression::default()
    };
    order.run(project, &Known::default(), &Work::default()).expect("it has a meaning")
}

fn both(project: &Project) -> [(&'static str, StudiedSuppression); 2] {
    [("full", chapter_3(project, false)), ("diamond", chapter_3(project, true))]
}

fn criterion(name: &str, value: &str) -> Criterion {
    let value = value.parse().expect("a number");
    let criteria = if name == "k" { Criteria::of(Some(value), None) } else { Criteria::of(None, Some(value)) };
    criteria.iter().next().expect("one")
}

/// The numbers of one set, criterion and height.
fn spread<'a>(study: &'a StudiedSuppression, name: &str, value: &str, n: &str, height: &str) -> &'a LossRange {
    let asked = criterion(name, value);
    let c = study.criteria.iter().position(|known| *known == asked).unwrap_or_else(|| panic!("{name} = {value}"));
    let set = study.sets.iter().find(|set| set.attributes.len().to_string() == n).expect("a set");
    &set.suppressed[c][height.parse::<usize>().expect("a height")]
}

/// A number as it is printed: its digits without the point, and how many of them stand behind it.
fn printed(text: &str) -> (u64, u32) {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    (format!("{whole}{decimals}").parse().expect("a number"), decimals.len() as u32)
}

/// `numerator / denominator` times 10 to the power of `n_decimals`, rounded half away from zero.
fn rounded(numerator: u64, denominator: u64, n_decimals: u32) -> u64 {
    let (numerator, denominator) = (u128::from(numerator) * 10u128.pow(n_decimals), u128::from(denominator));
    ((2 * numerator + denominator) / (2 * denominator)) as u64
}

fn lines(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table.lines().skip(1).map(|line| line.split(',').collect())
}

#[test]
fn tables_3_2_to_3_10_and_3_16_to_3_18() {
    let Some(project) = adult_project(&NESTED) else { return };
    let studies = both(&project);
    let mut n_checked = 0;
    for line in lines(include_str!("papers/per_height.csv")) {
        let [_, name, value, n, height, statistic, shown, extent] = line[..] else { panic!("{line:?}") };
        let (_, study) = studies.iter().find(|(known, _)| *known == extent).expect("an extent");
        let spread = spread(study, name, value, n, height);
        let (expected, n_decimals) = printed(shown);
        let found = match statistic {
            "min" => rounded(spread.least, 1, n_decimals),
            "max" => rounded(spread.most, 1, n_decimals),
            "avg" => rounded(spread.sum, spread.n_schemes, n_decimals),
            _ => rounded(100 * spread.sum, spread.n_schemes * N_RECORDS, n_decimals),
        };
        assert_eq!(found, expected, "{line:?}");
        n_checked += 1;
    }
    assert_eq!(n_checked, 678);
    for line in lines(include_str!("papers/ratios.csv")) {
        let [_, a, b, n, height, shown, extent] = line[..] else { panic!("{line:?}") };
        let (_, study) = studies.iter().find(|(known, _)| *known == extent).expect("an extent");
        let (s, c) =
            (n.parse::<usize>().expect("a size") - 3, study.criteria.iter().position(|k| *k == criterion("k", a)));
        let found = study.ratio_to_weaker(s, c.expect("k"), height.parse().expect("a height")).expect("a ratio");
        assert_eq!(study.criteria[study.weaker(c.expect("k")).expect("one")], criterion("k", b));
        let (digits, n_decimals) = printed(shown);
        assert_eq!((found * 100.0).round() as u64, digits * 10u64.pow(2 - n_decimals), "{line:?}");
    }
}

/// The mean over the least, which the print has with one decimal, or with two.
#[test]
fn tables_3_14_and_3_15_mean_over_least() {
    let Some(project) = adult_project(&NESTED) else { return };
    let study = chapter_3(&project, false);
    // By set and k: heights 0 to 5.
    let table_3_14 = [
        ("3", ["1 1.7 2.0 2.0 2.2 4.0", "1 2.0 2.1 2.9 1.6 9.5", "1 2.2 1.9 2.1 2.3 3.5"]),
        ("4", ["1 1.8 2.7 3.2 4.3 3.6", "1 1.8 2.6 3.1 3.8 4.5", "1 1.7 2.5 3.5 3.1 4.7"]),
        ("5", ["1 1.7 2.6 3.3 3.2 4.0", "1 1.5 2.1 2.8 3.3 3.8", "1 1.4 1.8 2.3 2.8 3.5"]),
        ("6", ["1 1.5 2.1 2.8 3.1 3.6", "1 1.4 1.8 2.3 2.6 2.9", "1 1.2 1.5 1.9 2.2 2.6"]),
    ];
    let mut wrong = Vec::new();
    for (n, of_k) in table_3_14 {
        for (k, shown) in ["3", "10", "25"].into_iter().zip(of_k) {
            for (height, shown) in shown.split(' ').enumerate() {
                let spread = spread(&study, "k", k, n, &height.to_string());
                let (digits, n_decimals) = printed(shown);
                if rounded(spread.sum, spread.n_schemes * spread.least, n_decimals) != digits {
                    wrong.push(format!("3.14 {n} {k} {height} {shown} {:?}", spread.mean_over_least()));
                }
            }
        }
    }
    // From averages of one decimal, cut off after two.
    let table_3_15 = [
        ("3", "1.00 1.94 2.27 3.60 1.90 4.50"),
        ("4", "1.00 1.58 2.58 3.12 5.29 7.41 6.17"),
        ("5", "1.00 1.59 2.29 3.07 3.17 3.73 4.78 10.90 10.69 37.35"),
        ("6", "1.00 1.44 1.92 2.49 2.83 3.28 4.03 4.40 5.61 11.38"),
    ];
    for (n, shown) in table_3_15 {
        for (height, shown) in shown.split(' ').enumerate() {
            let spread = spread(&study, "l", "3", n, &height.to_string());
            let tenths = rounded(spread.sum, spread.n_schemes, 1);
            if tenths * 10 / spread.least != printed(shown).0 {
                wrong.push(format!("3.15 {n} {height} {shown} {:?}", spread.mean_over_least()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Tables 3.11 to 3.13, and with them numbers at the schemes of Figures 3.9 and 3.10.
#[test]
fn tables_3_11_to_3_13_single_schemes() {
    let Some(project) = adult_project(&NESTED) else { return };
    let study = chapter_3(&project, true);
    let lost = |digits: &str| {
        let (s, k) = (digits.len() - 3, study.criteria.iter().position(|known| *known == Criterion::k(3)).expect("k"));
        let mut levels: Vec<u8> = digits.bytes().map(|digit| digit - b'0').collect();
        // Of five attributes the print has the vectors in the order age, occupation, education, workclass, race.
        if let [age, occupation, education, workclass, race] = levels[..] {
            levels = vec![age, workclass, race, occupation, education];
        }
        let mut places = study.sets[s].places.iter().flatten();
        let place = places.find(|&&place| study.levels(s, place) == levels).expect("a scheme of the set");
        study.n_suppressed(*place, k)
    };
    for (scheme, n) in [
        ("001", 206),
        ("010", 295),
        ("100", 125),
        ("111", 17),
        ("00111", 7398),
        ("01011", 4042),
        ("01101", 4705),
        ("01110", 4105),
        ("10011", 2917),
        ("10101", 3390),
        ("10110", 3118),
        ("11001", 1629),
        ("11010", 1619),
        ("11100", 1796),
        ("11111", 773),
    ] {
        assert_eq!(lost(scheme), n, "{scheme}");
    }
    let ones = ["00001", "00010", "00100", "01000", "10000"].map(lost);
    assert_eq!(ones.iter().sum::<u64>(), 38_976, "five times the printed mean, 7795.2: {ones:?}");
}

/// Section 3.1: the smallest group that an attribute makes alone.
#[test]
fn the_order_of_grouping_power() {
    let Some(project) = adult_project(&NESTED) else { return };
    let order = StudySuppression { by_power: true, sets: vec![6], ..StudySuppression::default() };
    let study = order.run(&project, &Known::default(), &Work::default()).expect("it has a meaning");
    let expected = ["age", "occupation", "workclass", "marital-status", "education", "race"];
    assert_eq!(study.sets[0].attributes, expected);
}

fn histogram(project: &Project, scheme: &str, about: &[&str]) -> Histogrammed {
    let names = (!about.is_empty()).then(|| about.iter().map(|name| name.to_string()).collect());
    let about = About { quasi_identifiers: names, sensitive: None };
    let scheme = GivenScheme::parse(scheme).expect("a scheme");
    Histogram { about, scheme }.run(project, &Known::default(), &Work::default()).expect("it has a meaning")
}

#[test]
fn table_3_1_and_figure_2_8_histograms_of_adult() {
    let Some(project) = adult_project(&NESTED) else { return };
    let marital = histogram(&project, "0", &["marital-status"]);
    let sizes: Vec<(u64, u64)> = marital.sizes.iter().map(|bar| (bar.value, bar.n_groups)).collect();
    assert_eq!(sizes, [21, 370, 827, 939, 4214, 9726, 14_065].map(|size| (size, 1)));
    let age = histogram(&project, "0", &["age"]);
    let sizes: Vec<(u64, u64)> = age.sizes.iter().take(10).map(|bar| (bar.value, bar.n_groups)).collect();
    assert_eq!(sizes, [(1, 1), (3, 2), (5, 1), (7, 1), (8, 1), (13, 1), (14, 1), (15, 1), (16, 1), (20, 1)]);
    let figure_2_8 = histogram(&project, "101", &["age", "race", "workclass"]);
    let found: Vec<_> =
        figure_2_8.sizes.iter().take(4).map(|bar| (bar.value, bar.n_groups, bar.n_records_below)).collect();
    assert_eq!(found, [(1, 26, 0), (2, 16, 26), (3, 10, 58), (4, 5, 88)]);
}

/// The definitions once more, record by record.
#[test]
fn histograms_are_what_counting_gives() {
    let folder = Folder::with(&[
        ("t.csv", "a,b,s,u\n1,x,p,1\n1,x,q,1\n2,x,p,1\n2,y,p,2\n3,y,p,3\n3,y,q,4\n3,y,r,5\n"),
        (
            "incrowd.toml",
            "[data]\npath = \"t.csv\"\n[attributes.a]\nrole = \"quasi-identifier\"\nhierarchy = { intervals = [2] }\n\
             [attributes.b]\nrole = \"quasi-identifier\"\n[attributes.s]\nrole = \"sensitive\"\n\
             [attributes.u]\nrole = \"sensitive\"\n",
        ),
    ]);
    let project = Project::open(folder.path()).expect("a project");
    let of = histogram(&project, "a=0", &[]);
    let bar = |value, n_groups, n_records, n_records_below| Bar { value, n_groups, n_records, n_records_below };
    assert_eq!(of.sizes, [bar(1, 2, 2, 0), bar(2, 1, 2, 2), bar(3, 1, 3, 4)]);
    assert_eq!(of.distinct[0], ("s".to_string(), vec![bar(1, 2, 2, 0), bar(2, 1, 2, 2), bar(3, 1, 3, 4)]));
    assert_eq!(of.distinct[1], ("u".to_string(), vec![bar(1, 3, 4, 0), bar(3, 1, 3, 4)]));
    let ran = folder.run(&["histogram", "0,1", "-o", "h.html"]).ends(0);
    assert!(ran.stdout.contains("groups by their number of different values of u:"), "{ran}");
    assert!(folder.read("h.html").matches("<svg").count() == 6, "sizes and two attributes, each cumulative too");
    let refused = folder.run(&["histogram", "0,1,1"]).ends(2);
    assert!(refused.stderr.contains("3 levels are given for 2 quasi-identifiers"), "{refused}");
}

#[test]
fn any_criterion_is_studied_and_ranked_from_the_weakest_on() {
    let Some(project) = adult_project(&["age", "race"]) else { return };
    let criteria = ["0.1", "0.4", "1/5"].map(|t| criterion_text("t", t)).into_iter().chain([criterion_text("k", "5")]);
    let order = StudySuppression { criteria: criteria.collect(), sets: vec![2], ..StudySuppression::default() };
    let study = order.run(&project, &Known::default(), &Work::default()).expect("it has a meaning");
    assert_eq!(
        study.criteria.iter().map(|criterion| criterion.value).collect::<Vec<_>>(),
        [5, 400_000, 200_000, 100_000]
    );
    let rows = suppression_rows(&study);
    assert_eq!(rows.len(), 4 * study.sets[0].places.len());
    // More is asked for, more is lost, height by height.
    for height in 0..study.sets[0].places.len() {
        let least = |c: usize| study.sets[0].suppressed[c][height].least;
        assert!(least(1) <= least(2) && least(2) <= least(3));
    }
}

/// Chapter 4's 56 requests, as the study asks them: what the published algorithms answer is what the thesis prints.
#[test]
fn chapter_4_by_the_study_of_requests() {
    let names = ["age", "education", "marital-status", "occupation", "race", "workclass"];
    let Some(project) = adult_project(&names) else { return };
    let order = StudyRequests {
        about: About::default(),
        asked: RequestSource::Chapter4,
        shares: vec![0.05],
        estimators: vec![Estimator::Lambda],
        time: Duration::from_secs(600),
    };
    let study = order.run(&project, &Known::default(), &Work::default()).expect("it has a meaning");
    assert_eq!(study.sets.iter().map(|set| set.requests.len()).sum::<usize>(), 56);
    let way = |name: &str| study.sets[0].ways.iter().position(|way| way.way.name() == name).expect("a way");
    let [whole, published, partial, extended, on_demand] =
        ["whole", "as published", "partial 5% lambda", "partial 5% lambda + coarsest", "on demand"].map(way);
    let mut n_lower = 0;
    for line in lines(include_str!("papers/answers.csv")) {
        let [name, value, lost, levels, outcome, n, _, height_n, height_levels, ..] = line[..] else {
            panic!("{line:?}")
        };
        let set = &study.sets[levels.len() - 3];
        let is_it = |asked: &&AskedRequest| {
            asked.request.level_max.to_string().replace(',', "") == levels
                && asked.request.n_suppressed_max.to_string() == lost
                && asked.request.criteria.iter().next() == Some(criterion(name, value))
        };
        let asked = set.requests.iter().find(is_it).unwrap_or_else(|| panic!("{line:?} is not asked"));
        let answers = &asked.answers;
        match (&answers[published].answer, outcome) {
            (Answer::Exact(offer), "exact") => assert_eq!(offer.n_suppressed.to_string(), n, "{line:?}"),
            (Answer::Offers(offers), "offers") => {
                let height = offers.height.as_ref().expect("the top suppresses nothing");
                let steps: u32 = height_levels.bytes().map(|digit| u32::from(digit - b'0')).sum();
                let found = (offers.suppression.n_suppressed.to_string(), height.n_suppressed.to_string());
                assert_eq!((found, height.scheme.height()), ((n.into(), height_n.into()), steps), "{line:?}");
            }
            other => panic!("{line:?}: {other:?}"),
        }
        let is_same =
            |by: &Difference| matches!(by, Difference::Neither | Difference::By { n_suppressed: 0, height: 0, k: 0 });
        assert!(
            answers[on_demand].differences.iter().all(is_same),
            "on demand is as good as the whole lattice: {line:?}"
        );
        n_lower += usize::from(!answers[published].differences.iter().all(is_same));
        // The one look at the coarsest scheme makes the difference: what was missed is there.
        assert!(!answers[extended].differences.contains(&Difference::Lost), "{line:?}");
        // The published search looks at many, ours at few; a part has fewer to look at.
        assert!(
            answers[whole].n_looked_at > 0 && answers[partial].n_looked_at <= set.ways[partial].n_annotated as u64 * 4
        );
    }
    assert_eq!(n_lower, 5, "five height offers of the thesis are not the lowest");
    check_looks(&study, published, partial, extended);
    let summary = study.sets[3].summary(partial);
    assert!(summary.n_missed > 0, "without the coarsest scheme, answers are missed");
    assert_eq!((study.sets[3].ways[partial].n_annotated, study.sets[3].ways[whole].n_annotated), (189, 3600));
}

/// How many schemes are looked at, as the thesis counts them: Figures 4.9 to 4.11 and 5.24 to 5.26.
fn check_looks(study: &StudiedRequests, published: usize, partial: usize, extended: usize) {
    const LEVELS: [[&str; 3]; 4] =
        [["101", "211", "212"], ["1001", "2011", "2112"], ["11001", "21012", "22112"], ["111001", "211012", "222112"]];
    let looks = |way: usize, size: usize, k: u64, lost: u64, levels: usize| {
        let is_it = |asked: &&AskedRequest| {
            asked.request.level_max.to_string().replace(',', "") == LEVELS[size][levels]
                && asked.request.n_suppressed_max == lost
                && asked.request.criteria.iter().next() == Some(Criterion::k(k))
        };
        study.sets[size].requests.iter().find(is_it).expect("it is asked").answers[way].n_looked_at
    };
    // Figure 4.9: what is checked at one height after the other; 495 and 395 are printed where heights 9 and 7 have 496
    // and 396 schemes. Beside these, the coarsest scheme is looked at three times, and the five below it twice.
    for (lost, printed) in [(32, [34, 496, 469, 286, 396]), (321, [2, 416, 396, 469, 496]), (3216, [1, 4, 116, 396, 0])]
    {
        assert_eq!(looks(published, 3, 10, lost, 1), printed.iter().sum::<u64>() + 3 + 2 * 5, "{lost}");
    }
    // Figures 4.10 and 4.11, in hundredths. In the third row 168 schemes must have been written for the 158 of five
    // attributes: so both of its printed ratios, 6.00 and 3.31, come out.
    let ratio = |size: usize, lost: u64, levels: usize| {
        let [smaller, larger] = [size, size + 1].map(|size| looks(published, size, 10, lost, levels) as f64);
        (larger / smaller * 100.0).round() as u64
    };
    let printed = [
        (1, 321, 0, 591),
        (2, 321, 0, 475),
        (1, 321, 1, 578),
        (2, 321, 1, 620),
        (0, 321, 2, 90),
        (0, 32, 1, 320),
        (1, 32, 1, 610),
        (2, 32, 1, 347),
        (0, 3216, 1, 86),
        (1, 3216, 1, 26),
    ];
    for (size, lost, levels, hundredths) in printed {
        assert_eq!(ratio(size, lost, levels), hundredths, "{size}, {lost}, {levels}");
    }
    let [four, five, six] = [1, 2, 3].map(|size| looks(published, size, 10, 321, 2));
    assert_eq!((four, five, six), (28, 158, 556));
    assert_eq!((168.0 / 28.0 * 100.0_f64, (556.0 / 168.0 * 100.0_f64).round()), (600.0, 331.0));
    // Figures 5.27 to 5.29: with the coarsest scheme, two exact answers are not those of the whole lattice.
    for set in &study.sets {
        for asked in set.requests.iter().filter(|asked| asked.request.criteria.value(Measure::Size).is_some()) {
            let k = asked.request.criteria.value(Measure::Size).expect("looked for");
            let expected = match (set.attributes.len(), k, asked.request.n_suppressed_max) {
                (4, 3, 321) => Difference::By { n_suppressed: -142, height: 1, k: 0 },
                (4, 10, 3216) => Difference::By { n_suppressed: 239, height: 0, k: 0 },
                _ => match asked.answers[published].answer {
                    Answer::Exact(_) => Difference::By { n_suppressed: 0, height: 0, k: 0 },
                    Answer::Offers(_) => Difference::Neither,
                },
            };
            assert_eq!(asked.answers[extended].differences[0], expected, "{:?}", asked.request);
        }
    }
    // The most over a part that the thesis names (section 5.6).
    assert_eq!(looks(partial, 3, 50, 321, 1), 94);
    // Figures 5.24 to 5.26. Three cells have one look more than here: we do not know which.
    let by_k = [[7, 4, 10, 47], [7, 6, 19, 74], [7, 7, 25, 88]];
    let by_level = [[4, 8 - 1, 23, 74], [7, 6, 19, 74], [9, 9, 11, 27]];
    let by_lost = [[5, 7, 26 - 1, 88], [7, 6, 19, 74], [7, 4, 4, 25 - 1]];
    for size in 0..4 {
        for (row, (k, (levels, lost))) in [3, 10, 50].into_iter().zip((0..).zip([32, 321, 3216])).enumerate() {
            let found = (
                looks(extended, size, k, 321, 1),
                looks(extended, size, 10, 321, levels),
                looks(extended, size, 10, lost, 1),
            );
            assert_eq!(found, (by_k[row][size], by_level[row][size], by_lost[row][size]), "{} attributes", size + 3);
        }
    }
}

fn people() -> Folder {
    let record = |i: usize| {
        format!("{},{},{}\n", 20 + (i * 13) % 60, ["x", "y", "z"][(i * 7 / 3) % 3], ["p", "q", "r"][(i * 5) % 3])
    };
    let data = format!("a,b,s\n{}", (0..120).map(record).collect::<String>());
    let project = "[data]\npath = \"t.csv\"\n[attributes.a]\nrole = \"quasi-identifier\"\nhierarchy = { intervals = [5, 20] }\n\
                   [attributes.b]\nrole = \"quasi-identifier\"\n[attributes.s]\nrole = \"sensitive\"\ntells = \"accepted\"\n";
    Folder::with(&[
        ("t.csv", &data),
        ("incrowd.toml", project),
        ("mine.csv", "k,l,max_suppressed,max_level,quasi_identifiers\n5,,10%,\"a=1\",\n,2,3,11,b a\n4,,1/10,,\n"),
        ("wrong.csv", "k,shoe\n5,1\n"),
        ("no_level.csv", "k,max_level\n5,a=9\n"),
    ])
}

#[test]
fn requests_of_a_file_are_asked() {
    let folder = people();
    let ran = folder.run(&["study", "requests", "--requests", "mine.csv", "--partial", "50%", "--json"]).ends(0).json();
    let sets = ran["sets"].as_array().expect("sets");
    let names: Vec<String> = sets.iter().map(|set| set["quasi_identifiers"].to_string()).collect();
    assert_eq!(names, ["[\"a\",\"b\"]", "[\"b\",\"a\"]"]);
    let first = &sets[0]["requests"][0]["request"];
    assert_eq!(
        (&first["max_suppressed"], &first["max_level"]["a"], &first["max_level"]["b"]),
        (&12.into(), &1.into(), &1.into())
    );
    // Whole, as published, four estimators with and without the coarsest scheme, on demand.
    assert_eq!(sets[0]["ways"].as_array().map(Vec::len), Some(11));
    for (file, said) in
        [("wrong.csv", "unknown column 'shoe'"), ("no_level.csv", "levels 0 to"), ("gone.csv", "no such file")]
    {
        let refused = folder.run(&["study", "requests", "--requests", file]).ends(2);
        assert!(refused.stderr.contains(said), "{refused}");
    }
    folder.run(&["study", "requests", "-o", "r.html"]).ends(0);
    assert_eq!(folder.read("r.html").matches("<svg").count(), 4);
    folder.run(&["study", "lattice", "--l", "2,3", "--levels", "1,1", "-o", "l.html"]).ends(0);
    assert_eq!(folder.read("l.html").matches("<svg").count(), 3);
    folder.run(&["study", "suppression", "-o", "s.html"]).ends(0);
    assert!(folder.read("s.html").matches("class=\"lattice\"").count() == 4, "two sets, k and l");
    folder.run(&["study", "local", "--k", "2,5", "--n-queries", "20", "-o", "u.html"]).ends(0);
    assert!(folder.read("u.html").contains("What the weight of a does"));
}

/// Samples have as many records as asked for, are the same for the same seed, and their numbers those of a table of them.
#[test]
fn local_methods_are_compared_over_samples_of_the_records() {
    let folder = people();
    let run = |line: &str| folder.run(&line.split_whitespace().collect::<Vec<_>>());
    let ask = |more: &str| {
        let line = format!("study local --k 2 --methods mondrian,global:ncp --n-queries 20 {more} --json");
        run(&line).ends(0).json()
    };
    let study = ask("--records 50,50%,100000");
    let samples = study["by_records"].as_array().expect("samples").clone();
    let n_all = study["by_k"]["n_records"].as_u64().expect("a number");
    let numbers: Vec<u64> = samples.iter().map(|of| of["n_records"].as_u64().expect("a number")).collect();
    let mut expected = vec![50, n_all / 2];
    expected.sort_unstable();
    assert_eq!(numbers, expected, "what is no sample is left out");
    for of in &samples {
        assert_eq!(of["compared"]["n_records"], of["n_records"]);
        assert_eq!(of["compared"]["rows"].as_array().map(Vec::len), Some(2), "{of}");
    }
    let without_times = |mut study: serde_json::Value| {
        forget(&mut study, "seconds");
        forget(&mut study, "cpu_seconds");
        forget(&mut study, "peak_bytes");
        study
    };
    assert_eq!(without_times(ask("--records 50,50%,100000")), without_times(study), "the same seed, the same samples");
    let refused = run("study local --k 2 --records many").ends(2);
    assert!(refused.stderr.contains("many"), "{refused}");
    run("study local --k 2,5 --methods mondrian --n-queries 20 --records 25%,50% -o n.html").ends(0);
    assert_eq!(folder.read("n.html").matches("against the number of records</").count(), 5);
    let rows = run("study local --k 2 --methods mondrian --n-queries 20 --records 60 --csv").ends(0).stdout;
    assert_eq!(rows.lines().filter(|row| row.starts_with("60,")).count(), 1, "{rows}");
}

/// Where criteria count labels, samples are of the values below them.
#[test]
fn samples_are_taken_of_values_and_not_of_their_labels() {
    let folder = people();
    let project = folder.read("incrowd.toml");
    folder.write(
        "incrowd.toml",
        format!("{project}hierarchy = {{ tree = {{ P = [\"p\"], Q = [\"q\", \"r\"] }} }}\ncount_at = 1\n"),
    );
    let line = "study local --k 2 --methods mondrian --n-queries 20 --records 60 --json";
    let study = folder.run(&line.split_whitespace().collect::<Vec<_>>()).ends(0).json();
    assert_eq!(study["by_records"][0]["compared"]["rows"][0]["reached"]["l"].as_u64(), Some(1), "of two labels");
}

/// Requests of every criterion are asked; what the whole lattice has is found by its own lattice.
#[test]
fn partial_lattices_are_studied_under_every_criterion() {
    let folder = people();
    let population = folder.read("t.csv").repeat(2).replace("\na,b,s\n", "\n");
    folder.write("town.csv", &population);
    let project =
        folder.read("incrowd.toml").replace("path = \"t.csv\"", "path = \"t.csv\"\npopulation = \"town.csv\"");
    folder.write("incrowd.toml", &project);
    let asked = "--k-map 4,9 --recursive 3,2 --recursive 1,2 --delta 2 --beta 1,3 --enhanced-beta 1";
    let line = format!("study lattice {asked} --lost 1%,20% --levels 1,1 --levels 2,1 --json");
    let study = folder.run(&line.split_whitespace().collect::<Vec<_>>()).ends(0).json();
    let requests = study["requests"].as_array().expect("requests");
    assert_eq!(requests.len(), 8 * 2 * 2);
    for name in ["k_map", "recursive", "delta", "beta", "enhanced_beta"] {
        assert!(requests.iter().any(|asked| asked.to_string().contains(&format!("\"{name}\""))), "{name}: {study}");
    }
    let of_map = folder.run(&["study", "suppression", "--k-map", "4,9", "--json"]).ends(0).json();
    assert_eq!(of_map["sets"][0]["criteria"].as_array().map(Vec::len), Some(2), "{of_map}");
    let refused = folder.run(&["study", "lattice", "--beta", "x"]).ends(2);
    assert!(refused.stderr.contains("beta"), "{refused}");
}

/// Takes a key out, wherever it is.
fn forget(value: &mut serde_json::Value, key: &str) {
    match value {
        serde_json::Value::Object(object) => {
            object.remove(key);
            object.values_mut().for_each(|value| forget(value, key));
        }
        serde_json::Value::Array(list) => list.iter_mut().for_each(|value| forget(value, key)),
        _ => {}
    }
}

#[test]
fn ours_looks_at_no_more_than_the_published_search_and_finds_as_little_risk() {
    let folder = people();
    let project = Project::open(folder.path()).expect("a project");
    let order = StudyRecords {
        about: About::default(),
        n_sampled: 20,
        thresholds: vec![30, 70],
        sets: vec![1, 2],
        ks: vec![1, 3],
        seed: 1,
    };
    let study = order.run(&project, &Known::default(), &Work::default()).expect("it has a meaning");
    assert_eq!((study.by_threshold.len(), study.by_set.len(), study.beside.len()), (18, 18, 6));
    for of in study.by_threshold.chunks(3).chain(study.by_set.chunks(3)) {
        let [published, _, ours] = of else { panic!("three searches") };
        assert!(ours.mean_risk <= published.mean_risk + 1e-12 || !published.is_exact);
        assert!(!published.is_exact || (ours.mean_risk - published.mean_risk).abs() < 1e-9);
        assert!((0.0..=1.0).contains(&ours.frontier_share));
    }
    // Where both keep as much utility, records one by one have less risk.
    let alike = study.beside.iter().filter(|row| row.utility_of_records < row.utility + 0.05);
    assert_eq!(alike.clone().count(), 3);
    for row in alike {
        assert!(row.risk_of_records <= row.risk_of_schemes, "k = {}", row.k);
    }
    folder.run(&["study", "records", "--sample", "5", "-o", "r.html"]).ends(0);
    assert_eq!(folder.read("r.html").matches("<svg").count(), 8);
}

/// An attribute is left out, and what the others lose is what a search without it finds.
#[test]
fn an_offer_without_an_attribute_is_the_answer_without_it() {
    let folder = people();
    let wish = ["--k", "12", "--max-suppressed", "0", "--max-level", "a=1,b=0", "--best-by", "height"];
    let whole = folder.run(&[&["negotiate", "--json"], &wish[..]].concat()).ends(1).json();
    let without = whole["offers"]["without"].as_array().expect("offers");
    let of_a = without.iter().find(|offer| offer["attribute"] == "a").expect("without a");
    let alone = folder.run(&[
        "negotiate",
        "--json",
        "--k",
        "12",
        "--max-suppressed",
        "0",
        "--max-level",
        "b=0",
        "--quasi-identifiers",
        "b",
    ]);
    let alone = alone.ends(0).json();
    assert_eq!(
        (&of_a["levels"]["b"], &of_a["n_groups"]),
        (&alone["exact"]["levels"]["b"], &alone["exact"]["n_groups"])
    );
    assert_eq!(of_a["levels"]["a"], 3, "hidden");
    // What a search took is told where somebody asks why: the same question gets the same document.
    assert!(whole.get("search").is_none());
    let explained = folder.run(&[&["negotiate", "--json", "--explain"], &wish[..]].concat()).ends(1).json();
    let search = &explained["search"];
    assert!(search["n_looked_at"].as_u64() > Some(0) && search["seconds"].is_number());
    // Of less privacy nothing is offered below the range.
    let k_of = |range: &str| {
        let wish = ["negotiate", "--json", "--k", range, "--max-suppressed", "0", "--max-level", "a=2,b=0"];
        folder.run(&wish).ends(1).json()["offers"]["privacy"]["k"].as_u64()
    };
    let least = k_of("20..2").expect("less can be had");
    assert_eq!(
        (k_of("20"), k_of(&format!("20..{least}")), k_of(&format!("20..{}", least + 1))),
        (Some(least), Some(least), None)
    );
    let above = format!("20..{}", least + 1);
    let said =
        folder.run(&["negotiate", "--k", &above, "--max-suppressed", "0", "--max-level", "a=2,b=0"]).ends(1).stdout;
    assert!(said.starts_with(&format!("Request: k = 20 (down to k = {}); ", least + 1)), "{said}");
    assert!(said.contains(&format!("settle for less: k = {} would not do.", least + 1)), "{said}");
    let refused = folder.run(&["publish", "--method", "top-down", "--k", "12..5", "-o", "r.csv"]).ends(2);
    assert!(refused.stderr.contains("is a range"), "{refused}");
}
