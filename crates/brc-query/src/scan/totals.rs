//! What a scan did to answer a query.

use crate::keys::access_path::RowsByAccessPath;
use brc_core::Scanned;
use std::time::Duration;

/// What was done to find an answer. Times are those of all threads together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScanTotals {
    /// Splits scanned.
    pub splits: u64,
    /// Splits of which a part was read, because a limit was reached: their bytes are not counted.
    pub unfinished_splits: u64,
    /// Rows read, also of unfinished splits.
    pub rows: u64,
    /// Rows answered from statistics.
    pub summarised_rows: u64,
    /// Rows skipped, because they could not match the filter.
    pub skipped_rows: u64,
    /// Rows left out because they are malformed.
    pub rejected_rows: u64,
    /// Bytes read from the file.
    pub bytes: u64,
    /// By which ways the groups of rows were found.
    pub access_paths: RowsByAccessPath,
    /// How many groups there were.
    pub groups: u64,
    /// Bytes written to a temporary file, because memory was short.
    pub spilled_bytes: u64,
    /// Time spent reading.
    pub read_time: Duration,
    /// Time spent on decompression.
    pub decompress_time: Duration,
    /// Time spent on checksums and decoding (or parsing).
    pub decode_time: Duration,
    /// Time spent on filtering and aggregation; measured only if [`crate::Query::timings`] requested it.
    pub aggregate_time: Duration,
    /// How long it took to scan and group, in all; this and the times below are those that went by.
    pub scan_time: Duration,
    /// How long it took to group partitions and merge what workers found.
    pub merge_time: Duration,
    /// How long it took to sort and compute the answer of groups.
    pub sort_time: Duration,
}

impl ScanTotals {
    /// Adds what another scan did.
    pub fn add(&mut self, other: &Self) {
        self.splits += other.splits;
        self.unfinished_splits += other.unfinished_splits;
        self.rows += other.rows;
        self.summarised_rows += other.summarised_rows;
        self.skipped_rows += other.skipped_rows;
        self.rejected_rows += other.rejected_rows;
        self.bytes += other.bytes;
        self.access_paths.add(&other.access_paths);
        self.groups += other.groups;
        self.spilled_bytes += other.spilled_bytes;
        self.scan_time += other.scan_time;
        self.merge_time += other.merge_time;
        self.sort_time += other.sort_time;
        self.read_time += other.read_time;
        self.decompress_time += other.decompress_time;
        self.decode_time += other.decode_time;
        self.aggregate_time += other.aggregate_time;
    }
}

impl From<&Scanned> for ScanTotals {
    fn from(scanned: &Scanned) -> Self {
        Self {
            splits: 1,
            unfinished_splits: 0,
            rows: scanned.rows,
            summarised_rows: scanned.summarised_rows,
            skipped_rows: scanned.skipped_rows,
            rejected_rows: scanned.rejects.len(),
            bytes: scanned.bytes,
            access_paths: RowsByAccessPath::default(),
            groups: 0,
            spilled_bytes: 0,
            scan_time: Duration::ZERO,
            merge_time: Duration::ZERO,
            sort_time: Duration::ZERO,
            read_time: scanned.read_time,
            decompress_time: scanned.decompress_time,
            decode_time: scanned.decode_time,
            aggregate_time: Duration::ZERO,
        }
    }
}
