//! Answers as they are written: straight to text, since a server says them thousands of times a second; or to a value,
//! where somebody adds to it.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::Value;

use crate::criterion::{Criteria, Measure};
use crate::lattice::Scope;
use crate::quality::Losses;
use crate::scheme::Scheme;
use crate::search::negotiate::{Answer, Offer, Offers};
use crate::search::request::Request;
use crate::wire::json::{l_among, large, number, rounded, share, value};

/// What is said of an offer beside the facts, under which names.
pub type Said = Vec<(&'static str, String)>;

/// A request as it was understood.
pub fn request(scope: &Scope, asked: &Request) -> Value {
    as_value(&WrittenRequest { scope, asked })
}

/// The answer to a request: the facts of it.
pub fn answer(scope: &Scope, asked: &Request, answer: &Answer) -> Value {
    WrittenAnswer { scope, asked, answer, said: &|_| Vec::new(), more: Vec::new() }.to_value()
}

/// An offer: the facts of it.
pub fn offer(scope: &Scope, offer: &Offer) -> Value {
    WrittenOffer { scope, offer, said: &|_| Vec::new() }.to_value()
}

/// What a release has lost, by every quality function that was computed.
pub fn losses(losses: &Losses) -> Value {
    as_value(&WrittenLosses(losses))
}

fn as_value(written: &impl Serialize) -> Value {
    serde_json::to_value(written).expect("every key is a text")
}

/// The answer to a request.
pub struct WrittenAnswer<'a> {
    /// What it is about.
    pub scope: &'a Scope,
    /// What was asked.
    pub asked: &'a Request,
    /// The answer.
    pub answer: &'a Answer,
    /// What is said of each offer.
    pub said: &'a dyn Fn(&Offer) -> Said,
    /// What is written behind all that.
    pub more: Vec<(&'static str, Value)>,
}

impl WrittenAnswer<'_> {
    /// As a value.
    pub fn to_value(&self) -> Value {
        as_value(self)
    }
}

impl Serialize for WrittenAnswer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let WrittenAnswer { scope, asked, answer, said, more } = self;
        let outcome = match answer {
            Answer::Exact(_) => "exact",
            Answer::Offers(_) => "offers",
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("outcome", outcome)?;
        map.serialize_entry("request", &WrittenRequest { scope, asked })?;
        map.serialize_entry("n_records", &scope.n_records())?;
        map.serialize_entry("n_dropped", &scope.n_dropped())?;
        map.serialize_entry("n_schemes", &scope.n_schemes())?;
        match answer {
            Answer::Exact(offer) => map.serialize_entry("exact", &WrittenOffer { scope, offer, said })?,
            Answer::Offers(offers) => map.serialize_entry("offers", &WrittenOffers { scope, offers, said })?,
        }
        more.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

/// A request as it was understood.
struct WrittenRequest<'a> {
    scope: &'a Scope,
    asked: &'a Request,
}

impl Serialize for WrittenRequest<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let WrittenRequest { scope, asked } = self;
        let mut map = serializer.serialize_map(None)?;
        write_criteria(&mut map, scope, &asked.criteria)?;
        map.serialize_entry("max_suppressed", &asked.n_suppressed_max)?;
        map.serialize_entry("max_level", &WrittenLevels(scope, &asked.level_max))?;
        map.serialize_entry("best_by", &asked.best_by.name())?;
        map.end()
    }
}

struct WrittenOffers<'a> {
    scope: &'a Scope,
    offers: &'a Offers,
    said: &'a dyn Fn(&Offer) -> Said,
}

impl Serialize for WrittenOffers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let &WrittenOffers { scope, offers, said } = self;
        let written = |offer| WrittenOffer { scope, offer, said };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("suppression", &written(&offers.suppression))?;
        map.serialize_entry("height", &offers.height.as_ref().map(written))?;
        map.serialize_entry("privacy", &offers.privacy.as_ref().map(written))?;
        if offers.privacy_alternatives.len() > 1 {
            map.serialize_entry("privacy_alternatives", &All(&offers.privacy_alternatives, written))?;
        }
        map.end()
    }
}

struct All<'a, F>(&'a [Offer], F);

impl<'a, F: Fn(&'a Offer) -> WrittenOffer<'a>> Serialize for All<'a, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all = serializer.serialize_seq(Some(self.0.len()))?;
        self.0.iter().try_for_each(|offer| all.serialize_element(&self.1(offer)))?;
        all.end()
    }
}

/// An offer: the facts of it, and what is said beside them.
pub struct WrittenOffer<'a> {
    /// What it is about.
    pub scope: &'a Scope,
    /// The offer.
    pub offer: &'a Offer,
    /// What is said of it.
    pub said: &'a dyn Fn(&Offer) -> Said,
}

impl WrittenOffer<'_> {
    /// As a value.
    pub fn to_value(&self) -> Value {
        as_value(self)
    }
}

impl Serialize for WrittenOffer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let &WrittenOffer { scope, offer, said } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("levels", &WrittenLevels(scope, &offer.scheme))?;
        map.serialize_entry("level_names", &WrittenLevelNames(scope, &offer.scheme))?;
        map.serialize_entry("height", &offer.scheme.height())?;
        map.serialize_entry("n_dropped", &scope.n_dropped())?;
        map.serialize_entry("n_suppressed", &offer.n_suppressed)?;
        map.serialize_entry("share_suppressed", &share(offer.n_suppressed, scope.n_records()))?;
        if let Some(n_lost) = offer.n_people_lost {
            map.serialize_entry("n_people_lost", &n_lost)?;
        }
        write_criteria(&mut map, scope, &offer.criteria)?;
        map.serialize_entry("n_groups", &offer.n_groups)?;
        map.serialize_entry("smallest_group", &offer.smallest_group())?;
        if !scope.sensitive().is_empty() {
            map.serialize_entry("fewest_distinct", &offer.fewest_distinct())?;
        }
        map.serialize_entry("reached", &WrittenReached(scope, &offer.reached))?;
        map.serialize_entry("loss", &WrittenLosses(&offer.losses))?;
        said(offer).into_iter().try_for_each(|(name, text)| map.serialize_entry(name, &text))?;
        map.end()
    }
}

/// A scheme as `{"age": 1, "race": 0}`, in the project's order of attributes.
struct WrittenLevels<'a>(&'a Scope, &'a Scheme);

impl Serialize for WrittenLevels<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let levels = self.0.hierarchies().iter().zip(self.1.levels());
        serializer.collect_map(levels.map(|(hierarchy, level)| (hierarchy.attribute(), level.0)))
    }
}

struct WrittenLevelNames<'a>(&'a Scope, &'a Scheme);

impl Serialize for WrittenLevelNames<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let hierarchies = self.0.hierarchies().iter().enumerate();
        serializer.collect_map(
            hierarchies.map(|(a, hierarchy)| (hierarchy.attribute(), hierarchy.level(self.1.level(a)).name())),
        )
    }
}

/// What published groups reach, of everything that was measured.
struct WrittenReached<'a>(&'a Scope, &'a [(Measure, u64)]);

impl Serialize for WrittenReached<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let measures: Vec<Measure> = self.1.iter().map(|(measure, _)| *measure).collect();
        let entry = |&(measure, value): &(Measure, u64)| (key_in(self.0, measure, &measures), number(measure, value));
        serializer.collect_map(self.1.iter().map(entry))
    }
}

/// What a release has lost, by every quality function that was computed.
struct WrittenLosses<'a>(&'a Losses);

impl Serialize for WrittenLosses<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let losses = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("ncp", &rounded(losses.ncp))?;
        map.serialize_entry("discernibility", &large(losses.discernibility))?;
        map.serialize_entry("group_size", &rounded(losses.group_size))?;
        map.serialize_entry("precision", &rounded(losses.precision))?;
        if let Some(entropy) = losses.entropy {
            map.serialize_entry("entropy", &rounded(entropy))?;
        }
        map.end()
    }
}

fn write_criteria<M: SerializeMap>(map: &mut M, scope: &Scope, criteria: &Criteria) -> Result<(), M::Error> {
    let measures: Vec<Measure> = criteria.iter().map(|criterion| criterion.measure).collect();
    criteria
        .iter()
        .try_for_each(|criterion| map.serialize_entry(&key_in(scope, criterion.measure, &measures), &value(criterion)))
}

/// The name of a criterion among others, with its sensitive attribute in front where there are several.
fn key_in(scope: &Scope, measure: Measure, among: &[Measure]) -> Cow<'static, str> {
    let l = l_among(measure, among);
    match measure.sensitive() {
        Some(s) if scope.sensitive().len() > 1 => format!("{}:{}{l}", scope.sensitive()[s].0, measure.name()).into(),
        _ if l.is_empty() => measure.name().into(),
        _ => format!("{}{l}", measure.name()).into(),
    }
}
