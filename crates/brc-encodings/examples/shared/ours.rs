//! The same rows through this crate.

use super::rows::Rows;
use brc_compress::Compressor;
use brc_core::{
    Batch, BatchWriter, Column, Error, Integers, Part, PartEncoder, Result, ScanError, ScanOptions, Schema, Sink,
};
use brc_encodings::{CreateOptions, Encoding, Input, OpenOptions};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const BATCH_ROWS: usize = 4096;
const PART_ROWS: usize = 1 << 18;

fn writer(encoding: &dyn Encoding) -> Result<Box<dyn BatchWriter>> {
    let options = CreateOptions::new(Compressor::none());
    brc_encodings::writer(encoding, &Schema::one_brc(), &options)
}

/// Encodes all rows, part by part; `take` receives each part and returns its buffer.
fn parts(encoder: &mut dyn PartEncoder, rows: &Rows, mut take: impl FnMut(Part) -> Result<Vec<u8>>) -> Result<()> {
    for (codes, values) in rows.codes.chunks(PART_ROWS).zip(rows.values.chunks(PART_ROWS)) {
        for (codes, values) in codes.chunks(BATCH_ROWS).zip(values.chunks(BATCH_ROWS)) {
            let columns = [Column::codes(codes, &rows.names), Column::integers(Integers::I16(values))];
            encoder.batch(&Batch { rows: codes.len(), columns: &columns })?;
        }
        let written = take(encoder.finish()?)?;
        encoder.recycle(written);
    }
    Ok(())
}

/// A file of the rows.
pub(crate) fn file(encoding: &dyn Encoding, rows: &Rows) -> Result<File> {
    let mut writer = writer(encoding)?;
    let path = PathBuf::from("temporary file");
    let mut file = tempfile::tempfile().map_err(Error::io(&path, "make"))?;
    let mut write = |bytes: &[u8]| file.write_all(bytes).map_err(Error::io(&path, "write"));
    write(&writer.start())?;
    let mut encoder = writer.encoder();
    parts(encoder.as_mut(), rows, |mut part| {
        writer.append(&mut part)?;
        write(&part.bytes)?;
        Ok(part.bytes)
    })?;
    write(&writer.finish()?)?;
    Ok(file)
}

/// The time that encoding takes.
pub(crate) fn encode(encoding: &dyn Encoding, rows: &Rows) -> Result<Duration> {
    let mut encoder = writer(encoding)?.encoder();
    let start = Instant::now();
    parts(encoder.as_mut(), rows, |part| Ok(part.bytes))?;
    Ok(start.elapsed())
}

/// The time that decoding takes, including `sink`.
pub(crate) fn decode(encoding: &dyn Encoding, file: &File, sink: &mut dyn Sink) -> Result<Duration> {
    let path = PathBuf::from("temporary file");
    let input = Input::from_file(path.clone(), file.try_clone().map_err(Error::io(&path, "open"))?)?;
    let schema = Some(Schema::one_brc());
    let table = encoding.open(input, &OpenOptions { schema, ..OpenOptions::default() })?;
    let start = Instant::now();
    let mut scanner = table.scanner(&ScanOptions::everything(table.schema()))?;
    let (mut index, mut reading) = (0, Duration::ZERO);
    while let Some(split) = table.split(index) {
        let scanned = scanner.scan(&split, sink).map_err(|error| match error {
            ScanError::Other(error) => error,
            ScanError::BadRow { fault, .. } => Error::Usage(fault.to_string()),
            ScanError::Widened => Error::Widened,
        })?;
        let Some(scanned) = scanned else { break };
        reading += scanned.read_time;
        index += 1;
    }
    Ok(start.elapsed().saturating_sub(reading))
}
