//! `incrowd count`: reads the records once and says how many combinations there are.

use crate::sentences::{counted_words, grouped, percent};
use incrowd::Result;
use incrowd::scheme::n_schemes;

use super::arguments::ProjectArgs;
use crate::cli::terminal::{Exit, Terminal, columns};
use crate::input::count::count_only;
use crate::input::database::dialect::Dialect;
use crate::input::project::Project;
use crate::orders::count::{Count, Counts};
use crate::orders::known::Known;
use crate::words::documents;

/// Read the records once and say how many distinct combinations there are
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  incrowd count
  incrowd count hospital --quasi-identifiers age,sex,postcode --json
  incrowd count --sql --dialect bigquery --table clinic.discharges > count.sql

--sql prints the statement that counts on whatever engine holds the table. Save what it gives as a file, name that under \
[data] path with counted = \"n\", and everything else works on it.")]
pub struct Args {
    #[command(flatten)]
    pub project: ProjectArgs,
    /// Print the statement that counts elsewhere, and read nothing
    #[arg(long)]
    pub sql: bool,
    /// Whose SQL it is [default: postgresql]
    #[arg(long, value_name = "DIALECT", requires = "sql", value_parser = Dialect::ALL.map(Dialect::name))]
    pub dialect: Option<String>,
    /// The table that the statement is about
    #[arg(long, value_name = "TABLE", requires = "sql")]
    pub table: Option<String>,
    /// The columns of the table, where the project publishes those that it does not name (`other = "keep"`)
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', requires = "sql")]
    pub columns: Vec<String>,
}

/// The statement that the flags ask for, if any.
fn statement(args: &Args, project: &Project, terminal: &Terminal) -> Result<Option<Exit>> {
    if !args.sql {
        return Ok(None);
    }
    let dialect = args.dialect.as_deref().map_or(Ok(Dialect::default()), Dialect::parse)?;
    let order = Count::new(args.project.about(), Some(dialect), args.table.clone(), args.columns.clone())?;
    if let Counts::Statement(statement) = order.run(project, &Known::default(), &args.project.work(terminal)?)? {
        terminal.json(&documents::statement(&statement));
        terminal.say(format!("{};", statement.sql));
    }
    Ok(Some(Exit::Done))
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    args.project.check_no_lattice("count")?;
    let project = args.project.open()?;
    if let Some(exit) = statement(args, &project, terminal)? {
        return Ok(exit);
    }
    let about = args.project.about();
    let choice = about.choice(&about.no_privacy(&project)?);
    let counted = count_only(&project, &choice, &args.project.work(terminal)?)?;
    let counts = &counted.counts;
    let n_schemes = n_schemes(&counted.hierarchies);
    let n_unique = documents::n_unique(&counted.counts);
    let people = counts.people().map(|people| people.len() as u64);
    terminal.json(&documents::counted(&counted));
    let rows: Vec<Vec<String>> = counted
        .hierarchies
        .iter()
        .map(|hierarchy| {
            let n_values: Vec<String> = hierarchy.levels().iter().map(|level| grouped(level.len() as u64)).collect();
            vec![hierarchy.attribute().to_string(), hierarchy.kind().name().to_string(), n_values.join(" → ")]
        })
        .collect();
    terminal.say(columns(&["quasi-identifier", "type", "values per level"], &rows, &[0, 1, 2]));
    terminal.say(format!(
        "\n{}{} in {}; {}{} ({}) {} unique; the lattice has {} schemes",
        counted_words(counts.n_records(), "record"),
        people.map_or(String::new(), |n| format!(" of {} people", grouped(n))),
        counted_words(counts.n_groups() as u64, "group"),
        grouped(n_unique),
        if people.is_some() { " people" } else { "" },
        percent(n_unique, people.unwrap_or(counts.n_records())),
        if n_unique == 1 { "is" } else { "are" },
        n_schemes.map_or("more than 10^19".to_string(), grouped)
    ));
    Ok(Exit::Done)
}
