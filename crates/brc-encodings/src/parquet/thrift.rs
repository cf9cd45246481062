//! The subset of Thrift's compact protocol that page headers need, and a walk over any structure before a library
//! parses it.
//!
//! Libraries allocate whatever length a list declares. The walk rejects every length that the input cannot hold.

use crate::columnar::Fault;
use crate::varint;
use std::borrow::Cow;
use std::ops::Range;

/// The maximum nesting of structures: a footer needs eight levels.
const MAX_NESTING: usize = 24;

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;
const UUID: u8 = 13;

/// Walks over the structure at the start of `bytes` and returns its length. `visit` gets every integer and bool that is
/// not in a list, with the path of field numbers to it.
///
/// # Errors
/// If the structure is incomplete or malformed.
pub(super) fn walk(bytes: &[u8], visit: &mut dyn FnMut(&[i16], i64)) -> Result<usize, Fault> {
    let mut walk = Walk { bytes, at: 0, path: Vec::new(), lists: 0, visit, is_cut: &mut |_| false, cuts: Vec::new() };
    walk.structure()?;
    Ok(walk.at)
}

/// The length of the signature after a footer whose columns are encrypted but which is not.
const SIGNATURE: usize = 28;

/// The footer in `bytes` without the fields for which `is_cut` holds. It gets the path of field numbers to each field,
/// in order. In each structure, the cut fields must be the last ones.
///
/// # Errors
/// If the footer is incomplete or malformed, or other bytes follow it: damage that looks like its end cuts it off.
pub(super) fn without<'a>(bytes: &'a [u8], is_cut: &mut dyn FnMut(&[i16]) -> bool) -> Result<Cow<'a, [u8]>, Fault> {
    let mut walk = Walk { bytes, at: 0, path: Vec::new(), lists: 0, visit: &mut |_, _| {}, is_cut, cuts: Vec::new() };
    walk.structure()?;
    if ![0, SIGNATURE].contains(&(bytes.len() - walk.at)) {
        return Err(Fault::corrupt("it ends before its stated length"));
    }
    let cuts = walk.cuts;
    if cuts.is_empty() {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut kept = Vec::with_capacity(bytes.len());
    let mut start = 0;
    for cut in cuts {
        kept.extend_from_slice(&bytes[start..cut.start]);
        start = cut.end;
    }
    kept.extend_from_slice(&bytes[start..]);
    Ok(Cow::Owned(kept))
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    path: Vec<i16>,
    /// The nesting depth of lists.
    lists: usize,
    visit: &'a mut dyn FnMut(&[i16], i64),
    is_cut: &'a mut dyn FnMut(&[i16]) -> bool,
    /// The ranges of the cut fields.
    cuts: Vec<Range<usize>>,
}

impl Walk<'_> {
    fn structure(&mut self) -> Result<(), Fault> {
        if self.path.len() + self.lists > MAX_NESTING {
            return Err(Fault::corrupt("structures are nested too deeply"));
        }
        let mut field = 0i16;
        loop {
            let start = self.at;
            let header = self.byte()?;
            if header == 0 {
                return Ok(());
            }
            field = match header >> 4 {
                0 => i16::try_from(self.zigzag()?).map_err(|_| Fault::corrupt("a field number is too large"))?,
                delta => field.wrapping_add(i16::from(delta)),
            };
            self.path.push(field);
            match header & 15 {
                TRUE => self.found(1),
                FALSE => self.found(0),
                kind => self.value(kind)?,
            }
            if (self.is_cut)(&self.path) {
                // Cuts inside a field that is itself cut are redundant.
                self.cuts.retain(|cut| cut.start < start);
                self.cuts.push(start..self.at);
            }
            self.path.pop();
        }
    }

    fn found(&mut self, value: i64) {
        if self.lists == 0 {
            (self.visit)(&self.path, value);
        }
    }

    fn value(&mut self, kind: u8) -> Result<(), Fault> {
        match kind {
            TRUE | FALSE | BYTE => self.skip(1),
            I16 | I32 | I64 => {
                let value = self.zigzag()?;
                self.found(value);
                Ok(())
            }
            DOUBLE => self.skip(8),
            UUID => self.skip(16),
            BINARY => {
                let length = self.varint()?;
                self.skip(length)
            }
            LIST | SET => self.list(),
            MAP => self.map(),
            STRUCT => self.structure(),
            _ => Err(Fault::corrupt("a field has an unknown type")),
        }
    }

    fn list(&mut self) -> Result<(), Fault> {
        let header = self.byte()?;
        let size = match header >> 4 {
            15 => self.varint()?,
            size => u64::from(size),
        };
        self.elements(size, &[header & 15])
    }

    fn map(&mut self) -> Result<(), Fault> {
        let size = self.varint()?;
        if size == 0 {
            return Ok(());
        }
        let kinds = self.byte()?;
        self.elements(size, &[kinds >> 4, kinds & 15])
    }

    fn elements(&mut self, size: u64, kinds: &[u8]) -> Result<(), Fault> {
        // Each element takes at least one byte.
        if size > (self.bytes.len() - self.at) as u64 {
            return Err(Fault::corrupt("a list is longer than what holds it"));
        }
        self.lists += 1;
        if self.lists > MAX_NESTING {
            return Err(Fault::corrupt("structures are nested too deeply"));
        }
        for _ in 0..size {
            for &kind in kinds {
                self.value(kind)?;
            }
        }
        self.lists -= 1;
        Ok(())
    }

    fn byte(&mut self) -> Result<u8, Fault> {
        let byte = self.bytes.get(self.at).copied().ok_or_else(cut_off)?;
        self.at += 1;
        Ok(byte)
    }

    fn skip(&mut self, length: u64) -> Result<(), Fault> {
        if length > (self.bytes.len() - self.at) as u64 {
            return Err(cut_off());
        }
        self.at += length as usize;
        Ok(())
    }

    fn varint(&mut self) -> Result<u64, Fault> {
        let mut rest = &self.bytes[self.at..];
        let value = varint::take(&mut rest).ok_or_else(bad_number)?;
        self.at = self.bytes.len() - rest.len();
        Ok(value)
    }

    fn zigzag(&mut self) -> Result<i64, Fault> {
        self.varint().map(varint::unzigzag)
    }
}

/// The error for a number that ends too early or is too long.
pub(super) fn bad_number() -> Fault {
    Fault::corrupt("a number is cut off or too long")
}

fn cut_off() -> Fault {
    Fault::corrupt("it ends too early")
}

/// Writes a structure of integers and structures of integers.
#[derive(Default)]
pub(super) struct Structure {
    bytes: Vec<u8>,
    last: i16,
}

impl Structure {
    /// Adds an integer; fields come in ascending order.
    pub(super) fn integer(mut self, field: i16, value: i32) -> Self {
        self.header(field, I32);
        varint::push(varint::zigzag(value.into()), &mut self.bytes);
        self
    }

    /// Adds a structure.
    pub(super) fn structure(mut self, field: i16, inner: Self) -> Self {
        self.header(field, STRUCT);
        self.bytes.extend_from_slice(&inner.finish());
        self
    }

    /// The bytes of the structure.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }

    fn header(&mut self, field: i16, kind: u8) {
        debug_assert!((1..16).contains(&(field - self.last)), "fields come in order, without large gaps");
        self.bytes.push(((field - self.last) as u8) << 4 | kind);
        self.last = field;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Integers = Vec<(Vec<i16>, i64)>;

    fn integers(bytes: &[u8]) -> Result<(usize, Integers), Fault> {
        let mut found = Vec::new();
        let length = walk(bytes, &mut |path, value| found.push((path.to_vec(), value)))?;
        Ok((length, found))
    }

    #[test]
    fn written_structures_are_walked() {
        let inner = Structure::default().integer(1, -1).integer(4, i32::MIN);
        let mut bytes = Structure::default().integer(2, 300).structure(5, inner).integer(6, i32::MAX).finish();
        let length = bytes.len();
        bytes.push(7);
        let expected = [(vec![2], 300), (vec![5, 1], -1), (vec![5, 4], i32::MIN.into()), (vec![6], i32::MAX.into())];
        assert_eq!(integers(&bytes).unwrap(), (length, expected.to_vec()));
        for end in 0..length {
            assert!(integers(&bytes[..end]).is_err());
        }
    }

    #[test]
    fn fields_are_cut() {
        let inner = |more| {
            let kept = Structure::default().integer(1, -1).integer(4, 5);
            if more { kept.integer(13, 7).structure(15, Structure::default().integer(1, 9)) } else { kept }
        };
        let whole = |more| Structure::default().integer(2, 300).structure(5, inner(more)).integer(6, 1).finish();
        let cut = &mut |path: &[i16]| matches!(path, [5, field] if *field > 12);
        assert_eq!(without(&whole(true), cut).unwrap(), whole(false));
        assert!(matches!(without(&whole(false), cut).unwrap(), Cow::Borrowed(_)));
        let cut_off = &whole(true)[..whole(true).len() - 1];
        assert!(without(cut_off, cut).is_err());
    }

    #[test]
    fn forged_sizes_are_rejected() {
        // A list of 2³¹ structures, a binary of 2³¹ bytes, a map of 2³¹ pairs.
        for field in [&[0x19, 0xfc][..], &[0x18], &[0x1b]] {
            let mut bytes = field.to_vec();
            varint::push(1 << 31, &mut bytes);
            bytes.extend([0; 100]);
            assert!(integers(&bytes).is_err());
        }
        assert!(integers(&[0x1c; 1000]).is_err(), "depth");
        assert!(integers(&[0x19; 1000]).is_err(), "depth of lists");
    }

    proptest! {
        #[test]
        fn any_bytes_are_walked_or_rejected(bytes: Vec<u8>) {
            if let Ok((length, _)) = integers(&bytes) {
                prop_assert!(length <= bytes.len());
            }
        }
    }
}
