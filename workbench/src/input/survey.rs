//! What each column of a table looks like, which role and hierarchy that suggests, and how many records stand alone.
//!
//! Suggestions are made to be read and corrected by a person: each carries its reason in words,
//! and none contains the value of a cell.

use std::collections::hash_map::Entry;
use std::fmt;
use std::hash::{BuildHasher, Hasher};

use crate::sentences::{grouped, percent};
use arrow_array::{ArrayRef, RecordBatch};
use incrowd::hierarchy::{DateUnit, Side};
use incrowd::number::Decimal;
use incrowd::table::{Cells, Kind, days_of_date, parse_date};
use incrowd::{Error, ErrorKind, Missing, Result, Role, Rule};
use rayon::prelude::*;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::input::count::needed_columns;
use crate::input::source::Source;
use crate::work::{Unit, Work};

/// A table, seen column by column.
#[derive(Clone, Debug)]
pub struct Survey {
    pub n_records: u64,
    /// Records that lack a value in at least one column.
    pub n_incomplete: u64,
    /// What counts as "no value": as it was given, or as the table suggests.
    pub missing: Missing,
    /// In the table's order.
    pub columns: Vec<Column>,
}

/// What one column looks like.
#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    /// What all values have in common; text where there is no value.
    pub kind: Kind,
    pub n_missing: u64,
    pub n_distinct: Amount,
    /// Records whose value nobody else has.
    pub n_unique: Amount,
    /// The least and the greatest number; for dates, in days since 1970-01-01.
    pub range: Option<(f64, f64)>,
    /// The length of the shortest and of the longest text, in characters.
    pub n_characters: (usize, usize),
    /// Whether texts are made of the digits 0 to 9 only.
    pub is_digits: bool,
}

impl Column {
    /// Whether all texts are digits of one length, as postcodes are.
    pub fn is_code(&self) -> bool {
        self.is_digits && self.n_characters.0 == self.n_characters.1 && self.n_distinct.n > 0
    }

    /// Whether so many values occur once that a release might be refused, were it published as it is.
    ///
    /// A quarter, where publishing draws the line at half: a release has fewer records, and more of them stand alone.
    pub fn finds_people(&self, n_records: u64) -> bool {
        let n_present = n_records - self.n_missing;
        n_present >= 50 && self.n_unique.n.saturating_mul(4) > n_present
    }
}

/// How many there are: counted, or estimated where counting would take too much memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    pub n: u64,
    pub is_exact: bool,
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_exact {
            true => f.write_str(&grouped(self.n)),
            false => {
                // Three digits are as much as an estimate deserves.
                let unit = 10u64.pow(self.n.max(1).ilog10().saturating_sub(2));
                write!(f, "about {}", grouped((self.n + unit / 2) / unit * unit))
            }
        }
    }
}

/// What a column seems to be, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    pub role: Role,
    /// Why this role.
    pub why: String,
    /// How its values could get coarser, if it is a quasi-identifier or is made one.
    pub rule: Rule,
    /// Why this rule.
    pub why_rule: String,
}

/// How many records stand alone on a set of quasi-identifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uniqueness {
    /// Records looked at; those that are dropped for a missing value are not among them.
    pub n_records: u64,
    pub n_groups: Amount,
    pub n_unique: Amount,
    /// For each quasi-identifier, how many records would stand alone without it.
    pub n_unique_without: Vec<Amount>,
}

/// Looks at every cell of a table once, in memory that does not grow with the number of records.
///
/// Where nothing is said about missing values, the usual words for them are looked for.
pub fn survey(source: &Source, missing: Option<&Missing>, work: &Work) -> Result<Survey> {
    let names = source.column_names();
    let tokens = Tokens::new(missing);
    let mut views: Vec<View> = names.iter().map(|_| View::new(&tokens)).collect();
    let mut n_by_lacks = vec![0; tokens.all_lacks() as usize + 1];
    let mut n_records = 0;
    let read = work.stage("surveying", source.n_bytes(), Unit::Bytes, |task| {
        source.for_each(&names, |batch, n_bytes| {
            task.go_on()?;
            (task.progress)(n_bytes);
            n_records += batch.num_rows() as u64;
            look_at_batch(&batch, &names, &tokens, &mut views, &mut n_by_lacks)
        })
    });
    let position = || source.files()[0].display().to_string();
    read.map_err(|error| error.or_at(position()))?;
    if n_records == 0 {
        return Err(Error::new(ErrorKind::Data, "has column names and no records")
            .at(position())
            .hint("the first line names the columns; records follow it"));
    }
    let taken = tokens.taken(&views);
    let n_incomplete =
        n_by_lacks.iter().enumerate().filter(|(lacks, _)| *lacks as u16 & taken != 0).map(|(_, n)| n).sum();
    let missing = missing.cloned().unwrap_or_else(|| Missing {
        tokens: tokens.texts_of(taken),
        // A rule that loses most of the table is no help to anyone.
        drop_records: n_incomplete * 2 <= n_records,
    });
    let columns = names.into_iter().zip(views).map(|(name, view)| view.finish(name, &tokens, taken));
    Ok(Survey { n_records, n_incomplete, missing, columns: columns.collect() })
}

/// Columns are looked at side by side: each has a view of its own, so that nothing depends on the number of threads.
fn look_at_batch(
    batch: &RecordBatch,
    names: &[String],
    tokens: &Tokens,
    views: &mut [View],
    n_by_lacks: &mut [u64],
) -> Result<()> {
    let lacks_by_column: Vec<Vec<u16>> = names
        .par_iter()
        .zip(views.par_iter_mut())
        .map(|(name, view)| view.look_at_cells(&Cells::new(name, column(batch, name))?, tokens))
        .collect::<Result<_>>()?;
    for record in 0..batch.num_rows() {
        let lacks = lacks_by_column.iter().fold(0, |lacks, column| lacks | column[record]);
        n_by_lacks[lacks as usize] += 1;
    }
    Ok(())
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> &'a ArrayRef {
    batch.column_by_name(name).expect("a batch has the columns that were asked for")
}

/// The words that are usually written where there is no value.
const USUAL_TOKENS: [&str; 9] = ["", "?", "NA", "N/A", "n/a", "NULL", "null", "NaN", "nan"];

/// The words that may mean "no value", and in which way a record lacks one: bit 0 for sure, bit i + 1 if word i counts.
struct Tokens {
    texts: Vec<String>,
    is_guess: bool,
}

impl Tokens {
    fn new(missing: Option<&Missing>) -> Tokens {
        match missing {
            Some(missing) => Tokens { texts: missing.tokens.clone(), is_guess: false },
            None => Tokens { texts: USUAL_TOKENS.map(String::from).to_vec(), is_guess: true },
        }
    }

    fn position(&self, text: &str) -> Option<usize> {
        self.texts.iter().position(|token| token == text)
    }

    fn lack(&self, token: usize) -> u16 {
        if self.is_guess { 2 << token } else { 1 }
    }

    fn all_lacks(&self) -> u16 {
        (0..self.texts.len()).fold(1, |lacks, token| lacks | self.lack(token))
    }

    /// Of the words that occur, those that no column uses as a value of its own.
    fn taken(&self, views: &[View]) -> u16 {
        let is_taken = |token: &usize| {
            let text = &self.texts[*token];
            let occurs = |view: &&View| view.n_by_token[*token] > 0;
            !self.is_guess
                || (views.iter().any(|view| occurs(&view))
                    && !views.iter().filter(occurs).any(|view| view.is_value(text)))
        };
        (0..self.texts.len()).filter(is_taken).fold(1, |lacks, token| lacks | self.lack(token))
    }

    fn texts_of(&self, lacks: u16) -> Vec<String> {
        let texts = self.texts.iter().enumerate().filter(|(token, _)| lacks & self.lack(*token) != 0);
        texts.map(|(_, text)| text.clone()).collect()
    }
}

/// What has been seen of one column so far.
struct View {
    kind: Option<Kind>,
    n_null: u64,
    n_by_token: Vec<u64>,
    tally: Tally,
    range: Option<(f64, f64)>,
    n_characters: Option<(usize, usize)>,
    is_digits: bool,
}

impl View {
    fn new(tokens: &Tokens) -> View {
        View {
            kind: None,
            n_null: 0,
            n_by_token: vec![0; tokens.texts.len()],
            tally: Tally::default(),
            range: None,
            n_characters: None,
            is_digits: true,
        }
    }

    /// Takes note of all cells; returns how each record lacks its value here, if it does.
    fn look_at_cells(&mut self, cells: &Cells, tokens: &Tokens) -> Result<Vec<u16>> {
        let mut text = String::new();
        let mut lacks = vec![0; cells.len()];
        for (i, lack) in lacks.iter_mut().enumerate() {
            if !cells.read(i, &mut text) {
                self.n_null += 1;
                *lack = 1;
            } else if let Some(token) = tokens.position(&text) {
                self.n_by_token[token] += 1;
                *lack = tokens.lack(token);
            } else if self.tally.add(hash_text(&text)) {
                self.look_at_value(&text);
            }
        }
        Ok(lacks)
    }

    /// Takes note of a value that may not have been seen before.
    fn look_at_value(&mut self, text: &str) {
        let n = text.chars().count();
        let (shortest, longest) = self.n_characters.unwrap_or((n, n));
        self.n_characters = Some((shortest.min(n), longest.max(n)));
        self.is_digits &= !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if self.kind == Some(Kind::Text) {
            return;
        }
        let kind = Kind::of(text);
        self.kind = Some(self.kind.map_or(kind, |known| known.join(kind)));
        let position = match kind {
            Kind::Integer | Kind::Number => text.parse().ok(),
            Kind::Date => parse_date(text).map(|(year, month, day)| days_of_date(year, month, day) as f64),
            Kind::Boolean | Kind::Text => None,
        };
        if let Some(position) = position {
            let (least, greatest) = self.range.unwrap_or((position, position));
            self.range = Some((least.min(position), greatest.max(position)));
        }
    }

    /// Whether a usual word for "no value" rather seems to be a value here: `NA` is Namibia among two-letter codes.
    fn is_value(&self, token: &str) -> bool {
        token == "NA" && self.kind == Some(Kind::Text) && self.n_characters == Some((2, 2))
    }

    fn finish(mut self, name: String, tokens: &Tokens, taken: u16) -> Column {
        let mut n_missing = self.n_null;
        for token in 0..tokens.texts.len() {
            let n = self.n_by_token[token];
            if taken & tokens.lack(token) != 0 {
                n_missing += n;
                continue;
            }
            let text = &tokens.texts[token];
            for _ in 0..n.min(2) {
                self.tally.add(hash_text(text));
                self.look_at_value(text);
            }
        }
        let kind = self.kind.unwrap_or(Kind::Text);
        Column {
            name,
            kind,
            n_missing,
            n_distinct: self.tally.n_distinct(),
            n_unique: self.tally.n_unique(),
            range: self.range.filter(|_| kind.is_numeric() || kind == Kind::Date),
            n_characters: self.n_characters.unwrap_or((0, 0)),
            is_digits: self.is_digits,
        }
    }
}

/// Distinct values and those that occur once, by their hashes.
///
/// Beyond [`N_HASHES_MAX`] only those hashes are kept that begin with one, two, … zero bits:
/// a fair sample of the distinct values, with exact counts (M. Wegman's adaptive sampling).
#[derive(Default)]
pub(crate) struct Tally {
    /// For each hash, whether it came again.
    came_again: FxHashMap<u64, bool>,
    n_zero_bits: u32,
}

/// What fits into a hash map of 2²⁰ places, 18 MB; an estimate from half as many is right within 0.3 %.
const N_HASHES_MAX: usize = 900_000;

impl Tally {
    /// Adds one value; false if it is known not to be new.
    pub(crate) fn add(&mut self, hash: u64) -> bool {
        if hash.leading_zeros() < self.n_zero_bits {
            return true;
        }
        match self.came_again.entry(hash) {
            Entry::Occupied(mut entry) => {
                entry.insert(true);
                return false;
            }
            Entry::Vacant(entry) => entry.insert(false),
        };
        while self.came_again.len() > N_HASHES_MAX {
            self.n_zero_bits += 1;
            self.came_again.retain(|hash, _| hash.leading_zeros() >= self.n_zero_bits);
        }
        true
    }

    fn n_distinct(&self) -> Amount {
        self.amount(self.came_again.len())
    }

    pub(crate) fn n_unique(&self) -> Amount {
        self.amount(self.came_again.values().filter(|again| !**again).count())
    }

    fn amount(&self, n: usize) -> Amount {
        Amount { n: (n as u64) << self.n_zero_bits, is_exact: self.n_zero_bits == 0 }
    }
}

fn hash_text(text: &str) -> u64 {
    hash_bytes(text.as_bytes())
}

/// As a tally takes it.
pub(crate) fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    hasher.write(bytes);
    mixed(hasher.finish())
}

/// Spreads every bit over all others (the finalizer of MurmurHash3), as sampling by leading bits needs.
fn mixed(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

/// Counts groups and records that stand alone, on all quasi-identifiers and on all but each one of them.
pub fn uniqueness(source: &Source, missing: &Missing, quasi_identifiers: &[&str], work: &Work) -> Result<Uniqueness> {
    let n = quasi_identifiers.len();
    let all_but = |left_out: usize| (0..n).filter(|a| *a != left_out).collect();
    // The last set leaves out nothing.
    let sets: Vec<Vec<usize>> = (0..=n).map(all_but).collect();
    let (n_records, mut tallies) = tally_sets(source, missing, quasi_identifiers, &sets, work)?;
    let all = tallies.pop().expect("there is a set more than there are quasi-identifiers");
    let n_unique_without = tallies.iter().map(Tally::n_unique).collect();
    Ok(Uniqueness { n_records, n_groups: all.n_distinct(), n_unique: all.n_unique(), n_unique_without })
}

/// Counts the combinations of values in several sets of columns, in one reading.
fn tally_sets(
    source: &Source,
    missing: &Missing,
    names: &[&str],
    sets: &[Vec<usize>],
    work: &Work,
) -> Result<(u64, Vec<Tally>)> {
    let columns = needed_columns(source, names.iter().copied(), missing);
    let mut tallies: Vec<Tally> = sets.iter().map(|_| Tally::default()).collect();
    let mut n_records = 0;
    let read = work.stage("comparing", source.n_bytes(), Unit::Bytes, |task| {
        source.for_each(&columns, |batch, n_bytes| {
            task.go_on()?;
            (task.progress)(n_bytes);
            let mut keep = vec![true; batch.num_rows()];
            if missing.drop_records {
                columns.iter().try_for_each(|name| missing.mark(name, column(&batch, name), &mut keep))?;
            }
            n_records += keep.iter().filter(|keep| **keep).count() as u64;
            let hashes: Vec<Vec<u64>> =
                names.par_iter().map(|name| hash_cells(name, column(&batch, name), missing)).collect::<Result<_>>()?;
            sets.par_iter().zip(&mut tallies).for_each(|(set, tally)| {
                for record in (0..keep.len()).filter(|record| keep[*record]) {
                    let combined = set.iter().fold(0, |combined, &a| mixed(combined ^ hashes[a][record]));
                    tally.add(combined);
                }
            });
            Ok(())
        })
    });
    read.map_err(|error| error.or_at(source.files()[0].display().to_string()))?;
    Ok((n_records, tallies))
}

fn hash_cells(name: &str, column: &ArrayRef, missing: &Missing) -> Result<Vec<u64>> {
    let cells = Cells::new(name, column)?;
    let mut text = String::new();
    let hash = |i| match cells.read(i, &mut text) && !missing.is_token(&text) {
        true => hash_text(&text),
        // No text has this hash but by a rare accident.
        false => mixed(u64::MAX),
    };
    Ok((0..cells.len()).map(hash).collect())
}

/// Suggests a role and a hierarchy for every column, in their order: names speak first, then the values.
pub fn suggest(survey: &Survey) -> Vec<Suggestion> {
    let best = best_sensitive(survey);
    let suggestion = |(i, column): (usize, &Column)| {
        let (role, why) =
            suggest_role(survey, column, best.filter(|best| *best != i).map(|best| &survey.columns[best]));
        let (rule, why_rule) = suggest_rule(column);
        Suggestion { role, why, rule, why_rule }
    };
    survey.columns.iter().enumerate().map(suggestion).collect()
}

/// Takes back quasi-identifiers that go one to one with an earlier one: they say the same thing twice.
///
/// Reads the records again only where two quasi-identifiers have the same number of values.
pub fn take_back_twins(source: &Source, survey: &Survey, suggestions: &mut [Suggestion], work: &Work) -> Result<()> {
    let is_candidate = |a: usize| {
        let column = &survey.columns[a];
        let n_distinct = column.n_distinct.n;
        // With few records per value, values go one to one by accident.
        suggestions[a].role == Role::QuasiIdentifier && n_distinct > 2 && survey.n_records >= 10 * n_distinct
    };
    let candidates: Vec<usize> = (0..suggestions.len()).filter(|a| is_candidate(*a)).collect();
    let n_distinct = |a: usize| survey.columns[a].n_distinct;
    let pairs: Vec<(usize, usize)> = (0..candidates.len())
        .flat_map(|b| (0..b).map(move |a| (a, b)))
        .filter(|&(a, b)| n_distinct(candidates[a]) == n_distinct(candidates[b]))
        .collect();
    if pairs.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = candidates.iter().map(|&a| survey.columns[a].name.as_str()).collect();
    let sets: Vec<Vec<usize>> = pairs.iter().flat_map(|&(a, b)| [vec![a], vec![b], vec![a, b]]).collect();
    let (_, tallies) = tally_sets(source, &survey.missing, &names, &sets, work)?;
    for (&(a, b), tallies) in pairs.iter().zip(tallies.chunks(3)) {
        let n_distinct: Vec<Amount> = tallies.iter().map(Tally::n_distinct).collect();
        let is_first_taken_back = suggestions[candidates[a]].role != Role::QuasiIdentifier;
        if n_distinct[0] == n_distinct[2] && n_distinct[1] == n_distinct[2] && !is_first_taken_back {
            let twin = &mut suggestions[candidates[b]];
            twin.role = Role::Other;
            twin.why = format!("goes one to one with {}", names[a]);
        }
    }
    Ok(())
}

/// How many schemes the suggested hierarchies span, as far as numbers go.
pub fn n_schemes(suggestions: &[Suggestion]) -> u64 {
    let n_levels = |rule: &Rule| match rule {
        Rule::Intervals { widths, .. } => widths.len() + 2,
        Rule::Mask { hidden, .. } => hidden.len() + 2,
        Rule::Dates { units } => units.len() + 2,
        Rule::Cuts { levels } => levels.len() + 2,
        Rule::Flat | Rule::Table(_) => 2,
    };
    let quasi_identifiers = suggestions.iter().filter(|suggestion| suggestion.role == Role::QuasiIdentifier);
    quasi_identifiers.fold(1, |n: u64, suggestion| n.saturating_mul(n_levels(&suggestion.rule) as u64))
}

/// Words that name a person.
const IDENTIFIERS: &str = "
    surname lastname firstname fullname forename username ssn email mail phone telephone mobile fax address
    mrn passport iban account uuid guid licence license ip";

/// Words that name a person unless something better known stands beside them: `city name`, `region id`.
const WEAK_IDENTIFIERS: &str = "name id identifier";

const QUASI_IDENTIFIERS: &str = "
    age sex gender zip zipcode postcode postal postalcode birth birthdate birthday dob yob date year
    admission admitted discharge race ethnicity ethnic marital relationship education degree occupation
    profession job workclass employer country nationality citizenship city town municipality village district
    region county state province religion language children";

/// The most telling first: of several matches, that one is suggested.
const SENSITIVE: &str = "
    disease diagnosis diagnoses icd condition medication drug treatment salary income wage result score grade
    charge cost hours";

/// Words after which a name only says more about what came before.
const PREPOSITIONS: &str = "of per at in by on for from";

/// Words that mean a postcode, whose places are its digits from left to right.
const POSTCODES: &str = "zip zipcode postcode postal postalcode";

const DATES: &str = "date birth birthdate birthday dob";

/// What a column's name says about its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Named {
    role: Role,
    word: &'static str,
    /// Whether one of the weak identifiers stands in the name as well.
    has_weak_identifier: bool,
}

/// The name of a thing stands last in English, or before the first preposition: `admission diagnosis`, `date of birth`.
fn role_by_name(name: &str) -> Option<Named> {
    let words = words(name);
    let head =
        words.iter().skip(1).position(|word| known_word(word, PREPOSITIONS).is_some()).map_or(words.len(), |i| i + 1);
    let strong = |word: &String| {
        let lists =
            [(Role::Identifier, IDENTIFIERS), (Role::QuasiIdentifier, QUASI_IDENTIFIERS), (Role::Sensitive, SENSITIVE)];
        lists.into_iter().find_map(|(role, list)| Some((role, known_word(word, list)?)))
    };
    let weak = words.iter().rev().find_map(|word| known_word(word, WEAK_IDENTIFIERS));
    let (role, word) = words[..head]
        .iter()
        .rev()
        .find_map(strong)
        .or_else(|| words[head..].iter().find_map(strong))
        .or_else(|| Some((Role::Identifier, weak?)))?;
    Some(Named { role, word, has_weak_identifier: weak.is_some() })
}

/// The word of a list that a word is, in the singular or the plural.
fn known_word(word: &str, list: &'static str) -> Option<&'static str> {
    list.split_whitespace().find(|known| word == *known || word.strip_suffix('s') == Some(known))
}

fn has_word(name: &str, list: &'static str) -> bool {
    words(name).iter().any(|word| known_word(word, list).is_some())
}

/// The words of a name in lower case: `Date_of-birth`, `dateOfBirth`, `ICD10code`.
fn words(name: &str) -> Vec<String> {
    let characters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (i, &character) in characters.iter().enumerate() {
        let before = i.checked_sub(1).map(|i| characters[i]);
        let after = characters.get(i + 1);
        let is_hump = character.is_uppercase()
            && (before.is_some_and(char::is_lowercase)
                || (before.is_some_and(char::is_uppercase) && after.is_some_and(|c| c.is_lowercase())));
        let is_turn = before.is_some_and(|before| before.is_numeric() != character.is_numeric());
        if is_hump || is_turn || !character.is_alphanumeric() {
            words.push(String::new());
        }
        if character.is_alphanumeric() {
            words.last_mut().expect("there is always a word").extend(character.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The column that deserves most to be the sensitive attribute, by its name; it must have something to hide.
fn best_sensitive(survey: &Survey) -> Option<usize> {
    let rank = |column: &Column| {
        let named =
            role_by_name(&column.name).filter(|named| named.role == Role::Sensitive && column.n_distinct.n > 1)?;
        let finds_people = column.finds_people(survey.n_records);
        SENSITIVE.split_whitespace().position(|word| word == named.word).filter(|_| !finds_people)
    };
    let ranked = survey.columns.iter().enumerate().filter_map(|(i, column)| Some((rank(column)?, i)));
    ranked.min().map(|(_, i)| i)
}

/// Few enough values to look at one by one.
const N_FEW: u64 = 40;

/// Whether nearly every record has a value of its own, and there are enough records for that to mean something.
fn is_nearly_unique(survey: &Survey, column: &Column) -> bool {
    let n_present = survey.n_records - column.n_missing;
    let is_countable = matches!(column.kind, Kind::Text | Kind::Integer);
    is_countable && n_present >= 50 && column.n_unique.n as f64 >= 0.95 * n_present as f64
}

/// The role of one column; `sensitive` is the column that is suggested as sensitive, if that is another one.
fn suggest_role(survey: &Survey, column: &Column, sensitive: Option<&Column>) -> (Role, String) {
    let named = role_by_name(&column.name);
    let says = |named: Named| format!("name says {}", named.word);
    let n_distinct = column.n_distinct;
    let is_nearly_unique = is_nearly_unique(survey, column);
    let is_weak = |named: &Named| known_word(named.word, WEAK_IDENTIFIERS).is_some();
    let is_few = n_distinct.n <= N_FEW && survey.n_records >= 10 * n_distinct.n;
    match named {
        Some(named) if named.role == Role::Identifier && !is_weak(&named) => (Role::Identifier, says(named)),
        _ if n_distinct.n == 0 => (Role::Other, "no record has a value".into()),
        _ if n_distinct.n == 1 => (Role::Other, "one value only: it tells nobody apart".into()),
        Some(named) if named.role == Role::Identifier && is_few => {
            (Role::Other, format!("{}, but {n_distinct} distinct values name nobody", says(named)))
        }
        Some(named) if named.role == Role::Identifier => (Role::Identifier, says(named)),
        Some(named) if named.has_weak_identifier && is_nearly_unique => {
            (Role::Identifier, format!("name says {} and {}", named.word, own_value(survey, column)))
        }
        Some(named) if named.role == Role::Sensitive && column.finds_people(survey.n_records) => (
            Role::Other,
            format!("{}, but {}: published as it is, it finds people", says(named), own_value(survey, column)),
        ),
        Some(named) if named.role == Role::Sensitive => match sensitive {
            None if n_distinct.n < 10 => {
                (Role::Sensitive, format!("{}; {n_distinct} values, so l is {n_distinct} at most", says(named)))
            }
            None => (Role::Sensitive, says(named)),
            Some(other) => (Role::Other, format!("{}, but {} is sensitive already", says(named), other.name)),
        },
        Some(named) => (named.role, says(named)),
        None if column.kind == Kind::Date => (Role::QuasiIdentifier, "a date: others may know when it was".into()),
        None if is_nearly_unique => (Role::Identifier, own_value(survey, column)),
        None if column.is_code() && column.kind == Kind::Text && column.n_characters.0 >= 4 => {
            (Role::QuasiIdentifier, format!("{} digits throughout, as postcodes have", column.n_characters.0))
        }
        None => (Role::Other, format!("name says nothing; {n_distinct} distinct values")),
    }
}

fn own_value(survey: &Survey, column: &Column) -> String {
    let n_present = survey.n_records - column.n_missing;
    match column.n_unique.n >= n_present {
        true => "every value occurs once".into(),
        false => format!("{} of values occur once", percent(column.n_unique.n, n_present)),
    }
}

/// How the values of a column could get coarser.
fn suggest_rule(column: &Column) -> (Rule, String) {
    let n_distinct = column.n_distinct;
    let is_postcode = has_word(&column.name, POSTCODES);
    // Digits that are not a number, because some begin with 0: the first ones say most.
    let is_long_code = column.kind == Kind::Text && column.n_characters.0 >= 3;
    match (column.kind, column.range) {
        _ if n_distinct.n <= 2 => (Rule::Flat, format!("{n_distinct} distinct values, shown or hidden")),
        (Kind::Integer | Kind::Text, _) if column.is_code() && (is_postcode || is_long_code) => {
            let n = column.n_characters.1;
            (mask(n), format!("{n} digits, hidden from the right"))
        }
        (Kind::Text, _) if is_postcode => (mask(column.n_characters.1), "characters hidden from the right".into()),
        (Kind::Integer | Kind::Number, Some((least, greatest)))
            if greatest - least > 2.0 || column.kind == Kind::Number =>
        {
            intervals(column, least, greatest)
        }
        (Kind::Date, Some((first, last))) => dates((last - first) / 365.2425),
        (Kind::Text, _) if has_word(&column.name, DATES) => {
            (Rule::Flat, "no dates like 2024-03-31, which could become months and years; shown or hidden".into())
        }
        _ if n_distinct.n <= N_FEW => {
            (Rule::Flat, format!("{n_distinct} distinct values, shown or hidden; a tree of groups would lose less"))
        }
        _ => (Rule::Flat, format!("{n_distinct} distinct values, shown or hidden; a file of groups would lose less")),
    }
}

/// One character more per level; two or more for long texts, so that there are not too many levels.
fn mask(n_characters: usize) -> Rule {
    let step = n_characters.div_ceil(8).max(1);
    let hidden: Vec<usize> = (1..n_characters).filter(|n| n % step == 0).collect();
    Rule::mask(hidden, Side::Right).unwrap_or(Rule::Flat)
}

fn dates(n_years: f64) -> (Rule, String) {
    let mut units = vec![DateUnit::Month, DateUnit::Quarter, DateUnit::Year];
    if n_years > 20.0 {
        units.push(DateUnit::Decade);
    }
    let names: Vec<&str> = units.iter().map(|unit| unit.name()).collect();
    let why = format!("dates by {}", names.join(", "));
    (Rule::dates(units).expect("the units go from fine to coarse"), why)
}

/// About fifteen intervals at first, then half as many twice: 1, 2 or 5 times a power of ten, doubled and doubled again.
fn intervals(column: &Column, least: f64, greatest: f64) -> (Rule, String) {
    let range = (greatest - least).max(f64::MIN_POSITIVE);
    let exponent = (range / 15.0).log10().floor() as i32;
    let mantissa = nice_mantissa(range / 15.0 / 10f64.powi(exponent));
    let (mantissa, exponent) = match column.kind {
        // Intervals of one whole number are the numbers themselves.
        Kind::Integer if exponent < 0 || (exponent == 0 && mantissa < 2.0) => (2.0, 0),
        _ => (mantissa, exponent),
    };
    let width = |doublings: i32| scaled(mantissa * 2f64.powi(doublings), exponent);
    let widths: Vec<f64> = (0..3)
        .map(width)
        .enumerate()
        .filter(|(i, width)| *i == 0 || *width <= range / 1.5)
        .map(|(_, width)| width)
        .collect();
    let widest = mantissa * 2f64.powi(widths.len() as i32 - 1);
    // Intervals begin at multiples of the widest: 20-39 reads better than 17-36.
    let origin = scaled((least / scaled(widest, exponent)).floor() * widest, exponent);
    let list: Vec<String> = widths.iter().map(f64::to_string).collect();
    let why = format!(
        "{} with {} distinct values: intervals of {} from {origin}",
        column.kind.name(),
        column.n_distinct,
        list.join(", ")
    );
    match Rule::intervals(widths, origin) {
        Ok(rule) => (rule, why),
        // Numbers too large or too small to be told apart.
        Err(_) => (Rule::Flat, format!("{} distinct values, shown or hidden", column.n_distinct)),
    }
}

/// The nearest of 1, 2, 5 and 10 by ratio.
fn nice_mantissa(mantissa: f64) -> f64 {
    match mantissa {
        m if m < 2f64.sqrt() => 1.0,
        m if m < 10f64.sqrt() => 2.0,
        m if m < 50f64.sqrt() => 5.0,
        _ => 10.0,
    }
}

/// A number times a power of ten, rounded once, so that it prints as it was meant.
fn scaled(number: f64, exponent: i32) -> f64 {
    match exponent {
        e if e < 0 => number / 10f64.powi(-e),
        e => number * 10f64.powi(e),
    }
}

/// A rule as the project file writes it; none for a flat one, which needs no words.
pub fn rule_toml(rule: &Rule) -> Option<String> {
    let list = |items: Vec<String>| format!("[{}]", items.join(", "));
    match rule {
        Rule::Intervals { widths, origin } => {
            let widths = list(widths.iter().copied().map(number_toml).collect());
            Some(format!("{{ intervals = {widths}, origin = {} }}", number_toml(*origin)))
        }
        Rule::Mask { hidden, .. } if hidden.iter().copied().eq(1..=hidden.len()) => {
            Some(format!("{{ mask = {} }}", hidden.len() + 1))
        }
        Rule::Mask { hidden, .. } => {
            Some(format!("{{ mask = {} }}", list(hidden.iter().map(usize::to_string).collect())))
        }
        Rule::Dates { units } => {
            Some(format!("{{ dates = {} }}", list(units.iter().map(|unit| format!("\"{}\"", unit.name())).collect())))
        }
        Rule::Cuts { .. } | Rule::Table(_) => unreachable!("neither is ever suggested"),
        Rule::Flat => None,
    }
}

fn number_toml(number: Decimal) -> String {
    let text = number.to_string();
    match text.parse::<i64>().is_ok() {
        true => text,
        false => format!("{:?}", number.to_f64()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::input::source::CsvOptions;

    fn table(text: &str) -> (tempfile::TempDir, Source) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("table.csv");
        std::fs::write(&path, text).expect("a writable folder");
        let source = Source::open(&path, &CsvOptions::default()).expect("a readable table");
        (folder, source)
    }

    fn look(text: &str, missing: Option<&Missing>) -> Survey {
        let (_folder, source) = table(text);
        survey(&source, missing, &Work::default()).expect("a table that can be surveyed")
    }

    /// The roles that a table suggests, by column.
    fn roles(text: &str) -> Vec<(String, &'static str, String)> {
        let survey = look(text, None);
        let suggestions = suggest(&survey);
        let names = survey.columns.into_iter().map(|column| column.name);
        names.zip(suggestions).map(|(name, suggestion)| (name, suggestion.role.name(), suggestion.why)).collect()
    }

    fn tokens(tokens: &[&str], drop_records: bool) -> Missing {
        Missing { tokens: tokens.iter().map(|token| token.to_string()).collect(), drop_records }
    }

    /// A table of `n` records with few, many and missing values, from a seed.
    fn random_table(seed: u64, n: usize) -> String {
        let mut state = seed;
        let mut below = |n: u64| {
            state = mixed(state.wrapping_add(0x9e37_79b9_7f4a_7c15));
            state % n
        };
        let mut text = String::from("a,b,c\n");
        for _ in 0..n {
            let a = ["x", "y", "?", ""][below(4) as usize];
            let b = match below(5) {
                0 => "?".to_string(),
                _ => below(n as u64 + 1).to_string(),
            };
            text.push_str(&format!("{a},{b},{}\n", below(3)));
        }
        text
    }

    fn records(text: &str) -> Vec<Vec<String>> {
        text.lines().skip(1).map(|line| line.split(',').map(String::from).collect()).collect()
    }

    fn counts<K: std::hash::Hash + Eq>(keys: impl Iterator<Item = K>) -> HashMap<K, u64> {
        keys.fold(HashMap::new(), |mut counts, key| {
            *counts.entry(key).or_default() += 1;
            counts
        })
    }

    fn n_once<K>(counts: &HashMap<K, u64>) -> u64 {
        counts.values().filter(|n| **n == 1).count() as u64
    }

    #[test]
    fn columns_are_counted_as_a_naive_reader_would() {
        for seed in 0..40 {
            let text = random_table(seed, 1 + seed as usize * 3);
            let missing = tokens(&["?", ""], true);
            let survey = look(&text, Some(&missing));
            let records = records(&text);
            assert_eq!(survey.n_records, records.len() as u64);
            let is_missing = |text: &String| missing.is_token(text);
            let n_incomplete = records.iter().filter(|record| record.iter().any(is_missing)).count();
            assert_eq!(survey.n_incomplete, n_incomplete as u64);
            for (i, column) in survey.columns.iter().enumerate() {
                let values = counts(records.iter().map(|record| &record[i]).filter(|text| !is_missing(text)));
                assert_eq!(column.n_distinct, Amount { n: values.len() as u64, is_exact: true });
                assert_eq!(column.n_unique.n, n_once(&values));
                assert_eq!(column.n_missing, records.iter().filter(|record| is_missing(&record[i])).count() as u64);
            }
        }
    }

    #[test]
    fn records_that_stand_alone_are_counted_as_a_naive_reader_would() {
        for seed in 0..40 {
            let text = random_table(seed, 1 + seed as usize * 3);
            for drop_records in [true, false] {
                let missing = tokens(&["?", ""], drop_records);
                let (_folder, source) = table(&text);
                let found = uniqueness(&source, &missing, &["a", "b"], &Work::default()).expect("a readable table");
                let mut records = records(&text);
                records.retain(|record| !drop_records || !record.iter().any(|text| missing.is_token(text)));
                // Where they are kept, all ways to lack a value are one value.
                let value = |text: &str| if missing.is_token(text) { "?".to_string() } else { text.to_string() };
                let both = counts(records.iter().map(|record| (value(&record[0]), value(&record[1]))));
                assert_eq!(found.n_records, records.len() as u64);
                assert_eq!((found.n_groups.n, found.n_unique.n), (both.len() as u64, n_once(&both)));
                let without: Vec<u64> = found.n_unique_without.iter().map(|amount| amount.n).collect();
                let only = |i: usize| n_once(&counts(records.iter().map(|record| value(&record[i]))));
                assert_eq!(without, [only(1), only(0)]);
            }
        }
    }

    #[test]
    fn kinds_ranges_and_lengths() {
        let survey = look(
            "i,n,d,b,t,z\n7,1.5,2020-01-02,true,ab,01234\n-3,2,1999-12-31,false,?,99999\n7,0.25,2020-01-02,true,é,00000\n",
            None,
        );
        let kinds: Vec<&str> = survey.columns.iter().map(|column| column.kind.name()).collect();
        assert_eq!(kinds, ["integer", "number", "date", "boolean", "text", "text"]);
        assert_eq!(survey.columns[0].range, Some((-3.0, 7.0)));
        assert_eq!(survey.columns[1].range, Some((0.25, 2.0)));
        assert_eq!(survey.columns[2].range, Some((days_of_date(1999, 12, 31) as f64, days_of_date(2020, 1, 2) as f64)));
        assert_eq!(survey.columns[4].n_characters, (1, 2));
        assert_eq!(survey.columns[4].range, None);
        let is_code: Vec<bool> = survey.columns.iter().map(Column::is_code).collect();
        assert_eq!(is_code, [false, false, false, false, false, true]);
    }

    #[test]
    fn parquet_is_seen_by_its_values() {
        use arrow_array::{Date32Array, Float64Array, Int64Array, RecordBatch, StringArray};
        use std::sync::Arc;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("table.parquet");
        let batch = RecordBatch::try_from_iter([
            ("age", Arc::new(Int64Array::from(vec![Some(30), None, Some(30), Some(31)])) as ArrayRef),
            ("weight", Arc::new(Float64Array::from(vec![70.5, 80.0, 90.0, 70.5]))),
            ("city", Arc::new(StringArray::from(vec![Some("Oslo"), Some("Rome"), None, Some("Oslo")]))),
            ("born", Arc::new(Date32Array::from(vec![0, 1, 2, 2]))),
        ])
        .expect("columns of one length");
        let file = std::fs::File::create(&path).expect("a writable folder");
        let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).expect("a writer");
        writer.write(&batch).expect("a written batch");
        writer.close().expect("a closed file");
        let source = Source::open(&path, &CsvOptions::default()).expect("a readable table");
        let survey = survey(&source, None, &Work::default()).expect("a table that can be surveyed");
        let seen: Vec<_> =
            survey.columns.iter().map(|c| (c.kind.name(), c.n_distinct.n, c.n_unique.n, c.n_missing)).collect();
        assert_eq!(seen, [("integer", 2, 1, 1), ("number", 3, 2, 0), ("text", 2, 1, 1), ("date", 3, 2, 0)]);
        assert_eq!((survey.n_records, survey.n_incomplete), (4, 2));
    }

    #[test]
    fn usual_words_for_no_value_are_found_but_namibia_is_a_country() {
        let survey = look("age,job\n30,clerk\n?,NA\n31,\n32,cook\n", None);
        assert_eq!(survey.missing, tokens(&["", "?", "NA"], true));
        assert_eq!((survey.n_incomplete, survey.columns[0].kind), (2, Kind::Integer));

        let survey = look("age,land\n30,NO\n?,NA\n31,DE\n32,NA\n", None);
        assert_eq!(survey.missing, tokens(&["?"], true));
        assert_eq!(
            (survey.columns[1].n_distinct.n, survey.columns[1].n_unique.n, survey.columns[1].n_missing),
            (3, 2, 0)
        );

        let survey = look("a,b\n1,\n2,\n3,4\n", None);
        assert!(!survey.missing.drop_records, "most of the table would be lost");
        assert_eq!(look("a\n1\n", None).missing, tokens(&[], true));
    }

    #[test]
    fn what_is_not_given_as_missing_is_a_value() {
        let survey = look("a\n1\n?\n-9\n", Some(&tokens(&["-9"], true)));
        assert_eq!((survey.columns[0].n_missing, survey.columns[0].n_distinct.n), (1, 2));
        assert_eq!(survey.columns[0].kind, Kind::Text);
    }

    #[test]
    fn a_table_without_records_is_an_error() {
        let (_folder, source) = table("a,b\n");
        let error = survey(&source, None, &Work::default()).expect_err("there is nothing to survey");
        assert_eq!(error.message(), "has column names and no records");
        assert!(error.position().is_some());
    }

    #[test]
    fn words_of_names() {
        for (name, expected) in [
            ("marital-status", "marital status"),
            ("Date_of birth", "date of birth"),
            ("dateOfBirth", "date of birth"),
            ("PatientID", "patient id"),
            ("ICD10code", "icd 10 code"),
            ("DOBYear", "dob year"),
            ("__", ""),
        ] {
            assert_eq!(words(name).join(" "), expected);
        }
    }

    #[test]
    fn names_say_roles() {
        for (name, expected) in [
            ("patient_id", Some((Role::Identifier, "id"))),
            ("Surname", Some((Role::Identifier, "surname"))),
            ("city_name", Some((Role::QuasiIdentifier, "city"))),
            ("email_address", Some((Role::Identifier, "address"))),
            ("date-of-birth", Some((Role::QuasiIdentifier, "date"))),
            ("age at diagnosis", Some((Role::QuasiIdentifier, "age"))),
            ("admissionDiagnosis", Some((Role::Sensitive, "diagnosis"))),
            ("hours-per-week", Some((Role::Sensitive, "hours"))),
            ("total_charges", Some((Role::Sensitive, "charge"))),
            ("number_of_children", Some((Role::QuasiIdentifier, "children"))),
            ("wage", Some((Role::Sensitive, "wage"))),
            ("manager", None),
            ("capital-gain", None),
        ] {
            assert_eq!(role_by_name(name).map(|named| (named.role, named.word)), expected, "{name}");
        }
    }

    #[test]
    fn roles_follow_names_then_values() {
        let mut text = String::from("id,age,token,reading,when,plz,ward_id,disease,salary,kind,country\n");
        for i in 0..200 {
            let day = i % 28 + 1;
            text.push_str(&format!(
                "{i},{},t{i},{i}.5,2020-02-{day:02},0{:04},{},d{},{},{},NO\n",
                20 + i % 50,
                i % 90,
                i % 4,
                i % 12,
                i * 10,
                i % 3
            ));
        }
        let found = roles(&text);
        let of = |name: &str| {
            let (_, role, why) = found.iter().find(|(column, ..)| column == name).expect("a column of that name");
            (*role, why.as_str())
        };
        assert_eq!(of("id"), ("identifier", "name says id"));
        assert_eq!(of("age"), ("quasi-identifier", "name says age"));
        assert_eq!(of("token"), ("identifier", "every value occurs once"));
        assert_eq!(of("reading").0, "other", "a measurement is not an identifier by being unique");
        assert_eq!(of("when").0, "quasi-identifier");
        assert_eq!(of("plz"), ("quasi-identifier", "5 digits throughout, as postcodes have"));
        assert_eq!(of("ward_id"), ("other", "name says id, but 4 distinct values name nobody"));
        assert_eq!(of("disease"), ("sensitive", "name says disease"));
        assert_eq!(of("salary").0, "other", "one sensitive attribute at most");
        assert_eq!(of("kind").0, "other");
        assert_eq!(of("country").0, "other", "a single value");
    }

    #[test]
    fn hierarchies_fit_what_they_are_for() {
        let column = |name: &str,
                      kind: Kind,
                      n_distinct: u64,
                      range: Option<(f64, f64)>,
                      n_characters: usize,
                      is_digits: bool| Column {
            name: name.into(),
            kind,
            n_missing: 0,
            n_distinct: Amount { n: n_distinct, is_exact: true },
            n_unique: Amount { n: 0, is_exact: true },
            range,
            n_characters: (n_characters, n_characters),
            is_digits,
        };
        let number = |least: f64, greatest: f64| column("x", Kind::Number, 100, Some((least, greatest)), 3, false);
        let integer = |least: f64, greatest: f64| column("x", Kind::Integer, 100, Some((least, greatest)), 3, false);
        for (column, expected) in [
            (integer(17.0, 90.0), "{ intervals = [5, 10, 20], origin = 0 }"),
            (integer(1923.0, 2007.0), "{ intervals = [5, 10, 20], origin = 1920 }"),
            (integer(1.0, 16.0), "{ intervals = [2, 4, 8], origin = 0 }"),
            (integer(0.0, 4.0), "{ intervals = [2], origin = 0 }"),
            (integer(-7.0, 90_000.0), "{ intervals = [5000, 10000, 20000], origin = -20000 }"),
            (number(0.13, 0.97), "{ intervals = [0.05, 0.1, 0.2], origin = 0 }"),
            (number(36.1, 41.9), "{ intervals = [0.5, 1, 2], origin = 36 }"),
            (
                column("day", Kind::Date, 100, Some((0.0, 400.0)), 10, false),
                "{ dates = [\"month\", \"quarter\", \"year\"] }",
            ),
            (
                column("day", Kind::Date, 100, Some((0.0, 9000.0)), 10, false),
                "{ dates = [\"month\", \"quarter\", \"year\", \"decade\"] }",
            ),
            (column("plz", Kind::Text, 100, None, 5, true), "{ mask = 5 }"),
            (column("zip", Kind::Integer, 100, Some((10000.0, 99999.0)), 5, true), "{ mask = 5 }"),
            (column("postcode", Kind::Text, 100, None, 16, false), "{ mask = [2, 4, 6, 8, 10, 12, 14] }"),
        ] {
            assert_eq!(rule_toml(&suggest_rule(&column).0).as_deref(), Some(expected));
        }
        for column in [
            column("sex", Kind::Text, 2, None, 1, false),
            column("job", Kind::Text, 12, None, 1, false),
            column("city", Kind::Text, 900, None, 1, false),
            column("flag", Kind::Integer, 3, Some((0.0, 2.0)), 1, true),
        ] {
            assert_eq!(suggest_rule(&column).0, Rule::Flat);
        }
    }

    #[test]
    fn of_two_quasi_identifiers_that_say_the_same_the_first_stays() {
        let mut text = String::from("age,region,region_code,race\n");
        for i in 0..300 {
            text.push_str(&format!("{},r{},{},{}\n", i % 60, i % 5, i % 5 * 7, (i / 7) % 5));
        }
        let (_folder, source) = table(&text);
        let survey = survey(&source, None, &Work::default()).expect("a table that can be surveyed");
        let mut suggestions = suggest(&survey);
        take_back_twins(&source, &survey, &mut suggestions, &Work::default()).expect("a readable table");
        let roles: Vec<&str> = suggestions.iter().map(|suggestion| suggestion.role.name()).collect();
        assert_eq!(roles, ["quasi-identifier", "quasi-identifier", "other", "quasi-identifier"]);
        assert!(suggestions[2].why.contains("one to one with region"));
    }

    #[test]
    fn beyond_what_fits_counts_become_good_estimates() {
        let mut tally = Tally::default();
        let n = 3 * N_HASHES_MAX as u64;
        for i in 0..n {
            tally.add(mixed(i));
            if i % 4 == 0 {
                tally.add(mixed(i));
            }
        }
        assert!(tally.came_again.len() <= N_HASHES_MAX);
        let is_near = |amount: Amount, n: u64| !amount.is_exact && amount.n.abs_diff(n) * 100 < n;
        assert!(is_near(tally.n_distinct(), n), "{:?} of {n}", tally.n_distinct());
        assert!(is_near(tally.n_unique(), n / 4 * 3), "{:?} of {}", tally.n_unique(), n / 4 * 3);
        assert_eq!(Amount { n: 5_312_345, is_exact: false }.to_string(), "about 5,310,000");
    }

    #[test]
    fn no_reason_contains_a_value() {
        let mut text = String::from("age,name,job,disease,code,other\n");
        for i in 0..100 {
            text.push_str(&format!(
                "{},secret{i},secretjob{},secretill{},secretcode{i},secretother{}\n",
                20 + i % 40,
                i % 5,
                i % 7,
                i % 9
            ));
        }
        let survey = look(&text, None);
        let said: HashSet<String> = suggest(&survey).into_iter().flat_map(|s| [s.why, s.why_rule]).collect();
        assert!(said.iter().all(|why| !why.contains("secret")), "{said:?}");
    }

    /// Where Adult is, if it is here.
    fn adult() -> Option<PathBuf> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/adult/adult.csv");
        if !path.exists() {
            eprintln!("skipped: {} is absent", path.display());
        }
        path.exists().then_some(path)
    }

    #[test]
    fn adult_gets_the_roles_that_a_curator_would_give() {
        let Some(path) = adult() else { return };
        let source = Source::open(&path, &CsvOptions::default()).expect("Adult is readable");
        let survey = survey(&source, None, &Work::default()).expect("Adult can be surveyed");
        let mut suggestions = suggest(&survey);
        take_back_twins(&source, &survey, &mut suggestions, &Work::default()).expect("Adult is readable");
        assert_eq!((survey.n_records, survey.n_records - survey.n_incomplete), (32_561, 30_162));
        assert_eq!(survey.missing, tokens(&["?"], true));
        let with = |role: Role| {
            let columns =
                survey.columns.iter().zip(&suggestions).filter(move |(_, suggestion)| suggestion.role == role);
            columns.map(|(column, _)| column.name.as_str()).collect::<Vec<_>>()
        };
        let quasi_identifiers = with(Role::QuasiIdentifier);
        assert_eq!(
            quasi_identifiers,
            [
                "age",
                "workclass",
                "education",
                "marital-status",
                "occupation",
                "relationship",
                "race",
                "sex",
                "native-country"
            ]
        );
        assert_eq!(with(Role::Sensitive), ["income-per-year"]);
        assert!(with(Role::Identifier).is_empty());
        let found =
            uniqueness(&source, &survey.missing, &quasi_identifiers, &Work::default()).expect("Adult is readable");
        assert_eq!(found.n_records, 30_162);
        assert!(found.n_unique_without.iter().all(|without| without.n <= found.n_unique.n));
    }
}
