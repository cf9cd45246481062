//! Strings as they lie in buffers.

use super::buffers::Buffers;
use super::types::Stored;
use crate::columnar::Fault;
use std::ops::Range;

/// The longest string that lies in its view.
const SHORT: usize = 12;

/// Calls `each` with the strings of some rows.
pub(super) fn for_each(
    buffers: &Buffers,
    stored: Stored,
    rows: Range<usize>,
    mut each: impl FnMut(&[u8]),
) -> Result<(), Fault> {
    let data = buffers.bytes(1);
    let mut between = |start: Option<usize>, end: Option<usize>| {
        let value = start.zip(end).and_then(|(start, end)| data.get(start..end));
        value.map(&mut each).ok_or_else(outside)
    };
    match stored {
        Stored::Strings => {
            let ends = buffers.values::<i32>(rows.start..rows.end + usize::from(!rows.is_empty()));
            for pair in ends.windows(2) {
                between(usize::try_from(pair[0]).ok(), usize::try_from(pair[1]).ok())?;
            }
        }
        Stored::LongStrings => {
            let ends = buffers.values::<i64>(rows.start..rows.end + usize::from(!rows.is_empty()));
            for pair in ends.windows(2) {
                between(usize::try_from(pair[0]).ok(), usize::try_from(pair[1]).ok())?;
            }
        }
        Stored::Views => {
            for view in buffers.values::<i128>(rows) {
                each(viewed(buffers, &view.to_le_bytes())?);
            }
        }
        Stored::Integers(_) | Stored::Wide => return Err(Fault::corrupt("numbers where strings belong")),
    }
    Ok(())
}

fn viewed<'a>(buffers: &'a Buffers, view: &'a [u8; 16]) -> Result<&'a [u8], Fault> {
    let word =
        |at: usize| view.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |word| u32::from_le_bytes(*word)) as usize;
    let length = word(0);
    if length <= SHORT {
        return view.get(4..4 + length).ok_or_else(outside);
    }
    let (buffer, start) = (word(8), word(12));
    // The views themselves are the first buffer.
    let data = if buffer + 1 < buffers.len() { buffers.bytes(buffer + 1) } else { return Err(outside()) };
    data.get(start..).and_then(|rest| rest.get(..length)).ok_or_else(outside)
}

fn outside() -> Fault {
    Fault::corrupt("a string is not inside its buffer")
}
