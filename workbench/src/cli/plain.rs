//! Documents as a terminal shows them: what marks them up goes, lines are as wide as they may be.

/// A document in Markdown as plain text of at most `width` characters per line, where words allow it.
pub fn plain(document: &str, width: usize) -> String {
    let mut text = Text { lines: Vec::new(), width };
    let mut is_code = false;
    let mut header: Vec<String> = Vec::new();
    for line in document.lines() {
        let bare = line.trim_start();
        if bare.starts_with("```") {
            is_code = !is_code;
        } else if is_code {
            text.lines.push(format!("    {line}").trim_end().to_string());
        } else if let Some(row) = bare.strip_prefix('|') {
            let cells: Vec<String> = cells(row).iter().map(|cell| words_of(cell)).collect();
            match cells.iter().all(|cell| cell.chars().all(|c| matches!(c, '-' | ':' | ' '))) {
                true => {}
                false if header.is_empty() => header = cells,
                false => text.row(&header, &cells),
            }
            continue;
        } else if bare.starts_with("![") || bare.starts_with("<!--") {
            // There is no picture on a terminal, and a comment is for whoever changes the document.
        } else if bare.starts_with('#') {
            text.lines.push(words_of(bare.trim_start_matches('#').trim()).to_uppercase());
        } else if let Some(item) = bare.strip_prefix("- ") {
            text.wrapped(&words_of(item), &format!("{}- ", indent(line)), &format!("{}  ", indent(line)));
        } else {
            text.wrapped(&words_of(bare), &indent(line), &indent(line));
        }
        header.clear();
    }
    format!("{}\n", text.lines.join("\n").trim_end())
}

struct Text {
    lines: Vec<String>,
    width: usize,
}

impl Text {
    /// A row of a table: its first cell, and below it the others by the names of their columns.
    fn row(&mut self, header: &[String], cells: &[String]) {
        let Some((first, others)) = cells.split_first() else { return };
        if !first.is_empty() {
            self.wrapped(first, "  ", "  ");
        }
        for (cell, name) in others.iter().zip(header.iter().skip(1)).filter(|(cell, _)| !cell.is_empty()) {
            let cell = if name.is_empty() { cell.clone() } else { format!("{name}: {cell}") };
            self.wrapped(&cell, "      ", "        ");
        }
    }

    fn wrapped(&mut self, text: &str, first: &str, others: &str) {
        let mut line = first.to_string();
        let mut is_empty = true;
        for word in text.split_whitespace() {
            if !is_empty && line.chars().count() + 1 + word.chars().count() > self.width {
                self.lines.push(std::mem::replace(&mut line, others.to_string()));
                is_empty = true;
            }
            if !is_empty {
                line.push(' ');
            }
            line.push_str(word);
            is_empty = false;
        }
        self.lines.push(line.trim_end().to_string());
    }
}

fn indent(line: &str) -> String {
    " ".repeat(line.len() - line.trim_start().len())
}

/// The cells of a row, the first bar taken away; `\|` is a bar in a cell.
fn cells(row: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut before = ' ';
    for c in row.trim_end().trim_end_matches('|').chars() {
        let cell = cells.last_mut().expect("there is always one");
        match c {
            '|' if before == '\\' => {
                cell.pop();
                cell.push('|');
            }
            '|' => cells.push(String::new()),
            c => cell.push(c),
        }
        before = c;
    }
    cells.iter().map(|cell| cell.trim().to_string()).collect()
}

/// A line without marks: of a link its words, of what is code or emphasized the text.
fn words_of(line: &str) -> String {
    let mut words = String::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '`' => {
                // What is code stays as it is.
                let (code, after) = rest.split_once('`').unwrap_or((rest, ""));
                words.push_str(code);
                rest = after;
            }
            '[' => match rest.split_once("](").and_then(|(shown, rest)| Some((shown, rest.split_once(')')?.1))) {
                Some((shown, after)) if !shown.contains(']') => {
                    words.push_str(&words_of(shown));
                    rest = after;
                }
                _ => words.push('['),
            },
            '*' => rest = rest.trim_start_matches('*'),
            c => words.push(c),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_go_and_words_stay() {
        let check = |line: &str, expected: &str| assert_eq!(words_of(line), expected);
        check("**bold** and *not so*, `--k 5`", "bold and not so, --k 5");
        check("see [people](people.md#who), [1, 2] and `[x](y)`", "see people, [1, 2] and [x](y)");
        check("a `*` is code, [`code`](x.md) too", "a * is code, code too");
    }

    #[test]
    fn a_document_is_shown_within_its_width() {
        let document = "# A title\n\nSome words that are longer than a line.\n\n| a | of |\n|---|--:|\n| x \\| y | one [two](z.md) |\n\n\
                        ```console\n$ a command that is longer than a line\n```\n\n- an item that goes on and on\n";
        let expected = "A TITLE\n\nSome words that are\nlonger than a line.\n\n  x | y\n      of: one two\n\n    \
                        $ a command that is longer than a line\n\n- an item that goes\n  on and on\n";
        assert_eq!(plain(document, 20), expected);
    }
}
