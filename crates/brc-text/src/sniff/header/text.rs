//! Whether the first row holds names where all columns are text, or values that continue below.

use super::super::columns::Columns;
use super::super::comments::MAX_WORDS;
use super::super::kind::Kind;
use super::super::rows::Cell;
use super::{CERTAIN, Verdict, are_distinct, is_like_a_name, recurs};

/// Judges the first row of a table of only text. Without a usual name in it, the decision is doubtful unless most fields
/// differ from those below.
pub(super) fn judge(row: &[Cell<'_>], below: &[&[Cell<'_>]]) -> Verdict {
    if let [cell] = row {
        return judge_list(cell, below);
    }
    let say = |weight, what: String| Verdict::new(weight, format!("all columns are text, {what}"));
    let likeness: Vec<Likeness> =
        row.iter().enumerate().map(|(index, cell)| Likeness::of(cell, below, index)).collect();
    let count_of = |wanted: Likeness| likeness.iter().filter(|likeness| **likeness == wanted).count();
    let (unlike, alike) = (count_of(Likeness::Unlike), count_of(Likeness::Alike));
    // Beside a name, `NA` is also North America.
    let is_name = |(cell, likeness): (&Cell<'_>, &Likeness)| is_like_a_name(cell) && *likeness == Likeness::Unlike;
    let has_name = row.iter().zip(&likeness).any(is_name);
    let may_be_name = |cell: &&Cell<'_>| {
        is_like_a_name(cell) || has_name && !cell.is_empty() && cell.bytes.iter().all(u8::is_ascii_alphabetic)
    };
    let names = row.iter().filter(may_be_name).count();
    let is_doubtful = unlike * 2 <= row.len() && !row.iter().any(is_usual);
    if alike > unlike {
        say(-1, format!("and in {alike} of them the first row looks like all rows below"))
    } else if names * 3 < row.len() * 2 {
        say(-1, format!("and only {names} of the {} fields of the first row could be names", row.len()))
    } else if unlike > 0 {
        let evidence = format!("and in {unlike} of them the first row looks different from all rows below");
        Verdict { is_doubtful, ..say(CERTAIN, evidence) }
    } else if are_distinct(row.iter().map(|cell| cell.bytes)) {
        Verdict { is_doubtful, ..say(1, "and the fields of the first row could be names".to_owned()) }
    } else {
        say(-1, "and the fields of the first row repeat; can't be names".to_owned())
    }
}

/// Judges the first line of a plain list.
fn judge_list(cell: &Cell<'_>, below: &[&[Cell<'_>]]) -> Verdict {
    if names_a_list(cell) {
        return Verdict::new(1, "all columns are text, and the first row is a usual name of a column");
    }
    let is_doubtful = is_short(cell) && below.iter().all(|row| is_short(&row[0]));
    Verdict { is_doubtful, ..Verdict::new(-1, "all columns are text, and a single column may be a plain list") }
}

/// The number of fields in columns of text that are values: they recur below, or all fields below have the same words
/// with other numbers, as `S2` and `S3` below `S1`.
pub(super) fn values(row: &[Cell<'_>], below: &[&[Cell<'_>]], columns: &Columns) -> usize {
    let is_value = |index: &usize| {
        columns.kind(*index).is_none()
            && (recurs(&row[*index], below, *index) || is_numbered(&row[*index], below, *index))
    };
    (0..row.len()).filter(is_value).count()
}

/// Whether the field and all below differ only in their digits.
fn is_numbered(cell: &Cell<'_>, below: &[&[Cell<'_>]], index: usize) -> bool {
    let words = |bytes: &[u8]| -> Vec<u8> {
        bytes.iter().filter(|byte| !byte.is_ascii_digit()).map(u8::to_ascii_lowercase).collect()
    };
    let own = words(cell.bytes);
    let others = below.iter().filter_map(|row| row.get(index)).filter(|other| !other.is_empty());
    let others: Vec<&Cell<'_>> = others.collect();
    own.len() < cell.bytes.len()
        && own.iter().any(u8::is_ascii_alphabetic)
        && others.len() > 1
        && others.iter().all(|other| other.bytes.len() > own.len() && words(other.bytes) == own)
}

/// Whether a line of a list is a word or two rather than prose.
fn is_short(cell: &Cell<'_>) -> bool {
    matches!(Kind::of(cell), Kind::Word | Kind::Prose | Kind::Null)
        && memchr::memchr_iter(b' ', cell.bytes).count() < MAX_WORDS
}

/// Words that are usual in names of columns, of English and its neighbours.
const USUAL: &str = "account address adresse age amount answer apellido author beschreibung bezeichnung brand \
    category cidade citta città city ciudad code cognome color colour column comment company count country county \
    currency date datum default department dept descripcion descripción description direccion dirección domain email \
    fecha field file filename freq frequency gender gene host hostname id indirizzo ip item key keyword label land \
    language latitude location longitude mail message method model naam nachname name nom nombre nome note notes \
    number option ort owner paese pais path pays país phone plz position postcode prenom product project prénom \
    question region remark result review role rue sentence source species stad stadt state station status strasse \
    straße street subject surname symbol tag team term text time timestamp title tweet type uri url user username \
    value version ville vorname word zip";

/// Whether so many fields are usual names that a few which recur below are coincidences.
pub(super) fn are_usual(row: &[Cell<'_>], recurring: usize) -> bool {
    let usual = row.iter().filter(|cell| is_usual(cell)).count();
    usual > recurring && usual * 2 >= row.len()
}

/// Whether a field has a usual word of names.
fn is_usual(cell: &Cell<'_>) -> bool {
    words(cell.bytes).any(|word| is_usual_word(&word))
}

/// Whether the first line of a list is its name: all its words are usual in names.
fn names_a_list(cell: &Cell<'_>) -> bool {
    is_like_a_name(cell) && !cell.bytes.contains(&b'.') && words(cell.bytes).all(|word| is_usual_word(&word))
}

/// The words of a name, which letters of another case begin, or other characters separate: `userId`, `user_id`.
fn words(name: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || !byte.is_ascii();
    let parts = name.split(move |byte| !is_letter(*byte)).filter(|part| !part.is_empty());
    parts
        .flat_map(|part| part.chunk_by(|before, after| !(before.is_ascii_lowercase() && after.is_ascii_uppercase())))
        .map(<[u8]>::to_ascii_lowercase)
}

fn is_usual_word(word: &[u8]) -> bool {
    let singular = word.strip_suffix(b"s").unwrap_or(word);
    USUAL.split(' ').any(|usual| [word, singular].contains(&usual.as_bytes()))
}

/// Whether a field resembles those below it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::sniff) enum Likeness {
    Alike,
    Unlike,
    Unknown,
}

impl Likeness {
    /// Compares what all fields below share: their length, digits, blanks, or the case of the first letter. A word of
    /// small letters above fields of its length is unlike them if they have digits: `id` above `a1` and `a2`.
    pub(in crate::sniff) fn of(cell: &Cell<'_>, below: &[&[Cell<'_>]], index: usize) -> Likeness {
        let others = below.iter().filter_map(|row| row.get(index)).map(|cell| cell.bytes);
        let others: Vec<&[u8]> = others.filter(|bytes| !bytes.is_empty()).collect();
        if others.len() < 3 {
            return Likeness::Unknown;
        }
        let one_length = others.iter().all(|other| other.len() == others[0].len());
        let has_digit = |bytes: &[u8]| bytes.iter().any(u8::is_ascii_digit);
        let has_blank = |bytes: &[u8]| bytes.contains(&b' ');
        let is_small = |bytes: &[u8]| bytes[0].is_ascii_lowercase();
        let is_capital = |bytes: &[u8]| bytes[0].is_ascii_uppercase();
        let traits: [fn(&[u8]) -> bool; 4] = [has_digit, has_blank, is_small, is_capital];
        let differs =
            |has: &fn(&[u8]) -> bool| !cell.is_empty() && others.iter().all(|other| has(other)) && !has(cell.bytes);
        let is_word = cell.bytes.iter().all(u8::is_ascii_lowercase);
        let has_same_length = one_length && cell.bytes.len() == others[0].len();
        let is_different = traits.iter().any(differs);
        if has_same_length && !(is_word && is_different) {
            Likeness::Alike
        } else if one_length || is_different {
            Likeness::Unlike
        } else {
            Likeness::Unknown
        }
    }
}
