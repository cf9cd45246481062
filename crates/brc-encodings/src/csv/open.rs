//! Determines the dialect and the columns of a text.

use super::footer::without_last_lines;
use super::given_types;
use super::inference::Inference;
use super::sniff::sniff_text;
use super::source::Text;
use super::stream::Stream;
use super::table::{CsvTable, Parts};
use crate::encoding::OpenOptions;
use crate::input::{Input, PREFIX_BYTES, Source};
use crate::json;
use crate::stream_copy::StreamCopy;
use crate::text::strip_carriage_return;
use brc_core::{Error, Field, LogicalType, Result, RowFault, SkippedLines, Table};
use brc_kernels::cpu::Level;
use brc_kernels::structure::Syntax;
use brc_text::form::{GivenForms, TimeForm};
use brc_text::infer::Seen;
use brc_text::rows::{EmptyLines, IrregularRow, Piece, Reason, RowOptions, RowScanner, Rows};
use brc_text::typed::{BadRow, ColumnType, NullTokens, Output, TableParser, TextFormat};
use brc_text::{BYTE_ORDER_MARK, Charset, Form, Sniffed, TextReader};
use memchr::memchr;
use std::convert::Infallible;
use std::io::{Cursor, Read};

/// The maximum size of a header and the preamble before it, in bytes.
const MAX_HEADER_BYTES: usize = 64 << 20;

/// The byte order mark of UTF-32, which begins with that of UTF-16.
const UTF_32: &[u8] = b"\xff\xfe\0\0";

/// Opens a text with arbitrary columns.
pub(super) fn open(mut input: Input, options: &OpenOptions) -> Result<Box<dyn Table>> {
    let path = input.path.clone();
    let usage = |reason: String| Error::Usage(format!("{}: {reason}", path.display()));
    if input.prefix.starts_with(UTF_32) && options.text.dialect.charset.is_none() {
        let reason = "is text in UTF-32, which is not read; iconv -f UTF-32 -t UTF-8 converts it";
        return Err(Error::unsupported(&path, reason));
    }
    let sniffed = sniffed(&mut input, options)?;
    sniffed.dialect.check().map_err(|error| usage(error.to_string()))?;
    let syntax = sniffed.dialect.syntax().map_err(|error| usage(error.to_string()))?;
    let dialect = &sniffed.dialect;
    let mut format = format(syntax, &sniffed, options);
    let mut input = decoded(input, dialect.charset)?;
    if options.text.dialect.charset.is_none() && dialect.charset != Charset::Raw && json::is_json(&input.prefix) {
        return Err(json::in_utf16(&input.path));
    }
    let start = RowsStart::find(&mut input, &format, &sniffed, options)?;
    let names = names(&sniffed, options).map_err(usage)?;
    if names.is_empty() {
        let reason = "no columns: the file has no rows; set its columns with --schema or --names";
        return Err(Error::NoColumns { path, reason, has_rows: false });
    }
    let mut columns = columns(&names, options, format.syntax.delimiter())?;
    let mut skipped = start.skipped;
    if dialect.trailing_lines > 0 {
        (input, skipped.footer) = without_last_lines(input, dialect, start.body as u64, options)?;
    }
    let sample = Piece { text: &input.prefix[start.body..], skip: false, last: input.is_whole };
    format.header = start.header.as_ref().and_then(|header| header.line(options));
    let found = look(sample, &format, &columns);
    if format.header.is_some() && start.header.is_some_and(|header| may_be_a_row(&header.fields, &found)) {
        format.header = None;
        columns = look(sample, &format, &columns);
    } else {
        columns = found;
    }
    let inference = options.inference.clone().unwrap_or_default();
    learn(&names, &columns, &inference);
    let unused = unused_format(&columns, options);
    let doubts = given_types::find_forms(sample, &format, &names, &mut columns, &options.likely_forms, &inference);
    let is_inferred = columns.iter().any(|column| matches!(column, ColumnType::Inferred { .. }));
    let trailing = sniffed.trailing_note().filter(|_| !options.keep_rejects).map(str::to_owned);
    let text = text(input.source, input.prefix, start.body, is_inferred, &format.syntax)?;
    Ok(Box::new(CsvTable::new(Parts {
        path: input.path,
        text,
        format,
        names,
        columns,
        inference,
        body: start.body as u64,
        notes: sniffed.notes().into_iter().chain(trailing).chain(doubts).chain(unused).collect(),
        skipped,
        split_bytes: options.row_group_bytes,
        keep_rejects: options.keep_rejects,
    })?))
}

/// The dialect and the header of a text. The header is where the names of given types are, or what other files have.
fn sniffed(input: &mut Input, options: &OpenOptions) -> Result<Sniffed> {
    let mut sniffed = sniff_text(input, options)?;
    if options.text.dialect.header.is_none() {
        if !sniffed.dialect.header && names_columns(&sniffed.first_row, options) {
            sniffed = sniffed.with_header();
        }
        if let Some(headers) = &options.headers {
            sniffed = headers.decide(&input.path, sniffed);
        }
    }
    Ok(sniffed)
}

fn format(syntax: Syntax, sniffed: &Sniffed, options: &OpenOptions) -> TextFormat {
    let dialect = &sniffed.dialect;
    TextFormat {
        syntax,
        nulls: NullTokens::new(&dialect.null_tokens),
        infer_nulls: options.text.dialect.null_tokens.is_none(),
        trim: dialect.trim,
        ragged: options.text.ragged.unwrap_or_default(),
        max_row: RowOptions::MAX_ROW,
        // Otherwise an option or a note says what they are.
        should_be_utf8: options.text.dialect.charset.is_none() && sniffed.is_utf8(),
        checks_unread: !options.is_trusted,
        names: sniffed.names_comment.clone().filter(|_| options.names.is_none() && options.schema.is_none()),
        header: None,
    }
}

/// Whether the first row holds all names to which the options give types.
fn names_columns(first_row: &[String], options: &OpenOptions) -> bool {
    let types = &options.text.types;
    !types.is_empty() && types.iter().all(|field| first_row.iter().any(|cell| *cell.trim() == *field.name))
}

/// The input as UTF-8, or its bytes unchanged.
fn decoded(input: Input, charset: Charset) -> Result<Input> {
    if charset == Charset::Raw || charset == Charset::UTF_8 {
        return Ok(input);
    }
    let (path, compression, known) = (input.path.clone(), input.compression, input.prefix.len());
    let mut reader = TextReader::new(input.into_stream()?, charset);
    let (mut prefix, most) = (Vec::new(), known.max(PREFIX_BYTES));
    let read = reader.by_ref().take(most as u64).read_to_end(&mut prefix);
    read.map_err(crate::chunks::read_error(&path))?;
    let is_whole = prefix.len() < most;
    Ok(Input { path, prefix, is_whole, source: Source::Stream(Box::new(reader)), compression })
}

/// The start of the rows.
struct RowsStart {
    body: usize,
    header: Option<FirstRow>,
    /// The lines before it.
    skipped: SkippedLines,
}

impl RowsStart {
    /// Skips byte order mark, preamble and header.
    fn find(input: &mut Input, format: &TextFormat, sniffed: &Sniffed, options: &OpenOptions) -> Result<Self> {
        let line_end = sniffed.dialect.line_end.last_byte();
        loop {
            let text = &input.prefix;
            let mut body = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
            for _ in 0..sniffed.dialect.preamble_lines {
                body += memchr(line_end, &text[body..]).map_or(text.len() - body, |at| at + 1);
            }
            let first = first_row(&text[body..], input.is_whole, format);
            if first.is_none() && !input.is_whole && text.len() < MAX_HEADER_BYTES {
                input.extend_prefix(text.len().saturating_mul(4).max(PREFIX_BYTES))?;
                continue;
            }
            let lines = |bytes: &[u8]| memchr::memchr_iter(line_end, bytes).count() as u64;
            let mut skipped = SkippedLines { preamble: lines(&text[..body]), ..SkippedLines::default() };
            let header = first.filter(|row| has_header(row, sniffed, options));
            if let Some(header) = &header {
                let header_end = body + header.end;
                skipped.comments = header.comments;
                skipped.blank = header.blank;
                // The last line may lack its line end.
                let unended = u64::from(text[..header_end].last() != Some(&line_end));
                skipped.header = lines(&text[body..header_end]) + unended - header.comments - header.blank;
                body = header_end;
            }
            return Ok(Self { body, header, skipped });
        }
    }
}

/// Whether the first row holds names: the given ones, or what looks like names.
fn has_header(row: &FirstRow, sniffed: &Sniffed, options: &OpenOptions) -> bool {
    if let Some(header) = options.text.dialect.header {
        return header;
    }
    let given: Option<Vec<&str>> = match (&options.schema, &options.names) {
        (Some(schema), _) => Some(schema.fields().iter().map(|field| field.name.as_str()).collect()),
        (None, Some(names)) => Some(names.iter().map(String::as_str).collect()),
        (None, None) => None,
    };
    let has_given =
        given.is_some_and(|names| row.fields.iter().map(Vec::as_slice).eq(names.iter().map(|name| name.as_bytes())));
    has_given || (options.schema.is_none() && sniffed.dialect.header)
}

/// The first row of a text, with its values.
struct FirstRow {
    fields: Vec<Vec<u8>>,
    /// Its bytes without the line end.
    line: Vec<u8>,
    /// The offset after its line end.
    end: usize,
    /// The comment lines and empty lines before it.
    comments: u64,
    blank: u64,
}

impl FirstRow {
    /// The line of an inferred header, if other rows may repeat it: in a table of one column, the name may be a value.
    fn line(&self, options: &OpenOptions) -> Option<Vec<u8>> {
        let OpenOptions { text, names, schema, .. } = options;
        let is_given = text.dialect.header.is_some() || text.ragged.is_some() || names.is_some() || schema.is_some();
        (!is_given && self.fields.len() > 1 && !self.line.is_empty()).then(|| self.line.clone())
    }
}

/// Whether a row below the header that equals it could be one of values: no column of numbers, dates or the like says
/// otherwise.
fn may_be_a_row(header: &[Vec<u8>], columns: &[ColumnType]) -> bool {
    let is_typed = |column: &ColumnType| match column {
        ColumnType::Fixed { logical_type, .. } => *logical_type != LogicalType::String,
        ColumnType::Inferred { seen, .. } => !seen.is_untyped() && !seen.is_text(),
    };
    !header.iter().zip(columns).any(|(name, column)| is_typed(column) && Seen::of(name).is_text())
}

fn first_row(text: &[u8], is_whole: bool, format: &TextFormat) -> Option<FirstRow> {
    // No row has this many columns, so each row is delivered unchanged.
    let (max_row, empty_lines) = (format.max_row, EmptyLines::Report);
    let options = RowOptions { max_row, empty_lines, report_comments: true, ..RowOptions::new(1 << 20) };
    let mut scanner = RowScanner::new(Level::best(), format.syntax.clone(), options);
    let (mut first, mut comments, mut blank) = (None, 0, 0);
    let take = |rows: &Rows<'_>| {
        let is_row = |row: &&IrregularRow| {
            comments += u64::from(row.reason == Reason::Comment);
            blank += u64::from(row.reason == Reason::Empty);
            !matches!(row.reason, Reason::Comment | Reason::Empty)
        };
        let Some(row) = rows.irregular().iter().find(is_row) else { return Ok(()) };
        let value = |field: brc_text::rows::Field<'_>| {
            let mut value = Vec::new();
            if field.is_quoted {
                brc_text::unquote::unquote(&format.syntax, field.bytes, &mut value);
            } else {
                value.extend_from_slice(field.bytes);
            }
            value
        };
        let fields = rows.irregular_fields(row).map(value).collect();
        let line = &text[row.bytes.clone()];
        let line = strip_carriage_return(line.strip_suffix(b"\n").unwrap_or(line)).to_vec();
        first = Some(FirstRow { fields, line, end: row.bytes.end, comments, blank });
        Err(())
    };
    let _ = scanner.scan(Piece { text, skip: false, last: is_whole }, take);
    first
}

/// The names of the columns; none if their number is unknown.
fn names(sniffed: &Sniffed, options: &OpenOptions) -> Result<Vec<String>, String> {
    if let Some(schema) = &options.schema {
        return Ok(schema.fields().iter().map(|field| field.name.clone()).collect());
    }
    let Some(names) = &options.names else { return Ok(sniffed.names.clone()) };
    let found = sniffed.names.len();
    if found > 0 && found != names.len() {
        let [named, found] = [names.len(), found].map(columns_of);
        let whole = if names.len() == 1 { "; --delimiter none reads whole lines" } else { "" };
        return Err(format!("--names has {named}, but the first lines have {found}{whole}"));
    }
    Ok(names.clone())
}

fn columns_of(count: usize) -> String {
    format!("{count} column{}", if count == 1 { "" } else { "s" })
}

/// The given types; no types for columns to infer.
fn columns(names: &[String], options: &OpenOptions, delimiter: u8) -> Result<Vec<ColumnType>> {
    let forms = &options.text.forms;
    let fixed = |field: &Field| {
        let (logical_type, nullable) = (field.logical_type, field.nullable);
        ColumnType::Fixed { logical_type, nullable, form: forms.of_column(&field.name).of_type(logical_type) }
    };
    if let Some(schema) = &options.schema {
        let of_file = |(column, form): (ColumnType, Option<Form>)| match column {
            ColumnType::Fixed { logical_type, nullable, form: None } => {
                ColumnType::Fixed { logical_type, nullable, form }
            }
            column => column,
        };
        return Ok(schema.fields().iter().map(fixed).zip(Form::of_columns(schema)).map(of_file).collect());
    }
    let exact = options.text.exact_text;
    // Programs that write decimal commas and points between thousands separate fields by semicolons, and hardly by commas.
    let (may_have_lists, may_have_groups) = (delimiter != b';', delimiter != b',');
    let given = |name: &String| GivenForms { may_have_lists, may_have_groups, ..forms.of_column(name) };
    let inferred = |name: &String| match options.text.all_strings {
        true => ColumnType::Fixed { logical_type: LogicalType::String, nullable: true, form: None },
        false => ColumnType::Inferred { seen: Seen::NOTHING, exact, given: given(name) },
    };
    let mut columns: Vec<ColumnType> = names.iter().map(inferred).collect();
    options.check_types(names.iter().map(String::as_str))?;
    for (name, column) in names.iter().zip(&mut columns) {
        if let Some(field) = options.text.types.iter().rfind(|field| field.name == *name) {
            *column = fixed(field);
        }
    }
    Ok(columns)
}

/// The columns with the types of the first rows.
fn look(sample: Piece<'_>, format: &TextFormat, columns: &[ColumnType]) -> Vec<ColumnType> {
    let projection: Vec<usize> = (0..columns.len()).collect();
    let mut parser = TableParser::new(format.clone(), columns, &projection);
    let Ok(_) = parser.parse(sample, &mut DiscardRows);
    let mut columns = columns.to_vec();
    for (column, found) in columns.iter_mut().zip(parser.seen()) {
        if let (ColumnType::Inferred { seen, .. }, Some(found)) = (column, found) {
            *seen = seen.join(found);
        }
    }
    columns
}

/// The note about a format for all columns that no column is read in.
fn unused_format(columns: &[ColumnType], options: &OpenOptions) -> Option<String> {
    if options.text.all_strings || !options.text.types.is_empty() || options.schema.is_some() {
        return None;
    }
    let mut of_all = options.text.forms.times.iter().filter(|(column, _)| column.is_none()).map(|(_, form)| *form);
    let is_used = |form: &TimeForm| {
        columns.iter().any(|column| match column {
            ColumnType::Fixed { form: own, .. } => *own == Some(Form::Time(*form)),
            ColumnType::Inferred { seen, given, .. } => {
                [given.date, given.timestamp].contains(&Some(*form)) && seen.fits_given(given)
            }
        })
    };
    let form = of_all.rfind(|form| !is_used(form))?;
    Some(format!("no column is read in the format '{form}', because none has only values that fit it"))
}

/// Shares the demands of a sample with the other files of the table.
fn learn(names: &[String], columns: &[ColumnType], inference: &Inference) {
    for (name, column) in names.iter().zip(columns) {
        if let ColumnType::Inferred { seen, given, .. } = column {
            inference.learn(name, *seen);
            // Only samples count, so that the other columns do not depend on the projection.
            seen.decimal(given).into_iter().for_each(|decimal| inference.learn_decimal(decimal));
        }
    }
}

/// Discards rows.
struct DiscardRows;

impl Output for DiscardRows {
    type Error = Infallible;

    fn batch(&mut self, _: usize, _: &[brc_core::Column<'_>]) -> Result<(), Infallible> {
        Ok(())
    }

    fn keeps(&self, _: &RowFault) -> bool {
        true
    }

    fn keep(&mut self, _: &BadRow<'_>) {}

    fn refuse(&mut self, _: BadRow<'_>) -> Infallible {
        unreachable!("bad rows are kept")
    }
}

/// The text; a stream from its first row on.
fn text(source: Source, mut prefix: Vec<u8>, body: usize, is_inferred: bool, syntax: &Syntax) -> Result<Text> {
    Ok(match source {
        Source::File { file, length } => Text::File { file, length },
        Source::Chunks(chunks) => Text::Chunks(chunks),
        Source::Stream(rest) => {
            prefix.drain(..body);
            let copy = is_inferred.then(StreamCopy::new).transpose()?;
            Text::Stream(Stream::new(Box::new(Cursor::new(prefix).chain(rest)), copy, syntax.clone()))
        }
    })
}
