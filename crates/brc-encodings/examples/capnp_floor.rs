//! The cost of Cap'n Proto messages of columns with the library alone, and with this crate.
//!
//! ```text
//! cargo run --release -p brc-encodings --example capnp_floor -- measurements.txt [ROWS]
//! ```
//!
//! `library_floor` compares with the loops of a plain program. The loops here are as fast as possible: they know the
//! codes of the rows that they write, and add up by the codes of each message without checking them. This crate writes
//! and reads the same messages, with frames and checksums, checks what it reads, translates the codes of messages to
//! those of the table, and adds up as a query does. Reading the file is not included on either side. One thread,
//! medians, everything in one run.

#![forbid(unsafe_code)]

#[allow(warnings, clippy::all, clippy::pedantic, clippy::unwrap_used)]
#[path = "../src/capnp/table_capnp.rs"]
mod table_capnp;

#[path = "shared/mod.rs"]
mod shared;

use brc_core::{Error, Result, Statistics};
use capnp::message::{Builder, HeapAllocator, ReaderOptions};
use capnp::{serialize, serialize_packed, text};
use shared::adder::Adder;
use shared::rows::{Groups, Rows};
use shared::{RUNS, medians, ours};
use std::path::Path;
use std::time::Instant;
use table_capnp::{column, entry, rows};

const MESSAGE_ROWS: usize = 1 << 16;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = || Error::Usage("capnp_floor FILE [ROWS]".to_owned());
    let path = arguments.first().ok_or_else(usage)?;
    let max_rows = arguments.get(1).map_or(Ok(5_000_000), |rows| rows.parse()).map_err(|_| usage())?;
    let rows = Rows::load(Path::new(path), max_rows)?;
    let expected = rows.groups();
    println!("{} rows, {} names; ns per row, median of {RUNS}\n", rows.len(), expected.len());
    println!("{:<14} {:>8} {:>8} {:>8} {:>8}", "", "encode", "ours", "decode", "ours");
    for packed in [false, true] {
        let name = if packed { "capnp-packed" } else { "capnp" };
        let encoding = brc_encodings::by_name(name).ok_or_else(usage)?;
        let file = ours::file(encoding, &rows)?;
        let times = medians(rows.len(), || {
            let start = Instant::now();
            let messages = encode(&rows, packed).map_err(library)?;
            let encode = start.elapsed();

            let our_encode = ours::encode(encoding, &rows)?;

            let start = Instant::now();
            let groups = decode(&messages, packed).map_err(library)?;
            let decode = start.elapsed();

            let mut adder = Adder::new();
            let our_decode = ours::decode(encoding, &file, &mut adder)?;
            if groups == expected && adder.groups() == expected {
                Ok([encode, our_encode, decode, our_decode])
            } else {
                Err(Error::Usage(format!("{name}: the groups are not those of the rows")))
            }
        });
        let [encode, our_encode, decode, our_decode] = times?;
        println!("{name:<14} {encode:>8.2} {our_encode:>8.2} {decode:>8.2} {our_decode:>8.2}");
    }
    Ok(())
}

fn library(error: capnp::Error) -> Error {
    Error::Usage(error.to_string())
}

/// The library's messages.
fn encode(rows: &Rows, packed: bool) -> capnp::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(rows.codes.len() * 5);
    let mut local_codes = vec![u32::MAX; rows.names.len()];
    for (codes, values) in rows.codes.chunks(MESSAGE_ROWS).zip(rows.values.chunks(MESSAGE_ROWS)) {
        local_codes.fill(u32::MAX);
        let mut names = Vec::new();
        let mut local = Vec::with_capacity(codes.len());
        for &code in codes {
            let code_in_message = &mut local_codes[code as usize];
            if *code_in_message == u32::MAX {
                *code_in_message = names.len() as u32;
                names.push(rows.names.get(code));
            }
            local.push(*code_in_message as u16);
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

/// The groups in the library's messages.
fn decode(messages: &[u8], packed: bool) -> capnp::Result<Groups> {
    let mut groups = Groups::default();
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
    add(local, codes, values);
    for (name, group) in dictionary.iter().zip(&*local) {
        let name = name?.to_str()?;
        match groups.get_mut(name) {
            Some(known) => known.merge(&group.statistics()),
            None => drop(groups.insert(name.to_owned(), group.statistics())),
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

fn add(groups: &mut [Group], codes: &[u16], values: &[i16]) {
    for (&code, &value) in codes.iter().zip(values) {
        let group = &mut groups[usize::from(code)];
        group.sum += i64::from(value);
        group.count += 1;
        group.min = group.min.min(value);
        group.max = group.max.max(value);
    }
}
