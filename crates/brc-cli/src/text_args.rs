//! The options for reading text: its dialect and the types of its columns.
//!
//! They are shared by all commands that read tables, and override detection and inference.

use brc_core::{Error, Field, Schema, SchemaError, identifier};
use brc_encodings::brc_text::dialect::Byte;
use brc_encodings::brc_text::form::FormError;
use brc_encodings::brc_text::typed::Ragged;
use brc_encodings::brc_text::{
    Charset, Delimiter, DialectError, DialectOverrides, GivenNumber, LineEnd, NumberForm, TableForms, TimeForm,
};
use brc_encodings::{Encoding, RejectLog, TextOptions};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

// How to read a text.
#[derive(Clone, Default, clap::Args)]
#[command(next_help_heading = "Options for reading text (CSV, TSV …)")]
pub(crate) struct TextArgs {
    /// The field delimiter: a one-byte character, tab, space, \x01, blanks for runs of spaces and tabs, or none for one
    /// value per line [default: detected]
    #[arg(long, alias = "separator", value_name = "CHAR", value_parser = field_delimiter)]
    pub(crate) delimiter: Option<Delimiter>,

    /// The quote character, or none if quotes are ordinary text [default: detected, usually "]
    #[arg(long, value_name = "CHAR", value_parser = optional_byte)]
    quote: Option<Optional<u8>>,

    /// The character that escapes quotes and delimiters, or none; doubled quotes need no escape [default: detected]
    #[arg(long, value_name = "CHAR", value_parser = optional_byte)]
    escape: Option<Optional<u8>>,

    /// Whether a field that begins with [ reaches to the next ] at the end of a field, as times in logs of web servers
    /// [default: detected]
    #[arg(long, value_name = "YES|NO", value_parser = yes_or_no())]
    brackets: Option<bool>,

    /// Skip lines that begin with this, or none to keep them all [default: detected]
    #[arg(long, value_name = "PREFIX", value_parser = optional_text)]
    comment: Option<Optional<String>>,

    /// Whether the first row holds the column names [default: detected]
    #[arg(long, value_name = "YES|NO", value_parser = yes_or_no())]
    header: Option<bool>,

    /// The column names, separated by commas [default: those of the header, or column_1, column_2 …]
    #[arg(long, value_name = "NAMES", allow_hyphen_values = true, value_parser = names)]
    names: Option<Names>,

    /// Skip the first N lines of the file, before the header [default: detected]
    #[arg(long, value_name = "N")]
    skip: Option<u64>,

    /// Skip the last N lines of the file [default: 0]
    #[arg(long, value_name = "N")]
    skip_footer: Option<u64>,

    /// The line end: lf, crlf or cr; lf also accepts crlf [default: detected]
    #[arg(long, value_name = "NAME", value_parser = str::parse::<LineEnd>)]
    line_end: Option<LineEnd>,

    /// The character set: utf-8, utf-16le, utf-16be, latin1, windows-1252 …, or raw for bytes as they are
    /// [default: detected]
    #[arg(long, value_name = "NAME", value_parser = str::parse::<Charset>)]
    charset: Option<Charset>,

    /// The unquoted fields that are null besides empty ones, separated by commas; '' for empty ones only [default:
    /// detected: NA, NULL, - and the like in columns of numbers, dates and booleans]
    #[arg(long, value_name = "TOKENS", allow_hyphen_values = true, value_parser = tokens)]
    null: Option<Tokens>,

    /// Like --null, but empty fields are empty strings
    #[arg(long, value_name = "TOKENS", allow_hyphen_values = true, value_parser = tokens, conflicts_with = "null")]
    null_only: Option<Tokens>,

    /// The decimal separator, such as a comma [default: detected if the values are unambiguous, else a point]
    #[arg(long, value_name = "CHAR")]
    decimal: Option<String>,

    /// The thousands separator: a point, a comma, an apostrophe or 'space' [default: detected if the values are
    /// unambiguous]
    #[arg(long, value_name = "CHAR")]
    thousands: Option<String>,

    /// The strftime format of dates in all columns or in one, as in '%d/%m/%Y' or 'due=%d %b %y'; may be repeated
    /// [default: detected if only one format fits all values]
    #[arg(long, value_name = "[NAME=]FORMAT", value_parser = date_form)]
    date_format: Vec<NamedForm>,

    /// The same for timestamps, as in '%m/%d/%Y %I:%M %p', or %s for seconds since 1970 [default: detected]
    #[arg(long, value_name = "[NAME=]FORMAT", value_parser = timestamp_form)]
    timestamp_format: Vec<NamedForm>,

    /// Whether to strip spaces and tabs around unquoted fields [default: detected]
    #[arg(long, value_name = "YES|NO", value_parser = yes_or_no())]
    trim: Option<bool>,

    /// The sheet of a workbook, by its name or number [default: the first]
    #[arg(long, value_name = "NAME|N", allow_hyphen_values = true)]
    sheet: Option<String>,

    /// What to do with rows that have too few or too many fields: error makes them bad rows, pad fills missing fields
    /// with null, reject drops and counts them [default: error]
    #[arg(long, value_name = "HOW", value_parser = ragged())]
    ragged: Option<Ragged>,

    /// The type of a column, NAME=TYPE; may be repeated. The types are bool, int8 … int64, uint64, decimal(p,s),
    /// float32, float64, date, time, timestamp, string, binary and uuid, each optionally 'not null' [default: inferred
    /// from all values]
    #[arg(long = "type", value_name = "NAME=TYPE", allow_hyphen_values = true, value_parser = types)]
    types: Vec<Types>,

    /// Read all columns as strings, except those with --type
    #[arg(long)]
    all_strings: bool,

    /// Read a column as strings if any value would be written back differently, such as 1.5 as 1.50
    #[arg(long)]
    exact_text: bool,
}

impl TextArgs {
    /// The options as plain data.
    ///
    /// # Errors
    /// [`Error::Usage`] if the separators of numbers are invalid.
    pub(crate) fn options(&self) -> Result<TextOptions, Error> {
        Ok(TextOptions {
            types: self.types.iter().flat_map(|types| types.0.iter().cloned()).collect(),
            all_strings: self.all_strings,
            exact_text: self.exact_text,
            dialect: DialectOverrides {
                delimiter: self.delimiter,
                quote: self.quote.as_ref().map(|quote| quote.0),
                doubled_quotes: None,
                escape: self.escape.as_ref().map(|escape| escape.0),
                brackets: self.brackets,
                comment: self.comment.as_ref().map(|comment| comment.0.clone()),
                header: self.header,
                line_end: self.line_end,
                charset: self.charset,
                preamble_lines: self.skip,
                trailing_lines: self.skip_footer,
                null_tokens: self.null_tokens(),
                trim: self.trim,
            },
            forms: TableForms { number: self.number_form()?, times: self.time_forms() },
            sheet: self.sheet.clone(),
            ragged: self.ragged,
        })
    }

    /// The number format, if given.
    fn number_form(&self) -> Result<Option<GivenNumber>, Error> {
        let thousands = self.thousands.as_deref().map(|it| if it == "space" { " " } else { it });
        let (decimal, thousands) = match (&self.decimal, thousands) {
            (None, None) => return Ok(None),
            (Some(decimal), thousands) => (decimal.as_str(), thousands.unwrap_or_default()),
            (None, Some(thousands)) => (if thousands == "." { "," } else { "." }, thousands),
        };
        let form = NumberForm::new(decimal, thousands).map_err(|error| Error::Usage(error.to_string()))?;
        Ok(Some(GivenNumber { form, any_thousands: self.thousands.is_none() }))
    }

    /// The date and time formats that are given.
    fn time_forms(&self) -> Vec<(Option<String>, TimeForm)> {
        let forms = self.date_format.iter().chain(&self.timestamp_format);
        forms.map(|NamedForm { column, form }| (column.clone(), *form)).collect()
    }

    /// The unquoted fields that are null, if given.
    fn null_tokens(&self) -> Option<Vec<String>> {
        let besides_empty = |tokens: &Tokens| {
            let others = tokens.0.iter().filter(|token| !token.is_empty());
            [String::new()].into_iter().chain(others.cloned()).collect()
        };
        let only = self.null_only.as_ref().map(|tokens| tokens.0.clone());
        only.or_else(|| self.null.as_ref().map(besides_empty))
    }

    /// The log for rejected rows without a rejects file: with `--ragged reject` they are only counted.
    pub(crate) fn reject_log(&self) -> RejectLog {
        if self.ragged == Some(Ragged::Reject) { RejectLog::counting() } else { RejectLog::none() }
    }

    /// The column names, if given.
    pub(crate) fn names(&self) -> Option<Vec<String>> {
        self.names.as_ref().map(|names| names.0.clone())
    }

    /// Rejects contradictory number separators, and options that apply to none of the input encodings. (The delimiter
    /// may be meant for the output; names are checked against the file.)
    ///
    /// # Errors
    /// [`Error::Usage`] for such an option.
    pub(crate) fn check<'a>(&self, encodings: impl IntoIterator<Item = &'a dyn Encoding>) -> Result<(), Error> {
        let mut options = self.options()?;
        options.dialect.delimiter = None;
        let mut refused = None;
        for encoding in encodings {
            match encoding.check_text_options(&options) {
                Ok(()) => return Ok(()),
                Err(reason) => refused = refused.or(Some((encoding, reason))),
            }
        }
        let of = |(encoding, reason): (&dyn Encoding, _)| format!("the input is {}, and {reason}", encoding.name());
        refused.map_or(Ok(()), |refused| Err(Error::Usage(of(refused))))
    }
}

/// Column names.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Names(Vec<String>);

fn names(list: &str) -> Result<Names, identifier::ListError> {
    identifier::parse_list(list).map(Names)
}

/// A part of a dialect that may be absent.
#[derive(Debug, Clone)]
struct Optional<T>(Option<T>);

fn optional_byte(text: &str) -> Result<Optional<u8>, DialectError> {
    if text == "none" {
        return Ok(Optional(None));
    }
    text.parse().map(|Byte(byte)| Optional(Some(byte)))
}

fn optional_text(text: &str) -> Result<Optional<String>, DialectError> {
    match text {
        "" => Err(DialectError::EmptyComment),
        "none" => Ok(Optional(None)),
        _ => Ok(Optional(Some(text.to_owned()))),
    }
}

/// A byte that texts do not have, as their delimiter if there is none.
const UNUSED: u8 = 0x01;

fn field_delimiter(text: &str) -> Result<Delimiter, String> {
    match text {
        "blanks" => Ok(Delimiter::Blanks),
        "none" => Ok(Delimiter::Byte(UNUSED)),
        _ => delimiter(text).map(Delimiter::Byte),
    }
}

fn yes_or_no() -> impl TypedValueParser<Value = bool> {
    PossibleValuesParser::new(["yes", "no"]).map(|text| text == "yes")
}

fn ragged() -> impl TypedValueParser<Value = Ragged> {
    let values = [("error", Ragged::Error), ("pad", Ragged::Pad), ("reject", Ragged::Reject)];
    PossibleValuesParser::new(values.map(|(name, _)| PossibleValue::new(name)))
        .map(move |text| values.iter().find(|(name, _)| *name == text).map_or(Ragged::Error, |(_, ragged)| *ragged))
}

/// Fields that are null.
#[derive(Debug, Clone)]
struct Tokens(Vec<String>);

fn tokens(list: &str) -> Result<Tokens, std::convert::Infallible> {
    Ok(Tokens(list.split(',').map(str::to_owned).collect()))
}

/// A format and its column; `None` for all columns.
#[derive(Debug, Clone)]
struct NamedForm {
    column: Option<String>,
    form: TimeForm,
}

fn date_form(text: &str) -> Result<NamedForm, String> {
    let is_date = |named: &NamedForm| !named.form.is_timestamp();
    time_form(text)?.filtered(is_date, "has both a date and a time; use --timestamp-format")
}

fn timestamp_form(text: &str) -> Result<NamedForm, String> {
    let is_timestamp = |named: &NamedForm| named.form.is_timestamp();
    time_form(text)?.filtered(is_timestamp, "does not have both a date and a time; use --date-format")
}

impl NamedForm {
    fn filtered(self, is_right: impl Fn(&Self) -> bool, wrong: &str) -> Result<Self, String> {
        if is_right(&self) { Ok(self) } else { Err(format!("'{}' {wrong}", self.form)) }
    }
}

fn time_form(text: &str) -> Result<NamedForm, String> {
    let quoted = text.starts_with('"').then(|| identifier::unquote(text, '"')).flatten();
    let named = quoted.and_then(|(name, length)| Some((name, text[length..].strip_prefix('=')?)));
    // If a percent sign precedes the first equals sign, the text is a format without a column name.
    let plain = || text.split_once('=').filter(|(name, _)| !name.trim().is_empty() && !name.contains('%'));
    let named = named.or_else(|| plain().map(|(name, form)| (name.trim().to_owned(), form)));
    let (column, form) = named.map_or((None, text), |(name, form)| (Some(name), form));
    let form = form.parse().map_err(|error: FormError| error.to_string())?;
    Ok(NamedForm { column, form })
}

/// Columns with their types.
#[derive(Debug, Clone)]
struct Types(Vec<Field>);

fn types(list: &str) -> Result<Types, SchemaError> {
    Schema::parse_types(list).map(Types)
}

/// Parses a schema: the text itself, or the content of a file if it begins with `@`.
pub(crate) fn schema(text: &str) -> Result<Schema, String> {
    let columns = match text.strip_prefix('@') {
        Some(path) => std::fs::read_to_string(path).map_err(|error| format!("{path}: cannot read: {error}"))?,
        None => text.to_owned(),
    };
    Schema::parse(columns.trim_end_matches(['\n', '\r'])).map_err(|error| error.to_string())
}

/// Parses a delimiter.
pub(crate) fn delimiter(text: &str) -> Result<u8, String> {
    let Ok(Byte(delimiter)) = text.parse() else {
        return Err("must be one byte, tab, space, or a byte in hexadecimal as \\x01".to_owned());
    };
    if delimiter.is_ascii_digit() || b"-.\n\r\0\"".contains(&delimiter) {
        return Err("cannot be a delimiter, because values may contain it".to_owned());
    }
    Ok(delimiter)
}
