//! The rows a conversion left out, kept so that nothing is lost: one line each, with its place and what is wrong.
//!
//! The file is tab-separated with the header `line, byte, column, reason, row`, and `file` before them if rows come from
//! several files. Rows stand as they were, except that a tab,
//! carriage return, NUL or backslash in them is written as `\t`, `\r`, `\0` or `\\`, so that a line is always a row.

use crate::output::Output;
use brc_core::{Error, Reject, Rejects, Result, RowPlace, Table};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;

const HEADER: &[u8] = b"line\tbyte\tcolumn\treason\trow\n";

/// How many bytes are gathered before they are written.
const BUFFER: usize = 64 << 10;

/// Counts rejected rows, and writes them to a file if there is one.
pub struct RejectLog {
    file: Option<Output>,
    written: u64,
    buffer: Vec<u8>,
    count: u64,
    limit: u64,
    /// Whether each reject says which file it is from.
    names_files: bool,
}

impl RejectLog {
    /// Accepts no reject: for tables that were opened to stop at a bad row.
    #[must_use]
    pub fn none() -> Self {
        Self { file: None, written: 0, buffer: Vec::new(), count: 0, limit: 0, names_files: false }
    }

    /// Keeps rejects in `file`, up to `limit` of them.
    #[must_use]
    pub fn to(file: Output, limit: Option<u64>) -> Self {
        let limit = limit.unwrap_or(u64::MAX);
        Self { file: Some(file), written: 0, buffer: HEADER.to_vec(), count: 0, limit, names_files: false }
    }

    /// The same for a table of several files: each reject says which one it is from.
    #[must_use]
    pub fn naming_files(mut self) -> Self {
        self.buffer.splice(..0, *b"file\t");
        self.names_files = true;
        self
    }

    /// How many rows were rejected.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Adds the rejects of the next split, before which there are `lines_before` lines.
    pub(crate) fn add(&mut self, table: &dyn Table, lines_before: u64, rejects: &Rejects) -> Result<()> {
        for reject in rejects.iter() {
            let line = table.header_lines() + lines_before + reject.line_in_split + 1;
            if self.file.is_some() {
                self.line(table, line, &reject)?;
            }
            if self.count == self.limit {
                let place = RowPlace { line, byte: reject.byte, column: None };
                return Err(Error::TooManyRejects { path: table.path().to_owned(), place, limit: self.limit });
            }
            self.count += 1;
        }
        Ok(())
    }

    fn line(&mut self, table: &dyn Table, line: u64, reject: &Reject<'_>) -> Result<()> {
        let (column, reason) = match table.explain(reject.text) {
            Some((column, fault)) => (column, fault.to_string()),
            None => (None, "malformed".to_owned()),
        };
        let column = column.and_then(|column| table.schema().fields().get(column));
        let column = column.map_or("", |field| field.name.as_str());
        if self.names_files {
            escape(table.path().as_os_str().as_bytes(), &mut self.buffer);
            self.buffer.push(b'\t');
        }
        // Writing to memory does not fail.
        let _ = write!(self.buffer, "{line}\t{}\t", reject.byte);
        escape(column.as_bytes(), &mut self.buffer);
        self.buffer.push(b'\t');
        escape(reason.as_bytes(), &mut self.buffer);
        self.buffer.push(b'\t');
        escape(reject.text, &mut self.buffer);
        self.buffer.push(b'\n');
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if let Some(file) = &self.file {
            file.write_at(&self.buffer, self.written)?;
            self.written += self.buffer.len() as u64;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Ends the file.
    pub(crate) fn commit(mut self) -> Result<()> {
        self.flush()?;
        self.file.map_or(Ok(()), Output::commit)
    }
}

fn escape(text: &[u8], out: &mut Vec<u8>) {
    for &byte in text {
        match byte {
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0 => out.extend_from_slice(b"\\0"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            _ => out.push(byte),
        }
    }
}
