//! Decodes column chunks of floats window by window.

use super::page::Pages;
use super::types::Stored;
use super::walk::{Decode, Values, Walk, cut_off, look_up, wrong_encoding};
use crate::columnar::Fault;

/// A column chunk of floats.
pub(super) struct FloatChunk {
    walk: Walk,
    dictionary: Floats,
    codes: Vec<u32>,
}

/// The values of a dictionary.
struct Floats(Vec<f64>);

impl Decode for Floats {
    fn dictionary(&mut self, body: &[u8], values: usize) -> Result<(), Fault> {
        self.0.clear();
        plain_floats(body, values, &mut self.0)
    }
}

impl FloatChunk {
    pub(super) fn new(has_levels: bool) -> Self {
        Self { walk: Walk::new(has_levels), dictionary: Floats(Vec::new()), codes: Vec::new() }
    }

    /// Appends the next rows.
    pub(super) fn fill(&mut self, pages: &mut Pages, mut rows: usize, out: &mut Vec<f64>) -> Result<(), Fault> {
        while rows > 0 {
            let run = self.walk.run(pages, rows, &mut self.dictionary)?;
            match &mut self.walk.values {
                Values::Codes(hybrid) => {
                    self.codes.resize(run, 0);
                    hybrid.read(pages.body(), &mut self.codes)?;
                    look_up(&self.codes, &self.dictionary.0, out)?;
                }
                Values::Plain(at) => {
                    plain_floats(pages.body().get(*at..).unwrap_or_default(), run, out)?;
                    *at += run * Stored::Float64.width();
                }
                Values::Deltas(_) | Values::Lengths(..) => return Err(wrong_encoding()),
            }
            rows -= run;
        }
        Ok(())
    }

    /// Leaves out the next rows.
    pub(super) fn skip(&mut self, pages: &mut Pages, mut rows: usize) -> Result<(), Fault> {
        while rows > 0 {
            let (in_pages, run) = self.walk.skip(pages, rows, &mut self.dictionary)?;
            match &mut self.walk.values {
                _ if run == 0 => {}
                Values::Codes(hybrid) => {
                    self.codes.resize(run, 0);
                    hybrid.read(pages.body(), &mut self.codes)?;
                }
                // Where the page is shorter than that, whoever reads on finds out.
                Values::Plain(at) => *at = at.saturating_add(run * Stored::Float64.width()),
                Values::Deltas(_) | Values::Lengths(..) => return Err(wrong_encoding()),
            }
            rows -= in_pages + run;
        }
        Ok(())
    }

    pub(super) fn is_over(&mut self, pages: &mut Pages) -> Result<bool, Fault> {
        self.walk.is_over(pages, &mut self.dictionary)
    }
}

/// Appends the next floats as they lie, one after the other.
fn plain_floats(body: &[u8], values: usize, out: &mut Vec<f64>) -> Result<(), Fault> {
    let bytes = values.checked_mul(8).and_then(|length| body.get(..length)).ok_or_else(cut_off)?;
    out.extend(bytes.as_chunks().0.iter().map(|float| f64::from_le_bytes(*float)));
    Ok(())
}
