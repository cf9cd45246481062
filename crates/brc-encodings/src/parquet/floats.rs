//! Decodes column chunks of floats, one window at a time.

use super::page::Pages;
use super::types::Stored;
use super::walk::{Decode, PageValues, Walk, cut_off, look_up, wrong_encoding};
use crate::columnar::Fault;
use brc_core::float32;

/// A column chunk of floats.
pub(super) struct FloatChunk {
    walk: Walk,
    floats: Floats,
    codes: Vec<u32>,
}

/// The decoder of pages and of the dictionary.
struct Floats {
    stored: Stored,
    dictionary: Vec<f64>,
}

impl Decode for Floats {
    fn dictionary(&mut self, body: &[u8], values: usize) -> Result<(), Fault> {
        self.dictionary.clear();
        plain_floats(self.stored, body, values, &mut self.dictionary)
    }
}

impl FloatChunk {
    /// A chunk of 32-bit or 64-bit floats.
    pub(super) fn new(stored: Stored, has_levels: bool) -> Self {
        let floats = Floats { stored, dictionary: Vec::new() };
        Self { walk: Walk::new(has_levels), floats, codes: Vec::new() }
    }

    /// Appends the next rows.
    pub(super) fn fill(&mut self, pages: &mut Pages, mut rows: usize, out: &mut Vec<f64>) -> Result<(), Fault> {
        while rows > 0 {
            let run = self.walk.run(pages, rows, &mut self.floats)?;
            match &mut self.walk.values {
                PageValues::Codes(hybrid) => {
                    self.codes.resize(run, 0);
                    hybrid.read(pages.body(), &mut self.codes)?;
                    look_up(&self.codes, &self.floats.dictionary, out)?;
                }
                PageValues::Plain(at) => {
                    plain_floats(self.floats.stored, pages.body().get(*at..).unwrap_or_default(), run, out)?;
                    *at += run * self.floats.stored.width();
                }
                PageValues::Deltas(_) | PageValues::Lengths(..) => return Err(wrong_encoding()),
            }
            rows -= run;
        }
        Ok(())
    }

    /// Skips the next rows.
    pub(super) fn skip(&mut self, pages: &mut Pages, mut rows: usize) -> Result<(), Fault> {
        while rows > 0 {
            let (in_pages, run) = self.walk.skip(pages, rows, &mut self.floats)?;
            match &mut self.walk.values {
                _ if run == 0 => {}
                PageValues::Codes(hybrid) => {
                    self.codes.resize(run, 0);
                    hybrid.read(pages.body(), &mut self.codes)?;
                }
                // If the page is shorter, the next read reports it.
                PageValues::Plain(at) => *at = at.saturating_add(run * self.floats.stored.width()),
                PageValues::Deltas(_) | PageValues::Lengths(..) => return Err(wrong_encoding()),
            }
            rows -= in_pages + run;
        }
        Ok(())
    }

    pub(super) fn is_over(&mut self, pages: &mut Pages) -> Result<bool, Fault> {
        self.walk.is_over(pages, &mut self.floats)
    }
}

/// Appends the next plain floats.
fn plain_floats(stored: Stored, body: &[u8], values: usize, out: &mut Vec<f64>) -> Result<(), Fault> {
    let bytes = values.checked_mul(stored.width()).and_then(|length| body.get(..length)).ok_or_else(cut_off)?;
    match stored {
        Stored::Float32 => {
            out.extend(bytes.as_chunks().0.iter().map(|float| float32::widen(f32::from_le_bytes(*float))));
        }
        Stored::Float64 => out.extend(bytes.as_chunks().0.iter().map(|float| f64::from_le_bytes(*float))),
        Stored::Bytes | Stored::Int32 | Stored::Int64 => {
            return Err(Fault::corrupt("other values where floats belong"));
        }
    }
    Ok(())
}
