//! How evenly values were dealt.

use rustc_hash::FxHashMap;

use crate::counts::GroupCounts;
use crate::recode::partition::{Part, Partition};
use crate::table::Code;

/// By how much the classes of a partition differ at most in how many records they have of a value: for each sensitive
/// attribute, and for their combination.
pub fn differences(counts: &GroupCounts, partition: &Partition) -> (Vec<u64>, u64) {
    let n_attributes = counts.sensitive().len();
    let values = |part: &Part| counts.cell(part.base as usize, part.value.map_or(0, |cell| cell.index()));
    let mut least_most: FxHashMap<(usize, Vec<Code>), (u64, u64, u64)> = FxHashMap::default();
    for parts in partition.classes() {
        let mut found: FxHashMap<(usize, Vec<Code>), u64> = FxHashMap::default();
        for part in parts {
            let codes = values(part).expect("a part names a cell of its group").0;
            for (s, code) in codes.iter().enumerate() {
                *found.entry((s, vec![*code])).or_default() += part.n_records;
            }
            *found.entry((n_attributes, codes.to_vec())).or_default() += part.n_records;
        }
        for (value, n) in found {
            let (least, most, n_classes) = least_most.entry(value).or_insert((u64::MAX, 0, 0));
            (*least, *most, *n_classes) = (n.min(*least), n.max(*most), *n_classes + 1);
        }
    }
    let mut differ = vec![0; n_attributes + 1];
    for ((s, _), (least, most, n_classes)) in least_most {
        let least = if n_classes < partition.n_classes() as u64 { 0 } else { least };
        differ[s] = differ[s].max(most - least);
    }
    let of_all = differ.pop().expect("there is one more than attributes");
    (differ, of_all)
}
