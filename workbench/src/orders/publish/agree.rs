//! Which scheme is published: the answer to a request, one of the offers, or levels of one's own choice.

use std::sync::Arc;
use std::time::Duration;

use incrowd::error::{Wording, unknown};
use incrowd::lattice::{Scope, outcome_of};
use incrowd::quality::Losses;
use incrowd::search::negotiate::negotiate_with;
use incrowd::search::on_demand::FoundAnswer;
use incrowd::search::partial::prove;
use incrowd::search::request::check_criteria;
use incrowd::wire::HowFound;
use incrowd::{Answer, Error, ErrorKind, Lattice, Level, Offer, Plan, Request, Result, Scheme, Yardstick};

use super::No;
use crate::input::count::Counted;
use crate::input::project::Project;
use crate::orders::Rules;
use crate::orders::extent::{ExtentWish, search, search_of};
use crate::orders::known::Known;
use crate::orders::negotiate_local::CutChoice;
use crate::orders::request::{GivenRequest, Privacy, with_levels};
use crate::sentences;
use crate::work::Work;

/// The answers that can be published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerChoice {
    /// The answer that meets the request
    Exact,
    /// The offer that loses more records
    Suppression,
    /// The offer that generalizes otherwise
    Height,
    /// The offer that promises less
    Privacy,
}

impl AnswerChoice {
    pub const ALL: [AnswerChoice; 4] =
        [AnswerChoice::Exact, AnswerChoice::Suppression, AnswerChoice::Height, AnswerChoice::Privacy];

    pub fn parse(name: &str) -> Result<AnswerChoice> {
        if name == CutChoice::Loss.name() {
            let message = Wording::text("").setting("offer").and(" loss is about ranges of their own for every group");
            return Err(Error::new(ErrorKind::Request, message)
                .hint(Wording::text("take ").example("offer", "height").and(", or publish with ").setting("local")));
        }
        let choice = AnswerChoice::ALL.into_iter().find(|choice| choice.name() == name);
        choice.ok_or_else(|| unknown(ErrorKind::Request, "offer", name, &AnswerChoice::ALL.map(AnswerChoice::name)))
    }

    pub fn name(self) -> &'static str {
        match self {
            AnswerChoice::Exact => "exact",
            AnswerChoice::Suppression => "suppression",
            AnswerChoice::Height => "height",
            AnswerChoice::Privacy => "privacy",
        }
    }
}

/// What was agreed on: the offer to publish, and how it came about.
#[derive(Clone)]
pub struct Agreed {
    pub offer: Offer,
    pub choice: &'static str,
    /// As it was understood; nothing where levels were chosen by hand.
    pub request: Option<Request>,
    pub lattice: Option<Arc<Lattice>>,
    /// How the scheme was found; nothing where levels were chosen by hand.
    pub search: Option<HowFound>,
    /// Whether labels that are ranges are published as their lowest and their highest value.
    pub two_columns: bool,
}

/// An answer to be published, or why there is none.
pub enum Agreement {
    Agreed(Agreed),
    No(No),
}

/// Finds what levels of one's own choice give, where they lose no more records than may be lost.
pub fn agree_on_levels(
    levels: &[(String, String)],
    given: &GivenRequest,
    project: &Project,
    privacy: &Privacy,
    counted: &Counted,
) -> Result<Agreement> {
    let (n_records, criteria) = (counted.counts.n_records(), &privacy.criteria);
    check_criteria(criteria, counted.counts.crowd(), &counted.n_sensitive_values())?;
    let exact = Scheme::new(vec![Level(0); counted.hierarchies.len()]);
    let scheme = with_levels(&exact, levels, &counted.hierarchies)?;
    let yardstick = counted.yardstick(criteria.iter().map(|criterion| criterion.measure))?;
    let offer = offer_of_levels(counted, &yardstick, scheme, privacy)?;
    Ok(match given.exceeds_suppression(project, &offer, n_records)? {
        true => Agreement::No(No::TooManyLost { n_suppressed: offer.n_suppressed, n_records }),
        false => {
            let (choice, request, lattice, search) = ("levels", None, None, None);
            Agreement::Agreed(Agreed { offer, choice, request, lattice, search, two_columns: false })
        }
    })
}

/// Finds the answer to a request, or the offer that is chosen.
pub fn agree_on_answer(
    choice: AnswerChoice,
    request: &Request,
    extent: &ExtentWish,
    time: Duration,
    privacy: &Privacy,
    counted: &Arc<Counted>,
    known: &Known,
    rules: &Rules,
    work: &Work,
) -> Result<Agreement> {
    check_criteria(&privacy.criteria, counted.counts.crowd(), &counted.n_sensitive_values())?;
    let Answered { scope, answer, found, lattice } = match known.for_request(extent, counted, request, work)? {
        Some(lattice) => answer_from(lattice, counted, request, work)?,
        None => {
            // Whoever cancels wants nothing published: only the time ends a search with the best so far.
            let searched = search(counted, request, time, &|| false, work)?;
            let answer = searched.found.answer.clone();
            Answered { scope: searched.scope, answer, found: Some(searched.found), lattice: None }
        }
    };
    let answer = (rules.answer)(privacy.above_floors(answer), &privacy.sensitive);
    let Some((offer, choice)) = chosen(&answer, choice) else {
        return Ok(Agreement::No(No::NoSuchAnswer(Box::new((
            scope,
            request.clone(),
            privacy.floors.clone(),
            answer,
            choice,
        )))));
    };
    let selection = lattice.as_ref().and_then(|lattice| lattice.selection());
    let search = match &found {
        Some(found) => Some(search_of(&scope, selection, request, found, choice.name())),
        None => scope.n_schemes().map(sentences::found_in_whole_lattice),
    };
    let lattice = lattice.filter(|lattice| lattice.schemes().is_complete());
    let (choice, request) = (choice.name(), Some(request.clone()));
    Ok(Agreement::Agreed(Agreed { offer, choice, request, lattice, search, two_columns: false }))
}

/// An answer, and where it comes from.
struct Answered {
    scope: Scope,
    answer: Answer,
    /// What is proved about it; nothing where the whole lattice has answered.
    found: Option<FoundAnswer>,
    lattice: Option<Arc<Lattice>>,
}

/// Answers from a lattice; of a partial one it is said what that proves among all schemes.
fn answer_from(lattice: Arc<Lattice>, counted: &Counted, request: &Request, work: &Work) -> Result<Answered> {
    if lattice.selection().is_none() {
        let answer = work.quietly(|task| negotiate_with(&lattice, request, task))?;
        return Ok(Answered { scope: (**lattice).clone(), answer, found: None, lattice: Some(lattice) });
    }
    let (weights, yardstick) = (counted.weights(), counted.yardstick(lattice.measures().iter().copied())?);
    let with_entropy = lattice.entropies().is_some();
    let plan = Plan { weights: &weights, yardstick: &yardstick, with_entropy };
    let mut lattice = Arc::unwrap_or_clone(lattice);
    lattice.extend(&counted.counts, &plan, &request.level_max)?;
    let answer = work.quietly(|task| negotiate_with(&lattice, request, task))?;
    let found = work.quietly(|task| prove(&lattice, &counted.counts, &plan, request, answer.clone(), task))?;
    Ok(Answered { scope: (*lattice).clone(), answer, found: Some(found), lattice: Some(Arc::new(lattice)) })
}

/// What publishing levels of one's own choice would give.
pub fn offer_of_levels(counted: &Counted, yardstick: &Yardstick, scheme: Scheme, privacy: &Privacy) -> Result<Offer> {
    let weights = counted.weights();
    let plan = Plan { weights: &weights, yardstick, with_entropy: false };
    let criteria = &privacy.criteria;
    let (groups, outcome) = outcome_of(&counted.counts, &counted.hierarchies, &plan, &scheme, criteria)?;
    let levels: Vec<u8> = scheme.levels().iter().map(|level| level.0).collect();
    let tops: Vec<u8> = counted.hierarchies.iter().map(|hierarchy| hierarchy.top() as u8).collect();
    let losses = Losses::new(&outcome, &levels, &tops, counted.counts.n_records(), None);
    Ok(Offer::new(scheme, criteria.clone(), &groups, outcome, losses))
}

/// The offer that was chosen; who would accept an offer accepts the answer that needs none.
pub fn chosen(answer: &Answer, choice: AnswerChoice) -> Option<(Offer, AnswerChoice)> {
    let offer = match (answer, choice) {
        (Answer::Exact(offer), _) => return Some((offer.clone(), AnswerChoice::Exact)),
        (Answer::Offers(_), AnswerChoice::Exact) => None,
        (Answer::Offers(offers), AnswerChoice::Suppression) => Some(offers.suppression.clone()),
        (Answer::Offers(offers), AnswerChoice::Height) => offers.height.clone(),
        (Answer::Offers(offers), AnswerChoice::Privacy) => offers.privacy.clone(),
    };
    offer.map(|offer| (offer, choice))
}
