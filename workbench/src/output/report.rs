//! The page that a privacy officer reads before signing: what a release promises, what it costs, how to check it.
//!
//! One HTML file that asks nobody for anything: no scripts, no fonts, no pictures from elsewhere.
//! Charts are drawn with widths in percent and heights in pixels, so that they fit a phone and their words stay readable.

use crate::sentences::{criterion_in_words, number_in_words, promise_in_words};
use crate::sentences::{grouped, percent};
use incrowd::criterion::{Criteria, Criterion, Measure};
use incrowd::risk::{Contribution, Risks, View};
use incrowd::verify::{Finding, Verdict};
use incrowd::wire::{
    self, Certificate, Claim, Dealt, DealtAttribute, Distribution, FileHash, PerRecord, PerRecordOutcome, criterion_of,
};
use serde_json::Value;

use crate::output::account::Account;
use crate::output::page::{self, escape};

/// What the page tells.
pub struct Facts<'a> {
    /// The name of the release's file.
    pub release: &'a str,
    /// The name of the certificate's file.
    pub certificate_name: &'a str,
    pub certificate: &'a Certificate,
    /// What comes from the source and not from the release.
    pub account: &'a Account,
    pub verdict: &'a Verdict,
    pub claims: &'a [Claim],
    pub attributes: Vec<AttributeFacts>,
    /// Published groups by size: (size, number of groups), increasing.
    pub group_sizes: Vec<(u64, u64)>,
    /// How likely people are to be found; none where nobody is published.
    pub risk: Option<RiskFacts>,
    /// What the schemes of each height would suppress under the certificate's criteria, by increasing height;
    /// empty when no lattice was made.
    pub by_height: Vec<HeightFacts>,
}

/// How likely people are to be found in the file.
pub struct RiskFacts {
    /// A record is at risk where someone finds it with a greater probability.
    pub threshold: f64,
    pub found: Risks,
    /// Of the records that stand alone, about how many stand alone in the population, if the file is this share of it.
    pub unique_in_population: Vec<(f64, f64)>,
    pub contributions: Vec<Contribution>,
}

/// How one quasi-identifier is published.
pub struct AttributeFacts {
    pub name: String,
    pub published_as: PublishedAs,
    /// How many distinct labels are published.
    pub n_labels: usize,
    /// A few published labels.
    pub samples: Vec<String>,
    /// The attribute's own loss, from 0 to 1.
    pub ncp: f64,
}

/// What stands in the cells of a quasi-identifier.
pub enum PublishedAs {
    /// Labels of one level of its hierarchy, the same for all records.
    Level {
        level: usize,
        /// All levels, the exact one and the top included.
        n_levels: usize,
        name: String,
    },
    /// Something of each group's own, in words.
    Own(&'static str),
}

/// Least, mean and most records that schemes of one height suppress.
#[derive(Clone, Copy)]
pub struct HeightFacts {
    pub height: usize,
    pub n_suppressed_min: u64,
    pub n_suppressed_mean: f64,
    pub n_suppressed_max: u64,
}

/// The whole page; the same facts give the same bytes.
pub fn html(facts: &Facts) -> String {
    let title = format!("Privacy report: {}", escape(facts.release));
    let sections = [
        heading(facts),
        promise(facts),
        numbers(facts),
        attributes(facts),
        group_sizes(facts),
        risk(facts),
        by_height(facts),
        request(facts),
        claims(facts),
        how_to_check(facts),
        origin(facts),
        signature(facts),
    ];
    page::document(&title, &sections.concat())
}

// What the page concludes.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judgement {
    Holds,
    /// No group, hence no group that fails.
    Empty,
    Broken,
    /// The groups are fine, but this is not the file that the certificate describes.
    Contradicted,
    /// Nothing is promised, or something promised was not looked at.
    Unjudged,
}

impl Judgement {
    fn is_good(self) -> bool {
        matches!(self, Judgement::Holds | Judgement::Empty)
    }
}

fn judge(facts: &Facts) -> Judgement {
    let promised = promised(facts);
    if facts.verdict.findings.iter().any(|finding| !finding.holds()) {
        Judgement::Broken
    } else if facts.claims.iter().any(|claim| !claim.holds) {
        Judgement::Contradicted
    } else if promised.is_empty() || promised.iter().any(|criterion| finding_of(facts, criterion).is_none()) {
        Judgement::Unjudged
    } else if facts.verdict.n_groups == 0 {
        Judgement::Empty
    } else {
        Judgement::Holds
    }
}

fn promised(facts: &Facts) -> Criteria {
    facts.certificate.promised().unwrap_or_default()
}

/// The finding about exactly this criterion: one about a lower value would say less than was promised.
fn finding_of<'a>(facts: &'a Facts, criterion: Criterion) -> Option<&'a Finding> {
    facts.verdict.findings.iter().find(|finding| finding.criterion == criterion)
}

/// The verdict as a headline and one sentence, both in plain words.
fn verdict_in_words(facts: &Facts) -> (&'static str, String) {
    let n_groups = facts.verdict.n_groups;
    match judge(facts) {
        Judgement::Holds => {
            let needs: Vec<String> = promised(facts).iter().map(|c| need(facts, c)).collect();
            let who = match n_groups {
                1 => "The single published group has".to_string(),
                n => format!("Each of the {} published groups has", grouped(n)),
            };
            ("The promise holds.", format!("{who} {}.", needs.join(" and ")))
        }
        Judgement::Empty => (
            "The promise holds, because nothing is published.",
            "The file has no record left; there is nothing to find in it, and nothing to use.".to_string(),
        ),
        Judgement::Broken => {
            let failing = facts.verdict.findings.iter().filter(|finding| !finding.holds());
            let sentences: Vec<String> = failing.map(|finding| shortfall(facts, finding)).collect();
            ("The promise does not hold.", format!("{} Do not publish this file.", sentences.join(" ")))
        }
        Judgement::Contradicted => {
            let n_wrong = facts.claims.iter().filter(|claim| !claim.holds).count() as u64;
            let wrong = match n_wrong {
                1 => "one claim of the certificate is wrong".to_string(),
                n => format!("{} claims of the certificate are wrong", grouped(n)),
            };
            let sentence = format!("The groups pass the check, but {wrong}: it does not describe this file.");
            ("The certificate does not hold.", sentence)
        }
        Judgement::Unjudged if promised(facts).is_empty() && facts.certificate.per_record.is_some() => (
            "No k is promised.",
            "Every record was generalized on its own and may be the only one with its cells, so this file must not be \
             taken for a k-anonymous one."
                .to_string(),
        ),
        Judgement::Unjudged if promised(facts).is_empty() => (
            "Nothing is promised.",
            "The certificate names no criterion, so this file must not be taken for an anonymous one.".to_string(),
        ),
        Judgement::Unjudged => (
            "The promise was not checked.",
            "The certificate promises more than the check looked at; check again before relying on it.".to_string(),
        ),
    }
}

/// What every group has, to follow "has".
fn need(facts: &Facts, criterion: Criterion) -> String {
    match criterion.measure {
        Measure::Size => format!("at least {}", counted(criterion.value, "record", "records")),
        Measure::Distinct(_) => {
            let values = counted(criterion.value, "value", "different values");
            format!("at least {values} of {}", sensitive(facts, criterion))
        }
        _ => escape(&promise_in_words(criterion, &facts.certificate.sensitive)),
    }
}

fn shortfall(facts: &Facts, finding: &Finding) -> String {
    let have = if finding.n_groups_failing == 1 { "has" } else { "have" };
    let criterion = finding.criterion;
    let what = match criterion.measure {
        Measure::Size => format!("{have} fewer than {}", counted(criterion.value, "record", "records")),
        Measure::Distinct(_) => {
            let values = counted(criterion.value, "value", "different values");
            format!("{have} fewer than {values} of {}", sensitive(facts, criterion))
        }
        _ => format!("miss {}", escape(&criterion_in_words(criterion, &facts.certificate.sensitive))),
    };
    format!(
        "{} of {} {what} ({} in all).",
        grouped(finding.n_groups_failing),
        counted(facts.verdict.n_groups, "published group", "published groups"),
        counted(finding.n_records_failing, "record", "records"),
    )
}

/// The sensitive attribute that a criterion is about.
fn sensitive(facts: &Facts, criterion: Criterion) -> String {
    let attribute = criterion.measure.sensitive().and_then(|s| facts.certificate.sensitive.get(s));
    attribute.map_or("the sensitive attribute".to_string(), name)
}

// The sections, in the order of the page.

fn heading(facts: &Facts) -> String {
    let (headline, sentence) = verdict_in_words(facts);
    let (class, mark) = if judge(facts).is_good() { ("good", "✓") } else { ("bad", "✕") };
    format!(
        "<header>\n<p class=\"eyebrow\">Privacy report</p>\n<h1>{}</h1>\n\
         <p class=\"verdict {class}\"><span class=\"mark\" aria-hidden=\"true\">{mark}</span>\
         <span><strong>{headline}</strong> {sentence}</span></p>\n\
         <p class=\"note\">For the person who signs. Publish the release and its certificate, and keep this page: it \
         has numbers and a key that tell about records which are not in the release.</p>\n</header>\n",
        escape(facts.release)
    )
}

fn promise(facts: &Facts) -> String {
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
    let (title, meaning) = title_and_meaning(facts, criterion);
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
    let original = "in the original table, as it was before anything was suppressed";
    match measure {
        Measure::Size => (
            format!("k-anonymity, k = {number}"),
            format!(
                "Whoever knows a person’s quasi-identifiers ({}), and that the person is in the release, \
                 finds at least {} that could be theirs.",
                names(&facts.certificate.quasi_identifiers),
                counted(value, "record", "records"),
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
            format!(
                "The records that could be theirs hold at least {} of {of}.",
                counted(value, "value", "different values"),
            ),
        ),
        Measure::Share(_) => (
            format!("(α,k)-anonymity, α = {number}"),
            format!("No value of {of} is that of more than the share {number} of the records that could be theirs."),
        ),
        Measure::Entropy(_) => (
            format!("entropy l-diversity, l = {number}"),
            format!("The values of {of} that could be theirs are as uncertain as {number} equally frequent ones."),
        ),
        Measure::Recursive { l, .. } => (
            format!("recursive (c,l)-diversity, c = {number}, l = {l}"),
            format!(
                "In each group the most frequent value of {of} is less than {number} times as frequent as \
                 the {l}-th most frequent and all rarer ones together."
            ),
        ),
        Measure::Closeness(s) => {
            let distance = facts.certificate.sensitive.get(s).and_then(|name| facts.certificate.original.get(name));
            let distance = distance.and_then(|original| original.get("distance")?.as_str()).unwrap_or("chosen");
            (
                format!("t-closeness, t = {number}"),
                format!(
                    "In each group the values of {of} are distributed as {original}, up to {number} \
                     in the {} distance.",
                    escape(distance)
                ),
            )
        }
        Measure::Disclosure(_) => (
            format!("δ-disclosure privacy, δ = {number}"),
            format!("No value of {of} is e^{number} times as likely in a group, or as unlikely, as {original}."),
        ),
        Measure::Likeness(_) => (
            format!("β-likeness, β = {number}"),
            format!("No value of {of} is more likely in a group than {original}, by more than {number} times that."),
        ),
        Measure::EnhancedLikeness(_) => (
            format!("enhanced β-likeness, β = {number}"),
            format!(
                "No value of {of} is more likely in a group than {original}, by more than {number} times that; \
                 and frequent values by less."
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
    let text = "Records are counted, not people: someone with several records has a smaller crowd around them.";
    limits.push(("Several records per person.", text.to_string()));
    let text = "This release is judged alone. Laid beside another one of the same people, groups can fall apart.";
    limits.push(("Other releases.", text.to_string()));
    let text = "What is typical of people like them can be learned, whether or not they are in the release.";
    limits.push(("Conclusions about a person.", text.to_string()));
    limits
}

/// The columns whose values nobody generalized.
fn kept_columns(certificate: &Certificate) -> Vec<String> {
    let columns = certificate.columns.iter();
    columns.filter(|column| !certificate.quasi_identifiers.contains(column)).cloned().collect()
}

fn numbers(facts: &Facts) -> String {
    let (certificate, verdict) = (facts.certificate, facts.verdict);
    let n_complete = certificate.n_records_read.saturating_sub(certificate.n_records_dropped);
    let number = |n: Option<u64>| n.map_or("none".to_string(), grouped);
    let promised = promised(facts);
    let of_promised = |n: Option<u64>| n.map_or(String::new(), |n| format!("promised: {}", grouped(n)));
    let dropped_note =
        format!("{}, values missing", percent(certificate.n_records_dropped, certificate.n_records_read));
    let suppressed_note = format!("{} of those left", percent(certificate.n_records_suppressed, n_complete));
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
        tile("Smallest group", "", &number(verdict.smallest_group), &of_promised(promised.value(Measure::Size))),
    ];
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
    let loss = facts.account.loss.get("ncp").and_then(Value::as_f64);
    tiles.push(tile("Loss (NCP)", "", &loss.map_or("unknown".to_string(), share), "0 % exact, 100 % hidden"));
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
        ("dropped", certificate.n_records_dropped),
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

fn attributes(facts: &Facts) -> String {
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

/// Groups of similar size: at least `low`, less than `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bucket {
    low: u64,
    high: u64,
    n_groups: u64,
    n_records: u64,
}

/// Buckets that start at k and widen by a constant factor, so that a few tell about crowds of ten and of thousands;
/// before them one for what must be empty, all sizes below k.
fn buckets(group_sizes: &[(u64, u64)], k: Option<u64>) -> Vec<Bucket> {
    const N_BUCKETS_MAX: u32 = 8;
    let (Some(smallest), Some(largest)) = (group_sizes.first(), group_sizes.last()) else {
        return Vec::new();
    };
    let start = k.unwrap_or(smallest.0).max(1);
    let mut factor: u64 = 2;
    while start.saturating_mul(factor.saturating_pow(N_BUCKETS_MAX)) <= largest.0 {
        factor *= 2;
    }
    let mut edges = vec![start];
    let mut last = start;
    while last <= largest.0 && last < u64::MAX {
        last = last.saturating_mul(factor);
        edges.push(last);
    }
    if start > 1 && k.is_some() {
        edges.insert(0, 1);
    }
    let bucket = |edge: &[u64]| {
        let within = || group_sizes.iter().filter(|(size, _)| (edge[0]..edge[1]).contains(size));
        Bucket {
            low: edge[0],
            high: edge[1],
            n_groups: within().map(|(_, n)| n).sum(),
            n_records: within().map(|(size, n)| size * n).sum(),
        }
    };
    edges.windows(2).map(bucket).collect()
}

fn group_sizes(facts: &Facts) -> String {
    let k = promised(facts).value(Measure::Size);
    let buckets = buckets(&facts.group_sizes, k);
    if buckets.is_empty() {
        return String::new();
    }
    let rows: String = buckets.iter().map(bucket_row).collect();
    let line = match k {
        Some(k) if k > 1 => format!(" Left of the line, below {}, there must be nothing.", grouped(k)),
        _ => String::new(),
    };
    format!(
        "<section>\n<h2>How large the crowds are</h2>\n<figure>\n\
         <figcaption>Records published in groups of each size.{line}</figcaption>\n{}\
         <p class=\"axis\">records in the group</p>\n\
         <details><summary>As a table</summary>\n<table class=\"numeric\">\n<caption>Groups by size</caption>\n\
         <thead><tr><th scope=\"col\">Size</th><th scope=\"col\">Groups</th><th scope=\"col\">Records</th></tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table>\n</details>\n</figure>\n</section>\n",
        group_sizes_chart(&buckets, k)
    )
}

fn bucket_row(bucket: &Bucket) -> String {
    format!(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>\n",
        sizes(bucket),
        grouped(bucket.n_groups),
        grouped(bucket.n_records)
    )
}

fn sizes(bucket: &Bucket) -> String {
    match bucket.high - 1 {
        last if last == bucket.low => grouped(last),
        last => format!("{}–{}", grouped(bucket.low), grouped(last)),
    }
}

// Heights within a chart, in pixels: a line's label, then the plot, then the axis.
const PLOT_TOP: f64 = 44.0;
const PLOT_BOTTOM: f64 = 200.0;

fn group_sizes_chart(buckets: &[Bucket], k: Option<u64>) -> String {
    let slot = 100.0 / buckets.len() as f64;
    let n_most = buckets.iter().map(|bucket| bucket.n_records).max().unwrap_or(0);
    let mut shapes = String::new();
    for (i, bucket) in buckets.iter().enumerate() {
        let is_below = k.is_some_and(|k| bucket.low < k);
        shapes.push_str(&bucket_bar(bucket, i as f64 * slot, slot, n_most, is_below));
    }
    shapes.push_str(&format!("<line class=\"base\" x1=\"0\" x2=\"100%\" y1=\"{PLOT_BOTTOM}\" y2=\"{PLOT_BOTTOM}\"/>"));
    let edges = buckets.iter().map(|bucket| bucket.low).chain(buckets.last().map(|bucket| bucket.high));
    for (i, edge) in edges.enumerate() {
        shapes.push_str(&tick(i as f64 * slot, &short(edge)));
    }
    if let Some(k) = k.filter(|&k| k > 1) {
        shapes.push_str(&marker_line(slot, &format!("k = {}", grouped(k))));
    }
    let n_groups: u64 = buckets.iter().map(|bucket| bucket.n_groups).sum();
    let parts: Vec<String> = buckets
        .iter()
        .map(|bucket| format!("{} in groups of {}", counted(bucket.n_records, "record", "records"), sizes(bucket)))
        .collect();
    let label = format!("{} by size: {}.", counted(n_groups, "group", "groups"), parts.join(", "));
    format!("<svg class=\"chart\" role=\"img\" aria-label=\"{label}\">{shapes}</svg>\n")
}

fn bucket_bar(bucket: &Bucket, x: f64, slot: f64, n_most: u64, is_below: bool) -> String {
    let height = bar_height(bucket.n_records, n_most);
    let y = PLOT_BOTTOM - height;
    let class = if is_below { "failing" } else { "fill" };
    let title = format!(
        "sizes {}: {}, {}",
        sizes(bucket),
        counted(bucket.n_groups, "group", "groups"),
        counted(bucket.n_records, "record", "records")
    );
    let value = if bucket.n_records == 0 { "none".to_string() } else { short(bucket.n_records) };
    format!(
        "<rect class=\"{class}\" x=\"{:.2}%\" y=\"{y:.1}\" width=\"{:.2}%\" height=\"{height:.1}\"><title>{title}</title></rect>\
         <text class=\"value\" x=\"{:.2}%\" y=\"{:.1}\">{value}</text>",
        x + slot * 0.06,
        slot * 0.88,
        x + slot * 0.5,
        y - 6.0,
    )
}

/// In pixels; what is there is seen, however little it is.
fn bar_height(n: u64, n_most: u64) -> f64 {
    // The words above the tallest bar need room below the marker's label.
    let tallest = PLOT_BOTTOM - PLOT_TOP;
    if n == 0 { 0.0 } else { (part(n as f64, n_most as f64) * tallest).max(2.0) }
}

/// A dashed line across the plot, with its meaning at the top, on the side that has room.
fn marker_line(x: f64, label: &str) -> String {
    let (anchor, dx) = if x < 50.0 { ("start", 6) } else { ("end", -6) };
    format!(
        "<line class=\"marker\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"2\" y2=\"{PLOT_BOTTOM}\"/>\
         <text class=\"marked\" x=\"{x:.2}%\" dx=\"{dx}\" y=\"13\" text-anchor=\"{anchor}\">{label}</text>"
    )
}

fn by_height(facts: &Facts) -> String {
    if facts.by_height.is_empty() {
        return String::new();
    }
    let rows: String = facts.by_height.iter().map(height_row).collect();
    format!(
        "<section>\n<h2>What other schemes would have cost</h2>\n<figure>\n\
         <figcaption>Records suppressed, by how far values are generalized. Each bar spans the schemes of one height, \
         from the least to the most; the line joins their means. The ring is this release.</figcaption>\n{}\
         <p class=\"axis\">height: the sum of all levels</p>\n\
         <details><summary>As a table</summary>\n<table class=\"numeric\">\n<caption>Records suppressed by height</caption>\n\
         <thead><tr><th scope=\"col\">Height</th><th scope=\"col\">Least</th><th scope=\"col\">Mean</th>\
         <th scope=\"col\">Most</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</details>\n\
         <p class=\"note\">This comes from the source, for the criteria promised above; \
         it cannot be checked from the release.</p>\n</figure>\n</section>\n",
        by_height_chart(facts)
    )
}

fn height_row(facts: &HeightFacts) -> String {
    format!(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        facts.height,
        grouped(facts.n_suppressed_min),
        mean(facts.n_suppressed_mean),
        grouped(facts.n_suppressed_max)
    )
}

fn by_height_chart(facts: &Facts) -> String {
    let heights = &facts.by_height;
    let slot = 100.0 / heights.len() as f64;
    let n_most = heights.iter().map(|height| height.n_suppressed_max).max().unwrap_or(0).max(1);
    let y = |n: f64| PLOT_BOTTOM - part(n, n_most as f64) * (PLOT_BOTTOM - PLOT_TOP);
    let mut shapes = suppressed_axis(n_most, y);
    for (i, height) in heights.iter().enumerate() {
        shapes.push_str(&height_range(height, (i as f64 + 0.2) * slot, slot * 0.6, y));
    }
    let center = |i: usize| (i as f64 + 0.5) * slot;
    for (i, pair) in heights.windows(2).enumerate() {
        let (y1, y2) = (y(pair[0].n_suppressed_mean), y(pair[1].n_suppressed_mean));
        let (x1, x2) = (center(i), center(i + 1));
        let line = format!("<line class=\"mean\" x1=\"{x1:.2}%\" y1=\"{y1:.1}\" x2=\"{x2:.2}%\" y2=\"{y2:.1}\"/>");
        shapes.push_str(&line);
    }
    // Two digits need about as much room as a phone gives one of sixteen.
    let every = heights.len().div_ceil(16);
    for (i, height) in heights.iter().enumerate().step_by(every) {
        shapes.push_str(&tick(center(i), &height.height.to_string()));
    }
    let published = heights.iter().position(|height| facts.certificate.height == Some(height.height as u32));
    if let Some(i) = published {
        let n_suppressed = facts.certificate.n_records_suppressed;
        let (x, y) = (center(i), y(n_suppressed as f64));
        shapes.push_str(&marker_line(x, &format!("this release: {}", grouped(n_suppressed))));
        shapes.push_str(&format!("<circle class=\"ring\" cx=\"{x:.2}%\" cy=\"{y:.1}\" r=\"5\"/>"));
    }
    let label = by_height_label(facts, published.is_some());
    format!("<svg class=\"chart scaled\" role=\"img\" aria-label=\"{label}\">{shapes}</svg>\n")
}

fn suppressed_axis(n_most: u64, y: impl Fn(f64) -> f64) -> String {
    let step = nice_step(n_most);
    let line = |n: u64| {
        let (y, class) = (y(n as f64), if n == 0 { "base" } else { "grid" });
        format!(
            "<line class=\"{class}\" x1=\"0\" x2=\"100%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text class=\"scale\" x=\"-8\" y=\"{:.1}\">{}</text>",
            y + 4.0,
            axis_number(n, step)
        )
    };
    (0..=n_most / step).map(|i| line(i * step)).collect()
}

fn height_range(height: &HeightFacts, x: f64, width: f64, y: impl Fn(f64) -> f64) -> String {
    let (top, bottom) = (y(height.n_suppressed_max as f64), y(height.n_suppressed_min as f64));
    format!(
        "<rect class=\"range\" x=\"{x:.2}%\" y=\"{:.1}\" width=\"{width:.2}%\" height=\"{:.1}\">\
         <title>height {}: least {}, mean {}, most {}</title></rect>",
        top.min(PLOT_BOTTOM - 2.0),
        (bottom - top).max(2.0),
        height.height,
        grouped(height.n_suppressed_min),
        mean(height.n_suppressed_mean),
        grouped(height.n_suppressed_max)
    )
}

/// A word under the plot.
fn tick(x: f64, text: &str) -> String {
    format!("<text class=\"tick\" x=\"{x:.2}%\" y=\"{}\">{text}</text>", PLOT_BOTTOM + 18.0)
}

fn by_height_label(facts: &Facts, is_marked: bool) -> String {
    let part = |height: &HeightFacts| {
        let (least, most) = (grouped(height.n_suppressed_min), grouped(height.n_suppressed_max));
        format!("{least} to {most} at height {}", height.height)
    };
    let ends: Vec<String> = [facts.by_height.first(), facts.by_height.last()].into_iter().flatten().map(part).collect();
    let marked = match is_marked {
        true => format!(
            "; this release has height {} and suppresses {}",
            facts.certificate.height.unwrap_or(0),
            grouped(facts.certificate.n_records_suppressed)
        ),
        false => String::new(),
    };
    format!("Records suppressed by height: {}{marked}.", ends.join(", "))
}

fn request(facts: &Facts) -> String {
    let taken = match facts.certificate.choice.as_str() {
        "exact" if facts.account.search.as_ref().is_some_and(|search| !search.is_optimal) => {
            "All wishes could be met; the best scheme that was found was taken.".to_string()
        }
        "exact" => "All wishes could be met; the best scheme that meets them was taken.".to_string(),
        "suppression" => not_all_met("suppresses more records than wished"),
        "height" => not_all_met("generalizes further than wished"),
        "privacy" => not_all_met("promises less privacy than wished"),
        "levels" => "The levels were chosen by hand.".to_string(),
        "method" if facts.certificate.per_record.is_some() => {
            "Every record was generalized on its own, and no record was suppressed.".to_string()
        }
        "method" => format!(
            "Every group was generalized on its own, with the method “{}”, and no record was suppressed.",
            escape(&facts.certificate.method)
        ),
        other => format!("The answer taken was “{}”.", escape(other)),
    };
    let search = match &facts.account.search {
        Some(search) => format!("<p>How the scheme was found: {}.</p>\n", escape(&search.statement)),
        None => String::new(),
    };
    let dealt = facts.certificate.dealt.as_ref().map_or(String::new(), dealt_in_words);
    let per_record = facts.certificate.per_record.as_ref().zip(facts.account.per_record.as_ref());
    let per_record = per_record.map_or(String::new(), |(wanted, outcome)| per_record_in_words(wanted, outcome));
    let rows: String = wishes(facts).iter().map(wish_row).collect();
    let table = match rows.is_empty() {
        true => "<p>No request was recorded.</p>\n".to_string(),
        false => format!(
            "<table class=\"wishes\">\n<caption>The request as understood, beside what the release gives</caption>\n\
             <thead><tr><th scope=\"col\">Wish</th><th scope=\"col\">Asked</th><th scope=\"col\">Given</th>\
             <th scope=\"col\"><span class=\"unseen\">Met</span></th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n"
        ),
    };
    format!(
        "<section>\n<h2>What was asked, and which offer was taken</h2>\n<p>{taken}</p>\n{search}{dealt}{per_record}{table}</section>\n"
    )
}

/// What dealing guarantees, for each sensitive attribute.
fn dealt_in_words(dealt: &Dealt) -> String {
    let of_attribute = |attribute: &DealtAttribute| {
        let distance = |kind: &str, what: &str| attribute.emd[kind][what].as_f64().unwrap_or(0.0);
        format!(
            "<li>{}: counts of a value differ by at most {} between any two of the {}. Every group has at least {} \
             different values; {} were within reach. Distance of a group to the release: {:.3} on average and at most \
             {:.3} with all values equally far apart, {:.3} and {:.3} in order.</li>\n",
            name(&attribute.attribute),
            attribute.most_differ,
            counted(dealt.n_classes, "class", "classes"),
            grouped(attribute.fewest_distinct),
            grouped(attribute.diversity_within_reach),
            distance("equal", "mean"),
            distance("equal", "greatest"),
            distance("ordered", "mean"),
            distance("ordered", "greatest"),
        )
    };
    let together = dealt
        .most_differ_together
        .map_or(String::new(), |n| format!("<li>Counts of a combination of all of them differ by at most {n}.</li>\n"));
    let items: String = dealt.attributes.iter().map(of_attribute).collect();
    format!("<p>Sensitive values were dealt evenly:</p>\n<ul>\n{items}{together}</ul>\n")
}

/// What was wanted of each record, and what it came to.
fn per_record_in_words(per_record: &PerRecord, outcome: &PerRecordOutcome) -> String {
    let row = |name: &str, of: &Distribution| {
        let numbers = [of.least, of.quarter, of.median, of.three_quarters, of.greatest, of.mean];
        let cells: String = numbers.iter().map(|number| format!("<td>{number}</td>")).collect();
        format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", escape(name))
    };
    let below = match outcome.n_records_below {
        0 => String::new(),
        n => format!("<p>Grouping left {} below the utility asked for.</p>\n", counted(n, "record", "records")),
    };
    format!(
        "<p><strong>{}</strong></p>\n<table>\n<caption>Risk ({}) and utility ({}, {} at most) of the records, from the \
         source</caption>\n<thead><tr><th></th><th scope=\"col\">least</th><th scope=\"col\">quarter</th>\
         <th scope=\"col\">median</th><th scope=\"col\">three quarters</th><th scope=\"col\">greatest</th>\
         <th scope=\"col\">mean</th></tr></thead>\n<tbody>\n{}{}</tbody>\n</table>\n{below}",
        escape(&per_record.statement),
        escape(&per_record.risk_model),
        escape(&per_record.utility_model),
        outcome.greatest_utility,
        row("risk", &outcome.risk),
        row("utility", &outcome.utility),
    )
}

/// How likely people are to be found in the file, as `incrowd risk` says it.
fn risk(facts: &Facts) -> String {
    let Some(RiskFacts { threshold, found, unique_in_population, contributions }) = &facts.risk else {
        return String::new();
    };
    let is_counted = found.n_unique_in_population.is_some();
    let probability = |p: f64| format!("{p:.4}");
    let view = |name: &str, view: &View| {
        let at_risk = format!("{} ({})", grouped(view.n_at_risk), percent(view.n_at_risk, found.n_records));
        vec![name.to_string(), probability(view.highest), probability(view.average), at_risk]
    };
    let views = [
        view("prosecutor: knows that someone is in the file", &found.prosecutor),
        view("journalist: knows only that they are in the population", &found.journalist),
        vec!["marketer: links every record".into(), "–".into(), probability(found.marketer), "–".into()],
    ];
    let header = ["Who looks", "highest risk", "average", &format!("records above {threshold}")].map(String::from);
    let alone = match found.n_unique {
        0 => {
            "No record stands alone in the file, and so nobody can be singled out by it in the population.".to_string()
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
            format!("{} in the file. {in_population}", counted(n, "record stands alone", "records stand alone"))
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
        "<section>\n<h2>How likely someone is to be found</h2>\n<p>Who knows that a person is in the file, and all of \
         their quasi-identifiers, finds the right record with a probability of at most {:.4}, and of {:.4} on average.</p>\n\
         {}<p>{alone}</p>\n{}<p class=\"note\">{} Records that fit several groups are counted in their own only.</p>\n\
         </section>\n",
        found.prosecutor.highest,
        found.prosecutor.average,
        page::table(&header, &views),
        page::table(&attributes_header.map(String::from), &of_attributes),
        match is_counted {
            true => "The population is the one that the project names.",
            false => "No population is known: the file counts as one, which is the worst case.",
        },
    )
}

fn not_all_met(concession: &str) -> String {
    format!("Not all wishes could be met together. Of the offers, the one that {concession} was taken.")
}

/// One wish of a request; all texts are safe to print.
struct Wish {
    wish: String,
    asked: String,
    given: String,
    /// Unknown for wishes that this page cannot compare.
    is_met: Option<bool>,
}

fn wishes(facts: &Facts) -> Vec<Wish> {
    let certificate = facts.certificate;
    let promised = promised(facts);
    let Some(request) = certificate.request.as_object() else {
        return Vec::new();
    };
    let mut wishes = Vec::new();
    for (key, asked) in request {
        match (key.as_str(), asked) {
            ("k", _) => wishes.push(at_least("Records alike (k)", asked, promised.value(Measure::Size))),
            ("l", _) => {
                wishes.push(at_least("Different sensitive values (l)", asked, promised.value(Measure::Distinct(0))));
            }
            ("best_by", _) => {}
            ("max_suppressed", _) => {
                wishes.push(at_most("Records suppressed".to_string(), asked, Some(certificate.n_records_suppressed)));
            }
            ("max_level", Value::Object(levels)) => wishes.extend(levels.iter().map(|(attribute, asked)| {
                let level = certificate.levels.get(attribute).and_then(Value::as_u64);
                at_most(format!("Level of {}", name(attribute)), asked, level)
            })),
            _ if criterion_of(key, asked, &certificate.sensitive).is_some() => {
                wishes
                    .extend(criterion_of(key, asked, &certificate.sensitive).map(|asked| criterion_wish(facts, asked)));
            }
            _ => wishes.push(Wish {
                wish: escape(key),
                asked: escape(&asked.to_string()),
                given: String::new(),
                is_met: None,
            }),
        }
    }
    wishes
}

fn criterion_wish(facts: &Facts, asked: Criterion) -> Wish {
    let given = promised(facts).value(asked.measure);
    let words = |value: u64| number_in_words(asked.measure, value);
    let bound = if asked.measure.is_at_least() { "at least" } else { "at most" };
    Wish {
        wish: escape(&wire::key(asked.measure, &facts.certificate.sensitive)),
        asked: format!("{bound} {}", words(asked.value)),
        given: given.map_or("no promise".to_string(), words),
        is_met: Some(given.is_some_and(|given| asked.holds(given))),
    }
}

fn at_least(wish: &str, asked: &Value, given: Option<u64>) -> Wish {
    Wish {
        wish: wish.to_string(),
        asked: format!("at least {}", number_of(asked)),
        given: given.map_or("no promise".to_string(), grouped),
        is_met: asked.as_u64().map(|asked| given.is_some_and(|given| given >= asked)),
    }
}

fn at_most(wish: String, asked: &Value, given: Option<u64>) -> Wish {
    Wish {
        wish,
        asked: format!("at most {}", number_of(asked)),
        given: given.map_or("unknown".to_string(), grouped),
        is_met: asked.as_u64().zip(given).map(|(asked, given)| given <= asked),
    }
}

fn number_of(value: &Value) -> String {
    value.as_u64().map_or_else(|| escape(&value.to_string()), grouped)
}

fn wish_row(wish: &Wish) -> String {
    let met = match wish.is_met {
        Some(true) => "<span class=\"chip good\">✓ met</span>",
        Some(false) => "<span class=\"chip warn\">given up</span>",
        None => "",
    };
    let Wish { wish, asked, given, .. } = wish;
    format!("<tr><th scope=\"row\">{wish}</th><td>{asked}</td><td>{given}</td><td class=\"end\">{met}</td></tr>\n")
}

fn claims(facts: &Facts) -> String {
    let n_columns = facts.certificate.columns.len() as u64;
    let n_right = facts.claims.iter().filter(|claim| claim.holds).count() as u64;
    let body = match facts.claims.len() as u64 {
        0 => "<p>No claim of the certificate was compared with the file.</p>\n".to_string(),
        n => format!(
            "<table class=\"claims\">\n<caption>{} of {} hold</caption>\n\
             <thead><tr><th scope=\"col\">Claim</th><th scope=\"col\">Certificate</th><th scope=\"col\">Found</th>\
             <th scope=\"col\"><span class=\"unseen\">Holds</span></th></tr></thead>\n<tbody>\n{}</tbody>\n</table>\n",
            grouped(n_right),
            counted(n, "claim", "claims"),
            facts.claims.iter().map(|claim| claim_row(claim, n_columns)).collect::<String>()
        ),
    };
    format!("<section>\n<h2>What the certificate claims, and what the file shows</h2>\n{body}</section>\n")
}

fn claim_row(claim: &Claim, n_columns: u64) -> String {
    let (class, status) = if claim.holds { ("good", "✓ holds") } else { ("bad", "✕ wrong") };
    format!(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td>\
         <td class=\"end\"><span class=\"chip {class}\">{status}</span></td></tr>\n",
        escape(&claim.claim),
        claimed_text(claim, &claim.claimed, n_columns),
        claimed_text(claim, &claim.found, n_columns)
    )
}

/// A claim's value, made readable without making different values look alike: what is shortened stands whole further
/// down, and is shortened only where both sides are the same.
fn claimed_text(claim: &Claim, value: &str, n_columns: u64) -> String {
    match claim.claim.as_str() {
        "file" if claim.holds && value.is_ascii() && value.len() > 8 => {
            format!("<code>{}…</code>", escape(&value[..8]))
        }
        "file" => format!("<code class=\"hash\">{}</code>", escape(value)),
        "columns" if claim.holds => counted(n_columns, "column", "columns"),
        "columns" => escape(value).replace(',', ",<wbr>"),
        _ => value.parse().map_or_else(|_| escape(value), grouped),
    }
}

fn how_to_check(facts: &Facts) -> String {
    let certificate = facts.certificate;
    let file = shell_word(facts.release);
    let by_hand = match certificate.quasi_identifiers.is_empty() {
        true => String::new(),
        false => format!(
            "<p>Any database can tell the same without incrowd; load the file as <code>release</code> \
             and compare with the promise:</p>\n<pre><code>{}</code></pre>\n",
            escape(&query(certificate))
        ),
    };
    format!(
        "<section>\n<h2>Check it yourself</h2>\n\
         <p>Nobody has to believe this page. This counts again, \
         and ends with exit code 0 only if everything holds:</p>\n\
         <pre><code>incrowd verify {} <span>--certificate {}</span>{}</code></pre>\n{by_hand}</section>\n",
        escape(&file),
        escape(&shell_word(facts.certificate_name)),
        // What compares with the source is judged by whoever has it.
        match promised(facts).iter().all(|criterion| certificate.shows(criterion.measure)) {
            true => "",
            false => " <span>--project PROJECT</span>",
        }
    )
}

/// The promise as a question to a database.
fn query(certificate: &Certificate) -> String {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let attributes: Vec<String> = certificate.quasi_identifiers.iter().map(|name| quoted(name)).collect();
    let (least, counted) = match certificate.sensitive.first() {
        Some(name) => (", min(n_values)", format!(",\n    count(DISTINCT {}) AS n_values", quoted(name))),
        None => ("", String::new()),
    };
    format!(
        "SELECT min(n_records){least} FROM (\n  SELECT count(*) AS n_records{counted}\n  FROM release\n  GROUP BY {}\n) AS g",
        attributes.join(", ")
    )
}

fn origin(facts: &Facts) -> String {
    let certificate = facts.certificate;
    let mut entries = vec![entry("Release", &hash(&certificate.output))];
    entries.extend(facts.account.files.iter().map(|file| entry("Made from", &hash(file))));
    entries.push(entry("Key", &format!("<code class=\"hash\">{}</code>", facts.account.key.to_text())));
    entries.push(entry("Columns", &names(&certificate.columns)));
    entries.push(entry("Made by", &format!("incrowd {}", escape(&certificate.version))));
    entries.push(entry("Method", &escape(&certificate.method)));
    entries.push(entry("Order of records", &escape(&certificate.order)));
    entries.push(entry("Seed", &certificate.seed.map_or("no random choices".to_string(), |seed| seed.to_string())));
    format!(
        "<section>\n<h2>Where it comes from</h2>\n<p class=\"note\">Files by name and SHA-256. The certificate has only a \
         mark of each that the release was made from, HMAC-SHA-256 of its SHA-256 with the key below: from a hash alone, \
         whoever knows most of the source could find out the rest by trying. Keep the key, and keep it to yourself. To prove \
         that the release was made from these files, show the key and the files to whom you would show the files anyway, \
         and run:</p>\n<pre><code>incrowd verify {} <span>--project PROJECT</span> <span>--key {}</span></code></pre>\n\
         <dl class=\"origin\">\n{}</dl>\n</section>\n",
        escape(&shell_word(facts.release)),
        facts.account.key.to_text(),
        entries.concat()
    )
}

fn entry(label: &str, value: &str) -> String {
    format!("<div><dt>{label}</dt><dd>{value}</dd></div>\n")
}

fn hash(file: &FileHash) -> String {
    format!("{}<br><code class=\"hash\">{}</code>", escape(&file.name), escape(&file.sha256))
}

/// A place to sign, on paper only, and only under a promise that holds.
fn signature(facts: &Facts) -> String {
    match judge(facts) {
        Judgement::Holds => {
            "<section class=\"signature\" aria-hidden=\"true\"><p>Name</p><p>Date</p><p>Signature</p></section>\n"
                .to_string()
        }
        _ => String::new(),
    }
}

// Words and numbers.

fn name(attribute: impl AsRef<str>) -> String {
    format!("<em>{}</em>", escape(attribute.as_ref()))
}

fn names(attributes: &[String]) -> String {
    attributes.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(n), if n == 1 { one } else { many })
}

/// A file's name as one word of a command line.
fn shell_word(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "._-/".contains(c);
    match !name.is_empty() && name.chars().all(is_plain) {
        true => name.to_string(),
        false => format!("'{}'", name.replace('\'', r"'\''")),
    }
}

/// A loss as a percentage; never rounds something to nothing.
fn share(loss: f64) -> String {
    match loss * 100.0 {
        percent if percent > 0.0 && percent < 0.1 => "under 0.1 %".to_string(),
        percent => format!("{percent:.1} %"),
    }
}

fn mean(n: f64) -> String {
    format!("{}.{}", grouped((n * 10.0).round() as u64 / 10), (n * 10.0).round() as u64 % 10)
}

/// A number that fits under a bar.
fn short(n: u64) -> String {
    let scaled = |unit: f64, letter: &str| {
        let text = format!("{:.1}", n as f64 / unit);
        format!("{}{letter}", text.strip_suffix(".0").unwrap_or(&text))
    };
    match n {
        0..10_000 => grouped(n),
        10_000..999_950 => scaled(1e3, "k"),
        999_950..999_950_000 => scaled(1e6, "M"),
        _ => scaled(1e9, "G"),
    }
}

/// A number on an axis; all of an axis are written in the same unit.
fn axis_number(n: u64, step: u64) -> String {
    match (n, step) {
        (0, _) => "0".to_string(),
        (_, 1_000_000..) => format!("{}M", grouped(n / 1_000_000)),
        (_, 1_000..) => format!("{}k", n / 1_000),
        _ => grouped(n),
    }
}

/// How much of the whole a part is, from 0 to 1, whatever it is given.
fn part(n: f64, of: f64) -> f64 {
    if of > 0.0 && n > 0.0 { (n / of).min(1.0) } else { 0.0 }
}

/// A round step that divides an axis up to `n_most` into two to five parts.
fn nice_step(n_most: u64) -> u64 {
    let mut unit: u64 = 1;
    loop {
        for step in [1, 2, 5].map(|digit| unit.saturating_mul(digit)) {
            if n_most / step < 5 {
                return step;
            }
        }
        unit = unit.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::account::Key;
    use serde_json::json;

    fn account() -> Account {
        let file = |name: &str, digit: &str| FileHash {
            name: name.to_string(),
            sha256: digit.repeat(32),
            ..FileHash::default()
        };
        Account {
            key: Key::parse(&"5c".repeat(32)).expect("a key"),
            files: vec![file("adult.csv", "3b"), file("hierarchies/age.csv", "a1")],
            loss: json!({"ncp": 0.6213}),
            search: None,
            criteria: Default::default(),
            per_record: None,
        }
    }

    /// Adult with five quasi-identifiers, published with one wish given up.
    fn certificate() -> Certificate {
        let file = |name: &str, digit: &str| FileHash {
            name: name.to_string(),
            sha256: digit.repeat(32),
            ..FileHash::default()
        };
        let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        let criteria = json!({"k": {"promised": 10, "reached": 10}, "l": {"promised": 3, "reached": 4}});
        Certificate {
            format: Certificate::FORMAT.to_string(),
            format_version: Certificate::FORMAT_VERSION,
            version: "0.1.0".to_string(),
            method: "global recoding".to_string(),
            request: json!({"k": 10, "l": 3, "max_suppressed": 321,
                "max_level": {"age": 2, "workclass": 2, "race": 1, "occupation": 2, "education": 0}}),
            cells: None,
            search: None,
            choice: "height".to_string(),
            criteria: criteria.as_object().expect("written as an object").clone(),
            quasi_identifiers: names(&["age", "workclass", "race", "occupation", "education"]),
            sensitive: names(&["hours-per-week"]),
            original: Default::default(),
            dealt: None,
            per_record: None,
            columns: names(&["age", "workclass", "race", "occupation", "education", "hours-per-week", "income"]),
            delimiter: Some(','),
            levels: json!({"age": 1, "workclass": 2, "race": 2, "occupation": 2, "education": 0}),
            level_names: json!({}),
            height: Some(7),
            n_records_read: 32561,
            n_records_dropped: 2399,
            n_records_suppressed: 238,
            n_records_published: 29924,
            n_groups: 172,
            smallest_group: Some(10),
            fewest_distinct: Some(4),
            loss: json!({"discernibility": 5_000_000, "group_size": 173.976744}),
            order: "by the published values, so that nothing is left of the source’s order".to_string(),
            sorted: true,
            seed: None,
            input: vec![file("adult.csv", "3b")],
            hierarchies: vec![file("hierarchies/age.csv", "a1"), file("hierarchies/education.csv", "0f")],
            output: file("adult-k10.csv", "9c"),
        }
    }

    fn verdict(n_groups_failing: u64) -> Verdict {
        let finding = |criterion, reached, n_groups_failing| Finding {
            criterion,
            is_judged: true,
            reached: Some(reached),
            n_groups_failing,
            n_records_failing: n_groups_failing * 7,
        };
        Verdict {
            n_records: 29924,
            n_absent: 0,
            n_groups: 172,
            n_squares: 5_000_000,
            smallest_group: Some(if n_groups_failing > 0 { 7 } else { 10 }),
            fewest_distinct: Some(4),
            findings: vec![finding(Criterion::k(10), 10, n_groups_failing), finding(Criterion::l(3), 4, 0)],
        }
    }

    fn attribute(name: &str, level: usize, n_levels: usize, samples: &[&str], ncp: f64) -> AttributeFacts {
        AttributeFacts {
            name: name.to_string(),
            published_as: PublishedAs::Level { level, n_levels, name: format!("level {level} of its hierarchy") },
            n_labels: if level + 1 == n_levels { 1 } else { 15 },
            samples: samples.iter().map(|sample| sample.to_string()).collect(),
            ncp,
        }
    }

    fn facts<'a>(certificate: &'a Certificate, verdict: &'a Verdict, claims: &'a [Claim]) -> Facts<'a> {
        let of_height =
            [(5, 1184, 4461.7, 12634), (6, 578, 2596.7, 10619), (7, 238, 1316.9, 7332), (8, 60, 566.9, 2755)];
        let height = |(height, n_suppressed_min, n_suppressed_mean, n_suppressed_max)| HeightFacts {
            height,
            n_suppressed_min,
            n_suppressed_mean,
            n_suppressed_max,
        };
        Facts {
            release: "adult-k10.csv",
            certificate_name: "release.csv.certificate.json",
            certificate,
            account: Box::leak(Box::new(account())),
            verdict,
            claims,
            attributes: vec![
                attribute("age", 1, 5, &["17–21", "22–26", "27–31"], 0.055),
                attribute("race", 2, 3, &["*"], 1.0),
                attribute("education", 0, 5, &["Bachelors", "HS-grad", "Masters"], 0.0),
            ],
            group_sizes: vec![(10, 30), (25, 40), (80, 50), (300, 40), (1052, 12)],
            risk: None,
            by_height: of_height.map(height).into(),
        }
    }

    fn claim(holds: bool) -> Claim {
        Claim {
            claim: "groups".to_string(),
            holds,
            claimed: "172".to_string(),
            found: if holds { "172" } else { "171" }.to_string(),
        }
    }

    fn page(certificate: &Certificate, verdict: &Verdict, claims: &[Claim]) -> String {
        html(&facts(certificate, verdict, claims))
    }

    #[test]
    fn markup_becomes_text() {
        assert_eq!(
            escape("<script>alert('&\"')</script>"),
            "&lt;script&gt;alert(&#39;&amp;&quot;&#39;)&lt;/script&gt;"
        );
        assert_eq!(escape("Müller, 30–39"), "Müller, 30–39");
    }

    #[test]
    fn no_text_of_the_facts_reaches_the_page_as_markup() {
        let evil = "<script>\"'&";
        let text = || evil.to_string();
        let texts = || vec![text(), text()];
        let file = || FileHash { name: text(), sha256: text(), ..FileHash::default() };
        let account = Account { files: vec![file(), file()], ..account() };
        let certificate = Certificate {
            version: text(),
            method: text(),
            choice: text(),
            request: json!({"k": evil, "max_suppressed": evil, "max_level": {evil: 1}, evil: evil}),
            quasi_identifiers: vec![text()],
            sensitive: vec![text()],
            columns: texts().into_iter().chain(["<script>2".to_string()]).collect(),
            levels: json!({evil: 2}),
            order: text(),
            input: vec![file()],
            hierarchies: vec![file()],
            output: file(),
            ..certificate()
        };
        let claims = ["file", "columns", evil].map(|claim| Claim {
            claim: claim.to_string(),
            holds: false,
            claimed: text(),
            found: text(),
        });
        for verdict in [verdict(0), verdict(1)] {
            let mut facts = facts(&certificate, &verdict, &claims);
            facts.account = &account;
            facts.release = evil;
            facts.attributes = vec![attribute(evil, 0, 2, &[evil], 0.5)];
            facts.attributes[0].published_as = PublishedAs::Level { level: 1, n_levels: 3, name: text() };
            let page = html(&facts);
            assert!(page.contains("&lt;script&gt;"));
            assert!(!page.contains("<script"));
            assert!(!page.contains(evil));
        }
    }

    #[test]
    fn the_verdict_is_said_in_plain_words() {
        let check = |n_groups_failing: u64, claims: &[Claim], expected: &[&str], absent: &str| {
            let page = page(&certificate(), &verdict(n_groups_failing), claims);
            for words in expected {
                assert!(page.contains(words), "{words}");
            }
            assert!(!page.contains(absent), "{absent}");
        };
        let each = "Each of the 172 published groups has at least 10 records and at least 3 different values of";
        check(0, &[claim(true)], &["The promise holds.", each, "✓ kept"], "does not hold");
        let one = "1 of 172 published groups has fewer than 10 records (7 records in all).";
        check(1, &[], &["The promise does not hold.", one, "Do not publish", "✕ broken"], "The promise holds");
        let many = "3 of 172 published groups have fewer than 10 records";
        check(3, &[], &["The promise does not hold.", many], "class=\"signature\"");
        let wrong = "one claim of the certificate is wrong";
        check(
            0,
            &[claim(true), claim(false)],
            &["The certificate does not hold.", wrong, "✕ wrong"],
            "The promise holds",
        );
    }

    #[test]
    fn a_promise_holds_only_if_all_of_it_was_checked() {
        let certificate = certificate();
        let mut unchecked = verdict(0);
        unchecked.findings.pop();
        assert_eq!(judge(&facts(&certificate, &unchecked, &[])), Judgement::Unjudged);
        let mut weaker = verdict(0);
        weaker.findings[0].criterion = Criterion::k(9);
        assert_eq!(judge(&facts(&certificate, &weaker, &[])), Judgement::Unjudged);
        let none = Certificate { criteria: Default::default(), ..certificate.clone() };
        let nothing = Verdict { findings: Vec::new(), ..verdict(0) };
        assert!(none.promised() == Some(Criteria::default()));
        assert!(page(&none, &nothing, &[]).contains("Nothing is promised."));
        let empty = Verdict { n_records: 0, n_groups: 0, smallest_group: None, ..verdict(0) };
        assert_eq!(judge(&facts(&certificate, &empty, &[])), Judgement::Empty);
    }

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

    #[test]
    fn the_page_asks_nobody_for_anything() {
        let page = page(&certificate(), &verdict(0), &[claim(true)]);
        for request in ["http:", "https:", "src=", "href=", "url(", "@import", "<script", "<link", "//"] {
            assert!(!page.contains(request), "{request}");
        }
    }

    #[test]
    fn same_facts_same_bytes() {
        let page = || page(&certificate(), &verdict(0), &[claim(true)]);
        assert_eq!(page(), page());
    }

    #[test]
    fn every_tag_that_opens_closes() {
        let page = page(&certificate(), &verdict(1), &[claim(true), claim(false)]);
        for tag in ["section", "table", "tr", "th", "td", "svg", "text", "ul", "li", "dl", "dd", "figure", "span", "p"]
        {
            let n_open = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
            assert_eq!(n_open, page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }

    #[test]
    fn buckets_start_at_k_and_hold_every_group_once() {
        let check = |sizes: &[(u64, u64)], k: Option<u64>, expected: &[(u64, u64, u64)]| {
            let buckets = buckets(sizes, k);
            let found: Vec<_> = buckets.iter().map(|bucket| (bucket.low, bucket.high, bucket.n_groups)).collect();
            assert_eq!(found, expected);
            let n_records: u64 = sizes.iter().map(|(size, n)| size * n).sum();
            assert_eq!(buckets.iter().map(|bucket| bucket.n_records).sum::<u64>(), n_records);
        };
        check(&[], Some(10), &[]);
        check(&[(10, 3), (19, 1), (20, 2)], Some(10), &[(1, 10, 0), (10, 20, 4), (20, 40, 2)]);
        check(&[(4, 1), (10, 1)], Some(10), &[(1, 10, 1), (10, 20, 1)]);
        check(&[(1, 5), (2, 1)], Some(1), &[(1, 2, 5), (2, 4, 1)]);
        check(&[(6, 1), (13, 1)], None, &[(6, 12, 1), (12, 24, 1)]);
        assert!(buckets(&[(2, 1), (1 << 40, 1)], Some(2)).len() <= 9);
        assert_eq!(buckets(&[(u64::MAX - 1, 1)], Some(2)).iter().map(|bucket| bucket.n_groups).sum::<u64>(), 1);
    }

    #[test]
    fn a_page_without_lattice_or_groups_leaves_charts_out() {
        let (certificate, verdict) = (certificate(), verdict(0));
        let mut facts = facts(&certificate, &verdict, &[]);
        assert!(html(&facts).contains("What other schemes would have cost"));
        facts.by_height.clear();
        facts.group_sizes.clear();
        let page = html(&facts);
        assert!(!page.contains("What other schemes would have cost"));
        assert!(!page.contains("How large the crowds are"));
    }

    #[test]
    fn numbers_are_short_and_steps_round() {
        let texts = [0, 9_999, 10_000, 12_345, 999_949, 999_950, 1_234_567, 2_000_000_000].map(short);
        assert_eq!(texts, ["0", "9,999", "10k", "12.3k", "999.9k", "1M", "1.2M", "2G"]);
        assert_eq!([0, 4, 5, 18_949, 25_000, u64::MAX].map(nice_step)[..5], [1, 1, 2, 5_000, 10_000]);
        assert_eq!([0.0, 0.0004, 0.1234, 1.0].map(share), ["0.0 %", "under 0.1 %", "12.3 %", "100.0 %"]);
        assert_eq!([0.0, 1316.94, 1999.96].map(mean), ["0.0", "1,316.9", "2,000.0"]);
    }

    #[test]
    fn a_file_name_is_one_word_of_a_command() {
        assert_eq!(
            ["a-b.csv", "my file.csv", "it's.csv"].map(shell_word),
            ["a-b.csv", "'my file.csv'", r"'it'\''s.csv'"]
        );
    }
}
