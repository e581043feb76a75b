//! The page is started: which folder is served, at which address, and with which key.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use axum::Router;
use incrowd::{Error, ErrorKind, Result};
use tempfile::TempDir;

use super::safety::random_text;
use super::{Settings, app, check_address, run};
use crate::demo_data;
use crate::input::project::FILE_NAME;
use crate::io_error;
use crate::memory::free_memory;
use crate::sentences::hint;

/// The largest file that may be uploaded where nobody says how large.
pub const N_UPLOAD_MAX: u64 = 500_000_000;

/// What is to be served, to whom.
#[derive(Clone, Debug)]
pub struct Serve {
    /// Folder of a project, its file, or a table; this folder's project, or made-up data, where nothing is said.
    pub project: Option<PathBuf>,
    /// What is read instead of the data that the project names.
    pub data: Option<PathBuf>,
    pub host: IpAddr,
    /// Any that is free where it is 0.
    pub port: u16,
    /// A new one each time where nothing is said.
    pub token: Option<String>,
    /// The key of guests; a new one each time where nothing is said.
    pub guest_token: Option<String>,
    /// Names by which the server is reached beside its address.
    pub hosts: Vec<String>,
    /// Those on this machine see values where nothing is said, and others do not.
    pub allows_preview: Option<bool>,
    pub n_upload_max: u64,
    /// What lattices may take together; half of what is free where nothing is said.
    pub n_bytes_max: Option<u64>,
}

/// A page that is ready to be answered for.
pub struct Started {
    /// The address, with its key.
    pub url: String,
    pub token: String,
    /// The address for guests, with their key; none where there is nothing yet to negotiate over.
    pub guest: Option<(String, String)>,
    pub folder: PathBuf,
    pub is_demo: bool,
    listener: TcpListener,
    app: Router,
    /// The demo's folder is gone when the server ends.
    _demo: Option<TempDir>,
}

impl Serve {
    pub fn start(&self) -> Result<Started> {
        let address = SocketAddr::new(self.host, self.port);
        check_address(address, self.token.is_some())?;
        let demo = match self.is_demo() {
            true => Some(made_up()?),
            false => None,
        };
        let path = match &demo {
            Some(folder) => folder.path().to_path_buf(),
            None => self.project.clone().unwrap_or_else(|| PathBuf::from(".")),
        };
        let (root, start) = place(&path)?;
        let settings = Settings {
            root,
            start,
            data: self.data.clone(),
            is_demo: demo.is_some(),
            address,
            token: self.token.clone().map_or_else(random_text, Ok)?,
            guest_token: self.guest_token.clone().map_or_else(random_text, Ok)?,
            hosts: self.hosts.clone(),
            allows_preview: self.allows_preview.unwrap_or(self.host.is_loopback()),
            n_upload_max: self.n_upload_max,
            n_bytes_max: self.n_bytes_max.unwrap_or_else(|| free_memory() / 2),
        };
        let (app, has_guests) = app(&settings)?;
        let wrong = |error: std::io::Error| {
            Error::new(ErrorKind::Io, format!("{address} cannot be listened on: {error}"))
                .hint(hint("choose another {port}"))
        };
        let listener = TcpListener::bind(address).map_err(wrong)?;
        let mut local = listener.local_addr().map_err(wrong)?;
        if local.ip().is_unspecified() {
            // Every address of this machine is listened on; this one works from here.
            local.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        let url = format!("http://{local}/#key={}", settings.token);
        let Settings { token, guest_token, root: folder, is_demo, .. } = settings;
        let guest = has_guests.then(|| (format!("http://{local}/#key={guest_token}"), guest_token));
        Ok(Started { url, token, guest, folder, is_demo, listener, app, _demo: demo })
    }

    /// Made-up data are served where nothing is named and nothing is here.
    fn is_demo(&self) -> bool {
        self.project.is_none() && !Path::new(FILE_NAME).exists()
    }
}

impl Started {
    /// Answers until the program is told to end.
    pub fn answer(self) -> Result<()> {
        run(self.listener, self.app)
    }

    /// Asks the system to show the page in a browser; whether it could be asked.
    pub fn is_shown(&self) -> bool {
        let (program, first): (&str, &[&str]) = match std::env::consts::OS {
            "macos" => ("open", &[]),
            "windows" => ("cmd", &["/C", "start", ""]),
            _ => ("xdg-open", &[]),
        };
        let nothing = std::process::Stdio::null;
        let mut command = std::process::Command::new(program);
        command.args(first).arg(&self.url).stdin(nothing()).stdout(nothing()).stderr(nothing());
        command.spawn().is_ok()
    }
}

fn made_up() -> Result<TempDir> {
    let folder = tempfile::tempdir().map_err(|error| io_error(Path::new("temporary folder"), error))?;
    demo_data::write(folder.path(), demo_data::N_RECORDS, demo_data::SEED)?;
    Ok(folder)
}

/// The folder to serve, and what to open in it.
fn place(path: &Path) -> Result<(PathBuf, Option<PathBuf>)> {
    if path.is_dir() {
        let file = path.join(FILE_NAME);
        return Ok((path.to_path_buf(), file.exists().then_some(file)));
    }
    if !path.exists() {
        return Err(io_error(path, std::io::ErrorKind::NotFound.into()));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((folder.to_path_buf(), Some(path.to_path_buf())))
}
