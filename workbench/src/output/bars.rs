//! Charts of bars, as SVG: side by side where each bar is something of its own, or several to a place.

use std::fmt::Write;

use crate::output::chart::{COLOURS, n_parts, round_above};
use crate::output::page::escape;

/// A chart of bars.
pub struct Bars {
    pub title: String,
    pub x_name: String,
    pub y_name: String,
    /// What stands under each place.
    pub places: Vec<String>,
    /// What several places have in common, below them: a name, and for how many places it is; none, or for all.
    pub groups: Vec<(String, usize)>,
    /// What each kind of bar is called, and how high it is at every place; nothing is drawn where there is none.
    pub kinds: Vec<(String, Vec<Option<f64>>)>,
    pub y_label: fn(f64) -> String,
}

const HEIGHT: f64 = 420.0;
const LEFT: f64 = 72.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 60.0;

/// The chart as an SVG element with its own style.
pub fn svg(bars: &Bars) -> String {
    let (n_places, n_kinds) = (bars.places.len().max(1) as f64, bars.kinds.len().max(1) as f64);
    let of_place = ((720.0 - LEFT - 16.0) / n_places).max(6.0 * n_kinds.min(3.0));
    let width = LEFT + 16.0 + of_place * n_places;
    let most = bars.kinds.iter().flat_map(|(_, all)| all.iter().flatten()).copied().fold(0.0, f64::max);
    let y_max = round_above(most);
    let up = |y: f64| HEIGHT - BOTTOM - (y / y_max).clamp(0.0, 1.0) * (HEIGHT - TOP - BOTTOM);
    let mut svg = format!(
        "<svg class=\"lines\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {HEIGHT}\" role=\"img\" \
         aria-label=\"{}\">\n<style>.lines {{ width: 100%; height: auto; font: 12px system-ui, sans-serif; }} \
         .lines text {{ fill: currentColor; }} .lines .grid {{ stroke: currentColor; opacity: .15; }}</style>\n",
        escape(&bars.title)
    );
    let n_y_ticks = n_parts(y_max);
    for i in 0..=n_y_ticks {
        let y = y_max * i as f64 / n_y_ticks as f64;
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{2:.1}\" y2=\"{2:.1}\"/>\
             <text x=\"{1:.1}\" y=\"{3:.1}\" text-anchor=\"end\">{4}</text>",
            width - 8.0,
            LEFT - 8.0,
            up(y),
            up(y) + 4.0,
            escape(&(bars.y_label)(y)),
        );
    }
    // Names of places that would not fit side by side are left out, every second or tenth stays.
    let widest = bars.places.iter().map(|name| name.chars().count()).max().unwrap_or(1) as f64 * 7.0 + 6.0;
    let every = [1, 2, 5, 10, 20, 50].into_iter().find(|every| *every as f64 * of_place >= widest).unwrap_or(100);
    for (i, name) in bars.places.iter().enumerate() {
        let x = LEFT + of_place * i as f64;
        if i % every == 0 {
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                x + of_place / 2.0,
                HEIGHT - BOTTOM + 18.0,
                escape(name)
            );
        }
        let of_bar = (of_place * 0.8 / n_kinds).max(1.0);
        for (kind, (called, heights)) in bars.kinds.iter().enumerate() {
            let Some(value) = heights.get(i).copied().flatten() else { continue };
            let _ = writeln!(
                svg,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{of_bar:.1}\" height=\"{:.1}\" fill=\"{}\"><title>{}</title></rect>",
                x + of_place * 0.1 + of_bar * kind as f64,
                up(value),
                HEIGHT - BOTTOM - up(value),
                COLOURS[kind % COLOURS.len()],
                escape(&format!("{name}, {called}: {}", (bars.y_label)(value))),
            );
        }
    }
    let mut start = 0;
    for (name, n) in &bars.groups {
        let (from, to) = (LEFT + of_place * start as f64, LEFT + of_place * (start + n) as f64);
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{to:.1}\" x2=\"{to:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-weight=\"600\">{}</text>",
            HEIGHT - BOTTOM,
            HEIGHT - BOTTOM + 34.0,
            (from + to) / 2.0,
            HEIGHT - BOTTOM + 33.0,
            escape(name)
        );
        start += n;
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
         <text transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        (LEFT + width) / 2.0,
        HEIGHT - 8.0,
        escape(&bars.x_name),
        (TOP + HEIGHT - BOTTOM) / 2.0,
        escape(&bars.y_name),
    );
    let mut x = LEFT;
    for (kind, (called, _)) in bars.kinds.iter().enumerate().filter(|_| bars.kinds.len() > 1) {
        let colour = COLOURS[kind % COLOURS.len()];
        let _ = writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"6\" width=\"10\" height=\"10\" fill=\"{colour}\"/>\
             <text x=\"{:.1}\" y=\"15\">{}</text>",
            x + 14.0,
            escape(called)
        );
        x += 26.0 + called.chars().count() as f64 * 7.0;
    }
    svg + "</svg>\n"
}
