//! Parses rows with the same shape as an earlier row, several times faster than general JSON.
//!
//! Programs write most rows in the same way: the same keys in the same order, with the same whitespace. So the bytes
//! between the values of an earlier row are expected again, and only the values are parsed: strings without escapes,
//! numbers without exponents, nulls. Other rows go to the general parser, which also learns further shapes from them.
//! Strings are checked only when they first occur.

use super::column::{ColumnValues, JsonColumn};
use super::number::ShortNumber;
use super::strings::is_literal;
use super::syntax::{self, Member};
use super::value;
use crate::text::LONGEST_LINE;
use brc_core::{LogicalType, Value, decimal, float32};
use brc_text::typed::usual_float;

/// The number of shapes tried before a row goes to the general parser.
const MAX_SHAPES: usize = 4;

/// The learned shapes.
#[derive(Default)]
pub(super) struct Shapes {
    shapes: Vec<Shape>,
    /// The shape of the last row that had one.
    last: usize,
    /// The number of rows in sequence that had none.
    misses: u64,
    /// The columns that are null in the current row.
    nulls: Vec<usize>,
}

impl Shapes {
    /// Drops all shapes: the columns have changed.
    pub(super) fn clear(&mut self) {
        self.shapes.clear();
        self.misses = 0;
    }

    /// Parses the row at the start of the text, after the `rows` rows of the columns; returns its length with its line
    /// end. Returns `None`, with nothing appended, if it has none of the shapes.
    #[inline]
    pub(super) fn read(&mut self, text: &[u8], columns: &mut [JsonColumn], rows: usize) -> Option<usize> {
        for attempt in 0..self.shapes.len() {
            let index = (self.last + attempt) % self.shapes.len();
            let shape = &self.shapes[index];
            self.nulls.clear();
            if let Some(length) = shape.row(text, columns, &mut self.nulls) {
                for &number in self.nulls.iter().chain(&shape.missing) {
                    columns[number].note_null(rows);
                }
                (self.last, self.misses) = (index, 0);
                return Some(length);
            }
            // Missing columns are appended last, when the row can no longer fail.
            for step in &shape.steps {
                columns[step.column].truncate(rows);
            }
        }
        None
    }

    /// Learns from a line with one row that had none of the shapes; `numbers` has the column of each member. The longer
    /// no row had a known shape, the less often a new one is learned.
    pub(super) fn learn(&mut self, line: &[u8], members: &[Member], numbers: &[usize], columns: &[JsonColumn]) {
        self.misses += 1;
        if !self.misses.is_power_of_two() {
            return;
        }
        if let Some(shape) = Shape::of(line, members, numbers, columns) {
            if self.shapes.len() < MAX_SHAPES {
                self.shapes.push(shape);
                self.last = self.shapes.len() - 1;
            } else {
                self.last = (self.last + 1) % MAX_SHAPES;
                self.shapes[self.last] = shape;
            }
        }
    }
}

struct Shape {
    steps: Vec<Step>,
    /// The bytes after the last value.
    end: Token,
    /// The columns that such a row lacks.
    missing: Vec<usize>,
}

/// The next value.
struct Step {
    /// The bytes before it.
    before: Token,
    column: usize,
    reader: Reader,
}

/// How a value is parsed.
enum Reader {
    String,
    /// With the byte that follows it.
    Number(ShortNumber, u8),
    Wide,
    Float,
    Bool,
    DateOrTime,
    OnlyNull,
    /// Any JSON value.
    Any,
}

impl Shape {
    fn of(line: &[u8], members: &[Member], numbers: &[usize], columns: &[JsonColumn]) -> Option<Self> {
        let mut steps = Vec::with_capacity(members.len());
        let mut at = 0;
        for (member, &number) in members.iter().zip(numbers) {
            let quote = usize::from(matches!(member.kind, syntax::ValueKind::String { .. }));
            let value = member.value.start - quote..member.value.end + quote;
            let reader = Reader::of(columns.get(number)?, member.kind, line.get(value.end).copied()?)?;
            steps.push(Step { before: Token::new(&line[at..value.start]), column: number, reader });
            at = value.end;
        }
        let mut is_missing = vec![true; columns.len()];
        numbers.iter().for_each(|&number| is_missing[number] = false);
        let missing: Vec<usize> = (0..columns.len()).filter(|&number| is_missing[number]).collect();
        let has_nulls = |&number: &usize| columns[number].kind.nullable;
        missing.iter().all(has_nulls).then(|| Self { steps, end: Token::new(&line[at..]), missing })
    }

    /// [`Shapes::read`], but if the row has a different shape, appended values stay; null columns are only listed.
    #[inline]
    fn row(&self, text: &[u8], columns: &mut [JsonColumn], nulls: &mut Vec<usize>) -> Option<usize> {
        let mut rest = text;
        for step in &self.steps {
            rest = step.before.strip(rest)?;
            let column = columns.get_mut(step.column)?;
            let length = match step.reader.value(rest, column) {
                Some(length) => length,
                None if rest.starts_with(b"null") => {
                    column.push_null()?;
                    nulls.push(step.column);
                    4
                }
                None => return None,
            };
            rest = rest.get(length..)?;
        }
        let length = text.len() - self.end.strip(rest)?.len();
        let line_end = match text[length..] {
            _ if length > LONGEST_LINE => return None,
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => return None,
        };
        for &number in &self.missing {
            columns[number].push_null()?;
        }
        Some(length + line_end)
    }
}

impl Reader {
    /// The reader of a column's values, given the kind of one and the byte after it; `None` if only the general parser
    /// can read them.
    fn of(column: &JsonColumn, kind: syntax::ValueKind, end: u8) -> Option<Self> {
        let logical_type = column.logical_type();
        if column.accepts_any_value() {
            return Some(Self::Any);
        }
        if column.is_unsettled() {
            let is_null = kind == syntax::ValueKind::Null;
            let is_left_out = column.kind.logical_type.is_none();
            return if is_null { Some(Self::OnlyNull) } else { is_left_out.then_some(Self::Any) };
        }
        match logical_type {
            LogicalType::String => Some(Self::String),
            LogicalType::Int8
            | LogicalType::Int16
            | LogicalType::Int32
            | LogicalType::Int64
            | LogicalType::UInt64
            | LogicalType::Decimal { .. } => {
                let number = || Self::Number(ShortNumber::new(logical_type.scale()), end);
                Some(if logical_type.fits_64_bits() { number() } else { Self::Wide })
            }
            LogicalType::Float32 | LogicalType::Float64 => Some(Self::Float),
            LogicalType::Bool => Some(Self::Bool),
            LogicalType::Date | LogicalType::Time { .. } | LogicalType::Timestamp { .. } => Some(Self::DateOrTime),
            LogicalType::Binary | LogicalType::Uuid => None,
        }
    }

    /// Parses the value at the start of the text; returns its length.
    #[inline]
    fn value(&self, text: &[u8], column: &mut JsonColumn) -> Option<usize> {
        match self {
            Self::String => string(text, column),
            Self::Number(number, end) => {
                let (value, length) = number
                    .read(text, *end)
                    .or_else(|| self::number(text, |number| decimal::parse(number, column.scale).ok()))?;
                if value < column.range.0 || value > column.range.1 {
                    return None;
                }
                column.push_number(value);
                Some(length)
            }
            Self::Wide => {
                let (value, length) = number(text, |number| decimal::parse_wide(number, column.scale).ok())?;
                Value::Integer(value).check(column.logical_type()).ok()?;
                column.push_wide(value);
                Some(length)
            }
            Self::Float => float(text, column),
            Self::Bool => {
                let (value, length) = if text.starts_with(b"true") { (1, 4) } else { (0, 5) };
                (value == 1 || text.starts_with(b"false")).then(|| column.push_number(value))?;
                Some(length)
            }
            Self::DateOrTime => {
                let length = find_quote(text.strip_prefix(b"\"")?)?;
                let units = value::units(&text[1..=length], column.logical_type())?;
                column.push_number(units);
                Some(length + 2)
            }
            Self::OnlyNull => None,
            Self::Any => any(text, column),
        }
    }
}

/// Parses a string with its quotes.
#[inline]
fn string(text: &[u8], column: &mut JsonColumn) -> Option<usize> {
    let text = text.strip_prefix(b"\"")?;
    let length = find_quote(text)?;
    match &mut column.values {
        ColumnValues::Strings(strings) => strings.push_literal(text, length)?,
        _ => is_literal(&text[..length]).then_some(())?,
    }
    Some(length + 2)
}

/// Parses a number as a float.
fn float(text: &[u8], column: &mut JsonColumn) -> Option<usize> {
    let is_of_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E');
    let length = text.iter().position(|byte| !is_of_number(byte))?;
    // A text that is not a JSON number does not have the usual form.
    let (value, demand) = usual_float(&text[..length])?;
    let value = match column.logical_type() {
        LogicalType::Float32 => float32::parse(&text[..length]).filter(|it| it.is_finite()).map(float32::widen)?,
        _ => value,
    };
    column.push_float(value, demand);
    Some(length)
}

/// Skips a value of any kind but null.
fn any(text: &[u8], column: &mut JsonColumn) -> Option<usize> {
    let (kind, length) = syntax::value(text)?;
    let is_right = match column.kind.logical_type {
        Some(_) => kind != syntax::ValueKind::Null,
        // A column that is unsupported because it has only these.
        None => matches!(kind, syntax::ValueKind::Array | syntax::ValueKind::Object),
    };
    // Escapes may be unpaired surrogates.
    let is_plain = kind != (syntax::ValueKind::String { has_escapes: true });
    (is_right && is_plain && std::str::from_utf8(&text[..length]).is_ok()).then_some(length)
}

/// Parses a number without exponent with `parse`; returns it with its length.
fn number<T>(text: &[u8], parse: impl FnOnce(&[u8]) -> Option<T>) -> Option<(T, usize)> {
    let length = text.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b'.' | b'-'))?;
    let number = &text[..length];
    let digits = number.strip_prefix(b"-").unwrap_or(number);
    // JSON has no leading zeros, and no numbers that begin with their point.
    if let [b'0', b'0'..=b'9', ..] | [b'.', ..] = digits {
        return None;
    }
    Some((parse(number)?, length))
}

/// The position of the first quote, searched eight bytes at a time.
#[inline]
fn find_quote(text: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const QUOTES: u64 = u64::from_le_bytes([b'"'; 8]);
    let (words, rest) = text.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let differences = u64::from_le_bytes(*word) ^ QUOTES;
        // The lowest set bit marks the first zero byte; higher ones may be wrong.
        let zeros = differences.wrapping_sub(ONES) & !differences & (ONES << 7);
        if zeros != 0 {
            return Some(8 * index + zeros.trailing_zeros() as usize / 8);
        }
    }
    rest.iter().position(|&byte| byte == b'"').map(|at| 8 * words.len() + at)
}

/// Constant bytes, compared sixteen at a time.
struct Token {
    text: Box<[u8]>,
    /// For each sixteen bytes, their value and a mask of the bits to compare.
    words: Vec<(u128, u128)>,
}

impl Token {
    fn new(text: &[u8]) -> Self {
        let word = |bytes: &[u8]| {
            let (mut value, mut mask) = ([0; 16], [0; 16]);
            value[..bytes.len()].copy_from_slice(bytes);
            mask[..bytes.len()].fill(0xFF);
            (u128::from_le_bytes(value), u128::from_le_bytes(mask))
        };
        Self { text: text.into(), words: text.chunks(16).map(word).collect() }
    }

    /// The text after the token, if it starts with the token.
    #[inline]
    fn strip<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let (chunks, _) = text.as_chunks::<16>();
        if chunks.len() < self.words.len() {
            return text.strip_prefix(&*self.text);
        }
        let differs =
            |(chunk, (value, mask)): (&[u8; 16], &(u128, u128))| (u128::from_le_bytes(*chunk) ^ value) & mask != 0;
        if chunks.iter().zip(&self.words).any(differs) { None } else { text.get(self.text.len()..) }
    }
}
