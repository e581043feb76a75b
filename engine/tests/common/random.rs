//! Random tables and requests, made of few random numbers, so that a failing one shrinks to something readable.

use std::collections::HashSet;

use incrowd::criterion::NEVER;
use incrowd::number::Crowd;
use incrowd::search::request::check_criteria;
use incrowd::table::Needed;
use incrowd::{Criteria, Criterion, Distance, Measure, Missing, Quality, Ranking, Request};
use proptest::collection::{SizeRange, vec};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

use super::{Attribute, Cell, NOTE, Naive, SENSITIVE, Sensitive, Table, Wanted, one_sensitive, scheme};

/// How many random cases to try, from a seed that is always the same.
///
/// `PROPTEST_CASES=1000` tries as many of everything that is a `proptest!`, also where a case takes seconds, and of the
/// others in proportion to the 256 that are usual; `PROPTEST_RNG_SEED` takes another seed.
pub fn chance(n_cases: u32) -> Config {
    const N_CASES_BY_DEFAULT: u32 = 256;
    let config = Config::default();
    let rng_seed = match config.rng_seed {
        RngSeed::Random => RngSeed::Fixed(0x1C20_31D5),
        fixed => fixed,
    };
    Config {
        cases: (n_cases * config.cases / N_CASES_BY_DEFAULT).max(1),
        rng_seed,
        failure_persistence: None,
        ..config
    }
}

/// What the values of an attribute look like.
#[derive(Clone, Copy, Debug)]
enum Look {
    Text,
    Integer,
    Decimal,
    Date,
}

impl Look {
    fn value(self, i: usize) -> String {
        match self {
            Look::Text => format!("v{i}"),
            Look::Integer => (3 * i as i64 * i as i64 - 20).to_string(),
            Look::Decimal => format!("{}.5", 7 * i),
            Look::Date => format!("{}-{:02}-{:02}", 1999 + i / 3, i % 12 + 1, i % 28 + 1),
        }
    }
}

/// An attribute of so many values: its look, and for each level between value and `*` how labels are gathered.
fn attribute(n_values: impl Strategy<Value = usize>, n_levels_max: usize) -> impl Strategy<Value = RandomAttribute> {
    let look = prop_oneof![Just(Look::Text), Just(Look::Integer), Just(Look::Decimal), Just(Look::Date)];
    let gathered = vec((vec(any::<u8>(), 9), any::<bool>()), 0..=n_levels_max);
    (n_values, look, gathered, any::<bool>(), 1..=4u8).prop_map(|(n_values, look, levels, knows_missing, weight)| {
        RandomAttribute { n_values, look, levels, knows_missing, weight }
    })
}

#[derive(Clone, Debug)]
struct RandomAttribute {
    n_values: usize,
    look: Look,
    /// Which labels become one, and whether they take the name of one of them.
    levels: Vec<(Vec<u8>, bool)>,
    /// Whether the hierarchy says what becomes of a missing value.
    knows_missing: bool,
    weight: u8,
}

impl RandomAttribute {
    fn build(&self, name: String, missing: &Missing) -> Attribute {
        let values = (0..self.n_values).map(|i| self.look.value(i));
        let missing_label = missing.tokens.first().cloned().unwrap_or_default();
        let values = values.chain(self.knows_missing.then_some(missing_label));
        let mut rows: Vec<Vec<String>> = values.map(|value| vec![value]).collect();
        for (level, (dice, keeps_names)) in self.levels.iter().enumerate() {
            let mut labels: Vec<String> = rows.iter().map(|row| row[level].clone()).collect();
            labels.dedup();
            let mut distinct: Vec<String> = Vec::new();
            for label in labels {
                if !distinct.contains(&label) {
                    distinct.push(label);
                }
            }
            let class = |label: &String| {
                let i = distinct.iter().position(|known| known == label).expect("taken from the rows");
                dice[i % dice.len()] as usize % distinct.len()
            };
            let name_of = |label: &String| match keeps_names {
                true => distinct.iter().find(|other| class(other) == class(label)).expect("itself").clone(),
                false => format!("{name} {level} {}", class(label)),
            };
            rows.iter_mut().for_each(|row| row.push(name_of(&row[level])));
        }
        Attribute { name, rows, weight: f64::from(self.weight) }
    }
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    Any,
    AllEqual,
    AllDistinct,
}

pub fn policies() -> impl Strategy<Value = Missing> {
    let tokens = prop_oneof![Just(vec![]), Just(vec!["?"]), Just(vec!["n/a", "?"])];
    let all_but = |name: &str| Needed::AllBut(vec![name.to_string()]);
    let needed = prop_oneof![Just(Needed::All), Just(all_but(SENSITIVE)), Just(all_but(NOTE))];
    (tokens, any::<bool>(), needed).prop_map(|(tokens, drop_records, needed)| Missing {
        tokens: tokens.into_iter().map(String::from).collect(),
        drop_records,
        needed,
    })
}

/// The cell that a random number stands for; few are missing, as a null or as a token.
fn cell(dice: u16, n_values: usize, missing: &Missing, value: impl Fn(usize) -> String) -> Cell {
    match dice % 32 {
        31 => None,
        30 => missing.tokens.last().cloned(),
        _ => Some(value(dice as usize / 32 % n_values)),
    }
}

/// Tables with so many quasi-identifiers, records and sensitive values.
fn tables(
    n_attributes: impl Into<SizeRange>,
    attribute: impl Strategy<Value = RandomAttribute>,
    n_records: impl Into<SizeRange>,
    n_sensitive: impl Strategy<Value = Option<usize>>,
    policies: impl Strategy<Value = Missing>,
) -> impl Strategy<Value = Table> {
    let shape = prop_oneof![6 => Just(Shape::Any), 1 => Just(Shape::AllEqual), 2 => Just(Shape::AllDistinct)];
    let attributes = vec(attribute, n_attributes);
    let dice = vec(vec(any::<u16>(), 12), n_records);
    (attributes, dice, n_sensitive, policies, shape, any::<bool>()).prop_map(
        |(attributes, dice, n_sensitive, missing, shape, has_note)| {
            let record = |dice: &Vec<u16>| {
                let cells = attributes.iter().zip(dice);
                let cells = cells.map(|(a, &dice)| cell(dice, a.n_values, &missing, |i| a.look.value(i)));
                let sensitive = n_sensitive.map(|n| cell(dice[10], n, &missing, |i| format!("s{i}")));
                let note = has_note.then(|| cell(dice[11], 2, &missing, |i| format!("n{i}")));
                cells.chain(sensitive).chain(note).collect()
            };
            let mut records: Vec<Vec<Cell>> = dice.iter().map(record).collect();
            match shape {
                Shape::Any => {}
                Shape::AllEqual => records = vec![records[0].clone(); records.len()],
                Shape::AllDistinct => {
                    let mut seen = HashSet::new();
                    records.retain(|record| seen.insert(record.clone()));
                }
            }
            let attributes = attributes.iter().enumerate();
            Table {
                quasi_identifiers: attributes.map(|(a, random)| random.build(format!("q{a}"), &missing)).collect(),
                sensitive: if n_sensitive.is_some() { one_sensitive() } else { vec![] },
                has_note,
                missing,
                records,
                wanted: Wanted::default(),
            }
        },
    )
}

/// Up to 60 records of up to 5 quasi-identifiers with up to 8 values each.
pub fn small_tables() -> impl Strategy<Value = Table> {
    tables(1..=5, attribute(1..=8usize, 3), 1..=60, sensitive_values(), policies())
}

/// None, few or many: the more there are, the less often two records share one.
fn sensitive_values() -> impl Strategy<Value = Option<usize>> {
    prop_oneof![Just(None), (1..=3usize).prop_map(Some), (4..=130usize).prop_map(Some)]
}

/// So many records that groups grow beyond what is counted in arrays, and sensitive values beyond two words of bits.
pub fn larger_tables() -> impl Strategy<Value = Table> {
    let n_sensitive = prop_oneof![Just(None), Just(Some(2)), Just(Some(64)), Just(Some(100)), Just(Some(1000))];
    tables(1..=3, attribute(1..=8usize, 3), 130..=300, n_sensitive, policies())
}

/// So many quasi-identifiers with so many values that a combination of them needs more than 64 bits.
///
/// Eight to ten of them have at least 129 values, which need 8 bits each; the others have one or two.
pub fn wide_tables() -> impl Strategy<Value = Table> {
    let n_sensitive = prop_oneof![Just(None), Just(Some(3)), Just(Some(1000))];
    let tables = tables(10, attribute(131..=250usize, 1), 140..=220, n_sensitive, Just(Missing::default()));
    (tables, 8..=10usize).prop_map(|(mut table, n_wide)| {
        // Levels between value and `*` for two attributes only: there are enough schemes without.
        for attribute in &mut table.quasi_identifiers[2..] {
            attribute.rows.iter_mut().for_each(|row| row.truncate(1));
        }
        let value = |table: &Table, a: usize, i: usize| Some(table.quasi_identifiers[a].rows[i][0].clone());
        for i in 0..table.records.len() {
            let prime = 131;
            for a in 0..if i < 129 { n_wide } else { 0 } {
                table.records[i][a] = value(&table, a, i * (2 * a + 3) % prime);
            }
            for a in n_wide..10 {
                table.records[i][a] = value(&table, a, i / 3 % (a + 1 - n_wide));
            }
        }
        // Some come twice, so that not every group is a single record.
        let twice: Vec<_> = table.records.iter().step_by(5).cloned().collect();
        table.records.extend(twice);
        table
    })
}

/// Tables, each with some requests to ask of it.
pub fn asked(tables: impl Strategy<Value = Table>) -> impl Strategy<Value = (Table, Vec<Wish>)> {
    (tables, vec(wish(), 3..=12))
}

/// A request in shares of what the table allows, so that it has a meaning on any table.
#[derive(Clone, Debug)]
pub struct Wish {
    which: u8,
    k: f64,
    l: f64,
    suppressed: f64,
    levels: Vec<u8>,
}

fn wish() -> impl Strategy<Value = Wish> {
    // Small values are asked for more often than large ones.
    let share = || (0.0..1.0f64).prop_map(|share| share * share);
    (0..3u8, share(), share(), share(), vec(any::<u8>(), 12)).prop_map(|(which, k, l, suppressed, levels)| Wish {
        which,
        k,
        l,
        suppressed,
        levels,
    })
}

impl Wish {
    pub fn criteria(&self, naive: &Naive) -> Criteria {
        let value = |share: f64, greatest: u64| 1 + (share * greatest as f64) as u64;
        let k = Some(value(self.k, naive.n_records()));
        let l = (naive.n_sensitive() > 0).then(|| value(self.l, naive.n_sensitive() as u64));
        match (self.which, l) {
            (0, _) | (_, None) => Criteria::of(k, None),
            (1, l) => Criteria::of(None, l),
            (_, l) => Criteria::of(k, l),
        }
    }

    pub fn levels(&self, naive: &Naive) -> Vec<u8> {
        naive.tops.iter().zip(&self.levels).map(|(top, dice)| dice % (top + 1)).collect()
    }

    pub fn request(&self, naive: &Naive) -> Request {
        Request {
            criteria: self.criteria(naive),
            n_suppressed_max: (self.suppressed * naive.n_records() as f64) as u64,
            level_max: scheme(&self.levels(naive)),
            best_by: Ranking::from(Quality::Height),
        }
    }
}

/// The same tables, with records that lack a value kept or dropped.
pub fn with_policy(tables: impl Strategy<Value = Table>, drop_records: bool) -> impl Strategy<Value = Table> {
    tables.prop_map(move |mut table| {
        table.missing.drop_records = drop_records;
        table
    })
}

// ---- Every criterion ----

/// All that can be measured of a table with so many sensitive attributes.
pub fn all_measures(n_sensitive: usize, has_population: bool) -> Vec<Measure> {
    let mut measures = vec![Measure::Size];
    measures.extend(has_population.then_some(Measure::Population));
    for s in 0..n_sensitive {
        measures.extend([
            Measure::Distinct(s),
            Measure::Share(s),
            Measure::Entropy(s),
            Measure::Recursive { sensitive: s, l: 2 },
            Measure::Recursive { sensitive: s, l: 3 },
            Measure::Closeness(s),
            Measure::Disclosure(s),
            Measure::Likeness(s),
            Measure::EnhancedLikeness(s),
        ]);
    }
    measures.sort();
    measures
}

/// A sensitive attribute of up to five values, in any distance.
fn sensitive() -> impl Strategy<Value = (RandomAttribute, Distance)> {
    let distance = prop_oneof![Just(Distance::Equal), Just(Distance::Ordered), Just(Distance::Hierarchical)];
    let look = prop_oneof![Just(Look::Text), Just(Look::Integer)];
    (attribute(1..=5usize, 2), look, distance).prop_map(|(random, look, distance)| {
        // Text and numbers only: their order needs no explanation.
        (RandomAttribute { look, ..random }, distance)
    })
}

/// Tables of so many quasi-identifiers and records with one or two sensitive attributes, of which everything is
/// measured; some with a population.
pub fn mixed_tables(
    n_attributes: std::ops::RangeInclusive<usize>,
    n_levels_max: usize,
    n_records: std::ops::RangeInclusive<usize>,
) -> impl Strategy<Value = Table> {
    let attributes = vec(attribute(1..=6usize, n_levels_max), n_attributes);
    let sensitive = vec(sensitive(), 1..=2);
    let dice = vec(vec(any::<u16>(), 12), n_records);
    let people = proptest::option::of(vec(vec(any::<u16>(), 12), 0..=40));
    (attributes, sensitive, dice, people, policies(), any::<bool>()).prop_map(
        |(attributes, sensitive, dice, people, missing, with_entropy)| {
            let cells = |dice: &[u16], attributes: &mut dyn Iterator<Item = &RandomAttribute>| -> Vec<Cell> {
                let cells = attributes.zip(dice);
                cells.map(|(a, &dice)| cell(dice, a.n_values, &missing, |i| a.look.value(i))).collect()
            };
            let quasi_identifiers = |dice: &Vec<u16>| cells(dice, &mut attributes.iter());
            let record = |dice: &Vec<u16>| {
                [quasi_identifiers(dice), cells(&dice[10..], &mut sensitive.iter().map(|(random, _)| random))].concat()
            };
            let build =
                |(i, random): (usize, &RandomAttribute), name: char| random.build(format!("{name}{i}"), &missing);
            let population: Option<Vec<Vec<Cell>>> =
                people.map(|people| people.iter().map(quasi_identifiers).collect());
            Table {
                quasi_identifiers: attributes.iter().enumerate().map(|random| build(random, 'q')).collect(),
                sensitive: sensitive
                    .iter()
                    .enumerate()
                    .map(|(i, (random, distance))| Sensitive::with(build((i, random), 's'), *distance))
                    .collect(),
                has_note: false,
                records: dice.iter().map(record).collect(),
                wanted: Wanted {
                    measures: all_measures(sensitive.len(), population.is_some()),
                    with_entropy,
                    population,
                },
                missing,
            }
        },
    )
}

/// Up to 40 records of up to three quasi-identifiers.
pub fn any_mixed_tables() -> impl Strategy<Value = Table> {
    mixed_tables(1..=3, 2, 1..=40)
}

/// Every single measure, every pair, and some triples.
pub fn mixes(measures: &[Measure], n_triples: usize) -> Vec<Vec<Measure>> {
    let n = measures.len();
    let singles = measures.iter().map(|&measure| vec![measure]);
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    let pairs = pairs.map(|(i, j)| vec![measures[i], measures[j]]);
    let triples = (0..n).flat_map(|i| (i + 1..n).flat_map(move |j| (j + 1..n).map(move |m| [i, j, m])));
    let triples: Vec<Vec<Measure>> = triples.map(|places| places.map(|place| measures[place]).to_vec()).collect();
    let step = (triples.len() / n_triples.max(1)).max(1);
    singles.chain(pairs).chain(triples.into_iter().step_by(step).take(n_triples)).collect()
}

/// Numbers that look random, from a seed.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        ((self.0 >> 33) as usize) % n.max(1)
    }

    /// A request for some measures: values that groups have, or next to those, so that many are ties; none where what
    /// comes out has no meaning on the table.
    pub fn request(&mut self, naive: &Naive, measures: &[Measure]) -> Option<Request> {
        let criteria = Criteria::new(measures.iter().map(|&measure| {
            let groups = naive.schemes.iter().flat_map(|scheme| &scheme.groups);
            let values: std::collections::BTreeSet<u64> =
                groups.map(|group| group.value(measure)).filter(|&value| value < NEVER).collect();
            let values: Vec<u64> = values.into_iter().collect();
            let value = values.get(self.roll(values.len())).copied().unwrap_or(1);
            let value = match self.roll(4) {
                0 => value + 1,
                1 => value.saturating_sub(1),
                _ => value,
            };
            Criterion { measure, value }
        }));
        let n_max = [0, 0, 1, 2, naive.n_records() / 3, naive.n_records() / 2][self.roll(6)];
        let request = Request {
            n_suppressed_max: n_max.min(naive.n_records()),
            level_max: scheme(&naive.tops.iter().map(|&top| self.roll(top as usize + 1) as u8).collect::<Vec<u8>>()),
            best_by: Ranking::from(Quality::Height),
            criteria,
        };
        check_criteria(&request.criteria, Crowd::Records(naive.n_records()), &naive.n_values())
            .is_ok()
            .then_some(request)
    }
}

/// Requests about monotone criteria that a table was measured for, by several rankings.
pub fn requests(table: &Table, dice: &mut Dice) -> Vec<Request> {
    let naive = Naive::new(table);
    let measures: Vec<Measure> = match table.wanted.measures.is_empty() {
        true => all_measures(table.sensitive.len(), false).into_iter().filter(|m| m.is_monotone(false)).collect(),
        false => table.wanted.measures.clone(),
    };
    let measured = table.make().yardstick.measures().to_vec();
    let asked = mixes(&measures, 4).into_iter().filter(|mix| mix.iter().all(|measure| measured.contains(measure)));
    let rankings = [
        Ranking::from(Quality::Height),
        Quality::Ncp.into(),
        Ranking::parse("precision=1,group-size=2").expect("a mix"),
    ];
    let request =
        |mix: Vec<Measure>| Some(Request { best_by: rankings[dice.roll(3)].clone(), ..dice.request(&naive, &mix)? });
    asked.filter_map(request).collect()
}
