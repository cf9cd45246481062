//! Parquet's delta encodings, which `brc` does not write but other programs do.

use crate::columnar::Fault;

/// The most values of a page that is decoded as a whole: a forged count allocates no more than these.
pub(super) const MOST: usize = 16 << 20;

/// Decodes integers that are stored as differences, packed in blocks. Returns how many bytes they took.
pub(super) fn integers(bytes: &[u8], values: usize, out: &mut Vec<i64>) -> Result<usize, Fault> {
    let mut input = Input { bytes, at: 0 };
    let (block, parts, count) = (input.number()?, input.number()?, input.number()?);
    let mut value = input.signed()?;
    let per_part = block.checked_div(parts).unwrap_or(0);
    if per_part == 0 || per_part * parts != block || !per_part.is_multiple_of(8) {
        return Err(Fault::corrupt("a block of differences has no shape"));
    }
    if count > values.min(MOST) {
        return Err(Fault::corrupt("there are more differences than values in a page"));
    }
    out.clear();
    out.reserve(count);
    if count > 0 {
        out.push(value);
    }
    while out.len() < count {
        let least = input.signed()?;
        let widths = input.take(parts)?;
        for &width in widths {
            let wanted = (count - out.len()).min(per_part);
            if wanted == 0 {
                break;
            }
            let width = usize::from(width);
            let packed = per_part.checked_mul(width).map(|bits| bits / 8).ok_or_else(cut_off)?;
            let packed = input.take(packed)?;
            for index in 0..wanted {
                value = value.wrapping_add(least).wrapping_add(bits(packed, index * width, width)? as i64);
                out.push(value);
            }
        }
    }
    Ok(input.at)
}

/// Calls `each` with every string whose length is stored as a difference from the one before.
pub(super) fn strings(bytes: &[u8], values: usize, mut each: impl FnMut(&[u8])) -> Result<(), Fault> {
    let mut lengths = Vec::new();
    let mut at = integers(bytes, values, &mut lengths)?;
    for length in lengths {
        let value = slice(bytes, at, length)?;
        at += value.len();
        each(value);
    }
    Ok(())
}

/// Calls `each` with every string that is stored as what it shares with the one before, and the rest.
pub(super) fn shared_strings(bytes: &[u8], values: usize, mut each: impl FnMut(&[u8])) -> Result<(), Fault> {
    let mut shared = Vec::new();
    let at = integers(bytes, values, &mut shared)?;
    let (mut value, mut shared, mut fits) = (Vec::new(), shared.into_iter(), true);
    strings(bytes.get(at..).unwrap_or_default(), values, |rest| {
        let keep = shared.next().and_then(|keep| usize::try_from(keep).ok()).filter(|keep| *keep <= value.len());
        fits &= keep.is_some();
        value.truncate(keep.unwrap_or(0));
        value.extend_from_slice(rest);
        each(&value);
    })?;
    if fits { Ok(()) } else { Err(Fault::corrupt("a string shares more than there is with the one before")) }
}

fn slice(bytes: &[u8], at: usize, length: i64) -> Result<&[u8], Fault> {
    let length = usize::try_from(length).map_err(|_| cut_off())?;
    bytes.get(at..).and_then(|rest| rest.get(..length)).ok_or_else(cut_off)
}

fn cut_off() -> Fault {
    Fault::corrupt("a page ends before its last value")
}

/// The `width` bits from a place on.
fn bits(packed: &[u8], at: usize, width: usize) -> Result<u64, Fault> {
    if width == 0 {
        return Ok(0);
    }
    let mut window = [0; 16];
    let stored = packed.get(at / 8..(at + width).div_ceil(8)).filter(|_| width <= 64).ok_or_else(cut_off)?;
    window[..stored.len()].copy_from_slice(stored);
    Ok((u128::from_le_bytes(window) >> (at % 8)) as u64 & (u64::MAX >> (64 - width)))
}

struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    fn varint(&mut self) -> Result<u64, Fault> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or_else(cut_off)?;
            self.at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Fault::corrupt("a number is too long"))
    }

    fn number(&mut self) -> Result<usize, Fault> {
        let number = u32::try_from(self.varint()?);
        number.map(|number| number as usize).map_err(|_| Fault::corrupt("a count is too large"))
    }

    fn signed(&mut self) -> Result<i64, Fault> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.get(..length)).ok_or_else(cut_off)?;
        self.at += length;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The examples of the format's description: blocks of 8 are not allowed there, but their shape is the same.
    #[test]
    fn the_examples_of_the_format() {
        // 7, 5, 3, 1, 2, 3, 4, 5: first 7, least difference -2, two bits each.
        let bytes = [8, 1, 8, 14, 3, 2, 0xc0, 0x3f];
        let mut out = Vec::new();
        assert_eq!(integers(&bytes, 8, &mut out).unwrap(), 8);
        assert_eq!(out, [7, 5, 3, 1, 2, 3, 4, 5]);
        assert!(integers(&bytes, 7, &mut out).is_err(), "more than the page has");
        for end in 0..8 {
            assert!(integers(&bytes[..end], 8, &mut out).is_err());
        }
    }

    #[test]
    fn strings_of_both_kinds() {
        // Lengths 5, 5, 6 and 6 of Hello World Foobar ABCDEF.
        let lengths = [8, 1, 4, 10, 0, 1, 0b10];
        let mut bytes = lengths.to_vec();
        bytes.extend_from_slice(b"HelloWorldFoobarABCDEF");
        let mut found = Vec::new();
        strings(&bytes, 4, |value| found.push(String::from_utf8(value.to_vec()).unwrap())).unwrap();
        assert_eq!(found, ["Hello", "World", "Foobar", "ABCDEF"]);
        assert!(strings(&bytes[..28], 4, |_| {}).is_err());
        // axis, axle: they share 0 and 2 bytes; what follows is 4 and 2 long.
        let mut shared = vec![8, 1, 2, 0, 4, 0];
        shared.extend_from_slice(&[8, 1, 2, 8, 3, 0]);
        shared.extend_from_slice(b"axisle");
        found.clear();
        shared_strings(&shared, 2, |value| found.push(String::from_utf8(value.to_vec()).unwrap())).unwrap();
        assert_eq!(found, ["axis", "axle"]);
        shared[4] = 60;
        assert!(shared_strings(&shared, 2, |_| {}).is_err(), "shares more than there is");
    }

    proptest! {
        #[test]
        fn any_bytes_are_refused_or_decoded(bytes: Vec<u8>, values in 0usize..1000) {
            let _ = integers(&bytes, values, &mut Vec::new());
            let _ = strings(&bytes, values, |_| {});
            let _ = shared_strings(&bytes, values, |_| {});
        }
    }
}
