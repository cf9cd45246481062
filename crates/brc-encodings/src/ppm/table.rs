//! An image, open for reading.

use super::ascii::AsciiScanner;
use super::binary::BinaryScanner;
use super::chain::Chain;
use super::header::{self, Header, SampleForm};
use super::image::Image;
use crate::encoding::OpenOptions;
use crate::input::Input;
use crate::input_file::InputFile;
use brc_core::{Error, ReadAt, Result, ScanOptions, Scanner, Schema, Split, Table};
use std::path::{Path, PathBuf};

/// The default size of splits of a text image in bytes: the parsed numbers of a split stay in the L2 cache.
const SPLIT_BYTES: u64 = 256 << 10;

/// The bytes of text per pixel by which splits of a binary image are sized.
const TEXT_OF_PIXEL: u64 = 12;

pub(super) struct PpmTable {
    pub(super) path: PathBuf,
    pub(super) file: InputFile,
    /// The length of the file, and the offset of the samples.
    pub(super) length: u64,
    pub(super) raster: u64,
    pub(super) image: Image,
    pub(super) chain: Chain,
    form: SampleForm,
    schema: Schema,
    /// The size of a split: in bytes of a text, or in pixels.
    split: u64,
}

impl PpmTable {
    /// # Errors
    /// [`Error::Corrupt`] if the header is malformed, or does not match the length of a binary image.
    pub(super) fn open(mut input: Input, options: &OpenOptions) -> Result<Self> {
        let Header { form, image, bytes } = header::read(&mut input)?;
        let unusual = std::str::from_utf8(&input.prefix[..bytes]).ok();
        let unusual = unusual.filter(|header| form == SampleForm::Binary && header.as_bytes() != image.header("P6"));
        let schema = image.schema(unusual);
        let path = input.path.clone();
        let file = input.into_file(options.longest_copy)?;
        let length = file.length().map_err(Error::io(&path, "open"))?;
        let split_bytes = options.row_group_bytes.unwrap_or(SPLIT_BYTES);
        let split = match form {
            SampleForm::Ascii => split_bytes,
            SampleForm::Binary => split_bytes / TEXT_OF_PIXEL,
        };
        let (raster, split, chain) = (bytes as u64, split.max(1), Chain::new());
        let table = Self { path, file, length, raster, image, chain, form, schema, split };
        if form == SampleForm::Binary {
            table.check_length()?;
        }
        Ok(table)
    }

    /// Checks the length of the file against the header.
    fn check_length(&self) -> Result<()> {
        let Image { width, height, .. } = self.image;
        let found = self.length.saturating_sub(self.raster);
        let bytes = u128::from(self.image.pixels()) * 3 * self.image.sample_bytes() as u128;
        if u128::from(found) < bytes {
            let reason = format!("{width} × {height} pixels have {bytes} bytes, but the file has {found} for them");
            return Err(Error::corrupt(&self.path, "raster", reason));
        }
        let end = self.raster + bytes as u64;
        if self.length == end {
            return Ok(());
        }
        let mut next = [0; 2];
        self.file.read_full_at(&mut next, end).map_err(Error::io(&self.path, "read"))?;
        if matches!(next, [b'P', b'1'..=b'7']) {
            let reason = format!("holds several images, the next one at byte {end}; split them into files");
            return Err(Error::unsupported(&self.path, reason));
        }
        let more = self.length - end;
        let location = format!("byte {end}");
        Err(Error::corrupt(&self.path, location, format!("{more} bytes after the last of {width} × {height} pixels")))
    }
}

impl Table for PpmTable {
    fn path(&self) -> &Path {
        &self.path
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        Some(self.image.pixels())
    }

    fn bytes(&self) -> Option<u64> {
        Some(self.length)
    }

    fn split(&self, index: u64) -> Option<Split> {
        let (first, last) = match self.form {
            // There is always a first split, in which missing samples are reported.
            SampleForm::Ascii => (self.raster, self.length.max(self.raster + 1)),
            SampleForm::Binary => (0, self.image.pixels()),
        };
        let start = index.checked_mul(self.split)?.checked_add(first)?;
        (start < last).then(|| Split { index, start, end: start.saturating_add(self.split).min(last) })
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        Ok(match self.form {
            SampleForm::Ascii => Box::new(AsciiScanner::new(self, options)),
            SampleForm::Binary => Box::new(BinaryScanner::new(self, options)),
        })
    }
}
