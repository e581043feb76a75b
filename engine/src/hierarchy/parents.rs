//! A hierarchy as a list of labels with the one above each, as thesauri and code lists have it.

use std::collections::HashMap;

use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::position;

/// Every label with the one above it, and how far it is from the uppermost ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parents {
    names: Vec<String>,
    lines: Vec<u64>,
    parents: Vec<Option<u32>>,
    has_children: Vec<bool>,
    depth_max: usize,
}

impl Parents {
    /// `pairs` are lines with a label and the one above it; an empty one means that there is none.
    pub(super) fn new(source: &str, pairs: &[(u64, String, String)]) -> Result<Parents> {
        let wrong = |line: u64, message: String| Error::new(ErrorKind::Hierarchy, message).at(position(source, line));
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut known = Parents {
            names: Vec::new(),
            lines: Vec::new(),
            parents: Vec::new(),
            has_children: Vec::new(),
            depth_max: 0,
        };
        let mut is_told: Vec<bool> = Vec::new();
        let mut number = |name, line: u64, known: &mut Parents, is_told: &mut Vec<bool>| {
            *numbers.entry(name).or_insert_with(|| {
                known.names.push(String::from(name));
                known.lines.push(line);
                known.parents.push(None);
                known.has_children.push(false);
                is_told.push(false);
                (known.names.len() - 1) as u32
            })
        };
        for (line, child, parent) in pairs {
            if child.is_empty() {
                return Err(wrong(*line, "has no label".into()).hint("write child,parent on every line"));
            }
            let child = number(child.as_str(), *line, &mut known, &mut is_told);
            let above = match parent.as_str() {
                "" => None,
                parent => Some(number(parent, *line, &mut known, &mut is_told)),
            };
            let child_at = child as usize;
            if is_told[child_at] && known.parents[child_at] != above {
                let first = known.lines[child_at];
                return Err(wrong(*line, format!("gives the label of line {first} another parent"))
                    .hint("in a hierarchy every label has one parent; choose which one is meant"));
            }
            is_told[child_at] = true;
            known.lines[child_at] = *line;
            known.parents[child_at] = above;
            if let Some(above) = above {
                known.has_children[above as usize] = true;
            }
        }
        if known.names.is_empty() {
            return Err(wrong(0, "is empty".into()).hint("write child,parent on every line"));
        }
        known.depth_max = known.depths().map_err(|line| {
            wrong(line, "a label is above itself".into())
                .hint("follow the parents from this line on, and cut the circle")
        })?;
        Ok(known)
    }

    /// The greatest number of labels from one to the uppermost above it; the line of one that is above itself, if any is.
    fn depths(&self) -> std::result::Result<usize, u64> {
        let mut depths: Vec<usize> = vec![0; self.names.len()];
        for start in 0..self.names.len() {
            let mut path = vec![start];
            while depths[*path.last().expect("it has a start")] == 0
                && let Some(above) = self.parents[*path.last().expect("it has a start")]
            {
                path.push(above as usize);
                if path.len() > self.names.len() {
                    return Err(self.lines[start]);
                }
            }
            let mut depth = depths[*path.last().expect("it has a start")].max(1);
            depths[path.pop().expect("it has a start")] = depth;
            for node in path.into_iter().rev() {
                depth += 1;
                depths[node] = depth;
            }
        }
        Ok(depths.into_iter().max().unwrap_or(0))
    }

    pub(super) fn has_one_root(&self) -> bool {
        self.depth_max > 1 && self.parents.iter().filter(|parent| parent.is_none()).count() == 1
    }

    /// How many labels a row has: the value, and all that are above it.
    pub(super) fn n_labels(&self) -> usize {
        self.depth_max
    }

    /// The rows of some labels, each of which may be a value. All end with their uppermost label; where there are fewer above
    /// a value than above others, it keeps its finest one on the levels below: that of a label is the label itself.
    pub(super) fn rows_of(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<(u64, Vec<String>)> {
        let row = |node: usize| {
            let mut row = vec![self.names[node].clone()];
            let mut at = node;
            while let Some(above) = self.parents[at] {
                at = above as usize;
                row.push(self.names[at].clone());
            }
            let finest = if self.has_children[node] || row.len() == 1 { 0 } else { 1 };
            while row.len() < self.depth_max {
                row.insert(1, row[finest].clone());
            }
            (self.lines[node], row)
        };
        (0..self.names.len()).filter(|node| is_wanted(&self.names[*node])).map(row).collect()
    }
}
