//! What the name of a column says about its role.

use incrowd::Role;

/// Words that name a person.
const IDENTIFIERS: &str = "
    surname lastname firstname fullname forename username ssn email mail phone telephone mobile fax address
    mrn passport iban account uuid guid licence license ip";

/// Words that name a person unless something better known stands beside them: `city name`, `region id`.
pub(crate) const WEAK_IDENTIFIERS: &str = "name id identifier";

const QUASI_IDENTIFIERS: &str = "
    age sex gender zip zipcode postcode postal postalcode birth birthdate birthday dob yob date year
    admission admitted discharge race ethnicity ethnic marital relationship education degree occupation
    profession job workclass employer country nationality citizenship city town municipality village district
    region county state province religion language children";

/// The most telling first: of several matches, that one is suggested.
pub(crate) const SENSITIVE: &str = "
    disease diagnosis diagnoses icd condition medication drug treatment salary income wage result score grade
    charge cost hours";

/// Words for whom a record is about.
const PEOPLE: &str = "
    person patient subject subjid usubjid pid participant respondent proband pupil student employee customer client
    member resident citizen";

/// Words that say how somebody is called, and nothing else.
const NUMBERS: &str = "id identifier uid no nr num number code key pseudonym";

/// Words for what several people have in common.
const SHARED: &str = "surname lastname firstname forename address ip fax";

/// Words before "name" for a part of it, which several people have in common.
const PARTS_OF_NAMES: &str = "first last middle given family";

/// Words after which a name only says more about what came before.
const PREPOSITIONS: &str = "of per at in by on for from";

/// Words that mean a postcode, whose places are its digits from left to right.
pub(crate) const POSTCODES: &str = "zip zipcode postcode postal postalcode";

pub(crate) const DATES: &str = "date birth birthdate birthday dob";

/// What a column's name says about its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub role: Role,
    pub word: &'static str,
    /// Whether one of the weak identifiers stands in the name as well.
    pub has_weak_identifier: bool,
}

/// The name of a thing stands last in English, or before the first preposition: `admission diagnosis`, `date of birth`.
pub(crate) fn role_by_name(name: &str) -> Option<Named> {
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

/// How well people can be counted by a column, as its name says, the best first; not at all where others have the same.
///
/// `is_identifier` where somebody has said so.
pub(crate) fn person_standing(name: &str, is_identifier: bool) -> Option<u8> {
    let words = words(name);
    let n_numbers = words.iter().rev().take_while(|word| known_word(word, NUMBERS).is_some()).count();
    let head = words[..words.len() - n_numbers].last();
    if head.is_some_and(|word| known_word(word, PEOPLE).is_some()) {
        return Some(0);
    }
    let is_part = |pair: &[String]| pair[1] == "name" && known_word(&pair[0], PARTS_OF_NAMES).is_some();
    let is_shared = words.iter().any(|word| known_word(word, SHARED).is_some()) || words.windows(2).any(is_part);
    match role_by_name(name).map(|named| named.role) {
        _ if is_shared => None,
        Some(Role::Identifier) => Some(1),
        Some(_) => None,
        None => is_identifier.then_some(2),
    }
}

/// The word of a list that a word is, in the singular or the plural.
pub(crate) fn known_word(word: &str, list: &'static str) -> Option<&'static str> {
    list.split_whitespace().find(|known| word == *known || word.strip_suffix('s') == Some(known))
}

pub(crate) fn has_word(name: &str, list: &'static str) -> bool {
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
            ("__", ""),
        ] {
            assert_eq!(words(name).join(" "), expected);
        }
    }

    #[test]
    fn names_say_whose_record_it_is() {
        for (name, expected) in [
            ("USUBJID", Some(0)),
            ("patient_no", Some(0)),
            ("PatientID", Some(0)),
            ("id", Some(1)),
            ("mrn", Some(1)),
            ("token", None),
            ("patient_age", None),
            ("country_code", None),
            ("last_name", None),
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
}
