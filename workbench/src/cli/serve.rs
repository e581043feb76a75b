//! `incrowd serve`: the whole path as a page, for a curator, an analyst and a privacy officer around one screen.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use incrowd::{Error, ErrorKind, Result};
use serde_json::json;

use super::arguments::parse_memory;
use crate::cli::terminal::{Exit, Terminal};
use crate::demo_data;
use crate::input::project::FILE_NAME;
use crate::io_error;
use crate::memory::free_memory;
use crate::sentences::hint;
use crate::serve::{Settings, app, check_address, random_text, run as answer};

/// Open the page: see the data, build hierarchies, negotiate, compare, publish
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Only this machine can reach it, and only with the key in the address that is printed. To let others in, give --host and \
--token, and put a server with TLS in front; values of the data are then shown only with --allow-preview. Without it, \
roles, hierarchies and data are those of the project, and nothing is published below its [request].

Files are read and written under the project's folder. What is changed on the page, or imported, stays on \
the page until it is saved.

Examples:
  incrowd serve                       the project in this folder; made-up data where there is none
  incrowd serve hospital --open       a project, in the browser
  incrowd serve patients.csv          a table, with suggested roles and hierarchies
  incrowd serve --host 0.0.0.0 --token \"$SECRET\" --allow-host data.example.org")]
pub struct Args {
    /// Folder of a project, its incrowd.toml, or a table [default: this folder's project, or made-up data]
    pub project: Option<PathBuf>,
    /// Serve this file instead of the one that the project names, such as the next delivery of the data; what is saved on the
    /// page names it
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub host: IpAddr,
    /// Port to listen on [default: any that is free]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// The key that every request must know, at least 16 characters [default: a new one each time]
    #[arg(long, value_name = "SECRET")]
    pub token: Option<String>,
    /// A name by which the server is reached, beside its address; may be given several times
    #[arg(long, value_name = "NAME")]
    pub allow_host: Vec<String>,
    /// Show values of the data: samples, charts, trees [default: yes on this machine, no for others]
    #[arg(long, value_name = "YES", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub allow_preview: Option<bool>,
    /// Largest file that may be uploaded
    #[arg(long, value_name = "SIZE", default_value = "500MB")]
    pub max_upload: String,
    /// Memory that lattices may take together [default: half of what is free]
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
    /// Open the page in a browser
    #[arg(long)]
    pub open: bool,
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let address = SocketAddr::new(args.host, args.port);
    check_address(address, args.token.is_some())?;
    // The demo's folder is gone when the server ends.
    let demo = match is_demo(args) {
        true => {
            let folder = tempfile::tempdir().map_err(|error| io_error(Path::new("temporary folder"), error))?;
            demo_data::write(folder.path(), demo_data::N_RECORDS, demo_data::SEED)?;
            Some(folder)
        }
        false => None,
    };
    let path = match &demo {
        Some(folder) => folder.path().to_path_buf(),
        None => args.project.clone().unwrap_or_else(|| PathBuf::from(".")),
    };
    let (root, start) = place(&path)?;
    let settings = Settings {
        root,
        start,
        data: args.data.clone(),
        is_demo: demo.is_some(),
        address,
        token: args.token.clone().map_or_else(random_text, Ok)?,
        hosts: args.allow_host.clone(),
        allows_preview: args.allow_preview.unwrap_or(args.host.is_loopback()),
        n_upload_max: parse_memory(&args.max_upload)?,
        n_bytes_max: args.memory.as_deref().map_or_else(|| Ok(free_memory() / 2), parse_memory)?,
    };
    let app = app(&settings)?;
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
    terminal.say(format!("incrowd is at {url}"));
    terminal.json(&json!({ "url": url, "token": settings.token, "folder": settings.root.display().to_string() }));
    if demo.is_some() {
        terminal.note("It serves made-up hospital discharges; name a project or a table to serve your own.");
    }
    terminal.note("Ctrl-C ends it.");
    if args.open {
        open_browser(&url, terminal);
    }
    answer(listener, app)?;
    Ok(Exit::Done)
}

/// Made-up data are served where nothing is named and nothing is here.
fn is_demo(args: &Args) -> bool {
    args.project.is_none() && !Path::new(FILE_NAME).exists()
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

/// Asks the system to show the page; where it cannot, the address is there to be copied.
fn open_browser(url: &str, terminal: &Terminal) {
    let (program, first): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    let nothing = std::process::Stdio::null;
    let mut command = std::process::Command::new(program);
    command.args(first).arg(url).stdin(nothing()).stdout(nothing()).stderr(nothing());
    if command.spawn().is_err() {
        terminal.note("No browser could be opened; copy the address into one.");
    }
}
