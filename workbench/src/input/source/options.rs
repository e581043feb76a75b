//! How files are read where they do not say it themselves.

/// How to read a file: what somebody said about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// What separates fields of CSV; found out from the header where it is not given.
    pub delimiter: Option<u8>,
    /// How the characters of a text file are written; found out from its bytes where it is not given.
    pub encoding: Option<Encoding>,
    /// How numbers in texts are written; as `1234.5` where nothing is said.
    pub notation: Notation,
    /// The sheet of a workbook; the first one that is not empty where none is named.
    pub sheet: Option<String>,
    /// Whether codes with labels are read as their labels or as they are.
    pub labels: Labels,
}

impl ReadOptions {
    /// How a release is read that somebody wrote with this program: nothing is found out that could be found out wrong.
    pub fn of_release(delimiter: Option<u8>) -> ReadOptions {
        ReadOptions { delimiter, encoding: Some(Encoding::Utf8), ..ReadOptions::default() }
    }

    /// The same with what separates fields.
    pub fn of_delimiter(delimiter: Option<u8>) -> ReadOptions {
        ReadOptions { delimiter, ..ReadOptions::default() }
    }
}

/// What a labelled code is read as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Labels {
    /// `female`; a code without a label stays as it is.
    #[default]
    Labels,
    /// `2`.
    Codes,
}

/// How the characters of a text are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
    /// The one of Western Europe; Latin-1 is a part of it.
    Windows1252,
    /// Any other that browsers know, by its name there.
    Other(&'static encoding_rs::Encoding),
}

impl Encoding {
    /// The encoding of a name, in the words of the web.
    pub fn parse(name: &str) -> Option<Encoding> {
        let known = encoding_rs::Encoding::for_label(name.trim().as_bytes())?;
        Some(match known {
            known if known == encoding_rs::UTF_8 => Encoding::Utf8,
            known if known == encoding_rs::UTF_16LE => Encoding::Utf16Le,
            known if known == encoding_rs::UTF_16BE => Encoding::Utf16Be,
            known if known == encoding_rs::WINDOWS_1252 => Encoding::Windows1252,
            known => Encoding::Other(known),
        })
    }

    pub fn name(self) -> String {
        self.known().name().to_ascii_lowercase()
    }

    pub(super) fn known(self) -> &'static encoding_rs::Encoding {
        match self {
            Encoding::Utf8 => encoding_rs::UTF_8,
            Encoding::Utf16Le => encoding_rs::UTF_16LE,
            Encoding::Utf16Be => encoding_rs::UTF_16BE,
            Encoding::Windows1252 => encoding_rs::WINDOWS_1252,
            Encoding::Other(known) => known,
        }
    }
}

/// What stands in a number beside its digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notation {
    /// Before the decimals: `.` or `,`.
    pub decimal: u8,
    /// Between groups of three digits, where there is something: `.`, `,`, `'` or a space.
    pub thousands: Option<u8>,
}

impl Default for Notation {
    fn default() -> Notation {
        Notation { decimal: b'.', thousands: None }
    }
}

impl Notation {
    /// Whether numbers are written as everything here reads them.
    pub fn is_plain(self) -> bool {
        self == Notation::default()
    }
}

/// What separates fields, as somebody wrote it: one character, or the word for one that is hard to type.
pub fn parse_delimiter(text: &str) -> std::result::Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !b"\"\r\n".contains(byte) => Ok(*byte),
        _ => Err("must be one character, or \"tab\"".into()),
    }
}

/// How the characters of a text file are written, by its name on the web.
pub fn parse_encoding(name: &str) -> std::result::Result<Encoding, String> {
    Encoding::parse(name)
        .ok_or_else(|| "is none that is known; for example windows-1252, utf-16le or iso-8859-2".into())
}

/// The separators that are looked for in a header where none is named.
pub const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];
