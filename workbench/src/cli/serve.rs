//! `incrowd serve`: the whole path as a page, for a curator, an analyst and a privacy officer around one screen.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use incrowd::Result;
use serde_json::json;

use super::arguments::parse_memory;
use crate::cli::terminal::{Exit, Terminal};
use crate::serve::start::Serve;

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
    /// The key of guests, who negotiate and compare without seeing values, changing roles or publishing [default: a new
    /// one each time]
    #[arg(long, value_name = "SECRET")]
    pub guest_token: Option<String>,
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
    let Args { project, data, host, port, token, guest_token, allow_host, allow_preview, max_upload, memory, open } =
        args.clone();
    let order = Serve {
        project,
        data,
        host,
        port,
        token,
        guest_token,
        hosts: allow_host,
        allows_preview: allow_preview,
        n_upload_max: parse_memory(&max_upload)?,
        n_bytes_max: memory.as_deref().map(parse_memory).transpose()?,
    };
    let page = order.start()?;
    terminal.say(format!("incrowd is at {}", page.url));
    if let Some((url, _)) = &page.guest {
        terminal.say(format!("for guests, who see no values and publish nothing: {url}"));
    }
    let (guest_url, guest_token) = page.guest.clone().unzip();
    terminal.json(&json!({
        "url": page.url, "token": page.token, "guest_url": guest_url, "guest_token": guest_token,
        "folder": page.folder.display().to_string(),
    }));
    if page.is_demo {
        terminal.note("It serves made-up hospital discharges; name a project or a table to serve your own.");
    }
    terminal.note("Ctrl-C ends it.");
    if open && !page.is_shown() {
        terminal.note("No browser could be opened; copy the address into one.");
    }
    page.answer()?;
    Ok(Exit::Done)
}
