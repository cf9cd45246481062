//! Encoding: the scheme that makes a chunk smallest, and the chunk's blocks in it.

use super::BLOCK_ROWS;
use super::chunk::AnyLayout;
use super::facts::Facts;
use super::scheme::{Fit, Input, SCHEMES, Scheme};
use crate::integer_buffer::IntegerSlice;
use std::fmt::{self, Debug};

/// Schemes that are larger than the smallest by no more than this many percent are as good; the fastest is taken.
const NEARLY: u64 = 2;

/// And so are those that are larger by no more than a byte for so many rows: of two that take next to nothing, size is no
/// reason.
const ROWS_OF_A_BYTE: u64 = 128;

/// How a chunk will be stored.
pub struct Plan {
    scheme: &'static Scheme,
    layout: Box<dyn AnyLayout>,
    candidates: Vec<Candidate>,
    bounds: Vec<(i64, i64)>,
}

/// What a scheme would have made of a chunk: why one was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// The scheme's name.
    pub scheme: &'static str,
    /// The estimated size of parameters and blocks, in bytes.
    pub bytes: u64,
}

impl Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("layout", &self.layout)
            .field("candidates", &self.candidates)
            .finish_non_exhaustive()
    }
}

impl Plan {
    /// Chooses the smallest scheme for a chunk; the fastest, where sizes are nearly the same.
    ///
    /// `reference` has the values of another column in the same rows, to which differences may be stored, or nothing.
    /// Whoever decodes the chunk has to have them then.
    #[must_use]
    pub fn choose<'a>(values: impl Into<IntegerSlice<'a>>, reference: impl Into<IntegerSlice<'a>>) -> Self {
        let facts = Facts::new(values.into(), reference.into());
        let mut offers: Vec<Offer> = Vec::new();
        let mut smallest = u64::MAX;
        for scheme in SCHEMES {
            if let Some(fit) = (scheme.fit)(&facts, smallest) {
                let offer = Offer::new(scheme, fit);
                smallest = smallest.min(offer.bytes);
                offers.push(offer);
            }
        }
        let candidates =
            offers.iter().map(|offer| Candidate { scheme: offer.scheme.name, bytes: offer.bytes }).collect();
        let most = smallest + (smallest * NEARLY / 100).max(facts.values.len() as u64 / ROWS_OF_A_BYTE);
        let chosen = offers.into_iter().filter(|offer| offer.bytes <= most).min_by_key(|offer| offer.cost);
        let chosen = chosen.unwrap_or_else(|| unreachable!("packed fits all integers"));
        Self { scheme: chosen.scheme, layout: chosen.layout, candidates, bounds: facts.bounds() }
    }

    /// As [`Plan::choose`], but with the scheme of that name, if it can store the chunk.
    #[must_use]
    pub fn with_scheme<'a>(
        name: &str,
        values: impl Into<IntegerSlice<'a>>,
        reference: impl Into<IntegerSlice<'a>>,
    ) -> Option<Self> {
        let scheme = SCHEMES.iter().find(|scheme| scheme.name == name)?;
        let facts = Facts::new(values.into(), reference.into());
        Some(Self::of(scheme, (scheme.fit)(&facts, u64::MAX)?, facts.bounds()))
    }

    /// With a scheme that fits integers whose blocks have these smallest and largest values.
    pub(super) fn of(scheme: &'static Scheme, fit: Fit, bounds: Vec<(i64, i64)>) -> Self {
        let offer = Offer::new(scheme, fit);
        let candidates = vec![Candidate { scheme: scheme.name, bytes: offer.bytes }];
        Self { scheme, layout: offer.layout, candidates, bounds }
    }

    /// What stands for the scheme in files.
    #[must_use]
    pub fn scheme_id(&self) -> u8 {
        self.scheme.id
    }

    /// The scheme's name.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        self.scheme.name
    }

    /// All schemes that were considered, in the order of the list of schemes.
    #[must_use]
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// The estimated size of parameters and blocks, in bytes.
    #[must_use]
    pub fn estimated_bytes(&self) -> u64 {
        self.candidates.iter().find(|candidate| candidate.scheme == self.scheme.name).map_or(0, |chosen| chosen.bytes)
    }

    /// Whether some integers are put in by themselves, which makes decoding slower.
    pub(crate) fn is_patched(&self) -> bool {
        self.layout.is_patched()
    }

    /// The smallest and the largest value of each block.
    #[must_use]
    pub fn bounds(&self) -> &[(i64, i64)] {
        &self.bounds
    }

    /// Appends what all blocks share.
    pub fn encode_parameters(&self, out: &mut Vec<u8>) {
        self.layout.parameters(out);
    }

    /// Appends a block of the chunk that has these values: [`BLOCK_ROWS`] of them from `number * BLOCK_ROWS` on, or those that
    /// are left, and of the other column's the same rows if the plan was chosen with one.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn encode_block<'a>(
        &self,
        number: usize,
        values: impl Into<IntegerSlice<'a>>,
        reference: impl Into<IntegerSlice<'a>>,
        out: &mut Vec<u8>,
    ) {
        let (values, reference) = (values.into(), reference.into());
        let start = number * BLOCK_ROWS;
        let rows = start..values.len().min(start + BLOCK_ROWS);
        let reference = if reference.is_empty() { reference } else { reference.slice(rows.clone()) };
        self.layout.encode(&Input { values: values.slice(rows), reference, number }, out);
    }

    /// The same for a chunk without another column, of which only these values of the block are at hand.
    pub(crate) fn encode_values(&self, number: usize, values: IntegerSlice<'_>, out: &mut Vec<u8>) {
        self.layout.encode(&Input { values, reference: IntegerSlice::EMPTY, number }, out);
    }
}

struct Offer {
    scheme: &'static Scheme,
    layout: Box<dyn AnyLayout>,
    bytes: u64,
    cost: u32,
}

impl Offer {
    fn new(scheme: &'static Scheme, fit: Fit) -> Self {
        let mut parameters = Vec::new();
        fit.layout.parameters(&mut parameters);
        let cost = fit.cost.unwrap_or(scheme.cost);
        Self { scheme, layout: fit.layout, bytes: fit.bytes + parameters.len() as u64, cost }
    }
}
