//! What analysts will find: distributions, associations, a regression and a classifier, before and after.

use incrowd::utility::association::{Association, Kind};
use incrowd::utility::distribution::Distribution;
use incrowd::utility::preview::TargetUtility;
use incrowd::utility::regression::{Coefficient, Estimate, Model};

use super::facts::Facts;
use super::plot::part;
use super::text::{name, share};
use crate::output::page::escape;

/// Classes of an attribute that are drawn, those that change most.
const N_CLASSES_SHOWN: usize = 8;

/// Pairs of attributes that are shown, those that change most.
const N_PAIRS_SHOWN: usize = 8;

pub(super) fn utility(facts: &Facts) -> String {
    let Some(utility) = &facts.utility else { return String::new() };
    let distributions: String =
        utility.distributions.iter().filter(|one| one.distance >= 0.0005).map(distribution).collect();
    let mut html = format!(
        "<section>\n<h2>What analysts will find</h2>\n\
         <p class=\"note\">The file beside its source, a generalized cell read as its records spread evenly over the values \
         that may be behind it. None of this is in the certificate.</p>\n\
         <h3>Distributions</h3>\n<table>\n<caption>Of every attribute the classes whose shares change most: in the source \
         (light), and in the file. The distance is half the sum of all differences, 0 % where nothing changes; \
         the mean over all attributes is {}.</caption>\n\
         <thead><tr><th scope=\"col\">Attribute</th><th scope=\"col\">Share of records, before and after</th></tr></thead>\n\
         <tbody>\n{distributions}</tbody>\n</table>\n",
        share(utility.mean_distance())
    );
    let mut pairs: Vec<&Association> = utility.associations.iter().collect();
    pairs.sort_by(|a, b| b.change().total_cmp(&a.change()));
    pairs.truncate(N_PAIRS_SHOWN);
    if !pairs.is_empty() {
        let rows: String = pairs.into_iter().map(association).collect();
        html += &format!(
            "<h3>Associations</h3>\n<table>\n<caption>The pairs of attributes whose association changes most: correlation of \
             numbers, Cramér’s V of categories, correlation ratio of both; 0 is none, 1 the strongest.</caption>\n\
             <thead><tr><th scope=\"col\">Attributes</th><th scope=\"col\">Before and after</th></tr></thead>\n\
             <tbody>\n{rows}</tbody>\n</table>\n"
        );
    }
    if let Some(target) = &utility.target {
        html += &of_target(target);
    }
    html + "</section>\n"
}

/// Two bars, one above the other, and their numbers.
fn bars(before: f64, after: f64, most: f64, words: &str) -> String {
    let [was, is] = [before, after].map(|value| part(value.abs(), most) * 100.0);
    format!(
        "<svg class=\"bar two\" role=\"img\" aria-label=\"{words}\"><title>{words}</title>\
         <rect class=\"track\" width=\"100%\" height=\"100%\"/>\
         <rect class=\"range\" width=\"{was:.2}%\" height=\"50%\"/>\
         <rect class=\"fill\" y=\"50%\" width=\"{is:.2}%\" height=\"50%\"/></svg>"
    )
}

fn distribution(one: &Distribution) -> String {
    let mut classes: Vec<usize> = (0..one.classes.len()).collect();
    let change = |class: usize| (one.before[class] - one.after[class]).abs();
    classes.sort_by(|&a, &b| change(b).total_cmp(&change(a)).then(a.cmp(&b)));
    classes.truncate(N_CLASSES_SHOWN);
    classes.sort_unstable();
    let most = classes.iter().map(|&class| one.before[class].max(one.after[class])).fold(0.0, f64::max);
    let of_class = |class: usize| {
        let (before, after) = (one.before[class], one.after[class]);
        let words = format!("{}: {} before, {} after", escape(&one.classes[class]), share(before), share(after));
        format!("<small>{words}</small>{}", bars(before, after, most, &words))
    };
    let shown: String = classes.into_iter().map(of_class).collect();
    format!(
        "<tr><th scope=\"row\">{}<small>distance {}</small></th><td>{shown}</td></tr>\n",
        escape(&one.attribute),
        share(one.distance)
    )
}

fn association(one: &Association) -> String {
    let measure = match one.kind {
        Kind::Correlation => "correlation",
        Kind::CramersV => "Cramér’s V",
        Kind::CorrelationRatio => "correlation ratio",
    };
    let words = format!("{measure}: {:.2} before, {:.2} after", one.before, one.after);
    format!(
        "<tr><th scope=\"row\">{}, {}</th><td><small>{words}</small>{}</td></tr>\n",
        escape(&one.attributes.0),
        escape(&one.attributes.1),
        bars(one.before, one.after, 1.0, &words)
    )
}

fn of_target(target: &TargetUtility) -> String {
    let what = match &target.regression.model {
        Model::LeastSquares => format!("Least squares of {}", name(&target.attribute)),
        Model::Logistic(category) => {
            format!("Logistic regression of {} being {}", name(&target.attribute), escape(category))
        }
    };
    let rows: String = target.regression.coefficients.iter().map(coefficient).collect();
    let accuracy = &target.accuracy;
    let line = |words: &str, value: f64| {
        let filled = part(value, 1.0) * 100.0;
        format!(
            "<tr><th scope=\"row\">{words}</th><td>{}<svg class=\"bar\" aria-hidden=\"true\">\
             <rect class=\"track\" width=\"100%\" height=\"100%\"/>\
             <rect class=\"fill\" width=\"{filled:.2}%\" height=\"100%\"/></svg></td></tr>\n",
            share(value)
        )
    };
    format!(
        "<h3>A regression</h3>\n<table>\n<caption>{what} on the quasi-identifiers: coefficients with their intervals of 95 %, \
         in the source (light) and in the file. On average the intervals overlap by {}.</caption>\n\
         <thead><tr><th scope=\"col\">Coefficient</th><th scope=\"col\">Before and after</th></tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table>\n\
         <h3>A classifier</h3>\n<table>\n<caption>How often naive Bayes tells which of {} classes of {} a record of the \
         source has, which it has not learnt from, by its quasi-identifiers.</caption>\n<tbody>\n{}{}{}</tbody>\n</table>\n",
        share(target.regression.overlap),
        accuracy.n_classes,
        name(&target.attribute),
        line("learnt from the file", accuracy.after),
        line("learnt from the source", accuracy.before),
        line("always the most frequent", accuracy.baseline),
    )
}

/// Both intervals on one line that goes as far as they do.
fn coefficient(one: &Coefficient) -> String {
    let ends = [Some(one.before), one.after];
    let low = ends.iter().flatten().map(|estimate| estimate.low).fold(f64::INFINITY, f64::min);
    let high = ends.iter().flatten().map(|estimate| estimate.high).fold(f64::NEG_INFINITY, f64::max);
    let bar = |estimate: &Estimate, class: &str, y: u32| {
        let x = part(estimate.low - low, high - low) * 100.0;
        let width = (part(estimate.high - estimate.low, high - low) * 100.0).max(0.5);
        format!("<rect class=\"{class}\" x=\"{x:.2}%\" y=\"{y}%\" width=\"{width:.2}%\" height=\"50%\"/>")
    };
    let after = one.after.as_ref();
    let words = format!(
        "{:.3} before, {}; overlap {}",
        one.before.value,
        after.map_or("cannot be told after".to_string(), |after| format!("{:.3} after", after.value)),
        share(one.overlap)
    );
    let category =
        one.category.as_ref().map_or(String::new(), |category| format!("<small>{}</small>", escape(category)));
    format!(
        "<tr><th scope=\"row\">{}{category}</th><td><small>{words}</small><svg class=\"bar two\" role=\"img\" aria-label=\"{words}\">\
         <rect class=\"track\" width=\"100%\" height=\"100%\"/>{}{}</svg></td></tr>\n",
        escape(&one.attribute),
        bar(&one.before, "range", 0),
        after.map_or(String::new(), |after| bar(after, "fill", 50)),
    )
}

#[cfg(test)]
mod tests {
    use incrowd::utility::classifier::Accuracy;
    use incrowd::utility::preview::Utility;
    use incrowd::utility::regression::Regression;

    use super::super::html;
    use super::super::sample::{certificate, facts, verdict};
    use super::*;

    fn sample() -> Utility {
        let text = |text: &str| text.to_string();
        let estimate = |value: f64| Estimate { value, low: value - 1.0, high: value + 1.0 };
        let coefficient = |category: Option<&str>, after: Option<f64>| Coefficient {
            attribute: text("age<"),
            category: category.map(text),
            before: estimate(1.5),
            after: after.map(estimate),
            overlap: 0.75,
        };
        Utility {
            distributions: vec![Distribution {
                attribute: text("sex<"),
                classes: vec![text("<f>"), text("m")],
                before: vec![0.25, 0.75],
                after: vec![0.5, 0.5],
                distance: 0.25,
            }],
            associations: vec![Association {
                attributes: (text("sex<"), text("age")),
                kind: Kind::CorrelationRatio,
                before: 0.4,
                after: 0.125,
            }],
            target: Some(TargetUtility {
                attribute: text("income<"),
                regression: Regression {
                    model: Model::Logistic(text(">50K")),
                    coefficients: vec![coefficient(None, Some(2.0)), coefficient(Some("<f>"), None)],
                    overlap: 0.625,
                },
                accuracy: Accuracy { after: 0.8, before: 0.85, baseline: 0.7, n_classes: 2 },
            }),
        }
    }

    #[test]
    fn the_page_says_what_analysts_find_and_prints_no_markup_of_theirs() {
        let (certificate, verdict) = (certificate(), verdict(0));
        let mut facts = facts(&certificate, &verdict, &[]);
        assert!(!html(&facts).contains("What analysts will find"));
        facts.utility = Some(sample());
        let page = html(&facts);
        for words in [
            "What analysts will find",
            "&lt;f&gt;: 25.0 % before, 50.0 % after",
            "distance 25.0 %",
            "correlation ratio: 0.40 before, 0.12 after",
            "being &gt;50K",
            "1.500 before, 2.000 after; overlap 75.0 %",
            "cannot be told after",
            "learnt from the file</th><td>80.0 %",
        ] {
            assert!(page.contains(words), "{words}");
        }
        assert!(!page.contains("<f>") && !page.contains("age<<"));
        for tag in ["section", "table", "tr", "th", "td", "svg", "small", "rect"] {
            let n_open = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
            let n_closed = page.matches(&format!("</{tag}>")).count();
            assert!(tag == "rect" || n_open == n_closed, "{tag}");
        }
    }
}
