//! How a published cell names several values: `{a,b}`, so that it can be told which they are whatever they look like.

/// What a backslash stands before where it is meant as it is.
const SPECIAL: [char; 4] = [',', '{', '}', '\\'];

/// Values as one text: `{a,b}`. Within a value, a backslash stands before a comma, a brace and a backslash, and before a
/// blank that it begins with; so a comma with a blank behind it, as others like to write lists, never comes out of here.
///
/// # Guarantee
/// [`read`] gives back these values and no others.
pub fn write<'a>(values: impl IntoIterator<Item = &'a str>) -> String {
    let mut text = String::from("{");
    for (i, value) in values.into_iter().enumerate() {
        if i > 0 {
            text.push(',');
        }
        if value.starts_with(' ') {
            text.push('\\');
        }
        for c in value.chars() {
            if SPECIAL.contains(&c) {
                text.push('\\');
            }
            text.push(c);
        }
    }
    text.push('}');
    text
}

/// The values that a text names; none where it is no such list.
pub fn read(text: &str) -> Option<Vec<String>> {
    let mut chars = text.strip_prefix('{')?.chars();
    let mut values = vec![String::new()];
    loop {
        let value = values.last_mut().expect("there is always one");
        match chars.next()? {
            '\\' => value.push(chars.next()?),
            ',' => values.push(String::new()),
            '{' => return None,
            // What ends the list ends the text.
            '}' => return chars.next().is_none().then_some(values),
            c => value.push(c),
        }
    }
}

/// A value that is published alone beside lists: as it is, or as a list of one where it would be taken for a list.
pub fn write_one(value: &str) -> String {
    match read(value) {
        Some(_) => write([value]),
        None => value.to_string(),
    }
}

/// Whether a text is written as [`write()`] does it, so that there is one way to read it.
pub fn is_ours(text: &str) -> bool {
    read(text).is_some_and(|values| write(values.iter().map(String::as_str)) == text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[test]
    fn lists_by_hand() {
        for (values, text) in [
            (&["a", "b"][..], "{a,b}"),
            (&["Private", "Self-emp, inc", "?"], r"{Private,Self-emp\, inc,?}"),
            (&["a,b"], r"{a\,b}"),
            (&["", "a"], "{,a}"),
            (&[""], "{}"),
            (&["{", "}", "\\", "\"", "é\n"], "{\\{,\\},\\\\,\",é\n}"),
            (&[" a ", "b"], r"{\ a ,b}"),
        ] {
            assert_eq!(write(values.iter().copied()), text);
            assert_eq!(read(text).as_deref(), Some(&values.iter().map(|v| v.to_string()).collect::<Vec<_>>()[..]));
            assert!(is_ours(text));
        }
        for text in ["", "a", "{", "}", "{a", "a}", r"{a\}", "{a{b}", "{a}b}", "{a}{b}", r"{\"] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read("{a, b}"), Some(vec!["a".to_string(), " b".to_string()]));
        assert!(!is_ours("{a, b}") && !is_ours(r"{\a}"));
        assert_eq!((write_one("a,b"), write_one("{a,b}")), ("a,b".to_string(), r"{\{a\,b\}}".to_string()));
    }

    /// Texts in which everything that has a meaning is frequent.
    fn awkward() -> impl Strategy<Value = String> {
        vec(prop::sample::select(vec!['{', '}', ',', '\\', '"', ' ', 'a', 'é', '\n']), 0..6)
            .prop_map(|chars| chars.into_iter().collect())
    }

    proptest! {
        #[test]
        fn what_was_written_is_read_back(values in vec(awkward(), 1..5)) {
            let text = write(values.iter().map(String::as_str));
            prop_assert_eq!(read(&text), Some(values));
            prop_assert!(is_ours(&text) && !text.replace("\\\\", "x").replace("\\,", "x").contains(", "));
        }

        /// One value and a list never look alike, and nothing that is read is lost.
        #[test]
        fn one_value_is_never_taken_for_several(value in awkward(), others in vec(awkward(), 2..4)) {
            let text = write_one(&value);
            prop_assert_ne!(&text, &write(others.iter().map(String::as_str)));
            prop_assert!(text == value || read(&text) == Some(vec![value.clone()]));
            prop_assert!(read(&value).is_none() || text != value);
        }
    }
}
