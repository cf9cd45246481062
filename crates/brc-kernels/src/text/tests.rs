use super::plain::PlainRow;
use super::*;
use proptest::prelude::*;
use std::collections::HashMap;

/// Reads a whole text with one variant: rows as (name, value), and where the reader stopped.
fn read_all(level: Level, text: &[u8]) -> (Vec<(Vec<u8>, i16)>, usize) {
    let mut buffer = vec![b'#'; MARGIN];
    buffer.extend_from_slice(text);
    // The bytes after the text must not matter: make them look like more rows.
    buffer.extend_from_slice(&b"x;1.1\n".repeat(MARGIN));
    let mut window = Window::new(&buffer, MARGIN, MARGIN + text.len());
    let mut reader = RowReader::new(level, b';');
    let (mut codes, mut values) = (Vec::new(), Vec::new());
    let mut consumed = 0;
    loop {
        let before = codes.len();
        let progress = reader.read(window, &mut codes, &mut values);
        assert_eq!((codes.len(), values.len()), (before + progress.rows, before + progress.rows));
        assert!(progress.rows <= RowReader::MAX_ROWS);
        if progress.rows == 0 {
            assert_eq!(progress.bytes, 0);
            break;
        }
        consumed += progress.bytes;
        window.advance(progress.bytes);
    }
    let names = codes.iter().map(|&code| reader.dictionary().get(code).to_vec());
    (names.zip(values).collect(), consumed)
}

/// A reference implementation: splits at line ends, then at the delimiter.
fn oracle(text: &[u8]) -> (Vec<(Vec<u8>, i16)>, usize) {
    let mut rows = Vec::new();
    let mut consumed = 0;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let Some(name) = line.iter().position(|&byte| byte == b';') else { break };
        let number = &line[name + 1..];
        let plain_number = number.strip_suffix(b"\n").is_some_and(|number| {
            let digits = number.strip_prefix(b"-").unwrap_or(number);
            matches!(digits, [b'0'..=b'9', b'.', b'0'..=b'9'] | [b'0'..=b'9', b'0'..=b'9', b'.', b'0'..=b'9'])
        });
        if name == 0 || line[..name].contains(&0) || !plain_number {
            break;
        }
        let tenths: String =
            number.iter().filter(|byte| !b".\n".contains(byte)).map(|&byte| char::from(byte)).collect();
        rows.push((line[..name].to_vec(), tenths.parse().unwrap()));
        consumed += line.len();
    }
    (rows, consumed)
}

/// Aggregates a whole text with one variant: the statistics of each name, and where the reader stopped.
fn fold_all(level: Level, text: &[u8]) -> (HashMap<Vec<u8>, Statistics>, usize) {
    let buffer = [&[b'#'; MARGIN], text, &b"x;1.1\n".repeat(MARGIN)].concat();
    let mut window = Window::new(&buffer, MARGIN, MARGIN + text.len());
    let mut reader = RowReader::new(level, b';');
    let mut consumed = 0;
    loop {
        let progress = reader.fold(window);
        if progress.rows == 0 {
            break;
        }
        consumed += progress.bytes;
        window.advance(progress.bytes);
    }
    let statistics = reader.finish();
    assert_eq!(statistics.len(), reader.dictionary().len());
    assert!(reader.finish().iter().all(|statistics| *statistics == Statistics::EMPTY), "they were taken");
    let groups = reader.dictionary().iter().map(<[u8]>::to_vec).zip(statistics);
    (groups.filter(|(_, statistics)| statistics.count > 0).collect(), consumed)
}

fn check(text: &[u8]) {
    let expected = oracle(text);
    let mut groups: HashMap<Vec<u8>, Statistics> = HashMap::new();
    for (name, value) in &expected.0 {
        groups.entry(name.clone()).or_default().add((*value).into());
    }
    for level in Level::available() {
        let found = read_all(level, text);
        assert_eq!(found, expected, "{} on {:?}", level.name(), text.escape_ascii().to_string());
        let (folded, consumed) = fold_all(level, text);
        let place = || format!("{} folding {:?}", level.name(), text.escape_ascii().to_string());
        assert_eq!(consumed, expected.1, "{}", place());
        assert_eq!(folded, groups, "{}", place());
    }
}

#[test]
fn every_plain_number() {
    let mut text = Vec::new();
    for tenths in -999i16..=999 {
        let sign = if tenths < 0 { "-" } else { "" };
        let (whole, tenth) = (tenths.abs() / 10, tenths.abs() % 10);
        text.extend_from_slice(format!("Abha;{sign}{whole}.{tenth}\nß;{sign}{whole:02}.{tenth}\n").as_bytes());
    }
    text.extend_from_slice(b"a;-0.0\nb;-00.0\n");
    check(&text);
    assert_eq!(oracle(&text).0.len(), 2 * 1999 + 2);
}

#[test]
fn names_of_every_length_at_every_offset() {
    for length in 1..=130usize {
        let row = format!("{};-1.5\n", "n".repeat(length));
        for rows in [1, 2, 15, 16, 17, 33] {
            check(row.repeat(rows).as_bytes());
        }
    }
    for offset in 1..=140usize {
        check(format!("{};1.5\nabc;2.5\ndefg;-33.5\n", "o".repeat(offset)).as_bytes());
    }
}

#[test]
fn long_texts_of_many_names() {
    let mut text = String::new();
    for row in 0..60_000u64 {
        let name = row.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 50;
        let length = if name % 50 == 0 { 30 } else { 1 + name as usize % 14 };
        text.push_str(&format!("{name:0length$};{}.{}\n", row % 100, row % 10));
    }
    check(text.as_bytes());
    assert_eq!(oracle(text.as_bytes()).1, text.len());
}

/// More rows of one name than its state in the table can count.
#[test]
fn millions_of_rows_of_a_name() {
    const ROWS: u64 = 20_000_000;
    let buffer = [vec![b'#'; MARGIN], b"Abha;-99.9\n".repeat(6000), vec![b'#'; MARGIN]].concat();
    let mut reader = RowReader::new(Level::best(), b';');
    let mut rows = 0;
    while rows < ROWS {
        let mut window = Window::new(&buffer, MARGIN, buffer.len() - MARGIN);
        while !window.text().is_empty() {
            let progress = reader.fold(window);
            rows += progress.rows as u64;
            window.advance(progress.bytes);
        }
    }
    let expected = Statistics { count: rows, sum: i128::from(rows) * -999, min: -999, max: -999 };
    assert_eq!(reader.finish(), [expected]);
}

/// Names with equal digests, which the interner must distinguish.
#[test]
#[cfg(target_arch = "x86_64")]
fn names_with_equal_digests() {
    let names = crate::interner::tests::names_with_equal_digests();
    let text: Vec<u8> =
        names.iter().cycle().take(100).flat_map(|name| [name, b";1.5\nx;2.5\n".as_slice()].concat()).collect();
    assert_eq!(oracle(&text).1, text.len());
    check(&text);
}

/// The first name loses its slot when the table grows, before it has a state.
#[test]
fn a_name_that_loses_its_slot() {
    for level in Level::available() {
        let names = crate::interner::tests::names_of_which_the_first_loses_its_slot(level);
        let rows = |names: &[Vec<u8>]| names.iter().flat_map(|name| [name, b";1.5\n".as_slice()].concat()).collect();
        let all: Vec<u8> = rows(&names);
        check(&[all, rows(&names[..1]), b"x;2.5\n".to_vec(), rows(&names[..1])].concat());
    }
}

/// A short name that equals the digest of a long one, except for its first byte, is not confused with it.
#[test]
fn names_that_are_digests_of_others() {
    let long = b"a name that is longer than sixteen bytes";
    for level in Level::available() {
        let digest = crate::interner::tests::digest(level, long);
        for first in [0, 1, b'a', b'\n'] {
            let name = [&[first], &digest[1..]].concat();
            let long = [long.as_slice(), b";1.5\n"].concat();
            check(&[long.repeat(3), name, b";2.5\n".to_vec(), long].concat());
        }
    }
}

#[test]
fn lines_longer_than_a_tile() {
    for length in [4000, 4090, 4096, 5000, 20_000] {
        check(format!("a;1.0\n{};2.0\nb;3.0\n", "x".repeat(length)).as_bytes());
    }
}

/// Each irregular row, alone and among others, stops every variant at the same position.
#[test]
fn irregular_rows_stop_the_reader() {
    let odd: &[&[u8]] = &[
        b"",
        b"\n",
        b";\n",
        b"a\n",
        b"a;\n",
        b";1.0\n",
        b"a;1\n",
        b"a;1.\n",
        b"a;.5\n",
        b"a;1.23\n",
        b"a;--1.0\n",
        b"a;1e5\n",
        b"a;nan\n",
        b"a; 1.0\n",
        b"a;1.0 \n",
        b"a;1.0\r\n",
        b"a;123.4\n",
        b"a;-123.4\n",
        b"a;-.5\n",
        b"a;-\n",
        b"a;b;1.0\n",
        b"a;;1.0\n",
        b"a;1.0;2.0\n",
        b"a\0;1.0\n",
        b"\0;1.0\n",
        b"a;\x001.0\n",
        b"a;1.0\0\n",
        b"a;\0\x00\x001.0\n",
        b"a;1.0",
        b"a;-1",
        b"a",
        b"a;1:0\n",
        b"a;/1.0\n",
        b"a;1.:\n",
        b"a;:.1\n",
        b"a;1\n2.0\n",
        b"a;-1-.0\n",
        b"a;00000001.0\n",
        b"a;1234567.8\n",
        b"a;+1.0\n",
        b"longer than sixteen bytes\0;1.0\n",
        b"a;\xff1.0\n",
        b"a;0\n.0\n",
        b"a;1..\n",
        b"a;-12.34\n",
        b"1.0\n",
        b"a\nb;1.0\n",
        b"a\n1.0\n",
    ];
    for row in odd {
        for before in [0usize, 1, 7, 8, 15, 16, 17, 40, 700] {
            for after in [0usize, 1, 20] {
                let text = [&b"Ulaanbaatar;-2.5\n".repeat(before), *row, &b"Riga;12.0\n".repeat(after)].concat();
                check(&text);
            }
        }
    }
}

#[test]
fn every_single_byte_change_of_a_row() {
    let text = b"Roma;1.5\nOslo;-12.3\nBergen;7.0\n";
    for place in 0..text.len() {
        for byte in 0..=255u8 {
            let mut changed = text.to_vec();
            changed[place] = byte;
            check(&changed);
        }
    }
}

#[test]
fn names_are_any_bytes() {
    let mut text = Vec::new();
    for byte in (1..=255u8).filter(|byte| !b";\n".contains(byte)) {
        text.extend_from_slice(&[byte]);
        text.extend_from_slice(b";1.0\nx");
        text.extend_from_slice(&[byte, byte]);
        text.extend_from_slice(b";2.0\n");
    }
    check(&text);
    assert_eq!(oracle(&text).1, text.len());
}

/// Second delimiters, at the same or at changing positions of all registers, in one row or in all of a tile.
#[test]
fn names_do_not_contain_delimiters() {
    for name in ["a;b", "abcdefgh;i", "ab;cd;fghi", "abc;;;;;hi", "abcdefghijklmnopqrstuvw;yz", ";", ";;", ";a", "a;"] {
        let row = format!("{name};-1.5\n");
        for (before, with, after) in
            [(0, 1, 0), (0, 300, 0), (1, 1, 0), (15, 1, 1), (16, 16, 16), (300, 2, 0), (300, 1, 600)]
        {
            let plain = |rows| "abcdefghij;1.5\n".repeat(rows);
            check(format!("{}{}{}", plain(before), row.repeat(with), plain(after)).as_bytes());
        }
    }
    // As many delimiters as rows in all.
    check("a;b;1.5\nab1.5\n".repeat(200).as_bytes());
    check("ab;1.5\nab1.5\na;b;1.5\n".repeat(200).as_bytes());
    let every_position: String = (0..4096)
        .map(|row| format!("{}\n", "abcdefghi;-1.5".replacen(|c| "abcdefghi".find(c) == Some(row % 9), ";", 1)))
        .collect();
    check(every_position.as_bytes());
}

/// What precedes the text is not part of its first row, however short that is.
#[test]
fn delimiters_before_the_text() {
    for before in [b"x;", b";-", b"\n;", b";;", b";1", b"\x00;"] {
        for first in ["1.2\n", "-1.2\n", "12.3\n", "-12.3\n", ";1.2\n", "2\n", "a;1.2\n", "\n"] {
            let text = format!("{first}a;b;3.4\nc;5.6\n");
            let buffer = [&[b'#'; MARGIN], &before[..], text.as_bytes(), &[b'#'; MARGIN]].concat();
            let window = Window::new(&buffer, MARGIN + 2, MARGIN + 2 + text.len());
            let expected = oracle(text.as_bytes());
            for level in Level::available() {
                let (mut codes, mut values) = (Vec::new(), Vec::new());
                let progress = RowReader::new(level, b';').read(window, &mut codes, &mut values);
                let found = (progress.rows, progress.bytes);
                assert_eq!(found, (expected.0.len(), expected.1), "{} {before:?} {first:?}", level.name());
                assert_eq!(RowReader::new(level, b';').fold(window), progress, "{}", level.name());
            }
        }
    }
}

/// The count of delimiters ends with the last whole row.
#[test]
fn delimiters_after_the_last_row() {
    for rest in ["a;b;c;d", ";;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;", ";", "a;1.5", &";".repeat(5000)] {
        for rows in [1, 3, 15, 16, 100, 292, 293, 600] {
            check(format!("{}{rest}", "abcdefghi;1.5\n".repeat(rows)).as_bytes());
        }
    }
}

#[test]
fn plain_rows_are_parsed() {
    assert_eq!(plain::first_row(b"ab;-1.5\nx", b';'), Some(PlainRow { name: 2, value: -15, bytes: 8 }));
    assert_eq!(plain::first_row(b"ab;-1.5", b';'), None);
}

proptest! {
    #[test]
    fn any_text(text in prop::collection::vec(prop::sample::select(b"ab;;-.0129\n\n\r\0".to_vec()), 0..300)) {
        check(&text);
    }

    #[test]
    fn mostly_plain_text(rows in prop::collection::vec(("[a-e]{1,20}|[x-z]{1,2}", -999i16..=999, 0u8..60), 0..400)) {
        let mut text = Vec::new();
        for (name, tenths, odd) in rows {
            let sign = if tenths < 0 { "-" } else { "" };
            text.extend_from_slice(format!("{name};{sign}{}.{}", tenths.abs() / 10, tenths.abs() % 10).as_bytes());
            text.extend_from_slice(match odd { 0 => b"0\n", 1 => b"\r\n", _ => b"\n" });
        }
        check(&text);
    }
}
