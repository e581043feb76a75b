//! Local recoding on Adult: what the utility paper says must come out.

use std::path::Path;

use incrowd::lattice::Effort;
use incrowd::quality::{Quality, quality};
use incrowd::query::{Draw, draw_queries, query_error};
use incrowd::recode::mondrian::Cut;
use incrowd::recode::partition::{CellStyle, Least, Partition, Watch};
use incrowd::recode::{bottom_up, mondrian, top_down};
use incrowd::{Criteria, annotate};
use incrowd_workbench::count::{Choice, Counted, count};
use incrowd_workbench::project::Project;
use incrowd_workbench::talk::Talk;

mod support;
use support::Folder;

const QUASI_IDENTIFIERS: [&str; 8] =
    ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"];

/// Adult, counted over eight quasi-identifiers; none where the data are not there.
fn adult() -> Option<Counted> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/adult");
    if !data.join("adult.csv").exists() {
        eprintln!("skipped: the Adult data are not at {}", data.display());
        return None;
    }
    let text = |path: &Path| toml::Value::from(path.display().to_string());
    let mut project = format!("[data]\npath = {}\nmissing = [\"?\"]\n", text(&data.join("adult.csv")));
    for name in QUASI_IDENTIFIERS {
        let folders = ["hierarchies", "arx-hierarchies"].map(|folder| data.join(folder).join(format!("{name}.csv")));
        let hierarchy = folders.iter().find(|path| path.exists()).expect("a hierarchy for every attribute");
        let hierarchy = text(hierarchy);
        project.push_str(&format!("[attributes.{name}]\nrole = \"quasi-identifier\"\nhierarchy = {hierarchy}\n"));
    }
    project.push_str("[attributes.hours-per-week]\nrole = \"sensitive\"\n");
    let folder = Folder::with(&[("incrowd.toml", &project)]);
    let project = Project::open(folder.path()).expect("a project");
    let talk = Talk { is_json: false, is_quiet: true };
    Some(count(&project, &Choice::default(), &talk).expect("the records can be counted"))
}

#[test]
fn local_recoding_loses_less_than_mondrian_and_the_best_scheme() {
    let Some(adult) = adult() else { return };
    let (counts, hierarchies, weights) = (&adult.counts, &adult.hierarchies, &adult.weights());
    let lattice = annotate(counts, hierarchies, weights, &Effort::default()).expect("it is small");
    let draw = Draw { n_queries: 1_000, n_attributes: 3, selectivity: 0.05, seed: 1 };
    let queries = draw_queries(counts, hierarchies, &draw).expect("queries");
    let watch = &Watch::default();
    for k in [2, 5, 10, 25, 50, 100] {
        let least = Least::of(k, None);
        let judge = |partition: &Partition| -> (Quality, f64) {
            let recoding = partition.recode(counts, hierarchies, CellStyle::Ranges);
            let error = query_error(counts, hierarchies, &recoding, &queries);
            (quality(counts, hierarchies, weights, &recoding).expect("good weights"), error.median)
        };
        let from_below = bottom_up::partition(counts, hierarchies, weights, least, watch).expect("enough records");
        assert!(from_below.sizes().all(|size| (k..2 * k).contains(&size)), "k = {k}");
        let from_above = top_down::partition(counts, hierarchies, weights, least, 1, watch).expect("enough records");
        let strict =
            mondrian::partition(counts, hierarchies, weights, least, Cut::Strict, watch).expect("enough records");
        let [(from_below, below_error), (from_above, above_error), (strict, strict_error)] =
            [&from_below, &from_above, &strict].map(judge);
        let criteria = Criteria { k: Some(k), l: None };
        let of_scheme = |place: usize| lattice.profile(place).outcome(criteria).ncp;
        let global = (0..lattice.schemes().len()).map(of_scheme).fold(1.0, f64::min);
        let ncps = format!("k = {k}: {:.4} {:.4} {:.4} {global:.4}", from_below.ncp, from_above.ncp, strict.ncp);
        let errors = format!("median query error {below_error:.3} {above_error:.3} {strict_error:.3}");
        println!("{ncps}; {errors}");
        assert!(from_below.ncp <= 1.05 * from_above.ncp, "{ncps}");
        assert!(from_below.ncp.max(from_above.ncp) < 0.85 * strict.ncp.min(global), "{ncps}");
        assert!(below_error.max(above_error) < strict_error, "{errors}");
        for found in [&from_below, &from_above, &strict] {
            assert!(found.smallest_group >= Some(k) && found.n_suppressed == 0);
        }
    }
}

/// Diversity costs something, and is kept.
#[test]
fn diverse_classes_on_adult() {
    let Some(adult) = adult() else { return };
    let (counts, hierarchies, weights) = (&adult.counts, &adult.hierarchies, &adult.weights());
    let watch = &Watch::default();
    let least = Least::of(5, Some(4));
    for partition in [
        bottom_up::partition(counts, hierarchies, weights, least, watch),
        top_down::partition(counts, hierarchies, weights, least, 1, watch),
        mondrian::partition(counts, hierarchies, weights, least, Cut::Strict, watch),
        mondrian::partition(counts, hierarchies, weights, least, Cut::Relaxed, watch),
    ] {
        let recoding = partition.expect("enough values").recode(counts, hierarchies, CellStyle::Ranges);
        let found = quality(counts, hierarchies, weights, &recoding).expect("good weights");
        assert!(found.fewest_distinct >= Some(4) && found.smallest_group >= Some(5), "{found:?}");
        println!("{:.4} {}", found.ncp, found.n_groups);
    }
}
