//! Charts as SVG, to stand in a page or alone.

use std::fmt::Write;

use crate::output::page::escape;

/// One line of a chart: where it goes, and what it is called.
pub struct Line {
    pub name: String,
    /// In the order in which they are joined.
    pub points: Vec<Point>,
}

pub struct Point {
    pub x: f64,
    pub y: f64,
    /// What is shown when someone points at it.
    pub title: String,
}

/// A chart of lines.
pub struct Chart {
    pub title: String,
    pub x_name: String,
    pub y_name: String,
    pub x_max: f64,
    pub y_max: f64,
    /// How a value of each axis is written.
    pub x_label: Box<dyn Fn(f64) -> String>,
    pub y_label: fn(f64) -> String,
    /// Into how many parts the x axis is divided.
    pub n_x_ticks: usize,
    /// Whether lines stay at a height until the next point, as trade-offs do, or go straight to it.
    pub is_stepped: bool,
    /// Points that belong to no line, behind the lines.
    pub dots: Vec<Point>,
    pub lines: Vec<Line>,
}

/// Into how many parts an axis is divided.
pub const N_TICKS: usize = 5;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 124.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 48.0;

/// Told apart on white and on black, and by readers who do not see all colours.
pub const COLOURS: [&str; 8] = ["#1f83c7", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7f7f7f", "#8c6bb1"];

/// The least number of at least `value` at which an axis of four to eight parts has marks that are easily read.
pub fn round_above(value: f64) -> f64 {
    let power = 10f64.powf((value.max(1e-9) / N_TICKS as f64).log10().floor());
    // Whole numbers are counted in whole steps.
    let is_possible = |step: &f64| value < 1.0 || *step >= 1.0;
    let steps = STEPS.into_iter().map(|step| step * power).filter(is_possible);
    let ends = steps.map(|step| ((value / step - 1e-9).ceil(), step)).filter(|(n, _)| (4.0..=8.0).contains(n));
    ends.map(|(n, step)| n * step).min_by(f64::total_cmp).unwrap_or(4.0)
}

const STEPS: [f64; 5] = [1.0, 2.0, 2.5, 5.0, 10.0];

/// Into how many parts an axis that ends at such a number is divided: five, unless other steps are easier to read.
pub fn n_parts(end: f64) -> usize {
    let is_round = |n: &usize| {
        let part = end / *n as f64;
        let digits = part / 10f64.powf(part.log10().floor());
        STEPS.iter().any(|step| (digits - step).abs() < 1e-6)
    };
    [N_TICKS, 4, 6, 7, 8].into_iter().find(is_round).unwrap_or(N_TICKS)
}

/// The chart as an SVG element with its own style.
pub fn svg(chart: &Chart) -> String {
    let left = left_of(chart);
    let across = |x: f64| left + (x / chart.x_max).clamp(0.0, 1.0) * (WIDTH - left - RIGHT);
    let up = |y: f64| HEIGHT - BOTTOM - (y / chart.y_max).clamp(0.0, 1.0) * (HEIGHT - TOP - BOTTOM);
    let mut svg = format!(
        "<svg class=\"lines\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"{}\">\n<style>.lines {{ width: 100%; height: auto; font: 12px system-ui, sans-serif; }} \
         .lines text {{ fill: currentColor; }} .lines .grid {{ stroke: currentColor; opacity: .15; }} \
         .lines path {{ fill: none; stroke-width: 2; }} .lines circle {{ stroke: none; }}</style>\n",
        escape(&chart.title)
    );
    let n_y_ticks = n_parts(chart.y_max);
    for i in 0..=n_y_ticks {
        let y = chart.y_max * i as f64 / n_y_ticks as f64;
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{left}\" x2=\"{:.1}\" y1=\"{3:.1}\" y2=\"{3:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{4}</text>",
            WIDTH - RIGHT,
            left - 8.0,
            up(y) + 4.0,
            up(y),
            escape(&(chart.y_label)(y)),
        );
    }
    for i in 0..=chart.n_x_ticks {
        let x = chart.x_max * i as f64 / chart.n_x_ticks as f64;
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            across(x),
            HEIGHT - BOTTOM + 18.0,
            escape(&(chart.x_label)(x)),
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
         <text transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        (left + WIDTH - RIGHT) / 2.0,
        HEIGHT - 8.0,
        escape(&chart.x_name),
        (TOP + HEIGHT - BOTTOM) / 2.0,
        escape(&chart.y_name),
    );
    for dot in &chart.dots {
        let _ = writeln!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"1.5\" fill=\"currentColor\" opacity=\".3\"><title>{}</title></circle>",
            across(dot.x),
            up(dot.y),
            escape(&dot.title)
        );
    }
    // Names stand at the right ends of the lines, from the top; where two would meet, the lower one moves down, and all of
    // them up where the last would stand below the axis.
    let mut order: Vec<usize> = (0..chart.lines.len()).filter(|&i| !chart.lines[i].points.is_empty()).collect();
    let end = |i: usize| up(chart.lines[i].points.last().map_or(0.0, |point| point.y));
    // Of lines that end together, the name of the one that came from higher stands higher.
    let mean = |i: usize| {
        let points = &chart.lines[i].points;
        points.iter().map(|point| up(point.y)).sum::<f64>() / points.len() as f64
    };
    order.sort_by(|&a, &b| end(a).total_cmp(&end(b)).then_with(|| mean(a).total_cmp(&mean(b))));
    let mut label_at: Vec<f64> = Vec::new();
    for &i in &order {
        let above = label_at.last().copied().unwrap_or(f64::NEG_INFINITY);
        label_at.push((end(i) + 4.0).max(above + 14.0));
    }
    let mut below = HEIGHT - BOTTOM + 4.0 + 14.0;
    for at in label_at.iter_mut().rev() {
        *at = at.min(below - 14.0);
        below = *at;
    }
    for (i, y) in order.into_iter().zip(label_at) {
        let (line, colour) = (&chart.lines[i], COLOURS[i % COLOURS.len()]);
        let first = &line.points[0];
        let mut path = format!("M{:.1} {:.1}", across(first.x), up(first.y));
        line.points[1..].iter().for_each(|point| {
            let _ = match chart.is_stepped {
                true => write!(path, "H{:.1}V{:.1}", across(point.x), up(point.y)),
                false => write!(path, "L{:.1} {:.1}", across(point.x), up(point.y)),
            };
        });
        if chart.is_stepped {
            let _ = write!(path, "H{:.1}", WIDTH - RIGHT);
        }
        let _ = writeln!(svg, "<path d=\"{path}\" stroke=\"{colour}\"/>");
        for point in &line.points {
            let _ = writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{colour}\"><title>{}</title></circle>",
                across(point.x),
                up(point.y),
                escape(&point.title)
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{y:.1}\" style=\"fill: {colour}\">{}</text>",
            WIDTH - RIGHT + 8.0,
            escape(&line.name)
        );
    }
    svg + "</svg>\n"
}

/// Where the axis stands: to the right of its longest number, beside which its name has room.
fn left_of(chart: &Chart) -> f64 {
    const DIGIT: f64 = 7.0;
    let n_ticks = n_parts(chart.y_max);
    let labels = (0..=n_ticks).map(|i| (chart.y_label)(chart.y_max * i as f64 / n_ticks as f64).chars().count());
    let longest = labels.max().unwrap_or(0) as f64 * DIGIT;
    LEFT.max(20.0 + longest + 8.0)
}

/// One bar, and what is written at its end.
pub struct Bar {
    pub name: String,
    pub value: f64,
    pub label: String,
}

/// Some values side by side as an SVG element with its own style: for what would be a single point of each line.
pub fn bars(title: &str, max: f64, bars: &[Bar]) -> String {
    const STEP: f64 = 30.0;
    let height = STEP * bars.len() as f64 + 8.0;
    let mut svg = format!(
        "<svg class=\"bars\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-label=\"{}\">\n<style>.bars {{ width: 100%; height: auto; font: 12px system-ui, sans-serif; }} \
         .bars text {{ fill: currentColor; }}</style>\n",
        escape(title)
    );
    for (i, bar) in bars.iter().enumerate() {
        let top = STEP * i as f64 + 4.0;
        let width = (bar.value / max).clamp(0.0, 1.0) * (WIDTH - 2.0 * RIGHT);
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{3:.1}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{RIGHT}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{5}\"/>\
             <text x=\"{6:.1}\" y=\"{3:.1}\">{4}</text>",
            RIGHT - 8.0,
            escape(&bar.name),
            STEP - 10.0,
            top + 14.0,
            escape(&bar.label),
            COLOURS[i % COLOURS.len()],
            RIGHT + width + 8.0,
        );
    }
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        for (value, end, n) in [
            (0.21, 0.25, 5),
            (1.0, 4.0, 4),
            (7.0, 7.0, 7),
            (554.0, 600.0, 6),
            (15_318.0, 16_000.0, 8),
            (28_374.0, 30_000.0, 6),
            (30_162.0, 35_000.0, 7),
        ] {
            assert!((round_above(value) - end).abs() <= 1e-9, "{value}: {}", round_above(value));
            assert_eq!(n_parts(end), n, "{end}");
        }
    }

    #[test]
    fn long_numbers_move_the_axis_and_not_onto_its_name() {
        let chart = |y_max: f64| Chart {
            title: "t".into(),
            x_name: "x".into(),
            y_name: "y".into(),
            x_max: 1.0,
            y_max,
            x_label: Box::new(|x| x.to_string()),
            y_label: |y| crate::sentences::grouped(y as u64),
            n_x_ticks: 1,
            is_stepped: false,
            dots: Vec::new(),
            lines: Vec::new(),
        };
        assert!((left_of(&chart(400.0)) - LEFT).abs() < 1e-9);
        // Ten characters of at most seven, and the name at 14 that is 12 high.
        assert!(left_of(&chart(70_000_000.0)) - 8.0 - 70.0 >= 20.0);
        assert!(svg(&chart(70_000_000.0)).contains("x1=\"98\""));
    }

    /// How much lighter one is than the other, as WCAG counts it.
    fn contrast(one: &str, other: &str) -> f64 {
        let luminance = |colour: &str| {
            let of = |i: usize| {
                let value = f64::from(u8::from_str_radix(&colour[i..i + 2], 16).expect("a colour")) / 255.0;
                if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * of(1) + 0.7152 * of(3) + 0.0722 * of(5)
        };
        let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
        (one / other).max(other / one)
    }

    #[test]
    fn lines_are_seen_on_dark_pages_and_on_white_ones() {
        for colour in COLOURS {
            assert!(contrast(colour, "#14171b") >= 3.9, "{colour}: {}", contrast(colour, "#14171b"));
            assert!(contrast(colour, "#ffffff") >= 2.2, "{colour}: {}", contrast(colour, "#ffffff"));
        }
    }

    #[test]
    fn bars_are_as_long_as_their_values_and_names_are_escaped() {
        let bar = |name: &str, value: f64| Bar { name: name.to_string(), value, label: value.to_string() };
        let svg = bars("a < b", 2.0, &[bar("x & y", 1.0), bar("z", 2.0)]);
        assert!(svg.contains("a &lt; b") && svg.contains("x &amp; y"), "{svg}");
        assert!(svg.contains("width=\"236.0\"") && svg.contains("width=\"472.0\""), "{svg}");
    }
}
