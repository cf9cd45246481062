//! Where a scanner's rows go, as the columns that were asked for.

use brc_core::{Batch, Column, Result, ScanOptions, Sink};
use std::time::{Duration, Instant};

/// Hands batches to a sink, and keeps count.
pub(crate) struct Delivery<'a> {
    projection: &'a [usize],
    pub(crate) sink: &'a mut dyn Sink,
    /// The time the sink took.
    pub(crate) sink_time: Duration,
    /// The rows delivered.
    pub(crate) rows: u64,
}

impl<'a> Delivery<'a> {
    pub(crate) fn new(options: &'a ScanOptions, sink: &'a mut dyn Sink) -> Self {
        Self { projection: &options.projection, sink, sink_time: Duration::ZERO, rows: 0 }
    }

    /// Hands over rows, given as all columns of the schema; those that nobody asked for may be empty.
    pub(crate) fn batch(&mut self, rows: usize, columns: &[Column<'_>]) -> Result<()> {
        if rows == 0 {
            return Ok(());
        }
        let projected: Vec<_> = self.projection.iter().map(|&column| columns[column]).collect();
        let before = Instant::now();
        self.sink.batch(&Batch { rows, columns: &projected })?;
        self.sink_time += before.elapsed();
        self.rows += rows as u64;
        Ok(())
    }
}
