//! Saved lattices: the same answers bit for bit, and of damaged bytes an error, never another answer.

use crate::common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use common::random::{Dice, any_mixed_tables, chance, larger_tables, requests};
use common::*;
use incrowd::lattice::saved::{ReadAt, Section, open, open_counts, save};
use incrowd::search::as_published::negotiate_as_published;
use incrowd::search::frontier::frontier;
use incrowd::task::Task;
use incrowd::{Answer, Error, ErrorKind, GroupCounts, Lattice, Measure, Quality, Request, Result, explain, negotiate};
use proptest::prelude::*;

struct Memory(Vec<u8>);

impl ReadAt for Memory {
    fn read(&self, start: u64, n_bytes: usize) -> Result<Vec<u8>> {
        let bytes = self.0.get(start as usize..).and_then(|rest| rest.get(..n_bytes));
        bytes.map(<[u8]>::to_vec).ok_or_else(|| Error::new(ErrorKind::Data, "ends too early"))
    }
}

/// Some bytes of something else, then those of the lattice.
fn saved(lattice: &Lattice, counts: &GroupCounts) -> (Vec<u8>, Vec<Section>) {
    let mut bytes = b"something else".to_vec();
    let start = bytes.len() as u64;
    let mut write = |more: &[u8]| {
        bytes.extend_from_slice(more);
        Ok(())
    };
    let sections = save(lattice, counts, start, &mut write).expect("memory takes it");
    assert_eq!(sections.iter().map(|section| section.n_bytes).sum::<u64>() + start, bytes.len() as u64);
    (bytes, sections)
}

fn opened(bytes: Vec<u8>, sections: &[Section]) -> Result<Lattice> {
    open(sections, Arc::new(Memory(bytes)), &Task::default())
}

#[track_caller]
fn check_same(lattice: &Lattice, copy: &Lattice, requests: &[Request]) {
    for request in requests {
        let answer = negotiate(copy, request);
        assert_eq!(answer, negotiate(lattice, request), "{request:?}");
        let same_bits = |answer: &Result<Answer>| format!("{answer:?}");
        assert_eq!(same_bits(&answer), same_bits(&negotiate(lattice, request)));
        assert_eq!(negotiate_as_published(copy, request), negotiate_as_published(lattice, request));
        let why = |lattice| explain(lattice, &request.level_max, &request.criteria).expect("one of the schemes");
        assert_eq!(why(copy), why(lattice));
        let bargains = |lattice| frontier(lattice, request, Measure::Size, &Quality::Ncp.into(), &Task::default());
        assert_eq!(bargains(copy), bargains(lattice));
    }
}

#[track_caller]
fn check_whole(lattice: &Lattice, copy: &Lattice) {
    assert_eq!(copy.hierarchies(), lattice.hierarchies());
    assert_eq!(copy.signatures(), lattice.signatures());
    assert_eq!(copy.sensitive(), lattice.sensitive());
    assert_eq!(format!("{:?}", copy.entropies()), format!("{:?}", lattice.entropies()));
    let numbers = |lattice: &Lattice| (lattice.n_records(), lattice.n_dropped());
    assert_eq!(numbers(copy), numbers(lattice));
    for place in 0..lattice.schemes().len() {
        assert_eq!(copy.profile(place), lattice.profile(place));
    }
    copy.intact().expect("nothing is damaged");
    assert_eq!(copy.n_bytes(), lattice.n_bytes());
}

proptest! {
    #![proptest_config(chance(60))]
    #[test]
    fn a_saved_lattice_answers_as_the_one_that_was_saved(table in any_mixed_tables(), seed in any::<u64>()) {
        let Made { lattice, counts, .. } = table.make();
        let (bytes, sections) = saved(&lattice, &counts);
        let copy = opened(bytes.clone(), &sections).expect("nothing is damaged");
        check_same(&lattice, &copy, &requests(&table, &mut Dice(seed)));
        check_whole(&lattice, &copy);
        let kept = open_counts(&sections, &Memory(bytes.clone()), &Task::default()).expect("nothing is damaged");
        prop_assert_eq!(&kept, &counts);
        let (again, _) = saved(&copy, &kept);
        prop_assert_eq!(again, bytes, "saved again");
    }
}

proptest! {
    #![proptest_config(chance(20))]
    #[test]
    fn a_larger_saved_lattice_answers_as_the_one_that_was_saved(table in larger_tables(), seed in any::<u64>()) {
        let Made { lattice, counts, .. } = table.make();
        let (bytes, sections) = saved(&lattice, &counts);
        check_whole(&lattice, &opened(bytes.clone(), &sections).expect("nothing is damaged"));
        check_same(&lattice, &opened(bytes, &sections).expect("as before"), &requests(&table, &mut Dice(seed)));
    }
}

proptest! {
    #![proptest_config(chance(12))]
    #[test]
    fn of_damaged_bytes_there_is_an_error_or_the_same_answer(table in any_mixed_tables(), seed in any::<u64>()) {
        let Made { lattice, counts, .. } = table.make();
        let requests = requests(&table, &mut Dice(seed));
        let (bytes, sections) = saved(&lattice, &counts);
        let mut dice = Dice(seed);
        for _ in 0..60 {
            let mut damaged = bytes.clone();
            match dice.roll(4) {
                0 => damaged.truncate(dice.roll(bytes.len())),
                _ => {
                    let at = dice.roll(bytes.len());
                    damaged[at] ^= 1 << dice.roll(8);
                }
            }
            let Ok(copy) = opened(damaged, &sections) else { continue };
            for request in &requests {
                let answer = catch_unwind(AssertUnwindSafe(|| negotiate(&copy, request))).expect("no panic");
                let expected = negotiate(&lattice, request);
                prop_assert!(answer.is_err() || answer == expected, "{:?}: {:?}", request, answer);
                let bargains = |lattice| frontier(lattice, request, Measure::Size, &Quality::Ncp.into(), &Task::default());
                let answer = bargains(&copy);
                prop_assert!(answer.is_err() || answer == bargains(&lattice));
            }
        }
    }
}

/// Someone who can compute checksums still gets no further than an error.
#[test]
fn sections_that_do_not_fit_together_are_refused() {
    let attribute = Attribute::flat("a", &["x", "y"]);
    let table = Table {
        quasi_identifiers: vec![attribute],
        records: records(&[&[Some("x"), Some("1")], &[Some("y"), Some("2")]]),
        sensitive: one_sensitive(),
        has_note: false,
        missing: incrowd::Missing { tokens: vec![String::new()], drop_records: false, ..Default::default() },
        wanted: Wanted::default(),
    };
    let Made { lattice, counts, .. } = table.make();
    let (bytes, sections) = saved(&lattice, &counts);
    for section in sections.iter().filter(|section| section.checksum.is_some()) {
        for at in section.start as usize..(section.start + section.n_bytes) as usize {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                let content = &changed[section.start as usize..][..section.n_bytes as usize];
                let checksum = Some(crc32fast::hash(content));
                let fitting = |known: &Section| match known.name == section.name {
                    true => Section { checksum, ..known.clone() },
                    false => known.clone(),
                };
                let sections: Vec<Section> = sections.iter().map(fitting).collect();
                // Whatever comes of it, it is no panic.
                let _ =
                    open_counts(&sections, &Memory(changed.clone()), &Task::default()).map(|counts| counts.n_records());
                if let Ok(copy) = opened(changed, &sections) {
                    let _ = (0..copy.schemes().len()).map(|place| copy.profile(place).n_groups()).sum::<u64>();
                }
            }
        }
    }
}
