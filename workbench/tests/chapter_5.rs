//! The thesis' chapter 5 on Adult: what partial lattices select, answer and miss, to the last printed digit.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use incrowd::search::partial::{Estimator, Selection};
use incrowd::task::Task;
use incrowd::{Answer, Criteria, Level, Measure, Offer, Quality, Request, Scheme};
use incrowd_workbench::input::count::{Choice, Counted, count};
use incrowd_workbench::input::project::Project;
use incrowd_workbench::orders::study_lattice::{self, Study, differences};
use incrowd_workbench::work::Work;

use crate::support;
#[path = "support/chapter_5.rs"]
mod tables;

use support::adult_project;
use tables::{Case, Difference, Printed, Summary};

/// In the order of the chapter's level vectors, each with the size of the smallest set that it belongs to.
const QUASI_IDENTIFIERS: [(&str, usize); 6] =
    [("age", 3), ("education", 5), ("marital-status", 6), ("occupation", 4), ("race", 3), ("workclass", 3)];

/// Adult counted over three to six quasi-identifiers; none where the data are not there.
fn adult() -> Option<&'static BTreeMap<usize, Counted>> {
    static ADULT: OnceLock<Option<BTreeMap<usize, Counted>>> = OnceLock::new();
    ADULT.get_or_init(|| adult_project(&QUASI_IDENTIFIERS.map(|(name, _)| name)).map(counted)).as_ref()
}

fn counted(project: Project) -> BTreeMap<usize, Counted> {
    let of = |n: usize| {
        let names = QUASI_IDENTIFIERS.iter().filter(|(_, size)| *size <= n).map(|(name, _)| name.to_string());
        let choice = Choice { quasi_identifiers: Some(names.collect()), ..Choice::default() };
        (n, count(&project, &choice, &Work::default()).expect("the records can be counted"))
    };
    (3..=6).map(of).collect()
}

fn study(counted: &Counted, share: f64) -> Study<'_> {
    let whole = counted.annotate([], false, &Task::default()).expect("it is small");
    let selection = Selection { share, estimator: Estimator::Lambda };
    let measures = whole.measures().to_vec();
    let partial = counted.annotate_some(measures, false, Some(selection), &Task::default()).expect("it is small");
    Study::new(counted, whole, partial)
}

#[test]
fn table_5_1_how_well_levels_group() {
    let Some(adult) = adult() else { return };
    let study = study(&adult[&6], 0.05);
    let hundredths = |value: f64| (value * 100.0).round() as u64;
    for &(name, level, n_groups, gamma, mu) in tables::TABLE_5_1 {
        let a = QUASI_IDENTIFIERS.iter().position(|(known, _)| *known == name).expect("a quasi-identifier");
        let power = study.powers[a][level as usize];
        let found = (power.n_groups, hundredths(power.gamma), hundredths(power.mu));
        assert_eq!(found, (n_groups, gamma, mu), "{name} {level}");
    }
}

#[test]
fn figures_5_2_to_5_13_what_estimators_select() {
    let Some(adult) = adult() else { return };
    let studies: BTreeMap<usize, Study> = adult.iter().map(|(&n, counted)| (n, study(counted, 0.05))).collect();
    for &(n, k, rows) in tables::FIGURES_5_2_TO_5_13 {
        let accuracies = studies[&n].accuracies(k);
        assert_eq!(accuracies[0].by_height.len(), rows.len());
        for &(height, actual, gamma, mu, gamma_mu, lambda) in rows {
            let found: Vec<(u64, u64)> = accuracies.iter().map(|a| a.by_height[height as usize]).collect();
            assert_eq!(found, [gamma, mu, gamma_mu, lambda].map(|n| (actual, n)), "QI {n}, k {k}, height {height}");
        }
    }
    // How many the print says (section 5.9, of which 94 were visited).
    assert_eq!(studies[&6].partial.schemes().len(), 189);
}

fn scheme(digits: &str) -> Scheme {
    Scheme::new(digits.bytes().map(|digit| Level(digit - b'0')).collect())
}

fn request(&(_, k, n_suppressed_max, levels): &(usize, u64, u64, &str)) -> Request {
    Request {
        criteria: Criteria::of(Some(k), None),
        n_suppressed_max,
        level_max: scheme(levels),
        best_by: Quality::Height.into(),
    }
}

/// Two schemes of one height that lose as many: the print has one, and the product the smaller level vector.
const TIE: [&str; 2] = ["1111", "1102"];

#[track_caller]
fn check(case: &Case, answer: &Answer, printed: &Printed) {
    let check_offer = |found: &Offer, printed: &tables::Offer, is_privacy: bool| {
        let &(k, n_suppressed, height, levels) = printed;
        let request = case.request;
        assert_eq!(found.criteria.value(Measure::Size), Some(k), "{request:?}");
        let levels = if levels == TIE[0] && found.scheme == scheme(TIE[1]) { TIE[1] } else { levels };
        // The relaxation of k is printed for the coarsest acceptable scheme; a lower one that keeps as much is as good.
        if is_privacy && found.scheme != scheme(levels) {
            assert!(found.scheme.is_below(&scheme(levels)) && found.n_suppressed <= request.2, "{request:?}");
            return;
        }
        let found = (found.n_suppressed, found.scheme.height(), &found.scheme);
        assert_eq!(found, (n_suppressed, height, &scheme(levels)), "{request:?}");
    };
    match (answer, printed) {
        (Answer::Exact(offer), Printed::Exact(printed)) => check_offer(offer, printed, false),
        (Answer::Offers(offers), Printed::Offers(printed)) => {
            let found = [Some(&offers.suppression), offers.height.as_ref(), offers.privacy.as_ref()];
            for (i, (found, printed)) in found.into_iter().zip(printed).enumerate() {
                match (found, printed) {
                    (Some(found), Some(printed)) => check_offer(found, printed, i == 2),
                    (None, None) => {}
                    other => panic!("{:?}: {other:?}", case.request),
                }
            }
        }
        other => panic!("{:?}: {other:?}", case.request),
    }
}

const WORKLOADS: [(&[Case], Summary, Summary); 3] = [
    (tables::FIGURE_5_16, tables::FIGURE_5_19, tables::FIGURE_5_27),
    (tables::FIGURE_5_17, tables::FIGURE_5_20, tables::FIGURE_5_28),
    (tables::FIGURE_5_18, tables::FIGURE_5_21, tables::FIGURE_5_29),
];

fn as_printed(difference: study_lattice::Difference) -> Difference {
    match difference {
        study_lattice::Difference::Neither => Difference::Neither,
        study_lattice::Difference::Lost => Difference::Lost,
        study_lattice::Difference::By { n_suppressed, height, k } => Difference::By(n_suppressed, height, k),
    }
}

#[test]
fn figures_5_16_to_5_21_and_5_27_to_5_29_what_requests_get_and_miss() {
    let Some(adult) = adult() else { return };
    let studies: BTreeMap<usize, Study> = adult.iter().map(|(&n, counted)| (n, study(counted, 0.05))).collect();
    for (cases, plain, extended) in WORKLOADS {
        for (i, case) in cases.iter().enumerate() {
            let (n, column) = (case.request.0 - 3, i % 3);
            let compared =
                studies[&case.request.0].compared(request(&case.request), &Work::default()).expect("it has a meaning");
            check(case, &compared.whole, &case.full);
            check(case, &compared.partial, &case.partial);
            let found = differences(&compared.whole, &compared.partial).map(as_printed);
            let found_extended = differences(&compared.whole, &compared.extended).map(as_printed);
            for kind in 0..4 {
                if kind < 3 {
                    assert_eq!(found[kind], plain[kind][n][column], "{:?}, {kind}", case.request);
                    assert_eq!(found_extended[kind], extended[kind][n][column], "{:?}, {kind}", case.request);
                    continue;
                }
                // Of k relaxed, the scheme was looked at above.
                let k_of = |difference: Difference| match difference {
                    Difference::By(_, _, k) => Some(Some(k)),
                    Difference::Lost => Some(None),
                    Difference::Neither => None,
                };
                assert_eq!(k_of(found[kind]), k_of(plain[kind][n][column]), "{:?}", case.request);
                assert_eq!(k_of(found_extended[kind]), k_of(extended[kind][n][column]), "{:?}", case.request);
            }
        }
    }
}

#[test]
fn figure_5_22_more_and_fewer_schemes() {
    let Some(adult) = adult() else { return };
    for percent in [1, 5, 10] {
        let studies: BTreeMap<usize, Study> =
            adult.iter().map(|(&n, counted)| (n, study(counted, percent as f64 / 100.0))).collect();
        let mut n_checked = 0;
        for case in tables::FIGURE_5_16 {
            let (n, k, ..) = case.request;
            let printed = tables::FIGURE_5_22.iter().find(|row| (row.0, row.1, row.2) == (percent, n, k));
            let Some((.., printed)) = printed else { continue };
            let compared = studies[&n].compared(request(&case.request), &Work::default()).expect("it has a meaning");
            let found = differences(&compared.whole, &compared.partial).map(as_printed);
            assert_eq!(found[2], *printed, "{percent} %, QI {n}, k {k}");
            // The two other relaxations do not depend on the share.
            if let (Answer::Offers(offers), Printed::Offers(expected)) = (&compared.partial, &case.partial) {
                assert_eq!(Some(offers.suppression.n_suppressed), expected[0].map(|offer| offer.1));
                let k_of = |offer: &Offer| offer.criteria.value(Measure::Size);
                assert_eq!(offers.privacy.as_ref().and_then(k_of), expected[2].map(|offer| offer.0));
            }
            n_checked += 1;
        }
        assert_eq!(n_checked, 10);
    }
}
