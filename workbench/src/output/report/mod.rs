//! The page that a privacy officer reads before signing: what a release promises, what it costs, how to check it.
//!
//! One HTML file that asks nobody for anything: no scripts, no fonts, no pictures from elsewhere.
//! Charts are drawn with widths in percent and heights in pixels, so that they fit a phone and their words stay readable.

mod facts;
mod text;
mod plot;
mod verdict;
mod promise;
mod numbers;
mod crowds;
mod risk;
mod beside;
mod cells;
mod utility;
mod heights;
mod request;
mod agreement;
mod check;
mod summary;
#[cfg(test)]
mod sample;

use crate::output::page;
use crate::output::page::escape;
use agreement::agreement;
use beside::beside;
use cells::cells;
use check::{claims, how_to_check, origin};
use crowds::group_sizes;
use heights::by_height;
use numbers::{attributes, numbers};
use promise::promise;
use request::request;
use risk::risk;
use summary::summary;
use utility::utility;
use verdict::{heading, signature};

pub use facts::{AttributeFacts, Facts, HeightFacts, PublishedAs, RiskFacts, UniquesFacts};

/// The whole page; the same facts give the same bytes.
pub fn html(facts: &Facts) -> String {
    let title = format!("Privacy report: {}", escape(facts.release));
    let sections = [
        format!("<div class=\"first\">\n{}{}{}</div>\n", heading(facts), summary(facts), signature(facts)),
        promise(facts),
        numbers(facts),
        attributes(facts),
        group_sizes(facts),
        risk(facts),
        beside(facts),
        cells(facts),
        utility(facts),
        by_height(facts),
        request(facts),
        agreement(facts),
        claims(facts),
        how_to_check(facts),
        origin(facts),
    ];
    page::document(&title, &sections.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::account::{Account, PeopleAccount};
    use crate::output::report::sample::*;
    use incrowd::wire::{Certificate, Claim, FileHash};
    use serde_json::json;

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
    fn the_page_asks_nobody_for_anything() {
        let page = page(&certificate(), &verdict(0), &[claim(true)]);
        for request in ["http:", "https:", "src=", "href=", "url(", "@import", "<script", "<link", "//"] {
            assert!(!page.contains(request), "{request}");
        }
    }

    #[test]
    fn what_is_promised_to_people_is_said_of_people() {
        let of_people = Certificate { person: vec!["who".into()], ..certificate() };
        let people = PeopleAccount { n: 20_000, n_lost: 4_000, smallest_group: Some(11), n_alone_by_all_records: 3 };
        let account = Account { people: Some(people), ..account() };
        let verdict = verdict(0);
        let mut facts = facts(&of_people, &verdict, &[]);
        facts.account = &account;
        let page = html(&facts);
        for words in [
            "Each of the 172 published groups has at least 10 people and at least 3 different values of",
            "finds at least 10 people whose records could be theirs.",
            "<dt>People</dt><dd>20,000",
            "<dt>People lost</dt><dd>4,000<small>20.0 %, with no record left",
            "<dt>Smallest group</dt><dd>11<small>people; in records 10<br>promised: 10",
            "People published in groups of each size.",
            "3 people are alone by all their published records",
            "whose records they are, the file does not say",
        ] {
            assert!(page.contains(words), "{words}");
        }
        assert!(!page.contains("Records are counted, not people"));
        let plain = super::html(&sample::facts(&certificate(), &verdict, &[]));
        for words in ["People", "people whose", "alone by all", "does not say"] {
            assert!(!plain.contains(words), "{words}");
        }
        assert!(plain.contains("Records are counted, not people") && plain.contains("finds at least 10 records"));
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
    fn a_page_without_lattice_or_groups_leaves_charts_out() {
        let (certificate, verdict) = (certificate(), verdict(0));
        let mut facts = facts(&certificate, &verdict, &[]);
        assert!(html(&facts).contains("What other schemes would have cost"));
        facts.by_height.clear();
        facts.group_sizes.clear();
        let page = html(&facts);
        assert!(!page.contains("What other schemes would have cost"));
        assert!(!page.contains("How large the groups are"));
    }
}
