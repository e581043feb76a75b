//! The cheapest cut of a tree for given prices, in one pass from the leaves to the root.
//!
//! # Proof
//! What a cut costs is a sum over its nodes, and the nodes below one child have nothing to do with those below another. So
//! the cheapest cut of the records of a node is the cheapest of three: the node itself, where it may be published; the
//! cheapest cuts of its children together; or all of its records suppressed. Nothing is assumed about the criteria: whether
//! a node may be published was looked up, and a node that may not can have children that may, or the other way round.

use crate::counts::number;
use crate::loss::{LOSS_ONE, Steps};
use crate::recode::tree::shape::{NONE, Shape};

/// Prices are whole numbers of this: the price of one step of loss where nothing else is asked.
pub(crate) const ONE: u128 = 1 << 40;

/// What cannot be had at any price.
pub(crate) const NEVER: u128 = u128::MAX / 2;

/// What becomes of the records of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Publish,
    Divide,
    Lose,
}

/// What is paid for each step that a cut loses, for each step of those only that suppressed records lose, and for each that
/// is lost on an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prices {
    pub(crate) loss: u128,
    pub(crate) lost: u128,
    pub(crate) of_attributes: Vec<u128>,
}

/// What a cut loses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Suppressed records count as everything.
    pub(crate) loss: Steps,
    pub(crate) n_lost: u64,
    /// By attribute that is looked at.
    pub(crate) of_attributes: Vec<Steps>,
}

/// The nodes that a request has to decide about: those that may be published or have such below them, and the children of
/// these.
pub(crate) struct Live<'a> {
    shape: &'a Shape,
    /// Parents before their children; the root is the first.
    pub(crate) nodes: Vec<u32>,
    /// By place, the place of the parent.
    parents: Vec<u32>,
    holds: Vec<bool>,
    /// Whether its children are there too.
    is_inner: Vec<bool>,
    n_records: Vec<u64>,
    losses: Vec<Steps>,
    /// The attributes that are looked at, and by place what each loses.
    attributes: Vec<usize>,
    of_attributes: Vec<Steps>,
    may_lose: bool,
}

/// A cut, as what becomes of the nodes that are decided about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Folded {
    pub(crate) choices: Vec<Choice>,
    pub(crate) totals: Totals,
}

impl<'a> Live<'a> {
    /// `holds` says of a node whether it may be published, and `is_hopeless` whether neither it nor anything below it may:
    /// what is hopeless is not looked into.
    pub(crate) fn new(
        shape: &'a Shape,
        holds: impl Fn(usize) -> bool,
        is_hopeless: impl Fn(usize) -> bool,
        attributes: &[usize],
        may_lose: bool,
    ) -> Live<'a> {
        let seen = seen(shape, holds, is_hopeless);
        // Whether something below a node may be published.
        let mut has_useful = vec![false; seen.len()];
        for (i, node) in seen.iter().enumerate().rev() {
            if (node.holds || has_useful[i]) && node.parent != NONE {
                has_useful[node.parent as usize] = true;
            }
        }
        let mut live = Live {
            shape,
            nodes: Vec::new(),
            parents: Vec::new(),
            holds: Vec::new(),
            is_inner: Vec::new(),
            n_records: Vec::new(),
            losses: Vec::new(),
            attributes: attributes.to_vec(),
            of_attributes: Vec::new(),
            may_lose,
        };
        // Of what was seen, its place; what is below a node that is not divided has none.
        let mut place_of = vec![NONE; seen.len()];
        for (i, &Seen { node, parent, holds }) in seen.iter().enumerate() {
            let parent = match parent {
                NONE => NONE,
                parent => match place_of[parent as usize] {
                    NONE => continue,
                    place if !live.is_inner[place as usize] => continue,
                    place => place,
                },
            };
            place_of[i] = number(live.nodes.len());
            let loss = shape.loss(node as usize);
            live.nodes.push(node);
            live.parents.push(parent);
            live.holds.push(holds);
            // Where nothing is lost, there is nothing to divide.
            live.is_inner.push(has_useful[i] && !(holds && loss == 0));
            let (n_records, costs) = (shape.n_records(node as usize), shape.costs(node as usize));
            live.n_records.push(n_records);
            live.losses.push(loss);
            live.of_attributes.extend(attributes.iter().map(|&a| u64::from(costs[a]) * n_records));
        }
        live
    }

    pub(crate) fn n_records(&self, place: usize) -> u64 {
        self.n_records[place]
    }

    pub(crate) fn loss(&self, place: usize) -> Steps {
        self.losses[place]
    }

    /// What one of the attributes that are looked at loses at a place.
    pub(crate) fn loss_of(&self, place: usize, i: usize, choice: Choice) -> Steps {
        match choice {
            Choice::Publish => self.of_attributes(place)[i],
            Choice::Divide => 0,
            Choice::Lose => self.n_records[place] * u64::from(self.shape.whole()[self.attributes[i]]),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    fn of_attributes(&self, place: usize) -> &[Steps] {
        let n = self.attributes.len();
        &self.of_attributes[place * n..(place + 1) * n]
    }

    /// What the records of a place cost where it is published.
    #[inline]
    fn price(&self, place: usize, prices: &Prices) -> u128 {
        let of_attributes = self.of_attributes(place).iter().zip(&prices.of_attributes);
        u128::from(self.losses[place]) * prices.loss
            + of_attributes.map(|(&steps, price)| u128::from(steps) * price).sum::<u128>()
    }

    /// What a suppressed record costs.
    fn price_of_lost(&self, prices: &Prices) -> u128 {
        let whole = self.attributes.iter().zip(&prices.of_attributes);
        u128::from(LOSS_ONE) * (prices.loss + prices.lost)
            + whole.map(|(&a, price)| u128::from(self.shape.whole()[a]) * price).sum::<u128>()
    }

    /// What a choice costs at a place, where it may be taken.
    pub(crate) fn price_of_choice(&self, place: usize, choice: Choice, prices: &Prices) -> Option<u128> {
        match choice {
            Choice::Publish => self.holds[place].then(|| self.price(place, prices)),
            Choice::Lose => self.may_lose.then(|| u128::from(self.n_records[place]) * self.price_of_lost(prices)),
            Choice::Divide => None,
        }
    }

    pub(crate) fn parent(&self, place: usize) -> Option<usize> {
        (self.parents[place] != NONE).then(|| self.parents[place] as usize)
    }

    pub(crate) fn is_inner(&self, place: usize) -> bool {
        self.is_inner[place]
    }

    /// The cheapest cut; of several as cheap the one that publishes larger groups, and suppresses last. None where
    /// nothing may be suppressed and not everything can be published.
    pub(crate) fn fold(&self, prices: &Prices) -> Option<Folded> {
        let mut choices = vec![Choice::Lose; self.len()];
        let (best, _) = self.fold_into(prices, |place, choice, _| choices[place] = choice);
        (best < NEVER).then(|| Folded { totals: self.totals(&choices), choices })
    }

    /// By place, what its cheapest cut costs, and the cheapest that divides it.
    pub(crate) fn cheapest(&self, prices: &Prices) -> (Vec<u128>, Vec<u128>) {
        let mut cheapest = vec![NEVER; self.len()];
        let (_, divided) = self.fold_into(prices, |place, _, best| cheapest[place] = best);
        (cheapest, divided)
    }

    /// Tells of the cheapest choice at every place and what it costs; returns that of the root, and what dividing costs.
    fn fold_into(&self, prices: &Prices, mut tell: impl FnMut(usize, Choice, u128)) -> (u128, Vec<u128>) {
        let of_lost = self.price_of_lost(prices);
        let mut divided = vec![0u128; self.len()];
        let mut best = NEVER;
        for place in (0..self.len()).rev() {
            let mut choice = Choice::Lose;
            best = if self.may_lose { u128::from(self.n_records[place]) * of_lost } else { NEVER };
            if self.is_inner[place] && divided[place] <= best && divided[place] < NEVER {
                (best, choice) = (divided[place], Choice::Divide);
            }
            if self.holds[place] {
                let price = self.price(place, prices);
                if price <= best {
                    (best, choice) = (price, Choice::Publish);
                }
            }
            tell(place, choice, best);
            if let Some(parent) = self.parent(place) {
                divided[parent] = divided[parent].saturating_add(best).min(NEVER);
            }
        }
        (best, divided)
    }

    /// What a cut costs.
    pub(crate) fn price_of(&self, totals: &Totals, prices: &Prices) -> u128 {
        let of_attributes = totals.of_attributes.iter().zip(&prices.of_attributes);
        u128::from(totals.loss) * prices.loss
            + u128::from(totals.n_lost * LOSS_ONE) * prices.lost
            + of_attributes.map(|(&steps, price)| u128::from(steps) * price).sum::<u128>()
    }

    /// By place, whether it is published or suppressed itself, rather than below or above such a node.
    pub(crate) fn chosen(&self, choices: &[Choice]) -> impl Iterator<Item = usize> {
        let mut is_reached = vec![false; self.len()];
        let chosen: Vec<usize> = (0..self.len())
            .filter(|&place| {
                is_reached[place] = match self.parents[place] {
                    NONE => true,
                    parent => is_reached[parent as usize] && choices[parent as usize] == Choice::Divide,
                };
                is_reached[place] && choices[place] != Choice::Divide
            })
            .collect();
        chosen.into_iter()
    }

    /// What a cut loses.
    pub(crate) fn totals(&self, choices: &[Choice]) -> Totals {
        let mut totals = Totals { of_attributes: vec![0; self.attributes.len()], ..Totals::default() };
        for place in self.chosen(choices) {
            self.add(&mut totals, place, choices[place]);
        }
        totals
    }

    fn add(&self, totals: &mut Totals, place: usize, choice: Choice) {
        let n_records = self.n_records[place];
        match choice {
            Choice::Divide => {}
            Choice::Publish => {
                totals.loss += self.losses[place];
                totals.of_attributes.iter_mut().zip(self.of_attributes(place)).for_each(|(sum, steps)| *sum += steps);
            }
            Choice::Lose => {
                totals.loss += n_records * LOSS_ONE;
                totals.n_lost += n_records;
                for (sum, &a) in totals.of_attributes.iter_mut().zip(&self.attributes) {
                    *sum += n_records * u64::from(self.shape.whole()[a]);
                }
            }
        }
    }

    /// Where two cuts first differ on the way down, with what each loses there.
    pub(crate) fn differences(&self, one: &[Choice], other: &[Choice]) -> Vec<(usize, Totals, Totals)> {
        let mut above = vec![NONE; self.len()];
        let mut found: Vec<(usize, Totals, Totals)> = Vec::new();
        let empty = || Totals { of_attributes: vec![0; self.attributes.len()], ..Totals::default() };
        // By place, whether each of the two still divides what is above it.
        let mut is_reached = vec![(false, false); self.len()];
        for place in 0..self.len() {
            let reached = match self.parents[place] {
                NONE => (true, true),
                parent => {
                    let parent = parent as usize;
                    above[place] = above[parent];
                    let (in_one, in_other) = is_reached[parent];
                    (in_one && one[parent] == Choice::Divide, in_other && other[parent] == Choice::Divide)
                }
            };
            is_reached[place] = reached;
            if reached == (true, true) && above[place] == NONE && one[place] != other[place] {
                above[place] = number(found.len());
                found.push((place, empty(), empty()));
            }
            if above[place] != NONE {
                let (_, of_one, of_other) = &mut found[above[place] as usize];
                if reached.0 {
                    self.add(of_one, place, one[place]);
                }
                if reached.1 {
                    self.add(of_other, place, other[place]);
                }
            }
        }
        found
    }

    /// Takes what another cut does at a place and below it.
    pub(crate) fn take_over(&self, into: &mut [Choice], from: &[Choice], place: usize) {
        let mut is_below = vec![false; self.len()];
        is_below[place] = true;
        into[place] = from[place];
        for below in place + 1..self.len() {
            if self.parents[below] != NONE && is_below[self.parents[below] as usize] {
                is_below[below] = true;
                into[below] = from[below];
            }
        }
    }
}

/// A node that may be decided about, and where its parent stands among those that were seen.
struct Seen {
    node: u32,
    parent: u32,
    holds: bool,
}

/// The nodes from the root down to what is hopeless, parents before their children.
fn seen(shape: &Shape, holds: impl Fn(usize) -> bool, is_hopeless: impl Fn(usize) -> bool) -> Vec<Seen> {
    let mut seen: Vec<Seen> = Vec::new();
    // Those that are looked into and stand above what comes next.
    let mut above: Vec<u32> = Vec::new();
    let mut node = shape.root();
    loop {
        while above.pop_if(|i| node < shape.first(seen[*i as usize].node as usize)).is_some() {}
        let parent = above.last().copied().unwrap_or(NONE);
        let is_divided = shape.base(node).is_none() && !is_hopeless(node);
        if is_divided {
            above.push(number(seen.len()));
        }
        seen.push(Seen { node: number(node), parent, holds: holds(node) });
        let next = if is_divided { node.checked_sub(1) } else { shape.first(node).checked_sub(1) };
        let Some(next) = next else { return seen };
        node = next;
    }
}
