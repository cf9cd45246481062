//! Determines the dialect of a text: from its beginning and, with random access, from other offsets.

use crate::encoding::OpenOptions;
use crate::input::{Input, PREFIX_BYTES, Source};
use brc_core::{Error, ReadAt, Result};
use brc_text::rows::RowOptions;
use brc_text::sniff::{PLACE_BYTES, START_BYTES};
use brc_text::{Delimiter, DialectOverrides, Sample, Sniffed, sniff, sniff_rows};

/// The number of samples besides the beginning: the last one is the end.
const LATER_SAMPLES: u64 = 4;
/// The maximum number of first bytes sampled: two rows of maximum length.
const MAX_START_BYTES: usize = 2 * RowOptions::MAX_ROW;

/// The dialect of a text, with the evidence for each part that the options do not give. Extends the prefix of the
/// input until it has some whole rows of the table.
///
/// # Errors
/// If the text cannot be read.
pub fn sniff_text(input: &mut Input, options: &OpenOptions) -> Result<Sniffed> {
    let later = later_samples(input)?;
    loop {
        let start = Sample { bytes: &input.prefix, offset: 0, is_end: input.is_whole };
        let elsewhere = later.iter().filter(|sample| sample.offset >= input.prefix.len() as u64);
        let samples: Vec<Sample<'_>> = [start].into_iter().chain(elsewhere.map(LaterSample::sample)).collect();
        let sniffed = sniff_samples(&samples, options);
        if !sniffed.needs_more || input.is_whole || input.prefix.len() >= MAX_START_BYTES {
            return Ok(sniffed);
        }
        input.extend_prefix((4 * input.prefix.len()).clamp(PREFIX_BYTES, MAX_START_BYTES))?;
    }
}

/// Sampled bytes of a file after its beginning.
struct LaterSample {
    offset: u64,
    bytes: Vec<u8>,
    is_end: bool,
}

impl LaterSample {
    fn sample(&self) -> Sample<'_> {
        Sample { bytes: &self.bytes, offset: self.offset, is_end: self.is_end }
    }
}

/// Samples of a file after its beginning.
fn later_samples(input: &Input) -> Result<Vec<LaterSample>> {
    let Source::File { file, length } = &input.source else { return Ok(Vec::new()) };
    let mut samples = Vec::new();
    let last = length.saturating_sub(PLACE_BYTES as u64);
    for number in 1..=LATER_SAMPLES {
        let offset = last / LATER_SAMPLES * number + if number == LATER_SAMPLES { last % LATER_SAMPLES } else { 0 };
        if offset > START_BYTES as u64 {
            let mut bytes = vec![0; PLACE_BYTES];
            let read = file.read_full_at(&mut bytes, offset).map_err(Error::io(&input.path, "read"))?;
            bytes.truncate(read);
            samples.push(LaterSample { offset, is_end: offset + read as u64 >= *length, bytes });
        }
    }
    Ok(samples)
}

fn sniff_samples(samples: &[Sample<'_>], options: &OpenOptions) -> Sniffed {
    let known = &options.text.dialect;
    // If the columns or the handling of ragged rows are given, no line may be lost to a guess.
    let is_given = options.schema.is_some() || options.names.is_some() || options.text.ragged.is_some();
    let sniff = if is_given { sniff_rows } else { sniff };
    let sniffed = sniff(samples, known);
    let given = options.schema.as_ref().map(|schema| schema.fields().len()).or(options.names.as_ref().map(Vec::len));
    let is_evidence = |width: &usize| *width > 1 && *width != sniffed.names.len() && known.delimiter.is_none();
    let Some(width) = given.filter(is_evidence) else { return sniffed };
    // The number of columns is evidence for the delimiter. That of a single one is none: any other byte fits.
    let with = |delimiter: &u8| {
        let delimiter = Some(Delimiter::Byte(*delimiter));
        sniff(samples, &DialectOverrides { delimiter, ..known.clone() })
    };
    b",;\t|".iter().map(with).find(|other| other.names.len() == width).unwrap_or(sniffed)
}
