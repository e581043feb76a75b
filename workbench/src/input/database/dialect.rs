//! How each engine writes SQL: names, texts, keys that are equal only where their bytes are, and rows repeated in place.

use incrowd::error::unknown;
use incrowd::{ErrorKind, Result};

/// An engine's way to write SQL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    #[default]
    Postgresql,
    Duckdb,
    Sqlite,
    Spark,
    Bigquery,
    Snowflake,
}

impl Dialect {
    pub const ALL: [Dialect; 6] =
        [Dialect::Postgresql, Dialect::Duckdb, Dialect::Sqlite, Dialect::Spark, Dialect::Bigquery, Dialect::Snowflake];

    pub fn name(self) -> &'static str {
        match self {
            Dialect::Postgresql => "postgresql",
            Dialect::Duckdb => "duckdb",
            Dialect::Sqlite => "sqlite",
            Dialect::Spark => "spark",
            Dialect::Bigquery => "bigquery",
            Dialect::Snowflake => "snowflake",
        }
    }

    /// What the driver is called that speaks to such an engine.
    pub fn driver(self) -> &'static str {
        match self {
            // Sail is spoken to by Flight SQL, whatever it is asked.
            Dialect::Spark => "flightsql",
            dialect => dialect.name(),
        }
    }

    pub fn parse(name: &str) -> Result<Dialect> {
        let known = Dialect::ALL.map(Dialect::name);
        let found = Dialect::ALL.into_iter().find(|dialect| dialect.name() == name);
        found.ok_or_else(|| unknown(ErrorKind::Request, "dialect", name, &known))
    }

    /// The name of a column, whatever characters it has.
    pub fn quoted(self, name: &str) -> String {
        match self {
            Dialect::Spark => format!("`{}`", name.replace('`', "``")),
            Dialect::Bigquery => format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`")),
            _ => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    /// A column of a table. Snowflake knows what was created as `age` as `AGE`, and finds it by the name without quotes.
    pub fn column(self, name: &str) -> String {
        if self == Dialect::Snowflake && is_plain(name) { name.to_string() } else { self.quoted(name) }
    }

    /// A table by its name, with those of its schema and catalog before it; a part in quotes may have dots.
    pub fn table(self, name: &str) -> String {
        let parts = parts_of(name);
        match self {
            // One pair of backticks is around all of it.
            Dialect::Bigquery => self.quoted(&parts.join(".")),
            _ => parts.iter().map(|part| self.column(part)).collect::<Vec<_>>().join("."),
        }
    }

    /// A text within a statement.
    pub fn text(self, text: &str) -> String {
        match self {
            Dialect::Spark | Dialect::Bigquery | Dialect::Snowflake => {
                format!(
                    "'{}'",
                    text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n").replace('\r', "\\r")
                )
            }
            _ => format!("'{}'", text.replace('\'', "''")),
        }
    }

    /// Any expression as a text that equals another only where all bytes do, whatever the collation of its column.
    pub fn exact(self, expression: &str) -> String {
        match self {
            Dialect::Postgresql => format!("CAST({expression} AS text) COLLATE \"C\""),
            Dialect::Duckdb => format!("CAST({expression} AS VARCHAR) COLLATE \"binary\""),
            Dialect::Sqlite => format!("CAST({expression} AS TEXT) COLLATE BINARY"),
            // By way of its bytes, which have no collation in any version.
            Dialect::Spark => format!("CAST(CAST(CAST({expression} AS STRING) AS BINARY) AS STRING)"),
            Dialect::Bigquery => format!("COLLATE(CAST({expression} AS STRING), '')"),
            Dialect::Snowflake => format!("COLLATE(CAST({expression} AS VARCHAR), '')"),
        }
    }

    /// The same without a value where it is one of the texts that mean none.
    pub fn without_missing(self, exact: &str, tokens: &[String]) -> String {
        tokens.iter().fold(exact.to_string(), |expression, token| format!("NULLIF({expression}, {})", self.text(token)))
    }

    /// Every row of a table as often as its number says, in the order of its columns: a query.
    pub fn expanded(self, rows: &str, columns: &[String], number: &str) -> String {
        // As the release is ordered: by bytes, "no value" first, which a table loaded from CSV may have as no text.
        let key = |name: &String| {
            let column = format!("r.{}", self.column(name));
            match self {
                Dialect::Postgresql => format!("COALESCE(CAST({column} AS text), '') COLLATE \"C\""),
                Dialect::Duckdb => format!("COALESCE(CAST({column} AS VARCHAR), '') COLLATE \"binary\""),
                Dialect::Sqlite => format!("COALESCE(CAST({column} AS TEXT), '') COLLATE BINARY"),
                _ => format!("COALESCE({}, '')", self.exact(&column)),
            }
        };
        let order: Vec<String> = columns.iter().map(key).collect();
        self.repeated(rows, columns, number, &order.join(", "))
    }

    /// The same in the order that a column says.
    pub fn expanded_by_place(self, rows: &str, columns: &[String], number: &str, place: &str) -> String {
        self.repeated(rows, columns, number, &format!("r.{}", self.column(place)))
    }

    fn repeated(self, rows: &str, columns: &[String], number: &str, order: &str) -> String {
        let names: Vec<String> = columns.iter().map(|name| format!("r.{}", self.column(name))).collect();
        let (names, table, n) = (names.join(", "), self.table(rows), self.column(number));
        match self {
            Dialect::Postgresql => format!(
                "SELECT {names} FROM {table} AS r CROSS JOIN LATERAL generate_series(1, CAST(r.{n} AS bigint))\n\
                 ORDER BY {order}"
            ),
            Dialect::Duckdb => format!(
                "SELECT {names} FROM (SELECT *, unnest(range(CAST({n} AS BIGINT))) FROM {table}) AS r\nORDER BY {order}"
            ),
            Dialect::Sqlite => format!(
                "WITH RECURSIVE times(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM times WHERE i < (SELECT MAX(CAST({n} \
                 AS INTEGER)) FROM {table}))\nSELECT {names} FROM {table} AS r JOIN times ON times.i <= CAST(r.{n} AS \
                 INTEGER)\nORDER BY {order}"
            ),
            Dialect::Spark => format!(
                "SELECT {names} FROM {table} AS r LATERAL VIEW explode(sequence(1, CAST(r.{n} AS BIGINT))) times AS i\n\
                 ORDER BY {order}"
            ),
            Dialect::Bigquery => format!(
                "SELECT {names} FROM {table} AS r CROSS JOIN UNNEST(GENERATE_ARRAY(1, CAST(r.{n} AS INT64)))\n\
                 ORDER BY {order}"
            ),
            Dialect::Snowflake => format!(
                "SELECT {names} FROM {table} AS r, LATERAL FLATTEN(INPUT => ARRAY_GENERATE_RANGE(0, CAST(r.{n} AS \
                 INTEGER)))\nORDER BY {order}"
            ),
        }
    }
}

/// Whether a name is found without quotes, as most people write it.
fn is_plain(name: &str) -> bool {
    let is_start = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    name.bytes().next().is_some_and(is_start) && name.bytes().all(|byte| is_start(byte) || byte.is_ascii_digit())
}

/// `public.discharges` as its parts; dots within quotes are part of a name, and so is a quote that stands there twice.
pub fn parts_of(name: &str) -> Vec<String> {
    let (mut parts, mut quote) = (vec![String::new()], None);
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let part = parts.last_mut().expect("there is one");
        match (c, quote) {
            ('"' | '`', None) => quote = Some(c),
            (c, Some(open)) if c == open && chars.next_if_eq(&open).is_some() => part.push(c),
            (c, Some(open)) if c == open => quote = None,
            ('.', None) => parts.push(String::new()),
            (c, _) => part.push(c),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_texts_end_where_they_are_meant_to() {
        let odd = "a\"b`c\\d'e";
        let quoted = |dialect: Dialect| (dialect.quoted(odd), dialect.text(odd));
        for dialect in [Dialect::Postgresql, Dialect::Duckdb, Dialect::Sqlite] {
            assert_eq!(quoted(dialect), ("\"a\"\"b`c\\d'e\"".into(), "'a\"b`c\\d''e'".into()));
        }
        assert_eq!(quoted(Dialect::Snowflake), ("\"a\"\"b`c\\d'e\"".into(), "'a\"b`c\\\\d\\'e'".into()));
        assert_eq!(quoted(Dialect::Spark), ("`a\"b``c\\d'e`".into(), "'a\"b`c\\\\d\\'e'".into()));
        assert_eq!(quoted(Dialect::Bigquery), ("`a\"b\\`c\\\\d'e`".into(), "'a\"b`c\\\\d\\'e'".into()));
    }

    #[test]
    fn tables_have_schemas_and_catalogs() {
        assert_eq!(Dialect::Postgresql.table("public.discharges"), "\"public\".\"discharges\"");
        assert_eq!(Dialect::Postgresql.table("\"my.schema\".t"), "\"my.schema\".\"t\"");
        assert_eq!(parts_of("\"my \"\"own\"\"\".t"), ["my \"own\"", "t"]);
        assert_eq!(Dialect::Bigquery.table("my-project.clinic.discharges"), "`my-project.clinic.discharges`");
        assert_eq!(Dialect::Snowflake.table("clinic.public.Discharges"), "clinic.public.\"Discharges\"");
    }
}
