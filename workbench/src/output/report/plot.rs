//! What the charts of the report have in common: heights, lines, ticks and the numbers on them.

use crate::sentences::grouped;

// Heights within a chart, in pixels: a line's label, then the plot, then the axis.
pub(super) const PLOT_TOP: f64 = 44.0;

pub(super) const PLOT_BOTTOM: f64 = 200.0;

/// In pixels; what is there is seen, however little it is.
pub(super) fn bar_height(n: u64, n_most: u64) -> f64 {
    // The words above the tallest bar need room below the marker's label.
    let tallest = PLOT_BOTTOM - PLOT_TOP;
    if n == 0 { 0.0 } else { (part(n as f64, n_most as f64) * tallest).max(2.0) }
}

/// A dashed line across the plot, with its meaning at the top, on the side that has room.
pub(super) fn marker_line(x: f64, label: &str) -> String {
    let (anchor, dx) = if x < 50.0 { ("start", 6) } else { ("end", -6) };
    format!(
        "<line class=\"marker\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"2\" y2=\"{PLOT_BOTTOM}\"/>\
         <text class=\"marked\" x=\"{x:.2}%\" dx=\"{dx}\" y=\"13\" text-anchor=\"{anchor}\">{label}</text>"
    )
}

/// A word under the plot.
pub(super) fn tick(x: f64, text: &str) -> String {
    format!("<text class=\"tick\" x=\"{x:.2}%\" y=\"{}\">{text}</text>", PLOT_BOTTOM + 18.0)
}

/// A number that fits under a bar.
pub(super) fn short(n: u64) -> String {
    let scaled = |unit: f64, letter: &str| {
        let text = format!("{:.1}", n as f64 / unit);
        format!("{}{letter}", text.strip_suffix(".0").unwrap_or(&text))
    };
    match n {
        0..10_000 => grouped(n),
        10_000..999_950 => scaled(1e3, "k"),
        999_950..999_950_000 => scaled(1e6, "M"),
        _ => scaled(1e9, "G"),
    }
}

/// A number on an axis; all of an axis are written in the same unit.
pub(super) fn axis_number(n: u64, step: u64) -> String {
    match (n, step) {
        (0, _) => "0".to_string(),
        (_, 1_000_000..) => format!("{}M", grouped(n / 1_000_000)),
        (_, 1_000..) => format!("{}k", n / 1_000),
        _ => grouped(n),
    }
}

/// How much of the whole a part is, from 0 to 1, whatever it is given.
pub(super) fn part(n: f64, of: f64) -> f64 {
    if of > 0.0 && n > 0.0 { (n / of).min(1.0) } else { 0.0 }
}

/// A round step that divides an axis up to `n_most` into two to five parts.
pub(super) fn nice_step(n_most: u64) -> u64 {
    let mut unit: u64 = 1;
    loop {
        for step in [1, 2, 5].map(|digit| unit.saturating_mul(digit)) {
            if n_most / step < 5 {
                return step;
            }
        }
        unit = unit.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_steps_round() {
        let texts = [0, 9_999, 10_000, 12_345, 999_949, 999_950, 1_234_567, 2_000_000_000].map(short);
        assert_eq!(texts, ["0", "9,999", "10k", "12.3k", "999.9k", "1M", "1.2M", "2G"]);
        assert_eq!([0, 4, 5, 18_949, 25_000, u64::MAX].map(nice_step)[..5], [1, 1, 2, 5_000, 10_000]);
    }
}
