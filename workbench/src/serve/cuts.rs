//! Pictures of a cut of the tree of groups: what other values would cost, the groups side by side, records before and after.

use std::collections::HashMap;

use incrowd::loss::LOSS_ONE;
use incrowd::recode::partition::CellStyle;
use incrowd::recode::tree::negotiate::{Answer, Offer, Offers, Request};
use incrowd::recode::tree::{Cut, Tree};
use incrowd::task::Task;
use incrowd::wire;
use incrowd::{Criteria, Result};
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::columns::CountedColumns;
use super::explore::{coarser, codes_of, find, shown, spread_sample, values_around};
use super::tables::Opened;
use crate::input::count::Counted;

/// Rows of the picture, each with pieces a third as large as the one above.
const N_ROWS: usize = 6;

/// Pieces that are a smaller share of the picture stand together.
const SHARE_SEEN: f64 = 1.0 / 900.0;

/// What becomes of the nodes of a tree in a cut.
pub struct Pieces<'a> {
    tree: &'a Tree,
    is_published: Vec<bool>,
    is_suppressed: Vec<bool>,
}

/// The cut that pictures are about: the exact answer, or the first offer that there is.
pub fn shown_offer(answer: &Answer, named: Option<&str>) -> Option<Offer> {
    let offers = match answer {
        Answer::Exact(offer) => return Some(offer.clone()),
        Answer::Offers(offers) => offers,
    };
    let Offers { suppression, loss, privacy, .. } = offers;
    match named {
        Some("suppression") => suppression.clone(),
        Some("loss") => loss.clone(),
        Some("privacy") => privacy.clone(),
        _ => loss.clone().or(suppression.clone()).or(privacy.clone()),
    }
}

impl<'a> Pieces<'a> {
    pub fn new(tree: &'a Tree, cut: &Cut) -> Pieces<'a> {
        let n = tree.shape().n_nodes();
        let mut pieces = Pieces { tree, is_published: vec![false; n], is_suppressed: vec![false; n] };
        cut.published.iter().for_each(|&node| pieces.is_published[node as usize] = true);
        cut.suppressed.iter().for_each(|&node| pieces.is_suppressed[node as usize] = true);
        pieces
    }

    fn is_whole(&self, node: usize) -> bool {
        self.is_published[node] || self.is_suppressed[node]
    }

    /// The node of the cut that a node is in, or the node itself where the cut divides it.
    fn of(&self, node: usize) -> usize {
        let shape = self.tree.shape();
        let mut above = std::iter::successors(Some(node), |&node| shape.parent(node));
        above.find(|&node| self.is_whole(node)).unwrap_or(node)
    }

    /// The records below a node: how many, how many are lost, what all lose together, and in how many groups they are.
    fn sums(&self, node: usize) -> Sums {
        let shape = self.tree.shape();
        let mut sums = Sums::default();
        let mut to_visit = vec![node];
        while let Some(node) = to_visit.pop() {
            let n_records = shape.n_records(node);
            if self.is_published[node] {
                sums.add(Sums { n_records, n_lost: 0, loss: shape.loss(node), n_groups: 1 });
            } else if self.is_suppressed[node] {
                sums.add(Sums { n_records, n_lost: n_records, loss: n_records * LOSS_ONE, n_groups: 0 });
            } else {
                to_visit.extend(shape.children(node));
            }
        }
        sums
    }

    /// Rows of pieces from a node down: each piece with its place among the records, as `[node, from, records, groups,
    /// lost, loss]`; the node is null where several small ones stand together.
    pub fn rows(&self, root: usize) -> Value {
        let n_all = self.tree.shape().n_records(root);
        let least = (n_all as f64 * SHARE_SEEN) as u64;
        let mut rows: Vec<Value> = Vec::new();
        let mut nodes = vec![root];
        let mut most = n_all;
        for _ in 0..N_ROWS {
            rows.push(self.row(&nodes, least));
            most /= 3;
            let finer: Vec<usize> = nodes.iter().flat_map(|&node| self.divided(node, most)).collect();
            if finer == nodes {
                break;
            }
            nodes = finer;
        }
        // The last row has the groups themselves.
        let groups: Vec<usize> = nodes.iter().flat_map(|&node| self.divided(node, 0)).collect();
        if groups != nodes {
            rows.push(self.row(&groups, least));
        }
        json!({ "node": root, "n_records": n_all, "rows": rows })
    }

    /// A node divided until its pieces have at most so many records, or are groups; in the order of the tree.
    fn divided(&self, node: usize, most: u64) -> Vec<usize> {
        let shape = self.tree.shape();
        let mut found = Vec::new();
        let mut to_visit = vec![node];
        while let Some(node) = to_visit.pop() {
            match self.is_whole(node) || shape.n_records(node) <= most || shape.base(node).is_some() {
                true => found.push(node),
                false => to_visit.extend(shape.children(node)),
            }
        }
        found
    }

    fn row(&self, nodes: &[usize], least: u64) -> Value {
        let mut pieces: Vec<Value> = Vec::new();
        let (mut from, mut small) = (0, Sums::default());
        let piece = |node: Option<usize>, from: u64, sums: Sums| {
            let loss = sums.loss as f64 / (sums.n_records * LOSS_ONE) as f64;
            json!([node, from, sums.n_records, sums.n_groups, sums.n_lost, wire::rounded(loss)])
        };
        for &node in nodes {
            let sums = self.sums(node);
            let (n_records, is_small) = (sums.n_records, sums.n_records <= least);
            if is_small {
                small.add(sums);
            } else {
                if small.n_records > 0 {
                    pieces.push(piece(None, from - small.n_records, std::mem::take(&mut small)));
                }
                pieces.push(piece(Some(node), from, sums));
            }
            from += n_records;
            if small.n_records > least {
                pieces.push(piece(None, from - small.n_records, std::mem::take(&mut small)));
            }
        }
        if small.n_records > 0 {
            pieces.push(piece(None, from - small.n_records, small));
        }
        Value::Array(pieces)
    }

    /// One node: its ranges, what it loses, and what becomes of it.
    pub fn group(&self, node: usize, counted: &Counted) -> Value {
        let (tree, shape) = (self.tree, self.tree.shape());
        let node = self.of(node);
        let cells = tree.cells(&[node], counted.told_apart(), &counted.hierarchies, CellStyle::Ranges);
        let names = || counted.hierarchies.iter().map(|hierarchy| hierarchy.attribute().to_string());
        let share = |(&cost, &whole): (&u32, &u32)| wire::rounded(f64::from(cost) / f64::from(whole.max(1)));
        let loss_of = shape.costs(node).iter().zip(shape.whole()).map(share);
        let sums = self.sums(node);
        let state = match (self.is_published[node], self.is_suppressed[node]) {
            (true, _) => "published",
            (_, true) => "suppressed",
            _ => "divided",
        };
        let (measured, sensitive) = (tree.signatures(), counted.sensitive_names());
        let values = measured.measures().iter().zip(measured.of(tree.signature(node)));
        let reached = values.map(|(&measure, &value)| (wire::key(measure, &sensitive), wire::number(measure, value)));
        json!({
            "node": node,
            "state": state,
            "n_records": sums.n_records,
            "n_groups": sums.n_groups,
            "n_suppressed": sums.n_lost,
            "ranges": names().zip(cells[0].iter().map(|text| json!(text))).collect::<Map<_, _>>(),
            "loss": wire::rounded(sums.loss as f64 / (sums.n_records * LOSS_ONE) as f64),
            "loss_of": names().zip(loss_of.map(|share| json!(share))).collect::<Map<_, _>>(),
            "reached": reached.collect::<Map<_, _>>(),
        })
    }

    /// Records before and after, some that are lost among them.
    pub fn sample(&self, opened: &Opened, counted: &Counted, columns: &CountedColumns) -> Result<Value> {
        let counts = counted.told_apart();
        let shape = self.tree.shape();
        let leaf_of: HashMap<u32, usize> =
            (0..shape.n_nodes()).filter_map(|node| shape.base(node).map(|base| (base, node))).collect();
        let codes: Vec<Option<Vec<_>>> =
            columns.records.iter().map(|record| codes_of(counts, columns, record)).collect();
        let group = |codes: &Option<Vec<_>>| {
            let base = codes.as_ref().and_then(|codes| find(counts, codes))?;
            leaf_of.get(&(base as u32)).map(|&leaf| self.of(leaf))
        };
        let groups: Vec<Option<usize>> = codes.iter().map(group).collect();
        let mut nodes: Vec<usize> = groups.iter().flatten().copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        let cells = self.tree.cells(&nodes, counts, &counted.hierarchies, CellStyle::Ranges);
        let coarser = coarser(opened, columns)?;
        let record = |(record, group): (&Vec<Option<String>>, &Option<usize>)| {
            let is_published = group.is_some_and(|group| self.is_published[group]);
            let place = group.and_then(|group| nodes.binary_search(&group).ok());
            let label = |a: usize| place.map(|place| cells[place][a].clone());
            let n_alike = group.map(|group| shape.n_records(group));
            shown(opened, counted, columns, &coarser, record, is_published, n_alike, &label)
        };
        let all: Vec<Value> = columns.records.iter().zip(&groups).map(record).collect();
        Ok(spread_sample(columns, &all, counts.n_records()))
    }
}

#[derive(Clone, Debug, Default)]
struct Sums {
    n_records: u64,
    n_lost: u64,
    loss: u64,
    n_groups: u64,
}

impl Sums {
    fn add(&mut self, more: Sums) {
        self.n_records += more.n_records;
        self.n_lost += more.n_lost;
        self.loss += more.loss;
        self.n_groups += more.n_groups;
    }
}

/// What other values of the first criterion would cost, whatever may be lost of the values.
pub fn against_privacy(
    tree: &Tree,
    counted: &Counted,
    request: &Request,
    may_promise: &(dyn Fn(&Criteria) -> bool + Sync),
) -> Result<Value> {
    let Some(first) = request.criteria.iter().next() else { return Ok(Value::Null) };
    let free = Request { loss_max: None, loss_max_of: Vec::new(), ..request.clone() };
    let n_values: Vec<u64> = counted.n_sensitive_values().iter().map(|&n| n as u64).collect();
    let point = |value: u64| -> Result<Value> {
        let asked = Request { criteria: free.criteria.with(first.with_value(value)), ..free.clone() };
        let best = match tree.best(&asked, &Task::default())? {
            Some(offer) => {
                json!({ "n_suppressed": offer.cut.n_suppressed, "loss": offer.ncp, "n_groups": offer.n_groups() })
            }
            None => Value::Null,
        };
        Ok(json!({ "value": wire::number(first.measure, value), "best": best }))
    };
    let is_allowed = |value: &u64| may_promise(&request.criteria.with(first.with_value(*value)));
    let values = values_around(first, tree.n_records(), &n_values);
    let points = values.into_par_iter().filter(is_allowed).map(point).collect::<Result<Vec<Value>>>()?;
    Ok(json!({ "criterion": wire::key(first.measure, &counted.sensitive_names()), "points": points }))
}
