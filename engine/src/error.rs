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

/// What an error says: where, what, and what can be done about it.
///
/// Settings, files and commands have other names on a command line, in a program and over HTTP: a wording says what is
/// meant, and whoever shows it words it ([`Wording::worded`]). Printed as it is, it names settings by their plain names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wording(Vec<Piece>);

/// A piece of a wording.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Piece {
    /// Words that mean the same to everyone.
    Text(String),
    /// A setting, by its name: `k`, `max_suppressed`.
    Setting(&'static str),
    /// A setting with a value, as an example.
    Example(&'static str, String),
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
    /// Name a table of the population beside the data.
    AddPopulation,
    /// Ask for a criterion of one of several sensitive attributes, like this.
    AskAbout {
        /// Its name: `l`, `t`.
        criterion: &'static str,
        /// The first of the sensitive attributes.
        attribute: String,
        /// What was asked for.
        value: String,
    },
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
    /// Annotate, and keep the lattice in a file: another one, or over one that is damaged or out of date.
    Annotate {
        /// Whether a file is replaced.
        over: bool,
    },
    /// Append records to a lattice that was kept.
    Append,
    /// Let a project be suggested for a table.
    MakeProject,
    /// Give at least one attribute the role of a quasi-identifier.
    NameQuasiIdentifier,
    /// Give the attribute that was named another role.
    ChangeRole,
    /// Say of the attribute that was named that its values are published though few have them in common.
    PublishUnique,
    /// Say that a column is published though it tells what another one hides.
    PublishTelling,
    /// Leave the column that was named out of what is published.
    DropColumn,
    /// Say it by one entry: this key, with this value.
    Entry {
        /// What it is called.
        key: &'static str,
        /// A number, or a text.
        value: &'static str,
    },
    /// Write intervals like these.
    Intervals,
    /// Write cut points like these.
    Cuts,
    /// Write a mask like this.
    Mask,
    /// Write units of the calendar like these.
    Dates,
}

impl Wording {
    /// A wording that begins with some words.
    pub fn text(words: impl Into<String>) -> Wording {
        Wording(vec![Piece::Text(words.into())])
    }

    /// The same with more behind.
    pub fn and(mut self, more: impl Into<Wording>) -> Wording {
        self.0.extend(more.into().0);
        self
    }

    /// The same with a setting behind.
    pub fn setting(self, name: &'static str) -> Wording {
        self.with(Piece::Setting(name))
    }

    /// The same with a setting and a value for it behind.
    pub fn example(self, name: &'static str, value: impl Into<String>) -> Wording {
        self.with(Piece::Example(name, value.into()))
    }

    /// The same with something to do behind.
    pub fn step(self, step: Step) -> Wording {
        self.with(Piece::Step(step))
    }

    /// The same with one piece more.
    pub fn with(mut self, piece: Piece) -> Wording {
        self.0.push(piece);
        self
    }

    /// The pieces, in order.
    pub fn pieces(&self) -> &[Piece] {
        &self.0
    }

    /// All of it in the words of whoever shows it: `words` says all that is no plain text.
    pub fn worded(&self, words: impl Fn(&Piece) -> String) -> String {
        let word = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            piece => words(piece),
        };
        self.0.iter().map(word).collect()
    }
}

impl PartialEq<str> for Wording {
    /// Whether it reads so as it is printed.
    fn eq(&self, text: &str) -> bool {
        format!("{self}") == text
    }
}

impl From<&str> for Wording {
    fn from(words: &str) -> Wording {
        Wording::text(words)
    }
}

impl From<String> for Wording {
    fn from(words: String) -> Wording {
        Wording::text(words)
    }
}

impl From<Step> for Wording {
    fn from(step: Step) -> Wording {
        Wording(vec![Piece::Step(step)])
    }
}

impl fmt::Display for Wording {
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
            Step::AddPopulation => f.write_str("name a table of the population beside the data"),
            Step::AskAbout { criterion, attribute, value } => write!(f, "{criterion} = {value} of '{attribute}'"),
            Step::NameMissing => f.write_str("name what means \"no value\""),
            Step::RaiseWeight => f.write_str("raise a weight"),
            Step::SetForAll => Ok(()),
            Step::ShowLevels(name) => write!(f, "see the levels of '{name}'"),
            Step::ShowAbsent(name) => write!(f, "see the values of '{name}' that its hierarchy does not know"),
            Step::Annotate { .. } => f.write_str("annotate, and keep the lattice"),
            Step::Append => f.write_str("append to a lattice that was kept"),
            Step::MakeProject => f.write_str("let a project be suggested"),
            Step::NameQuasiIdentifier => f.write_str("give at least one attribute the role of a quasi-identifier"),
            Step::ChangeRole => f.write_str("change its role"),
            Step::PublishUnique => f.write_str("say that its values are published though few records share them"),
            Step::PublishTelling => f.write_str("say that it is published though it tells what another one hides"),
            Step::DropColumn => f.write_str("drop the column"),
            Step::Entry { key, value } => write!(f, "{key} = {value}"),
            Step::Intervals => f.write_str("5, 10, 20 from 0 on"),
            Step::Cuts => f.write_str("18, 30, 45, 65 and then 18, 65"),
            Step::Mask => f.write_str("5, or 1 and 3"),
            Step::Dates => f.write_str("month, quarter, year, decade"),
        }
    }
}

/// An error with a position and a hint, each worded by whoever shows it.
///
/// # Guarantee
/// No message that this crate makes contains the value of a cell of the data:
/// errors travel into logs, and logs into the wrong hands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    position: Option<Wording>,
    message: Wording,
    hint: Option<Wording>,
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
    pub fn new(kind: ErrorKind, message: impl Into<Wording>) -> Error {
        Error { kind, position: None, message: message.into(), hint: None, cause: None }
    }

    /// Adds where it happened: a file, a file and a line, a key of the project file.
    pub fn at(mut self, position: impl Into<Wording>) -> Error {
        self.position = Some(position.into());
        self
    }

    /// Adds where it happened unless a more precise position is already known.
    pub fn or_at(self, position: impl Into<Wording>) -> Error {
        match self.position {
            Some(_) => self,
            None => self.at(position),
        }
    }

    /// Adds what the user can do about it.
    pub fn hint(mut self, hint: impl Into<Wording>) -> Error {
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
    pub fn position(&self) -> Option<&Wording> {
        self.position.as_ref()
    }

    /// What is wrong, in lower case and without a full stop.
    pub fn message(&self) -> &Wording {
        &self.message
    }

    /// What the user can do about it, if anything is known to help.
    pub fn hint_given(&self) -> Option<&Wording> {
        self.hint.as_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(position) = &self.position {
            write!(f, "{position}: ")?;
        }
        write!(f, "{}", self.message)?;
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
