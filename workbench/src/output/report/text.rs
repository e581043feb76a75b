//! Words and numbers as the report prints them, safe in HTML.

use crate::output::page::escape;
use crate::sentences::grouped;

pub(super) fn name(attribute: impl AsRef<str>) -> String {
    format!("<em>{}</em>", escape(attribute.as_ref()))
}

pub(super) fn names(attributes: &[String]) -> String {
    attributes.iter().map(name).collect::<Vec<_>>().join(", ")
}

pub(super) fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(n), if n == 1 { one } else { many })
}

/// A file's name as one word of a command line.
pub(super) fn shell_word(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "._-/".contains(c);
    match !name.is_empty() && name.chars().all(is_plain) {
        true => name.to_string(),
        false => format!("'{}'", name.replace('\'', r"'\''")),
    }
}

/// A loss as a percentage; never rounds something to nothing.
pub(super) fn share(loss: f64) -> String {
    match loss * 100.0 {
        percent if percent > 0.0 && percent < 0.1 => "under 0.1 %".to_string(),
        percent => format!("{percent:.1} %"),
    }
}

pub(super) fn mean(n: f64) -> String {
    format!("{}.{}", grouped((n * 10.0).round() as u64 / 10), (n * 10.0).round() as u64 % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_and_means_are_rounded_but_never_to_nothing() {
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
