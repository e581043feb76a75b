//! What a table and a scheme are, by definition: record by record, text by text.

use super::*;

/// A table as the definitions see it: every record with its labels, every scheme with its groups.
pub struct Naive {
    pub records: Vec<NaiveRecord>,
    pub n_dropped: u64,
    /// By sensitive attribute, how many records have each value.
    pub references: Vec<NaiveReference>,
    pub tops: Vec<u8>,
    /// In the order of their level vectors.
    pub schemes: Vec<NaiveScheme>,
}

pub struct NaiveRecord {
    /// By attribute and level; none is a value that is missing and published as such.
    pub labels: Vec<Vec<Cell>>,
    /// By attribute and level, how much of the value is lost, from 0 to 1.
    pub penalties: Vec<Vec<f64>>,
    /// By attribute and level, how many records have the same label.
    pub n_alike: Vec<Vec<u64>>,
    pub sensitive: Vec<Cell>,
    pub note: Option<Cell>,
}

pub struct NaiveScheme {
    pub levels: Vec<u8>,
    pub groups: Vec<NaiveGroup>,
}

pub struct NaiveGroup {
    /// What the engine measures too, in increasing order of measures.
    pub values: Rc<[(Measure, u64)]>,
    /// Of one record.
    pub loss: f64,
    /// The places of its records.
    pub members: Vec<usize>,
}

#[derive(Clone, Debug)]
pub struct NaiveOffer {
    pub levels: Vec<u8>,
    pub criteria: Criteria,
    pub n_suppressed: u64,
    pub n_groups: u64,
    /// What was measured, with the least private value of a published group.
    pub reached: Vec<(Measure, u64)>,
    pub losses: Losses,
    /// Other schemes that are as good, but for the rounding of losses.
    pub or: Vec<NaiveOffer>,
}

#[derive(Clone, Debug)]
pub enum NaiveAnswer {
    Exact(NaiveOffer),
    Offers {
        suppression: NaiveOffer,
        height: Option<NaiveOffer>,
        /// Each criterion lowered alone, the smallest concession first: that one is the privacy offer.
        privacy: Vec<NaiveOffer>,
    },
}

impl Attribute {
    /// The labels of a value from itself to `*`.
    pub fn labels(&self, value: &Cell, missing: &Missing) -> Vec<Cell> {
        let missing_label = missing.tokens.first().map_or("", String::as_str);
        let written = value.as_deref().unwrap_or(missing_label);
        let row = self.rows.iter().find(|row| row[0] == written);
        let mut between: Vec<Cell> =
            (1..self.rows[0].len()).map(|i| Some(row.map_or(missing_label, |row| &row[i]).to_string())).collect();
        // A last column that says the same of all values is the top already.
        let last_labels: HashSet<_> = self.rows.iter().map(|row| row.last()).collect();
        if self.rows[0].len() > 1 && last_labels.len() == 1 {
            between.pop();
        }
        let top = Some("*".to_string());
        std::iter::once(value.clone()).chain(between).chain([top]).collect()
    }
}

impl Naive {
    pub fn new(table: &Table) -> Naive {
        let n_attributes = table.quasi_identifiers.len();
        let read = |cell: &Cell| cell.clone().filter(|text| !table.missing.tokens.contains(text));
        let all: Vec<Vec<Cell>> = table.records.iter().map(|record| record.iter().map(read).collect()).collect();
        let is_kept = |record: &&Vec<Cell>| table.keeps(record);
        let kept: Vec<Vec<Cell>> = all.iter().filter(is_kept).cloned().collect();
        let n_dropped = (all.len() - kept.len()) as u64;
        let people = table.wanted.population.as_deref().unwrap_or(&[]);
        let people: Vec<Vec<Cell>> = people.iter().map(|person| person.iter().map(read).collect()).collect();
        let people: Vec<Vec<Cell>> = people.iter().filter(is_kept).cloned().collect();

        // By attribute, for every value that occurs: its labels and what they cost, by level.
        let mut labels_of: Vec<HashMap<Cell, Vec<Cell>>> = Vec::new();
        let mut penalties_of: Vec<HashMap<Cell, Vec<f64>>> = Vec::new();
        for (a, attribute) in table.quasi_identifiers.iter().enumerate() {
            let of_people = people.iter().map(|person| person[a].clone());
            let values: BTreeSet<Cell> = kept.iter().map(|record| record[a].clone()).chain(of_people).collect();
            let mut labels: HashMap<Cell, Vec<Cell>> =
                values.iter().map(|value| (value.clone(), attribute.labels(value, &table.missing))).collect();
            // What is called as no value is, and is nothing else, is no value.
            let missing_label = Some(table.missing.label().to_string());
            for level in 1..attribute.labels(&None, &table.missing).len() - 1 {
                let n_alike = labels.values().filter(|labels| labels[level] == missing_label).count();
                let of_missing = labels.get_mut(&None).map(|labels| &mut labels[level]);
                if let Some(label) = of_missing.filter(|label| **label == missing_label && n_alike == 1) {
                    *label = None;
                }
            }
            let penalty_at = |value: &Cell, level: usize| {
                let is_alike = |other: &&Cell| labels[*other][level] == labels[value][level];
                penalty(&values.iter().collect::<Vec<_>>(), &values.iter().filter(is_alike).collect::<Vec<_>>())
            };
            let penalties = |value: &Cell| (0..labels[value].len()).map(|level| penalty_at(value, level)).collect();
            penalties_of.push(values.iter().map(|value| (value.clone(), penalties(value))).collect());
            labels_of.push(labels);
        }
        let n_alike = |a: usize, level: usize, value: &Cell| {
            let label = |value: &Cell| &labels_of[a][value][level];
            kept.iter().filter(|other| label(&other[a]) == label(value)).count() as u64
        };
        let n_alike_of: Vec<HashMap<&Cell, Vec<u64>>> = (0..n_attributes)
            .map(|a| {
                let of_levels =
                    |value: &Cell| (0..labels_of[a][value].len()).map(|level| n_alike(a, level, value)).collect();
                kept.iter()
                    .map(|record| &record[a])
                    .map(|value| (value, value))
                    .collect::<HashMap<_, _>>()
                    .into_keys()
                    .map(|value| (value, of_levels(value)))
                    .collect()
            })
            .collect();
        let naive_record = |record: &Vec<Cell>| NaiveRecord {
            labels: (0..n_attributes).map(|a| labels_of[a][&record[a]].clone()).collect(),
            penalties: (0..n_attributes).map(|a| penalties_of[a][&record[a]].clone()).collect(),
            n_alike: (0..n_attributes).map(|a| n_alike_of[a][&record[a]].clone()).collect(),
            sensitive: record[n_attributes..][..table.sensitive.len()].to_vec(),
            note: table.has_note.then(|| record[n_attributes + table.sensitive.len()].clone()),
        };
        let records: Vec<NaiveRecord> = kept.iter().map(naive_record).collect();
        let people: Vec<Vec<Vec<Cell>>> =
            people.iter().map(|person| (0..n_attributes).map(|a| labels_of[a][&person[a]].clone()).collect()).collect();
        let reference = |(s, sensitive): (usize, &Sensitive)| {
            let mut counts = Counts::new();
            records.iter().for_each(|record| *counts.entry(record.sensitive[s].clone()).or_default() += 1);
            NaiveReference::new(&counts, sensitive.distance, |value| sensitive.labels(value, &table.missing))
        };
        let references: Vec<NaiveReference> = table.sensitive.iter().enumerate().map(reference).collect();

        let top = |attribute: &Attribute| attribute.labels(&None, &table.missing).len() as u8 - 1;
        let tops: Vec<u8> = table.quasi_identifiers.iter().map(top).collect();
        let weights: Vec<f64> = table.quasi_identifiers.iter().map(|attribute| attribute.weight).collect();
        let mut yardstick = NaiveYardstick { measures: measures_of(table), references, known: HashMap::new() };
        let schemes = all_level_vectors(&tops)
            .into_iter()
            .map(|levels| NaiveScheme { groups: groups(&records, &people, &levels, &weights, &mut yardstick), levels })
            .collect();
        Naive { references: yardstick.references, records, n_dropped, tops, schemes }
    }

    /// How many different values each sensitive attribute has.
    pub fn n_values(&self) -> Vec<usize> {
        self.references.iter().map(|reference| reference.counts.len()).collect()
    }

    /// How many different values the first sensitive attribute has; 0 without one.
    pub fn n_sensitive(&self) -> usize {
        self.n_values().first().copied().unwrap_or(0)
    }

    pub fn n_records(&self) -> u64 {
        self.records.len() as u64
    }

    pub fn scheme(&self, levels: &[u8]) -> &NaiveScheme {
        self.schemes.iter().find(|scheme| scheme.levels == levels).expect("all schemes are there")
    }

    /// What would be published: for every record of a group that holds, its labels and its other cells.
    pub fn published(&self, levels: &[u8], criteria: &Criteria) -> Vec<Vec<Cell>> {
        let groups = self.scheme(levels).groups.iter().filter(|group| group.holds(criteria));
        let members = groups.flat_map(|group| &group.members);
        let mut rows: Vec<Vec<Cell>> = members
            .map(|&member| {
                let record = &self.records[member];
                let labels = levels.iter().enumerate().map(|(a, &level)| record.labels[a][level as usize].clone());
                labels.chain(record.sensitive.clone()).chain(record.note.clone()).collect()
            })
            .collect();
        rows.sort();
        rows
    }
}

/// Every vector of levels, in increasing order.
pub fn all_level_vectors(tops: &[u8]) -> Vec<Vec<u8>> {
    match tops {
        [] => vec![vec![]],
        [rest @ .., last] => {
            let shorter = all_level_vectors(rest).into_iter();
            shorter.flat_map(|levels| (0..=*last).map(move |level| [levels.clone(), vec![level]].concat())).collect()
        }
    }
}

/// What the engine measures when it is asked for these measures, in increasing order.
pub(super) fn measures_of(table: &Table) -> Vec<Measure> {
    let distinct = (!table.sensitive.is_empty()).then_some(Measure::Distinct(0));
    let all = table.wanted.measures.iter().copied().chain([Measure::Size]).chain(distinct);
    all.collect::<BTreeSet<Measure>>().into_iter().collect()
}

/// Measures the same records among as many people only once, however many schemes have them as a group.
pub(super) struct NaiveYardstick {
    measures: Vec<Measure>,
    references: Vec<NaiveReference>,
    known: HashMap<(Vec<usize>, u64), Rc<[(Measure, u64)]>>,
}

impl NaiveYardstick {
    fn values(&mut self, records: &[NaiveRecord], members: &[usize], population: u64) -> Rc<[(Measure, u64)]> {
        let NaiveYardstick { measures, references, known } = self;
        let all = || {
            let mut values = vec![Counts::new(); references.len()];
            for &i in members {
                let cells = values.iter_mut().zip(&records[i].sensitive);
                cells.for_each(|(counts, value)| *counts.entry(value.clone()).or_default() += 1);
            }
            let seen = Seen { size: members.len() as u64, population, values };
            measures.iter().map(|&measure| (measure, measured(&seen, measure, references))).collect()
        };
        known.entry((members.to_vec(), population)).or_insert_with(all).clone()
    }
}

pub(super) fn groups(
    records: &[NaiveRecord],
    people: &[Vec<Vec<Cell>>],
    levels: &[u8],
    weights: &[f64],
    yardstick: &mut NaiveYardstick,
) -> Vec<NaiveGroup> {
    let labels_of = |labels: &'_ [Vec<Cell>]| -> Vec<Cell> {
        levels.iter().enumerate().map(|(a, &level)| labels[a][level as usize].clone()).collect()
    };
    let mut n_people: HashMap<Vec<Cell>, u64> = HashMap::new();
    people.iter().for_each(|labels| *n_people.entry(labels_of(labels)).or_default() += 1);
    let mut members_of: HashMap<Vec<Option<&str>>, Vec<usize>> = HashMap::new();
    for (i, record) in records.iter().enumerate() {
        let labels = levels.iter().enumerate().map(|(a, &level)| record.labels[a][level as usize].as_deref());
        members_of.entry(labels.collect()).or_default().push(i);
    }
    let total: f64 = weights.iter().sum();
    let group = |members: Vec<usize>| {
        let first = &records[members[0]];
        let population = match people {
            [] => 0,
            _ => n_people.get(&labels_of(&first.labels)).copied().unwrap_or(0),
        };
        let weighted: f64 =
            levels.iter().enumerate().map(|(a, &level)| first.penalties[a][level as usize] * weights[a]).sum();
        NaiveGroup { values: yardstick.values(records, &members, population), loss: weighted / total, members }
    };
    members_of.into_values().map(group).collect()
}

/// The share of an attribute's values that a label leaves open: Xu et al. (KDD 2006), section 3.
pub(super) fn penalty(values: &[&Cell], alike: &[&Cell]) -> f64 {
    if alike.len() <= 1 {
        return 0.0;
    }
    let present: Vec<&str> = values.iter().filter_map(|value| value.as_deref()).collect();
    let positions: Option<Vec<f64>> = present.iter().map(|text| position(text)).collect();
    let Some(positions) = positions else {
        return alike.len() as f64 / values.len() as f64;
    };
    if alike.iter().any(|value| value.is_none()) {
        return 1.0; // Not even known whether there is a value.
    }
    let alike: Vec<f64> =
        alike.iter().map(|value| position(value.as_deref().expect("present")).expect("a number")).collect();
    range(&alike) / range(&positions)
}

pub(super) fn range(positions: &[f64]) -> f64 {
    let (mut least, mut greatest) = (positions[0], positions[0]);
    for &position in positions {
        least = least.min(position);
        greatest = greatest.max(position);
    }
    greatest - least
}

/// A number, or the number of a day.
pub(super) fn position(text: &str) -> Option<f64> {
    text.parse().ok().or_else(|| day_number(text).map(|day| day as f64))
}

/// How many days lie between the beginning of year 0 and a date like `2024-03-31`.
pub fn day_number(text: &str) -> Option<u32> {
    let parts: Vec<u32> = text.split('-').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let [year, month, day] = parts[..] else { return None };
    let is_leap = |year: u32| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let in_years: u32 = (0..year).map(|year| if is_leap(year) { 366 } else { 365 }).sum();
    let february = if is_leap(year) { 29 } else { 28 };
    let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    Some(in_years + months[..month as usize - 1].iter().sum::<u32>() + day)
}

impl NaiveGroup {
    pub fn size(&self) -> u64 {
        self.members.len() as u64
    }

    pub fn value(&self, measure: Measure) -> u64 {
        let known = self.values.iter().find(|(known, _)| *known == measure);
        known.expect("the table wants it measured").1
    }

    pub fn holds(&self, criteria: &Criteria) -> bool {
        criteria.iter().all(|criterion| is_met(criterion, self.value(criterion.measure)))
    }
}

impl NaiveScheme {
    pub fn height(&self) -> u32 {
        self.levels.iter().map(|&level| u32::from(level)).sum()
    }

    pub fn n_suppressed(&self, criteria: &Criteria) -> u64 {
        self.groups.iter().filter(|group| !group.holds(criteria)).map(NaiveGroup::size).sum()
    }

    /// Groups that look the same to every criterion: how many, and their losses summed.
    pub fn profile(&self) -> BTreeMap<Vec<u64>, (u64, f64)> {
        let mut profile = BTreeMap::new();
        for group in &self.groups {
            let signature = group.values.iter().map(|(_, value)| *value).collect();
            let (n_groups, loss) = profile.entry(signature).or_insert((0, 0.0));
            *n_groups += 1;
            *loss += group.loss;
        }
        profile
    }
}

impl Naive {
    /// What a scheme gives, whether or not it meets anyone's wishes.
    pub fn offer(&self, scheme: &NaiveScheme, criteria: &Criteria) -> NaiveOffer {
        let published: Vec<&NaiveGroup> = scheme.groups.iter().filter(|group| group.holds(criteria)).collect();
        let worst = |&(measure, _): &(Measure, u64)| {
            let values = published.iter().map(|group| group.value(measure));
            (measure, if is_at_least(measure) { values.min() } else { values.max() }.expect("something is published"))
        };
        let reached = published.first().map_or(Vec::new(), |group| group.values.iter().map(worst).collect());
        NaiveOffer {
            levels: scheme.levels.clone(),
            criteria: criteria.clone(),
            n_suppressed: scheme.n_suppressed(criteria),
            n_groups: published.len() as u64,
            reached,
            losses: self.losses(scheme, criteria),
            or: Vec::new(),
        }
    }

    /// Every quality function, record by record; a suppressed record is `*` everywhere.
    pub fn losses(&self, scheme: &NaiveScheme, criteria: &Criteria) -> Losses {
        let n = self.n_records();
        let per_record = |sum: f64| if n == 0 { 0.0 } else { sum / n as f64 };
        let (mut ncp, mut discernibility, mut up, mut bits, mut all_bits) = (0.0, 0u128, 0.0, 0.0, 0.0);
        let (mut n_groups, mut n_suppressed) = (0, 0);
        for group in &scheme.groups {
            let is_published = group.holds(criteria);
            *(if is_published { &mut n_groups } else { &mut n_suppressed }) += 1;
            for record in group.members.iter().map(|&member| &self.records[member]) {
                ncp += if is_published { group.loss } else { 1.0 };
                discernibility += u128::from(if is_published { group.size() } else { n });
                for (a, (&level, &top)) in scheme.levels.iter().zip(&self.tops).enumerate() {
                    let level = if is_published { level } else { top };
                    up += f64::from(level) / f64::from(top) / self.tops.len() as f64;
                    let bits_of = |n_alike: u64| (n_alike as f64 / record.n_alike[a][0] as f64).log2();
                    bits += bits_of(record.n_alike[a][level as usize]);
                    all_bits += bits_of(n);
                }
            }
        }
        Losses {
            ncp: per_record(ncp),
            discernibility,
            // The suppressed records are alike to each other: one group more.
            group_size: n as f64 / (n_groups + u64::from(n_suppressed > 0)).max(1) as f64,
            precision: 1.0 - per_record(up),
            entropy: Some(if all_bits > 0.0 { bits / all_bits } else { 0.0 }),
        }
    }

    /// How much of all that there is to lose is lost, in the mix of a ranking.
    pub fn loss(&self, scheme: &NaiveScheme, criteria: &Criteria, best_by: &Ranking) -> f64 {
        let losses = self.losses(scheme, criteria);
        let n = self.n_records() as f64;
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let top: u32 = self.tops.iter().map(|&top| u32::from(top)).sum();
        let (mut sum, mut weights) = (0.0, 0.0);
        for part in best_by.name().split(',') {
            let (name, weight) = part.split_once('=').unwrap_or((part, "1"));
            let weight: f64 = weight.parse().expect("a number");
            weights += weight;
            sum += weight
                * match name {
                    "height" => share(f64::from(scheme.height()), f64::from(top)),
                    "ncp" => losses.ncp,
                    // From every record alone to all alike.
                    "discernibility" => share(losses.discernibility as f64 - n, n * n - n),
                    "group-size" => share(losses.group_size - 1.0, n - 1.0),
                    "precision" => 1.0 - losses.precision,
                    "entropy" => losses.entropy.expect("computed above"),
                    other => panic!("{other} is no quality function"),
                };
        }
        sum / weights
    }
}
