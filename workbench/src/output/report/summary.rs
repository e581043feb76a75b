//! The first page: what is published, for whom, under which promise, at which risk and loss, who agreed, how to check it.

use incrowd::risk::Risks;

use super::check::verify_command;
use super::facts::{Facts, PublishedAs, RiskFacts};
use super::request::taken;
use super::text::{counted, name, names, share};
use super::verdict::promised;
use crate::output::page::escape;
use crate::sentences::{grouped, percent, promise_in_words};
use incrowd::number::Crowd;

/// Left to be filled in by hand, where the project file does not say it.
const BLANK: &str = "<span class=\"blank\"></span>";

pub(super) fn summary(facts: &Facts) -> String {
    let entries = [
        ("What", what(facts)),
        ("For whom", said(facts.said.recipient.as_deref())),
        ("For what", said(facts.said.purpose.as_deref())),
        ("Promise", promise(facts)),
        ("Risk that is left", risk(facts)),
        ("What was lost", lost(facts)),
        ("What was agreed", taken(facts)),
        ("Who agreed", agreed(facts)),
        ("How to check it", format!("<pre><code>{}</code></pre>", verify_command(facts))),
    ];
    let rows: String =
        entries.iter().map(|(label, text)| format!("<div><dt>{label}</dt><dd>{text}</dd></div>\n")).collect();
    format!("<section>\n<h2>Summary</h2>\n<dl class=\"origin\">\n{rows}</dl>\n</section>\n")
}

fn what(facts: &Facts) -> String {
    let certificate = facts.certificate;
    let of = match certificate.sensitive.is_empty() {
        true => String::new(),
        false => format!(" Sensitive: {}.", names(&certificate.sensitive)),
    };
    let how = match certificate.height {
        Some(_) => "one level for each attribute",
        None if certificate.per_record.is_some() => "every record on its own",
        None => "every group on its own",
    };
    format!(
        "{} in {}, {} of {} that were read, generalized with {how}. Quasi-identifiers: {}.{of}",
        counted(facts.verdict.n_records, "record", "records"),
        counted(facts.verdict.n_groups, "group", "groups"),
        percent(facts.verdict.n_records, certificate.n_records_read),
        grouped(certificate.n_records_read),
        names(&certificate.quasi_identifiers),
    )
}

fn said(text: Option<&str>) -> String {
    text.map_or(BLANK.to_string(), escape)
}

fn promise(facts: &Facts) -> String {
    let crowd = if facts.is_of_people() { Crowd::People(0) } else { Crowd::Records(0) };
    let promises = promised(facts);
    let words: Vec<String> = promises
        .iter()
        .map(|criterion| escape(&promise_in_words(criterion, &facts.certificate.sensitive, crowd)))
        .collect();
    match words.is_empty() {
        true => "No criterion is promised.".to_string(),
        false => format!("Every group has {}.", words.join(", ")),
    }
}

fn risk(facts: &Facts) -> String {
    let Some(RiskFacts { threshold, found, .. }) = &facts.risk else {
        return "Not measured.".to_string();
    };
    let Risks { prosecutor, marketer, n_unique, .. } = found;
    format!(
        "Whoever knows that a person is in the file, and that person's quasi-identifiers, finds the right record with a \
         probability of at most {}, and of {} on average; whoever links every record gets {} right. {} ({}) with a risk above \
         {threshold}; {} alone.",
        share(prosecutor.highest),
        share(prosecutor.average),
        share(*marketer),
        match found.n_people {
            Some(_) => counted(prosecutor.n_at_risk, "person", "people"),
            None => counted(prosecutor.n_at_risk, "record", "records"),
        },
        percent(prosecutor.n_at_risk, found.crowd().n()),
        match n_unique {
            0 => "none stands".to_string(),
            1 => "1 stands".to_string(),
            n => format!("{} stand", grouped(*n)),
        },
    )
}

fn lost(facts: &Facts) -> String {
    let certificate = facts.certificate;
    let hidden: Vec<&str> = facts
        .attributes
        .iter()
        .filter(|attribute| match attribute.published_as {
            PublishedAs::Level { level, n_levels, .. } => level > 0 && level + 1 == n_levels,
            PublishedAs::Own(_) => false,
        })
        .map(|attribute| attribute.name.as_str())
        .collect();
    let mut words = vec![format!("{} of the detail (NCP)", share(facts.account.loss.ncp()))];
    words.push(format!("{} suppressed", counted(certificate.n_records_suppressed, "record", "records")));
    if certificate.n_records_dropped > 0 {
        words.push(format!("{} dropped for missing values", grouped(certificate.n_records_dropped)));
    }
    if let Some(people) = facts.account.people {
        words.push(format!("{} with no record left", counted(people.n_lost, "person", "people")));
    }
    let hidden = match hidden.is_empty() {
        true => String::new(),
        false => format!(" Hidden altogether: {}.", hidden.into_iter().map(name).collect::<Vec<_>>().join(", ")),
    };
    format!("{}.{hidden}", words.join("; "))
}

/// Who is named in the project file, each with a place to sign on paper, or three such places.
fn agreed(facts: &Facts) -> String {
    match facts.said.agreed.is_empty() {
        true => BLANK.repeat(2),
        false => facts.said.agreed.iter().map(|who| format!("{}{BLANK}", escape(who))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::{certificate, facts, verdict};
    use crate::input::project::ReportWords;

    #[test]
    fn what_the_project_says_of_the_release_stands_on_the_first_page() {
        let (certificate, verdict) = (certificate(), verdict(0));
        let mut facts = facts(&certificate, &verdict, &[]);
        let plain = super::summary(&facts);
        assert!(plain.matches(super::BLANK).count() == 4, "{plain}");
        let said = ReportWords {
            recipient: Some("the <registry>".into()),
            purpose: Some("a study of stays".into()),
            agreed: vec!["A. Curator".into(), "B. Officer".into()],
        };
        facts.said = &said;
        let page = super::summary(&facts);
        for words in ["the &lt;registry&gt;", "a study of stays", "A. Curator", "B. Officer"] {
            assert!(page.contains(words), "{words}");
        }
        for words in
            ["29,924 records in 172 groups", "Hidden altogether: <em>race</em>", "incrowd verify adult-k10.csv"]
        {
            assert!(page.contains(words), "{words} in {page}");
        }
    }
}
