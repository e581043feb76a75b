//! Records put into classes, each large and diverse enough to be published as one box; and what the boxes print.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::counts::{GroupCounts, N_CELLS_MAX, number};
use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::steps::Steps;
use crate::hierarchy::{ANY, Hierarchy, range_text};
use crate::number::Decimal;
use crate::recode::{Cell, Ends, Recoding, Share, Span, numbered, sets};
use crate::table::{Code, Kind, date_text, days_of_date, parse_date};
use crate::task::Task;

/// What every class must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Least {
    /// Records.
    pub k: u64,
    /// Different values of the sensitive attribute, where that matters.
    pub l: Option<u64>,
    /// The number of the sensitive attribute that l is about.
    pub sensitive: usize,
}

/// Equal records of one group of the counts that belong to the same class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    /// The group of the counts.
    pub base: u32,
    /// Their value of the sensitive attribute; none where diversity was not asked for. Where records were dealt, the
    /// place of their sensitive values among the cells of the group.
    pub value: Option<Code>,
    /// How many records they are.
    pub n_records: u64,
}

/// Parts of the same cell added up.
pub(crate) fn put_together(mut parts: Vec<Part>) -> Vec<Part> {
    parts.sort_unstable();
    parts.dedup_by(|next, first| {
        let is_same = (next.base, next.value) == (first.base, first.value);
        first.n_records += if is_same { next.n_records } else { 0 };
        is_same
    });
    parts
}

/// The records of a table, put into classes.
///
/// A class is published as one box. Classes may have the same box: then they are one group to a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// In the order of their first parts; the parts of a class increase and are not empty.
    classes: Vec<Vec<Part>>,
    least: Least,
    /// Whether parts name cells of their group rather than values of one sensitive attribute.
    is_by_cell: bool,
    /// The records that are in no class; they are by cell where the classes are.
    suppressed: Vec<Part>,
}

/// So many records of a group of the counts, with this value where it matters, and the published group that they join;
/// none where they are suppressed.
type ShareWanted = (Option<Code>, Option<u32>, u64);

/// How published cells look. A single value prints as itself in every style but the rounded one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellStyle {
    /// Numbers and dates as `[24-30]`; categories as the label of their closest common ancestor.
    Ranges,
    /// Everything as the label of its closest common ancestor: numbers lose more than with ranges.
    Labels,
    /// Categories as the set of the group's values, `{a,b}` (see [`sets`]); numbers and dates as ranges.
    Sets,
    /// Numbers and dates as the middle of the range; categories as labels.
    Midpoints,
    /// Numbers and dates as ranges that are rounded outwards to the finest steps of their hierarchy, `[20-34]`: they say
    /// nothing of single records. Categories, and numbers without such steps, as labels.
    Rounded,
    /// The value, or `*` where a group has several.
    Stars,
}

impl CellStyle {
    /// Every style there is.
    pub const ALL: [CellStyle; 6] = [
        CellStyle::Ranges,
        CellStyle::Labels,
        CellStyle::Sets,
        CellStyle::Midpoints,
        CellStyle::Rounded,
        CellStyle::Stars,
    ];

    /// The word that flags and certificates use.
    pub fn name(self) -> &'static str {
        match self {
            CellStyle::Ranges => "ranges",
            CellStyle::Labels => "labels",
            CellStyle::Sets => "sets",
            CellStyle::Midpoints => "midpoints",
            CellStyle::Rounded => "rounded",
            CellStyle::Stars => "stars",
        }
    }

    /// The hierarchies that groups are made for where cells look like this: what is lost in them is what cells say.
    pub fn meant(self, hierarchies: &[Hierarchy]) -> Cow<'_, [Hierarchy]> {
        match self {
            CellStyle::Labels => hierarchies.iter().map(Hierarchy::by_label).collect(),
            CellStyle::Stars => hierarchies.iter().map(Hierarchy::all_or_nothing).collect(),
            CellStyle::Ranges | CellStyle::Sets | CellStyle::Midpoints | CellStyle::Rounded => hierarchies.into(),
        }
    }

    /// The style of a name.
    pub fn parse(name: &str) -> Option<CellStyle> {
        CellStyle::ALL.into_iter().find(|style| style.name() == name)
    }
}

impl Least {
    /// k records, and l values of the first sensitive attribute where that is given.
    pub fn of(k: u64, l: Option<u64>) -> Least {
        Least { k, l, sensitive: 0 }
    }

    /// Refuses what no partition of this table can have.
    pub(crate) fn check(self, counts: &GroupCounts, hierarchies: &[Hierarchy]) -> Result<()> {
        let wrong = |message: String, hint: &str| Err(Error::new(ErrorKind::Request, message).hint(hint));
        counts.check_hierarchies(hierarchies)?;
        if hierarchies.is_empty() {
            return wrong("there is no quasi-identifier to generalize".into(), "name at least one in the project");
        }
        if self.k == 0 {
            return wrong("k must be at least 1".into(), "a group of one record protects nobody: ask for 2 or more");
        }
        if self.k > counts.n_records() {
            return wrong(
                format!("k is {}, but there are only {} records", self.k, counts.n_records()),
                "ask for a smaller k",
            );
        }
        if counts.n_records() / self.k > N_CELLS_MAX as u64 {
            return wrong(format!("there would be more than {N_CELLS_MAX} groups"), "ask for a larger k");
        }
        match (self.l, counts.sensitive().get(self.sensitive)) {
            (Some(0), _) => wrong("l must be at least 1".into(), "ask for 2 or more"),
            (Some(_), None) => wrong("l needs a sensitive attribute".into(), "give an attribute that role"),
            (Some(l), Some(domain)) if l > domain.len() as u64 => wrong(
                format!("l is {l}, but attribute '{}' has only {} values", domain.name(), domain.len()),
                "ask for a smaller l",
            ),
            _ => Ok(()),
        }
    }

    /// All records as parts: by group of the counts, and by sensitive value where that matters.
    pub(crate) fn parts(self, counts: &GroupCounts) -> Vec<Part> {
        let of_base = |base: usize| {
            let whole = Part { base: number(base), value: None, n_records: counts.size(base) };
            let values = self.l.map_or_else(Vec::new, |_| counts.values(base, self.sensitive));
            let part = move |(value, n_records): (Code, u64)| Part { value: Some(value), n_records, ..whole };
            self.l.is_none().then_some(whole).into_iter().chain(values.into_iter().map(part))
        };
        (0..counts.n_groups()).flat_map(of_base).collect()
    }

    /// Whether a class may be published.
    ///
    /// Written without what the methods use to be quick, so that a slip in one is not repeated in the other.
    pub(crate) fn is_enough(self, parts: &[Part]) -> bool {
        let n_records: u64 = parts.iter().map(|part| part.n_records).sum();
        let values = || parts.iter().filter_map(|part| part.value).collect::<BTreeSet<Code>>();
        n_records >= self.k && self.l.is_none_or(|l| values().len() as u64 >= l)
    }
}

impl Partition {
    /// Puts the classes into canonical order. Each of them must be enough: that is the promise of every method.
    pub(crate) fn new(mut classes: Vec<Vec<Part>>, least: Least) -> Partition {
        assert!(classes.iter().all(|parts| least.is_enough(parts)), "every class is large and diverse enough");
        for parts in &mut classes {
            *parts = put_together(std::mem::take(parts));
        }
        classes.sort_unstable();
        Partition { classes, least, is_by_cell: false, suppressed: Vec::new() }
    }

    /// The same for parts that name the cells of their groups.
    pub(crate) fn by_cell(classes: Vec<Vec<Part>>, k: u64) -> Partition {
        Partition { is_by_cell: true, ..Partition::new(classes, Least::of(k, None)) }
    }

    /// The same for classes that keep any criteria, each of which is looked at; all records together may miss some.
    pub(crate) fn keeping(classes: Vec<Vec<Part>>, is_enough: impl Fn(&[Part]) -> bool) -> Partition {
        assert!(
            classes.len() == 1 || classes.iter().all(|parts| is_enough(parts)),
            "every class keeps every criterion"
        );
        Partition { is_by_cell: true, ..Partition::new(classes, Least::of(1, None)) }
    }

    /// The same where some records are in no class.
    pub(crate) fn leaving_out(self, suppressed: Vec<Part>) -> Partition {
        Partition { suppressed, ..self }
    }

    /// The records that are in no class.
    pub fn suppressed(&self) -> &[Part] {
        &self.suppressed
    }

    /// Whether parts name cells of their group.
    pub(crate) fn is_by_cell(&self) -> bool {
        self.is_by_cell
    }

    /// The classes, with parts that name the cells of their groups.
    pub(crate) fn by_cells(&self, counts: &GroupCounts) -> Vec<Vec<Part>> {
        if self.is_by_cell || counts.sensitive().is_empty() {
            return self.classes.clone();
        }
        let mut wanted: Vec<Vec<ShareWanted>> = vec![Vec::new(); counts.n_groups()];
        for (class, parts) in (0..).zip(&self.classes) {
            parts.iter().for_each(|part| wanted[part.base as usize].push((part.value, Some(class), part.n_records)));
        }
        let mut classes = vec![Vec::new(); self.classes.len()];
        for (base, of_base) in wanted.into_iter().enumerate() {
            for Share { cell, group, n_records } in self.shares(counts, base, of_base) {
                let of_class: &mut Vec<Part> = &mut classes[group.expect("every record goes somewhere") as usize];
                let part = |cell: u32, n_records| Part { base: number(base), value: Some(Code(cell)), n_records };
                match cell {
                    Some(cell) => of_class.push(part(cell, n_records)),
                    None => of_class.extend((0..).zip(counts.cells(base)).map(|(cell, (_, n))| part(cell, n))),
                }
            }
        }
        classes
    }

    /// How many classes there are.
    pub fn n_classes(&self) -> usize {
        self.classes.len()
    }

    /// The classes, each as its parts.
    pub fn classes(&self) -> impl ExactSizeIterator<Item = &[Part]> {
        self.classes.iter().map(Vec::as_slice)
    }

    /// How many records each class has.
    pub fn sizes(&self) -> impl Iterator<Item = u64> {
        self.classes.iter().map(|parts| parts.iter().map(|part| part.n_records).sum())
    }

    /// Says what is published of each record.
    ///
    /// # Guarantee
    /// A published group is made of whole classes, so that it has whatever every class has at least.
    /// Its cells depend on nothing but which values its records have.
    pub fn recode(&self, counts: &GroupCounts, hierarchies: &[Hierarchy], style: CellStyle) -> Recoding {
        self.recode_with(counts, hierarchies, style, &Task::default()).expect("nobody stops it")
    }

    /// The same as work that somebody may stop.
    ///
    /// # Errors
    /// Where somebody has stopped it.
    pub fn recode_with(
        &self,
        counts: &GroupCounts,
        hierarchies: &[Hierarchy],
        style: CellStyle,
        task: &Task,
    ) -> Result<Recoding> {
        Ok(self.recode_classes(counts, hierarchies, style, task)?.0)
    }

    /// Which classes a reader takes for one, because all of their cells have the same texts: each group as the places of
    /// its classes.
    pub(crate) fn alike(
        &self,
        counts: &GroupCounts,
        hierarchies: &[Hierarchy],
        style: CellStyle,
        task: &Task,
    ) -> Result<Vec<Vec<usize>>> {
        let (recoding, group_of_class) = self.recode_classes(counts, hierarchies, style, task)?;
        let (seen, n_groups) = recoding.as_seen();
        let mut alike = vec![Vec::new(); n_groups];
        for (class, &group) in group_of_class.iter().enumerate() {
            alike[seen[group as usize] as usize].push(class);
        }
        Ok(alike)
    }

    /// What is published of each record, and the published group of each class.
    fn recode_classes(
        &self,
        counts: &GroupCounts,
        hierarchies: &[Hierarchy],
        style: CellStyle,
        task: &Task,
    ) -> Result<(Recoding, Vec<u32>)> {
        let mut writers: Vec<Writer> =
            hierarchies.iter().enumerate().map(|(a, hierarchy)| Writer::new(counts, a, hierarchy, style)).collect();
        let mut rows: Vec<Vec<u32>> = Vec::with_capacity(self.classes.len());
        for (i, parts) in self.classes.iter().enumerate() {
            task.go_on_now_and_then(i, N_BETWEEN)?;
            rows.push(writers.iter_mut().enumerate().map(|(a, writer)| writer.cell_of(counts, a, parts)).collect());
        }
        let (group_of_class, n_groups) = numbered(rows.iter());
        let mut distinct = vec![Vec::new(); n_groups];
        let mut shares: Vec<Vec<ShareWanted>> = vec![Vec::new(); counts.n_groups()];
        for part in &self.suppressed {
            shares[part.base as usize].push((part.value, None, part.n_records));
        }
        for ((parts, &group), row) in self.classes.iter().zip(&group_of_class).zip(&rows) {
            distinct[group as usize].clone_from(row);
            for part in parts {
                shares[part.base as usize].push((part.value, Some(group), part.n_records));
            }
        }
        let share = |(base, of_base)| {
            task.go_on_now_and_then(base, N_BETWEEN)?;
            Ok(self.shares(counts, base, of_base))
        };
        let shares = shares.into_iter().enumerate().map(share).collect::<Result<Vec<_>>>()?;
        let cells: Vec<Vec<Cell>> = writers.into_iter().map(|writer| writer.cells).collect();
        let is_exact = cells.iter().map(|cells| cells.iter().all(|cell| matches!(cell.span, Span::Value(_)))).collect();
        Ok((Recoding::new(shares.into_iter(), cells, distinct, is_exact), group_of_class))
    }
}

/// Classes, or groups of the counts, between two questions whether the recoding is still wanted.
const N_BETWEEN: usize = 256;

impl Partition {
    /// Decides which records of a group of the counts go where, when so many (of a sensitive value, where that matters)
    /// go to each published group.
    ///
    /// Where they go to several, every group gets its part of each combination of sensitive values as evenly as whole
    /// records can be: then a release does not depend on the order of the table, and what it reveals is known from the
    /// counts.
    fn shares(&self, counts: &GroupCounts, base: usize, mut wanted: Vec<ShareWanted>) -> Vec<Share> {
        wanted.sort_unstable();
        // Where diversity counts, a record with another value than was counted must be found out.
        let is_whole = wanted.iter().all(|&(value, group, _)| value.is_none() && group == wanted[0].1);
        if is_whole || counts.sensitive().is_empty() {
            let mut shares: Vec<Share> = Vec::new();
            for (_, group, n_records) in wanted {
                match shares.last_mut() {
                    Some(last) if last.group == group => last.n_records += n_records,
                    _ => shares.push(Share { cell: None, group, n_records }),
                }
            }
            return shares;
        }
        let mut shares = Vec::new();
        // What is meant by each value that is wanted, in order: both go up side by side.
        let meant = |(cell, (codes, n)): (u32, (&[Code], u64))| match wanted[0].0 {
            None => (None, cell, n),
            Some(_) if self.is_by_cell => (Some(Code(cell)), cell, n),
            Some(_) => (Some(codes[self.least.sensitive]), cell, n),
        };
        let mut cells: Vec<(Option<Code>, u32, u64)> = (0..).zip(counts.cells(base)).map(meant).collect();
        cells.sort_unstable();
        for of_value in wanted.chunk_by(|a, b| a.0 == b.0) {
            let start = cells.partition_point(|cell| cell.0 < of_value[0].0);
            let n_cells = cells[start..].partition_point(|cell| cell.0 == of_value[0].0);
            let mut left: Vec<(u32, u64)> =
                cells[start..start + n_cells].iter().map(|&(_, cell, n)| (cell, n)).collect();
            for of_group in of_value.chunk_by(|a, b| a.1 == b.1) {
                let (group, n_records) = (of_group[0].1, of_group.iter().map(|wanted| wanted.2).sum());
                let taken = evenly(n_records, &left);
                for ((cell, left), n_records) in left.iter_mut().zip(taken) {
                    *left -= n_records;
                    shares.push(Share { cell: Some(*cell), group, n_records });
                }
            }
            assert!(left.iter().all(|(_, left)| *left == 0), "every record goes somewhere");
        }
        shares.retain(|share| share.n_records > 0);
        shares.sort_unstable_by_key(|share| (share.cell, share.group));
        shares
    }
}

/// How many to take of each kind so that it is `n` together, as nearly in proportion to what is there as can be.
fn evenly(n: u64, there: &[(u32, u64)]) -> Vec<u64> {
    let all: u64 = there.iter().map(|(_, n)| n).sum();
    let exact = |n_there: u64| u128::from(n) * u128::from(n_there);
    let whole = |n_there: u64| (exact(n_there) / u128::from(all.max(1))) as u64;
    let mut taken: Vec<u64> = there.iter().map(|&(_, n_there)| whole(n_there)).collect();
    let mut by_rest: Vec<usize> = (0..there.len()).collect();
    by_rest.sort_by_key(|&i| std::cmp::Reverse(exact(there[i].1) % u128::from(all.max(1))));
    let n_more = n - taken.iter().sum::<u64>();
    // As many as there are rests to add up to a whole, so that no kind gives more than it has.
    by_rest.into_iter().take(n_more as usize).for_each(|i| taken[i] += 1);
    taken
}

/// By class and attribute, the text that [`Partition::recode`] writes into its cells.
pub(crate) fn texts_of(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    style: CellStyle,
    classes: &[Vec<Part>],
) -> Vec<Vec<String>> {
    let mut texts = vec![Vec::with_capacity(hierarchies.len()); classes.len()];
    for (a, hierarchy) in hierarchies.iter().enumerate() {
        let mut writer = Writer::new(counts, a, hierarchy, style);
        for (parts, texts) in classes.iter().zip(&mut texts) {
            let cell = writer.cell_of(counts, a, parts);
            texts.push(writer.cells[cell as usize].text.clone());
        }
    }
    texts
}

/// Makes the cells of one quasi-identifier.
struct Writer<'a> {
    hierarchy: &'a Hierarchy,
    missing: Option<Code>,
    ends: Ends<'a>,
    /// Where cells are rounded to them.
    steps: Option<Steps>,
    style: CellStyle,
    cells: Vec<Cell>,
    known: FxHashMap<Span, u32>,
    codes: Vec<Code>,
}

impl<'a> Writer<'a> {
    fn new(counts: &GroupCounts, attribute: usize, hierarchy: &'a Hierarchy, style: CellStyle) -> Writer<'a> {
        Writer {
            hierarchy,
            missing: counts.domains()[attribute].missing(),
            ends: Ends::new(hierarchy),
            steps: (style == CellStyle::Rounded).then(|| Steps::of(hierarchy)).flatten(),
            style,
            cells: Vec::new(),
            known: FxHashMap::default(),
            codes: Vec::new(),
        }
    }

    /// The place of the cell for the values that a class has.
    fn cell_of(&mut self, counts: &GroupCounts, attribute: usize, parts: &[Part]) -> u32 {
        let mut codes = std::mem::take(&mut self.codes);
        codes.clear();
        codes.extend(parts.iter().map(|part| counts.codes(part.base as usize)[attribute]));
        codes.sort_unstable();
        codes.dedup();
        let span = self.span(&codes);
        self.codes = codes;
        if let Some(&place) = self.known.get(&span) {
            return place;
        }
        let place = number(self.cells.len());
        let is_missing = matches!(span, Span::Value(code) if Some(code) == self.missing);
        let mut cell = Cell::new(self.text(&span), is_missing, span.clone(), &self.ends);
        if let (Some(steps), Span::Range(low, high)) = (&self.steps, &span) {
            cell.ends = steps.ends(*low, *high);
        }
        self.cells.push(cell);
        self.known.insert(span, place);
        place
    }

    fn span(&self, codes: &[Code]) -> Span {
        let (low, high) = (codes[0], codes[codes.len() - 1]);
        // Not even whether there is a value is known: no range says that.
        let is_numeric = self.ends.positions.is_some();
        let is_range = is_numeric && Some(high) != self.missing;
        match self.style {
            CellStyle::Rounded if is_range && self.steps.is_some() => {
                let (low, high) = self.steps.as_ref().expect("just seen").around(low, high);
                Span::Range(low, high)
            }
            _ if codes.len() == 1 => Span::Value(low),
            CellStyle::Stars => Span::Label(self.hierarchy.top() as u8, Code(0)),
            CellStyle::Ranges | CellStyle::Sets if is_range => Span::Range(low, high),
            CellStyle::Midpoints if is_range => Span::Middle(low, high),
            CellStyle::Sets if !is_numeric => Span::Set(codes.to_vec()),
            CellStyle::Ranges | CellStyle::Sets | CellStyle::Midpoints if is_numeric => {
                Span::Label(self.hierarchy.top() as u8, Code(0))
            }
            _ => {
                let (level, code) = closest_common_ancestor(self.hierarchy, codes);
                Span::Label(level as u8, code)
            }
        }
    }

    fn text(&self, span: &Span) -> String {
        let value = |code: &Code| self.hierarchy.level(0).labels()[code.index()].as_str();
        match span {
            Span::Value(code) if self.style == CellStyle::Sets => sets::write_one(value(code)),
            Span::Value(code) => value(code).to_string(),
            Span::Range(low, high) => match &self.steps {
                Some(steps) => steps.text(*low, *high),
                None => format!("[{}]", range_text(value(low), value(high))),
            },
            Span::Middle(low, high) => middle(self.hierarchy.kind(), value(low), value(high)),
            Span::Label(level, code) => self.hierarchy.level(usize::from(*level)).labels()[code.index()].clone(),
            Span::Set(codes) => sets::write(codes.iter().map(value)),
        }
    }
}

/// The lowest level at which all of some values have the same label, and that label.
pub(crate) fn closest_common_ancestor(hierarchy: &Hierarchy, codes: &[Code]) -> (usize, Code) {
    let shared = |level: usize| {
        let of_base = hierarchy.level(level).of_base();
        let first = of_base[codes[0].index()];
        codes.iter().all(|code| of_base[code.index()] == first).then_some((level, first))
    };
    (0..hierarchy.n_levels()).find_map(shared).expect("all values share the top")
}

/// The middle of two numbers or dates as a text; of dates the earlier of two middle days.
fn middle(kind: Kind, low: &str, high: &str) -> String {
    if kind == Kind::Date {
        let day = |text| parse_date(text).map(|(year, month, day)| days_of_date(year, month, day));
        if let (Some(low), Some(high)) = (day(low), day(high)) {
            return date_text((low + high).div_euclid(2));
        }
    }
    let exact = Decimal::parse(low).zip(Decimal::parse(high)).and_then(|(low, high)| low.middle(high));
    // Numbers so far apart that their sum has too many digits have a middle all the same.
    let rounded = || Some((low.parse::<f64>().ok()? / 2.0 + high.parse::<f64>().ok()? / 2.0).to_string());
    exact.map(|middle| middle.to_string()).or_else(rounded).unwrap_or_else(|| ANY.to_string())
}

#[cfg(test)]
mod rounded_tests;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middles() {
        for (kind, low, high, expected) in [
            (Kind::Integer, "24", "30", "27"),
            (Kind::Integer, "24", "29", "26.5"),
            (Kind::Integer, "-1", "0", "-0.5"),
            (Kind::Integer, "-4", "-1", "-2.5"),
            (Kind::Integer, "-4", "5", "0.5"),
            (Kind::Number, "0.1", "0.2", "0.15"),
            (Kind::Number, "1", "2.5", "1.75"),
            (Kind::Number, "1234567890123.41", "1234567890123.43", "1234567890123.42"),
            (Kind::Integer, "9223372036854775806", "9223372036854775807", "9223372036854775806.5"),
            (Kind::Number, "-1e300", "3e300", &format!("1{}", "0".repeat(300))),
            (Kind::Date, "2024-02-28", "2024-03-01", "2024-02-29"),
            (Kind::Date, "1969-12-31", "1970-01-01", "1969-12-31"),
        ] {
            assert_eq!(middle(kind, low, high), expected, "{low} and {high}");
        }
    }
}
