//! The loops of Cap'n Proto's library for messages of columns: strings in a dictionary, 16-bit numbers.

use crate::shared::rows::{Groups, add};
use crate::table_capnp::{column, entry, rows};
use capnp::message::{Builder, HeapAllocator, ReaderOptions};
use capnp::{serialize, serialize_packed, text};
use hashbrown::HashMap;

/// Rows per message.
const MESSAGE_ROWS: usize = 1 << 16;

pub(crate) fn encode_plain(rows: &[(&str, i64)], out: &mut Vec<u8>) {
    for rows in rows.chunks(MESSAGE_ROWS) {
        assert!(serialize::write_message(&mut *out, &message(rows)).is_ok(), "memory was not written");
    }
}

pub(crate) fn encode_packed(rows: &[(&str, i64)], out: &mut Vec<u8>) {
    for rows in rows.chunks(MESSAGE_ROWS) {
        assert!(serialize_packed::write_message(&mut *out, &message(rows)).is_ok(), "memory was not written");
    }
}

fn message(rows: &[(&str, i64)]) -> Builder<HeapAllocator> {
    let mut codes_by_name = HashMap::<&str, u16, foldhash::fast::RandomState>::default();
    let mut names = Vec::new();
    let mut message = Builder::new(HeapAllocator::new().first_segment_words(rows.len() as u32));
    let mut root = message.init_root::<entry::Builder<'_>>().init_rows();
    root.set_rows(rows.len() as u32);
    let mut columns = root.init_columns(2);
    let mut list = columns.reborrow().get(1).init_int16(rows.len() as u32);
    (0..).zip(rows).for_each(|(index, (_, value))| list.set(index, *value as i16));
    let mut column = columns.get(0).init_text();
    let mut codes = column.reborrow().init_codes(rows.len() as u32);
    for (index, (name, _)) in (0..).zip(rows) {
        let code = *codes_by_name.entry(name).or_insert_with(|| {
            names.push(*name);
            names.len() as u16 - 1
        });
        codes.set(index, code);
    }
    let mut dictionary = column.init_dictionary(names.len() as u32);
    (0..).zip(names).for_each(|(index, name)| dictionary.set(index, text::Reader(name.as_bytes())));
    message
}

pub(crate) fn decode_plain(bytes: &[u8]) -> Option<Groups> {
    let (mut groups, mut rest) = (Groups::default(), bytes);
    while !rest.is_empty() {
        let message = serialize::read_message_from_flat_slice(&mut rest, ReaderOptions::new()).ok()?;
        add_rows(message.get_root().ok()?, &mut groups)?;
    }
    Some(groups)
}

pub(crate) fn decode_packed(bytes: &[u8]) -> Option<Groups> {
    let (mut groups, mut rest) = (Groups::default(), bytes);
    while !rest.is_empty() {
        let message = serialize_packed::read_message(&mut rest, ReaderOptions::new()).ok()?;
        add_rows(message.get_root().ok()?, &mut groups)?;
    }
    Some(groups)
}

fn add_rows(entry: entry::Reader<'_>, groups: &mut Groups) -> Option<()> {
    let entry::Rows(rows) = entry.which().ok()? else { return None };
    let rows: rows::Reader<'_> = rows.ok()?;
    let columns = rows.get_columns().ok()?;
    let (Ok(column::Text(text)), Ok(column::Int16(values))) = (columns.get(0).which(), columns.get(1).which()) else {
        return None;
    };
    let dictionary = text.get_dictionary().ok()?;
    let Ok(column::text::Codes(codes)) = text.which() else { return None };
    for (code, value) in codes.ok()?.iter().zip(values.ok()?) {
        add(groups, dictionary.get(code.into()).ok()?.to_str().ok()?, value.into());
    }
    Some(())
}
