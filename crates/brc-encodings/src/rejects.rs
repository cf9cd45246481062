//! The file of rejected rows: one record per row, with location and reason.
//!
//! The file is tab-separated with the header `line, byte, column, reason, row`, preceded by `file` if rows come from
//! several files. Rows are the bytes of the input without the line end; a value with a tab, quote, carriage return or
//! line feed is quoted as in CSV, so that CSV readers return exactly these bytes.

use crate::output::Output;
use brc_core::{Error, Reject, Rejects, Result, RowFault, RowLocation, Table};
use std::collections::HashMap;
use std::io::Write;

const HEADER: &[u8] = b"line\tbyte\tcolumn\treason\trow\n";

/// The number of bytes buffered before they are written.
const BUFFER: usize = 64 << 10;

/// The number of reasons counted separately; further ones are counted with the last.
const MAX_REASONS: usize = 1000;

/// A reason for rejects: the same error in the same column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectReason {
    /// The name of the column at fault, if one is.
    pub column: Option<String>,
    /// The error of the first of these rows; others may have different values.
    pub fault: Option<RowFault>,
    /// The number of rows.
    pub rows: u64,
    /// The line of the first row.
    pub first_line: u64,
}

/// Counts rejected rows, and writes them to a file if there is one.
pub struct RejectLog {
    file: Option<Output>,
    written: u64,
    buffer: Vec<u8>,
    count: u64,
    limit: u64,
    /// Whether each reject includes its file.
    names_files: bool,
    /// By column and kind of error.
    reasons: HashMap<(Option<usize>, String), RejectReason>,
}

impl RejectLog {
    /// Accepts no rejects: for tables opened to stop at a malformed row.
    #[must_use]
    pub fn none() -> Self {
        Self::new(None, 0)
    }

    /// Counts rejects without keeping them.
    #[must_use]
    pub fn counting() -> Self {
        Self::new(None, u64::MAX)
    }

    /// Keeps rejects in `file`, up to `limit` of them.
    #[must_use]
    pub fn to(file: Output, limit: Option<u64>) -> Self {
        Self { buffer: HEADER.to_vec(), ..Self::new(Some(file), limit.unwrap_or(u64::MAX)) }
    }

    fn new(file: Option<Output>, limit: u64) -> Self {
        Self { file, written: 0, buffer: Vec::new(), count: 0, limit, names_files: false, reasons: HashMap::new() }
    }

    /// The same for a table of several files: each reject includes its file.
    #[must_use]
    pub fn naming_files(mut self) -> Self {
        self.buffer.splice(..0, *b"file\t");
        self.names_files = true;
        self
    }

    /// The number of rejected rows.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The reasons, the most frequent first.
    pub(crate) fn reasons(&self) -> Vec<RejectReason> {
        let mut reasons: Vec<_> = self.reasons.values().cloned().collect();
        reasons.sort_by_key(|reason| (std::cmp::Reverse(reason.rows), reason.first_line));
        reasons
    }

    /// Adds the rejects of the next split; `lines_before` is the number of lines before it.
    pub(crate) fn add(&mut self, table: &dyn Table, lines_before: u64, rejects: &Rejects) -> Result<()> {
        for reject in rejects.iter() {
            let line = table.header_lines() + lines_before + reject.line_in_split + 1;
            let (column, fault) = table.explain(reject.text).map_or((None, None), |(at, fault)| (at, Some(fault)));
            if self.file.is_some() {
                let column = column.map_or(String::new(), |column| name(table, column));
                self.line(table, line, &column, fault.as_ref(), &reject)?;
            }
            if self.count == self.limit {
                let place = RowLocation { line, byte: reject.byte, column: None };
                return Err(Error::TooManyRejects { path: table.path().to_owned(), place, limit: self.limit });
            }
            self.count += 1;
            self.count_reason(table, line, column, fault);
        }
        Ok(())
    }

    fn count_reason(&mut self, table: &dyn Table, line: u64, column: Option<usize>, fault: Option<RowFault>) {
        let kind = fault.as_ref().map_or(String::new(), RowFault::kind);
        let key = if self.reasons.len() < MAX_REASONS { (column, kind) } else { (None, String::new()) };
        let column = key.0.map(|column| name(table, column));
        let fault = fault.filter(|_| !key.1.is_empty());
        let reason = self.reasons.entry(key);
        reason.or_insert(RejectReason { column, fault, rows: 0, first_line: line }).rows += 1;
    }

    fn line(
        &mut self,
        table: &dyn Table,
        line: u64,
        column: &str,
        fault: Option<&RowFault>,
        reject: &Reject<'_>,
    ) -> Result<()> {
        let reason = fault.map_or("malformed".to_owned(), RowFault::to_string);
        if self.names_files {
            field(table.path().as_os_str().as_encoded_bytes(), &mut self.buffer);
            self.buffer.push(b'\t');
        }
        // Writing to memory does not fail.
        let _ = write!(self.buffer, "{line}\t{}\t", reject.byte);
        field(column.as_bytes(), &mut self.buffer);
        self.buffer.push(b'\t');
        field(reason.as_bytes(), &mut self.buffer);
        self.buffer.push(b'\t');
        field(reject.text, &mut self.buffer);
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

    /// Completes the file.
    pub(crate) fn commit(mut self) -> Result<()> {
        self.flush()?;
        self.file.map_or(Ok(()), Output::commit)
    }
}

fn name(table: &dyn Table, column: usize) -> String {
    let inferred = table.inferred();
    let fields = inferred.as_deref().unwrap_or(table.schema()).fields();
    fields.get(column).map_or(String::new(), |field| field.name.clone())
}

/// Appends a value, quoted if necessary.
fn field(text: &[u8], out: &mut Vec<u8>) {
    if !text.iter().any(|byte| b"\t\r\n\"".contains(byte)) {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    for &byte in text {
        out.extend(std::iter::repeat_n(byte, if byte == b'"' { 2 } else { 1 }));
    }
    out.push(b'"');
}
