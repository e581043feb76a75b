//! A page that stands alone: its style is in it, and it asks nobody for anything.

/// A whole HTML document; `title` is safe to print, `body` is markup.
pub fn document(title: &str, body: &str) -> String {
    // The policy makes "asks nobody for anything" the browser's business too.
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n",
    )
}

/// A table of plain texts.
pub fn table(header: &[String], rows: &[Vec<String>]) -> String {
    let cells = |row: &[String], tag: &str| -> String {
        row.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect()
    };
    let body: String = rows.iter().map(|row| format!("<tr>{}</tr>\n", cells(row, "td"))).collect();
    format!("<table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n", cells(header, "th"))
}

/// Makes a text safe to stand between tags and within quoted attributes.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            _ => safe.push(character),
        }
    }
    safe
}

const STYLE: &str = "
:root {
  color-scheme: light;
  --paper: #fff; --ink: #1b1f24; --soft: #5a626b; --line: #dfe3e8; --tint: #f4f6f8;
  --accent: #2b6095; --range: #bcd3e9; --warn: #a85b00; --amber: #e0a23a; --grey: #b4bbc3;
  --good: #17693e; --good-tint: #e8f4ed; --bad: #b3261e; --bad-tint: #fcecea; --warn-tint: #fbf1e2;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    color-scheme: dark;
    --paper: #14171b; --ink: #e7eaed; --soft: #a0a8b1; --line: #2d343b; --tint: #1d2227;
    --accent: #82b4e6; --range: #2f4d6b; --warn: #f0b866; --amber: #d19a3c; --grey: #59626c;
    --good: #6fcf9b; --good-tint: #16291f; --bad: #ff9184; --bad-tint: #331a18; --warn-tint: #2f2413;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif;
  -webkit-text-size-adjust: 100%; overflow-wrap: break-word; }
main { max-width: 46rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 1.25rem; letter-spacing: -.01em; }
h2 { font-size: 1.2rem; line-height: 1.3; margin: 0 0 .75rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .4rem; }
p { margin: 0 0 .75rem; }
em { font-style: normal; font-weight: 600; }
section { margin-top: 2.75rem; }
.eyebrow { margin: 0 0 .25rem; color: var(--soft); font-size: .9rem; }
.verdict { display: flex; gap: .85rem; margin: 0; padding: 1rem 1.1rem; border-radius: 8px; font-size: 1.1rem; }
.verdict .mark { flex: none; width: 1.65rem; height: 1.65rem; border-radius: 50%; line-height: 1.65rem;
  text-align: center; font-weight: 700; font-size: 1rem; background: currentColor; }
.verdict .mark::first-letter { color: var(--paper); }
.verdict > span:last-child { color: var(--ink); }
.good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
.verdict.good { background: var(--good-tint); } .verdict.bad { background: var(--bad-tint); }
.verdict.good strong { color: var(--good); } .verdict.bad strong { color: var(--bad); }
.chip { display: inline-block; padding: 0 .5em; border-radius: 4px; font-size: .8rem; font-weight: 600;
  line-height: 1.6; white-space: nowrap; }
.chip.good { background: var(--good-tint); } .chip.bad { background: var(--bad-tint); }
.chip.warn { background: var(--warn-tint); }
.promises { list-style: none; margin: 0; padding: 0; }
.promises li { padding-left: .9rem; border-left: 3px solid; margin-bottom: .9rem; }
.promises > li > strong, .promises p { color: var(--ink); } .promises p { margin: .1rem 0 0; }
.limits { margin: 0; padding-left: 1.1rem; } .limits li { margin-bottom: .35rem; }
.note, .axis, caption, figcaption, small, .tiles dt, .origin dt { color: var(--soft); font-size: .875rem; }
.note { margin: .75rem 0 0; }
.tiles { display: grid; grid-template-columns: repeat(4, 1fr); gap: 1.1rem 1rem; margin: 1.1rem 0 0; }
.tiles dd { margin: 0; font-size: 1.5rem; line-height: 1.25; font-weight: 600; font-variant-numeric: tabular-nums; }
small { display: block; font-size: .8rem; font-weight: 400; line-height: 1.4; }
.swatch { display: inline-block; width: .65em; height: .65em; border-radius: 2px; margin-right: .4em; }
.swatch.published { background: var(--accent); } .swatch.suppressed { background: var(--amber); }
.swatch.dropped { background: var(--grey); }
rect.published, .fill { fill: var(--accent); } rect.suppressed { fill: var(--amber); } rect.dropped { fill: var(--grey); }
.records { display: block; width: 100%; height: 14px; border-radius: 4px; }
.bar { display: block; width: 100%; height: 6px; margin-top: .35rem; border-radius: 3px; }
.bar.two { height: 10px; } .bar .range { fill: var(--range); }
.track { fill: var(--line); } .failing { fill: var(--bad); }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: .5rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); }
.wishes td { white-space: nowrap; }
thead th { font-size: .8rem; color: var(--soft); font-weight: 600; padding-top: 0; }
tbody th { font-weight: 600; min-width: 6.5rem; } 
.claims td:not(.end) { width: 30%; }
td small, .claims td, h1, .verdict { overflow-wrap: anywhere; }
th:last-child, td:last-child { padding-right: 0; }
.loss { width: 22%; min-width: 4.5rem; } .end { text-align: right; }
.numeric th, .numeric td { text-align: right; padding-top: .2rem; padding-bottom: .2rem; }
.numeric th:first-child { text-align: left; } .numeric tbody th { font-weight: 400; }
figure { margin: 0; } figcaption { margin-bottom: .75rem; }
.chart { display: block; width: calc(100% - 24px); margin-left: 6px; height: 226px; overflow: visible; }
.chart.scaled { width: calc(100% - 44px); margin-left: 44px; }
.chart text { fill: var(--ink); font-size: 12px; font-variant-numeric: tabular-nums; }
.chart .value, .chart .marked { paint-order: stroke; stroke: var(--paper); stroke-width: 3px; }
.chart .tick, .chart .value { text-anchor: middle; } .chart .scale { text-anchor: end; }
.chart .tick, .chart .scale { fill: var(--soft); } .chart .marked { font-weight: 600; }
.chart line { stroke: var(--line); } .chart .base { stroke: var(--soft); }
.chart .marker { stroke: var(--ink); stroke-dasharray: 3 3; }
.chart .range { fill: var(--range); } .chart .mean { stroke: var(--accent); stroke-width: 2; stroke-linecap: round; }
.chart .ring { fill: var(--paper); stroke: var(--ink); stroke-width: 2.5; }
.axis { text-align: center; margin: 0 0 .5rem; }
details { margin-top: .25rem; } summary { color: var(--accent); font-size: .875rem; cursor: pointer; }
details table { margin-top: .5rem; max-width: 26rem; }
pre, code { font-family: ui-monospace, 'Cascadia Mono', Menlo, Consolas, monospace; }
code { font-size: .875em; }
pre { background: var(--tint); border-radius: 6px; padding: .75rem .9rem; margin: 0 0 .9rem; white-space: pre-wrap; }
pre span { display: inline-block; }
.hash { font-size: .78rem; color: var(--soft); word-break: break-all; }
.origin { margin: 0; } .origin div { display: grid; grid-template-columns: 9rem 1fr; gap: 0 1rem;
  padding: .4rem 0; border-bottom: 1px solid var(--line); }
.origin dd { margin: 0; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.signature { display: none; }
.blank { display: block; height: 1.6em; border-bottom: 1px solid var(--line); }
.first .origin { margin-bottom: .5rem; } .first pre { margin: 0; }
@media (min-width: 34rem) { .claims tbody th { min-width: 12rem; } }
@media (max-width: 34rem) {
  main { padding-top: 1.5rem; } h1 { font-size: 1.5rem; } .verdict { font-size: 1rem; }
  .tiles { grid-template-columns: 1fr 1fr; } .tiles dd { font-size: 1.3rem; }
  .origin div { display: block; } th, td { padding-right: .5rem; font-size: .9rem; }
}
@media print {
  @page { size: A4; margin: 16mm 18mm 20mm;
    @bottom-right { content: 'Page ' counter(page) ' of ' counter(pages); font: 9pt sans-serif; color: #5a626b; } }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  html { font-size: 13px; } body { font-size: 1rem; } main { max-width: none; padding: 0; } section { margin-top: 1.75rem; }
  h2, h3, h2 + p, caption, figcaption, p:has(+ pre), p:has(+ table), p:has(+ figure) { break-after: avoid; } figure, table, caption, .tiles, pre, .origin div, .promises li { break-inside: avoid; }
  .first { break-after: page; } .first section { margin-top: 1.1rem; } .first .origin div { padding: .25rem 0; }
  .blank { border-color: var(--soft); }
  details { display: none; }
  .signature { display: grid; grid-template-columns: 2fr 1fr 2fr; gap: 1.5rem; margin-top: 3rem !important; break-inside: avoid; }
  .signature p { border-top: 1px solid var(--ink); padding-top: .3rem; font-size: .875rem; }
}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        assert_eq!(
            escape("<script>alert('&\"')</script>"),
            "&lt;script&gt;alert(&#39;&amp;&quot;&#39;)&lt;/script&gt;"
        );
        assert_eq!(escape("Müller, 30–39"), "Müller, 30–39");
    }
}
