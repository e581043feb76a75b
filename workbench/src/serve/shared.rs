//! One negotiation at several desks: whose wish is whose, who moved what, and whether all agree.

use incrowd::error::unknown;
use incrowd::{Error, ErrorKind, Result};
use serde_json::{Map, Value, json};

use crate::input::project::CRITERIA;
use crate::output::account::{Minutes, MovedWish};

/// So many moves are kept; moves of one desk that follow each other and are about the same wish are one.
const N_MOVES_MAX: usize = 1_000;

/// Who sits at a desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Desk {
    /// How many records may be lost.
    Curator,
    /// How coarse values may get, and what is best.
    Analyst,
    /// What is promised.
    Officer,
}

impl Desk {
    pub const ALL: [Desk; 3] = [Desk::Curator, Desk::Analyst, Desk::Officer];

    pub fn name(self) -> &'static str {
        match self {
            Desk::Curator => "curator",
            Desk::Analyst => "analyst",
            Desk::Officer => "officer",
        }
    }

    pub fn parse(name: &str) -> Result<Desk> {
        let desk = Desk::ALL.into_iter().find(|desk| desk.name() == name);
        desk.ok_or_else(|| unknown(ErrorKind::Request, "desk", name, &Desk::ALL.map(Desk::name)))
    }

    /// Whose wish it is; nobody's where there is no such wish.
    fn of_wish(key: &str) -> Option<Desk> {
        let name = key.rsplit(':').next().unwrap_or(key);
        match key {
            "max_suppressed" => Some(Desk::Curator),
            "max_level" | "best_by" => Some(Desk::Analyst),
            _ => CRITERIA.contains(&name).then_some(Desk::Officer),
        }
    }
}

/// A negotiation that is under way.
#[derive(Clone, Debug)]
pub struct Shared {
    wish: Map<String, Value>,
    moves: Vec<Move>,
    has_agreed: [bool; 3],
    version: u64,
}

/// A wish that somebody has changed; nothing where there was none, or is none any more.
#[derive(Clone, Debug)]
struct Move {
    desk: Desk,
    what: String,
    from: Option<Value>,
    to: Option<Value>,
}

impl Shared {
    pub fn new(wish: Map<String, Value>) -> Shared {
        Shared { wish, moves: Vec::new(), has_agreed: [false; 3], version: 0 }
    }

    pub fn wish(&self) -> &Map<String, Value> {
        &self.wish
    }

    /// The same after somebody has changed wishes of their own; a wish without a value is taken back. Whoever had agreed
    /// had agreed to something else.
    ///
    /// # Guarantee
    /// Nobody moves what another desk wishes for.
    pub fn moved(&self, desk: Desk, change: &Map<String, Value>) -> Result<Shared> {
        let mut next = self.clone();
        for (key, value) in change {
            let owner = Desk::of_wish(key);
            if owner != Some(desk) {
                let message = match owner {
                    Some(owner) => format!("{key} belongs to the {}", owner.name()),
                    None => "a request has no such term".to_string(),
                };
                return Err(Error::new(ErrorKind::Request, message).hint("every desk changes its own terms"));
            }
            match (key.as_str(), value) {
                ("max_level", Value::Object(levels)) => {
                    let known = next.wish.get("max_level").and_then(Value::as_object).cloned().unwrap_or_default();
                    let mut after = known.clone();
                    for (attribute, level) in levels {
                        let what = format!("coarsest level of {attribute}");
                        next.note(desk, what, known.get(attribute).cloned(), Some(level.clone()))?;
                        after.insert(attribute.clone(), level.clone());
                    }
                    next.wish.insert(key.clone(), Value::Object(after));
                }
                (_, Value::Null) => {
                    let before = next.wish.shift_remove(key);
                    next.note(desk, key.clone(), before, None)?;
                }
                _ => {
                    let before = next.wish.insert(key.clone(), value.clone());
                    next.note(desk, key.clone(), before, Some(value.clone()))?;
                }
            }
        }
        (next.version, next.has_agreed) = (self.version + 1, [false; 3]);
        Ok(next)
    }

    fn note(&mut self, desk: Desk, what: String, from: Option<Value>, to: Option<Value>) -> Result<()> {
        if from == to {
            return Ok(());
        }
        if let Some(last) = self.moves.last_mut().filter(|last| last.desk == desk && last.what == what) {
            last.to = to;
            if last.from == last.to {
                self.moves.pop();
            }
            return Ok(());
        }
        if self.moves.len() >= N_MOVES_MAX {
            return Err(Error::new(ErrorKind::Request, "these desks have moved too often")
                .hint("begin anew from where they are"));
        }
        self.moves.push(Move { desk, what, from, to });
        Ok(())
    }

    /// The same after somebody has agreed to what is wished for now.
    pub fn agreed(&self, desk: Desk, version: u64) -> Result<Shared> {
        if version != self.version {
            return Err(Error::new(ErrorKind::Request, "somebody has changed the request meanwhile")
                .hint("look at the request as it stands now, and agree to that"));
        }
        let mut next = self.clone();
        next.has_agreed[desk as usize] = true;
        Ok(next)
    }

    pub fn is_agreed(&self) -> bool {
        self.has_agreed == [true; 3]
    }

    /// How it went, for the report; nothing before all have agreed.
    pub fn minutes(&self) -> Option<Minutes> {
        let written = |value: &Option<Value>| value.as_ref().map(written);
        let moved = |one: &Move| MovedWish {
            who: one.desk.name(),
            what: one.what.clone(),
            from: written(&one.from),
            to: written(&one.to),
        };
        self.is_agreed().then(|| Minutes { moves: self.moves.iter().map(moved).collect() })
    }

    /// What everybody at the desks sees.
    pub fn document(&self) -> Value {
        let moves = self
            .moves
            .iter()
            .map(|one| json!({ "desk": one.desk.name(), "what": one.what, "from": one.from, "to": one.to }));
        let agreed = Desk::ALL.into_iter().filter(|desk| self.has_agreed[*desk as usize]).map(Desk::name);
        json!({
            "version": self.version,
            "request": self.wish,
            "moves": moves.collect::<Vec<_>>(),
            "agreed": agreed.collect::<Vec<_>>(),
            "is_agreed": self.is_agreed(),
        })
    }
}

/// A wish as the report says it.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(parts) => {
            parts.iter().map(|(name, part)| format!("{name} = {}", written(part))).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().expect("an object").clone()
    }

    fn start() -> Shared {
        Shared::new(object(json!({ "k": 5, "max_suppressed": 10, "max_level": { "age": 2, "sex": 0 } })))
    }

    #[test]
    fn every_desk_moves_its_own_wishes_and_no_other() {
        let shared = start();
        for (desk, change) in [
            (Desk::Officer, json!({ "k": 7 })),
            (Desk::Officer, json!({ "disease:l": 2, "k": 6 })),
            (Desk::Curator, json!({ "max_suppressed": 3 })),
            (Desk::Analyst, json!({ "max_level": { "age": 1 } })),
            (Desk::Analyst, json!({ "best_by": "height" })),
        ] {
            for other in Desk::ALL {
                assert_eq!(shared.moved(other, &object(change.clone())).is_ok(), other == desk, "{other:?} {change}");
            }
        }
        for change in [json!({ "project": "x" }), json!({ "local": true }), json!({ "age": 1 })] {
            assert!(Desk::ALL.into_iter().all(|desk| shared.moved(desk, &object(change.clone())).is_err()), "{change}");
        }
    }

    #[test]
    fn moves_are_kept_and_those_that_follow_each_other_are_one() {
        let mut shared = start();
        for (desk, change) in [
            (Desk::Officer, json!({ "k": 6 })),
            (Desk::Officer, json!({ "k": 9 })),
            (Desk::Analyst, json!({ "max_level": { "age": 3 } })),
            (Desk::Officer, json!({ "k": null, "l": 2 })),
            (Desk::Curator, json!({ "max_suppressed": 20 })),
            (Desk::Curator, json!({ "max_suppressed": 10 })),
        ] {
            shared = shared.moved(desk, &object(change)).expect("their own");
        }
        assert_eq!(
            shared.wish(),
            &object(json!({ "max_suppressed": 10, "max_level": { "age": 3, "sex": 0 }, "l": 2 }))
        );
        let document = shared.document();
        let told: Vec<String> = document["moves"]
            .as_array()
            .expect("moves")
            .iter()
            .map(|one| format!("{} {} {} {}", one["desk"], one["what"], one["from"], one["to"]).replace('"', ""))
            .collect();
        let known = ["officer k 5 9", "analyst coarsest level of age 2 3", "officer k 9 null", "officer l null 2"];
        assert_eq!(told, known);
    }

    #[test]
    fn agreement_is_about_what_all_see_and_ends_with_the_next_move() {
        let mut shared = start().moved(Desk::Officer, &object(json!({ "k": 8 }))).expect("a move");
        assert!(shared.agreed(Desk::Curator, 0).is_err());
        for desk in Desk::ALL {
            assert!(!shared.is_agreed() && shared.minutes().is_none());
            shared = shared.agreed(desk, 1).expect("nobody has moved");
        }
        let minutes = shared.minutes().expect("all have agreed");
        assert_eq!(minutes.moves.len(), 1);
        assert_eq!((minutes.moves[0].from.as_deref(), minutes.moves[0].to.as_deref()), (Some("5"), Some("8")));
        let moved = shared.moved(Desk::Curator, &object(json!({ "max_suppressed": 0 }))).expect("a move");
        assert!(!moved.is_agreed());
    }
}
