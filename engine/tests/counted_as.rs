//! Counts of labels are those of a table that has the labels in the place of its sensitive values.

use crate::common;

use common::{Cell, batch};
use incrowd::hierarchy::LabelTable;
use incrowd::{Counter, GroupCounts, Missing, Rule};

/// Values with their labels on two levels; no value has one of its own.
const ROWS: [[&str; 4]; 6] = [
    ["a1", "a", "x", "*"],
    ["a2", "a", "x", "*"],
    ["b1", "b", "x", "*"],
    ["c1", "c", "y", "*"],
    ["c2", "c", "y", "*"],
    ["c3", "c", "y", "*"],
];

struct Dice(u64);

impl Dice {
    fn roll(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

fn counted(records: &[Vec<Cell>], person: &[&str]) -> GroupCounts {
    let missing = Missing { tokens: vec!["?".into()], ..Missing::default() };
    let mut counter = Counter::of_people(&["age", "city"], &["pay", "note"], person, &missing);
    counter.push(&batch(&["age", "city", "pay", "note", "who"], records)).expect("columns of texts");
    counter.finish()
}

#[test]
fn labels_are_counted_as_if_the_table_had_them() {
    let rows = ROWS.iter().zip(1..).map(|(row, line)| (line, row.iter().map(|label| label.to_string()).collect()));
    let rule = Rule::Table(LabelTable::new("labels.csv", rows.collect()).expect("rows of equal length"));
    for seed in 0..200 {
        let mut dice = Dice(seed);
        let n = 1 + dice.roll(25);
        let mut record = || -> Vec<Cell> {
            let pay = if dice.roll(9) == 0 { None } else { Some(ROWS[dice.roll(6)][0].to_string()) };
            let cell = |first: &str, n: usize| Some(format!("{first}{n}"));
            vec![cell("", dice.roll(3)), cell("c", dice.roll(2)), pay, cell("n", dice.roll(2)), cell("p", dice.roll(8))]
        };
        let records: Vec<Vec<Cell>> = (0..n).map(|_| record()).collect();
        for person in [&[][..], &["who"]] {
            let counts = counted(&records, person);
            let hierarchy = rule.resolve(&counts.sensitive()[0]).expect("all values have labels");
            for level in [1, 2] {
                let mut labelled = records.clone();
                for cell in labelled.iter_mut().filter_map(|record| record[2].as_mut()) {
                    let row = ROWS.iter().find(|row| row[0] == cell).expect("a value");
                    *cell = row[level].to_string();
                }
                let (as_if, made) =
                    (counted(&labelled, person), counts.with_labels(&[Some((&hierarchy, level)), None]));
                assert_eq!(made.sensitive(), as_if.sensitive());
                let cells = |counts: &GroupCounts| -> Vec<_> {
                    let of_group = |group: usize| {
                        let cells = counts.cells(group).map(|(codes, n)| (codes.to_vec(), n)).collect::<Vec<_>>();
                        (counts.codes(group).to_vec(), counts.size(group), cells)
                    };
                    (0..counts.n_groups()).map(of_group).collect()
                };
                assert_eq!(cells(&made), cells(&as_if), "seed {seed}, level {level}");
                assert_eq!(made.known_people(), as_if.known_people(), "seed {seed}, level {level}");
            }
        }
    }
}
