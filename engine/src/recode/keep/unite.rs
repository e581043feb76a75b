//! Classes that do not keep a criterion join near ones until all do; then neighbours share their records anew.

use crate::error::Result;
use crate::recode::enough::SlotTally;
use crate::recode::keep::cuts::Cutter;
use crate::recode::nearest::{Classes, NOTHING, Near, nearest_of_each};
use crate::recode::partition::{Part, put_together};
use crate::task::Task;

/// Among how many of the nearest classes one is looked for with which a class keeps everything.
const N_NEAR: usize = 24;

/// Classes, and what the criteria see of each.
pub(crate) struct Judged<'a> {
    classes: Classes<'a>,
    tallies: Vec<SlotTally>,
    cutter: &'a Cutter<'a>,
}

impl<'a> Judged<'a> {
    pub(crate) fn new(cutter: &'a Cutter<'a>, parts: Vec<Vec<Part>>) -> Judged<'a> {
        let mut judged = Judged { classes: Classes::new(cutter.space), tallies: Vec::new(), cutter };
        for parts in parts {
            judged.push(parts);
        }
        judged
    }

    /// The classes that are there, as their parts.
    pub(crate) fn into_parts(self) -> Vec<Vec<Part>> {
        self.classes.into_parts()
    }

    /// The same classes, united as [`Judged::settle`] does it.
    pub(crate) fn settled(mut self, divides: bool, task: &Task) -> Result<Judged<'a>> {
        self.settle(divides, task)?;
        Ok(self)
    }

    /// The same records, shared anew as [`Judged::share_anew`] does it.
    pub(crate) fn shared(mut self, task: &Task) -> Result<Judged<'a>> {
        self.share_anew(task)?;
        Ok(self)
    }

    /// Whether all classes keep everything.
    pub(crate) fn holds(&self) -> bool {
        self.classes.ids().into_iter().all(|id| self.keeps(id))
    }

    fn push(&mut self, parts: Vec<Part>) -> u32 {
        self.tallies.push(self.cutter.scale.tally(&parts));
        self.classes.push(parts)
    }

    fn take(&mut self, id: u32) -> Vec<Part> {
        self.tallies[id as usize] = SlotTally::default();
        self.classes.take(id)
    }

    fn keeps(&self, id: u32) -> bool {
        self.cutter.scale.holds(&self.tallies[id as usize])
    }

    /// Unites classes until all of them keep everything, or one is left. Where `divides`, what keeps everything is
    /// divided again as far as it can be.
    fn settle(&mut self, divides: bool, task: &Task) -> Result<()> {
        let mut waiting = self.classes.ids();
        waiting.retain(|&id| !self.keeps(id));
        while !waiting.is_empty() && self.classes.ids().len() > 1 {
            self.classes.lay_out();
            let near = nearest_of_each::<N_NEAR>(&self.classes, &waiting, task)?;
            let mut in_order: Vec<(u32, &[Near; N_NEAR])> = waiting.drain(..).zip(&near).collect();
            in_order.sort_unstable_by_key(|&(id, near)| (near[0].0, id));
            for (id, near) in in_order {
                task.go_on()?;
                if !self.classes.is_there(id) {
                    continue;
                }
                let Some(other) = self.partner(id, near) else {
                    // All of them have joined others meanwhile.
                    waiting.push(id);
                    continue;
                };
                let parts = put_together([self.take(id), self.take(other)].concat());
                let holds = self.cutter.scale.holds(&self.cutter.scale.tally(&parts));
                match holds && divides {
                    true => {
                        for piece in self.cutter.pieces(parts)? {
                            self.push(piece);
                        }
                    }
                    false => {
                        let id = self.push(parts);
                        waiting.extend((!holds).then_some(id));
                    }
                }
            }
            waiting.retain(|&id| self.classes.is_there(id));
        }
        Ok(())
    }

    /// The nearest class with which another keeps everything; where none is near, the one that brings it closest to that
    /// for what it costs.
    fn partner(&self, id: u32, near: &[Near]) -> Option<u32> {
        let scale = self.cutter.scale;
        let is_left = |near: &&Near| **near != NOTHING && self.classes.is_there(near.1);
        let ours = &self.tallies[id as usize];
        let missing = scale.missing(ours);
        let mut best: Option<(f64, u32)> = None;
        for &(added, other) in near.iter().filter(is_left) {
            let missing_then = scale.missing(&scale.together(ours, &self.tallies[other as usize]));
            if missing_then == 0.0 {
                return Some(other);
            }
            // What the rest will cost, if it costs as much as this.
            let gained = (missing - missing_then).max(0.02 * missing);
            let price = (added + 1) as f64 * missing / gained;
            if best.is_none_or(|(least, _)| price < least) {
                best = Some((price, other));
            }
        }
        best.map(|(_, other)| other)
    }

    /// Puts each class together with one of its nearest and divides the two again, where that loses less.
    fn share_anew(&mut self, task: &Task) -> Result<()> {
        let mut to_try = self.classes.ids();
        for _ in 0..N_TIMES {
            self.classes.lay_out();
            let mut changed = Vec::new();
            let neighbours = nearest_of_each::<N_NEIGHBOURS>(&self.classes, &to_try, task)?;
            for (&id, near) in to_try.iter().zip(&neighbours) {
                task.go_on()?;
                for &(_, other) in near.iter().filter(|near| **near != NOTHING) {
                    if !self.classes.is_there(id) || !self.classes.is_there(other) {
                        continue;
                    }
                    if !self.keeps(id) || !self.keeps(other) {
                        continue;
                    }
                    let parts = put_together([self.classes.parts(id), self.classes.parts(other)].concat());
                    let pieces = self.cutter.pieces(parts)?;
                    let loss: u64 = pieces.iter().map(|parts| self.cutter.loss(parts)).sum();
                    let is_better = loss < self.classes.loss(id) + self.classes.loss(other);
                    // Where it stays whole, it is wider than the two were.
                    if is_better && pieces.len() > 1 {
                        [id, other].iter().for_each(|&id| drop(self.take(id)));
                        changed.extend(pieces.into_iter().map(|parts| self.push(parts)));
                    }
                }
            }
            to_try = changed;
            to_try.retain(|&id| self.classes.is_there(id));
        }
        Ok(())
    }
}

/// How many times neighbours share their records anew, and with how many neighbours each class tries.
const N_TIMES: usize = 3;
const N_NEIGHBOURS: usize = 6;
