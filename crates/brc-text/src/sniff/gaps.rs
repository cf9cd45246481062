//! Columns at fixed positions, as `docker ps` and reports have them: two or more blanks are between them, and one blank
//! within a value.
//!
//! Such a text is read by single blanks or not split at all; a note tells how to make tabs of the gaps.

use super::samples::Samples;
use super::shape::most_common;
use std::ops::Range;

/// The maximum number of lines that are examined, and the least that tell anything.
const LINES: usize = 200;
const MIN_LINES: usize = 3;

/// The number of columns that gaps separate, in three fifths of the lines, if they start or end at the same position and
/// some value has a blank.
pub(super) fn columns(samples: &Samples<'_>) -> Option<usize> {
    let lines: Vec<&[u8]> = samples.whole_lines().take(LINES).collect();
    let parts: Vec<Vec<Range<usize>>> = lines.iter().map(|line| parts(line)).collect();
    let usual = most_common(parts.iter().map(Vec::len));
    let rows = || lines.iter().zip(&parts).filter(|(_, of_line)| of_line.len() == usual);
    let count = rows().count();
    // In characters, which may have several bytes.
    let place = |line: &[u8], at: usize| line[..at].iter().filter(|byte| **byte & 0xc0 != 0x80).count();
    let are_alike = |position: fn(&Range<usize>) -> usize, column: usize| {
        let mut places = rows().map(|(line, row)| place(line, position(&row[column])));
        let first = places.next();
        (places.filter(|other| Some(*other) == first).count() + 1) * 5 >= count * 4
    };
    let is_aligned = |column: usize| are_alike(|part| part.start, column) || are_alike(|part| part.end, column);
    let has_words = |(line, row): (&&[u8], &Vec<Range<usize>>)| {
        let is_phrase = |part: &[u8]| part.contains(&b' ') && part.iter().any(u8::is_ascii_alphabetic);
        row.iter().any(|part| is_phrase(&line[part.clone()]))
    };
    let are_columns = usual > 1 && count >= MIN_LINES && count * 5 >= lines.len() * 3 && (1..usual).all(is_aligned);
    (are_columns && rows().any(has_words)).then_some(usual)
}

/// The parts of a line between runs of two or more blanks.
fn parts(line: &[u8]) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    for word in line.split(|byte| *byte == b' ').filter(|word| !word.is_empty()) {
        let start = word.as_ptr() as usize - line.as_ptr() as usize;
        let end = start + word.len();
        match parts.last_mut() {
            Some(last) if last.end + 1 == start => last.end = end,
            _ => parts.push(start..end),
        }
    }
    parts
}

/// Whether the parts of the first line are names of one or two words, and some of two: blanks alone would split these.
pub(super) fn has_names_with_blanks(samples: &Samples<'_>, columns: usize) -> bool {
    let Some(first) = samples.whole_lines().next() else { return false };
    let names: Vec<&[u8]> = parts(first).into_iter().map(|part| &first[part]).collect();
    let words = |name: &&[u8]| name.split(|byte| *byte == b' ').count();
    let is_name = |name: &&[u8]| words(name) < 3 && name.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b' ');
    names.len() == columns && names.iter().all(is_name) && names.iter().any(|name| words(name) == 2)
}
