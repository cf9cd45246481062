//! Writes results: to standard output in a text format, or to a file in any encoding that brc writes.

use crate::failure::Failed;
use brc_cli::embedding::Shown;
use brc_datafusion::write_rows;
use clap::ValueEnum;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::csv::WriterBuilder;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::json::{ArrayWriter, LineDelimitedWriter};
use datafusion::arrow::util::pretty::pretty_format_batches_with_schema;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use std::ffi::OsString;
use std::io::{BufWriter, ErrorKind, IsTerminal, Write};
use std::path::PathBuf;

/// The output formats.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns in a frame
    #[default]
    Table,
    /// Comma-separated values with a header
    Csv,
    /// Tab-separated values with a header
    Tsv,
    /// One JSON array of objects
    Json,
    /// One JSON object per line
    Jsonl,
}

/// The destination of results.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    pub(crate) format: Format,
    pub(crate) path: Option<PathBuf>,
    pub(crate) force: bool,
}

impl Output {
    /// Writes all rows, and returns their number. The progress display ends before anything is printed.
    pub(crate) async fn write(&self, rows: SendableRecordBatchStream, shown: Shown) -> Result<u64, Failed> {
        match &self.path {
            // Files are written by brc.
            Some(path) => {
                let options: Vec<_> = self.force.then(|| OsString::from("--force")).into_iter().collect();
                Ok(write_rows(rows, path, &options).await?)
            }
            None => print(rows, self.format, shown).await,
        }
    }
}

fn arrow(error: ArrowError) -> Failed {
    DataFusionError::from(error).into()
}

/// A writer for each format.
enum Printer<W: Write> {
    Table(SchemaRef, Vec<RecordBatch>, W),
    Csv(Box<datafusion::arrow::csv::Writer<W>>),
    Json(Box<ArrayWriter<W>>),
    Jsonl(Box<LineDelimitedWriter<W>>),
}

async fn print(mut rows: SendableRecordBatchStream, format: Format, shown: Shown) -> Result<u64, Failed> {
    let stdout = std::io::stdout();
    let is_apart = !stdout.is_terminal();
    let out = BufWriter::new(stdout);
    let schema = rows.schema();
    let csv = |delimiter, out| {
        let mut writer = WriterBuilder::new().with_header(true).with_delimiter(delimiter).build(out);
        writer.write(&RecordBatch::new_empty(schema.clone())).map(|()| Printer::Csv(Box::new(writer)))
    };
    let mut printer = match format {
        Format::Table => Printer::Table(schema.clone(), Vec::new(), out),
        Format::Csv => csv(b',', out).map_err(arrow)?,
        Format::Tsv => csv(b'\t', out).map_err(arrow)?,
        Format::Json => Printer::Json(Box::new(ArrayWriter::new(out))),
        Format::Jsonl => Printer::Jsonl(Box::new(LineDelimitedWriter::new(out))),
    };
    let (mut count, mut shown) = (0, Some(shown));
    while let Some(batch) = rows.next().await.transpose()? {
        count += batch.num_rows() as u64;
        shown = shown.filter(|_| is_apart || printer.is_silent());
        if is_closed(printer.write(batch))? {
            return Ok(count);
        }
    }
    drop(shown);
    is_closed(printer.finish())?;
    Ok(count)
}

/// Whether the reader has closed standard output, which is not a failure.
fn is_closed(outcome: Result<(), ArrowError>) -> Result<bool, Failed> {
    match outcome {
        Ok(()) => Ok(false),
        Err(ArrowError::IoError(_, error)) if error.kind() == ErrorKind::BrokenPipe => Ok(true),
        Err(error) => Err(arrow(error)),
    }
}

impl<W: Write> Printer<W> {
    fn write(&mut self, batch: RecordBatch) -> Result<(), ArrowError> {
        match self {
            Self::Table(_, batches, _) => {
                batches.push(batch);
                Ok(())
            }
            Self::Csv(writer) => writer.write(&batch),
            Self::Json(writer) => writer.write(&batch),
            Self::Jsonl(writer) => writer.write(&batch),
        }
    }

    /// Whether it writes nothing before it is finished.
    fn is_silent(&self) -> bool {
        matches!(self, Self::Table(..))
    }

    fn finish(self) -> Result<(), ArrowError> {
        let io = |error: std::io::Error| ArrowError::IoError(error.to_string(), error);
        match self {
            Self::Table(schema, batches, mut out) => {
                let table = pretty_format_batches_with_schema(schema, &batches)?;
                writeln!(out, "{table}").and_then(|()| out.flush()).map_err(io)
            }
            Self::Csv(writer) => writer.into_inner().flush().map_err(io),
            Self::Json(mut writer) => {
                writer.finish()?;
                let mut out = writer.into_inner();
                writeln!(out).and_then(|()| out.flush()).map_err(io)
            }
            Self::Jsonl(mut writer) => {
                writer.finish()?;
                writer.into_inner().flush().map_err(io)
            }
        }
    }
}
