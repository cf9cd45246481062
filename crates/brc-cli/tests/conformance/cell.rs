//! An encoding with a compression, and the files written with it.

use crate::tables::Source;
use brc_compress::{COMPRESSIONS, Compressor};
use brc_core::{Field, Progress, Result, ScanOptions, Schema, Table};
use brc_encodings::{CreateOptions, ENCODINGS, Encoding, Input, OpenOptions, Output, OutputOptions, RejectLog};
use brc_query::{Query, RowBlock};
use brc_testing::{Cell as Value, collect_rows};
use std::fmt;
use std::io::{Cursor, Write};
use std::path::PathBuf;

pub(crate) struct Cell {
    pub(crate) encoding: &'static dyn Encoding,
    pub(crate) compression: Compressor,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with {}", self.encoding.name(), self.compression)
    }
}

/// The encodings of general tables. (Image encodings have tests of their own.)
pub(crate) fn encodings() -> impl Iterator<Item = &'static dyn Encoding> {
    ENCODINGS.iter().copied().filter(|encoding| encoding.supports(&Schema::one_brc()).is_ok())
}

/// Every encoding with every compression it supports.
pub(crate) fn cells() -> Vec<Cell> {
    let pairs = encodings().flat_map(|encoding| COMPRESSIONS.iter().map(move |&compression| (encoding, compression)));
    pairs
        .filter(|(encoding, compression)| encoding.can_compress(*compression).is_ok())
        .map(|(encoding, compression)| Cell { encoding, compression: Compressor::of(compression) })
        .collect()
}

impl Cell {
    /// Whether files are unprotected text, in which a changed digit cannot be noticed.
    pub(crate) fn is_plain_text(&self) -> bool {
        self.compression.is_none() && !self.encoding.detects_damage()
    }

    /// The file name for this cell.
    fn name(&self) -> PathBuf {
        let mut name = format!("table.{}", self.encoding.extensions()[0]);
        let format = self.compression.compression.file_format();
        if let Some(format) = format.filter(|_| !self.encoding.compresses_blocks()) {
            name = format!("{name}.{}", format.extensions()[0]);
        }
        name.into()
    }

    pub(crate) fn file_of(&self, bytes: &[u8]) -> File {
        File::new(self.name(), bytes.to_vec())
    }

    /// Writes the table in this cell.
    pub(crate) fn encode(&self, source: &Source, threads: usize) -> File {
        self.encode_file(&File::new("text.csv".into(), source.text.clone()), source, threads)
    }

    /// Converts a file to this cell.
    pub(crate) fn encode_file(&self, file: &File, source: &Source, threads: usize) -> File {
        let table = file.open(&options(&source.schema, Some(20_000))).unwrap();
        let (file, rows) = self.encode_table(table.as_ref(), threads).unwrap();
        assert_eq!(rows, source.rows().len() as u64, "{self}, {}", source.name);
        file
    }

    /// Writes a table in this cell, and returns the number of stored rows.
    pub(crate) fn encode_table(&self, table: &dyn Table, threads: usize) -> Result<(File, u64)> {
        let options = CreateOptions::new(self.compression);
        let writer = brc_encodings::writer(self.encoding, table.schema(), &options)?;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(self.name());
        let output = Output::create(&path, &OutputOptions::default())?;
        let converted =
            brc_encodings::convert(table, writer, output, RejectLog::none(), threads, &Progress::default())?;
        Ok((File::new(self.name(), std::fs::read(&path).unwrap()), converted.rows_stored))
    }
}

/// A file, in memory and on disk.
pub(crate) struct File {
    name: PathBuf,
    bytes: Vec<u8>,
}

impl File {
    pub(crate) fn new(name: PathBuf, bytes: Vec<u8>) -> Self {
        Self { name, bytes }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn open(&self, options: &OpenOptions) -> Result<Box<dyn Table>> {
        open(self.input()?, options)
    }

    fn input(&self) -> Result<Input> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&self.bytes).unwrap();
        Input::from_file(self.name.clone(), file)
    }

    /// Opens the table through a pipe.
    pub(crate) fn open_stream(&self, options: &OpenOptions) -> Result<Box<dyn Table>> {
        open(Input::from_stream(self.name.clone(), Box::new(Cursor::new(self.bytes.clone())))?, options)
    }

    pub(crate) fn schema(&self, source: &Source) -> Schema {
        self.open(&options(&source.schema, None)).unwrap().schema().clone()
    }

    /// All rows as text.
    pub(crate) fn rows(&self, source: &Source, threads: usize) -> Result<Vec<Vec<String>>> {
        rows(self.open(&options(&source.schema, None))?.as_ref(), threads)
    }

    /// All rows, read through a pipe.
    pub(crate) fn rows_of_stream(&self, source: &Source, threads: usize) -> Result<Vec<Vec<String>>> {
        rows(self.open_stream(&options(&source.schema, None))?.as_ref(), threads)
    }

    /// The rows as CSV.
    pub(crate) fn to_text(&self, source: &Source) -> Vec<u8> {
        let csv = Cell { encoding: brc_encodings::by_name("csv").unwrap(), compression: Compressor::none() };
        csv.encode_file(self, source, 2).bytes
    }

    pub(crate) fn verify(&self, options: &OpenOptions) -> Result<u64> {
        let input = self.input()?;
        let encoding = brc_encodings::for_input(&input)?;
        Ok(encoding.verify(input, options, 2, &Progress::default())?.rows)
    }

    /// The result of a query as text.
    pub(crate) fn answer(&self, source: &Source, query: &Query, threads: usize) -> Result<String, String> {
        let table = self.open(&options(&source.schema, None)).map_err(|error| error.to_string())?;
        answer(table.as_ref(), query, threads)
    }
}

/// The result of a query over a table as text.
pub(crate) fn answer(table: &dyn Table, query: &Query, threads: usize) -> Result<String, String> {
    let (_, answer) = query.ask(table, threads, &Progress::default()).map_err(|error| error.to_string())?;
    let value = |(value, column): (Option<brc_core::Value<'_>>, &Field)| match value {
        Some(brc_core::Value::Bytes(bytes)) => bytes.escape_ascii().to_string(),
        Some(value) => value.to_text(column.logical_type),
        None => "null".to_owned(),
    };
    let blocks = answer.blocks().collect::<Result<Vec<_>>>().map_err(|error| error.to_string())?;
    let rows = blocks.iter().flat_map(RowBlock::rows);
    let rows = rows.map(|row| row.zip(answer.schema().fields()).map(value).collect::<Vec<_>>().join("|"));
    Ok(rows.collect::<Vec<_>>().join("\n"))
}

/// The options to open a file with this schema.
pub(crate) fn options(schema: &Schema, row_group_bytes: Option<u64>) -> OpenOptions {
    OpenOptions { schema: Some(schema.clone()), row_group_bytes, ..OpenOptions::default() }
}

fn open(input: Input, options: &OpenOptions) -> Result<Box<dyn Table>> {
    let encoding = brc_encodings::for_input(&input)?;
    encoding.open(input, options)
}

/// All rows of a table as text.
fn rows(table: &dyn Table, threads: usize) -> Result<Vec<Vec<String>>> {
    let fields = table.schema().fields();
    let rows = collect_rows(table, &ScanOptions::everything(table.schema()), threads)?;
    let text = |(cell, field): (&Value, &Field)| cell.to_text(field.logical_type);
    Ok(rows.iter().map(|row| row.iter().zip(fields).map(text).collect()).collect())
}
