//! The tables of the papers, recomputed to the last printed digit.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use incrowd::search::as_published::negotiate_as_published;
use incrowd::search::negotiate::{Offers, offer_of};
use incrowd::task::Task;
use incrowd::{Answer, Criteria, Lattice, Level, Offer, Quality, Request, Scheme, negotiate};
use incrowd_workbench::input::count::{Choice, count};
use incrowd_workbench::input::project::Project;
use incrowd_workbench::work::Work;

use crate::support;
use support::{Folder, adult_project};

/// In the order of chapter 4's level vectors, each with the size of the smallest set that it belongs to.
const QUASI_IDENTIFIERS: [(&str, usize); 6] =
    [("age", 3), ("education", 5), ("marital-status", 6), ("occupation", 4), ("race", 3), ("workclass", 3)];

const N_RECORDS: u64 = 30_162;

/// The lattices of Adult over three to six quasi-identifiers.
struct Adult(BTreeMap<usize, Lattice>);

/// Counts and annotates Adult once; none where the data are not there.
fn adult() -> Option<&'static Adult> {
    static ADULT: OnceLock<Option<Adult>> = OnceLock::new();
    let project = || adult_project(&QUASI_IDENTIFIERS.map(|(name, _)| name));
    ADULT.get_or_init(|| project().map(|project| Adult::of(&project))).as_ref()
}

impl Adult {
    fn of(project: &Project) -> Adult {
        Adult((3..=6).map(|n| (n, lattice(project, Some(quasi_identifiers(n))))).collect())
    }

    fn lattice(&self, n_quasi_identifiers: usize) -> &Lattice {
        &self.0[&n_quasi_identifiers]
    }
}

/// The set of this size, in alphabetical order.
fn quasi_identifiers(n: usize) -> Vec<String> {
    QUASI_IDENTIFIERS.iter().filter(|(_, size)| *size <= n).map(|(name, _)| name.to_string()).collect()
}

fn lattice(project: &Project, quasi_identifiers: Option<Vec<String>>) -> Lattice {
    let choice = Choice { quasi_identifiers, ..Choice::default() };
    let counted = count(project, &choice, &Work::default()).expect("the records can be counted");
    counted.annotate([], false, &Task::default()).expect("it is small")
}

fn criteria(name: &str, value: u64) -> Criteria {
    match name {
        "k" => Criteria::of(Some(value), None),
        "l" => Criteria::of(None, Some(value)),
        _ => panic!("no criterion is called {name}"),
    }
}

/// Records suppressed by every scheme of a height; a diamond ends where an attribute exceeds level 1.
fn suppressed(lattice: &Lattice, criteria: Criteria, height: usize, extent: &str) -> Vec<u64> {
    let is_in_extent = |place: &usize| match extent {
        "full" => true,
        "diamond" => lattice.schemes().vector(*place).iter().all(|&level| level <= 1),
        _ => panic!("no extent is called {extent}"),
    };
    let places = lattice.schemes().at_height(height).filter(is_in_extent);
    places.map(|place| lattice.n_suppressed(place, &criteria)).collect()
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

/// The lines of a table that stands beside this file, without its header.
fn lines(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table.lines().skip(1).map(|line| line.split(',').collect())
}

fn number<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().expect("a number")
}

#[test]
fn halves_are_rounded_away_from_zero() {
    assert_eq!((rounded(113, 2, 0), rounded(112, 2, 0), rounded(1, 3, 2), rounded(2, 3, 2)), (57, 56, 33, 67));
    assert_eq!((printed("1.84"), printed("554"), printed("0.00")), ((184, 2), (554, 0), (0, 2)));
}

#[test]
fn chapter_3_records_suppressed_per_height() {
    let Some(adult) = adult() else { return };
    let mut wrong = Vec::new();
    let mut n_checked = 0;
    for line in lines(include_str!("papers/per_height.csv")) {
        let [_, criterion, value, n, height, statistic, shown, extent] = line[..] else { panic!("{line:?}") };
        let suppressed =
            suppressed(adult.lattice(number(n)), criteria(criterion, number(value)), number(height), extent);
        let (sum, n_schemes) = (suppressed.iter().sum::<u64>(), suppressed.len() as u64);
        let (expected, n_decimals) = printed(shown);
        let found = match statistic {
            "min" => rounded(*suppressed.iter().min().expect("a scheme"), 1, n_decimals),
            "max" => rounded(*suppressed.iter().max().expect("a scheme"), 1, n_decimals),
            "avg" => rounded(sum, n_schemes, n_decimals),
            "avg_percent" => rounded(100 * sum, n_schemes * N_RECORDS, n_decimals),
            _ => panic!("{line:?}"),
        };
        n_checked += 1;
        if found != expected {
            wrong.push(format!("{}: {found} / 10^{n_decimals}", line.join(",")));
        }
    }
    assert!(wrong.is_empty(), "{} of {n_checked} numbers differ:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(n_checked, 678);
}

#[test]
fn table_3_5_ratios_of_minima() {
    let Some(adult) = adult() else { return };
    for line in lines(include_str!("papers/ratios.csv")) {
        let [_, a, b, n, height, shown, extent] = line[..] else { panic!("{line:?}") };
        let least = |k: &str| {
            let suppressed = suppressed(adult.lattice(number(n)), criteria("k", number(k)), number(height), extent);
            suppressed.into_iter().min().expect("a scheme")
        };
        // Two decimals throughout; zeros at the end are not printed.
        let (digits, n_decimals) = printed(shown);
        assert_eq!(rounded(least(a), least(b), 2), digits * 10u64.pow(2 - n_decimals), "{line:?}");
    }
}

#[test]
fn records_suppressed_by_the_finest_scheme() {
    let Some(adult) = adult() else { return };
    for (n, n_schemes, of_k, of_l) in [
        (3, 60, [554, 1921, 4578], [1033, 2476, 4251]),
        (4, 180, [3297, 9416, 14667], [5116, 10124, 14668]),
        (5, 900, [10458, 18916, 25945], [13167, 20261, 25901]),
        (6, 3600, [15318, 24040, 28374], [17871, 25349, 28162]),
    ] {
        let lattice = adult.lattice(n);
        assert_eq!((lattice.schemes().len(), lattice.n_records(), lattice.n_dropped()), (n_schemes, N_RECORDS, 2_399));
        let found = |name: &str, values: [u64; 3]| values.map(|value| lattice.n_suppressed(0, &criteria(name, value)));
        assert_eq!((found("k", [3, 10, 25]), found("l", [3, 6, 9])), (of_k, of_l), "{n} quasi-identifiers");
    }
}

#[test]
fn figure_2_8_group_sizes_and_their_sums() {
    let Some(adult) = adult() else { return };
    let lattice = adult.lattice(3);
    let place = lattice.schemes().place(&scheme("101"));
    let mut n_groups: BTreeMap<u64, u64> = BTreeMap::new();
    for entry in lattice.profile(place).entries() {
        *n_groups.entry(lattice.signatures().size(entry.signature as usize)).or_default() += u64::from(entry.n_groups);
    }
    let cumulative = |size: u64| lattice.n_suppressed(place, &criteria("k", size));
    let found: Vec<_> = n_groups.iter().take(10).map(|(&size, &n)| (size, n, cumulative(size))).collect();
    assert_eq!(
        found,
        [
            (1, 26, 0),
            (2, 16, 26),
            (3, 10, 58),
            (4, 5, 88),
            (5, 8, 108),
            (6, 6, 148),
            (7, 4, 184),
            (9, 5, 212),
            (10, 4, 257),
            (11, 1, 297)
        ]
    );
}

#[test]
fn a_smaller_set_of_quasi_identifiers_is_the_larger_one_with_the_others_hidden() {
    let Some(adult) = adult() else { return };
    let whole = adult.lattice(6);
    for n in 3..6 {
        let part = adult.lattice(n);
        let set = quasi_identifiers(n);
        for place in 0..part.schemes().len() {
            let mut levels = part.schemes().vector(place).iter();
            let with_others_hidden = QUASI_IDENTIFIERS.iter().zip(whole.schemes().tops()).map(|((name, _), &top)| {
                match set.iter().any(|kept| kept == name) {
                    true => *levels.next().expect("a level per attribute"),
                    false => top,
                }
            });
            let same = whole.schemes().place(&Scheme::new(with_others_hidden.map(Level).collect()));
            for criteria in [criteria("k", 10), criteria("l", 6), Criteria::of(Some(25), Some(3))] {
                assert_eq!(part.n_suppressed(place, &criteria), whole.n_suppressed(same, &criteria));
            }
            assert_eq!(part.profile(place).n_groups(), whole.profile(same).n_groups());
        }
    }
}

/// `2011` as a scheme.
fn scheme(digits: &str) -> Scheme {
    Scheme::new(digits.bytes().map(|digit| Level(digit - b'0')).collect())
}

/// Requests whose printed scheme shares height and suppression with another one (slips.md, Ties).
const TIES: [(&str, &str, &str); 3] = [
    ("k = 10, at most 321, 2112", "1111", "1102"),
    ("k = 10, at most 32, 2011", "3210", "4110"),
    ("l = 6, at most 32, 211012", "403212", "441210"),
];

/// Checks an answer against a printed number and scheme; where two schemes tie, the smaller vector is the answer.
#[track_caller]
fn check(lattice: &Lattice, request: &str, found: &Offer, n_suppressed: &str, levels: &str) {
    let mut expected = scheme(levels);
    if let Some((.., other)) = TIES.iter().find(|(tied, shown, _)| *tied == request && *shown == levels) {
        let other = offer_of(lattice, &scheme(other), &found.criteria).expect("one of the schemes");
        assert_eq!((other.scheme.height(), other.n_suppressed), (expected.height(), number(n_suppressed)), "{request}");
        expected = expected.min(other.scheme);
    }
    assert_eq!((&found.scheme, found.n_suppressed), (&expected, number(n_suppressed)), "{request}");
}

#[test]
fn chapter_4_requests_and_answers() {
    let Some(adult) = adult() else { return };
    let mut n_lower = 0;
    for line in lines(include_str!("papers/answers.csv")) {
        let [
            criterion,
            value,
            max_suppressed,
            max_level,
            outcome,
            suppression_n,
            suppression_levels,
            height_n,
            height_levels,
            privacy_value,
            privacy_n,
            height_optimal,
            height_optimal_n,
        ] = line[..]
        else {
            panic!("{line:?}")
        };
        let lattice = adult.lattice(max_level.len());
        let name = format!("{criterion} = {value}, at most {max_suppressed}, {max_level}");
        let request = Request {
            criteria: criteria(criterion, number(value)),
            n_suppressed_max: number(max_suppressed),
            level_max: scheme(max_level),
            best_by: Quality::Height.into(),
        };
        // Without limits on the levels, the lowest scheme of the whole lattice is the exact answer.
        let top = Scheme::new(lattice.schemes().tops().iter().map(|&top| Level(top)).collect());
        let lowest = match negotiate(lattice, &Request { level_max: top, ..request.clone() }) {
            Ok(Answer::Exact(offer)) => offer,
            other => panic!("{name}: the top suppresses nothing, yet {other:?}"),
        };
        let optimal = (number::<u32>(height_optimal), number::<u64>(height_optimal_n));
        assert_eq!((lowest.scheme.height(), lowest.n_suppressed), optimal, "{name}");
        let answers = [negotiate_as_published(lattice, &request), negotiate(lattice, &request)];
        let (published, best) = match (outcome, answers.map(|answer| answer.expect("it has a meaning"))) {
            ("exact", [Answer::Exact(published), Answer::Exact(best)]) => {
                check(lattice, &name, &published, suppression_n, suppression_levels);
                assert_eq!(published, best, "{name}");
                continue;
            }
            ("offers", [Answer::Offers(published), Answer::Offers(best)]) => (published, best),
            (_, answers) => panic!("{name}: expected {outcome}, got {answers:?}"),
        };
        check(lattice, &name, &published.suppression, suppression_n, suppression_levels);
        let height = published.height.as_ref().expect("the top suppresses nothing");
        check(lattice, &name, height, height_n, height_levels);
        match (&published.privacy, privacy_value) {
            (None, "") => {}
            (Some(offer), value) if !value.is_empty() => {
                assert_eq!(offer.criteria, criteria(criterion, number(value)), "{name}");
                assert_eq!(offer.n_suppressed, number::<u64>(privacy_n), "{name}: {offer:?}");
            }
            (found, shown) => panic!("{name}: privacy '{shown}' is printed, {found:?} is found"),
        }
        assert_eq!(best.height.as_ref(), Some(&lowest), "{name}");
        n_lower += usize::from(lowest.scheme.height() < scheme(height_levels).height());
        // The two differ nowhere else.
        assert_eq!(Offers { height: None, ..published }, Offers { height: None, ..best }, "{name}");
    }
    assert_eq!(n_lower, 5, "the published search misses the lowest scheme five times");
}

/// The thesis's worked example: Figure 2.1, with hierarchies after its Figure 3.1.
fn ten_records() -> Folder {
    let figure_2_1 = "\
Name,Age,Work_class,Education,Hours/week
Thales,39,Private,Hs-grad,40
Anaximander,38,Private,Hs-grad,50
Anaximenes,37,Private,Hs-grad,40
Pythagoras,38,Private,11th,45
Gorgias,28,Loc-gov,Bachelors,30
Heraclitus,31,Federal-gov,Master,50
Empedocles,30,State-gov,Bachelors,60
Leucippus,32,Self-emp-not-inc,Bachelors,50
Democritus,35,Self-emp-inc,Prof-school,54
Protagoras,33,Self-emp-inc,Assoc-acd,40
";
    let education = "\
11th;Senior-secondary;Secondary;Without-post-secondary;*
Hs-grad;Senior-secondary;Secondary;Without-post-secondary;*
Assoc-acd;Assoc-acd;Associate;Post-secondary;*
Prof-school;Prof-school;University;Post-secondary;*
Bachelors;Bachelors;University;Post-secondary;*
Master;Master;Post-grad;Post-secondary;*
";
    let project = r#"
[data]
path = "microdata.csv"

[attributes.Name]
role = "identifier"

[attributes.Age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20], origin = 17 }

[attributes.Work_class]
role = "quasi-identifier"
hierarchy.tree.Worked = { Private = ["Private"], Self-emp = ["Self-emp-inc", "Self-emp-not-inc"], Gov = ["Loc-gov", "Federal-gov", "State-gov"] }
hierarchy.tree.Never-worked.Never-worked = ["Never-worked"]

[attributes.Education]
role = "quasi-identifier"
hierarchy = "education.csv"

[attributes."Hours/week"]
role = "sensitive"

[request]
best_by = "height"
"#;
    Folder::with(&[("microdata.csv", figure_2_1), ("education.csv", education), ("incrowd.toml", project)])
}

fn ten_records_lattice() -> Lattice {
    lattice(&Project::open(ten_records().path()).expect("a project"), None)
}

/// What is asked of the ten records: this k, nothing suppressed, Age and Work class one level up, Education three.
fn example_request(k: u64) -> Request {
    Request {
        criteria: criteria("k", k),
        n_suppressed_max: 0,
        level_max: scheme("113"),
        best_by: Quality::Height.into(),
    }
}

/// Publishes the ten records and compares the release with a figure, whose rows are in another order.
#[track_caller]
fn check_figure(flags: &str, rows: &[(usize, &str, &str)]) {
    let folder = ten_records();
    let args: Vec<&str> = ["publish", "--output", "release.csv"].into_iter().chain(flags.split_whitespace()).collect();
    folder.run(&args).ends(0);
    let release = folder.read("release.csv");
    let mut found: Vec<&str> = release.lines().collect();
    let header = found.remove(0);
    let hours = |hours: &str| hours.split_whitespace().map(str::to_string).collect::<Vec<_>>();
    let mut expected: Vec<String> = Vec::new();
    for (n_records, group, group_hours) in rows {
        assert_eq!(hours(group_hours).len(), *n_records);
        expected.extend(hours(group_hours).iter().map(|hours| format!("{group},{hours}")));
    }
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!((header, found), ("Age,Work_class,Education,Hours/week", expected.iter().map(String::as_str).collect()));
    folder.run(&["verify", "release.csv"]).ends(0);
}

#[test]
fn figure_2_2_three_alike_and_nothing_lost() {
    let lattice = ten_records_lattice();
    match negotiate(&lattice, &example_request(3)) {
        Ok(Answer::Exact(offer)) => assert_eq!((offer.scheme, offer.n_groups), (scheme("113"), 3)),
        other => panic!("{other:?}"),
    }
    check_figure(
        "--k 3 --max-level Age=1,Work_class=1,Education=3",
        &[
            (4, "37-41,Private,Without-post-secondary", "40 50 40 45"),
            (3, "27-31,Gov,Post-secondary", "30 50 60"),
            (3, "32-36,Self-emp,Post-secondary", "50 54 40"),
        ],
    );
}

#[test]
fn four_alike_cannot_be_had_and_there_are_three_ways_out() {
    let lattice = ten_records_lattice();
    let answer = negotiate(&lattice, &example_request(4)).expect("it has a meaning");
    let Answer::Offers(offers) = &answer else { panic!("{answer:?}") };
    // The thesis loses six records at 113; the same six are lost, and the other four kept more precisely, at 101.
    assert_eq!((offers.suppression.n_suppressed, &offers.suppression.scheme), (6, &scheme("101")));
    assert_eq!(offer_of(&lattice, &scheme("113"), &criteria("k", 4)).expect("one of the schemes").n_suppressed, 6);
    let privacy = offers.privacy.as_ref().expect("three alike can be had");
    assert_eq!((&privacy.criteria, &privacy.scheme, privacy.n_suppressed), (&criteria("k", 3), &scheme("113"), 0));
    let height = offers.height.as_ref().expect("the top suppresses nothing");
    assert_eq!((&height.scheme, height.n_suppressed, height.n_groups), (&scheme("223"), 0, 2));
    assert_eq!(negotiate_as_published(&lattice, &example_request(4)), Ok(answer));
}

#[test]
fn figure_2_3_suppression_relaxed() {
    let figure = [(4, "37-41,Private,Without-post-secondary", "40 50 40 45")];
    check_figure("--k 4 --levels Age=1,Work_class=1,Education=3", &figure);
    let finer = [(4, "37-41,Private,Senior-secondary", "40 50 40 45")];
    check_figure("--k 4 --max-level Age=1,Work_class=1,Education=3 --offer suppression", &finer);
}

#[test]
fn figure_2_4_height_relaxed() {
    check_figure(
        "--k 4 --max-level Age=1,Work_class=1,Education=3 --offer height",
        &[
            (4, "37-46,Worked,Without-post-secondary", "40 50 40 45"),
            (6, "27-36,Worked,Post-secondary", "30 50 60 50 54 40"),
        ],
    );
}

#[test]
fn figures_2_6_and_2_7_histograms() {
    let lattice = ten_records_lattice();
    let entries = |levels: &str| lattice.profile(lattice.schemes().place(&scheme(levels))).entries().to_vec();
    let mut sizes: BTreeMap<u64, u32> = BTreeMap::new();
    entries("113").iter().for_each(|entry| {
        *sizes.entry(lattice.signatures().size(entry.signature as usize)).or_default() += entry.n_groups
    });
    assert_eq!(sizes.into_iter().collect::<Vec<_>>(), [(3, 2), (4, 1)]);
    let by_distinct = entries("223").into_iter().map(|entry| {
        let look = lattice.signatures().of(entry.signature as usize);
        (look[1], entry.n_groups, look[0] * u64::from(entry.n_groups))
    });
    assert_eq!(by_distinct.collect::<Vec<_>>(), [(3, 1, 4), (5, 1, 6)]);
}
