//! Encoding: choosing the scheme that makes a chunk smallest, and encoding its blocks.

use super::BLOCK_ROWS;
use super::chunk::AnyLayout;
use super::chunk_statistics::ChunkStatistics;
use super::scheme::{Fit, Input, SCHEMES, Scheme};
use crate::integer_slice::IntegerSlice;
use std::fmt::{self, Debug};

/// Among schemes larger than the smallest by at most this many percent, the fastest is chosen.
const SIZE_TOLERANCE_PERCENT: u64 = 2;

/// So are schemes larger by at most one byte per this many rows: between two tiny sizes, speed decides.
const ROWS_PER_TOLERATED_BYTE: u64 = 128;

/// How to store a chunk.
pub struct Plan {
    scheme: &'static Scheme,
    layout: Box<dyn AnyLayout>,
    candidates: Vec<Candidate>,
    bounds: Vec<(i64, i64)>,
}

/// The size of a chunk in one scheme, to explain the choice.
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
    /// Chooses the smallest scheme for a chunk, or the fastest among those of nearly the same size.
    ///
    /// `reference` has the values of another column in the same rows, from which differences may be stored, or is
    /// empty. Decoding then requires these values.
    #[must_use]
    pub fn choose<'a>(values: impl Into<IntegerSlice<'a>>, reference: impl Into<IntegerSlice<'a>>) -> Self {
        let statistics = ChunkStatistics::new(values.into(), reference.into());
        let mut all_fitted: Vec<FittedScheme> = Vec::new();
        let mut smallest = u64::MAX;
        for scheme in SCHEMES {
            if let Some(fit) = (scheme.fit)(&statistics, smallest) {
                let fitted = FittedScheme::new(scheme, fit);
                smallest = smallest.min(fitted.bytes);
                all_fitted.push(fitted);
            }
        }
        let candidates =
            all_fitted.iter().map(|fitted| Candidate { scheme: fitted.scheme.name, bytes: fitted.bytes }).collect();
        let most = smallest
            + (smallest * SIZE_TOLERANCE_PERCENT / 100).max(statistics.values.len() as u64 / ROWS_PER_TOLERATED_BYTE);
        let chosen = all_fitted.into_iter().filter(|fitted| fitted.bytes <= most).min_by_key(|fitted| fitted.cost);
        let chosen = chosen.unwrap_or_else(|| unreachable!("packed fits all integers"));
        Self { scheme: chosen.scheme, layout: chosen.layout, candidates, bounds: statistics.bounds() }
    }

    /// Like [`Plan::choose`], with the named scheme; `None` if it cannot store the chunk.
    #[must_use]
    pub fn with_scheme<'a>(
        name: &str,
        values: impl Into<IntegerSlice<'a>>,
        reference: impl Into<IntegerSlice<'a>>,
    ) -> Option<Self> {
        let scheme = SCHEMES.iter().find(|scheme| scheme.name == name)?;
        let statistics = ChunkStatistics::new(values.into(), reference.into());
        Some(Self::of(scheme, (scheme.fit)(&statistics, u64::MAX)?, statistics.bounds()))
    }

    /// A plan for a fitted scheme; `bounds` are the minimum and maximum of each block.
    pub(super) fn of(scheme: &'static Scheme, fit: Fit, bounds: Vec<(i64, i64)>) -> Self {
        let fitted = FittedScheme::new(scheme, fit);
        let candidates = vec![Candidate { scheme: scheme.name, bytes: fitted.bytes }];
        Self { scheme, layout: fitted.layout, candidates, bounds }
    }

    /// The id of the scheme in files.
    #[must_use]
    pub fn scheme_id(&self) -> u8 {
        self.scheme.id
    }

    /// The scheme's name.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        self.scheme.name
    }

    /// All schemes considered, in the order of the list of schemes.
    #[must_use]
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// The estimated size of parameters and blocks, in bytes.
    #[must_use]
    pub fn estimated_bytes(&self) -> u64 {
        self.candidates.iter().find(|candidate| candidate.scheme == self.scheme.name).map_or(0, |chosen| chosen.bytes)
    }

    /// Whether blocks may have exceptions, which make decoding slower.
    pub(crate) fn is_patched(&self) -> bool {
        self.layout.is_patched()
    }

    /// The minimum and maximum of each block.
    #[must_use]
    pub fn bounds(&self) -> &[(i64, i64)] {
        &self.bounds
    }

    /// Appends the parameters shared by all blocks.
    pub fn encode_parameters(&self, out: &mut Vec<u8>) {
        self.layout.parameters(out);
    }

    /// Appends block `number` of the chunk with these values: up to [`BLOCK_ROWS`] of them from row `number *
    /// BLOCK_ROWS` on. `reference` is required if the plan was chosen with one.
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

    /// Like `encode_block`, given only the values of that block, for chunks without a reference column.
    pub(crate) fn encode_values(&self, number: usize, values: IntegerSlice<'_>, out: &mut Vec<u8>) {
        self.layout.encode(&Input { values, reference: IntegerSlice::EMPTY, number }, out);
    }
}

struct FittedScheme {
    scheme: &'static Scheme,
    layout: Box<dyn AnyLayout>,
    bytes: u64,
    cost: u32,
}

impl FittedScheme {
    fn new(scheme: &'static Scheme, fit: Fit) -> Self {
        let mut parameters = Vec::new();
        fit.layout.parameters(&mut parameters);
        let cost = fit.cost.unwrap_or(scheme.cost);
        Self { scheme, layout: fit.layout, bytes: fit.bytes + parameters.len() as u64, cost }
    }
}
