//! What only the signer of a release knows: the key to the marks of its files, and the numbers that come from the source.
//!
//! It stands in the report, which stays with the signer, and on standard output. The certificate goes with the release
//! and holds none of it, because it would tell about records that are not in the release.

use std::path::Path;

use hmac::{Hmac, Mac};
use incrowd::judge::Judgement;
use incrowd::quality::Losses;
use incrowd::table::{Code, Domain};
use incrowd::verify::{Finding, PeopleVerifier};
use incrowd::wire::{self, Certificate, Claim, FileHash, HowFound, PerRecordOutcome};
use incrowd::{Error, ErrorKind, Result};
use sha2::{Digest, Sha256};

use crate::input::count::Counted;
use crate::input::digest::{hex, sha256_of};
use crate::input::project::{Attribute, Project, shown_name};
use crate::input::source::{PublishAs, Replaced, Top};
use crate::note::Beside;

/// What a release loses of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// By every quality function, where attributes have levels.
    OfScheme(Losses),
    /// By those that need no levels.
    OfCells { ncp: f64, discernibility: u128, group_size: f64 },
}

impl Loss {
    pub fn of(judgement: &Judgement) -> Loss {
        let &Judgement { ncp, discernibility, mean_group_size: group_size, .. } = judgement;
        Loss::OfCells { ncp, discernibility, group_size }
    }

    /// As it is told.
    pub fn ncp(&self) -> f64 {
        match self {
            Loss::OfScheme(Losses { ncp, .. }) | Loss::OfCells { ncp, .. } => wire::rounded(*ncp),
        }
    }
}

/// What the signer knows about a release beside its certificate.
#[derive(Clone, Debug)]
pub struct Account {
    /// Opens the marks of files in the certificate.
    pub key: Key,
    /// The files that the certificate has marks of, with their hashes.
    pub files: Vec<FileHash>,
    /// What was lost, over the range of the source and with suppressed records as fully hidden.
    pub loss: Loss,
    /// How the scheme was found; nothing where no scheme was searched for.
    pub search: Option<HowFound>,
    /// The criteria with what was promised and what is reached, those included that compare with the source.
    pub criteria: Vec<Finding>,
    /// What became of records that were generalized one by one.
    pub per_record: Option<PerRecordOutcome>,
    /// What columns that are published as they are tell beside the promise.
    pub beside: Vec<Beside>,
    /// What became of the people, where the project says whose record it is.
    pub people: Option<PeopleAccount>,
    /// How many cells were replaced because they could not be read or are not known, by column.
    pub replaced: Vec<Replaced>,
    /// Where the highest values begin that have one label, by column.
    pub tops: Vec<Top>,
}

/// What became of the people of a table: the release does not say whose records it has, and nor does its certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeopleAccount {
    /// How many people the table has.
    pub n: u64,
    /// How many of them have no record in the release.
    pub n_lost: u64,
    /// How many different people the smallest group has; none where nothing is published.
    pub smallest_group: Option<u64>,
    /// How many are alone by all their published records together: nobody else has as many in each of the same groups.
    pub n_alone_by_all_records: u64,
}

impl PeopleAccount {
    /// Of the records that went by.
    pub fn of(people: &PeopleVerifier) -> PeopleAccount {
        PeopleAccount {
            n: people.n_people(),
            n_lost: people.n_lost(),
            smallest_group: people.smallest_group(),
            n_alone_by_all_records: people.n_alone_by_all_records(),
        }
    }
}

/// The files that a release was made from, by name and hash.
pub struct SourceFiles {
    pub input: Vec<FileHash>,
    /// The hierarchies, and the project file.
    pub hierarchies: Vec<FileHash>,
}

impl SourceFiles {
    /// The files of a project as they were read.
    pub fn of(project: &Project, counted: &Counted) -> Result<SourceFiles> {
        let plain = |name: String, sha256: String| FileHash { name, sha256, ..FileHash::default() };
        let hashes = match counted.source.is_database() {
            // A table of a database is known by what was counted there.
            true => vec![sha256_of_counts(counted)],
            false => counted.source.sha256()?,
        };
        let input = counted.source.files().into_iter().map(file_name).zip(hashes);
        // Those by whose labels sensitive values are counted too.
        let labelled = counted.sensitive.iter().filter(|attribute| attribute.count_at.is_some());
        let is_published_so = |attribute: &&Attribute| matches!(attribute.publish_as, Some(PublishAs::Level(_)));
        let labelled = labelled.chain(project.attributes.iter().filter(is_published_so));
        let hierarchies =
            counted.quasi_identifiers.iter().chain(labelled).map(|attribute| match &attribute.hierarchy_file {
                Some((name, text)) => plain(shown_name(&project.folder, name), sha256_of(text.as_bytes())),
                None => {
                    let text = &attribute.hierarchy_text;
                    plain(format!("{}: {text}", attribute.name), sha256_of(text.as_bytes()))
                }
            });
        let of_project = plain(file_name(&project.file), sha256_of(project.text.as_bytes()));
        Ok(SourceFiles {
            input: input.map(|(name, sha256)| plain(name, sha256)).collect(),
            hierarchies: hierarchies.chain([of_project]).collect(),
        })
    }

    /// Whether the certificate's marks are those that a key makes of these files; names may differ.
    pub fn check(&self, certificate: &Certificate, key: &Key) -> Vec<Claim> {
        let all = |marked: &[FileHash], files: &[FileHash]| {
            let name = |i: usize| marked.get(i).or(files.get(i)).map_or("", |file| file.name.as_str()).to_string();
            let is_same = |i: usize| match (marked.get(i), files.get(i)) {
                (Some(marked), Some(file)) => marked.hmac_sha256 == key.mark(&file.sha256),
                _ => false,
            };
            let claim = |i: usize| Claim {
                claim: format!("made from {}", name(i)),
                holds: is_same(i),
                claimed: "this file".to_string(),
                found: if is_same(i) { "this file" } else { "another file, or another key" }.to_string(),
            };
            (0..marked.len().max(files.len())).map(claim).collect::<Vec<Claim>>()
        };
        [all(&certificate.input, &self.input), all(&certificate.hierarchies, &self.hierarchies)].concat()
    }
}

/// Of what was counted: every combination as texts, with how many records it is; in order, as counts are.
fn sha256_of_counts(counted: &Counted) -> String {
    let counts = counted.counts_as_read();
    let written = |(domain, code): (&Domain, &Code)| match domain.missing() == Some(*code) {
        true => "-,".to_string(),
        false => format!("{}:{},", domain.values()[code.index()].len(), domain.values()[code.index()]),
    };
    let mut hasher = Sha256::new();
    for group in 0..counts.n_groups() {
        let cells: String = counts.domains().iter().zip(counts.codes(group)).map(written).collect();
        hasher.update(format!("{cells}{};", counts.size(group)));
        for (codes, n_records) in counts.cells(group) {
            let values: String = counts.sensitive().iter().zip(codes).map(written).collect();
            hasher.update(format!("{values}{n_records};"));
        }
    }
    hex(&hasher.finalize())
}

/// The last part of a path: all that others may know of it.
pub fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A secret that turns the hash of a file into a mark which nobody else can make, and so nobody can guess the file by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key([u8; 32]);

impl Key {
    /// One that nobody has had before.
    pub fn random() -> Result<Key> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)
            .map_err(|error| Error::new(ErrorKind::Io, format!("the system gives no random numbers: {error}")))?;
        Ok(Key(bytes))
    }

    /// Reads what [`Key::to_text`] wrote.
    pub fn parse(text: &str) -> Result<Key> {
        let wrong = || {
            Error::new(ErrorKind::Request, "a key is 64 digits from 0 to f")
                .hint("it stands in the report of the release")
        };
        let digits: Option<Vec<u8>> = text.chars().map(|digit| digit.to_digit(16).map(|n| n as u8)).collect();
        let digits = digits.filter(|digits| digits.len() == 64).ok_or_else(wrong)?;
        Ok(Key(std::array::from_fn(|i| digits[2 * i] << 4 | digits[2 * i + 1])))
    }

    /// The key as it stands in the report.
    pub fn to_text(&self) -> String {
        hex(&self.0)
    }

    /// The mark of a file: HMAC-SHA-256 (RFC 2104) of the file's SHA-256, which is written in hexadecimal.
    pub fn mark(&self, sha256: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("any length of key will do");
        mac.update(sha256.as_bytes());
        hex(&mac.finalize().into_bytes())
    }

    /// A file by name and mark, as the certificate has it.
    pub fn marked(&self, file: &FileHash) -> FileHash {
        FileHash { name: file.name.clone(), hmac_sha256: self.mark(&file.sha256), ..FileHash::default() }
    }
}

/// How several desks have agreed: who changed which wish, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minutes {
    pub moves: Vec<MovedWish>,
}

/// A wish that somebody has changed; nothing where there was none, or is none any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedWish {
    pub who: &'static str,
    pub what: String,
    pub from: Option<String>,
    pub to: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_what_the_standard_says() {
        // RFC 4231, test case 2, has a short key; this is `openssl dgst -sha256 -mac HMAC -macopt hexkey:…` of "abc".
        let key = Key::parse(&"0b".repeat(32)).expect("a key");
        assert_eq!(key.to_text(), "0b".repeat(32));
        assert_eq!(key.mark("abc"), "cc2b6e43b092526c09f6b2db76c7dc2867ebfdf7d1b170f2d8f73a3894792e12");
        assert_ne!(Key::random().expect("random"), Key::random().expect("random"));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for text in ["", "0b", &"0g".repeat(32), &"0b".repeat(33), &"é".repeat(32)] {
            assert!(Key::parse(text).is_err(), "{text}");
        }
    }
}
