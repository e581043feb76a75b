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
const LEFT: f64 = 56.0;
const RIGHT: f64 = 124.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 48.0;

/// Told apart on white and on black, and by readers who do not see all colours.
const COLOURS: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7f7f7f", "#8c6bb1"];

/// The chart as an SVG element with its own style.
pub fn svg(chart: &Chart) -> String {
    let across = |x: f64| LEFT + (x / chart.x_max).clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT);
    let up = |y: f64| HEIGHT - BOTTOM - (y / chart.y_max).clamp(0.0, 1.0) * (HEIGHT - TOP - BOTTOM);
    let mut svg = format!(
        "<svg class=\"lines\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"{}\">\n<style>.lines {{ width: 100%; height: auto; font: 12px system-ui, sans-serif; }} \
         .lines text {{ fill: currentColor; }} .lines .grid {{ stroke: currentColor; opacity: .15; }} \
         .lines path {{ fill: none; stroke-width: 2; }} .lines circle {{ stroke: none; }}</style>\n",
        escape(&chart.title)
    );
    for i in 0..=N_TICKS {
        let y = chart.y_max * i as f64 / N_TICKS as f64;
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{3:.1}\" y2=\"{3:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{4}</text>",
            WIDTH - RIGHT,
            LEFT - 8.0,
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
        (LEFT + WIDTH - RIGHT) / 2.0,
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
    let mut label_above = f64::NEG_INFINITY;
    // Names stand at the right ends of the lines, from the top; where two would meet, the lower one moves down.
    let mut order: Vec<usize> = (0..chart.lines.len()).filter(|&i| !chart.lines[i].points.is_empty()).collect();
    let end = |i: usize| up(chart.lines[i].points.last().map_or(0.0, |point| point.y));
    order.sort_by(|&a, &b| end(a).total_cmp(&end(b)));
    for i in order {
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
        let y = (end(i) + 4.0).max(label_above + 14.0);
        label_above = y;
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{y:.1}\" style=\"fill: {colour}\">{}</text>",
            WIDTH - RIGHT + 8.0,
            escape(&line.name)
        );
    }
    svg + "</svg>\n"
}
