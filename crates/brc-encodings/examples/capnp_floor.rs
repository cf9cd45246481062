//! What Cap'n Proto messages of columns cost by the library alone, and what they cost here.
//!
//! ```text
//! cargo run --release -p brc-encodings --example capnp_floor -- measurements.txt [ROWS]
//! ```
//!
//! The library's loops write and read the same messages as this crate, without frames and checksums. Both sides get their
//! rows as codes and numbers, and add them up with the same loop; reading a file is not counted on either side. One thread,
//! medians, everything in one run.

#![forbid(unsafe_code)]

#[allow(warnings, clippy::all, clippy::pedantic, clippy::unwrap_used)]
#[path = "../src/capnp/table_capnp.rs"]
mod table_capnp;

use brc_compress::Compressor;
use brc_core::{Batch, Column, Dictionary, Error, PartEncoder, Result, ScanError, ScanOptions, Schema, Sink, Summary};
use brc_core::{Statistics, Values};
use brc_encodings::{CreateOptions, Encoding, Input, OpenOptions};
use capnp::message::{Builder, HeapAllocator, ReaderOptions};
use capnp::{serialize, serialize_packed, text};
use std::collections::{BTreeMap, HashMap};
use std::io::{Cursor, Write};
use std::path::Path;
use std::time::Instant;
use table_capnp::{column, entry, rows};

const RUNS: usize = 5;
const MESSAGE_ROWS: usize = 1 << 16;
const BATCH_ROWS: usize = 4096;

type Groups = BTreeMap<Vec<u8>, Statistics>;

/// Rows in memory.
struct Rows {
    names: Dictionary,
    codes: Vec<u32>,
    values: Vec<i16>,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = || Error::Usage("capnp_floor FILE [ROWS]".to_owned());
    let path = Path::new(arguments.first().ok_or_else(usage)?);
    let most = arguments.get(1).map_or(Ok(5_000_000), |rows| rows.parse()).map_err(|_| usage())?;
    let text = std::fs::read(path).map_err(Error::io(path, "read"))?;
    let rows = load(&text, most).ok_or_else(usage)?;
    drop(text);
    println!("{} rows, {} names; ns per row, median of {RUNS}\n", rows.codes.len(), rows.names.len());
    println!("{:<14} {:>8} {:>8} {:>8} {:>8}", "", "encode", "ours", "decode", "ours");
    for packed in [false, true] {
        let name = if packed { "capnp-packed" } else { "capnp" };
        let encoding = brc_encodings::by_name(name).ok_or_else(usage)?;
        let file = our_file(encoding, &rows)?;
        let mut expected: Option<Groups> = None;
        let mut times = [const { Vec::new() }; 4];
        for _ in 0..RUNS {
            let start = Instant::now();
            let messages = encode(&rows, packed).map_err(library)?;
            times[0].push(start.elapsed());
            let start = Instant::now();
            our_parts(encoding, &rows, |_| Ok(()))?;
            times[1].push(start.elapsed());
            let start = Instant::now();
            let groups = decode(&messages, packed).map_err(library)?;
            times[2].push(start.elapsed());
            let start = Instant::now();
            let ours = our_decode(encoding, &file)?;
            times[3].push(start.elapsed());
            let same = groups == ours && expected.is_none_or(|expected| expected == ours);
            expected = Some(groups);
            if !same {
                return Err(Error::Usage(format!("{name}: the groups are not those of the rows")));
            }
        }
        let nanoseconds = times.map(|mut times| {
            times.sort_unstable();
            times[RUNS / 2].as_secs_f64() * 1e9 / rows.codes.len() as f64
        });
        let [encode, our_encode, decode, our_decode] = nanoseconds;
        println!("{name:<14} {encode:>8.2} {our_encode:>8.2} {decode:>8.2} {our_decode:>8.2}");
    }
    Ok(())
}

fn library(error: capnp::Error) -> Error {
    Error::Usage(error.to_string())
}

/// The rows of the first lines of a text.
fn load(text: &[u8], most: usize) -> Option<Rows> {
    let mut known = HashMap::new();
    let mut rows = Rows { names: Dictionary::new(), codes: Vec::new(), values: Vec::new() };
    for line in text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).take(most) {
        let separator = line.iter().position(|&byte| byte == b';')?;
        let (name, number) = line.split_at(separator);
        rows.codes.push(*known.entry(name).or_insert_with(|| rows.names.push(name)));
        rows.values.push(brc_core::decimal::parse(&number[1..], 1).ok()?.try_into().ok()?);
    }
    Some(rows)
}

/// The library's messages.
fn encode(rows: &Rows, packed: bool) -> capnp::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(rows.codes.len() * 5);
    let mut places = vec![u32::MAX; rows.names.len()];
    for (codes, values) in rows.codes.chunks(MESSAGE_ROWS).zip(rows.values.chunks(MESSAGE_ROWS)) {
        places.fill(u32::MAX);
        let mut names = Vec::new();
        let mut local = Vec::with_capacity(codes.len());
        for &code in codes {
            let place = &mut places[code as usize];
            if *place == u32::MAX {
                *place = names.len() as u32;
                names.push(rows.names.get(code));
            }
            local.push(*place as u16);
        }
        let words = names.iter().map(|name| name.len() / 8 + 2).sum::<usize>() + codes.len() / 2 + 20;
        let mut message = Builder::new(HeapAllocator::new().first_segment_words(words as u32));
        let mut root = message.init_root::<entry::Builder<'_>>().init_rows();
        root.set_rows(codes.len() as u32);
        let mut columns = root.init_columns(2);
        let mut column = columns.reborrow().get(0).init_text();
        let mut strings = column.reborrow().init_dictionary(names.len() as u32);
        (0..).zip(&names).for_each(|(index, name)| strings.set(index, text::Reader(name)));
        if let Some(list) = column.init_codes(codes.len() as u32).as_slice() {
            list.copy_from_slice(&local);
        }
        if let Some(list) = columns.get(1).init_int16(codes.len() as u32).as_slice() {
            list.copy_from_slice(values);
        }
        if packed {
            serialize_packed::write_message(&mut out, &message)?;
        } else {
            serialize::write_message(&mut out, &message)?;
        }
    }
    Ok(out)
}

/// The groups of the library's messages.
fn decode(messages: &[u8], packed: bool) -> capnp::Result<Groups> {
    let mut groups = Groups::new();
    let mut rest = messages;
    let mut local = Vec::new();
    while !rest.is_empty() {
        if packed {
            let message = serialize_packed::read_message(&mut rest, ReaderOptions::new())?;
            add_message(message.get_root()?, &mut local, &mut groups)?;
        } else {
            let message = serialize::read_message_from_flat_slice(&mut rest, ReaderOptions::new())?;
            add_message(message.get_root()?, &mut local, &mut groups)?;
        }
    }
    Ok(groups)
}

fn add_message(entry: entry::Reader<'_>, local: &mut Vec<Group>, groups: &mut Groups) -> capnp::Result<()> {
    let entry::Rows(rows) = entry.which()? else { return Ok(()) };
    let rows: rows::Reader<'_> = rows?;
    let columns = rows.get_columns()?;
    let (column::Text(text), column::Int16(values)) = (columns.get(0).which()?, columns.get(1).which()?) else {
        return Ok(());
    };
    let dictionary = text.get_dictionary()?;
    let column::text::Codes(codes) = text.which()? else { return Ok(()) };
    local.clear();
    local.resize(dictionary.len() as usize, Group::default());
    let (codes, values) = (codes?, values?);
    let (Some(codes), Some(values)) = (codes.as_slice(), values.as_slice()) else { return Ok(()) };
    add(local, codes.iter().map(|&code| usize::from(code)), values);
    for (name, group) in dictionary.iter().zip(&*local) {
        let name = name?.as_bytes();
        match groups.get_mut(name) {
            Some(known) => known.merge(&group.statistics()),
            None => drop(groups.insert(name.to_vec(), group.statistics())),
        }
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Group {
    sum: i64,
    count: u32,
    min: i16,
    max: i16,
}

impl Default for Group {
    fn default() -> Self {
        Self { sum: 0, count: 0, min: i16::MAX, max: i16::MIN }
    }
}

impl Group {
    fn statistics(&self) -> Statistics {
        let (count, sum) = (self.count.into(), self.sum.into());
        Statistics { count, sum, min: self.min.into(), max: self.max.into() }
    }
}

#[inline(always)]
fn add(groups: &mut [Group], codes: impl Iterator<Item = usize>, values: &[i16]) {
    for (code, &value) in codes.zip(values) {
        let group = &mut groups[code];
        group.sum += i64::from(value);
        group.count += 1;
        group.min = group.min.min(value);
        group.max = group.max.max(value);
    }
}

fn writer(encoding: &dyn Encoding) -> Result<Box<dyn brc_core::BatchWriter>> {
    let options = CreateOptions { compression: Compressor::none(), key: None, separator: b';' };
    brc_encodings::writer(encoding, &Schema::one_brc(), &options)
}

fn our_parts(encoding: &dyn Encoding, rows: &Rows, mut take: impl FnMut(brc_core::Part) -> Result<()>) -> Result<()> {
    let mut encoder: Box<dyn PartEncoder> = writer(encoding)?.encoder();
    let part = 4 * MESSAGE_ROWS;
    for (codes, values) in rows.codes.chunks(part).zip(rows.values.chunks(part)) {
        for (codes, values) in codes.chunks(BATCH_ROWS).zip(values.chunks(BATCH_ROWS)) {
            let columns = [Column::Codes { codes, dictionary: &rows.names }, Column::Values(Values::I16(values))];
            encoder.batch(&Batch { rows: codes.len(), columns: &columns })?;
        }
        take(encoder.finish()?)?;
    }
    Ok(())
}

/// A file of the rows.
fn our_file(encoding: &dyn Encoding, rows: &Rows) -> Result<std::fs::File> {
    let path = Path::new("temporary file");
    let mut writer = writer(encoding)?;
    let mut file = tempfile::tempfile().map_err(Error::io(path, "make"))?;
    let mut bytes = writer.start();
    our_parts(encoding, rows, |mut part| {
        writer.append(&mut part)?;
        bytes.append(&mut part.bytes);
        Ok(())
    })?;
    bytes.extend(writer.finish()?);
    std::io::copy(&mut Cursor::new(bytes), &mut file).map_err(Error::io(path, "write"))?;
    file.flush().map_err(Error::io(path, "write"))?;
    Ok(file)
}

#[derive(Default)]
struct Adder {
    groups: Vec<Group>,
    names: Vec<Vec<u8>>,
}

impl Sink for Adder {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        if let [Column::Codes { codes, dictionary }, Column::Values(Values::I16(values))] = batch.columns {
            if dictionary.len() > self.names.len() {
                self.names.extend(dictionary.iter().skip(self.names.len()).map(<[u8]>::to_vec));
                self.groups.resize(dictionary.len(), Group::default());
            }
            add(&mut self.groups, codes.iter().map(|&code| code as usize), values);
        }
        Ok(())
    }

    fn summary(&mut self, _: &Summary<'_>) -> Result<()> {
        Ok(())
    }
}

fn our_decode(encoding: &dyn Encoding, file: &std::fs::File) -> Result<Groups> {
    let path = Path::new("temporary file");
    let file = file.try_clone().map_err(Error::io(path, "open"))?;
    let table = encoding.open(Input::from_file(path.to_owned(), file)?, &OpenOptions::default())?;
    let mut scanner = table.scanner(&ScanOptions::everything(table.schema()))?;
    let mut adder = Adder::default();
    for index in 0.. {
        let Some(split) = table.split(index) else { break };
        scanner.scan(&split, &mut adder).map_err(|error| match error {
            ScanError::Other(error) => error,
            ScanError::BadRow { .. } => Error::Usage("a row is bad".to_owned()),
        })?;
    }
    Ok(adder.names.into_iter().zip(adder.groups.iter().map(Group::statistics)).collect())
}
