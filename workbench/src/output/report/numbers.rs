//! The numbers: where the records went, and what became of each quasi-identifier.

use incrowd::criterion::{Criterion, Measure};
use incrowd::verify::{Finding, Verdict};
use incrowd::wire;

use super::facts::{AttributeFacts, Facts, PublishedAs};
use super::plot::part;
use super::text::{counted, share};
use super::verdict::promised;
use crate::output::page::escape;
use crate::sentences::{grouped, number_in_words, percent};

pub(super) fn numbers(facts: &Facts) -> String {
    let (certificate, verdict) = (facts.certificate, facts.verdict);
    let n_not_taken = certificate.n_records_dropped.saturating_add(certificate.n_records_left_out);
    let n_complete = certificate.n_records_read.saturating_sub(n_not_taken);
    let number = |n: Option<u64>| n.map_or("none".to_string(), grouped);
    let promised = promised(facts);
    let of_promised = |n: Option<u64>| n.map_or(String::new(), |n| format!("promised: {}", grouped(n)));
    let dropped_note =
        format!("{}, values missing", percent(certificate.n_records_dropped, certificate.n_records_read));
    let of = if n_not_taken == 0 { "of those read" } else { "of those that are left" };
    let suppressed_note = format!("{} {of}", percent(certificate.n_records_suppressed, n_complete));
    let mut tiles = vec![
        tile("Records read", "", &grouped(certificate.n_records_read), ""),
        tile("Dropped", "dropped", &grouped(certificate.n_records_dropped), &dropped_note),
        tile("Suppressed", "suppressed", &grouped(certificate.n_records_suppressed), &suppressed_note),
        tile(
            "Published",
            "published",
            &grouped(verdict.n_records),
            &percent(verdict.n_records, certificate.n_records_read),
        ),
        tile("Groups", "", &grouped(verdict.n_groups), &mean_size(verdict)),
        smallest_group(facts, &of_promised(promised.value(Measure::Size))),
    ];
    if let Some(people) = facts.account.people {
        let note = format!("{}, with no record left", percent(people.n_lost, people.n));
        tiles.insert(4, tile("People", "", &grouped(people.n), "in the source"));
        tiles.insert(5, tile("People lost", "", &grouped(people.n_lost), &note));
    }
    if certificate.n_records_left_out > 0 {
        let note = format!(
            "{}, more than are kept of a person",
            percent(certificate.n_records_left_out, certificate.n_records_read)
        );
        tiles.insert(2, tile("Left out", "dropped", &grouped(certificate.n_records_left_out), &note));
    }
    if !certificate.sensitive.is_empty() {
        let note = ["fewest in a group", &of_promised(promised.value(Measure::Distinct(0)))].join("<br>");
        tiles.push(tile("Sensitive values", "", &number(verdict.fewest_distinct), &note));
    }
    let others = |finding: &&Finding| !matches!(finding.criterion.measure, Measure::Size | Measure::Distinct(_));
    for finding in verdict.findings.iter().filter(others) {
        let Criterion { measure, value } = finding.criterion;
        let reached = finding.reached.map_or("not judged".to_string(), |reached| number_in_words(measure, reached));
        let note = format!("promised: {}", number_in_words(measure, value));
        tiles.push(tile(&escape(&wire::key(measure, &certificate.sensitive)), "", &reached, &note));
    }
    tiles.push(tile("Loss (NCP)", "", &share(facts.account.loss.ncp()), "0 % exact, 100 % hidden"));
    let absent = match verdict.n_absent {
        0 => String::new(),
        n => format!(" {} marked as suppressed in the file and not counted.", are(n)),
    };
    format!(
        "<section>\n<h2>The numbers</h2>\n{}<dl class=\"tiles\">\n{}</dl>\n\
         <p class=\"note\">What is published, the groups and their least sizes were counted in the file itself; \
         the others come from the source.{absent} The loss is the mean over all records, \
         suppressed ones counting as fully hidden.</p>\n</section>\n",
        records_bar(facts),
        tiles.concat()
    )
}

/// In people where it is known whose record it is, and in records beside it.
fn smallest_group(facts: &Facts, promised: &str) -> String {
    let number = |n: Option<u64>| n.map_or("none".to_string(), grouped);
    let in_records = facts.verdict.smallest_group;
    match facts.account.people {
        None => tile("Smallest group", "", &number(in_records), promised),
        Some(people) => {
            let note = format!("people; in records {}<br>{promised}", number(in_records));
            tile("Smallest group", "", &number(people.smallest_group), &note)
        }
    }
}

fn are(n: u64) -> String {
    if n == 1 { "1 record is".to_string() } else { format!("{} records are", grouped(n)) }
}

fn mean_size(verdict: &Verdict) -> String {
    match verdict.n_groups {
        0 => String::new(),
        n => format!("mean size {:.1}", verdict.n_records as f64 / n as f64),
    }
}

fn tile(label: &str, swatch: &str, value: &str, note: &str) -> String {
    let swatch = match swatch {
        "" => String::new(),
        class => format!("<i class=\"swatch {class}\" aria-hidden=\"true\"></i>"),
    };
    format!("<div><dt>{swatch}{label}</dt><dd>{value}<small>{note}</small></dd></div>\n")
}

/// Where the records went, as one bar.
fn records_bar(facts: &Facts) -> String {
    let certificate = facts.certificate;
    let parts = [
        ("published", facts.verdict.n_records),
        ("suppressed", certificate.n_records_suppressed),
        ("dropped", certificate.n_records_dropped.saturating_add(certificate.n_records_left_out)),
    ];
    let n_all: u64 = parts.iter().map(|(_, n)| n).sum();
    let mut x = 0.0;
    let mut rects = String::new();
    for (class, n) in parts {
        let width = part(n as f64, n_all as f64) * 100.0;
        let title = format!("{class}: {}", grouped(n));
        rects.push_str(&format!(
            "<rect class=\"{class}\" x=\"{x:.2}%\" width=\"{width:.2}%\" height=\"100%\"><title>{title}</title></rect>"
        ));
        x += width;
    }
    let [published, suppressed, dropped] = parts.map(|(class, n)| format!("{} {class}", grouped(n)));
    format!(
        "<svg class=\"records\" role=\"img\" aria-label=\"Of all records, {published}, {suppressed}, {dropped}.\">\
         {rects}</svg>\n"
    )
}

pub(super) fn attributes(facts: &Facts) -> String {
    let rows: String = facts.attributes.iter().map(attribute_row).collect();
    let levels = match facts.certificate.height {
        Some(_) => "Level 0 is the value as it was; the last level hides it.",
        None => "Every group has values of its own, no wider than its records need; a single value stands as it was.",
    };
    format!(
        "<section>\n<h2>What happens to each quasi-identifier</h2>\n<table>\n\
         <caption>{levels} \
         The loss says how much of the attribute’s range a published value leaves open.</caption>\n\
         <thead><tr><th scope=\"col\">Attribute</th><th scope=\"col\">Published as</th>\
         <th scope=\"col\" class=\"loss\">Loss</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</section>\n"
    )
}

fn attribute_row(attribute: &AttributeFacts) -> String {
    let n_labels = attribute.n_labels as u64;
    let what = match attribute.published_as {
        PublishedAs::Level { .. } => ("label", "labels"),
        PublishedAs::Own(_) => ("different cell", "different cells"),
    };
    let shown: Vec<String> = attribute.samples.iter().map(|sample| escape(sample)).collect();
    let more = if attribute.n_labels > shown.len() { ", …" } else { "" };
    let samples = match shown.is_empty() {
        true => counted(n_labels, what.0, what.1),
        false => format!("{}: {}{more}", counted(n_labels, what.0, what.1), shown.join(", ")),
    };
    let (published_as, note) = match &attribute.published_as {
        PublishedAs::Level { level, n_levels, name } => {
            let top = n_levels.saturating_sub(1);
            let is_hidden = *level > 0 && *level == top;
            (
                if is_hidden { "hidden".to_string() } else { escape(name) },
                format!("<small>level {level} of {top}</small>"),
            )
        }
        PublishedAs::Own(words) => (escape(words), String::new()),
    };
    let filled = part(attribute.ncp, 1.0) * 100.0;
    format!(
        "<tr><th scope=\"row\">{}{note}</th>\
         <td>{published_as}<small>{samples}</small></td>\
         <td class=\"loss\">{}<svg class=\"bar\" aria-hidden=\"true\"><rect class=\"track\" width=\"100%\" height=\"100%\"/>\
         <rect class=\"fill\" width=\"{filled:.2}%\" height=\"100%\"/></svg></td></tr>\n",
        escape(&attribute.name),
        share(attribute.ncp),
    )
}
