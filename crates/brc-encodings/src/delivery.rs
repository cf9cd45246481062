//! Passes rows from a scanner to a sink, with only the projected columns.

use crate::chunks::ReadCost;
use brc_core::{Batch, Column, Result, ScanOptions, Scanned, Sink};
use std::time::{Duration, Instant};

/// Delivers batches to a sink, and counts rows and time.
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

    /// Delivers rows, given all columns of the schema; columns outside the projection may be empty.
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

    /// The result of a scan that began at `begun`: all time apart from reading and the sink was spent on decoding.
    pub(crate) fn scanned(&self, cost: ReadCost, begun: Instant) -> Scanned {
        let elsewhere = cost.read_time + cost.decompress_time + self.sink_time;
        Scanned {
            rows: self.rows,
            bytes: cost.bytes,
            read_time: cost.read_time,
            decompress_time: cost.decompress_time,
            decode_time: begun.elapsed().saturating_sub(elsewhere),
            ..Scanned::default()
        }
    }
}
