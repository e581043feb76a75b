//! Who may ask, from where, and for which files: the rules that keep strangers and other web pages out.

use std::path::{Component, Path, PathBuf};

use axum::http::{HeaderMap, Method, StatusCode, header};
use incrowd::{Error, ErrorKind, Result};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::problem::Problem;

/// The shortest token that someone may choose.
pub const N_TOKEN_MIN: usize = 16;

/// The secret that every request must know.
#[derive(Clone)]
pub struct Token([u8; 32]);

impl Token {
    pub fn new(text: &str) -> Token {
        Token(Sha256::digest(text.as_bytes()).into())
    }

    /// Compares in a time that says nothing about where the texts differ.
    pub fn is(&self, text: &str) -> bool {
        let other: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        self.0.iter().zip(other).fold(0, |differences, (a, b)| differences | (a ^ b)) == 0
    }
}

/// A text that nobody can guess.
pub fn random_text() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::new(ErrorKind::Io, format!("no random numbers are to be had: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Whose key a request has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Party {
    /// Does everything that the server does.
    Curator,
    /// Negotiates and compares, and sees no value.
    Guest,
}

/// What a request must be like to be listened to.
#[derive(Clone)]
pub struct Door {
    /// The curator's.
    pub token: Token,
    /// The guests', where there is something to negotiate over.
    pub guest: Option<Token>,
    /// The names under which the server may be addressed, without port.
    pub hosts: Vec<String>,
}

impl Door {
    /// Refuses requests that were sent to another name: a web page that has its own name point here (DNS rebinding).
    pub fn check_host(&self, headers: &HeaderMap) -> std::result::Result<(), Problem> {
        // Of two names nobody can say which one others on the way have looked at.
        let is_one = headers.get_all(header::HOST).iter().count() == 1;
        let host = headers.get(header::HOST).filter(|_| is_one).and_then(|host| host.to_str().ok());
        match host.map(without_port).filter(|host| self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host))) {
            Some(_) => Ok(()),
            None => Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "request", "this server has another name")
                .hint("open the address that incrowd serve printed, or start it with --allow-host NAME")),
        }
    }

    /// Refuses what another web page sends.
    pub fn check_origin(&self, headers: &HeaderMap) -> std::result::Result<(), Problem> {
        let text = |name| headers.get(name).map(|value: &axum::http::HeaderValue| value.to_str().unwrap_or("?"));
        let host = text(header::HOST).unwrap_or("");
        let is_own = |origin: &str| origin.split_once("://").is_some_and(|(_, rest)| rest.eq_ignore_ascii_case(host));
        let is_foreign =
            matches!(text(header::HeaderName::from_static("sec-fetch-site")), Some("cross-site" | "same-site"));
        match text(header::ORIGIN) {
            None if !is_foreign => Ok(()),
            Some(origin) if !is_foreign && is_own(origin) => Ok(()),
            _ => Err(Problem::new(StatusCode::FORBIDDEN, "request", "another web page may not ask this server")),
        }
    }

    /// Whose key it is; refuses who has none.
    pub fn check_token(&self, headers: &HeaderMap) -> std::result::Result<Party, Problem> {
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let (scheme, token) = given.and_then(|value| value.split_once(' ')).unwrap_or_default();
        let token = token.trim_start_matches(' ');
        // Both are always compared: how long it takes says nothing of either.
        let (is_curator, is_guest) = (self.token.is(token), self.guest.as_ref().is_some_and(|guest| guest.is(token)));
        match scheme.eq_ignore_ascii_case("bearer") {
            true if is_curator => Ok(Party::Curator),
            true if is_guest => Ok(Party::Guest),
            _ => Err(Problem::new(StatusCode::UNAUTHORIZED, "request", "the key is missing or wrong")
                .hint("open the address that incrowd serve printed, or send Authorization: Bearer TOKEN")),
        }
    }

    /// All of it; the page itself, which holds no data, needs no token and is the same for all.
    pub fn check(&self, method: &Method, path: &str, headers: &HeaderMap) -> std::result::Result<Party, Problem> {
        self.check_host(headers)?;
        let is_page = !path.starts_with("/api/") && matches!(*method, Method::GET | Method::HEAD);
        match is_page {
            true => Ok(Party::Curator),
            false => self.check_origin(headers).and_then(|()| self.check_token(headers)),
        }
    }
}

/// `[::1]:80` as `[::1]`, `localhost:80` as `localhost`.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    }
}

/// The folder that is served, and what outside of it the served project itself names.
#[derive(Clone, Debug)]
pub struct Folder {
    /// With all links resolved.
    root: PathBuf,
    /// As it was named when the server was started, which is how the first project's files are named.
    named: String,
    trusted: Vec<PathBuf>,
}

impl Folder {
    pub fn new(root: &Path, trusted: Vec<PathBuf>) -> Result<Folder> {
        let real = |path: &Path| path.canonicalize().map_err(|error| crate::io_error(path, error));
        let trusted = trusted.iter().filter_map(|path| path.canonicalize().ok()).collect();
        Ok(Folder { root: real(root)?, named: format!("{}/", root.display()), trusted })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A file or folder that is there and may be read: under the root, links resolved.
    pub fn to_read(&self, path: &str) -> Result<PathBuf> {
        check_text(path)?;
        let full = self.root.join(path);
        let real = full.canonicalize().map_err(|error| crate::io_error(Path::new(path), error));
        // What lies outside must look the same whether it is there or not.
        let is_plain =
            Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        match real {
            Ok(real) if real.starts_with(&self.root) || self.trusted.contains(&real) => Ok(full),
            Err(error) if is_plain => Err(error),
            _ => Err(outside()),
        }
    }

    /// A file that may be written: its folder is there and under the root, and it is no link to elsewhere.
    pub fn to_write(&self, path: &str) -> Result<PathBuf> {
        check_text(path)?;
        let is_plain = |part: Component| matches!(part, Component::Normal(name) if !is_hidden(name));
        let plain = Path::new(path);
        if plain.components().next().is_none() || !plain.components().all(is_plain) || path.ends_with('/') {
            return Err(outside());
        }
        let full = self.root.join(plain);
        let folder = full.parent().expect("it is under the root");
        let real = folder.canonicalize().map_err(|_| {
            Error::new(ErrorKind::Io, "there is no such folder").at(path).hint("choose a folder that is there")
        })?;
        let is_link = full.symlink_metadata().is_ok_and(|known| known.file_type().is_symlink());
        if !real.starts_with(&self.root) || is_link {
            return Err(outside());
        }
        Ok(full)
    }

    /// Takes the root off a text, so that answers name files as the user knows them.
    pub fn relative(&self, text: &str) -> String {
        let root = format!("{}/", self.root.display());
        match text.contains(&root) {
            true => text.replace(&root, ""),
            false => text.strip_prefix(&self.named).unwrap_or(text).to_string(),
        }
    }

    /// Names the files of a document as the user knows them: a path tells about the machine.
    pub fn name_files(&self, document: &mut Value) {
        const KEYS: [&str; 6] = ["project", "data", "file", "release", "certificate", "report"];
        match document {
            Value::Object(object) => {
                for (key, value) in object.iter_mut() {
                    match value {
                        Value::String(file) if KEYS.contains(&key.as_str()) => *file = self.relative(file),
                        value => self.name_files(value),
                    }
                }
            }
            Value::Array(list) => list.iter_mut().for_each(|value| self.name_files(value)),
            _ => {}
        }
    }
}

fn is_hidden(name: &std::ffi::OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

fn check_text(path: &str) -> Result<()> {
    let is_odd = path.is_empty() || path.len() > 1024 || path.contains('\0') || path.contains('\\');
    if is_odd || path.chars().any(char::is_control) {
        return Err(Error::new(ErrorKind::Request, "is not a path within the served folder")
            .hint("for example data/patients.csv"));
    }
    Ok(())
}

fn outside() -> Error {
    Error::new(ErrorKind::Request, "lies outside of the served folder")
        .hint("files are read and written under the folder that incrowd serve was started with")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_taken_off_names() {
        for (host, name) in [
            ("127.0.0.1:80", "127.0.0.1"),
            ("localhost", "localhost"),
            ("[::1]:80", "[::1]"),
            ("[::1]", "[::1]"),
            ("evil.example:80", "evil.example"),
        ] {
            assert_eq!(without_port(host), name);
        }
    }

    fn headers(pairs: &[(header::HeaderName, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name.clone(), axum::http::HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn the_scheme_of_a_key_is_written_as_one_likes_and_a_name_is_given_once() {
        let guest = Some(Token::new("guest 0123456789"));
        let door = Door { token: Token::new("0123456789abcdef"), guest, hosts: vec!["localhost".to_string()] };
        let party = |text| door.check_token(&headers(&[(header::AUTHORIZATION, text)])).ok();
        assert_eq!(party("Bearer guest 0123456789"), Some(Party::Guest));
        assert_eq!(party("Bearer 0123456789abcdef"), Some(Party::Curator));
        for good in ["Bearer 0123456789abcdef", "bearer 0123456789abcdef", "BEARER  0123456789abcdef"] {
            assert!(door.check_token(&headers(&[(header::AUTHORIZATION, good)])).is_ok(), "{good}");
        }
        for wrong in ["0123456789abcdef", "Basic 0123456789abcdef", "Bearer0123456789abcdef", "Bearer 0123456789ABCDEF"]
        {
            assert!(door.check_token(&headers(&[(header::AUTHORIZATION, wrong)])).is_err(), "{wrong}");
        }
        assert!(door.check_host(&headers(&[(header::HOST, "localhost:80")])).is_ok());
        for other in ["localhost:80", "evil.example"] {
            assert!(door.check_host(&headers(&[(header::HOST, "localhost:80"), (header::HOST, other)])).is_err());
        }
        assert!(door.check_host(&headers(&[])).is_err());
    }

    #[test]
    fn a_token_is_compared_whole() {
        let token = Token::new("0123456789abcdef");
        assert!(token.is("0123456789abcdef"));
        for wrong in ["", "0123456789abcde", "0123456789abcdef0", "0123456789abcdeF"] {
            assert!(!token.is(wrong));
        }
    }

    #[test]
    #[cfg(unix)]
    fn paths_stay_under_the_root_links_included() {
        let outer = tempfile::tempdir().expect("a temporary folder");
        let root = outer.path().join("root");
        std::fs::create_dir_all(root.join("sub")).expect("a writable folder");
        std::fs::write(outer.path().join("secret.csv"), "a\n1\n").expect("a writable folder");
        std::fs::write(root.join("sub/a.csv"), "a\n1\n").expect("a writable folder");
        std::os::unix::fs::symlink(outer.path(), root.join("up")).expect("a link");
        std::os::unix::fs::symlink(outer.path().join("secret.csv"), root.join("link.csv")).expect("a link");
        let folder = Folder::new(&root, Vec::new()).expect("the root is there");
        for good in ["sub/a.csv", "sub/../sub/a.csv", "./sub/a.csv", "sub"] {
            assert!(folder.to_read(good).is_ok(), "{good}");
        }
        let secret = outer.path().join("secret.csv").display().to_string();
        for bad in [
            "../secret.csv",
            "up/secret.csv",
            "link.csv",
            "sub/../../secret.csv",
            &secret,
            "",
            "a\0",
            "/etc/passwd",
            "../nothing",
            "none.csv",
        ] {
            assert!(folder.to_read(bad).is_err(), "{bad}");
        }
        assert!(folder.to_write("new.csv").is_ok() && folder.to_write("sub/new.csv").is_ok());
        for bad in [
            "../new.csv",
            "up/new.csv",
            "link.csv",
            "/tmp/new.csv",
            "",
            ".hidden",
            "sub/",
            "none/new.csv",
            "sub/../new.csv",
        ] {
            assert!(folder.to_write(bad).is_err(), "{bad}");
        }
        // Files of a project that was served by a relative name are named as everything else is.
        let relative = Folder { named: "data/".into(), ..Folder::new(&root, Vec::new()).expect("the root is there") };
        assert_eq!(relative.relative("data/release.csv"), "release.csv");
        assert_eq!(relative.relative("data of web/release.csv"), "data of web/release.csv");
        let whole = relative.root().join("data/release.csv").display().to_string();
        assert_eq!(relative.relative(&whole), "data/release.csv");
        let trusting = Folder::new(&root, vec![outer.path().join("secret.csv")]).expect("the root is there");
        assert!(trusting.to_read("../secret.csv").is_ok());
        assert!(trusting.to_write("../secret.csv").is_err());
    }
}
