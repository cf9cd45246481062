//! Whether the first row holds the names of the columns.
//!
//! Names are unlike what they name: a word over numbers, a value that does not come again. Where all columns are text,
//! that is a matter of likelihood; most files have a header.

use super::kind::Kind;
use super::rows::{Cell, Rows};
use super::score::is_empty;

/// Whether there is a header and why.
pub(super) struct Header {
    pub(super) is_there: bool,
    pub(super) evidence: String,
    /// The fields of the first row.
    pub(super) cells: Option<Vec<String>>,
}

/// How many rows below the first are looked at.
const ROWS: usize = 200;

/// Judges the row `first` of the first table by the rows of `width` fields below it.
pub(super) fn judge(tables: &[Rows<'_>], first: usize, width: usize) -> Header {
    let Some(table) = tables.first().filter(|table| first < table.len()) else {
        return Header { is_there: false, evidence: "there are no rows at the beginning".to_owned(), cells: None };
    };
    let row = table.row(first);
    let below = table.iter().skip(first + 1).chain(tables[1..].iter().flat_map(Rows::iter));
    let below: Vec<&[Cell<'_>]> = below.filter(|row| row.len() == width && !is_empty(row)).take(ROWS).collect();
    let (is_there, evidence) = if below.is_empty() { judge_alone(row) } else { judge_by(row, &below) };
    let text = |cell: &Cell<'_>| String::from_utf8_lossy(cell.bytes).replace("\"\"", "\"");
    let mut cells: Vec<String> = row.iter().map(text).collect();
    cells.resize(width.max(row.len()), String::new());
    Header { is_there, evidence, cells: Some(cells) }
}

/// A row with nothing below it.
fn judge_alone(row: &[Cell<'_>]) -> (bool, String) {
    let is_name = |cell: &Cell<'_>| !Kind::of(cell).is_typed() && !cell.is_empty();
    let are_names = row.len() > 1 && row.iter().all(is_name);
    (are_names, format!("the only row {} names", if are_names { "could be" } else { "holds more than" }))
}

fn judge_by(row: &[Cell<'_>], below: &[&[Cell<'_>]]) -> (bool, String) {
    let (mut unlike, mut alike) = (0, 0);
    for (index, cell) in row.iter().enumerate() {
        let Some(kind) = typed_column(below, index) else { continue };
        match Kind::of(cell) {
            Kind::Null => {}
            own if own == kind => alike += 1,
            _ => unlike += 1,
        }
    }
    let typed = unlike + alike;
    if typed > 0 && alike > 0 && unlike == 0 && has_years(row, below) {
        return (true, "years over numbers, a name over text".to_owned());
    }
    if typed > 0 {
        let evidence = format!("{unlike} of {typed} typed columns begin with a field of another kind");
        return (unlike > alike, evidence);
    }
    judge_text(row, below)
}

/// The kind of a column whose fields have one of their own, leaving out some that may be wrong.
fn typed_column(below: &[&[Cell<'_>]], index: usize) -> Option<Kind> {
    let kinds = below.iter().filter_map(|row| row.get(index)).map(Kind::of).filter(|kind| *kind != Kind::Null);
    let kinds: Vec<Kind> = kinds.collect();
    let first = *kinds.iter().find(|kind| kind.is_typed())?;
    let same = kinds.iter().filter(|kind| **kind == first).count();
    (same * 10 >= kinds.len() * 9).then_some(first)
}

/// Whether the numbers of a row are years in order, as over the columns of a pivot table, beside a name that does not
/// come again.
fn has_years(row: &[Cell<'_>], below: &[&[Cell<'_>]]) -> bool {
    let year = |cell: &Cell<'_>| {
        let text = std::str::from_utf8(cell.bytes).ok().filter(|text| text.len() == 4)?;
        text.parse::<u16>().ok().filter(|year| (1800..2200).contains(year))
    };
    let years: Vec<u16> = row.iter().filter_map(year).collect();
    let in_order =
        years.windows(2).all(|pair| pair[0].abs_diff(pair[1]) == years[0].abs_diff(years[1]) && pair[0] != pair[1]);
    let numbers = row.iter().filter(|cell| Kind::of(cell).is_typed()).count();
    let names = row.iter().enumerate().filter(|(_, cell)| !Kind::of(cell).is_typed());
    years.len() >= 2
        && years.len() == numbers
        && in_order
        && names.clone().count() > 0
        && names.clone().all(|(index, cell)| !comes_again(cell, below, index))
}

fn comes_again(cell: &Cell<'_>, below: &[&[Cell<'_>]], index: usize) -> bool {
    !cell.is_empty() && below.iter().any(|row| row.get(index).is_some_and(|other| other.bytes == cell.bytes))
}

/// A table of nothing but text.
fn judge_text(row: &[Cell<'_>], below: &[&[Cell<'_>]]) -> (bool, String) {
    let say = |is_there, what: String| (is_there, format!("all columns are text, {what}"));
    let again = row.iter().enumerate().filter(|(index, cell)| comes_again(cell, below, *index)).count();
    if again > 0 {
        return say(false, format!("and {again} of the {} fields of the first row come again below", row.len()));
    }
    let likeness = row.iter().enumerate().map(|(index, cell)| Likeness::of(cell, below, index));
    let (unlike, alike) = likeness.fold((0, 0), |(unlike, alike), likeness| match likeness {
        Likeness::Unlike => (unlike + 1, alike),
        Likeness::Alike => (unlike, alike + 1),
        Likeness::Unknown => (unlike, alike),
    });
    let names = row.iter().filter(|cell| is_like_a_name(cell)).count();
    let is_unique = (1..row.len()).all(|index| row[..index].iter().all(|other| other.bytes != row[index].bytes));
    if alike > unlike {
        say(false, format!("and {alike} begin with a field of the shape that all below have"))
    } else if names * 3 < row.len() * 2 {
        say(false, format!("and only {names} of the {} fields of the first row could be names", row.len()))
    } else if unlike > 0 {
        say(true, format!("{unlike} of them begin with a field of another shape than all below have"))
    } else if row.len() == 1 {
        say(false, "and one column may be a plain list".to_owned())
    } else {
        say(
            is_unique,
            format!("and the fields of the first row {} be names", if is_unique { "could" } else { "repeat; can't" }),
        )
    }
}

fn is_like_a_name(cell: &Cell<'_>) -> bool {
    let starts_well = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_' || !byte.is_ascii();
    cell.bytes.first().is_some_and(starts_well)
        && matches!(Kind::of(cell), Kind::Word | Kind::Prose | Kind::Bool)
        && cell.bytes.len() <= 60
}

/// Whether a field is like those below it.
enum Likeness {
    Alike,
    Unlike,
    Unknown,
}

impl Likeness {
    /// Judges by what all fields below share: their length, or whether they have digits, blanks or small first letters.
    fn of(cell: &Cell<'_>, below: &[&[Cell<'_>]], index: usize) -> Likeness {
        let others = below.iter().filter_map(|row| row.get(index)).map(|cell| cell.bytes);
        let others: Vec<&[u8]> = others.filter(|bytes| !bytes.is_empty()).collect();
        if others.len() < 3 {
            return Likeness::Unknown;
        }
        let one_length = others.iter().all(|other| other.len() == others[0].len());
        if one_length && cell.bytes.len() == others[0].len() {
            return Likeness::Alike;
        }
        let has_digit = |bytes: &[u8]| bytes.iter().any(u8::is_ascii_digit);
        let has_blank = |bytes: &[u8]| bytes.contains(&b' ');
        let is_small = |bytes: &[u8]| bytes[0].is_ascii_lowercase();
        let is_capital = |bytes: &[u8]| bytes[0].is_ascii_uppercase();
        let traits: [fn(&[u8]) -> bool; 4] = [has_digit, has_blank, is_small, is_capital];
        let differs =
            |has: &fn(&[u8]) -> bool| !cell.is_empty() && others.iter().all(|other| has(other)) && !has(cell.bytes);
        if one_length || traits.iter().any(differs) { Likeness::Unlike } else { Likeness::Unknown }
    }
}
