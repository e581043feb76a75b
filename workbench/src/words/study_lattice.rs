//! How good parts of a lattice are, as pictures.

use super::figures::{Figure, over_whole, whole};
use crate::orders::study_lattice::{Accuracy, StudiedLattice};
use crate::output::bars::{self, Bars};
use crate::output::chart::{Line, Point};
use crate::sentences::{criterion_in_words, grouped};
use incrowd::search::partial::Estimator;

/// For every criterion what each estimator's best schemes suppress, height by height (Figures 5.2 to 5.13); and how often
/// they miss the best (Figure 5.1).
pub fn figures(study: &StudiedLattice) -> Vec<Figure> {
    let words = |accuracy: &Accuracy| criterion_in_words(accuracy.criterion, &study.sensitive);
    let by_criterion: Vec<&[Accuracy]> = study.accuracies.chunks(Estimator::ALL.len()).collect();
    let share = study.selection.share * 100.0;
    let mut figures: Vec<Figure> = by_criterion
        .iter()
        .map(|of| {
            let line = |name: &str, of: &dyn Fn(&(u64, u64)) -> u64, heights: &[(u64, u64)]| Line {
                name: name.to_string(),
                points: heights
                    .iter()
                    .enumerate()
                    .map(|(height, by)| Point {
                        x: height as f64,
                        y: of(by) as f64,
                        title: format!("{name}, height {height}: {}", grouped(of(by))),
                    })
                    .collect(),
            };
            let actual = line("all schemes", &|by| by.0, &of[0].by_height);
            let others = of.iter().map(|accuracy| line(accuracy.estimator.name(), &|by| by.1, &accuracy.by_height));
            let lines = std::iter::once(actual).chain(others).collect();
            let title = format!("Records suppressed at best at {}, by height", words(&of[0]));
            Figure {
                name: format!("estimators-{}", words(&of[0]).replace([' ', '=', ':'], "")),
                caption: format!("Of all schemes, and of the best {share} % of every height by each estimator."),
                svg: over_whole(&title, "height", "records suppressed", of[0].by_height.len() - 1, whole, lines),
                title,
            }
        })
        .collect();
    let kind = |e: usize| {
        let missed = by_criterion.iter().map(|of| Some(of[e].n_missed() as f64)).collect();
        (Estimator::ALL[e].name().to_string(), missed)
    };
    let title = "Heights at which the best scheme is missed".to_string();
    figures.push(Figure {
        name: "missed".into(),
        caption: format!("Of {}, by each estimator.", study.whole.schemes().n_heights()),
        svg: bars::svg(&Bars {
            title: title.clone(),
            x_name: "what is asked for".into(),
            y_name: "heights".into(),
            places: by_criterion.iter().map(|of| words(&of[0])).collect(),
            groups: Vec::new(),
            kinds: (0..Estimator::ALL.len()).map(kind).collect(),
            y_label: whole,
        }),
        title,
    });
    figures
}
