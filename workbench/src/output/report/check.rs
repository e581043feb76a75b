//! How anyone checks the release: its claims beside the file, the commands, and where it comes from.

use incrowd::wire::{Certificate, Claim, FileHash};

use super::facts::Facts;
use super::text::{counted, names, shell_word};
use super::verdict::promised;
use crate::output::page::escape;
use crate::sentences::grouped;

pub(super) fn claims(facts: &Facts) -> String {
    let n_columns = facts.certificate.columns.len() as u64;
    let n_right = facts.claims.iter().filter(|claim| claim.holds).count() as u64;
    let body = match facts.claims.len() as u64 {
        0 => "<p>No claim of the certificate was compared with the file.</p>\n".to_string(),
        n => format!(
            "<table class=\"claims\">\n<caption>{} of {} hold</caption>\n\
             <thead><tr><th scope=\"col\">Claim</th><th scope=\"col\">Certificate</th><th scope=\"col\">Found</th>\
             <th scope=\"col\"><span class=\"unseen\">Holds</span></th></tr></thead>\n<tbody>\n{}</tbody>\n</table>\n",
            grouped(n_right),
            counted(n, "claim", "claims"),
            facts.claims.iter().map(|claim| claim_row(claim, n_columns)).collect::<String>()
        ),
    };
    format!("<section>\n<h2>What the certificate claims, and what the file shows</h2>\n{body}</section>\n")
}

fn claim_row(claim: &Claim, n_columns: u64) -> String {
    let (class, status) = if claim.holds { ("good", "✓ holds") } else { ("bad", "✕ wrong") };
    format!(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td>\
         <td class=\"end\"><span class=\"chip {class}\">{status}</span></td></tr>\n",
        escape(&claim.claim),
        claimed_text(claim, &claim.claimed, n_columns),
        claimed_text(claim, &claim.found, n_columns)
    )
}

/// A claim's value, made readable without making different values look alike: what is shortened stands whole further
/// down, and is shortened only where both sides are the same.
fn claimed_text(claim: &Claim, value: &str, n_columns: u64) -> String {
    match claim.claim.as_str() {
        "file" if claim.holds && value.is_ascii() && value.len() > 8 => {
            format!("<code>{}…</code>", escape(&value[..8]))
        }
        "file" => format!("<code class=\"hash\">{}</code>", escape(value)),
        "columns" if claim.holds => counted(n_columns, "column", "columns"),
        "columns" => escape(value).replace(',', ",<wbr>"),
        _ => value.parse().map_or_else(|_| escape(value), grouped),
    }
}

pub(super) fn how_to_check(facts: &Facts) -> String {
    let certificate = facts.certificate;
    let by_hand = match certificate.quasi_identifiers.is_empty() {
        true => String::new(),
        false => format!(
            "<p>Any database can tell the same without incrowd; load the file as <code>release</code> \
             and compare with the promise{}:</p>\n<pre><code>{}</code></pre>\n",
            match facts.is_of_people() {
                true => ", which is about people: whose records they are, the file does not say",
                false => "",
            },
            escape(&query(certificate))
        ),
    };
    let command = verify_command(facts);
    format!(
        "<section>\n<h2>Check it yourself</h2>\n\
         <p>You need not trust this page. This counts again, \
         and ends with exit code 0 only if everything holds:</p>\n\
         <pre><code>{command}</code></pre>\n{by_hand}</section>\n",
    )
}

/// What somebody types who checks the release, as markup.
pub(super) fn verify_command(facts: &Facts) -> String {
    let (file, certificate) = (shell_word(facts.release), shell_word(facts.certificate_name));
    // What compares with the source is judged by whoever has it.
    let project = match promised(facts).iter().all(|criterion| facts.certificate.shows(criterion.measure)) {
        true => "",
        false => " <span>--project PROJECT</span>",
    };
    format!("incrowd verify {} <span>--certificate {}</span>{project}", escape(&file), escape(&certificate))
}

/// The promise as a question to a database.
fn query(certificate: &Certificate) -> String {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let attributes: Vec<String> = certificate.quasi_identifiers.iter().map(|name| quoted(name)).collect();
    let (least, counted) = match certificate.sensitive.first() {
        Some(name) => (", min(n_values)", format!(",\n    count(DISTINCT {}) AS n_values", quoted(name))),
        None => ("", String::new()),
    };
    format!(
        "SELECT min(n_records){least} FROM (\n  SELECT count(*) AS n_records{counted}\n  FROM release\n  GROUP BY {}\n) AS g",
        attributes.join(", ")
    )
}

pub(super) fn origin(facts: &Facts) -> String {
    let certificate = facts.certificate;
    let mut entries = vec![entry("Release", &hash(&certificate.output))];
    entries.extend(facts.account.files.iter().map(|file| entry("Made from", &hash(file))));
    entries.push(entry("Key", &format!("<code class=\"hash\">{}</code>", facts.account.key.to_text())));
    entries.push(entry("Columns", &names(&certificate.columns)));
    entries.push(entry("Made by", &format!("incrowd {}", escape(&certificate.version))));
    entries.push(entry("Method", &escape(&certificate.method)));
    entries.push(entry("Order of records", &escape(&certificate.order)));
    entries.push(entry("Seed", &certificate.seed.map_or("no random choices".to_string(), |seed| seed.to_string())));
    format!(
        "<section>\n<h2>Where it comes from</h2>\n<p class=\"note\">Files by name and SHA-256. The certificate has only a \
         mark of each that the release was made from, HMAC-SHA-256 of its SHA-256 with the key below: from a hash alone, \
         whoever knows most of the source could find out the rest by trying. Keep the key, and keep it to yourself. To prove \
         that the release was made from these files, show the key and the files to whom you would show the files anyway, \
         and run:</p>\n<pre><code>incrowd verify {} <span>--project PROJECT</span> <span>--key {}</span></code></pre>\n\
         <dl class=\"origin\">\n{}</dl>\n</section>\n",
        escape(&shell_word(facts.release)),
        facts.account.key.to_text(),
        entries.concat()
    )
}

fn entry(label: &str, value: &str) -> String {
    format!("<div><dt>{label}</dt><dd>{value}</dd></div>\n")
}

fn hash(file: &FileHash) -> String {
    format!("{}<br><code class=\"hash\">{}</code>", escape(&file.name), escape(&file.sha256))
}
