//! How several desks have agreed on the request: who moved what.

use super::facts::Facts;
use crate::output::account::MovedWish;
use crate::output::page::escape;

pub(super) fn agreement(facts: &Facts) -> String {
    let Some(minutes) = facts.minutes else { return String::new() };
    let value = |value: &Option<String>| value.as_ref().map_or("–".to_string(), |value| escape(value));
    let row = |one: &MovedWish| {
        format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
            one.who,
            escape(&one.what),
            value(&one.from),
            value(&one.to)
        )
    };
    let rows: String = minutes.moves.iter().map(row).collect();
    let table = match rows.is_empty() {
        true => "<p>Nobody changed anything: all agreed to the request as it was at the start.</p>\n".to_string(),
        false => format!(
            "<table>\n<caption>Who changed what, in this order</caption>\n<thead><tr><th scope=\"col\">Desk</th>\
             <th scope=\"col\">Term</th><th scope=\"col\" class=\"n\">From</th><th scope=\"col\" class=\"n\">To</th></tr></thead>\n\
             <tbody>\n{rows}</tbody>\n</table>\n"
        ),
    };
    format!(
        "<section>\n<h2>How it was agreed on</h2>\n<p>Curator, analyst and officer have agreed to this request at their own \
         desks.</p>\n{table}</section>\n"
    )
}
