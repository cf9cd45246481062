//! Scans the pixels of a binary image.

use super::image::SAMPLES;
use super::pixels::{Pixels, Samples};
use super::table::PpmTable;
use crate::delivery::Delivery;
use brc_core::{Error, ReadAt, Result, ScanError, ScanOptions, Scanned, Scanner, Sink, Split};
use std::time::{Duration, Instant};

/// The number of pixels read at once: they stay in the L2 cache until they are delivered.
const PORTION: u64 = 64 << 10;

pub(super) struct BinaryScanner<'t> {
    table: &'t PpmTable,
    options: ScanOptions,
    pixels: Pixels,
    bytes: Vec<u8>,
    words: Vec<u16>,
}

impl<'t> BinaryScanner<'t> {
    pub(super) fn new(table: &'t PpmTable, options: &ScanOptions) -> Self {
        let pixels = Pixels::new(table.image, options);
        Self { table, options: options.clone(), pixels, bytes: Vec::new(), words: Vec::new() }
    }

    /// Reads pixels.
    fn read(&mut self, first: u64, count: u64) -> Result<()> {
        let pixel = 3 * self.table.image.sample_bytes() as u64;
        self.bytes.resize((count * pixel) as usize, 0);
        let offset = self.table.raster + first * pixel;
        let path = &self.table.path;
        let read = self.table.file.read_full_at(&mut self.bytes, offset).map_err(Error::io(path, "read"))?;
        if read < self.bytes.len() {
            return Err(Error::corrupt(path, "raster", "the file became shorter while it was read"));
        }
        if self.table.image.sample_bytes() == 2 {
            self.words.clear();
            self.words.extend(self.bytes.as_chunks().0.iter().map(|&bytes| u16::from_be_bytes(bytes)));
        }
        Ok(())
    }

    /// Checks that no sample exceeds the maximum.
    fn check(&self, first: u64) -> Result<()> {
        let maximum = self.table.image.maximum;
        let above = match maximum {
            255 | u16::MAX => None,
            0..255 => self.bytes.iter().position(|&sample| u16::from(sample) > maximum),
            _ => self.words.iter().position(|&sample| sample > maximum),
        };
        let Some(at) = above else { return Ok(()) };
        let size = self.table.image.sample_bytes();
        let sample = if size == 1 { self.bytes[at].into() } else { self.words[at] };
        let byte = self.table.raster + (first * 3 + at as u64) * size as u64;
        let location = format!("byte {byte}, column '{}'", SAMPLES[at % 3]);
        Err(Error::corrupt(&self.table.path, location, format!("{sample} is above the maximum of {maximum}")))
    }
}

impl Scanner for BinaryScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let before = Instant::now();
        let options = self.options.clone();
        let mut delivery = Delivery::new(&options, sink);
        let (mut first, mut read_time, mut bytes) = (split.start, Duration::ZERO, 0);
        while first < split.end {
            let before = Instant::now();
            let count = PORTION.min(split.end - first);
            self.read(first, count)?;
            read_time += before.elapsed();
            bytes += self.bytes.len() as u64;
            self.check(first)?;
            let samples = match self.table.image.sample_bytes() {
                1 => Samples::Bytes(&self.bytes),
                _ => Samples::Words(&self.words),
            };
            self.pixels.deliver(samples, first, &mut delivery)?;
            first += count;
        }
        let decode_time = before.elapsed().saturating_sub(read_time + delivery.sink_time);
        Ok(Some(Scanned { rows: delivery.rows, bytes, read_time, decode_time, ..Scanned::default() }))
    }
}
