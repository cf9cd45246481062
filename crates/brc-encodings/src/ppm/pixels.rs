//! Delivers interleaved samples of an image as columns.

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
    /// Whether the coordinates of pixels are requested.
    with_coordinates: bool,
    planes: [Vec<i16>; 3],
    /// The same, if samples exceed 16-bit signed integers.
    wide: [Vec<i32>; 3],
    coordinates: Coordinates,
}

/// The coordinates of pixels, as narrow as the image allows: their cost is that of writing them.
enum Coordinates {
    Narrow { x: Vec<i16>, y: Vec<i16> },
    Wide { x: Vec<i32>, y: Vec<i32> },
}

impl Pixels {
    pub(super) fn new(image: Image, options: &ScanOptions) -> Self {
        Self {
            image,
            level: Level::best(),
            with_coordinates: options.projection.iter().any(|&column| column >= 3),
            planes: std::array::from_fn(|_| vec![0; BATCH_ROWS]),
            wide: Default::default(),
            coordinates: Coordinates::of(image),
        }
    }

    /// Delivers pixels; `first` is the number of pixels before them in the image.
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
        if self.with_coordinates {
            self.coordinates.set(self.image.width, rows, first);
        }
        let [x, y] = self.coordinates.as_columns();
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
}

impl Coordinates {
    fn of(image: Image) -> Self {
        match i16::try_from(image.width.max(image.height)) {
            Ok(_) => Self::Narrow { x: Vec::new(), y: Vec::new() },
            Err(_) => Self::Wide { x: Vec::new(), y: Vec::new() },
        }
    }

    /// Sets the coordinates of some pixels; `first` is the number of pixels before them in the image.
    fn set(&mut self, width: u32, rows: usize, first: u64) {
        match self {
            Self::Narrow { x, y } => set(x, y, width, rows, first),
            Self::Wide { x, y } => set(x, y, width, rows, first),
        }
    }

    fn as_columns(&self) -> [Column<'_>; 2] {
        match self {
            Self::Narrow { x, y } => [x, y].map(|coordinate| Column::integers(Integers::I16(coordinate))),
            Self::Wide { x, y } => [x, y].map(|coordinate| Column::integers(Integers::I32(coordinate))),
        }
    }
}

/// An integer type of coordinates.
trait Coordinate: Copy + Default {
    fn of(coordinate: u32) -> Self;
}

impl Coordinate for i16 {
    fn of(coordinate: u32) -> Self {
        coordinate as Self
    }
}

impl Coordinate for i32 {
    fn of(coordinate: u32) -> Self {
        coordinate as Self
    }
}

fn set<T: Coordinate>(xs: &mut Vec<T>, ys: &mut Vec<T>, width: u32, rows: usize, first: u64) {
    xs.resize(rows, T::default());
    ys.resize(rows, T::default());
    let (mut x, mut y) = ((first % u64::from(width)) as u32, (first / u64::from(width)) as u32);
    let mut done = 0;
    while done < rows {
        let run = (rows - done).min((width - x) as usize);
        let of_run = done..done + run;
        xs[of_run.clone()].iter_mut().zip(x..x + run as u32).for_each(|(coordinate, x)| *coordinate = T::of(x));
        ys[of_run].fill(T::of(y));
        done += run;
        (x, y) = (0, y.wrapping_add(1));
    }
}
