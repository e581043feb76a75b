//! What columns that are published as they are tell beside the promise.

use super::facts::Facts;
use crate::note::Beside;
use crate::output::page::escape;

/// What columns that are published as they are tell, where they tell something.
pub(super) fn beside(facts: &Facts) -> String {
    let all = &facts.account.beside;
    if all.is_empty() {
        return String::new();
    }
    let item = |beside: &Beside| format!("<li>{}.</li>\n", escape(&beside.in_words()));
    format!(
        "<section>\n<h2>What stands beside the promise</h2>\n\
         <p>Columns that are published as they are take no part in groups. Whoever knows how they hang together with what \
         is generalized can tell the records of a group apart.</p>\n<ul class=\"beside\">\n{}</ul>\n</section>\n",
        all.iter().map(item).collect::<String>()
    )
}
