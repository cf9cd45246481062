//! Finds out how a text is written: from its beginning and, where it can be read at any place, some others.

use crate::encoding::OpenOptions;
use crate::input::{Input, Source, read_full_at};
use brc_core::{Error, Result};
use brc_text::sniff::{PLACE_BYTES, START_BYTES};
use brc_text::{Delimiter, DialectOverrides, Sample, Sniffed, sniff};

/// How many places are looked at besides the beginning: the last is the end.
const PLACES: u64 = 4;

/// The dialect of a text, with the evidence for each part that the options do not say.
///
/// # Errors
/// If the text cannot be read.
pub fn sniff_text(input: &Input, options: &OpenOptions) -> Result<Sniffed> {
    let start = &input.prefix[..input.prefix.len().min(START_BYTES)];
    let length = match &input.source {
        Source::File { length, .. } => Some(*length),
        Source::Chunks(_) | Source::Stream(_) => None,
    };
    let is_end = |end: u64| length.map_or(end < START_BYTES as u64, |length| end >= length);
    let places = places(input)?;
    let sample = |offset: u64, bytes| Sample { bytes, offset, is_end: is_end(offset + bytes.len() as u64) };
    let mut samples = vec![sample(0, start)];
    samples.extend(places.iter().map(|(offset, bytes)| sample(*offset, bytes)));
    Ok(sniff_samples(&samples, options))
}

/// Some bytes at other places of a file.
fn places(input: &Input) -> Result<Vec<(u64, Vec<u8>)>> {
    let Source::File { file, length } = &input.source else { return Ok(Vec::new()) };
    let mut places = Vec::new();
    let last = length.saturating_sub(PLACE_BYTES as u64);
    for place in 1..=PLACES {
        let offset = last / PLACES * place + if place == PLACES { last % PLACES } else { 0 };
        if offset > START_BYTES as u64 {
            let mut bytes = vec![0; PLACE_BYTES];
            let read = read_full_at(file, &mut bytes, offset).map_err(Error::io(&input.path, "read"))?;
            bytes.truncate(read);
            places.push((offset, bytes));
        }
    }
    Ok(places)
}

fn sniff_samples(samples: &[Sample<'_>], options: &OpenOptions) -> Sniffed {
    let mut known = options.text.dialect.clone();
    if options.schema.is_some() {
        // With the columns given, no line is taken for anything but a row, except for the header.
        known.preamble_lines.get_or_insert(0);
        known.trailing_lines.get_or_insert(0);
    }
    let sniffed = sniff(samples, &known);
    let given = options.schema.as_ref().map(|schema| schema.fields().len()).or(options.names.as_ref().map(Vec::len));
    let Some(width) = given.filter(|width| *width != sniffed.names.len() && known.delimiter.is_none()) else {
        return sniffed;
    };
    // The number of columns says something about the delimiter.
    let with = |delimiter: &u8| {
        let delimiter = Some(Delimiter::Byte(*delimiter));
        sniff(samples, &DialectOverrides { delimiter, ..known.clone() })
    };
    b",;\t|".iter().map(with).find(|other| other.names.len() == width).unwrap_or(sniffed)
}
