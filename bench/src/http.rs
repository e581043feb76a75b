//! How long an answer takes over HTTP, with many requests in flight, and how much a browser loads first.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use incrowd::Result;
use incrowd_workbench::serve::{Settings, app, n_bytes_of_page, run};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const TOKEN: &str = "a token of the benchmark";

/// Asks `n_requests` wishes over `n_in_flight` connections, each waiting for its answer before it asks again.
pub fn measure(project: &str, requests: Vec<Value>, n_in_flight: usize) -> Result<Value> {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it listens");
    let settings = Settings {
        root: Path::new(project).to_path_buf(),
        data: None,
        start: Some(Path::new(project).join("incrowd.toml")),
        is_demo: false,
        address,
        token: TOKEN.replace(' ', "-"),
        guest_token: format!("{}-of-guests", TOKEN.replace(' ', "-")),
        hosts: Vec::new(),
        allows_preview: true,
        n_upload_max: 0,
        n_bytes_max: u64::MAX,
    };
    let (app, _) = app(&settings)?;
    std::thread::spawn(move || run(listener, app));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let n_requests = requests.len();
    let (mut times, wall_s) = runtime.block_on(ask_all(address, requests, n_in_flight));
    times.sort();
    let millis = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    Ok(json!({
        "n_requests": n_requests,
        "n_in_flight": n_in_flight,
        "per_second": n_requests as f64 / wall_s,
        "p50_ms": millis(0.5),
        "p99_ms": millis(0.99),
        "max_ms": millis(1.0),
        "page_kb": n_bytes_of_page() as f64 / 1e3,
    }))
}

async fn ask_all(address: SocketAddr, requests: Vec<Value>, n_in_flight: usize) -> (Vec<Duration>, f64) {
    let mut first = TcpStream::connect(address).await.expect("it listens");
    let about: Value = serde_json::from_slice(&ask(&mut first, address, "GET", "/about", "").await.1).expect("JSON");
    let question = |request: &Value| json!({ "project": about["project"]["id"], "request": request }).to_string();
    // Until the lattice is there, the answer is a job.
    while ask(&mut first, address, "POST", "/negotiate", &question(&requests[0])).await.0 == 202 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let questions: Arc<Vec<String>> = Arc::new(requests.iter().map(question).collect());
    let next = Arc::new(AtomicUsize::new(0));
    let started = Instant::now();
    let askers: Vec<_> = (0..n_in_flight)
        .map(|_| {
            let (questions, next) = (questions.clone(), next.clone());
            tokio::spawn(async move {
                let mut stream = TcpStream::connect(address).await.expect("it listens");
                stream.set_nodelay(true).expect("a socket");
                let mut times = Vec::new();
                while let Some(question) = questions.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let start = Instant::now();
                    let (status, _) = ask(&mut stream, address, "POST", "/negotiate", question).await;
                    times.push(start.elapsed());
                    assert_eq!(status, 200);
                }
                times
            })
        })
        .collect();
    let mut times = Vec::new();
    for asker in askers {
        times.extend(asker.await.expect("no asker panics"));
    }
    (times, started.elapsed().as_secs_f64())
}

/// One request over a connection that stays open.
async fn ask(stream: &mut TcpStream, address: SocketAddr, method: &str, path: &str, body: &str) -> (u16, Vec<u8>) {
    let token = TOKEN.replace(' ', "-");
    let request = format!(
        "{method} /api/v1{path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.expect("it listens");
    let mut bytes = Vec::with_capacity(8 << 10);
    loop {
        stream.read_buf(&mut bytes).await.expect("an answer");
        let Some(end) = bytes.windows(4).position(|part| part == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
        let length = length.expect("a length");
        if bytes.len() >= end + 4 + length {
            let status = head[9..12].parse().expect("a status");
            return (status, bytes[end + 4..].to_vec());
        }
    }
}
