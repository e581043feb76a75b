//! What can be wrong with what a user gave us: where it is, what it is, and what to do about it.

use std::fmt;
use std::sync::Arc;

/// The result of everything that depends on a user's input.
pub type Result<T> = std::result::Result<T, Error>;

/// What sort of thing is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The data could not be read or are malformed.
    Data,
    /// A hierarchy is incomplete, ambiguous or not a tree.
    Hierarchy,
    /// The project file is wrong.
    Project,
    /// A request asks for something that has no meaning on this table.
    Request,
    /// The work would not fit into the memory there is.
    TooLarge,
    /// The operating system refused.
    Io,
    /// Someone asked for the work to stop.
    Cancelled,
}

impl ErrorKind {
    /// The word that `--json` uses for this kind.
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Data => "data",
            ErrorKind::Hierarchy => "hierarchy",
            ErrorKind::Project => "project",
            ErrorKind::Request => "request",
            ErrorKind::TooLarge => "too-large",
            ErrorKind::Io => "io",
            ErrorKind::Cancelled => "cancelled",
        }
    }
}

/// What a user can do about an error.
///
/// Settings, files and commands have other names on a command line, in a program and over HTTP: a hint says what is
/// meant, and whoever shows it words it ([`Hint::worded`]). Printed as it is, it names settings by their plain names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint(Vec<Piece>);

/// A piece of a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Piece {
    /// Words that mean the same to everyone.
    Text(String),
    /// A setting, by its name: `k`, `max_suppressed`.
    Setting(&'static str),
    /// A setting with a value, as an example.
    Example(&'static str, &'static str),
    /// Something to do that has another name everywhere.
    Step(Step),
}

/// What can be done about an error, where that is called otherwise everywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Give one attribute the role of a sensitive one.
    NameSensitive,
    /// Say which table holds the population.
    NamePopulation,
    /// Say what means "no value".
    NameMissing,
    /// Let an attribute count for more.
    RaiseWeight,
    /// Set what is asked for once and for all; follows on what can be given each time.
    SetForAll,
    /// Look at the levels of an attribute.
    ShowLevels(String),
    /// Look at the values of an attribute that its hierarchy does not know.
    ShowAbsent(String),
    /// Annotate anew, over the file that is damaged.
    AnnotateAgain,
    /// Write intervals like these.
    Intervals,
    /// Write cut points like these.
    Cuts,
    /// Write a mask like this.
    Mask,
    /// Write units of the calendar like these.
    Dates,
}

impl Hint {
    /// A hint that begins with some words.
    pub fn text(words: impl Into<String>) -> Hint {
        Hint(vec![Piece::Text(words.into())])
    }

    /// The same with more words behind.
    pub fn and(mut self, words: impl Into<String>) -> Hint {
        self.0.push(Piece::Text(words.into()));
        self
    }

    /// The same with a setting behind.
    pub fn setting(mut self, name: &'static str) -> Hint {
        self.0.push(Piece::Setting(name));
        self
    }

    /// The same with a setting and a value for it behind.
    pub fn example(mut self, name: &'static str, value: &'static str) -> Hint {
        self.0.push(Piece::Example(name, value));
        self
    }

    /// The same with something to do behind.
    pub fn step(mut self, step: Step) -> Hint {
        self.0.push(Piece::Step(step));
        self
    }

    /// The same with one piece more.
    pub fn with(mut self, piece: Piece) -> Hint {
        self.0.push(piece);
        self
    }

    /// The pieces, in order.
    pub fn pieces(&self) -> &[Piece] {
        &self.0
    }

    /// The hint in the words of whoever shows it: `words` says all that is no plain text.
    pub fn worded(&self, words: impl Fn(&Piece) -> String) -> String {
        let word = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            piece => words(piece),
        };
        self.0.iter().map(word).collect()
    }
}

impl From<&str> for Hint {
    fn from(words: &str) -> Hint {
        Hint::text(words)
    }
}

impl From<String> for Hint {
    fn from(words: String) -> Hint {
        Hint::text(words)
    }
}

impl From<Step> for Hint {
    fn from(step: Step) -> Hint {
        Hint(vec![Piece::Step(step)])
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.worded(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Setting(name) => name.to_string(),
            Piece::Example(name, value) => format!("{name} = {value}"),
            Piece::Step(step) => step.to_string(),
        }))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::NameSensitive => f.write_str("give one attribute the role of a sensitive one"),
            Step::NamePopulation => f.write_str("name a table of the population"),
            Step::NameMissing => f.write_str("name what means \"no value\""),
            Step::RaiseWeight => f.write_str("raise a weight"),
            Step::SetForAll => Ok(()),
            Step::ShowLevels(name) => write!(f, "see the levels of '{name}'"),
            Step::ShowAbsent(name) => write!(f, "see the values of '{name}' that its hierarchy does not know"),
            Step::AnnotateAgain => f.write_str("annotate again"),
            Step::Intervals => f.write_str("5, 10, 20 from 0 on"),
            Step::Cuts => f.write_str("18, 30, 45, 65 and then 18, 65"),
            Step::Mask => f.write_str("5, or 1 and 3"),
            Step::Dates => f.write_str("month, quarter, year, decade"),
        }
    }
}

/// An error with a position and a hint.
///
/// # Guarantee
/// No message that this crate makes contains the value of a cell of the data:
/// errors travel into logs, and logs into the wrong hands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    position: Option<String>,
    message: String,
    hint: Option<Hint>,
    cause: Option<Cause>,
}

/// What another library said. It does not count when errors are compared: what was said to the user does.
#[derive(Clone, Debug)]
struct Cause(Arc<dyn std::error::Error + Send + Sync>);

impl PartialEq for Cause {
    fn eq(&self, _: &Cause) -> bool {
        true
    }
}

impl Eq for Cause {}

impl Error {
    /// An error of a kind, with a message in lower case and without a full stop.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, position: None, message: message.into(), hint: None, cause: None }
    }

    /// Adds where it happened: a file, a file and a line, a key of the project file.
    pub fn at(mut self, position: impl Into<String>) -> Error {
        self.position = Some(position.into());
        self
    }

    /// Adds where it happened unless a more precise position is already known.
    pub fn or_at(self, position: impl Into<String>) -> Error {
        match self.position {
            Some(_) => self,
            None => self.at(position),
        }
    }

    /// Adds what the user can do about it.
    pub fn hint(mut self, hint: impl Into<Hint>) -> Error {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the error that it comes from, as [`source`](std::error::Error::source) gives it.
    pub fn because(mut self, cause: impl std::error::Error + Send + Sync + 'static) -> Error {
        self.cause = Some(Cause(Arc::new(cause)));
        self
    }

    /// What sort of thing is wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Where it happened, if that is known.
    pub fn position(&self) -> Option<&str> {
        self.position.as_deref()
    }

    /// What is wrong, in lower case and without a full stop.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What the user can do about it, if anything is known to help.
    pub fn hint_given(&self) -> Option<&Hint> {
        self.hint.as_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(position) = &self.position {
            write!(f, "{position}: ")?;
        }
        f.write_str(&self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_ref().map(|Cause(cause)| &**cause as &(dyn std::error::Error + 'static))
    }
}

/// The name among `known` that is nearest to `name`, if one is near enough to be what was meant.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = name.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (strsim::levenshtein(&wanted, &candidate.to_lowercase()), candidate))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, candidate)| *distance <= candidate.chars().count().max(3) / 3)
        .map(|(_, candidate)| candidate)
}

/// "unknown attribute 'x'", with the nearest known name or the list of names as a hint.
pub fn unknown(kind: ErrorKind, what: &str, name: &str, known: &[&str]) -> Error {
    let error = Error::new(kind, format!("unknown {what} '{name}'"));
    match nearest(name, known.iter().copied()) {
        Some(near) => error.hint(format!("did you mean '{near}'?")),
        None => error.hint(format!("there are: {}", known.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_finds_a_slip_of_the_finger_and_nothing_else() {
        let known = ["age", "marital-status", "occupation"];
        assert_eq!(nearest("martial-status", known), Some("marital-status"));
        assert_eq!(nearest("Age", known), Some("age"));
        assert_eq!(nearest("postcode", known), None);
    }

    #[test]
    fn an_error_knows_what_it_comes_from() {
        let cause = "x".parse::<u8>().expect_err("no number");
        let error = Error::new(ErrorKind::Data, "has no number").because(cause.clone());
        let source = std::error::Error::source(&error).expect("a cause");
        assert_eq!(source.to_string(), cause.to_string());
        assert_eq!(error, Error::new(ErrorKind::Data, "has no number").because(std::fmt::Error));
        assert!(std::error::Error::source(&Error::new(ErrorKind::Data, "alone")).is_none());
    }

    #[test]
    fn an_error_reads_position_message_hint() {
        let error = Error::new(ErrorKind::Data, "has no header").at("a.csv:1").hint("add one");
        assert_eq!(error.to_string(), "a.csv:1: has no header\nhint: add one");
    }
}
