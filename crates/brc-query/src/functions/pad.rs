//! What `lpad` and `rpad` have in common.

use super::{Bound, Mismatch, count, integer, length, string, substr};
use crate::functions::typed::Typed;
use crate::values::text::Text;
use brc_core::LogicalType;

/// Fills strings up at their start or at their end.
pub(super) fn bound(arguments: &[Typed], usage: &str, at_start: bool) -> Result<Bound, Mismatch> {
    count(arguments, 2..=3, usage)?;
    string(arguments, 0)?;
    integer(arguments, 1)?;
    let has_fill = arguments.len() > 2;
    if has_fill {
        string(arguments, 2)?;
    }
    Ok(Bound::new(LogicalType::String, move |views, rows| {
        rows.strings(|row, out| {
            let fill = if has_fill { views[2].bytes(row) } else { b" " };
            pad(views[0].bytes(row), views[1].narrow(row), fill, at_start, out);
        })
    }))
}

/// Appends a text of this many characters: what is longer is cut, what is shorter gets the characters of `fill` over
/// and over.
fn pad(text: &[u8], wanted: i64, fill: &[u8], at_start: bool, out: &mut Text<'_>) {
    let kept = substr::part(text, 1, wanted);
    let missing = wanted.saturating_sub(length::characters(text) as i64);
    let characters = length::characters(fill) as i64;
    if missing <= 0 || characters == 0 {
        return out.extend_from_slice(kept);
    }
    let (whole, rest) = ((missing / characters) as usize, substr::part(fill, 1, missing % characters));
    let needed = whole.saturating_mul(fill.len()).saturating_add(rest.len() + kept.len());
    if !out.has_room_for(needed) {
        return;
    }
    if !at_start {
        out.extend_from_slice(kept);
    }
    (0..whole).for_each(|_| out.extend_from_slice(fill));
    out.extend_from_slice(rest);
    if at_start {
        out.extend_from_slice(kept);
    }
}
