//! What a search has proved, in words.

use crate::sentences::grouped;
use incrowd::search::on_demand::FoundAnswer;
use incrowd::{Lattice, Request};

use super::notes::Front;
use crate::orders::extent::{Limit, Searched, bound_of_answer, looked_at};

/// What is proved about an answer on demand, as a sentence says it.
pub fn proof_in_words(searched: &Searched, request: &Request, front: Front) -> String {
    let Searched { scope, found, limit } = searched;
    let looked = looked_at(scope, found.n_evaluated);
    if found.is_proved() {
        return format!("Proved optimal; {looked}");
    }
    let more = match limit {
        Limit::Time => front.more("time"),
        Limit::Memory => front.more("memory"),
    };
    if !found.is_decided {
        return format!("The best so far, and perhaps all can be had; {looked}; {more} may tell");
    }
    format!("The best so far: {}; {looked}; {more} may find better", bound_of_answer(scope, request, found))
}

/// What is proved about the answer of a partial lattice, as sentences say it.
pub fn partial_in_words(lattice: &Lattice, request: &Request, found: &FoundAnswer, front: Front) -> String {
    let n_schemes = lattice.n_schemes().map_or("over 10^19".to_string(), grouped);
    let selection = lattice.selection().unwrap_or_default();
    let from = format!(
        "From a partial lattice: {} of {n_schemes} schemes, the most promising by {}",
        grouped(lattice.schemes().len() as u64),
        selection.estimator.name()
    );
    // On the page nobody gives wishes by name.
    let (finds_out, finds_best) = match front {
        Front::Http => (String::new(), String::new()),
        front => {
            let on_demand = front.wish("on_demand", None);
            (format!("; {on_demand} finds out"), format!("; {on_demand} finds the best"))
        }
    };
    let proved = if found.is_proved() {
        "Proved optimal: nothing that is not annotated could be better".to_string()
    } else if !found.is_decided {
        format!("Perhaps all can be had: schemes that are not annotated were not ruled out{finds_out}")
    } else {
        format!("Among all schemes, {}{finds_best}", bound_of_answer(lattice, request, found))
    };
    format!("{from}. {proved}")
}
