//! Reads workbooks with the library, and turns its failures on malformed or hostile files into errors.

use super::cell::Cell;
use crate::fault::{Fault, guarded};
use crate::input_file::InputFile;
use brc_core::{Error, Result};
use calamine::{Data, Ods, Reader, Sheet, SheetType, SheetVisible, Xls, XlsError, Xlsb, XlsbError, Xlsx, XlsxError};
use std::fmt::Display;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

/// The magic of Excel files before 2007, and of encrypted ones of any version.
pub(super) const COMPOUND: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// The non-empty cells of a sheet, from left to right and from top to bottom.
pub(super) struct SheetCells {
    pub(super) sheet: String,
    /// The names of all sheets of the workbook.
    pub(super) sheets: Vec<String>,
    pub(super) cells: Vec<PlacedCell>,
    /// The number of formulas without a stored value: a program wrote them that does not compute.
    pub(super) uncomputed: usize,
}

/// A cell at its row and column, counted from 0.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PlacedCell {
    pub(super) row: u32,
    pub(super) column: u32,
    pub(super) cell: Cell,
}

/// Reads the sheet with the given name or number, or the first visible one.
///
/// # Errors
/// [`Error::Usage`] if there is no such sheet; other errors if the workbook cannot be read.
pub(super) fn read(path: &Path, file: &InputFile, prefix: &[u8], sheet: Option<&str>) -> Result<SheetCells> {
    let open = || BufReader::new(file.clone().reader());
    let read = guarded(|| {
        if prefix.starts_with(COMPOUND) {
            return of_ranges(Xls::new(open()).map_err(xls_fault)?, sheet);
        }
        if is_open_document(prefix) {
            return of_ranges(Ods::new(open()).map_err(fault)?, sheet);
        }
        let error = match Xlsx::new(open()) {
            Ok(book) => return of_xlsx(book, sheet),
            Err(error) => error,
        };
        // The same container with different content.
        let book = Xlsb::new(open()).map_err(|_| fault(error))?;
        of_xlsb(book, sheet)
    });
    read.map_err(|fault| fault.at(path, "workbook"))?
        .map_err(|reason| Error::Usage(format!("{}: {reason}", path.display())))
}

/// The same container is used for encrypted workbooks of any version, and for other documents.
fn xls_fault(error: XlsError) -> Fault {
    let no_workbook = "there is no workbook of Excel 97 in it; if it is encrypted with a password, save it without one";
    if error.to_string().contains("Cannot find Workbook stream") {
        Fault::unsupported(no_workbook)
    } else {
        fault(error)
    }
}

/// Whether the first bytes are those of a LibreOffice spreadsheet.
fn is_open_document(prefix: &[u8]) -> bool {
    prefix.get(30..).is_some_and(|name| name.starts_with(b"mimetype"))
}

fn fault(error: impl Display) -> Fault {
    let text = error.to_string();
    if text.contains("password") { Fault::unsupported(text) } else { Fault::corrupt(text) }
}

/// A sheet, or why there is none.
type SheetResult = std::result::Result<SheetCells, String>;

fn of_xlsx<R: Read + Seek>(mut book: Xlsx<R>, wanted: Option<&str>) -> Result<SheetResult, Fault> {
    let (sheet, sheets) = match choose_sheet(book.sheets_metadata(), wanted)? {
        Ok(chosen) => chosen,
        Err(reason) => return Ok(Err(reason)),
    };
    let mut reader = book.worksheet_cells_reader(&sheet).map_err(fault)?;
    let next = || -> Result<_, XlsxError> {
        Ok(reader.next_cell()?.map(|cell| (cell.get_position(), cell.get_value().clone().into())))
    };
    let cells = collect_cells(next)?;
    drop(reader);
    let uncomputed = uncomputed(&mut book, &sheet, &cells)?;
    Ok(Ok(SheetCells { sheet, sheets, cells, uncomputed }))
}

fn of_xlsb<R: Read + Seek>(mut book: Xlsb<R>, wanted: Option<&str>) -> Result<SheetResult, Fault> {
    let (sheet, sheets) = match choose_sheet(book.sheets_metadata(), wanted)? {
        Ok(chosen) => chosen,
        Err(reason) => return Ok(Err(reason)),
    };
    let mut reader = book.worksheet_cells_reader(&sheet).map_err(fault)?;
    let next = || -> Result<_, XlsbError> {
        Ok(reader.next_cell()?.map(|cell| (cell.get_position(), cell.get_value().clone().into())))
    };
    let cells = collect_cells(next)?;
    drop(reader);
    let uncomputed = uncomputed(&mut book, &sheet, &cells)?;
    Ok(Ok(SheetCells { sheet, sheets, cells, uncomputed }))
}

/// Formats whose sheets the library reads as a whole; none of them is large.
fn of_ranges<R: Read + Seek, B: Reader<R, Error: Display>>(
    mut book: B,
    wanted: Option<&str>,
) -> Result<SheetResult, Fault> {
    let (sheet, sheets) = match choose_sheet(book.sheets_metadata(), wanted)? {
        Ok(chosen) => chosen,
        Err(reason) => return Ok(Err(reason)),
    };
    let range = book.worksheet_range(&sheet).map_err(fault)?;
    let (first_row, first_column) = range.start().unwrap_or_default();
    let mut used = range.used_cells();
    let next = || -> Result<_, B::Error> {
        let position = |(row, column, data): (usize, usize, &Data)| {
            ((first_row + row as u32, first_column + column as u32), data.clone())
        };
        Ok(used.next().map(position))
    };
    let cells = collect_cells(next)?;
    let uncomputed = uncomputed(&mut book, &sheet, &cells)?;
    Ok(Ok(SheetCells { sheet, sheets, cells, uncomputed }))
}

/// The number of formulas without a stored value. Formulas are read only if the sheet has gaps.
fn uncomputed<R: Read + Seek, B: Reader<R, Error: Display>>(
    book: &mut B,
    sheet: &str,
    cells: &[PlacedCell],
) -> Result<usize, Fault> {
    let extent = |positions: &mut dyn Iterator<Item = u32>| {
        let (first, last) = positions.fold((u32::MAX, 0), |(first, last), at| (first.min(at), last.max(at)));
        u64::from((last + 1).saturating_sub(first))
    };
    let rows = extent(&mut cells.iter().map(|cell| cell.row));
    let columns = extent(&mut cells.iter().map(|cell| cell.column));
    if rows.saturating_mul(columns) == cells.len() as u64 {
        return Ok(0);
    }
    let formulas = book.worksheet_formula(sheet).map_err(fault)?;
    let (first_row, first_column) = formulas.start().unwrap_or_default();
    let is_stored = |row: usize, column: usize| {
        let at = (first_row + row as u32, first_column + column as u32);
        cells.binary_search_by_key(&at, |cell| (cell.row, cell.column)).is_ok()
    };
    Ok(formulas.used_cells().filter(|(row, column, formula)| !formula.is_empty() && !is_stored(*row, *column)).count())
}

/// The non-empty cells, in order. A file may have them in a different one.
fn collect_cells<E: Display>(
    mut next: impl FnMut() -> Result<Option<((u32, u32), Data)>, E>,
) -> Result<Vec<PlacedCell>, Fault> {
    let mut cells = Vec::new();
    while let Some(((row, column), data)) = next().map_err(fault)? {
        cells.extend(Cell::of(data).map(|cell| PlacedCell { row, column, cell }));
    }
    let position = |cell: &PlacedCell| (cell.row, cell.column);
    cells.sort_by_key(position);
    cells.dedup_by_key(|cell| position(cell));
    Ok(cells)
}

/// The sheet with the given name, or else number, counted from 1; and the names of all sheets.
fn choose_sheet(
    sheets: &[Sheet],
    wanted: Option<&str>,
) -> Result<std::result::Result<(String, Vec<String>), String>, Fault> {
    let sheets: Vec<_> = sheets.iter().filter(|sheet| sheet.typ == SheetType::WorkSheet).collect();
    let names: Vec<_> = sheets.iter().map(|sheet| sheet.name.clone()).collect();
    let number = |wanted: &str| names.get(wanted.parse::<usize>().ok()?.checked_sub(1)?);
    let found = match wanted {
        Some(wanted) => names.iter().find(|name| *name == wanted).or_else(|| number(wanted)),
        None => {
            let visible = sheets.iter().find(|sheet| sheet.visible == SheetVisible::Visible);
            visible.or(sheets.first()).map(|sheet| &sheet.name)
        }
    };
    match (found, wanted) {
        (Some(name), _) => Ok(Ok((name.clone(), names))),
        (None, Some(wanted)) => Ok(Err(format!("no sheet '{wanted}' (sheets: {})", listed(&names)))),
        (None, None) => Err(Fault::unsupported("it has no sheet with cells")),
    }
}

/// Names of sheets, as a list for a message.
pub(super) fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
}
