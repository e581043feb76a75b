//! What is said of a release for everyone to read: the certificate.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::criterion::{Criteria, Criterion, MILLION, Measure};
use crate::number::Decimal;
use crate::verify::{Labels, Text, Verifier};
use crate::wire::json::{criterion_of, rounded};

/// What a certificate says about a release; [`crate::verify`] can check most of it from the release alone.
///
/// # Guarantee
/// Beyond what was ordered (the request, the method, the seed) it holds only what the release and the hierarchies that it
/// names show, how many records there were, and marks of files that say nothing without the signer's key. So two tables
/// of as many records, dropped, left out and suppressed ones too, that give the same release under the same order give the same certificate, but for these marks:
/// whatever records hold that are not published, nobody learns it here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// `incrowd certificate`, to recognize the file by.
    pub format: String,
    /// The version of the format.
    pub format_version: u32,
    /// The version of incrowd that made the release.
    pub version: String,
    /// How the release was made.
    pub method: String,
    /// What was asked for; null where a scheme was chosen by hand.
    pub request: Value,
    /// Which answer was published: `exact`, `suppression`, `height`, `privacy` or `levels`; `method` where every group was
    /// generalized on its own.
    pub choice: String,
    /// How the cells of a local method are written: `ranges`, `labels`, `sets`, `midpoints` or `rounded`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<String>,
    /// How the scheme was found, as certificates of version 1 told it; it depends on the source, so that later ones do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<HowFound>,
    /// The promise: criteria by name, with the value promised and the value reached; null where the release alone does not
    /// show what is reached.
    pub criteria: Map<String, Value>,
    /// The columns by which people could be recognized.
    pub quasi_identifiers: Vec<String>,
    /// The sensitive attributes that the promise is about.
    pub sensitive: Vec<String>,
    /// The columns of the source that say whose record it is, where the promise is about people: k is how many different
    /// people a group has at least, and so on. None of them is in the release, which does not show it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub person: Vec<String>,
    /// Sensitive attributes whose values the criteria count by their labels on a level of a hierarchy, and these labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub count_at: BTreeMap<String, CountAt>,
    /// Attributes whose cells that are no numbers or no dates, where such are needed, are published as no value: `missing`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub unreadable: Map<String, Value>,
    /// What is published of values that an attribute's hierarchy does not know, at every level below the top: `other`, or
    /// `missing` for no value.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub unknown: Map<String, Value>,
    /// What is published of attributes that are not generalized, where that is coarser than what was read: multiples of
    /// `round`, one label for the highest values (`top` is the share below them), or labels of a `level`. Criteria count
    /// what is published. What depends on records that are not in the release, such as where the highest begin, is not told
    /// here.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub published_as: Map<String, Value>,
    /// Attributes that were counted by the labels of a level of their hierarchy, where it was and not here: all that is said
    /// of levels begins there, as level 0, and finer ones were not looked at.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub from_level: BTreeMap<String, FromLevel>,
    /// How far apart values are, by sensitive attribute of relative criteria. Version 1 told distributions too.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub original: Map<String, Value>,
    /// What dealing guarantees, where the release was dealt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dealt: Option<Dealt>,
    /// What was wanted of each record and what it came to, where every record was generalized on its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_record: Option<PerRecord>,
    /// The columns of the release, in order.
    pub columns: Vec<String>,
    /// What separates the fields of a CSV file; nothing where the release is none, or where a version before this made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
    /// The column of the file that says how many records each of its rows is, where rows are not records; it is none of
    /// [`Certificate::columns`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<String>,
    /// Null where every group was generalized on its own.
    pub levels: Value,
    /// What each level is called.
    pub level_names: Value,
    /// The sum of the levels.
    pub height: Option<u32>,
    /// How many records there were.
    pub n_records_read: u64,
    /// Left out before anything else, because a value was missing.
    pub n_records_dropped: u64,
    /// Left out because their people have more records than are kept of a person.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n_records_left_out: u64,
    /// Left out to keep the promise.
    pub n_records_suppressed: u64,
    /// How many records the release has.
    pub n_records_published: u64,
    /// How many groups they form.
    pub n_groups: u64,
    /// The size of the smallest group.
    pub smallest_group: Option<u64>,
    /// The fewest different sensitive values in a group.
    pub fewest_distinct: Option<u64>,
    /// What the release itself shows of what was lost; losses over the source are for the signer.
    pub loss: Value,
    /// How published records are ordered, and why that says nothing about the input.
    pub order: String,
    /// Whether the records are in the order of their cells: column by column, "no value" first, texts by their bytes.
    /// Certificates of version 1 do not claim it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sorted: bool,
    /// The seed of random choices; null where none was made.
    pub seed: Option<u64>,
    /// How many exchanges of records dealing was ordered to try per class, where that is not what it always does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchanges: Option<u32>,
    /// By how many steps the groups of a local method were improved, where they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// The files that the release was made from.
    pub input: Vec<FileHash>,
    /// The files of the hierarchies.
    pub hierarchies: Vec<FileHash>,
    /// The release.
    pub output: FileHash,
}

/// What is not said where there is none.
fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Certificate {
    /// What [`Certificate::format`] says.
    pub const FORMAT: &'static str = "incrowd certificate";
    /// Since 2, nothing in it comes from records that are not in the release.
    pub const FORMAT_VERSION: u32 = 2;
    /// Where the promise is about people, which whoever knows version 2 alone would take for one about records.
    pub const FORMAT_VERSION_OF_PEOPLE: u32 = 3;
    /// Where criteria count labels, in whose place whoever knows version 3 alone would count values; of people or not.
    pub const FORMAT_VERSION_OF_LABELS: u32 = 4;
    /// Where rows of the file stand for several records, each of which whoever knows version 4 alone would take for one.
    pub const FORMAT_VERSION_OF_ROWS: u32 = 5;

    /// The version that a certificate with these has.
    pub fn version_of(is_of_people: bool, is_of_labels: bool, is_of_rows: bool) -> u32 {
        match (is_of_people, is_of_labels, is_of_rows) {
            (_, _, true) => Certificate::FORMAT_VERSION_OF_ROWS,
            (_, true, false) => Certificate::FORMAT_VERSION_OF_LABELS,
            (true, false, false) => Certificate::FORMAT_VERSION_OF_PEOPLE,
            (false, false, false) => Certificate::FORMAT_VERSION,
        }
    }

    /// Reads a certificate; why it is none, in words, where it is none.
    ///
    /// # Errors
    /// Where the text is not JSON, or lacks what every certificate says.
    pub fn of_text(text: &str) -> Result<Certificate, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// The certificate as its file has it.
    pub fn to_text(&self) -> String {
        format!("{}\n", serde_json::to_string_pretty(self).expect("a certificate is JSON"))
    }

    /// Whether all cells of an attribute are of one level.
    pub fn has_levels(&self) -> bool {
        self.levels.is_object()
    }

    /// The level of an attribute, where it has one.
    pub fn level(&self, attribute: &str) -> Option<u64> {
        self.levels.get(attribute)?.as_u64()
    }

    /// What is published of cells of an attribute that are no numbers or no dates, where it is said; an empty text where
    /// what is said is none.
    pub fn unreadable_of(&self, attribute: &str) -> Option<&str> {
        self.unreadable.get(attribute).map(|said| said.as_str().unwrap_or_default())
    }

    /// The same of values that its hierarchy does not know.
    pub fn unknown_of(&self, attribute: &str) -> Option<&str> {
        self.unknown.get(attribute).map(|said| said.as_str().unwrap_or_default())
    }

    /// What is published of an attribute in place of what was read; none where that is not known to this version.
    pub fn coarser_of(&self, attribute: &str) -> Option<Option<Coarser>> {
        self.published_as.get(attribute).map(Coarser::of_value)
    }

    /// How many records were allowed to be suppressed, where that was asked.
    pub fn n_suppressed_asked(&self) -> Option<u64> {
        self.request.get("max_suppressed")?.as_u64()
    }

    /// What was asked for, wish by wish; nothing where a scheme was chosen by hand.
    pub fn wishes(&self) -> Vec<CertifiedWish> {
        let mut wishes = Vec::new();
        for (name, asked) in self.request.as_object().into_iter().flatten() {
            let other = || CertifiedWish::Other { name: name.clone(), asked: asked.to_string() };
            match (name.as_str(), asked) {
                ("best_by", _) => {}
                ("max_suppressed", _) => wishes.push(asked.as_u64().map_or_else(other, CertifiedWish::Suppressed)),
                ("max_loss", Value::Object(limits)) => wishes.extend(limits.iter().map(|(of, share)| {
                    let attribute = Some(of.clone()).filter(|of| of != "*");
                    CertifiedWish::Loss { attribute, share: share.as_f64().unwrap_or(1.0) }
                })),
                ("max_level", Value::Object(levels)) => wishes.extend(levels.iter().map(|(attribute, level)| {
                    CertifiedWish::Level { attribute: attribute.clone(), level: level.as_u64().unwrap_or(u64::MAX) }
                })),
                _ => {
                    wishes.push(criterion_of(name, asked, &self.sensitive).map_or_else(other, CertifiedWish::Criterion))
                }
            }
        }
        wishes
    }

    /// What is said of the original distribution of a sensitive attribute; none where nothing is, or nothing that this
    /// version knows.
    pub fn original_of(&self, attribute: &str) -> Option<OriginalSaid> {
        serde_json::from_value(self.original.get(attribute)?.clone()).ok()
    }

    /// By sensitive attribute, what each value that the release has is counted as; none where values are counted as they
    /// are.
    pub fn labels(&self) -> Vec<Option<Labels>> {
        self.sensitive.iter().map(|name| self.count_at.get(name).map(CountAt::of_values)).collect()
    }

    /// Whether the release alone shows what groups reach by a measure.
    ///
    /// The original distribution is that of the release where nobody was suppressed; the population is never there, and
    /// neither are people.
    pub fn shows(&self, measure: Measure) -> bool {
        self.person.is_empty() && is_shown(measure, self.n_records_suppressed)
    }

    /// The criteria that are promised; none where one of them is unknown to this version.
    pub fn promised(&self) -> Option<Criteria> {
        let criterion = |(key, entry): (&String, &Value)| criterion_of(key, entry.get("promised")?, &self.sensitive);
        self.criteria.iter().map(criterion).collect::<Option<Vec<_>>>().map(Criteria::new)
    }
}

/// The level that an attribute was counted from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FromLevel {
    /// Its number in the whole hierarchy.
    pub level: u64,
    /// What it is called.
    pub name: String,
}

/// One wish of a request, as a certificate has it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CertifiedWish {
    /// Every group keeps it.
    Criterion(Criterion),
    /// At most so many records are suppressed.
    Suppressed(u64),
    /// An attribute is at most so coarse.
    Level {
        /// Its name.
        attribute: String,
        /// The highest level that will do.
        level: u64,
    },
    /// Records lose at most so much on average.
    Loss {
        /// Of which attribute; none where all of them are meant.
        attribute: Option<String>,
        /// From 0 to 1.
        share: f64,
    },
    /// What was wanted of each record, or something that this version does not know.
    Other {
        /// What it is called.
        name: String,
        /// What was asked, as JSON.
        asked: String,
    },
}

/// What is published of an attribute that is not generalized, in place of what was read.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Coarser {
    /// The nearest multiple of a number.
    Round(Decimal),
    /// One label for the highest numbers: the share of those below it.
    Top(Decimal),
    /// Labels of a level of its hierarchy, by its number.
    Level(u64),
    /// The same by its name.
    LevelNamed(String),
}

impl Coarser {
    fn value(&self) -> Value {
        let number = |number: &Decimal| -> Value {
            number.to_string().parse::<serde_json::Number>().map_or_else(|_| json!(number.to_string()), Value::Number)
        };
        match self {
            Coarser::Round(step) => json!({ "round": number(step) }),
            Coarser::Top(share) => json!({ "top": number(share) }),
            Coarser::Level(level) => json!({ "level": level }),
            Coarser::LevelNamed(name) => json!({ "level": name }),
        }
    }

    fn of_value(value: &Value) -> Option<Coarser> {
        let number = |value: &Value| match value {
            Value::String(text) => Decimal::parse(text),
            Value::Number(number) => Decimal::parse(&number.to_string()),
            _ => None,
        };
        let (what, said) = value.as_object()?.iter().next()?;
        match (what.as_str(), said) {
            ("round", said) => number(said).map(Coarser::Round),
            ("top", said) => number(said).map(Coarser::Top),
            ("level", Value::String(name)) => Some(Coarser::LevelNamed(name.clone())),
            ("level", said) => said.as_u64().map(Coarser::Level),
            _ => None,
        }
    }
}

/// By attribute, what is published in place of what was read, as [`Certificate::published_as`] has it.
pub fn published_as(said: impl IntoIterator<Item = (String, Coarser)>) -> Map<String, Value> {
    said.into_iter().map(|(attribute, coarser)| (attribute, coarser.value())).collect()
}

/// By attribute, a word for what becomes of some of its cells, as [`Certificate::unknown`] has it.
pub fn words_of(said: impl IntoIterator<Item = (String, &'static str)>) -> Map<String, Value> {
    said.into_iter().map(|(attribute, word)| (attribute, json!(word))).collect()
}

/// What a certificate says of the original distribution of a sensitive attribute.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OriginalSaid {
    /// How far apart values are: the name of the distance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<String>,
    /// The values of the release in their order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<Text>>,
    /// Certificates of version 1: values, and how many records of the table had them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Vec<(Text, u64)>>,
    /// The labels of values from the finest level to the coarsest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<LabelsSaid>,
}

/// Labels of values, from the finest level to the coarsest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum LabelsSaid {
    /// Beside their values.
    OfValues(Vec<(Text, Vec<String>)>),
    /// Certificates of version 1: in the order of the counts.
    InOrder(Vec<Vec<String>>),
}

/// By sensitive attribute, what is said of its original distribution, as [`Certificate::original`] has it.
pub fn originals(said: impl IntoIterator<Item = (String, OriginalSaid)>) -> Map<String, Value> {
    said.into_iter().map(|(attribute, said)| (attribute, json!(said))).collect()
}

/// At which level criteria count the values of a sensitive attribute.
///
/// Only values that the release has are named, so that nothing is told of others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountAt {
    /// Of its hierarchy; 0 is the value itself.
    pub level: u64,
    /// What the level is called.
    pub level_name: String,
    /// Every label, and the values of the release that are counted as it; null stands for "no value".
    pub labels: Vec<(Text, Vec<Text>)>,
}

impl CountAt {
    /// What a file shows of the labels that its values are counted as.
    pub fn of_file(level: u64, level_name: &str, file: &Verifier, sensitive: usize) -> CountAt {
        let labels = file.labelled(sensitive).map_or(Vec::new(), |(labels, _)| labels.into_iter().collect());
        CountAt { level, level_name: level_name.to_string(), labels }
    }

    fn of_values(&self) -> Labels {
        let pairs = |(label, values): &(Text, Vec<Text>)| {
            values.iter().map(|value| (value.clone(), label.clone())).collect::<Vec<_>>()
        };
        self.labels.iter().flat_map(pairs).collect()
    }

    /// Whether every value has one label.
    pub fn is_sound(&self) -> bool {
        let n_values: usize = self.labels.iter().map(|(_, values)| values.len()).sum();
        self.of_values().len() == n_values
    }
}

/// Whether a release from which so many records were suppressed shows what groups reach by a measure.
pub fn is_shown(measure: Measure, n_suppressed: u64) -> bool {
    match measure {
        Measure::Population => false,
        measure => !measure.is_relative() || n_suppressed == 0,
    }
}

/// How a scheme was found, and what is proved about it among all schemes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HowFound {
    /// `full`, `partial` or `on-demand`.
    pub extent: String,
    /// Null where there are over 10^19.
    pub n_schemes: Option<u64>,
    /// How many schemes were looked at.
    pub n_looked_at: u64,
    /// Whether no scheme that gives up as little is better.
    pub is_optimal: bool,
    /// No scheme that gives up as little loses less than this, by what the request calls best; null where that is the
    /// scheme itself, or where nothing is known.
    pub loss_at_least: Option<f64>,
    /// All of this in a sentence.
    pub statement: String,
}

/// A dealt release: as many classes, and by how much they differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dealt {
    /// How many classes records were dealt to.
    pub n_classes: u64,
    /// For every sensitive attribute.
    pub attributes: Vec<DealtAttribute>,
    /// By how much counts of a combination of all sensitive values differ, where there are several attributes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_differ_together: Option<u64>,
}

/// How the values of one sensitive attribute were dealt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DealtAttribute {
    /// Its name.
    pub attribute: String,
    /// Counts of a value differ by at most so many records between any two classes.
    pub most_differ: u64,
    /// The fewest different values in a group.
    pub fewest_distinct: u64,
    /// The most different values that every class could have, dealt in whatever way.
    pub diversity_within_reach: u64,
    /// The distance of groups to the release.
    pub emd: Distances,
    /// Every value and how many records have it; null stands for "no value".
    pub frequencies: Vec<(Option<String>, u64)>,
}

/// How far the groups are from the release as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distances {
    /// With all values equally far apart.
    pub equal: GroupDistance,
    /// With values in their order.
    pub ordered: GroupDistance,
}

/// A distance over all groups.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupDistance {
    /// Of the group that is furthest away.
    pub greatest: f64,
    /// On average.
    pub mean: f64,
}

impl Dealt {
    /// What the file itself shows, beside how many classes were dealt and by how much they differ.
    pub fn of_file(file: &Verifier, sensitive: &[String], n_classes: u64, most_differ: &[u64], together: u64) -> Dealt {
        let attribute = |(s, name): (usize, &String)| {
            let spread = file.spread(s);
            let millionths = |n: u64| n as f64 / MILLION as f64;
            let distance =
                |(greatest, mean): (u64, u64)| GroupDistance { greatest: millionths(greatest), mean: millionths(mean) };
            let n_records: u64 = spread.frequencies.iter().map(|(_, n)| n).sum();
            // A value fills at most one place in every class.
            let n_places: u64 = spread.frequencies.iter().map(|(_, n)| *n.min(&n_classes)).sum();
            DealtAttribute {
                attribute: name.clone(),
                most_differ: most_differ[s],
                fewest_distinct: spread.fewest_distinct,
                diversity_within_reach: (n_places / n_classes.max(1)).min(n_records / n_classes.max(1)),
                emd: Distances { equal: distance(spread.equal), ordered: distance(spread.ordered) },
                frequencies: spread.frequencies,
            }
        };
        let several = sensitive.len() > 1;
        Dealt {
            n_classes,
            attributes: sensitive.iter().enumerate().map(attribute).collect(),
            most_differ_together: several.then_some(together),
        }
    }
}

impl Dealt {
    /// How evenly values were dealt, without the values that the certificate has.
    pub fn summary(&self) -> Value {
        let of_attribute = |of: &DealtAttribute| json!({ "attribute": of.attribute, "most_differ": of.most_differ });
        json!({
            "n_classes": self.n_classes,
            "attributes": self.attributes.iter().map(of_attribute).collect::<Vec<Value>>(),
            "most_differ_together": self.most_differ_together,
        })
    }
}

/// A release whose records were generalized one by one: what was wanted of each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PerRecord {
    /// Whether the release is k-anonymous: in plain words.
    pub statement: String,
    /// The k that records were grouped for afterwards; null where none is promised.
    pub also_k: Option<u64>,
    /// The name of the model of utility.
    pub utility_model: String,
    /// The name of the model of risk.
    pub risk_model: String,
    /// What was wanted.
    pub goal: GoalSaid,
    /// Where the sensitivities of values come from.
    pub sensitivities: String,
    /// Whom the attacker knows; null where that is the table itself.
    pub dictionary: Option<FileHash>,
    /// How alike a person's values must be to fit; null where they must be the same.
    pub similarity: Option<f64>,
    /// Which of the published searches was taken, for comparison; not there where the best was looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_published: Option<String>,
}

/// What was wanted of each record, as it was asked for: what a share of the utility comes to depends on the source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GoalSaid {
    /// The least risk that leaves this utility.
    UtilityAtLeast(String),
    /// The least risk that leaves this share of the utility that each record has as it is.
    ShareOfUtility(f64),
    /// The most utility at no more than this risk.
    RiskAtMost(f64),
    /// The least risk − λ · utility.
    Lambda(f64),
}

impl GoalSaid {
    /// As [`Certificate::request`] has it.
    pub fn value(&self) -> Value {
        json!(self)
    }
}

/// What records that were generalized one by one came to. That is of the source, and for the signer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PerRecordOutcome {
    /// The utility of a record as it is.
    pub greatest_utility: f64,
    /// Over the published records.
    pub risk: Distribution,
    /// Over the published records.
    pub utility: Distribution,
    /// Records that fell below the utility wanted when they were grouped.
    pub n_records_below: u64,
}

/// How a number is distributed over the records.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// The least of all.
    pub least: f64,
    /// A quarter is at most this.
    pub quarter: f64,
    /// Half is at most this.
    pub median: f64,
    /// Three quarters are at most this.
    pub three_quarters: f64,
    /// The greatest of all.
    pub greatest: f64,
    /// The mean.
    pub mean: f64,
}

impl Distribution {
    /// Of values, each with how many records have it.
    pub fn of(mut values: Vec<(f64, u64)>) -> Distribution {
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let n: u64 = values.iter().map(|(_, n)| n).sum();
        let at = |share: f64| {
            let wanted = (share * n as f64).ceil().max(1.0) as u64;
            let mut below = 0;
            let found = values.iter().find(|(_, n)| {
                below += n;
                below >= wanted
            });
            rounded(found.map_or(0.0, |(value, _)| *value))
        };
        let sum: f64 = values.iter().map(|(value, n)| value * *n as f64).sum();
        Distribution {
            least: at(0.0),
            quarter: at(0.25),
            median: at(0.5),
            three_quarters: at(0.75),
            greatest: at(1.0),
            mean: rounded(sum / n.max(1) as f64),
        }
    }
}

/// Whether a release of single records is k-anonymous, in plain words.
pub fn per_record_statement(also_k: Option<u64>) -> String {
    match also_k {
        None => {
            "This release is not k-anonymous: every record was generalized on its own, and may be the only one with \
                 its cells."
                .to_string()
        }
        Some(k) => format!(
            "Every record was generalized on its own, which promises no k; then records were grouped so that every group has \
             at least {k}."
        ),
    }
}

/// A file by name and content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileHash {
    /// Without its folder.
    pub name: String,
    /// Of what is published, whoever has it may know the hash.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sha256: String,
    /// Of what is not published, only the mark that the signer's key makes of the hash: the hash itself would tell anyone
    /// who guesses the content that the guess is right.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hmac_sha256: String,
}
