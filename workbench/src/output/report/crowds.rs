//! How large the published groups are, as a chart and a table.

use incrowd::criterion::Measure;

use super::facts::Facts;
use super::plot::{PLOT_BOTTOM, bar_height, marker_line, short, tick};
use super::text::counted;
use super::verdict::promised;
use crate::sentences::grouped;

/// Groups of similar size: at least `low`, less than `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bucket {
    low: u64,
    high: u64,
    n_groups: u64,
    /// Records, or people, who are counted in each of their groups.
    n_in_them: u64,
}

/// Buckets that start at k and widen by a constant factor, so that a few tell about crowds of ten and of thousands;
/// before them one for what must be empty, all sizes below k.
fn buckets(group_sizes: &[(u64, u64)], k: Option<u64>) -> Vec<Bucket> {
    const N_BUCKETS_MAX: u32 = 8;
    let (Some(smallest), Some(largest)) = (group_sizes.first(), group_sizes.last()) else {
        return Vec::new();
    };
    let start = k.unwrap_or(smallest.0).max(1);
    let mut factor: u64 = 2;
    while start.saturating_mul(factor.saturating_pow(N_BUCKETS_MAX)) <= largest.0 {
        factor *= 2;
    }
    let mut edges = vec![start];
    let mut last = start;
    while last <= largest.0 && last < u64::MAX {
        last = last.saturating_mul(factor);
        edges.push(last);
    }
    if start > 1 && k.is_some() {
        edges.insert(0, 1);
    }
    let bucket = |edge: &[u64]| {
        let within = || group_sizes.iter().filter(|(size, _)| (edge[0]..edge[1]).contains(size));
        Bucket {
            low: edge[0],
            high: edge[1],
            n_groups: within().map(|(_, n)| n).sum(),
            n_in_them: within().map(|(size, n)| size * n).sum(),
        }
    };
    edges.windows(2).map(bucket).collect()
}

pub(super) fn group_sizes(facts: &Facts) -> String {
    let k = promised(facts).value(Measure::Size);
    let buckets = buckets(&facts.group_sizes, k);
    if buckets.is_empty() {
        return String::new();
    }
    let rows: String = buckets.iter().map(bucket_row).collect();
    let (what, who, more) = match facts.is_of_people() {
        true => ("People", "people", " Somebody in several groups is counted in each."),
        false => ("Records", "records", ""),
    };
    let line = match k {
        Some(k) if k > 1 => format!(" Left of the line, below {}, there must be nothing.", grouped(k)),
        _ => String::new(),
    };
    format!(
        "<section>\n<h2>How large the groups are</h2>\n<figure>\n\
         <figcaption>{what} published in groups of each size.{line}{more}</figcaption>\n{}\
         <p class=\"axis\">{who} in the group</p>\n\
         <details><summary>As a table</summary>\n<table class=\"numeric\">\n<caption>Groups by size</caption>\n\
         <thead><tr><th scope=\"col\">Size</th><th scope=\"col\">Groups</th><th scope=\"col\">{what}</th></tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table>\n</details>\n</figure>\n</section>\n",
        group_sizes_chart(facts, &buckets, k)
    )
}

fn bucket_row(bucket: &Bucket) -> String {
    format!(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>\n",
        sizes(bucket),
        grouped(bucket.n_groups),
        grouped(bucket.n_in_them)
    )
}

fn sizes(bucket: &Bucket) -> String {
    match bucket.high - 1 {
        last if last == bucket.low => grouped(last),
        last => format!("{}–{}", grouped(bucket.low), grouped(last)),
    }
}

fn group_sizes_chart(facts: &Facts, buckets: &[Bucket], k: Option<u64>) -> String {
    let slot = 100.0 / buckets.len() as f64;
    let n_most = buckets.iter().map(|bucket| bucket.n_in_them).max().unwrap_or(0);
    let mut shapes = String::new();
    for (i, bucket) in buckets.iter().enumerate() {
        let is_below = k.is_some_and(|k| bucket.low < k);
        shapes.push_str(&bucket_bar(facts, bucket, i as f64 * slot, slot, n_most, is_below));
    }
    shapes.push_str(&format!("<line class=\"base\" x1=\"0\" x2=\"100%\" y1=\"{PLOT_BOTTOM}\" y2=\"{PLOT_BOTTOM}\"/>"));
    let edges = buckets.iter().map(|bucket| bucket.low).chain(buckets.last().map(|bucket| bucket.high));
    for (i, edge) in edges.enumerate() {
        shapes.push_str(&tick(i as f64 * slot, &short(edge)));
    }
    if let Some(k) = k.filter(|&k| k > 1) {
        shapes.push_str(&marker_line(slot, &format!("k = {}", grouped(k))));
    }
    let n_groups: u64 = buckets.iter().map(|bucket| bucket.n_groups).sum();
    let parts: Vec<String> = buckets
        .iter()
        .map(|bucket| format!("{} in groups of {}", facts.crowd(bucket.n_in_them), sizes(bucket)))
        .collect();
    let label = format!("{} by size: {}.", counted(n_groups, "group", "groups"), parts.join(", "));
    format!("<svg class=\"chart\" role=\"img\" aria-label=\"{label}\">{shapes}</svg>\n")
}

fn bucket_bar(facts: &Facts, bucket: &Bucket, x: f64, slot: f64, n_most: u64, is_below: bool) -> String {
    let height = bar_height(bucket.n_in_them, n_most);
    let y = PLOT_BOTTOM - height;
    let class = if is_below { "failing" } else { "fill" };
    let title = format!(
        "sizes {}: {}, {}",
        sizes(bucket),
        counted(bucket.n_groups, "group", "groups"),
        facts.crowd(bucket.n_in_them)
    );
    let value = if bucket.n_in_them == 0 { "none".to_string() } else { short(bucket.n_in_them) };
    format!(
        "<rect class=\"{class}\" x=\"{:.2}%\" y=\"{y:.1}\" width=\"{:.2}%\" height=\"{height:.1}\"><title>{title}</title></rect>\
         <text class=\"value\" x=\"{:.2}%\" y=\"{:.1}\">{value}</text>",
        x + slot * 0.06,
        slot * 0.88,
        x + slot * 0.5,
        y - 6.0,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_start_at_k_and_hold_every_group_once() {
        let check = |sizes: &[(u64, u64)], k: Option<u64>, expected: &[(u64, u64, u64)]| {
            let buckets = buckets(sizes, k);
            let found: Vec<_> = buckets.iter().map(|bucket| (bucket.low, bucket.high, bucket.n_groups)).collect();
            assert_eq!(found, expected);
            let n_in_them: u64 = sizes.iter().map(|(size, n)| size * n).sum();
            assert_eq!(buckets.iter().map(|bucket| bucket.n_in_them).sum::<u64>(), n_in_them);
        };
        check(&[], Some(10), &[]);
        check(&[(10, 3), (19, 1), (20, 2)], Some(10), &[(1, 10, 0), (10, 20, 4), (20, 40, 2)]);
        check(&[(4, 1), (10, 1)], Some(10), &[(1, 10, 1), (10, 20, 1)]);
        check(&[(1, 5), (2, 1)], Some(1), &[(1, 2, 5), (2, 4, 1)]);
        check(&[(6, 1), (13, 1)], None, &[(6, 12, 1), (12, 24, 1)]);
        assert!(buckets(&[(2, 1), (1 << 40, 1)], Some(2)).len() <= 9);
        assert_eq!(buckets(&[(u64::MAX - 1, 1)], Some(2)).iter().map(|bucket| bucket.n_groups).sum::<u64>(), 1);
    }
}
