//! How likely people are to be found in the file, as `incrowd risk` says it.

use incrowd::risk::special_uniques::SpecialUniques;
use incrowd::risk::{AttackerView, Contribution};

use super::facts::{Facts, RiskFacts, UniquesFacts};
use super::text::counted;
use crate::output::page;
use crate::sentences::{grouped, percent};

/// How likely people are to be found in the file, as `incrowd risk` says it.
pub(super) fn risk(facts: &Facts) -> String {
    let Some(RiskFacts { threshold, found, unique_in_population, contributions, special_uniques }) = &facts.risk else {
        return String::new();
    };
    let is_counted = found.n_unique_in_population.is_some();
    let probability = |p: f64| format!("{p:.4}");
    let view = |name: &str, view: &AttackerView| {
        let at_risk = format!("{} ({})", grouped(view.n_at_risk), percent(view.n_at_risk, found.crowd().n()));
        vec![name.to_string(), probability(view.highest), probability(view.average), at_risk]
    };
    let views = [
        view("prosecutor: knows that someone is in the file", &found.prosecutor),
        view("journalist: knows only that they are in the population", &found.journalist),
        vec!["marketer: links every record".into(), "–".into(), probability(found.marketer), "–".into()],
    ];
    let header = ["Who looks", "highest risk", "average", &format!("{} above {threshold}", found.crowd().word())]
        .map(String::from);
    let alone = match found.n_unique {
        0 => {
            let nobody = if found.n_people.is_some() { "Nobody" } else { "No record" };
            format!("{nobody} stands alone in the file, and so nobody can be singled out by it in the population.")
        }
        n => {
            let in_population = match found.n_unique_in_population {
                Some(n) => format!("{} also alone in the population.", counted(n, "of them is", "of them are")),
                None => {
                    let estimate = |(share, n): &(f64, f64)| {
                        format!("{} if the file is {} % of it", grouped(n.round() as u64), share * 100.0)
                    };
                    let estimates: Vec<String> = unique_in_population.iter().map(estimate).collect();
                    format!(
                        "About so many of them are alone in the population too: {} (estimated as Zayatz does).",
                        estimates.join(", ")
                    )
                }
            };
            let alone = match found.n_people {
                Some(_) => counted(n, "person stands alone", "people stand alone"),
                None => counted(n, "record stands alone", "records stand alone"),
            };
            format!("{alone} in the file. {in_population}")
        }
    };
    let contribution = |c: &Contribution| {
        let alone = [grouped(c.n_unique_alone), probability(c.average_alone)];
        let without = [grouped(c.n_unique_without), probability(c.average_without)];
        [vec![c.attribute.clone()], alone.into(), without.into()].concat()
    };
    let of_attributes: Vec<Vec<String>> = contributions.iter().map(contribution).collect();
    let attributes_header =
        ["Attribute", "alone by it", "average risk by it", "alone without it", "average risk without it"];
    format!(
        "<section>\n<h2>How likely someone is to be found</h2>\n<p>Whoever knows that a person is in the file, and all of \
         their quasi-identifiers, finds the right record with a probability of at most {:.4}, and of {:.4} on average.</p>\n\
         {}<p>{alone}</p>\n{}{}<p class=\"note\">{} Records that fit several groups are counted in their own only.{}</p>\n\
         </section>\n",
        found.prosecutor.highest,
        found.prosecutor.average,
        page::table(&header, &views),
        page::table(&attributes_header.map(String::from), &of_attributes),
        special_uniques.as_ref().map_or_else(String::new, |uniques| of_special_uniques(uniques, contributions)),
        match is_counted {
            true => "The population is the one that the project names.",
            false => "No population is known: the file counts as one, which is the worst case.",
        },
        match found.n_people {
            Some(_) => " A person has the highest risk of their records; what these tell together is not in it.",
            None => "",
        },
    )
}

/// Who stood alone on few attributes, and what each attribute had to do with it, before and after.
fn of_special_uniques(uniques: &UniquesFacts, attributes: &[Contribution]) -> String {
    let UniquesFacts { source, file } = uniques;
    if source.uniques.iter().all(Option::is_none) {
        return String::new();
    }
    let row = |(a, attribute): (usize, &Contribution)| {
        let percent = |of: &SpecialUniques| format!("{:.1} %", of.shares[a].percent);
        vec![attribute.attribute.clone(), percent(source), percent(file)]
    };
    let rows: Vec<Vec<String>> = attributes.iter().enumerate().map(row).collect();
    let header = ["Attribute", "share of the scores in the source", "share of the scores in the file"];
    let limit = match source.size_max < attributes.len() {
        true => format!(" Sets of more than {} attributes were not looked for.", source.size_max),
        false => String::new(),
    };
    format!(
        "<p>In the source, {} alone on fewer than all quasi-identifiers (special uniques); in the file, {}.</p>\n{}\
         <p class=\"note\">The scores are those of SUDA: a smaller set of attributes that is enough to stand alone counts \
         more, for each of its attributes.{limit}</p>\n",
        counted(source.n_special(), "record stands", "records stand"),
        counted(file.n_special(), "does", "do"),
        page::table(&header.map(String::from), &rows),
    )
}
