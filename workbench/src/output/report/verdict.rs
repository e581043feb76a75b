//! What the report concludes, and how that stands at its head and above the signature.

use incrowd::criterion::{Criteria, Criterion, Measure};
use incrowd::number::Crowd;
use incrowd::verify::Finding;

use super::facts::Facts;
use super::text::{counted, name};
use crate::output::page::escape;
use crate::sentences::{criterion_in_words, grouped, promise_in_words};

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

pub(super) fn promised(facts: &Facts) -> Criteria {
    facts.certificate.promised().unwrap_or_default()
}

/// The finding about exactly this criterion: one about a lower value would say less than was promised.
pub(super) fn finding_of<'a>(facts: &'a Facts, criterion: Criterion) -> Option<&'a Finding> {
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
        Measure::Size => format!("at least {}", facts.crowd(criterion.value)),
        Measure::Distinct(_) => {
            let values = counted(criterion.value, "value", "different values");
            format!("at least {values} of {}", sensitive(facts, criterion))
        }
        _ => escape(&promise_in_words(criterion, &facts.certificate.sensitive, Crowd::Records(0))),
    }
}

pub(super) fn shortfall(facts: &Facts, finding: &Finding) -> String {
    let have = if finding.n_groups_failing == 1 { "has" } else { "have" };
    let criterion = finding.criterion;
    let what = match criterion.measure {
        Measure::Size => format!("{have} fewer than {}", facts.crowd(criterion.value)),
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
pub(super) fn sensitive(facts: &Facts, criterion: Criterion) -> String {
    let attribute = criterion.measure.sensitive().and_then(|s| facts.certificate.sensitive.get(s));
    attribute.map_or("the sensitive attribute".to_string(), name)
}

pub(super) fn heading(facts: &Facts) -> String {
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

/// A place to sign, on paper only, and only under a promise that holds.
pub(super) fn signature(facts: &Facts) -> String {
    match judge(facts) {
        Judgement::Holds => {
            "<section class=\"signature\" aria-hidden=\"true\"><p>Name</p><p>Date</p><p>Signature</p></section>\n"
                .to_string()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::report::sample::*;
    use incrowd::verify::Verdict;
    use incrowd::wire::{Certificate, Claim};

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
}
