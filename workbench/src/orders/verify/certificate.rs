//! What came with a release: its certificate, read and held to what this version can check.

use std::io::Read;
use std::path::{Path, PathBuf};

use incrowd::verify::Labels;
use incrowd::wire::{Certificate, CountAt};
use incrowd::{Error, ErrorKind, Result, Role};

use crate::input::level::LevelSaid;
use crate::input::notation::Notation;
use crate::input::project::{Attribute, Project};
use crate::input::source::{DELIMITERS, PublishAs, ReadOptions, Source, Unknown, Unreadable};

/// The certificate that stands beside a release, if one does.
pub fn beside(file: &Path) -> Option<PathBuf> {
    let mut name = file.as_os_str().to_owned();
    name.push(".certificate.json");
    Some(PathBuf::from(name)).filter(|path| path.exists())
}

pub fn read_certificate(path: &Path) -> Result<Certificate> {
    let text = std::fs::read_to_string(path).map_err(|error| crate::io_error(path, error))?;
    parse_certificate(&text, &path.display().to_string())
}

/// Reads a certificate, which stands at a position that errors name.
pub fn parse_certificate(text: &str, position: &str) -> Result<Certificate> {
    let wrong = |message: String| Error::new(ErrorKind::Data, message).at(position);
    let certificate = Certificate::of_text(text).map_err(|error| wrong(format!("is not a certificate: {error}")))?;
    if certificate.format != Certificate::FORMAT {
        return Err(wrong("is not a certificate of incrowd".into()));
    }
    let version = Certificate::version_of(
        !certificate.person.is_empty(),
        !certificate.count_at.is_empty(),
        certificate.counted.is_some(),
    );
    let is_newer = certificate.format_version > Certificate::FORMAT_VERSION_OF_ROWS;
    let has_version = certificate.format_version == version || (certificate.format_version, version) == (1, 2);
    let has_labels = |(name, at): (&String, &CountAt)| certificate.sensitive.contains(name) && at.is_sound();
    if certificate.format_version >= 2 && !certificate.sorted
        || !is_newer && !has_version
        || !certificate.count_at.iter().all(has_labels)
    {
        return Err(wrong("is not a certificate of incrowd: its version and what it says do not go together".into()));
    }
    if is_newer {
        return Err(wrong(format!("is of version {}, newer than this incrowd", certificate.format_version))
            .hint("check it with a newer version of incrowd"));
    }
    if certificate.quasi_identifiers.is_empty() || certificate.criteria.values().any(|c| c.get("promised").is_none()) {
        return Err(wrong("does not say what is promised about which quasi-identifiers".into()));
    }
    if certificate.promised().is_none() {
        let names: Vec<&str> = certificate.criteria.keys().map(String::as_str).collect();
        return Err(wrong(format!("promises something that this incrowd cannot check: {}", names.join(", "))));
    }
    Ok(certificate)
}

/// What separates the fields of a CSV file, by its certificate: as that says, or where it is of version 1, the separator
/// with which the file has the columns of the certificate.
pub fn delimiter_of(file: &Path, certificate: &Certificate) -> Option<u8> {
    if let Some(delimiter) = certificate.delimiter {
        return u8::try_from(delimiter).ok().filter(u8::is_ascii);
    }
    let fits = |delimiter: &u8| {
        let source = Source::open(file, &ReadOptions::of_release(Some(*delimiter)));
        let is_column = |name: &String| Some(name) != certificate.counted.as_ref();
        let names = source.map(|source| source.column_names()).unwrap_or_default();
        names.into_iter().filter(is_column).eq(certificate.columns.iter().cloned())
    };
    // Whatever stands behind the first name is likely to be it.
    let name = certificate.columns.first()?;
    let mut start = vec![0; name.len() + 1];
    let is_read = std::fs::File::open(file).and_then(|mut file| file.read_exact(&mut start)).is_ok();
    let behind = start.last().copied().filter(|_| is_read);
    DELIMITERS.into_iter().chain(behind).find(fits)
}

/// By sensitive attribute of the question, the labels of a certificate, of values as the table at hand says them.
pub(super) fn labels_for(certificate: &Certificate, sensitive: &[String], notation: &Notation) -> Vec<Option<Labels>> {
    let known = certificate.labels();
    let place = |name: &String| certificate.sensitive.iter().position(|known| known == name);
    let said = |name: &String| {
        let labels = known[place(name)?].clone()?;
        Some(labels.into_iter().map(|(value, label)| (value.map(|text| notation.text(name, &text)), label)).collect())
    };
    sensitive.iter().map(said).collect()
}

/// Lets a project count sensitive values as a certificate says, whatever it says itself by now.
pub(super) fn count_as_promised(project: &mut Project, certificate: &Certificate, sensitive: &[String]) {
    for attribute in project.attributes.iter_mut().filter(|attribute| sensitive.contains(&attribute.name)) {
        let level = certificate.count_at.get(&attribute.name).map(|at| at.level);
        attribute.count_at = level.map(|level| LevelSaid::Number(usize::try_from(level).unwrap_or(usize::MAX)));
    }
}

/// Lets a project replace cells as a certificate says that they were, whatever it says itself by now: the release is what the
/// certificate describes.
pub(super) fn read_as_published(project: &mut Project, certificate: &Certificate) -> Result<()> {
    let wrong = |what: &str, name: &str| {
        Error::new(ErrorKind::Data, format!("the certificate says something of '{name}' ({what}) that is not known"))
            .hint("it may be of a later version, or damaged")
    };
    let is_published = |attribute: &&mut Attribute| !matches!(attribute.role, Role::Identifier | Role::Person);
    for attribute in project.attributes.iter_mut().filter(is_published) {
        let name = attribute.name.clone();
        attribute.unreadable = match certificate.unreadable_of(&name) {
            Some(said) => Unreadable::parse(said).ok_or_else(|| wrong("unreadable", &name))?,
            None => Unreadable::Error,
        };
        attribute.unknown = match certificate.unknown_of(&name) {
            Some(said) => Unknown::parse(said).ok_or_else(|| wrong("unknown", &name))?,
            None => Unknown::Error,
        };
        attribute.publish_as = match certificate.coarser_of(&name) {
            Some(said) => Some(said.and_then(PublishAs::of_said).ok_or_else(|| wrong("published_as", &name))?),
            None => None,
        };
        // A row for what is not known is added where it was there, and does no harm where it was not.
        *attribute = attribute.clone().with_rule(attribute.rule.clone());
    }
    Ok(())
}
