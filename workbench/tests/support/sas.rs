//! Writes data sets of SAS, in which nothing is but what their readers need.

/// A data set of three made-up people: a text, a number, a day and a moment; its records plain or compressed.
pub fn data_set(is_big: bool, is_wide: bool, packing: Option<&str>) -> Vec<u8> {
    let word = if is_wide { 8 } else { 4 };
    let n = |number: u64, n_bytes: usize| -> Vec<u8> {
        match is_big {
            true => number.to_be_bytes()[8 - n_bytes..].to_vec(),
            false => number.to_le_bytes()[..n_bytes].to_vec(),
        }
    };
    let number = |number: f64, n_bytes: usize| -> Vec<u8> {
        // Short numbers leave out the end of the fraction.
        match is_big {
            true => number.to_be_bytes()[..n_bytes].to_vec(),
            false => number.to_le_bytes()[8 - n_bytes..].to_vec(),
        }
    };
    let signature =
        |signature: u32| n(if is_wide { u64::from(signature) | 0xffff_ffff << 32 } else { signature.into() }, word);
    let short_signature = |signature: u32| match (is_big, is_wide) {
        (true, true) => [n(signature.into(), 4), n(0, 4)].concat(),
        _ => n(signature.into(), word),
    };

    // Names, formats and labels are pieces of one text, which begins with its length.
    let texts = format!("{:8}nameagebornseenDATEDATETIMEfirst name", packing.unwrap_or(""));
    let at = |word: &str| 2 + texts.find(word).expect("it is there") as u64;
    let text_at =
        |word: &str| [n(0, 2), n(if word.is_empty() { 0 } else { at(word) }, 2), n(word.len() as u64, 2)].concat();
    let texts = [signature(0xffff_fffd), n(2 + texts.len() as u64, 2), texts.clone().into_bytes()].concat();

    let record = |name: &[u8], age: f64, born: f64, seen: f64| {
        let name = [name, &b" ".repeat(40)].concat();
        [&name[..40], &number(age, 8), &number(born, 4), &number(seen, 8)].concat()
    };
    let none = f64::NAN;
    let records = [
        record("Zoé".as_bytes(), 31.0, 1.0, 1.5),
        record(b"", -0.5, none, 1_898_596_800.0),
        record(b"Ann             B", none, 21_974.0, none),
    ];
    let row_size = [n(5, word), n(1, word), n(0, word), n(0, word)].concat();
    let mut row_size = [short_signature(0xf7f7_f7f7), row_size].concat();
    row_size.extend([n(60, word), n(3, word)].concat());
    row_size.extend(vec![0; 8 * word]);
    row_size.extend([n(if packing.is_none() { 1 } else { 0 }, word), vec![0; 20 * word]].concat());

    let names: Vec<u8> =
        ["name", "age", "born", "seen"].iter().flat_map(|name| [text_at(name), n(0, 2)].concat()).collect();
    let names = [signature(0xffff_ffff), n(0, 8), names, vec![0; word + 4]].concat();
    let attributes = [(0, 40, 2), (40, 8, 1), (48, 4, 1), (52, 8, 1)];
    let attribute = |(start, size, kind): (u64, u64, u8)| [n(start, word), n(size, 4), vec![0, 0, kind, 0]].concat();
    let attributes: Vec<u8> = attributes.into_iter().flat_map(attribute).collect();
    let attributes = [signature(0xffff_fffc), n(0, 8), attributes, vec![0; word + 4]].concat();
    let shown = |format: &str, label: &str| {
        [signature(0xffff_fbfe), vec![0; 2 * word + 22], text_at(format), text_at(label), vec![0; 8]].concat()
    };
    let mut pieces = vec![(row_size, 0, 0), (texts, 0, 0), (names, 0, 0), (attributes, 0, 0)];
    pieces.extend([("", "first name"), ("", ""), ("DATE", ""), ("DATETIME", "")].map(|(f, l)| (shown(f, l), 0, 0)));
    if let Some(packing) = packing {
        let pack = if packing == "SASYZCRL" { packed_characters } else { packed_bytes };
        pieces.extend(records.iter().map(|record| (pack(record), 4, 1)));
    }

    let (page_size, header_size) = (4096, 1024);
    let page_header = if is_wide { 32 } else { 16 };
    let page = |kind: u64, n_blocks: u64, n_pieces: u64| {
        [vec![0; page_header], n(kind, 2), n(n_blocks, 2), n(n_pieces, 2), n(0, 2)].concat()
    };
    let kind = if packing.is_some() { 0x0000 } else { 0x0200 };
    let mut first = page(kind, pieces.len() as u64 + 1, pieces.len() as u64);
    let mut end = page_size;
    let mut bodies = vec![0; page_size];
    for (piece, packing, kind) in &pieces {
        end -= piece.len();
        bodies[end..end + piece.len()].copy_from_slice(piece);
        first.extend(
            [n(end as u64, word), n(piece.len() as u64, word), vec![*packing, *kind], vec![0; word - 2]].concat(),
        );
    }
    let mut second = page(0x0100, 2, 0);
    if packing.is_none() {
        first.resize(first.len().next_multiple_of(8), 0);
        first.extend(&records[0]);
        second.extend(records[1..].concat());
    }
    bodies[..first.len()].copy_from_slice(&first);
    second.resize(page_size, 0);
    let n_pages = if packing.is_some() { 1 } else { 2 };

    let mut file = vec![0; header_size];
    file[12..32].copy_from_slice(b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\x00\x09\xc7\x31\x8c\x18\x1f\x10\x11");
    (file[32], file[35]) = (if is_wide { b'3' } else { b'"' }, if is_wide { b'3' } else { b'"' });
    (file[37], file[70]) = (u8::from(!is_big), 20);
    let said = [n(header_size as u64, 4), n(page_size as u64, 4), n(n_pages, word)].concat();
    let at = if is_wide { 200 } else { 196 };
    file[at..at + said.len()].copy_from_slice(&said);
    [file, bodies, if packing.is_some() { Vec::new() } else { second }].concat()
}

/// The same with another kind of its last page, where its numbers have their low byte first.
pub fn with_page_kind(mut file: Vec<u8>, kind: u16) -> Vec<u8> {
    let at = file.len() - 4096 + 32;
    file[at..at + 2].copy_from_slice(&kind.to_le_bytes());
    file
}

/// Runs of blanks and of zeros in short, and everything else as it is.
fn packed_characters(record: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    for run in record.chunk_by(|a, b| a == b) {
        match (run[0], run.len()) {
            (b' ', n @ 2..=17) => packed.push(0xe0 | (n - 2) as u8),
            (b' ', n @ 18..) => packed.extend([0x60, (n - 17) as u8]),
            (0, n @ 2..=17) => packed.push(0xf0 | (n - 2) as u8),
            (byte, n @ 3..=17) => packed.extend([0xc0 | (n - 3) as u8, byte]),
            (byte, n) => (0..n).for_each(|_| packed.extend([0x80, byte])),
        }
    }
    packed
}

/// Runs in short, and what was there five bytes before is pointed to.
fn packed_bytes(record: &[u8]) -> Vec<u8> {
    let mut items: Vec<Vec<u8>> = Vec::new();
    let mut at = 0;
    while at < record.len() {
        let n = record[at..].iter().take_while(|byte| **byte == record[at]).count();
        let n_back = (5..=at).find(|back| at + 3 <= record.len() && record[at - back..][..3] == record[at..at + 3]);
        let (item, n) = match (n, n_back) {
            (19.., _) => (vec![0x10 | ((n - 19) & 0xf) as u8, ((n - 19) >> 4) as u8, record[at]], n),
            (3..=18, _) => (vec![(n - 3) as u8, record[at]], n),
            (_, Some(back)) => (vec![0x30 | ((back - 3) & 0xf) as u8, ((back - 3) >> 4) as u8], 3),
            _ => (vec![record[at]], 1),
        };
        items.push(item);
        at += n;
    }
    let mut packed = Vec::new();
    for group in items.chunks(16) {
        let bit = |(i, item): (usize, &Vec<u8>)| u16::from(item.len() > 1) << (15 - i);
        packed.extend(group.iter().enumerate().map(bit).sum::<u16>().to_be_bytes());
        packed.extend(group.concat());
    }
    packed
}
