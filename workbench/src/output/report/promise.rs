//! What is promised criterion by criterion, and what a reader might think is promised and is not.

use incrowd::criterion::{Criterion, Measure};
use incrowd::wire::Certificate;

use super::facts::Facts;
use super::text::{counted, name, names};
use super::verdict::{finding_of, promised, sensitive, shortfall};
use crate::output::page::escape;
use crate::sentences::{number_in_words, people_in_words};

pub(super) fn promise(facts: &Facts) -> String {
    let promises: String = promised(facts).iter().map(|criterion| one_promise(facts, criterion)).collect();
    let promises = match promises.is_empty() {
        true => "<p>No criterion is promised.</p>\n".to_string(),
        false => format!("<ul class=\"promises\">\n{promises}</ul>\n"),
    };
    let limits: String =
        limits(facts).iter().map(|(what, why)| format!("<li><strong>{what}</strong> {why}</li>\n")).collect();
    format!(
        "<section>\n<h2>What is promised, and what is not</h2>\n{promises}\
         <h3>Not promised</h3>\n<ul class=\"limits\">\n{limits}</ul>\n</section>\n"
    )
}

fn one_promise(facts: &Facts, criterion: Criterion) -> String {
    let (title, mut meaning) = title_and_meaning(facts, criterion);
    let of = criterion.measure.sensitive().and_then(|s| facts.certificate.sensitive.get(s));
    if let Some((attribute, at)) = of.and_then(|of| facts.certificate.count_at.get_key_value(of)) {
        let (attribute, level) = (name(attribute), escape(&at.level_name));
        meaning.push_str(&format!(" Values of {attribute} are told apart by their labels at {level} only."));
    }
    let (class, status, but) = match finding_of(facts, criterion) {
        Some(finding) if !finding.is_judged => {
            ("bad", "not judged", " <strong>This cannot be judged from the file alone.</strong>".to_string())
        }
        Some(finding) if finding.holds() => ("good", "✓ kept", String::new()),
        Some(finding) => {
            ("bad", "✕ broken", format!(" <strong>This is not kept:</strong> {}", shortfall(facts, finding)))
        }
        None => ("bad", "not checked", " <strong>This was not checked.</strong>".to_string()),
    };
    format!(
        "<li class=\"{class}\"><strong>{title}</strong> <span class=\"chip {class}\">{status}</span>\
         <p>{meaning}{but}</p></li>\n"
    )
}

/// The name of a criterion and what it means to a reader.
fn title_and_meaning(facts: &Facts, criterion: Criterion) -> (String, String) {
    let Criterion { measure, value } = criterion;
    let of = sensitive(facts, criterion);
    let number = number_in_words(measure, value);
    // Whose records they are matters to each kind of criterion in its own way.
    let [once, weighed, shares] = match facts.is_of_people() {
        true => {
            [", everybody counted once,", ", everybody weighing the same,", ", by the shares of people who have it"]
        }
        false => [""; 3],
    };
    let original = "in the original table, as it was before anything was suppressed";
    match measure {
        Measure::Size => (
            format!("k-anonymity, k = {number}"),
            format!(
                "Whoever knows a person’s quasi-identifiers ({}), and that the person is in the release, \
                 finds at least {}.",
                names(&facts.certificate.quasi_identifiers),
                match facts.is_of_people() {
                    true => format!("{} whose records could be theirs", people_in_words(value)),
                    false => format!("{} that could be theirs", counted(value, "record", "records")),
                },
            ),
        ),
        Measure::Population => (
            format!("k-map, k = {number}"),
            format!(
                "Whoever knows a person’s quasi-identifiers ({}), but not that the person is in the release, \
                 finds at least {number} people of the population whose record it could be.",
                names(&facts.certificate.quasi_identifiers),
            ),
        ),
        Measure::Distinct(_) => (
            format!("distinct l-diversity, l = {number}"),
            match facts.is_of_people() {
                true => format!(
                    "The people whose records could be theirs have at least {} of {of}, whichever one of their values each \
                     of them is counted with.",
                    counted(value, "value", "different values"),
                ),
                false => format!(
                    "The records that could be theirs hold at least {} of {of}.",
                    counted(value, "value", "different values"),
                ),
            },
        ),
        Measure::Share(_) => (
            format!("(α,k)-anonymity, α = {number}"),
            match facts.is_of_people() {
                true => format!(
                    "No value of {of} is one of more than the share {number} of the people whose records could be theirs."
                ),
                false => format!(
                    "No value of {of} is that of more than the share {number} of the records that could be theirs."
                ),
            },
        ),
        Measure::Entropy(_) => (
            format!("entropy l-diversity, l = {number}"),
            format!(
                "The values of {of} that could be theirs{once} are as uncertain as {number} equally frequent ones."
            ),
        ),
        Measure::Recursive { l, .. } => (
            format!("recursive (c,l)-diversity, c = {number}, l = {l}"),
            format!(
                "In each group{once} the most frequent value of {of} is less than {number} times as frequent as \
                 the {l}-th most frequent and all rarer ones together."
            ),
        ),
        Measure::Closeness(s) => {
            let said = facts.certificate.sensitive.get(s).and_then(|name| facts.certificate.original_of(name));
            let distance = said.and_then(|said| said.distance).unwrap_or("chosen".to_string());
            (
                format!("t-closeness, t = {number}"),
                format!(
                    "In each group the values of {of}{weighed} are distributed as {original}, up to {number} \
                     in the {} distance.",
                    escape(&distance)
                ),
            )
        }
        Measure::Disclosure(_) => (
            format!("δ-disclosure privacy, δ = {number}"),
            format!(
                "No value of {of} is e^{number} times as likely in a group, or as unlikely, as {original}{shares}."
            ),
        ),
        Measure::Likeness(_) => (
            format!("β-likeness, β = {number}"),
            format!(
                "No value of {of} is more likely in a group than {original}, by more than {number} times that{shares}."
            ),
        ),
        Measure::EnhancedLikeness(_) => (
            format!("enhanced β-likeness, β = {number}"),
            format!(
                "No value of {of} is more likely in a group than {original}, by more than {number} times that; \
                 and frequent values by less{shares}."
            ),
        ),
    }
}

/// What a reader might think is promised, and is not.
fn limits(facts: &Facts) -> Vec<(&'static str, String)> {
    let promised = promised(facts);
    let mut limits = Vec::new();
    let is_about_values = promised.iter().any(|criterion| criterion.measure.sensitive().is_some());
    if !promised.is_empty() && !is_about_values {
        let mut text = "k-anonymity hides which record is a person’s, not what their group has in common: \
                        where all records of a group agree, whoever finds the group knows."
            .to_string();
        if let (Some(sensitive), Some(1)) = (facts.certificate.sensitive.first(), facts.verdict.fewest_distinct) {
            let name = name(sensitive);
            text.push_str(&format!(" In this release some groups do have a single value of {name}."));
        }
        limits.push(("What a group shares.", text));
    }
    let counts_only = |criterion: Criterion| matches!(criterion.measure, Measure::Distinct(_));
    if is_about_values && promised.iter().all(|c| c.measure.sensitive().is_none() || counts_only(c)) {
        let text = "Distinct l-diversity counts different values and no more: in a group one value may be far more \
                    frequent than the others, and different values may mean much the same.";
        limits.push(("How evenly values are spread.", text.to_string()));
    }
    if promised.iter().any(|criterion| matches!(criterion.measure, Measure::Population)) {
        let text = "k-map hides people only from those who do not know that they are in the release; and it is as good \
                    as the table of the population that it was checked with.";
        limits.push(("Who is in the release.", text.to_string()));
    }
    let mut text = "Whoever knows more than the quasi-identifiers may tell the records of a group apart.".to_string();
    let kept = kept_columns(facts.certificate);
    if !kept.is_empty() {
        text.push_str(&format!(" Published as in the source: {}.", names(&kept)));
    }
    limits.push(("Other knowledge.", text));
    limits.push(("Several records per person.", several_records(facts)));
    let text = "This release is judged alone. Laid beside another one of the same people, groups can fall apart.";
    limits.push(("Other releases.", text.to_string()));
    let text = "What is typical of people like them can be learned, whether or not they are in the release.";
    limits.push(("Conclusions about a person.", text.to_string()));
    limits
}

/// What somebody's several records do to the promise.
fn several_records(facts: &Facts) -> String {
    match facts.account.people {
        None => "Records are counted, not people: someone with several records shares a group with fewer others."
            .to_string(),
        Some(people) => format!(
            "People are counted, with all their records, group by group. What somebody’s records tell together is not \
             promised: {} alone by all their published records, because nobody else has as many in each of the same groups.",
            match people.n_alone_by_all_records {
                1 => "1 person is".to_string(),
                n => format!("{} are", people_in_words(n)),
            }
        ),
    }
}

/// The columns whose values nobody generalized.
fn kept_columns(certificate: &Certificate) -> Vec<String> {
    let columns = certificate.columns.iter();
    columns.filter(|column| !certificate.quasi_identifiers.contains(column)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use crate::output::report::sample::*;
    use incrowd::verify::Verdict;

    #[test]
    fn what_is_not_promised_depends_on_the_promise() {
        let mut k_only = certificate();
        k_only.criteria.shift_remove("l");
        let alike = Verdict { fewest_distinct: Some(1), ..verdict(0) };
        let shared = "some groups do have a single value of <em>hours-per-week</em>";
        assert!(page(&k_only, &alike, &[]).contains(shared));
        assert!(!page(&k_only, &verdict(0), &[]).contains(shared));
        assert!(page(&certificate(), &verdict(0), &[]).contains("How evenly values are spread."));
        assert!(page(&k_only, &alike, &[]).contains("as in the source: <em>hours-per-week</em>, <em>income</em>."));
    }
}
