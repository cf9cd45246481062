//! What a text's first lines tell of its columns: their types, and their names if there is a header.
//!
//! A row that is malformed must not change what the others say, or it would never be told. So a column has numbers if most
//! of its values are numbers, with as many decimals as any of them has; and there are as many columns as most lines have,
//! leaving out those without a separator.

use crate::encoding::OpenOptions;
use crate::input::{Input, PREFIX_BYTES};
use crate::text::{BYTE_ORDER_MARK, is_binary, strip_carriage_return};
use brc_core::{Error, Field, LogicalType, Result, Schema, decimal};
use memchr::{memchr, memchr_iter, memrchr};
use std::collections::HashMap;

/// Whether some first bytes are of a text: text has no NUL byte in its first line. (Later ones are bad rows, unless all is
/// full of what text has not.)
pub(super) fn is_text(prefix: &[u8]) -> bool {
    let line = memchr(b'\n', prefix).unwrap_or(prefix.len());
    let (line, rest) = prefix.split_at(line);
    let nuls = memchr_iter(0, rest).count();
    memchr(0, line).is_none() && nuls * 100 <= rest.len() && !is_binary(prefix)
}

/// The columns of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) schema: Schema,
    /// Whether the first line has their names, and is no row.
    pub(super) header: bool,
}

/// Finds the columns, as far as the options do not name them.
///
/// # Errors
/// [`Error::Usage`] if the names do not fit the first lines, or the lines seem to have another separator.
pub(super) fn columns(input: &Input, options: &OpenOptions) -> Result<Columns> {
    let sample = Sample { prefix: &input.prefix, separator: options.separator };
    if let Some(schema) = &options.schema {
        return Ok(Columns { schema: schema.clone(), header: sample.begins_with(schema) });
    }
    sample
        .columns(options.names.as_deref())
        .map_err(|reason| Error::Usage(format!("{}: {reason}", input.path.display())))
}

/// The first lines of a text.
struct Sample<'a> {
    prefix: &'a [u8],
    separator: u8,
}

impl<'a> Sample<'a> {
    fn columns(&self, names: Option<&[String]>) -> Result<Columns, String> {
        let width = match (self.width(), names) {
            (Some(usual), Some(names)) => self.check_names(names, usual).map(|()| names.len())?,
            (Some(1), None) => self.check_separator().map(|()| 1)?,
            (Some(usual), None) => usual,
            (None, Some(names)) => names.len(),
            // Of an empty text, any columns are right.
            (None, None) => return Ok(Columns { schema: Schema::one_brc(), header: false }),
        };
        let mut rows = self.lines().filter(|line| self.fields(line).count() == width);
        let first = rows.next().unwrap_or_default();
        let mut seen = vec![Seen::default(); width];
        rows.for_each(|row| self.look(row, &mut seen));
        let types: Vec<LogicalType> = seen.iter().map(Seen::logical_type).collect();
        let is_named = || names.is_some_and(|names| self.fields(first).eq(names.iter().map(String::as_bytes)));
        if self.first_line() == first && (self.is_header(first, &types) || is_named()) {
            let names = names.map_or_else(|| self.fields(first).map(header_name).collect(), <[_]>::to_vec);
            return Ok(Columns { schema: schema(names, types)?, header: true });
        }
        self.look(first, &mut seen);
        if names.is_none() && self.is_one_brc(&seen) {
            return Ok(Columns { schema: Schema::one_brc(), header: false });
        }
        let types = seen.iter().map(Seen::logical_type).collect();
        let names = names.map_or_else(|| vec![String::new(); width], <[_]>::to_vec);
        Ok(Columns { schema: schema(names, types)?, header: false })
    }

    /// The lines with anything on them, without one that may be cut off.
    fn lines(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let whole = if self.prefix.len() < PREFIX_BYTES { None } else { memrchr(b'\n', self.prefix) };
        lines(&self.prefix[..whole.unwrap_or(self.prefix.len())]).filter(|line| !line.is_empty())
    }

    /// The only line that may be a header.
    fn first_line(&self) -> &'a [u8] {
        lines(self.prefix).next().unwrap_or_default()
    }

    fn fields(&self, line: &'a [u8]) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let separator = self.separator;
        line.split(move |&byte| byte == separator)
    }

    /// How many columns most lines have that have several, or else 1; `None` if there are no lines.
    fn width(&self) -> Option<usize> {
        let mut lines_of: HashMap<usize, usize> = HashMap::new();
        for line in self.lines() {
            *lines_of.entry(self.fields(line).count()).or_default() += 1;
        }
        lines_of.into_iter().max_by_key(|&(width, lines)| (width > 1, lines, width)).map(|(width, _)| width)
    }

    /// Sees to it that some line has as many columns as there are names.
    fn check_names(&self, names: &[String], usual: usize) -> Result<(), String> {
        if self.lines().any(|line| self.fields(line).count() == names.len()) {
            return Ok(());
        }
        let [named, usual] = [names.len(), usual].map(columns_of);
        Err(format!("--names has {named}, but the first lines have {usual}"))
    }

    /// Sees to it that a text of one column is no table of several with another separator.
    fn check_separator(&self) -> Result<(), String> {
        let first = self.lines().next().unwrap_or_default();
        let Some(other) = b",\t|;".iter().find(|&&other| memchr(other, first).is_some()) else { return Ok(()) };
        let [own, other] = [self.separator, *other].map(u8::escape_ascii);
        Err(format!(
            "the first lines have no separator '{own}', but '{other}': say with --separator what stands between columns, \
             or with --names what the only column is called"
        ))
    }

    fn look(&self, row: &'a [u8], seen: &mut [Seen]) {
        for (field, seen) in self.fields(row).zip(seen) {
            seen.take(field);
        }
    }

    /// Whether a line has only names, and above numbers too.
    fn is_header(&self, line: &'a [u8], below: &[LogicalType]) -> bool {
        let above_numbers =
            |(field, logical_type): (&[u8], &LogicalType)| !field.is_empty() && *logical_type != LogicalType::String;
        !self.fields(line).any(is_like_number) && self.fields(line).zip(below).any(above_numbers)
    }

    /// Whether the first line has the names of a schema.
    fn begins_with(&self, schema: &Schema) -> bool {
        let names = schema.fields().iter().map(|field| field.name.as_bytes());
        self.fields(self.first_line()).eq(names)
    }

    /// Whether these are the columns of the One Billion Row Challenge.
    fn is_one_brc(&self, seen: &[Seen]) -> bool {
        let [station, temperature] = seen else { return false };
        self.separator == b';'
            && station.logical_type() == LogicalType::String
            && temperature.logical_type() != LogicalType::String
            && temperature.only_tenths
    }
}

/// All lines of a text, the empty ones too.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    text.split(|&byte| byte == b'\n').map(strip_carriage_return)
}

/// What was seen of a column.
#[derive(Clone)]
struct Seen {
    numbers: usize,
    others: usize,
    /// The most decimals that a number has.
    scale: u8,
    /// Whether all numbers have one decimal, and lie within ±99.9.
    only_tenths: bool,
}

impl Default for Seen {
    fn default() -> Self {
        Self { numbers: 0, others: 0, scale: 0, only_tenths: true }
    }
}

impl Seen {
    fn take(&mut self, field: &[u8]) {
        match number(field) {
            Some((value, scale)) => {
                self.numbers += 1;
                self.scale = self.scale.max(scale);
                self.only_tenths &= scale == 1 && value.unsigned_abs() <= 999;
            }
            // What is empty is a bad row, whatever the type.
            None => self.others += usize::from(!field.is_empty()),
        }
    }

    fn logical_type(&self) -> LogicalType {
        if self.numbers > self.others { LogicalType::number(self.scale) } else { LogicalType::String }
    }
}

/// The value and the decimals of a number.
fn number(field: &[u8]) -> Option<(i64, u8)> {
    let digits = field.strip_prefix(b"-").unwrap_or(field);
    if !digits.first()?.is_ascii_digit() {
        return None;
    }
    let decimals = memchr(b'.', field).map_or(0, |point| field.len() - point - 1);
    let scale = u8::try_from(decimals).ok().filter(|scale| *scale <= LogicalType::MAX_PRECISION_64)?;
    Some((decimal::parse(field, scale).ok()?, scale))
}

/// Whether it is meant as a number, well-formed or not: then its line is a row, though perhaps a bad one.
fn is_like_number(field: &[u8]) -> bool {
    field.iter().find(|byte| !b" +-.,".contains(byte)).is_some_and(u8::is_ascii_digit)
}

fn header_name(field: &[u8]) -> String {
    String::from_utf8_lossy(field).into_owned()
}

/// A schema of columns with these names; those without one are called by their place.
fn schema(names: Vec<String>, types: Vec<LogicalType>) -> Result<Schema, String> {
    let field = |(index, (name, logical_type)): (usize, (String, LogicalType))| {
        let name = if name.is_empty() { format!("column_{}", index + 1) } else { name };
        Field::required(name, logical_type)
    };
    Schema::new(names.into_iter().zip(types).enumerate().map(field).collect())
        .map_err(|error| format!("{error}; --names gives them other names"))
}

fn columns_of(count: usize) -> String {
    format!("{count} column{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::columns_text;

    fn guess(text: &str, separator: u8, names: Option<&[&str]>) -> Result<(String, bool), String> {
        let names: Option<Vec<String>> = names.map(|names| names.iter().map(|&name| name.to_owned()).collect());
        let columns = Sample { prefix: text.as_bytes(), separator }.columns(names.as_deref())?;
        Ok((columns_text::write(&columns.schema), columns.header))
    }

    const ONE_BRC: &str = "station:string,temperature:decimal(1)";

    #[test]
    fn the_preset_is_told_by_its_shape_alone() {
        for text in
            ["", "Abha;1.0\n", "Abha;-99.9\nOslo;99.9", "\u{feff}Abha;1.0\r\nOslo;2.5\r\n", "a;1.0\nbad\n;\nb;2.0"]
        {
            assert_eq!(guess(text, b';', None), Ok((ONE_BRC.to_owned(), false)), "{text}");
        }
        for (text, columns) in [
            ("Abha;100.0\n", "column_1:string,column_2:decimal(1)"),
            ("Abha;1.0\nOslo;1.25\n", "column_1:string,column_2:decimal(2)"),
            ("Abha;1.0\nOslo;1\n", "column_1:string,column_2:decimal(1)"),
            ("Abha;1\n", "column_1:string,column_2:int"),
            ("7;1.0\n", "column_1:int,column_2:decimal(1)"),
            ("1.0;Abha\n", "column_1:decimal(1),column_2:string"),
            ("a;b\nc;d\n", "column_1:string,column_2:string"),
            ("a;1.0;x\n", "column_1:string,column_2:decimal(1),column_3:string"),
        ] {
            assert_eq!(guess(text, b';', None), Ok((columns.to_owned(), false)), "{text}");
        }
        let commas = Ok(("column_1:string,column_2:decimal(1)".to_owned(), false));
        assert_eq!(guess("Abha,1.0\n", b',', None), commas);
    }

    #[test]
    fn a_header_has_words_above_numbers() {
        for (text, columns) in [
            ("station;temperature\nAbha;1.0\n", ONE_BRC),
            ("\u{feff}city;n\r\nAbha;1\r\n", "city:string,n:int"),
            ("; a b\n1;2.50\n", "column_1:int,\" a b\":decimal(2)"),
            ("x\n1\n2\n", "x:int"),
            ("a;b\n1;x\ny;2\n3;y\n", "a:int,b:string"),
        ] {
            assert_eq!(guess(text, b';', None), Ok((columns.to_owned(), true)), "{text}");
        }
        for text in [
            // Words above words, numbers, what is meant as one, nothing above numbers, another number of columns.
            "name;town\nx;Abha\n",
            "name;2020\nAbha;1\nOslo;2\n",
            "Hamburg;1e5\nAbha;1.0\nOslo;2.0\n",
            "Hamburg;+1.0\nAbha;1.0\nOslo;2.0\n",
            "Hamburg;\nAbha;1.0\nOslo;2.0\n",
            "table of stations\nAbha;1.0\nOslo;2.0\n",
            "\nstation;temperature\nAbha;1.0\nOslo;2.0\n",
        ] {
            assert!(!guess(text, b';', None).unwrap().1, "{text}");
        }
        let twice = "two columns are named 'a'; --names gives them other names";
        assert_eq!(guess("a;a\n1;2\n", b';', None), Err(twice.to_owned()));
    }

    #[test]
    fn names_that_are_given_count() {
        let names: Option<&[&str]> = Some(&["a,b", "x"]);
        for (text, columns, header) in [
            ("Abha;1.0\n", "\"a,b\":string,x:decimal(1)", false),
            ("city;n\nAbha;1\n", "\"a,b\":string,x:int", true),
            ("a,b;x\ny;z\n", "\"a,b\":string,x:string", true),
            ("", "\"a,b\":string,x:string", false),
        ] {
            assert_eq!(guess(text, b';', names), Ok((columns.to_owned(), header)), "{text}");
        }
        let others = "--names has 2 columns, but the first lines have 1 column";
        assert_eq!(guess("Abha\n", b';', names), Err(others.to_owned()));
    }

    #[test]
    fn another_separator_is_pointed_out() {
        assert!(guess("a,b\n1,2\n", b';', None).unwrap_err().contains("no separator ';', but ','"));
        assert!(guess("a\tb\n", b';', None).unwrap_err().contains("but '\\t'"));
        assert_eq!(guess("a,b\nc\n", b';', Some(&["x"])), Ok(("x:string".to_owned(), false)));
        assert_eq!(guess("Abha;1.0\nx\ny\n", b';', None), Ok((ONE_BRC.to_owned(), false)));
        assert_eq!(guess("a b\nc\n", b';', None), Ok(("column_1:string".to_owned(), false)));
    }

    #[test]
    fn a_line_that_is_cut_off_tells_nothing() {
        let mut text = "a;1.0\n".repeat(PREFIX_BYTES / 6);
        text.push_str(&"b;1.75"[..PREFIX_BYTES - text.len()]);
        assert_eq!(guess(&text, b';', None), Ok((ONE_BRC.to_owned(), false)));
    }
}
