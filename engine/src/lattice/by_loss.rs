//! The schemes of a whole lattice in the order of what each loses at least by NCP, so that a search for the best may stop.
//!
//! A scheme loses least where nothing is suppressed, and then its loss is a sum over its attributes: what each costs alone,
//! at its level. So a few schemes, those that generalize one attribute, tell it of all.

use crate::loss::LOSS_ONE;
use crate::scheme::Schemes;

/// A scheme and what it loses at least.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Floor {
    pub(crate) ncp: f64,
    pub(crate) place: u32,
}

/// All places of a whole lattice, those that lose least first; `ncp` is what a place loses where nothing is suppressed.
pub(crate) fn floors(schemes: &Schemes, ncp: impl Fn(usize) -> f64) -> Vec<Floor> {
    let tops = schemes.tops();
    let of_scheme = |levels: &[u8]| ncp(schemes.find_levels(levels).expect("the lattice is whole"));
    let finest = vec![0; tops.len()];
    let of_finest = of_scheme(&finest);
    let of_attribute = |(a, top): (usize, &u8)| -> Vec<f64> {
        let alone = |level: u8| {
            let mut levels = finest.clone();
            levels[a] = level;
            of_scheme(&levels) - of_finest
        };
        (0..=*top).map(alone).collect()
    };
    let of_level: Vec<Vec<f64>> = tops.iter().enumerate().map(of_attribute).collect();
    // What rounding could take away: a record that is `*` everywhere may cost a few steps more than a suppressed one.
    let slack = 1e-9 + 2.0 * (tops.len() + 1) as f64 / LOSS_ONE as f64;
    let floor = |place: usize| {
        let levels = schemes.vector(place).iter().zip(&of_level);
        let sum: f64 = levels.map(|(&level, of_level)| of_level[usize::from(level)]).sum();
        Floor { ncp: of_finest + sum - slack, place: place as u32 }
    };
    let mut floors: Vec<Floor> = (0..schemes.len()).map(floor).collect();
    floors.sort_by(|a, b| a.ncp.total_cmp(&b.ncp).then(a.place.cmp(&b.place)));
    floors
}
