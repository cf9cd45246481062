//! Measures how often the right delimiter and quote are detected in a directory of files.
//!
//! `sniff_score DIRECTORY EXPECTED.csv`: the list has a header and the columns file, delimiter and quote; tab and space
//! are written as words. Prints each miss with what was detected and why, then the share of hits.

#![forbid(unsafe_code)]

use brc_text::{Delimiter, DialectOverrides, Sample, sniff};
use std::error::Error;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [directory, list] = arguments.as_slice() else {
        return Err("usage: sniff_score DIRECTORY EXPECTED.csv".into());
    };
    let list = fs::read_to_string(list)?;
    let (mut right, mut all) = (0_u32, 0_u32);
    for line in list.lines().skip(1) {
        let fields = fields(line);
        let [file, delimiter, quote] = fields.as_slice() else { return Err(format!("not 3 fields: {line}").into()) };
        let bytes = fs::read(Path::new(directory).join(file)).map_err(|error| format!("{file}: {error}"))?;
        let sniffed = sniff(&samples(&bytes), &DialectOverrides::default());
        all += 1;
        if is_delimiter(delimiter, sniffed.dialect.delimiter) && sniffed.dialect.quote == Some(quote.as_bytes()[0]) {
            right += 1;
            continue;
        }
        println!("{file}: expected {delimiter} {quote}");
        sniffed.findings.iter().for_each(|finding| println!("    {finding}"));
    }
    println!("{right} of {all} right: {:.2} %", 100.0 * f64::from(right) / f64::from(all));
    Ok(())
}

/// Samples of the start, the middle and the end of a file, as a program would take them.
fn samples(bytes: &[u8]) -> Vec<Sample<'_>> {
    use brc_text::sniff::{PLACE_BYTES, START_BYTES};
    let at = |from: usize, length: usize| {
        let to = (from + length).min(bytes.len());
        Sample { bytes: &bytes[from..to], offset: from as u64, is_end: to == bytes.len() }
    };
    let mut samples = vec![at(0, START_BYTES)];
    if bytes.len() > START_BYTES + 2 * PLACE_BYTES {
        samples.extend([at(bytes.len() / 2, PLACE_BYTES), at(bytes.len() - PLACE_BYTES, PLACE_BYTES)]);
    }
    samples
}

/// Lists of dialects mostly have single bytes only, and call runs of blanks a space.
fn is_delimiter(expected: &str, found: Delimiter) -> bool {
    found.to_string() == expected || expected == "space" && found == Delimiter::Blanks
}

/// Splits a line with commas and doubled quotes.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut quoted) = (vec![String::new()], false);
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.next_if_eq(&'"').is_none() => quoted = false,
            '"' if !quoted => quoted = true,
            ',' if !quoted => fields.push(String::new()),
            _ => fields.last_mut().into_iter().for_each(|field| field.push(character)),
        }
    }
    fields
}
