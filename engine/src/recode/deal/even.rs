//! Combinations of sensitive values shared out to hands, as evenly as can be in two attributes at once.
//!
//! Records are the edges of a bipartite graph between the values of the first attribute and those of the second, and
//! hands are colours. An edge colouring that is even at every vertex, over every set of parallel edges and over all edges
//! always exists (D. de Werra, "Equitable colorations of graphs", 1971).
//!
//! It is found by halving the hands. The share of half of the hands, `m₁` of `m`, is a flow through the network
//!
//! ```text
//! all ─→ values of the first ─→ (pairs of values ─→) combinations ─→ values of the second ─→ all
//! ```
//!
//! whose numbers are fractions with the denominator `m`. A fraction never comes alone at a node, so that there is a circle
//! of them; along it as much is moved as makes one of them whole. In the end all are, and each is its fraction rounded
//! down or up. So a set of which there are `n` records has between `m₁ · ⌊n / m⌋` and `m₁ · ⌈n / m⌉` of them in one half,
//! likewise in the other, and ⌊n / m⌋ or ⌈n / m⌉ in every hand.
//!
//! What it costs: for every halving, the distinct combinations in it times the length of a circle, which is a few
//! steps as long as most values have a fraction of their own.

use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::task::Task;

/// So many records of a kind.
pub(super) type Lot = (u32, u32);

/// What of some lots each of so many hands gets, hand by hand: kinds, increasing.
///
/// `kinds` has for every kind its values of at least two attributes, and kinds are in the order of these.
///
/// # Guarantee
/// Between two hands, the numbers of records, of records of a value of the first attribute, of a value of the second, of a
/// pair of these, and of a kind differ by at most one.
pub(super) fn share_out(kinds: &[Vec<u32>], lots: Vec<Lot>, n_hands: usize, task: &Task) -> Result<Vec<Vec<u32>>> {
    task.go_on()?;
    if n_hands == 1 {
        let cards = lots.iter().flat_map(|&(kind, n)| std::iter::repeat_n(kind, n as usize));
        return Ok(vec![cards.collect()]);
    }
    let n_first = n_hands / 2;
    let first = share(kinds, &lots, n_first as u64, n_hands as u64, task)?;
    let rest: Vec<Lot> = lots.iter().zip(&first).map(|(&(kind, n), &n_first)| (kind, n - n_first)).collect();
    let first: Vec<Lot> = lots.iter().zip(first).map(|(&(kind, _), n)| (kind, n)).collect();
    let there = |lots: Vec<Lot>| lots.into_iter().filter(|(_, n)| *n > 0).collect::<Vec<Lot>>();
    let mut hands = share_out(kinds, there(first), n_first, task)?;
    hands.extend(share_out(kinds, there(rest), n_hands - n_first, task)?);
    Ok(hands)
}

/// How many records of each lot `n_hands` of `n_all` hands get.
fn share(kinds: &[Vec<u32>], lots: &[Lot], n_hands: u64, n_all: u64, task: &Task) -> Result<Vec<u32>> {
    let mut network = Network::new(n_all);
    let mut n_records = 0;
    let mut of_second: FxHashMap<u32, (usize, u64)> = FxHashMap::default();
    let values = |lot: &Lot| &kinds[lot.0 as usize];
    let n_of = |lots: &[Lot]| lots.iter().map(|lot| u64::from(lot.1)).sum::<u64>();
    for same_first in lots.chunk_by(|a, b| values(a)[0] == values(b)[0]) {
        let first = network.node();
        for same_pair in same_first.chunk_by(|a, b| values(a)[1] == values(b)[1]) {
            let second = of_second.entry(values(&same_pair[0])[1]).or_insert_with(|| (network.node(), 0));
            second.1 += n_of(same_pair);
            let second = second.0;
            let pair = if same_pair.len() > 1 { network.node() } else { first };
            for lot in same_pair {
                network.kind(pair, second, u64::from(lot.1) * n_hands);
            }
            if pair != first {
                network.arc(first, pair, n_of(same_pair) * n_hands);
            }
        }
        // Those to and from all come last, for they are gone along first: that keeps circles short.
        let n = n_of(same_first);
        network.arc(SOURCE, first, n * n_hands);
        n_records += n;
    }
    let mut seconds: Vec<(usize, u64)> = of_second.into_values().collect();
    seconds.sort_unstable();
    for (second, n) in seconds {
        network.arc(second, SINK, n * n_hands);
    }
    network.arc(SINK, SOURCE, n_records * n_hands);
    network.round(task)?;
    let rounded = |(lot, &arc): (&Lot, &usize)| {
        let down = u64::from(lot.1) * n_hands / n_all;
        down as u32 + u32::from(network.arcs[arc].part == n_all)
    };
    Ok(lots.iter().zip(&network.kinds).map(rounded).collect())
}

const SOURCE: usize = 0;
const SINK: usize = 1;

/// Numbers on the arcs of a network, as much coming to every node as leaving it.
struct Network {
    /// Of all fractions.
    denominator: u64,
    arcs: Vec<Arc>,
    /// By lot, its arc.
    kinds: Vec<usize>,
    /// By node, arcs whose number is a fraction; some have become whole meanwhile.
    open: Vec<Vec<usize>>,
}

struct Arc {
    from: usize,
    to: usize,
    /// What the number has beyond the next lower whole one, in parts of the denominator; all of them where it was rounded
    /// up.
    part: u64,
}

impl Network {
    fn new(denominator: u64) -> Network {
        Network { denominator, arcs: Vec::new(), kinds: Vec::new(), open: vec![Vec::new(); 2] }
    }

    fn node(&mut self) -> usize {
        self.open.push(Vec::new());
        self.open.len() - 1
    }

    fn arc(&mut self, from: usize, to: usize, numerator: u64) {
        let part = numerator % self.denominator;
        if part > 0 {
            [from, to].iter().for_each(|&node| self.open[node].push(self.arcs.len()));
        }
        self.arcs.push(Arc { from, to, part });
    }

    fn kind(&mut self, from: usize, to: usize, numerator: u64) {
        self.kinds.push(self.arcs.len());
        self.arc(from, to, numerator);
    }

    fn is_whole(&self, arc: usize) -> bool {
        self.arcs[arc].part == 0 || self.arcs[arc].part == self.denominator
    }

    /// An arc with a fraction at a node, other than the one that led there.
    fn next(&mut self, node: usize, came_by: Option<usize>) -> Option<usize> {
        let mut open = std::mem::take(&mut self.open[node]);
        while open.last().is_some_and(|&arc| self.is_whole(arc)) {
            open.pop();
        }
        if !open.is_empty() && open.last().copied() == came_by {
            while open.len() > 1 && self.is_whole(open[open.len() - 2]) {
                open.swap_remove(open.len() - 2);
            }
            let last = open.len() - 1;
            open.swap(last, last.saturating_sub(1));
        }
        let found = open.last().copied().filter(|arc| Some(*arc) != came_by);
        self.open[node] = open;
        found
    }

    /// Rounds every number down or up, with as much coming to every node as leaving it.
    fn round(&mut self, task: &Task) -> Result<()> {
        let mut place_on_path: Vec<Option<usize>> = vec![None; self.open.len()];
        let mut path: Vec<(usize, usize)> = Vec::new();
        let mut n_steps = 0;
        for start in 0..self.open.len() {
            let mut node = start;
            loop {
                task.go_on_now_and_then(n_steps, N_BETWEEN)?;
                n_steps += 1;
                if let Some(place) = place_on_path[node] {
                    self.move_along(&path[place..]);
                    for (passed, _) in path.drain(place..) {
                        place_on_path[passed] = None;
                    }
                }
                let Some(arc) = self.next(node, path.last().map(|&(_, arc)| arc)) else {
                    assert!(path.is_empty(), "a fraction never comes alone");
                    break;
                };
                place_on_path[node] = Some(path.len());
                path.push((node, arc));
                node = self.arcs[arc].from + self.arcs[arc].to - node;
            }
        }
        Ok(())
    }

    /// Moves as much along a circle of nodes and the arcs by which they are left as makes a fraction whole.
    fn move_along(&mut self, circle: &[(usize, usize)]) {
        let room = |&(node, arc): &(usize, usize)| {
            let Arc { from, part, .. } = self.arcs[arc];
            if from == node { self.denominator - part } else { part }
        };
        let by = circle.iter().map(room).min().expect("a circle has arcs");
        for &(node, arc) in circle {
            let Arc { from, part, .. } = &mut self.arcs[arc];
            *part = if *from == node { *part + by } else { *part - by };
        }
    }
}

/// After so many steps it is asked whether the work is still wanted.
const N_BETWEEN: usize = 1 << 12;
