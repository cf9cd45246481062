//! A sheet as a table in memory.

use super::cell::Cell;
use super::column;
use super::layout::SheetLayout;
use super::workbook::{self, SheetCells, listed};
use crate::columnar::array_batches::ArrayBatches;
use crate::encoding::OpenOptions;
use crate::input::Input;
use crate::tally::Tally;
use arrow_array::{Array, ArrayRef};
use brc_core::names::{numbered_names, renamed, unique_names};
use brc_core::{
    DoubtfulText, Error, Field, LogicalType, Result, ScanError, ScanOptions, Scanned, Scanner, Schema, Sink, Split,
    Table, TextReason,
};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The number of rows of a split.
const SPLIT_ROWS: u64 = 64 << 10;

/// The maximum number of values of a table, including nulls: more imply a forged row or column number.
const MAX_VALUES: usize = 1 << 28;

pub(super) struct SheetTable {
    path: PathBuf,
    schema: Schema,
    arrays: Vec<ArrayRef>,
    rows: u64,
    bytes: Option<u64>,
    notes: Vec<String>,
    /// For the columns that are text because some cells are, their cells by type.
    mixed: Vec<(usize, Tally)>,
}

impl SheetTable {
    pub(super) fn open(input: Input, options: &OpenOptions) -> Result<Self> {
        let (path, prefix) = (input.path.clone(), input.prefix.clone());
        let bytes = input.length();
        let file = input.into_file(options.longest_copy)?;
        let SheetCells { sheet, sheets, cells, uncomputed } =
            workbook::read(&path, &file, &prefix, options.text.sheet.as_deref())?;
        let mut notes = Vec::new();
        if sheets.len() > 1 && options.text.sheet.is_none() {
            notes.push(format!("reading sheet '{sheet}' of {}; --sheet selects a different one", listed(&sheets)));
        }
        let layout = SheetLayout::of(cells, &options.text.dialect);
        if layout.columns.is_empty() {
            return Err(Error::unsupported(
                &path,
                format!("there is no table in the sheet '{sheet}': it has no cells"),
            ));
        }
        if layout.rows.saturating_mul(layout.columns.len()) > MAX_VALUES {
            let (rows, columns) = (layout.rows, layout.columns.len());
            let reason = format!("the sheet '{sheet}' has {rows} rows of {columns} columns: these are too many values");
            return Err(Error::unsupported(&path, reason));
        }
        if layout.title_rows > 0 {
            let (rows, them) = match layout.title_rows {
                1 => ("row".to_owned(), "it"),
                rows => (format!("{rows} rows"), "them"),
            };
            notes.push(format!("skipping the first {rows} as a title; --skip 0 keeps {them}"));
        }
        notes.extend(errors(&layout));
        if uncomputed > 0 {
            let formulas = if uncomputed == 1 { "formula" } else { "formulas" };
            let remedy = "a spreadsheet program stores them when it saves the workbook";
            notes.push(format!("null in place of {uncomputed} {formulas} without stored values; {remedy}"));
        }
        let names = names(&path, &layout, options, &mut notes)?;
        options.check_types(names.iter().map(String::as_str))?;
        let mut columns =
            Columns { path: &path, sheet: &sheet, layout: &layout, options, fields: Vec::new(), mixed: Vec::new() };
        let arrays = names.into_iter().enumerate().map(|(index, name)| columns.array(index, name));
        let arrays = arrays.collect::<Result<_>>()?;
        let mixed = columns.mixed;
        let schema = Schema::new(columns.fields).map_err(|error| Error::unsupported(&path, error.to_string()))?;
        if let Some(wanted) = options.schema.as_ref().filter(|wanted| !wanted.is_like(&schema)) {
            return Err(Error::Usage(format!("{}: its columns are {schema}, not {wanted}", path.display())));
        }
        Ok(Self { schema, arrays, rows: layout.rows as u64, bytes, notes, path, mixed })
    }
}

/// A note on cells whose formulas failed.
fn errors(layout: &SheetLayout) -> Option<String> {
    let cells = layout.columns.iter().flatten();
    let mut errors = cells.filter_map(|(_, cell)| if let Cell::Error(error) = cell { Some(error) } else { None });
    let first = errors.next()?;
    let count = 1 + errors.count();
    Some(if count == 1 {
        format!("the cell {first} is null")
    } else {
        format!("{count} cells such as {first} are null")
    })
}

/// The names of the columns: the requested ones, or those of the header.
fn names(path: &Path, layout: &SheetLayout, options: &OpenOptions, notes: &mut Vec<String>) -> Result<Vec<String>> {
    let columns = layout.columns.len();
    match (&options.names, &layout.header) {
        (Some(names), _) if names.len() != columns => {
            let reason = format!("it has {columns} columns, but --names has {}", names.len());
            Err(Error::Usage(format!("{}: {reason}", path.display())))
        }
        (Some(names), _) => Ok(names.clone()),
        (None, None) => Ok(numbered_names(columns)),
        (None, Some(header)) => {
            let own = || header.iter().map(|name| name.trim());
            let names = unique_names(own());
            notes.extend(renamed(own(), &names));
            Ok(names)
        }
    }
}

/// The columns of a sheet, which become arrays one at a time.
struct Columns<'a> {
    path: &'a Path,
    sheet: &'a str,
    layout: &'a SheetLayout,
    options: &'a OpenOptions,
    fields: Vec<Field>,
    mixed: Vec<(usize, Tally)>,
}

impl Columns<'_> {
    fn array(&mut self, index: usize, name: String) -> Result<ArrayRef> {
        let cells = &self.layout.columns[index];
        let text = &self.options.text;
        let asked = text.types.iter().rfind(|field| field.name == name);
        let logical_type = match asked {
            Some(field) => field.logical_type,
            None if text.all_strings => LogicalType::String,
            None => column::logical_type(cells),
        };
        let nullable = asked.is_none_or(|field| field.nullable);
        let array = column::array(cells, self.layout.rows, logical_type).map_err(|refused| match refused {
            None => Error::Usage(format!("column '{name}' of a workbook cannot be read as {logical_type}")),
            Some((row, cell)) => {
                let row = self.layout.first_row as usize + row + 1;
                let (sheet, value) = (self.sheet, cell.to_text());
                let reason =
                    format!("sheet '{sheet}', row {row}, column '{name}': '{value}' is not a valid {logical_type}");
                Error::unsupported(self.path, reason)
            }
        })?;
        if !nullable && array.null_count() > 0 {
            let reason = format!("column '{name}' is declared not null, but has {} nulls", array.null_count());
            return Err(Error::unsupported(self.path, reason));
        }
        if logical_type == LogicalType::String && asked.is_none() && !text.all_strings {
            let tally = column::tally(cells, u64::from(self.layout.first_row) + 1);
            self.mixed.extend(tally.map(|tally| (index, tally)));
        }
        self.fields.push(Field { name, logical_type, nullable });
        Ok(array)
    }
}

impl Table for SheetTable {
    fn path(&self) -> &Path {
        &self.path
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn why_text(&self, column: usize) -> Result<Option<TextReason>> {
        let tally = self.mixed.iter().find(|(of, _)| *of == column);
        Ok(tally.and_then(|(_, tally)| tally.why_text()))
    }

    fn doubtful_text(&self) -> Result<Vec<DoubtfulText>> {
        Ok(self.mixed.iter().filter_map(|(column, tally)| tally.doubtful(*column)).collect())
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn bytes(&self) -> Option<u64> {
        self.bytes
    }

    fn reads_by_column(&self) -> bool {
        true
    }

    fn split(&self, index: u64) -> Option<Split> {
        let start = index.checked_mul(SPLIT_ROWS)?;
        (start < self.rows).then(|| Split { index, start, end: self.rows.min(start + SPLIT_ROWS) })
    }

    fn rows_of(&self, split: u64) -> Option<u64> {
        self.split(split).map(|split| split.end - split.start)
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        let types = options.projection.iter().map(|&column| self.schema.fields()[column].logical_type);
        let batches = ArrayBatches::new(types, true);
        Ok(Box::new(SheetScanner { table: self, projection: options.projection.clone(), batches }))
    }
}

struct SheetScanner<'t> {
    table: &'t SheetTable,
    projection: Vec<usize>,
    batches: ArrayBatches,
}

impl Scanner for SheetScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let Some(split) = self.table.split(split.index) else { return Ok(None) };
        let begun = Instant::now();
        let (start, rows) = (split.start as usize, (split.end - split.start) as usize);
        let arrays: Vec<_> =
            self.projection.iter().map(|&column| self.table.arrays[column].slice(start, rows)).collect();
        self.batches.take(arrays.iter()).map_err(|(_, fault)| fault.at(&self.table.path, "sheet"))?;
        let in_sink = self.batches.deliver(rows, sink)?;
        let decode_time = begun.elapsed().saturating_sub(in_sink);
        Ok(Some(Scanned { rows: rows as u64, decode_time, ..Scanned::default() }))
    }
}
