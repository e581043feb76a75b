//! Which role and hierarchy each column suggests, and why.

use incrowd::table::Kind;
use incrowd::{Result, Role, Rule};

use super::alone::tally_sets;
use super::look::{Survey, SurveyedColumn};
use super::roles::{best_sensitive, is_date, names_nobody, suggest_role};
use super::rules::{N_FEW, suggest_rule};
use crate::input::names::person_standing;
use crate::input::repeats::Repeating;
use crate::input::source::Source;
use crate::input::tally::{Amount, DistinctCounter};
use crate::work::Work;

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

/// Suggests a role and a hierarchy for every column, in their order: names speak first, then the values.
pub fn suggest(survey: &Survey) -> Vec<Suggestion> {
    let best = best_sensitive(survey);
    let suggestion = |(i, column): (usize, &SurveyedColumn)| {
        let (role, why) =
            suggest_role(survey, column, best.filter(|best| *best != i).map(|best| &survey.columns[best]));
        let (rule, why_rule) = suggest_rule(column);
        Suggestion { role, why, rule, why_rule }
    };
    let mut suggestions: Vec<Suggestion> = survey.columns.iter().enumerate().map(suggestion).collect();
    leave_out_what_is_said_twice(survey, &mut suggestions);
    let roles: Vec<Option<Role>> = suggestions.iter().map(|suggestion| Some(suggestion.role)).collect();
    if let Some(repeating) = repeating(survey, &roles) {
        let place = survey.columns.iter().position(|column| column.name == repeating.column);
        let person = &mut suggestions[place.expect("it is one of the columns")];
        person.role = Role::Person;
        person.why = format!("{repeating}: people are counted by it");
    }
    suggestions
}

/// The column by which people should be counted, where nobody says so: an identifier that repeats, or else one without a
/// role that looks like it. Roles are by column, none where it is not named.
pub fn repeating(survey: &Survey, roles: &[Option<Role>]) -> Option<Repeating> {
    let candidate = |(column, role): (&SurveyedColumn, &Option<Role>)| {
        let is_few = column.n_distinct.n <= N_FEW && survey.n_records >= 10 * column.n_distinct.n;
        let standing = match role {
            // Nobody is called by a date or a measurement.
            _ if !matches!(column.kind, Kind::Text | Kind::Integer) => None,
            Some(Role::Identifier) => person_standing(&column.name, true),
            Some(Role::Other) | None => match person_standing(&column.name, false) {
                None if column.named().is_none() && column.is_label() => Some(3),
                // A few numbers with many records each are those of wards and doctors.
                Some(1..) if is_few || names_nobody(survey, column) => None,
                standing => standing,
            },
            _ => None,
        };
        let (name, n_records) = (column.name.clone(), survey.n_records - column.n_missing);
        let n_several = column.n_distinct.n.saturating_sub(column.n_unique.n);
        Some((standing?, Repeating { column: name, n_records, n_different: column.n_distinct, n_several }))
    };
    match roles.contains(&Some(Role::Person)) {
        true => None,
        false => Repeating::best(survey.columns.iter().zip(roles).filter_map(candidate).collect()),
    }
}

/// Things of which one column is enough: another one tells the same in other words.
const SAID_ONCE: [&str; 6] = ["sex", "age", "race", "ethnicity", "marital status", "nationality"];

/// Of these, words are kept rather than codes, which few can read.
const BETTER_IN_WORDS: [&str; 5] = ["sex", "race", "ethnicity", "marital status", "nationality"];

/// Dates beside those of birth, and places, that can be generalized together without hiding everything.
const N_DATES_MAX: usize = 1;
const N_PLACES_MAX: usize = 3;

/// With more quasi-identifiers hardly anything would be left of each.
const N_QUASI_IDENTIFIERS_MAX: usize = 12;

/// Leaves quasi-identifiers out that say again what an earlier one says, and those that are too many.
fn leave_out_what_is_said_twice(survey: &Survey, suggestions: &mut [Suggestion]) {
    let concept = |column: &SurveyedColumn| match column.named() {
        Some(named) if named.concept == "birth" => "birth",
        _ if is_date(column) => "date",
        Some(named) => match named.concept {
            "admission" | "time" => "date",
            "region" | "city" | "country" => "place",
            concept => concept,
        },
        None => "",
    };
    let concepts: Vec<&str> = survey.columns.iter().map(concept).collect();
    let is_suggested = |suggestions: &[Suggestion], i: usize| suggestions[i].role == Role::QuasiIdentifier;
    let n_distinct = |i: usize| survey.columns[i].n_distinct.n;
    let n_births = (0..concepts.len()).filter(|i| concepts[*i] == "birth").map(n_distinct).max().unwrap_or(0);
    for i in 0..suggestions.len() {
        if !is_suggested(suggestions, i) {
            continue;
        }
        let before: Vec<usize> = (0..i).filter(|b| is_suggested(suggestions, *b)).collect();
        let same: Vec<usize> = before.iter().copied().filter(|b| concepts[*b] == concepts[i]).collect();
        // Codes give way to words of the same, wherever those stand.
        let is_in_words = |a: &usize| survey.columns[*a].kind == Kind::Text;
        let in_words =
            (i + 1..suggestions.len()).filter(|_| BETTER_IN_WORDS.contains(&concepts[i]) && !is_in_words(&i));
        let in_words =
            in_words.filter(|a| concepts[*a] == concepts[i] && is_suggested(suggestions, *a)).find(is_in_words);
        let age = (0..suggestions.len()).find(|a| concepts[*a] == "age" && is_suggested(suggestions, *a));
        let why = match (concepts[i], same.first()) {
            (concept, Some(first)) if SAID_ONCE.contains(&concept) => {
                Some(format!("{} says it already", survey.columns[*first].name))
            }
            _ if in_words.is_some() => in_words.map(|a| format!("{} says it in words", survey.columns[a].name)),
            ("birth", _) if age.is_some() => {
                age.map(|age| format!("{} says it already, in less detail", survey.columns[age].name))
            }
            ("birth", _) if n_distinct(i) <= 31 && n_births > 31 => Some("another column has the date of birth".into()),
            ("date", _) if same.len() >= N_DATES_MAX => Some("there is a date already".to_string()),
            // Labels such as "Language of interview" are had by many columns of a survey.
            (concept, Some(first))
                if survey.columns[i].named().is_some_and(|named| named.is_of_label && named.concept == concept) =>
            {
                Some(format!("{} is about {concept} too", survey.columns[*first].name))
            }
            ("place", _) if same.len() >= N_PLACES_MAX => Some(format!("a place beside {} others", same.len())),
            _ if before.len() >= N_QUASI_IDENTIFIERS_MAX => {
                Some(format!("{} quasi-identifiers already: more would leave little of each", before.len()))
            }
            _ => None,
        };
        if let Some(why) = why {
            suggestions[i].role = Role::Other;
            suggestions[i].why = format!("{}, but {why}", suggestions[i].why);
        }
    }
}

/// Takes back quasi-identifiers that go one to one with an earlier one, because they say the same thing twice, and makes
/// identifiers of columns that go one to one with an identifier.
///
/// Reads the records again only where two such columns have the same number of values.
pub fn take_back_twins(source: &Source, survey: &Survey, suggestions: &mut [Suggestion], work: &Work) -> Result<()> {
    let pairs = possible_twins(survey, suggestions);
    if pairs.is_empty() {
        return Ok(());
    }
    let mut columns: Vec<usize> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
    columns.sort_unstable();
    columns.dedup();
    let place = |column: usize| columns.binary_search(&column).expect("it is one of the columns of the pairs");
    let names: Vec<&str> = columns.iter().map(|&a| survey.columns[a].name.as_str()).collect();
    let of_pair = |&(a, b): &(usize, usize)| [vec![place(a)], vec![place(b)], vec![place(a), place(b)]];
    let sets: Vec<Vec<usize>> = pairs.iter().flat_map(of_pair).collect();
    let (_, tallies) = tally_sets(source, &survey.missing, &names, &sets, work)?;
    for (&(a, b), tallies) in pairs.iter().zip(tallies.chunks(3)) {
        let n_distinct: Vec<Amount> = tallies.iter().map(DistinctCounter::n_distinct).collect();
        if n_distinct[0] == n_distinct[2] && n_distinct[1] == n_distinct[2] {
            let first = suggestions[a].role;
            let twin = &mut suggestions[b];
            twin.role = match first {
                Role::QuasiIdentifier => Role::Other,
                Role::Identifier | Role::Person => Role::Identifier,
                // The first was taken back itself.
                _ => continue,
            };
            twin.why = format!("goes one to one with {}", survey.columns[a].name);
        }
    }
    Ok(())
}

/// Pairs of columns that have the same number of values: of quasi-identifiers, and of what names people and anything else.
fn possible_twins(survey: &Survey, suggestions: &[Suggestion]) -> Vec<(usize, usize)> {
    let n_distinct = |a: usize| survey.columns[a].n_distinct;
    // With few records per value, values go one to one by accident.
    let repeats = |a: usize, n: u64| survey.n_records >= n * n_distinct(a).n;
    let role = |a: usize| suggestions[a].role;
    let is_twin = |&(a, b): &(usize, usize)| match (role(a), role(b)) {
        _ if n_distinct(a) != n_distinct(b) || n_distinct(a).n <= 2 => false,
        (Role::QuasiIdentifier, Role::QuasiIdentifier) => a < b && repeats(a, 10),
        (Role::Identifier | Role::Person, Role::Identifier | Role::Person) => false,
        (Role::Identifier | Role::Person, _) => n_distinct(a).n > N_FEW && repeats(a, 2),
        _ => false,
    };
    let all = 0..suggestions.len();
    all.clone().flat_map(|b| all.clone().map(move |a| (a, b))).filter(is_twin).collect()
}

/// How many schemes the suggested hierarchies span, as far as numbers go.
pub fn n_schemes(suggestions: &[Suggestion]) -> u64 {
    let n_levels = |rule: &Rule| match rule {
        Rule::Intervals { widths, .. } => widths.len() + 2,
        Rule::Mask { hidden, .. } => hidden.len() + 2,
        Rule::Dates { units } => units.len() + 2,
        Rule::Cuts { levels } => levels.len() + 2,
        Rule::Table(table) => table.rows().next().map_or(1, <[String]>::len) + 1,
        _ => 2,
    };
    let quasi_identifiers = suggestions.iter().filter(|suggestion| suggestion.role == Role::QuasiIdentifier);
    quasi_identifiers.fold(1, |n: u64, suggestion| n.saturating_mul(n_levels(&suggestion.rule) as u64))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::input::source::ReadOptions;
    use crate::input::survey::alone::uniqueness;
    use crate::input::survey::look::survey;
    use crate::input::survey::sample::*;

    /// The roles that a table suggests, by column.
    fn roles(text: &str) -> Vec<(String, &'static str, String)> {
        let survey = look(text, None);
        let suggestions = suggest(&survey);
        let names = survey.columns.into_iter().map(|column| column.name);
        names.zip(suggestions).map(|(name, suggestion)| (name, suggestion.role.name(), suggestion.why)).collect()
    }

    #[test]
    fn an_identifier_that_repeats_says_whose_record_it_is() {
        let mut text = String::from("USUBJID,site_id,surname,term,dose,age\n");
        for i in 0..600 {
            let (subject, site) = (i / 4, i / 4 % 30);
            let (surname, term) = (subject % 100, i % 211);
            text.push_str(&format!("01-{}-{subject:04},s{site},n{surname},pain {term},{},40\n", 701 + site, i % 120));
        }
        let found = roles(&text);
        let of = |name: &str| found.iter().find(|(column, ..)| column == name).expect("a column of that name").clone();
        let why = "600 records of 150 different USUBJID: people are counted by it";
        assert_eq!(of("USUBJID"), ("USUBJID".into(), "person", why.into()));
        assert_eq!((of("site_id").1, of("surname").1, of("term").1), ("quasi-identifier", "identifier", "other"));
        // Values speak where names say nothing, and numbers that may be measured do not.
        let found = roles(&text.replace("USUBJID", "tag").replace("dose", "tally"));
        assert_eq!(found.iter().filter(|(.., role, _)| *role == "person").count(), 1);
        assert_eq!((found[0].1, found[0].0.as_str()), ("person", "tag"));
        let once: String =
            text.lines().take(1).chain(text.lines().skip(1).step_by(4)).map(|l| format!("{l}\n")).collect();
        assert!(roles(&once).iter().all(|(_, role, _)| *role != "person"), "nobody has two records");
    }

    #[test]
    fn labels_speak_where_names_say_nothing() {
        let mut text = String::from("RIAGENDR,RIDRETH1,SIALANG,FIALANG,LBXTC,V1,age\n");
        for i in 0..300 {
            text.push_str(&format!("{},{},{},{},{},{},{}\n", i % 2, i % 5, i % 3, i % 7, i % 11, i % 13, 20 + i % 50));
        }
        let mut survey = look(&text, None);
        let without: Vec<Role> = suggest(&survey).iter().map(|suggestion| suggestion.role).collect();
        assert_eq!(without[..6], [Role::Other; 6]);
        let labels =
            ["Gender", "Race/Hispanic origin", "Language of interview", "Language of family", "", "Bread", "Sex"];
        survey.columns.iter_mut().zip(labels).for_each(|(column, label)| column.label = label.into());
        let of = |i: usize| {
            let suggestion = suggest(&survey).swap_remove(i);
            (suggestion.role.name(), suggestion.why)
        };
        assert_eq!(of(0), ("quasi-identifier", "label says gender".into()));
        assert_eq!(of(1), ("quasi-identifier", "label says race".into()));
        assert_eq!(of(2), ("quasi-identifier", "label says language".into()));
        assert_eq!(of(3), ("other", "label says language, but SIALANG is about language too".into()));
        assert_eq!(of(4), ("other", "name says nothing; 11 distinct values".into()));
        assert_eq!(of(5), ("other", "name and label say nothing; 13 distinct values".into()));
        assert_eq!(of(6), ("quasi-identifier", "name says age".into()), "a name that says something is heard first");
    }

    #[test]
    fn measurements_with_many_digits_are_nobody_s_number() {
        let mut text = String::from("adr,sex\n");
        for i in 0..600 {
            text.push_str(&format!("{}.69492332630374{},{}\n", 40 + i % 100, i % 100 + 10, ["f", "m"][i % 2]));
        }
        let found = roles(&text);
        assert_eq!((found[0].1, found[1].1), ("other", "quasi-identifier"), "{found:?}");
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
        assert_eq!(of("plz"), ("quasi-identifier", "name says plz, which is postcode"));
        assert_eq!(of("ward_id"), ("other", "name says ward, but 4 distinct values do not look like it"));
        assert_eq!(of("disease"), ("sensitive", "name says disease"));
        assert_eq!(of("salary").0, "other", "one sensitive attribute at most");
        assert_eq!(of("kind").0, "other");
        assert_eq!(of("country").0, "other", "a single value");
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
        let source = Source::open(&path, &ReadOptions::default()).expect("Adult is readable");
        let survey = survey(&source, None, &Work::default()).expect("Adult can be surveyed");
        let mut suggestions = suggest(&survey);
        take_back_twins(&source, &survey, &mut suggestions, &Work::default()).expect("Adult is readable");
        assert_eq!((survey.n_records, survey.n_records - survey.n_incomplete), (32_561, 30_162));
        assert_eq!(survey.missing, tokens(&["?"], false));
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
            uniqueness(&source, &survey.missing, &quasi_identifiers, &[], &Work::default()).expect("Adult is readable");
        assert_eq!(found.n_records, 32_561);
        assert!(found.n_unique_without.iter().all(|without| without.n <= found.n_unique.n));
    }
}
