//! What the name of a column says about its role, in thirteen languages.
//!
//! The words stand in `column_words.csv`: a line per concept, with its role and a list of words per language, the most
//! telling sensitive concept first.

use std::collections::HashMap;
use std::sync::LazyLock;

use incrowd::Role;

/// What a word in the name of a column means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    text: &'static str,
    meaning: Meaning,
    concept: &'static str,
    /// The place of its concept in the list.
    rank: usize,
    is_english: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// A role; a weak one gives way to every other word.
    Role(Role, bool),
    /// For whom a record is about.
    Person,
    /// How somebody is called, and nothing else.
    Numbering,
    /// How much a record counts.
    Weight,
}

/// What a column's name says about its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub role: Role,
    /// What the word means: `age` for `edad`.
    pub concept: &'static str,
    pub word: &'static str,
    /// Where its concept stands among all: the most telling first.
    pub rank: usize,
    /// Whether the word alone is not much of a reason.
    pub is_weak: bool,
    pub is_english: bool,
    /// Whether one of the weak identifiers stands in the name as well.
    pub has_weak_identifier: bool,
    /// Whether the name says nothing, and this is what the file calls the column at length.
    pub is_of_label: bool,
}

impl Named {
    /// `name says age`, or `label says edad, which is age`.
    pub(crate) fn says(&self) -> String {
        format!("{} says {}", if self.is_of_label { "label" } else { "name" }, self.in_words())
    }

    /// `age`, or `edad, which is age`.
    fn in_words(&self) -> String {
        match self.is_english || self.concept == self.word {
            true => self.word.to_string(),
            false => format!("{}, which is {}", self.word, self.concept),
        }
    }
}

/// Words for what several people have in common.
const SHARED: [&str; 6] = ["surname", "firstname", "address", "internet", "coordinates", "account"];

/// A name of one word only that is a part of a person's name.
const PARTS_OF_NAMES: [&str; 6] = ["first", "last", "middle", "given", "family", "maiden"];

/// Words after which a name only says more about what came before.
const PREPOSITIONS: &str = "of per at in by on for from as since with de del della di da do das dos du des la le von vom der des am im z van der vid av";

/// Names of more words are questions, in which every word may occur.
const N_WORDS_MAX: usize = 8;

/// Words of so few letters that they are common to many languages, and often mean something else.
const N_LETTERS_SHORT: usize = 3;

/// The words of all languages, as the table has them.
static WORDS: LazyLock<HashMap<&'static str, Word>> = LazyLock::new(|| {
    let mut words = HashMap::new();
    for (rank, line) in include_str!("column_words.csv").lines().skip(1).enumerate() {
        let mut cells = line.split(',');
        let (Some(concept), Some(role)) = (cells.next(), cells.next()) else { continue };
        let meaning = match role {
            "identifier" => Meaning::Role(Role::Identifier, false),
            "weak-identifier" => Meaning::Role(Role::Identifier, true),
            "quasi-identifier" => Meaning::Role(Role::QuasiIdentifier, false),
            "weak-quasi-identifier" => Meaning::Role(Role::QuasiIdentifier, true),
            "sensitive" => Meaning::Role(Role::Sensitive, false),
            "person" => Meaning::Person,
            "numbering" => Meaning::Numbering,
            "weight" => Meaning::Weight,
            other => unreachable!("{other} is no role of the table of words"),
        };
        for (language, cell) in cells.enumerate() {
            for text in cell.split_whitespace() {
                // The first language and the first line that has a word keep it.
                words.entry(text).or_insert(Word { text, meaning, concept, rank, is_english: language == 0 });
            }
        }
    }
    words
});

/// Languages that make one word of several: its end says what it is, as in `Aufnahmedatum`.
static WORD_ENDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let header: Vec<&str> = include_str!("column_words.csv").lines().next().unwrap_or("").split(',').collect();
    let compounding: Vec<usize> = (0..header.len()).filter(|i| ["de", "nl", "sv"].contains(&header[*i])).collect();
    let lines = include_str!("column_words.csv").lines().skip(1);
    let of_line = |line: &'static str| {
        let cells: Vec<&str> = line.split(',').collect();
        compounding.iter().flat_map(move |i| cells[*i].split_whitespace()).collect::<Vec<_>>()
    };
    lines.flat_map(of_line).filter(|word| word.chars().count() >= 5).collect()
});

/// Looks a word up: as it is, in the singular, or by its end.
fn known(word: &str) -> Option<Word> {
    let exact = WORDS.get(word);
    // "Years" are a duration, where "year" is a date.
    let singular = || word.strip_suffix('s').and_then(|word| WORDS.get(word)).filter(|found| found.concept != "time");
    let compound = || {
        let end = WORD_ENDS.iter().filter(|end| word.len() > end.len() + 2 && word.ends_with(**end));
        end.max_by_key(|end| end.len()).and_then(|end| WORDS.get(end))
    };
    exact.or_else(singular).or_else(|| if word.is_ascii() { compound() } else { None }).copied()
}

fn is_preposition(word: &str) -> bool {
    PREPOSITIONS.split_whitespace().any(|known| known == word)
}

/// The known words of a name, each with its place; two words may be one: `last name`, `nameLast`.
fn known_words(words: &[String]) -> Vec<(usize, Word)> {
    let mut found = Vec::new();
    for (i, word) in words.iter().enumerate() {
        // "Nume de familie" is two words and what joins them.
        let n_back = if i >= 2 && is_preposition(&words[i - 1]) { 2 } else { 1 };
        let pair = i.checked_sub(n_back).and_then(|before| {
            let (before, after) = (&words[before], word);
            let joined = [format!("{before}{after}"), format!("{after}{before}")];
            joined.iter().find_map(|joined| WORDS.get(joined.as_str()))
        });
        if let Some(pair) = pair {
            found.push((i, *pair));
        } else if let Some(single) = known(word) {
            let is_short = word.chars().count() <= N_LETTERS_SHORT && word.is_ascii();
            if single.is_english || !is_short || words.len() <= 2 {
                found.push((i, single));
            }
        }
    }
    found
}

/// The name of a thing stands last in English, or before the first preposition: `admission diagnosis`, `date of birth`.
pub(crate) fn role_by_name(name: &str) -> Option<Named> {
    let words = words(name);
    if words.len() > N_WORDS_MAX {
        return None;
    }
    let head = words.iter().skip(1).position(|word| is_preposition(word)).map_or(words.len(), |i| i + 1);
    let found = known_words(&words);
    let with = |is_wanted: fn(Meaning) -> bool| {
        let wanted = |(_, word): &&(usize, Word)| is_wanted(word.meaning);
        let before = found.iter().rev().filter(|(i, _)| *i < head).find(wanted);
        before.or_else(|| found.iter().filter(|(i, _)| *i >= head).find(wanted)).map(|(_, word)| *word)
    };
    let weak_identifier = with(|meaning| meaning == Meaning::Role(Role::Identifier, true));
    let is_strong: fn(Meaning) -> bool = |meaning| matches!(meaning, Meaning::Role(_, false));
    // A date of birth is more than a date.
    let birth = found.iter().map(|(_, word)| *word).find(|word| word.concept == "birth");
    let strong = with(is_strong).map(|word| birth.filter(|_| word.concept == "date").unwrap_or(word));
    let weight = with(|meaning| meaning == Meaning::Weight);
    let weak = with(|meaning| meaning == Meaning::Role(Role::QuasiIdentifier, true));
    let word = weight.or(strong).or(weak).or(weak_identifier)?;
    let (role, is_weak) = match word.meaning {
        Meaning::Role(role, is_weak) => (role, is_weak),
        _ => (Role::Other, false),
    };
    let Word { text, concept, rank, is_english, .. } = word;
    let has_weak_identifier = weak_identifier.is_some();
    Some(Named { role, concept, word: text, rank, is_weak, is_english, has_weak_identifier, is_of_label: false })
}

/// The same of a column that programs of statistics have labelled: `RIAGENDR` says nothing, its label `Gender` does.
pub(crate) fn role_by_name_or_label(name: &str, label: &str) -> Option<Named> {
    role_by_name(name).or_else(|| role_by_name(label).map(|named| Named { is_of_label: true, ..named }))
}

/// How many words a name has.
pub(crate) fn n_words(name: &str) -> usize {
    words(name).len()
}

/// Whether a name says that something is counted: `total_credit_lines`, `nb_visites`.
pub(crate) fn says_how_many(name: &str) -> bool {
    const COUNTS: &str =
        "total count counts sum amount quantity anzahl menge summe nombre nb quantite cantidad quantidade
        conteggio quantita liczba ilosc aantal totaal numar cantitate antal adet";
    words(name).iter().any(|word| COUNTS.split_whitespace().any(|count| count == word))
}

/// Whether a name is nothing but a part of a person's name: `first`, `last`.
pub(crate) fn is_part_of_a_name(name: &str) -> bool {
    let words = words(name);
    words.len() == 1 && PARTS_OF_NAMES.contains(&words[0].as_str())
}

/// How well people can be counted by a column, as its name says, the best first; not at all where others have the same.
///
/// `is_identifier` where somebody has said so.
pub(crate) fn person_standing(name: &str, is_identifier: bool) -> Option<u8> {
    let words = words(name);
    let means = |word: &String, meaning: Meaning| known(word).is_some_and(|known| known.meaning == meaning);
    let is_person = |word: &String| means(word, Meaning::Person);
    // "Patient number", and "number of the patient" in other languages.
    let is_number =
        |word: &&String| means(word, Meaning::Numbering) || WORDS.get(word.as_str()).is_some_and(is_numbering);
    let n_numbers = words.iter().rev().take_while(is_number).count();
    let before = &words[..words.len() - n_numbers];
    // "Number of the patient" says whose record it is, "months as customer" does not.
    let joined = before.iter().rev().skip(1).take_while(|word| is_preposition(word)).count();
    let is_about_others = joined > 0 && !before[..before.len() - 1 - joined].iter().any(|word| is_number(&word));
    if before.last().is_some_and(is_person) && !is_about_others {
        return Some(0);
    }
    let found = known_words(&words);
    let is_shared = is_part_of_a_name(name) || found.iter().any(|(_, word)| SHARED.contains(&word.concept));
    match role_by_name(name) {
        _ if is_shared => None,
        Some(named) if named.role == Role::Identifier => Some(1),
        Some(_) => None,
        None => is_identifier.then_some(2),
    }
}

/// "Id" is a weak identifier, and a numbering as well.
fn is_numbering(word: &Word) -> bool {
    word.meaning == Meaning::Role(Role::Identifier, true) && word.concept != "name"
}

/// Whether a name has a word of a concept.
pub(crate) fn has_concept(name: &str, concept: &str) -> bool {
    known_words(&words(name)).iter().any(|(_, word)| word.concept == concept)
}

/// The words of a name in lower case and without accents: `Date_of-birth`, `dateOfBirth`, `ICD10code`, `Année`.
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
            let word = words.last_mut().expect("there is always a word");
            character.to_lowercase().for_each(|character| push_plain(word, character));
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A text in lower case and without accents.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    text.chars().flat_map(char::to_lowercase).for_each(|character| push_plain(&mut plain, character));
    plain
}

/// Adds a letter without its accent, as people write it who have no such key.
fn push_plain(word: &mut String, character: char) {
    let plain = match character {
        'à' | 'á' | 'â' | 'ã' | 'å' | 'ā' | 'ă' | 'ą' => "a",
        'ä' | 'æ' => "a",
        'ç' | 'ć' | 'č' => "c",
        'ď' | 'đ' => "d",
        'è' | 'é' | 'ê' | 'ë' | 'ē' | 'ę' | 'ě' => "e",
        'ğ' => "g",
        'ì' | 'í' | 'î' | 'ï' | 'ī' | 'ı' => "i",
        'ł' => "l",
        'ñ' | 'ń' | 'ň' => "n",
        'ò' | 'ó' | 'ô' | 'õ' | 'ø' | 'ö' | 'ő' => "o",
        'ŕ' | 'ř' => "r",
        'ś' | 'ş' | 'š' | 'ș' => "s",
        'ß' => "ss",
        'ţ' | 'ť' | 'ț' => "t",
        'ù' | 'ú' | 'û' | 'ü' | 'ů' | 'ű' => "u",
        'ý' | 'ÿ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        // What a letter is combined with.
        '\u{300}'..='\u{36f}' => "",
        other => return word.push(other),
    };
    word.push_str(plain);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_names() {
        for (name, expected) in [
            ("marital-status", "marital status"),
            ("Date_of birth", "date of birth"),
            ("dateOfBirth", "date of birth"),
            ("PatientID", "patient id"),
            ("ICD10code", "icd 10 code"),
            ("DOBYear", "dob year"),
            ("Année_de_naissance", "annee de naissance"),
            ("PŁEĆ", "plec"),
            ("Straße", "strasse"),
            ("__", ""),
        ] {
            assert_eq!(words(name).join(" "), expected);
        }
    }

    #[test]
    fn the_table_of_words_is_whole() {
        let lines: Vec<&str> = include_str!("column_words.csv").lines().collect();
        let n_cells = lines[0].split(',').count();
        for line in &lines {
            assert_eq!(line.split(',').count(), n_cells, "{line}");
        }
        for word in WORDS.keys() {
            assert_eq!(plain(word), **word, "is looked up in lower case and without accents");
        }
    }

    #[test]
    fn names_say_whose_record_it_is() {
        for (name, expected) in [
            ("USUBJID", Some(0)),
            ("patient_no", Some(0)),
            ("PatientID", Some(0)),
            ("Patientennummer", Some(0)),
            ("paciente_id", Some(0)),
            ("id", Some(1)),
            ("mrn", Some(1)),
            ("token", None),
            ("patient_age", None),
            ("numero_de_paciente", Some(0)),
            ("months_as_customer", None),
            ("visits_per_patient", None),
            ("country_code", None),
            ("last_name", None),
            ("nameGiven", None),
            ("Surname", None),
        ] {
            assert_eq!(person_standing(name, false), expected, "{name}");
        }
        assert_eq!((person_standing("token", true), person_standing("country_code", true)), (Some(2), None));
    }

    #[test]
    fn names_say_roles() {
        for (name, expected) in [
            ("patient_id", Some((Role::Identifier, "id"))),
            ("Surname", Some((Role::Identifier, "surname"))),
            ("fake_last_name", Some((Role::Identifier, "lastname"))),
            ("nameLast", Some((Role::Identifier, "lastname"))),
            ("city_name", Some((Role::QuasiIdentifier, "city"))),
            ("email_address", Some((Role::Identifier, "address"))),
            ("date-of-birth", Some((Role::QuasiIdentifier, "birthdate"))),
            ("age at diagnosis", Some((Role::QuasiIdentifier, "age"))),
            ("admissionDiagnosis", Some((Role::Sensitive, "diagnosis"))),
            ("hours-per-week", Some((Role::Sensitive, "hours"))),
            ("total_charges", Some((Role::Sensitive, "charge"))),
            ("charge_degree", Some((Role::Sensitive, "charge"))),
            ("number_of_children", Some((Role::QuasiIdentifier, "children"))),
            ("sampling_weight", Some((Role::Other, "weight"))),
            ("wage", Some((Role::Sensitive, "wage"))),
            ("days_in_hospital", Some((Role::QuasiIdentifier, "hospital"))),
            ("smoking_years", None),
            ("manager", None),
            ("capital-gain", None),
            ("is it rude to bring a baby or small children on a plane", None),
        ] {
            assert_eq!(role_by_name(name).map(|named| (named.role, named.word)), expected, "{name}");
        }
    }

    #[test]
    fn names_say_roles_in_many_languages() {
        use Role::{Identifier, QuasiIdentifier, Sensitive};
        for (name, role, concept) in [
            ("Edad", QuasiIdentifier, "age"),
            ("SEXO", QuasiIdentifier, "sex"),
            ("fecha de nacimiento", QuasiIdentifier, "birth"),
            ("teléfono", Identifier, "phone"),
            ("Geschlecht", QuasiIdentifier, "sex"),
            ("Geburtsdatum", QuasiIdentifier, "birth"),
            ("Aufnahmedatum", QuasiIdentifier, "admission"),
            ("Entlassungsdatum", QuasiIdentifier, "date"),
            ("Hauptdiagnose", Sensitive, "diagnosis"),
            ("Vorname", Identifier, "firstname"),
            ("âge", QuasiIdentifier, "age"),
            ("Prénom", Identifier, "firstname"),
            ("année de naissance", QuasiIdentifier, "birth"),
            ("età", QuasiIdentifier, "age"),
            ("Codice fiscale", Identifier, "national number"),
            ("NU_IDADE_N", QuasiIdentifier, "age"),
            ("Województwo", QuasiIdentifier, "region"),
            ("Wykształcenie", QuasiIdentifier, "education"),
            ("leeftijd", QuasiIdentifier, "age"),
            ("vârstă", QuasiIdentifier, "age"),
            ("Возраст", QuasiIdentifier, "age"),
            ("дата рождения", QuasiIdentifier, "birth"),
            ("Прізвище", Identifier, "surname"),
            ("ålder", QuasiIdentifier, "age"),
            ("Cinsiyet", QuasiIdentifier, "sex"),
        ] {
            let named = role_by_name(name).map(|named| (named.role, named.concept));
            assert_eq!(named, Some((role, concept)), "{name}");
        }
    }
}
