//! A lattice as a picture: every scheme with its levels and a number, the coarsest on top.

use std::fmt::Write;

use crate::output::page::escape;

/// A scheme of the picture.
pub struct Node {
    /// The levels, one per attribute.
    pub levels: Vec<u8>,
    /// What stands below them, and how dark the scheme is drawn, from 0 to 1.
    pub number: String,
    pub darkness: f64,
    /// Whether it is marked.
    pub is_marked: bool,
}

/// From so many schemes on, a picture shows nothing any more.
pub const N_NODES_MAX: usize = 300;

const WIDTH: f64 = 52.0;
const HEIGHT: f64 = 66.0;
const LEFT: f64 = 44.0;

/// The lattice as an SVG element with its own style; schemes are given by height, from the finest on.
pub fn svg(title: &str, heights: &[Vec<Node>]) -> String {
    let widest = heights.iter().map(Vec::len).max().unwrap_or(1).max(1) as f64;
    let (width, height) = (LEFT + widest * WIDTH + 8.0, heights.len() as f64 * HEIGHT + 8.0);
    let place = |h: usize, i: usize| {
        let start = LEFT + (widest - heights[h].len() as f64) * WIDTH / 2.0;
        (start + (i as f64 + 0.5) * WIDTH, height - (h as f64 + 0.5) * HEIGHT - 4.0)
    };
    let mut svg = format!(
        "<svg class=\"lattice\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" aria-label=\"{}\">\n<style>.lattice {{ font: 11px \
         system-ui, sans-serif; max-width: 100%; min-width: min(60rem, {width:.0}px); height: auto; display: block; margin: 0 auto; }} .lattice text {{ fill: currentColor; text-anchor: middle; }} .lattice line {{ stroke: \
         currentColor; opacity: .12; }} .lattice rect {{ stroke: currentColor; stroke-width: .5; }} .lattice .marked {{ \
         stroke: #d55e00; stroke-width: 2.5; }} .lattice .number {{ font-weight: 600; }}</style>\n",
        escape(title)
    );
    for h in 1..heights.len() {
        for (i, node) in heights[h].iter().enumerate() {
            for (j, finer) in heights[h - 1].iter().enumerate() {
                if is_finer(&finer.levels, &node.levels) {
                    let ((x, y), (from_x, from_y)) = (place(h, i), place(h - 1, j));
                    let _ = writeln!(
                        svg,
                        "<line x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{from_x:.1}\" y2=\"{:.1}\"/>",
                        y + 17.0,
                        from_y - 17.0
                    );
                }
            }
        }
    }
    for (h, nodes) in heights.iter().enumerate() {
        let y = place(h, 0).1;
        let _ = writeln!(svg, "<text x=\"18\" y=\"{:.1}\">H{h}</text>", y + 4.0);
        for (i, node) in nodes.iter().enumerate() {
            let (x, y) = place(h, i);
            let levels: Vec<String> = node.levels.iter().map(u8::to_string).collect();
            let separator = if node.levels.iter().any(|&level| level > 9) { "," } else { "" };
            let _ = writeln!(
                svg,
                "<rect {}x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"34\" rx=\"4\" fill=\"#0072b2\" \
                 fill-opacity=\"{:.2}\"/><text x=\"{x:.1}\" y=\"{:.1}\">{}</text>\
                 <text class=\"number\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
                if node.is_marked { "class=\"marked\" " } else { "" },
                x - WIDTH / 2.0 + 2.0,
                y - 17.0,
                WIDTH - 4.0,
                0.03 + 0.5 * node.darkness.clamp(0.0, 1.0),
                y - 4.0,
                levels.join(separator),
                y + 10.0,
                escape(&node.number),
            );
        }
    }
    svg + "</svg>\n"
}

/// Whether one scheme is one level finer than the other, in one attribute.
fn is_finer(fine: &[u8], coarse: &[u8]) -> bool {
    fine.iter().zip(coarse).all(|(a, b)| a <= b)
        && coarse.iter().zip(fine).map(|(a, b)| u32::from(a - b)).sum::<u32>() == 1
}
