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
/// these; what is below a node that is best left whole, whatever the prices, is left out.
pub(crate) struct Live<'a> {
    shape: &'a Shape,
    /// Parents before their children; the root is the first.
    places: Vec<Place>,
    /// The attributes that are looked at, and by place what each loses.
    attributes: Vec<usize>,
    of_attributes: Vec<Steps>,
    may_lose: bool,
}

/// A node that is decided about.
struct Place {
    node: u32,
    /// The place of the node above.
    parent: u32,
    n_records: u64,
    loss: Steps,
    holds: bool,
    /// Whether its children are there too.
    is_inner: bool,
}

/// A cut, as what becomes of the nodes that are decided about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Folded {
    pub(crate) choices: Vec<Choice>,
    pub(crate) totals: Totals,
}

impl<'a> Live<'a> {
    /// `holds` says of a node whether it may be published, and `is_hopeless` whether neither it nor anything below it may:
    /// what is hopeless is not looked into, and nothing with fewer records than `n_least` holds.
    pub(crate) fn new(
        shape: &'a Shape,
        holds: impl Fn(usize) -> bool,
        is_hopeless: impl Fn(usize) -> bool,
        n_least: u64,
        attributes: &[usize],
        may_lose: bool,
    ) -> Live<'a> {
        let places = Walk { shape, holds, is_hopeless, n_least, is_plain: attributes.is_empty(), may_lose }.places();
        let steps_of = |place: &Place| {
            let costs = shape.costs(place.node as usize);
            let n_records = place.n_records;
            attributes.iter().map(move |&a| u64::from(costs[a]) * n_records)
        };
        let of_attributes = places.iter().flat_map(steps_of).collect();
        Live { shape, places, attributes: attributes.to_vec(), of_attributes, may_lose }
    }

    /// The node at a place.
    pub(crate) fn node(&self, place: usize) -> u32 {
        self.places[place].node
    }

    pub(crate) fn n_records(&self, place: usize) -> u64 {
        self.places[place].n_records
    }

    pub(crate) fn loss(&self, place: usize) -> Steps {
        self.places[place].loss
    }

    /// What one of the attributes that are looked at loses at a place.
    pub(crate) fn loss_of(&self, place: usize, i: usize, choice: Choice) -> Steps {
        match choice {
            Choice::Publish => self.of_attributes(place)[i],
            Choice::Divide => 0,
            Choice::Lose => self.places[place].n_records * u64::from(self.shape.whole()[self.attributes[i]]),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    fn of_attributes(&self, place: usize) -> &[Steps] {
        let n = self.attributes.len();
        &self.of_attributes[place * n..(place + 1) * n]
    }

    /// What the records of a place cost where it is published.
    #[inline]
    fn price(&self, place: usize, prices: &Prices) -> u128 {
        let of_attributes = self.of_attributes(place).iter().zip(&prices.of_attributes);
        u128::from(self.places[place].loss) * prices.loss
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
            Choice::Publish => self.places[place].holds.then(|| self.price(place, prices)),
            Choice::Lose => {
                self.may_lose.then(|| u128::from(self.places[place].n_records) * self.price_of_lost(prices))
            }
            Choice::Divide => None,
        }
    }

    pub(crate) fn parent(&self, place: usize) -> Option<usize> {
        (self.places[place].parent != NONE).then(|| self.places[place].parent as usize)
    }

    pub(crate) fn is_inner(&self, place: usize) -> bool {
        self.places[place].is_inner
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
            best = if self.may_lose { u128::from(self.places[place].n_records) * of_lost } else { NEVER };
            if self.places[place].is_inner && divided[place] <= best && divided[place] < NEVER {
                (best, choice) = (divided[place], Choice::Divide);
            }
            if self.places[place].holds {
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
                is_reached[place] = match self.places[place].parent {
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
        let n_records = self.places[place].n_records;
        match choice {
            Choice::Divide => {}
            Choice::Publish => {
                totals.loss += self.places[place].loss;
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
            let reached = match self.places[place].parent {
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
            if self.places[below].parent != NONE && is_below[self.places[below].parent as usize] {
                is_below[below] = true;
                into[below] = from[below];
            }
        }
    }
}

/// The way from the root down to what need not be looked into.
struct Walk<'a, H, N> {
    shape: &'a Shape,
    holds: H,
    is_hopeless: N,
    n_least: u64,
    /// No attribute is looked at: cuts are compared by what they lose in all and by the records that they suppress.
    is_plain: bool,
    may_lose: bool,
}

/// A node of which not all children have been visited.
struct Open {
    place: u32,
    /// The first node below it.
    first: usize,
    /// What the cheapest cuts of the visited children lose together.
    divided: Steps,
    /// Whether something below may be published.
    is_useful: bool,
}

/// The loss of what cannot be.
const NO_CUT: Steps = Steps::MAX;

impl<H: Fn(usize) -> bool, N: Fn(usize) -> bool> Walk<'_, H, N> {
    /// The places, parents before their children.
    ///
    /// On the way back up it is known of every node what its cheapest cut loses where suppression has no price. A node that
    /// loses less as it is than divided in any way suppresses no record either: at no price is it divided, and its
    /// children are dropped again.
    fn places(&self) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        let mut open: Vec<Open> = Vec::new();
        // What is below this is still to be visited.
        let mut end = self.shape.n_nodes();
        while end > 0 {
            let node = end - 1;
            let parent = open.last().map_or(NONE, |above| above.place);
            let (n_records, loss, first) = (self.shape.n_records(node), self.shape.loss(node), self.shape.first(node));
            let place =
                Place { node: number(node), parent, n_records, loss, holds: (self.holds)(node), is_inner: false };
            if first < node && self.may_be_divided(&place) {
                open.push(Open { place: number(places.len()), first, divided: 0, is_useful: false });
                end = node;
            } else {
                end = tell(&mut open, self.undivided(&place), place.holds, first);
            }
            places.push(place);
            while let Some(done) = open.pop_if(|above| above.first >= end) {
                let (least, is_useful) = self.finish(&mut places, &done);
                end = tell(&mut open, least, is_useful, end);
            }
        }
        places
    }

    fn may_be_divided(&self, place: &Place) -> bool {
        let Place { n_records, loss, holds, .. } = *place;
        if n_records < self.n_least || (self.is_hopeless)(place.node as usize) || (holds && loss == 0) {
            return false;
        }
        // There is no room for two groups: whoever divides it suppresses a record.
        let is_one = n_records < 2 * self.n_least;
        !is_one || (self.may_lose && !(self.is_plain && holds && loss < LOSS_ONE))
    }

    /// What the records of a place lose at least where it is not divided.
    fn undivided(&self, place: &Place) -> Steps {
        let lost = if self.may_lose { place.n_records * LOSS_ONE } else { NO_CUT };
        if place.holds { lost.min(place.loss) } else { lost }
    }

    /// Drops what is below a place that is not to be divided; returns what its cheapest cut loses, and whether something of
    /// it may be published.
    fn finish(&self, places: &mut Vec<Place>, done: &Open) -> (Steps, bool) {
        let place = &mut places[done.place as usize];
        let is_best_whole = self.is_plain && place.holds && place.loss < done.divided;
        place.is_inner = done.is_useful && done.divided < NO_CUT && !is_best_whole;
        let (is_inner, undivided, holds) = (place.is_inner, self.undivided(place), place.holds);
        match is_inner {
            true => (undivided.min(done.divided), true),
            false => {
                places.truncate(done.place as usize + 1);
                (undivided, holds)
            }
        }
    }
}

/// Tells the node above of a child that begins at `first`: what its cheapest cut loses, and whether something of it may be
/// published. Returns before which node to go on: where a child has no cut, its siblings do not matter.
fn tell(open: &mut [Open], least: Steps, is_useful: bool, first: usize) -> usize {
    let Some(above) = open.last_mut() else { return first };
    above.divided = above.divided.saturating_add(least);
    above.is_useful |= is_useful;
    if least == NO_CUT { above.first } else { first }
}
