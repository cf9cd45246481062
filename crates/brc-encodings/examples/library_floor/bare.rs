//! The libraries' own loops: only what is needed to write and read rows with them.

use crate::columns;
use crate::messages;
use crate::shared::rows::{Groups, add};
use bincode::Options;
use minicbor::{Decoder, Encoder};
use prost::encoding::{WireType, decode_key, decode_varint, encode_key, encode_varint, encoded_len_varint, sint64};
use rmp::decode::{self, Bytes};
use rmp::encode;

/// One library.
pub(crate) struct Bare {
    /// The encoding's name.
    pub(crate) name: &'static str,
    /// Appends rows.
    pub(crate) encode: fn(&[(&str, i64)], &mut Vec<u8>),
    /// The groups of the rows; `None` if they are malformed.
    pub(crate) decode: fn(&[u8]) -> Option<Groups>,
}

pub(crate) static LIBRARIES: &[Bare] = &[
    Bare { name: "parquet", encode: columns::encode_parquet, decode: columns::decode_parquet },
    Bare { name: "arrow", encode: columns::encode_arrow, decode: columns::decode_arrow },
    Bare { name: "capnp", encode: messages::encode_plain, decode: messages::decode_plain },
    Bare { name: "capnp-packed", encode: messages::encode_packed, decode: messages::decode_packed },
    Bare { name: "json", encode: encode_json, decode: decode_json },
    Bare { name: "csv", encode: encode_text, decode: decode_text },
    Bare { name: "bincode", encode: encode_bincode, decode: decode_bincode },
    Bare { name: "msgpack", encode: encode_msgpack, decode: decode_msgpack },
    Bare { name: "cbor", encode: encode_cbor, decode: decode_cbor },
    Bare { name: "protobuf", encode: encode_protobuf, decode: decode_protobuf },
];

/// For writes to memory, which cannot fail.
fn written<T, E>(outcome: Result<T, E>) {
    assert!(outcome.is_ok(), "memory was not written");
}

fn encode_text(rows: &[(&str, i64)], out: &mut Vec<u8>) {
    for &(name, value) in rows {
        out.extend_from_slice(name.as_bytes());
        out.push(b';');
        if value < 0 {
            out.push(b'-');
        }
        let tenths = value.unsigned_abs();
        if tenths >= 100 {
            out.push(b'0' + (tenths / 100 % 10) as u8);
        }
        out.extend_from_slice(&[b'0' + (tenths / 10 % 10) as u8, b'.', b'0' + (tenths % 10) as u8, b'\n']);
    }
}

fn decode_text(bytes: &[u8]) -> Option<Groups> {
    let mut groups = Groups::default();
    let mut rest = bytes;
    while !rest.is_empty() {
        let delimiter = memchr::memchr(b';', rest)?;
        let (name, after) = rest.split_at(delimiter);
        let end = memchr::memchr(b'\n', after)?;
        let digits = |value: i64, byte: &u8| if *byte == b'.' { value } else { value * 10 + i64::from(byte - b'0') };
        let value = match &after[1..end] {
            [b'-', number @ ..] => -number.iter().fold(0, digits),
            number => number.iter().fold(0, digits),
        };
        add(&mut groups, std::str::from_utf8(name).ok()?, value);
        rest = &after[end + 1..];
    }
    Some(groups)
}

/// A row for serde. Numbers are floats, as in a plain program.
#[derive(serde::Serialize, serde::Deserialize)]
struct Row<'a> {
    station: &'a str,
    temperature: f64,
}

fn encode_json(rows: &[(&str, i64)], out: &mut Vec<u8>) {
    for &(station, value) in rows {
        written(serde_json::to_writer(&mut *out, &Row { station, temperature: value as f64 / 10.0 }));
        out.push(b'\n');
    }
}

fn decode_json(bytes: &[u8]) -> Option<Groups> {
    let mut groups = Groups::default();
    let mut rest = bytes;
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest)?;
        let row: Row<'_> = serde_json::from_slice(&rest[..end]).ok()?;
        add(&mut groups, row.station, (row.temperature * 10.0).round() as i64);
        rest = &rest[end + 1..];
    }
    Some(groups)
}

fn encode_bincode(rows: &[(&str, i64)], out: &mut Vec<u8>) {
    let options = bincode::DefaultOptions::new().with_fixint_encoding();
    for row in rows {
        written(options.serialize_into(&mut *out, row));
    }
}

fn decode_bincode(bytes: &[u8]) -> Option<Groups> {
    let options = bincode::DefaultOptions::new().with_fixint_encoding().allow_trailing_bytes();
    let mut groups = Groups::default();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (name, value): (&str, i64) = options.deserialize(rest).ok()?;
        rest = &rest[8 + name.len() + 8..];
        add(&mut groups, name, value);
    }
    Some(groups)
}

fn encode_msgpack(rows: &[(&str, i64)], out: &mut Vec<u8>) {
    for &(name, value) in rows {
        written(encode::write_array_len(out, 2));
        written(encode::write_str(out, name));
        written(encode::write_sint(out, value));
    }
}

fn decode_msgpack(bytes: &[u8]) -> Option<Groups> {
    let mut groups = Groups::default();
    let mut reader = Bytes::new(bytes);
    while !reader.remaining_slice().is_empty() {
        decode::read_array_len(&mut reader).ok()?;
        let (name, rest) = decode::read_str_from_slice(reader.remaining_slice()).ok()?;
        reader = Bytes::new(rest);
        let value = decode::read_int(&mut reader).ok()?;
        add(&mut groups, name, value);
    }
    Some(groups)
}

fn encode_cbor(rows: &[(&str, i64)], out: &mut Vec<u8>) {
    let mut encoder = Encoder::new(out);
    for &(name, value) in rows {
        written(
            encoder.array(2).and_then(|encoder| encoder.str(name)).and_then(|encoder| encoder.i64(value)).map(drop),
        );
    }
}

fn decode_cbor(bytes: &[u8]) -> Option<Groups> {
    let mut groups = Groups::default();
    let mut decoder = Decoder::new(bytes);
    while decoder.position() < bytes.len() {
        decoder.array().ok()?;
        let name = decoder.str().ok()?;
        let value = decoder.i64().ok()?;
        add(&mut groups, name, value);
    }
    Some(groups)
}

/// Like the generated code for a message of two fields.
fn encode_protobuf(rows: &[(&str, i64)], out: &mut Vec<u8>) {
    for &(name, value) in rows {
        let text = 1 + encoded_len_varint(name.len() as u64) + name.len();
        let number = if value == 0 { 0 } else { sint64::encoded_len(2, &value) };
        encode_varint((text + number) as u64, out);
        encode_key(1, WireType::LengthDelimited, out);
        encode_varint(name.len() as u64, out);
        out.extend_from_slice(name.as_bytes());
        if value != 0 {
            sint64::encode(2, &value, out);
        }
    }
}

/// With the functions that generated code uses, but without its copies of strings.
fn decode_protobuf(bytes: &[u8]) -> Option<Groups> {
    let mut groups = Groups::default();
    let mut rest = bytes;
    while !rest.is_empty() {
        let length = decode_varint(&mut rest).ok()?;
        let (mut row, after) = rest.split_at_checked(length as usize)?;
        let (mut name, mut value) = ("", 0);
        while !row.is_empty() {
            match decode_key(&mut row).ok()? {
                (1, WireType::LengthDelimited) => {
                    let length = decode_varint(&mut row).ok()?;
                    let (text, after) = row.split_at_checked(length as usize)?;
                    name = std::str::from_utf8(text).ok()?;
                    row = after;
                }
                (2, WireType::Varint) => {
                    let zigzag = decode_varint(&mut row).ok()?;
                    value = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
                }
                _ => return None,
            }
        }
        add(&mut groups, name, value);
        rest = after;
    }
    Some(groups)
}
