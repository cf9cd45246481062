//! Samples as they follow each other in an image, delivered as columns.

use super::image::Image;
use crate::delivery::Delivery;
use crate::text::BATCH_ROWS;
use brc_core::{Column, Integers, Result, ScanOptions};
use brc_kernels::cpu::Level;
use brc_kernels::samples;

/// Samples of whole pixels.
#[derive(Clone, Copy)]
pub(super) enum Samples<'a> {
    Bytes(&'a [u8]),
    Words(&'a [u16]),
}

pub(super) struct Pixels {
    image: Image,
    level: Level,
    /// Whether the place of a pixel is wanted.
    with_place: bool,
    planes: [Vec<i16>; 3],
    /// The same where samples do not fit 16 bits with a sign.
    wide: [Vec<i32>; 3],
    x: Vec<i32>,
    y: Vec<i32>,
}

impl Pixels {
    pub(super) fn new(image: Image, options: &ScanOptions) -> Self {
        Self {
            image,
            level: Level::best(),
            with_place: options.projection.iter().any(|&column| column >= 3),
            planes: std::array::from_fn(|_| vec![0; BATCH_ROWS]),
            wide: Default::default(),
            x: Vec::new(),
            y: Vec::new(),
        }
    }

    /// Delivers pixels, of which `first` of the image stand before.
    ///
    /// # Errors
    /// The sink's.
    pub(super) fn deliver(&mut self, samples: Samples<'_>, mut first: u64, delivery: &mut Delivery<'_>) -> Result<()> {
        match samples {
            Samples::Bytes(bytes) => {
                for bytes in bytes.chunks(3 * BATCH_ROWS) {
                    samples::split_bytes(self.level, bytes, &mut self.planes);
                    self.batch(bytes.len() / 3, first, delivery)?;
                    first += (bytes.len() / 3) as u64;
                }
            }
            Samples::Words(words) => {
                for words in words.chunks(3 * BATCH_ROWS) {
                    samples::split_words(self.level, words, &mut self.planes);
                    self.batch(words.len() / 3, first, delivery)?;
                    first += (words.len() / 3) as u64;
                }
            }
        }
        Ok(())
    }

    fn batch(&mut self, rows: usize, first: u64, delivery: &mut Delivery<'_>) -> Result<()> {
        self.places(rows, first);
        let [x, y] = [&self.x, &self.y].map(|place| Column::integers(Integers::I32(place)));
        let columns = if i16::try_from(self.image.maximum).is_ok() {
            let [r, g, b] = self.planes.each_ref().map(|plane| Column::integers(Integers::I16(&plane[..rows])));
            [r, g, b, x, y]
        } else {
            for (wide, plane) in self.wide.iter_mut().zip(&self.planes) {
                wide.clear();
                wide.extend(plane[..rows].iter().map(|&sample| i32::from(sample as u16)));
            }
            let [r, g, b] = self.wide.each_ref().map(|plane| Column::integers(Integers::I32(plane)));
            [r, g, b, x, y]
        };
        delivery.batch(rows, &columns)
    }

    /// Computes the places of pixels.
    fn places(&mut self, rows: usize, first: u64) {
        self.x.clear();
        self.y.clear();
        let width = u64::from(self.image.width);
        let (mut x, mut y) = ((first % width) as i32, (first / width) as i32);
        while self.with_place && self.x.len() < rows {
            let run = (rows - self.x.len()).min((self.image.width - x as u32) as usize);
            self.x.extend(x..x + run as i32);
            self.y.extend(std::iter::repeat_n(y, run));
            (x, y) = (0, y.wrapping_add(1));
        }
    }
}
