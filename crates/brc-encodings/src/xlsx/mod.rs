//! Spreadsheet workbooks: one sheet is a table. They are read, but not written.
//!
//! Workbooks declare neither types nor a header: each column gets the narrowest type that fits all cells, and a first
//! row of texts is a header. A workbook is read into memory as a whole; a sheet has at most a million rows.

mod cell;
mod column;
mod layout;
mod table;
mod workbook;

use crate::encoding::{CreateOptions, Encoding, OpenOptions, TextOptions};
use crate::input::Input;
use crate::zip;
use brc_core::{BatchWriter, Error, Result, Schema, Table};
use brc_text::DialectOverrides;
use table::SheetTable;

pub(crate) struct Xlsx;

const READ_ONLY: &str = "workbooks are supported for reading only";

impl Encoding for Xlsx {
    fn name(&self) -> &'static str {
        "xlsx"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["xls", "xlsb", "ods"]
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["xlsx", "xlsm", "xlsb", "xls", "ods"]
    }

    fn about(&self) -> &'static str {
        "a sheet of an Excel or LibreOffice workbook (xlsx, xlsm, xlsb, xls, ods)"
    }

    fn sniff(&self, prefix: &[u8]) -> bool {
        prefix.starts_with(workbook::COMPOUND) || zip::is_workbook(prefix)
    }

    fn holds_any_bytes(&self) -> bool {
        false
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn check_text_options(&self, options: &TextOptions) -> Result<(), String> {
        let DialectOverrides { header, preamble_lines, trailing_lines, .. } = options.dialect;
        let dialect = DialectOverrides { header, preamble_lines, trailing_lines, ..DialectOverrides::default() };
        let TextOptions { types, all_strings, sheet, .. } = options.clone();
        if *options == (TextOptions { types, all_strings, sheet, dialect, ..TextOptions::default() }) {
            return Ok(());
        }
        let known = "--header, --names, --skip, --skip-footer, --type and --all-strings";
        Err(format!("of the options for reading text only {known} apply to it"))
    }

    fn supports(&self, _: &Schema) -> Result<(), String> {
        Err(READ_ONLY.to_owned())
    }

    fn open(&self, input: Input, options: &OpenOptions) -> Result<Box<dyn Table>> {
        Ok(Box::new(SheetTable::open(input, options)?))
    }

    fn create(&self, _: &Schema, _: &CreateOptions) -> Result<Box<dyn BatchWriter>> {
        Err(Error::Usage(READ_ONLY.to_owned()))
    }
}
