//! The access paths by which the groups of rows are found, counted for `explain`.

/// An access path to the group of a row, the cheapest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessPath {
    /// Statistics answered for the rows.
    Statistics,
    /// All rows are one group.
    One,
    /// The table stores the rows of a key as runs.
    Runs,
    /// The code of a string is the group.
    Dictionary,
    /// The values of the keys index an array.
    Direct,
    /// A hash table has the keys.
    Hash,
    /// No other split has the key: splits are grouped one by one.
    Splits,
    /// Rows are partitioned by ranges of their keys, and grouped later.
    Partitions,
}

impl AccessPath {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Statistics,
        Self::One,
        Self::Runs,
        Self::Dictionary,
        Self::Direct,
        Self::Hash,
        Self::Splits,
        Self::Partitions,
    ];

    /// Its name in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Statistics => "statistics",
            Self::One => "no key",
            Self::Runs => "runs",
            Self::Dictionary => "dictionary codes",
            Self::Direct => "direct index",
            Self::Hash => "hash table",
            Self::Splits => "disjoint splits",
            Self::Partitions => "partitions",
        }
    }
}

/// How many rows took each access path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowsByAccessPath([u64; AccessPath::ALL.len()]);

impl RowsByAccessPath {
    pub(crate) fn add_rows(&mut self, access_path: AccessPath, rows: usize) {
        self.0[access_path as usize] += rows as u64;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(ours, theirs)| *ours += theirs);
    }

    /// The access paths that rows took, each with the number of rows.
    pub fn rows(&self) -> impl Iterator<Item = (AccessPath, u64)> {
        AccessPath::ALL.into_iter().zip(self.0).filter(|(_, rows)| *rows > 0)
    }
}
