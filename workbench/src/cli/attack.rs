//! `incrowd attack`: what somebody with a release in hand learns about the people in it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use incrowd::attack::{Gain, Group, Hit, Linkage};
use incrowd::hierarchy::ANY;
use incrowd::verify::Text;
use incrowd::{Error, ErrorKind, Result};

use super::terminal::{Exit, Terminal};
use super::verify::{SuppressedRecords, left_out_in_words};
use crate::orders::attack::{Attack, Attacked, FoundInRelease, Release, UnknownValues, Unread};
use crate::sentences::{counted_words, grouped, people_in_words, percent};
use crate::words::documents;

/// See what an attacker learns from a release, or from two of them together
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Without flags, quasi-identifiers and sensitive attributes are those of FILE.certificate.json. Four attacks are tried:

  homogeneity  groups in which all have the same sensitive value: it is certain
  similarity   groups whose values all belong to one branch of the sensitive attribute's hierarchy
  skewness     groups in which a value is much more frequent than in the table
  linkage      people of an outside table whose quasi-identifiers fit one group only, or one record

Linkage needs whom to look for: --outside names a table, --project takes the project's own records, the worst case. Labels \
and the branches of sensitive values are read from the project's hierarchies, from --hierarchy NAME=FILE, or from the \
certificate where it has them. Where a cell cannot be read, nobody can say whom it fits: linkage is not known then, and no \
number of it is printed. Where the project says whose record it is, its people are looked for, each by the record that is \
easiest to find, and whoever fits only records of one person counts as found. No value of the data is printed unless --show-values asks for it.

Exit status: 0 when nobody's value can be told for certain, 1 when somebody's can, 2 on error and where linkage is not known.

Examples:
  incrowd attack release.csv
  incrowd attack release.csv --project .
  incrowd attack last_year.csv this_year.csv --outside voters.csv
  incrowd attack other.csv --quasi-identifiers zip,age --sensitive ill --hierarchy ill=ill.csv")]
pub struct Args {
    /// A published file: CSV, Parquet, Excel, SPSS, Stata or SAS; a second release of the same people to combine it with
    #[arg(required = true, num_args = 1..=2, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The quasi-identifiers of the files
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub quasi_identifiers: Option<Vec<String>>,
    /// The sensitive attributes of the files
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub sensitive: Option<Vec<String>>,
    /// The project that the release was made from
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<PathBuf>,
    /// Read this file instead of the one that the project names, such as the next delivery of the data
    #[arg(long, value_name = "FILE", requires = "project")]
    pub data: Option<PathBuf>,
    /// A table of people with some of the quasi-identifiers, by the same names
    #[arg(long, value_name = "FILE")]
    pub outside: Option<PathBuf>,
    /// Labels of an attribute, as ARX writes them
    #[arg(long, value_name = "NAME=FILE")]
    pub hierarchy: Vec<String>,
    /// What records are that have * in every quasi-identifier
    #[arg(long, value_enum, default_value_t = SuppressedRecords::Group)]
    pub suppressed_as: SuppressedRecords,
    /// How many of the worst groups are shown
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub worst: usize,
    /// Print values of the data: what groups look like, and which sensitive values stand out
    #[arg(long)]
    pub show_values: bool,
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let attacked = order(args)?.run(None, &terminal.work(0, None))?;
    terminal.json(&documents::attacked(&attacked, args.worst, args.show_values));
    if !terminal.is_json {
        Report { args, attacked: &attacked }.say(terminal);
    }
    Ok(match attacked.is_certain() {
        Some(true) => Exit::No,
        Some(false) => Exit::Done,
        None => Exit::NotKnown,
    })
}

/// What the flags order.
fn order(args: &Args) -> Result<Attack> {
    let hierarchy = |text: &String| {
        let (name, path) = text.split_once('=').ok_or_else(|| {
            Error::new(ErrorKind::Request, format!("'{text}' does not say whose hierarchy it is"))
                .hint("for example --hierarchy disease=disease.csv")
        })?;
        Ok((name.to_string(), PathBuf::from(path)))
    };
    Ok(Attack {
        files: args.files.clone(),
        quasi_identifiers: args.quasi_identifiers.clone(),
        sensitive: args.sensitive.clone(),
        project: args.project.clone(),
        data: args.data.clone(),
        outside: args.outside.clone(),
        hierarchies: args.hierarchy.iter().map(hierarchy).collect::<Result<_>>()?,
        suppressed_as: args.suppressed_as.into(),
    })
}

/// What was found, for people.
struct Report<'a> {
    args: &'a Args,
    attacked: &'a Attacked,
}

impl Report<'_> {
    fn say(&self, terminal: &Terminal) {
        for (release, found) in self.attacked.releases.iter().zip(&self.attacked.found) {
            let n_records: u64 = release.groups.iter().map(|group| group.size).sum();
            terminal.say(format!(
                "{}: {} in {}",
                release.path.display(),
                counted_words(n_records, "record"),
                counted_words(release.groups.len() as u64, "group")
            ));
            if release.n_absent > 0 {
                terminal.say(format!("  {}", left_out_in_words(release.n_absent)));
            }
            let is_hidden = |group: &&Group| group.cells.iter().all(|cell| cell.as_deref() == Some(ANY));
            if let Some(hidden) = release.groups.iter().find(is_hidden) {
                terminal.say(format!(
                    "  {} {} * in every quasi-identifier: a group that everybody fits (--suppressed-as absent leaves it out)",
                    counted_words(hidden.size, "record"),
                    if hidden.size == 1 { "is" } else { "are" }
                ));
            }
            for (s, (name, found)) in self.attacked.sensitive.iter().zip(found).enumerate() {
                self.say_found(release, s, name, found, n_records, terminal);
            }
        }
        let Some(linked) = &self.attacked.linked else {
            terminal.say("\nLinkage was not tried: give --outside FILE, or --project for the worst case.");
            return;
        };
        match &linked.linkages {
            None => self.say_not_known(&linked.unread, terminal),
            Some(linkages) => {
                for (name, linkage) in self.attacked.sensitive.iter().zip(linkages) {
                    self.say_linkage(name, linkage, terminal);
                }
                linked.unknown.iter().for_each(|unknown| self.say_unknown(unknown, terminal));
            }
        }
    }

    fn say_found(
        &self,
        release: &Release,
        s: usize,
        name: &str,
        found: &FoundInRelease,
        n_records: u64,
        terminal: &Terminal,
    ) {
        let share = |n: u64| format!("{} ({})", counted_words(n, "record"), percent(n, n_records));
        let hit = &found.homogeneity;
        terminal.say(match hit.n_groups {
            0 => format!("\n  Homogeneity: no group has a single {name}."),
            n => format!(
                "\n  Homogeneity: in {}, all records have the same {name}. Whoever knows that somebody is among these {} \
                 knows that value for certain.",
                counted_words(n, "group"),
                share(hit.n_records)
            ),
        });
        self.say_worst(release, s, hit, terminal);
        match &found.similarity {
            None => {
                terminal.say(format!("  Similarity: not tried, {name} has no hierarchy (--hierarchy {name}=FILE)."))
            }
            Some(levels) if levels.iter().all(|level| level.n_groups == 0) => {
                terminal.say(format!("  Similarity: in no group one branch of the hierarchy holds every {name}."));
            }
            Some(levels) => {
                for (level, hit) in (1..).zip(levels).filter(|(_, hit)| hit.n_groups > 0) {
                    terminal.say(format!(
                        "  Similarity: in {}, every {name} belongs to one branch (level {level} of the hierarchy). Of {} \
                         that much is certain.",
                        counted_words(hit.n_groups, "group"),
                        share(hit.n_records)
                    ));
                    self.say_worst(release, s, hit, terminal);
                }
            }
        }
        let skewness = &found.skewness;
        match (&skewness.most, &skewness.steepest) {
            (Some(most), Some(steepest)) => {
                let value = |gain: &Gain| match self.args.show_values {
                    true => format!("{name} {}", gain.value.as_deref().unwrap_or("(none)")),
                    false => format!("one {name}"),
                };
                let size = |gain: &Gain| counted_words(release.groups[gain.group].size, "record");
                terminal.say(format!(
                    "  Skewness: in a group of {}, {} of the records have {}; in the table {}. In a group of {}, {} is {} \
                     times as frequent as in the table.",
                    size(most),
                    share_in_words(most.posterior),
                    value(most),
                    share_in_words(most.prior),
                    size(steepest),
                    value(steepest),
                    times(steepest.posterior / steepest.prior)
                ));
                terminal.say(format!(
                    "  Guessing the most frequent {name} of the group is right for {} of the records; without the release \
                     for {}.",
                    share_in_words(skewness.best_guess),
                    share_in_words(skewness.best_guess_before)
                ));
            }
            _ => terminal.say(format!("  Skewness: in every group {name} is distributed as in the table.")),
        }
    }

    fn say_worst(&self, release: &Release, s: usize, hit: &Hit, terminal: &Terminal) {
        for &place in hit.groups.iter().take(self.args.worst) {
            let group = &release.groups[place];
            let line = match self.args.show_values {
                false => format!("    a group of {}", counted_words(group.size, "record")),
                true => {
                    let text = |text: &Text| text.clone().unwrap_or_else(|| "(none)".into());
                    let cells: Vec<String> = release
                        .quasi_identifiers
                        .iter()
                        .zip(&group.cells)
                        .map(|(name, cell)| format!("{name} {}", text(cell)))
                        .collect();
                    let values: BTreeMap<String, u64> =
                        group.values[s].iter().map(|(value, n)| (text(value), *n)).collect();
                    let values: Vec<String> =
                        values.iter().map(|(value, n)| format!("{value} {}", grouped(*n))).collect();
                    format!("    {}: {}", cells.join(", "), values.join(", "))
                }
            };
            terminal.say(line);
        }
        let n_more = hit.groups.len().saturating_sub(self.args.worst);
        if n_more > 0 && self.args.worst > 0 {
            terminal.say(format!("    and {} more", grouped(n_more as u64)));
        }
    }

    /// Whom a cell fits that cannot be read is not known: numbers would say less than an attacker can find out.
    fn say_not_known(&self, unread: &[Unread], terminal: &Terminal) {
        terminal.say("\nLinkage is not known: cells could not be read.");
        for Unread { attribute, n_cells, n_cells_read, has_midpoints } in unread {
            let why = match has_midpoints {
                true => ", which may be the middle of a range and do not say of which",
                false => "",
            };
            let n_all = counted_words(n_cells + n_cells_read, "cell");
            terminal.say(format!("  {} of {n_all} of {attribute}{why}", grouped(*n_cells)));
        }
        let files: Vec<String> = unread
            .iter()
            .filter(|unread| !unread.has_midpoints)
            .map(|unread| format!("--hierarchy {}=FILE", unread.attribute))
            .collect();
        let project = if self.args.project.is_none() { "--project, or " } else { "" };
        if !files.is_empty() {
            terminal.say(format!(
                "  Give {project}labels: {} (one column where values are published as they are).",
                files.join(" ")
            ));
        }
        if files.len() < unread.len() {
            terminal.say("  Publish with --cells ranges to see what linkage finds in the same groups.");
        }
    }

    fn say_linkage(&self, name: &str, found: &Linkage, terminal: &Terminal) {
        let n = found.n_outside;
        let share = |part: u64| format!("{} ({})", grouped(part), percent(part, n));
        let who = self.people_in_words(n);
        let whose = match (&self.args.outside, n) {
            (Some(path), _) => path.display().to_string(),
            (None, 1) => "the table, known by all its quasi-identifiers".to_string(),
            (None, _) => "the table, known by all their quasi-identifiers".to_string(),
        };
        terminal.say(format!("\nLinkage, for {who} of {whose}:"));
        if self.is_of_people() {
            terminal
                .say("  Each is looked for by every record of theirs, and judged by the one that is easiest to find.");
        }
        terminal.say(format!("  {} fit no group: not in the table, or suppressed.", share(found.n_without)));
        terminal.say(format!("  {} fit one group only.", share(found.n_one_group)));
        terminal.say(format!("  {} fit several groups.", share(found.n_several_groups)));
        terminal.say(format!("  {} fit one record only.", share(found.n_one_record)));
        if let Some(n) = found.n_one_person {
            terminal.say(format!("  {} fit records of one person only.", share(n)));
        }
        terminal.say(format!("  Of {} the {name} is certain.", share(found.n_certain)));
        if self.attacked.releases.len() > 1 {
            terminal.say(format!(
                "  Of {} it is certain from the releases together, and from none of them alone.",
                share(found.n_certain_together)
            ));
        }
    }

    fn say_unknown(&self, unknown: &UnknownValues, terminal: &Terminal) {
        let UnknownValues { attribute, n_values, n_people, n_people_without } = unknown;
        if *n_values > 0 {
            terminal.say(format!(
                "  {} of {attribute}, of {}, {} unknown to the hierarchy and the cells of the release: only * fits.",
                counted_words(*n_values, "value"),
                self.people_in_words(*n_people),
                if *n_values == 1 { "is" } else { "are" }
            ));
        }
        if *n_people_without > 0 {
            terminal.say(format!(
                "  {} {} no {attribute}: only cells without a value fit, and *.",
                self.people_in_words(*n_people_without),
                if *n_people_without == 1 { "has" } else { "have" }
            ));
        }
    }

    fn people_in_words(&self, n: u64) -> String {
        match self.args.outside.is_some() || self.is_of_people() {
            true => people_in_words(n),
            false => counted_words(n, "record"),
        }
    }

    /// Whether those who are looked for are people with several records.
    fn is_of_people(&self) -> bool {
        self.attacked.linked.as_ref().is_some_and(|linked| linked.of_people)
    }
}

fn share_in_words(share: f64) -> String {
    match share * 100.0 {
        percent if share > 0.0 && percent < 0.1 => "under 0.1 %".to_string(),
        percent => format!("{percent:.1} %"),
    }
}

fn times(factor: f64) -> String {
    if factor < 10.0 { format!("{factor:.1}") } else { format!("{factor:.0}") }
}
