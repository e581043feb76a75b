//! Countries and the continents that they are in, by name in several languages and by code.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::input::names::plain;

type Continents = HashMap<&'static str, &'static str>;

/// Continents by name and by code; the table has a line per country: continent, codes of two and three letters, names.
static COUNTRIES: LazyLock<(Continents, Continents)> = LazyLock::new(|| {
    let (mut by_name, mut by_code) = (HashMap::new(), HashMap::new());
    for line in include_str!("countries.csv").lines() {
        let cells: Vec<&str> = line.split(';').collect();
        let [continent, two, three, names] = cells[..] else { continue };
        by_code.extend([(two, continent), (three, continent)]);
        by_name.extend(names.split('/').map(|name| (name, continent)));
    }
    (by_name, by_code)
});

/// The continent of a country by its name: `United-States`, `España`.
pub(super) fn continent_of_name(text: &str) -> Option<&'static str> {
    let plain = plain(text);
    let words: Vec<&str> = plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    COUNTRIES.0.get(words.join(" ").as_str()).copied()
}

/// The continent of a country by its code of two or three capital letters.
pub(super) fn continent_of_code(text: &str) -> Option<&'static str> {
    COUNTRIES.1.get(text).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn countries_are_known_by_name_and_code() {
        for (text, expected) in [
            ("Germany", Some("Europe")),
            ("United-States", Some("North America")),
            ("Trinadad&Tobago", Some("North America")),
            ("ESPAÑA", Some("Europe")),
            ("D.R.", Some("North America")),
            ("Atlantis", None),
        ] {
            assert_eq!(continent_of_name(text), expected, "{text}");
        }
        assert_eq!(
            (continent_of_code("DE"), continent_of_code("DEU"), continent_of_code("de")),
            (Some("Europe"), Some("Europe"), None)
        );
    }

    #[test]
    fn the_table_of_countries_is_whole() {
        for line in include_str!("countries.csv").lines() {
            let cells: Vec<&str> = line.split(';').collect();
            assert_eq!((cells.len(), cells[1].len(), cells[2].len()), (4, 2, 3), "{line}");
            assert_eq!(plain(cells[3]), cells[3], "names are looked up in lower case and without accents");
        }
    }
}
