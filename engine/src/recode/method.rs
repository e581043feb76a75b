//! The ways to recode locally, by name: one list, for everything that offers a choice.

use crate::counts::GroupCounts;
use crate::error::{Error, ErrorKind, Result, unknown};
use crate::hierarchy::Hierarchy;
use crate::recode::deal::{self, Arrange};
use crate::recode::mondrian::Cut;
use crate::recode::partition::{CellStyle, Least, Partition};
use crate::recode::{Recoding, bottom_up, mondrian, published, top_down, tree};
use crate::task::Task;

/// A way to recode locally: records with equal quasi-identifiers may be published in different groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// The table is halved around records that are far apart, again and again.
    TopDown,
    /// Records join their nearest, until all groups are large enough.
    BottomUp,
    /// Strict cuts.
    Mondrian,
    /// Relaxed cuts.
    MondrianRelaxed,
    /// Equal hands of sensitive values, near records.
    Deal,
    /// Equal hands of sensitive values, any records.
    DealPlain,
    /// From below, for cells that are exact or hidden.
    Cells,
    /// The best cut of one tree of groups, over which it can be negotiated.
    Negotiated,
    /// From above, as the paper prints it.
    TopDownPublished,
    /// From below, as the paper prints it.
    BottomUpPublished,
    /// Dealt by the first sensitive attribute, as the paper prints it.
    DealPublished,
}

/// What a method is given.
#[derive(Clone, Copy)]
pub struct Assignment<'a> {
    /// The table.
    pub counts: &'a GroupCounts,
    /// By quasi-identifier of the counts.
    pub hierarchies: &'a [Hierarchy],
    /// By quasi-identifier, how much the analyst cares.
    pub weights: &'a [f64],
    /// What every class must have.
    pub least: Least,
    /// Where random choices come from.
    pub seed: u64,
    /// Of dealing, attempts at an exchange per class.
    pub n_exchanges: u32,
}

impl Method {
    /// Every method there is.
    pub const ALL: [Method; 8] = [
        Method::TopDown,
        Method::BottomUp,
        Method::Mondrian,
        Method::MondrianRelaxed,
        Method::Negotiated,
        Method::Cells,
        Method::Deal,
        Method::DealPlain,
    ];

    /// What the papers print, for comparison.
    pub const AS_PUBLISHED: [Method; 3] = [Method::TopDownPublished, Method::BottomUpPublished, Method::DealPublished];

    /// Those that keep l by construction, with or without a sensitive attribute, and publish ranges.
    pub const KEEPING_L: [Method; 5] =
        [Method::TopDown, Method::BottomUp, Method::Mondrian, Method::MondrianRelaxed, Method::Negotiated];

    /// The word that flags and certificates use.
    pub fn name(self) -> &'static str {
        match self {
            Method::TopDown => "top-down",
            Method::BottomUp => "bottom-up",
            Method::Mondrian => "mondrian",
            Method::MondrianRelaxed => "mondrian-relaxed",
            Method::Deal => "deal",
            Method::DealPlain => "deal-plain",
            Method::Cells => "cells",
            Method::Negotiated => "negotiated",
            Method::TopDownPublished => "top-down:published",
            Method::BottomUpPublished => "bottom-up:published",
            Method::DealPublished => "deal:published",
        }
    }

    /// The method of a name.
    ///
    /// # Errors
    /// Where there is none of that name.
    pub fn parse(name: &str) -> Result<Method> {
        let known = Method::ALL.map(Method::name);
        let named = Method::ALL.into_iter().chain(Method::AS_PUBLISHED).find(|method| method.name() == name);
        named.ok_or_else(|| unknown(ErrorKind::Request, "method", name, &known))
    }

    /// How it goes about it, in a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Method::TopDown => "the table is divided around two records that are far apart, again and again",
            Method::BottomUp => "every group that is too small joins the one with which it loses least",
            Method::Mondrian => "the table is cut at the middle of its widest attribute, again and again",
            Method::MondrianRelaxed => "as mondrian, but records with the middle value may go both ways",
            Method::Deal => "sensitive values are dealt evenly to groups of equal size, near records together",
            Method::DealPlain => "as deal, but any records of a sensitive value: the paper's own dealing",
            Method::Negotiated => "one tree of groups for all k is made, and the best groups in it are taken",
            Method::TopDownPublished => "as top-down, the way the paper prints it: records come in random order",
            Method::BottomUpPublished => {
                "as bottom-up, the way the paper prints it: the least loss of the union counts"
            }
            Method::DealPublished => "as deal, the way the paper prints it: any records, by one sensitive attribute",
            Method::Cells => "as few single cells as can be are hidden, everything else stays as it is",
        }
    }

    /// Whether it makes random choices, so that another seed can give another release.
    pub fn is_random(self) -> bool {
        matches!(
            self,
            Method::TopDown | Method::Deal | Method::DealPlain | Method::TopDownPublished | Method::DealPublished
        )
    }

    /// Whether groups have the same sensitive values as the table, to one record.
    pub fn is_dealing(self) -> bool {
        matches!(self, Method::Deal | Method::DealPlain | Method::DealPublished)
    }

    /// The same as the paper prints it, where one does.
    pub fn published(self) -> Option<Method> {
        match self {
            Method::TopDown | Method::TopDownPublished => Some(Method::TopDownPublished),
            Method::BottomUp | Method::BottomUpPublished => Some(Method::BottomUpPublished),
            Method::Deal | Method::DealPlain | Method::DealPublished => Some(Method::DealPublished),
            Method::Mondrian | Method::MondrianRelaxed | Method::Cells | Method::Negotiated => None,
        }
    }

    /// Whether it is what a paper prints.
    pub fn is_published(self) -> bool {
        self.published() == Some(self)
    }

    /// Puts all records into classes.
    ///
    /// # Guarantee
    /// Every class has at least k records, and at least l different sensitive values where l is asked for, unless they are
    /// dealt: then they have what an even share of the sensitive values has. The classes depend on the assignment alone.
    ///
    /// # Errors
    /// Where no such partition of this table exists, arguments do not fit the counts, or the task was cancelled.
    pub fn partition(self, assignment: &Assignment, task: &Task) -> Result<Partition> {
        let deal = |arrange| {
            deal::partition(
                assignment.counts,
                assignment.hierarchies,
                assignment.weights,
                assignment.least.k,
                arrange,
                assignment.seed,
                task,
            )
        };
        let &Assignment { counts, hierarchies, weights, least, seed, n_exchanges } = assignment;
        match self {
            Method::TopDown => top_down::partition(counts, hierarchies, weights, least, seed, task),
            Method::BottomUp | Method::Cells => bottom_up::partition(counts, hierarchies, weights, least, task),
            Method::Mondrian => mondrian::partition(counts, hierarchies, weights, least, Cut::Strict, task),
            Method::MondrianRelaxed => mondrian::partition(counts, hierarchies, weights, least, Cut::Relaxed, task),
            Method::Negotiated => tree::partition::partition(counts, hierarchies, weights, least, task),
            Method::Deal => deal(Arrange::Near { n_tries: n_exchanges }),
            Method::DealPlain => deal(Arrange::Plain),
            Method::DealPublished => deal(Arrange::Published),
            Method::TopDownPublished => published::top_down(counts, hierarchies, weights, least, seed, task),
            Method::BottomUpPublished => published::bottom_up(counts, hierarchies, weights, least, task),
        }
    }

    /// Deals hands that are so large that every one has the records of k people: the classes as they were dealt, and the
    /// same of `by_person`, the counts by person.
    ///
    /// What is dealt are records, by their sensitive values; hands grow until the people are enough, for nobody can say
    /// beforehand how many records that takes.
    ///
    /// # Guarantee
    /// Every class has the records of at least k different people, and k is the assignment's.
    ///
    /// # Errors
    /// Where there are fewer than k people, and as for [`Method::partition`].
    pub fn deal_to_people(
        self,
        assignment: &Assignment,
        by_person: &GroupCounts,
        task: &Task,
    ) -> Result<(Partition, Partition)> {
        let (k, n_records) = (assignment.least.k, assignment.counts.n_records());
        let mut size = k.min(n_records);
        // Every try works through all records; the bar shows the last one.
        let silent = Task { progress: &|_| (), ..*task };
        loop {
            let partition = self.partition(&Assignment { least: Least::of(size, None), ..*assignment }, &silent)?;
            let whose = deal::by_person(assignment.counts, by_person, &partition);
            let n_people = deal::fewest_people(by_person, &whose);
            if n_people >= k {
                (task.progress)(n_records);
                return Ok((partition, whose));
            }
            if partition.n_classes() == 1 {
                let message = format!("no hand has {k} people");
                return Err(Error::new(ErrorKind::Request, message).hint("ask for a smaller k"));
            }
            size = (size * k / n_people.max(1)).max(size + size.div_ceil(8)).min(n_records);
        }
    }

    /// Says what becomes of each record.
    ///
    /// # Guarantee
    /// Nothing is suppressed, and every published group is made of whole classes.
    ///
    /// # Errors
    /// As for [`Method::partition`].
    pub fn recode(self, assignment: &Assignment, style: CellStyle, task: &Task) -> Result<Recoding> {
        let partition = self.partition(assignment, task)?;
        task.go_on()?;
        partition.recode_with(assignment.counts, assignment.hierarchies, style, task)
    }
}
