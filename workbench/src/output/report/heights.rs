//! What other schemes would have cost, height by height.

use super::facts::{Facts, HeightFacts};
use super::plot::{PLOT_BOTTOM, PLOT_TOP, axis_number, marker_line, nice_step, part, tick};
use super::text::mean;
use crate::sentences::grouped;

pub(super) fn by_height(facts: &Facts) -> String {
    if facts.by_height.is_empty() {
        return String::new();
    }
    let rows: String = facts.by_height.iter().map(height_row).collect();
    format!(
        "<section>\n<h2>What other schemes would have cost</h2>\n<figure>\n\
         <figcaption>Records suppressed, by how far values are generalized. Each bar spans the schemes of one height, \
         from the least to the most; the line joins their means. The ring is this release.</figcaption>\n{}\
         <p class=\"axis\">height: the sum of all levels</p>\n\
         <details><summary>As a table</summary>\n<table class=\"numeric\">\n<caption>Records suppressed by height</caption>\n\
         <thead><tr><th scope=\"col\">Height</th><th scope=\"col\">Least</th><th scope=\"col\">Mean</th>\
         <th scope=\"col\">Most</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</details>\n\
         <p class=\"note\">This comes from the source, for the criteria promised above; \
         it cannot be checked from the release.</p>\n</figure>\n</section>\n",
        by_height_chart(facts)
    )
}

fn height_row(facts: &HeightFacts) -> String {
    format!(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        facts.height,
        grouped(facts.n_suppressed_min),
        mean(facts.n_suppressed_mean),
        grouped(facts.n_suppressed_max)
    )
}

fn by_height_chart(facts: &Facts) -> String {
    let heights = &facts.by_height;
    let slot = 100.0 / heights.len() as f64;
    let n_most = heights.iter().map(|height| height.n_suppressed_max).max().unwrap_or(0).max(1);
    let y = |n: f64| PLOT_BOTTOM - part(n, n_most as f64) * (PLOT_BOTTOM - PLOT_TOP);
    let mut shapes = suppressed_axis(n_most, y);
    for (i, height) in heights.iter().enumerate() {
        shapes.push_str(&height_range(height, (i as f64 + 0.2) * slot, slot * 0.6, y));
    }
    let center = |i: usize| (i as f64 + 0.5) * slot;
    for (i, pair) in heights.windows(2).enumerate() {
        let (y1, y2) = (y(pair[0].n_suppressed_mean), y(pair[1].n_suppressed_mean));
        let (x1, x2) = (center(i), center(i + 1));
        let line = format!("<line class=\"mean\" x1=\"{x1:.2}%\" y1=\"{y1:.1}\" x2=\"{x2:.2}%\" y2=\"{y2:.1}\"/>");
        shapes.push_str(&line);
    }
    // Two digits need about as much room as a phone gives one of sixteen.
    let every = heights.len().div_ceil(16);
    for (i, height) in heights.iter().enumerate().step_by(every) {
        shapes.push_str(&tick(center(i), &height.height.to_string()));
    }
    let published = heights.iter().position(|height| facts.certificate.height == Some(height.height as u32));
    if let Some(i) = published {
        let n_suppressed = facts.certificate.n_records_suppressed;
        let (x, y) = (center(i), y(n_suppressed as f64));
        shapes.push_str(&marker_line(x, &format!("this release: {}", grouped(n_suppressed))));
        shapes.push_str(&format!("<circle class=\"ring\" cx=\"{x:.2}%\" cy=\"{y:.1}\" r=\"5\"/>"));
    }
    let label = by_height_label(facts, published.is_some());
    format!("<svg class=\"chart scaled\" role=\"img\" aria-label=\"{label}\">{shapes}</svg>\n")
}

fn suppressed_axis(n_most: u64, y: impl Fn(f64) -> f64) -> String {
    let step = nice_step(n_most);
    let line = |n: u64| {
        let (y, class) = (y(n as f64), if n == 0 { "base" } else { "grid" });
        format!(
            "<line class=\"{class}\" x1=\"0\" x2=\"100%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text class=\"scale\" x=\"-8\" y=\"{:.1}\">{}</text>",
            y + 4.0,
            axis_number(n, step)
        )
    };
    (0..=n_most / step).map(|i| line(i * step)).collect()
}

fn height_range(height: &HeightFacts, x: f64, width: f64, y: impl Fn(f64) -> f64) -> String {
    let (top, bottom) = (y(height.n_suppressed_max as f64), y(height.n_suppressed_min as f64));
    format!(
        "<rect class=\"range\" x=\"{x:.2}%\" y=\"{:.1}\" width=\"{width:.2}%\" height=\"{:.1}\">\
         <title>height {}: least {}, mean {}, most {}</title></rect>",
        top.min(PLOT_BOTTOM - 2.0),
        (bottom - top).max(2.0),
        height.height,
        grouped(height.n_suppressed_min),
        mean(height.n_suppressed_mean),
        grouped(height.n_suppressed_max)
    )
}

fn by_height_label(facts: &Facts, is_marked: bool) -> String {
    let part = |height: &HeightFacts| {
        let (least, most) = (grouped(height.n_suppressed_min), grouped(height.n_suppressed_max));
        format!("{least} to {most} at height {}", height.height)
    };
    let ends: Vec<String> = [facts.by_height.first(), facts.by_height.last()].into_iter().flatten().map(part).collect();
    let marked = match is_marked {
        true => format!(
            "; this release has height {} and suppresses {}",
            facts.certificate.height.unwrap_or(0),
            grouped(facts.certificate.n_records_suppressed)
        ),
        false => String::new(),
    };
    format!("Records suppressed by height: {}{marked}.", ends.join(", "))
}
