//! What stands in the footer of a saved lattice: the version, what it was made from, and where its sections are.

use incrowd::lattice::saved::Section;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The version of the format that this program writes, and the only one that it reads.
pub const VERSION: u64 = 1;

/// What a lattice was made from, so that it can be told whether that is still the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    pub data: Vec<Mark>,
    /// Files whose records came later, and files whose records went.
    pub appended: Vec<Mark>,
    pub removed: Vec<Mark>,
    pub population: Vec<Mark>,
    pub settings: Settings,
}

/// A file as it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    pub n_bytes: u64,
    /// In nanoseconds since 1970; nothing where the system does not say.
    pub modified: Option<u64>,
    pub sha256: String,
}

/// By what it is about, the hash of what the project says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settings(Map<String, Value>);

impl Settings {
    pub fn insert(&mut self, what: String, hash: String) {
        self.0.insert(what, hash.into());
    }

    pub fn contains(&self, what: &str) -> bool {
        self.0.contains_key(what)
    }

    /// Whether both say the same of something, or neither says anything.
    pub fn agree(&self, other: &Settings, what: &str) -> bool {
        self.0.get(what) == other.0.get(what)
    }

    /// What these settings are about.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// The header of a saved lattice.
pub struct Header {
    pub origin: Origin,
    pub sections: Vec<Section>,
}

/// Why a text is no header that this program reads.
pub enum NoHeader {
    Unreadable,
    /// Its version, and what wrote it.
    Newer {
        version: u64,
        made_by: String,
    },
}

impl Header {
    pub fn to_text(&self) -> String {
        let section = |section: &Section| {
            let Section { name, start, n_bytes, checksum } = section;
            serde_json::json!({ "name": name, "start": start, "n_bytes": n_bytes, "crc32": checksum })
        };
        let header = serde_json::json!({
            "version": VERSION,
            "made_by": format!("incrowd {}", env!("CARGO_PKG_VERSION")),
            "origin": self.origin,
            "sections": self.sections.iter().map(section).collect::<Value>(),
        });
        header.to_string()
    }

    pub fn parse(text: &str) -> Result<Header, NoHeader> {
        let header: Value = serde_json::from_str(text).map_err(|_| NoHeader::Unreadable)?;
        match header["version"].as_u64() {
            Some(VERSION) => {}
            Some(version) if version > VERSION => {
                let made_by = header["made_by"].as_str().unwrap_or("a later incrowd").to_string();
                return Err(NoHeader::Newer { version, made_by });
            }
            _ => return Err(NoHeader::Unreadable),
        }
        let section = |section: &Value| {
            let (start, n_bytes) = (section["start"].as_u64()?, section["n_bytes"].as_u64()?);
            let checksum = section["crc32"].as_u64().and_then(|sum| u32::try_from(sum).ok());
            Some(Section { name: section["name"].as_str()?.to_string(), start, n_bytes, checksum })
        };
        let sections = header["sections"].as_array().into_iter().flatten().map(section).collect::<Option<Vec<_>>>();
        let origin = serde_json::from_value(header["origin"].clone()).ok();
        origin.zip(sections).map(|(origin, sections)| Header { origin, sections }).ok_or(NoHeader::Unreadable)
    }
}
