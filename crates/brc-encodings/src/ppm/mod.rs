//! Images as tables: portable pixmaps, in text (P3) and in binary (P6).
//!
//! A P3 image is a classic example of text that should be binary: millions of small numbers separated by white space. A
//! row is a pixel, from left to right and from top to bottom, with its samples `r`, `g`, `b`; `x` and `y` are computed.
//! The header becomes metadata of the table, so that encodings which keep metadata restore the image.

mod ascii;
mod binary;
mod chain;
mod header;
mod image;
mod pixels;
mod table;
mod text;
mod writer;

use crate::encoding::{CreateOptions, Encoding, OpenOptions};
use crate::input::Input;
use brc_core::{BatchWriter, Error, Result, Schema, Table};
use table::PpmTable;
use writer::Writer;

/// The encoding's name.
const NAME: &str = "ppm";

pub(crate) struct Ppm;

impl Encoding for Ppm {
    fn name(&self) -> &'static str {
        NAME
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["ppm"]
    }

    fn about(&self) -> &'static str {
        "portable pixmap image, text or binary: one row per pixel"
    }

    fn sniff(&self, prefix: &[u8]) -> bool {
        header::is_ppm(prefix)
    }

    fn holds_any_bytes(&self) -> bool {
        false
    }

    fn detects_damage(&self) -> bool {
        false
    }

    fn has_ascii_form(&self) -> bool {
        true
    }

    fn supports(&self, schema: &Schema) -> Result<(), String> {
        writer::check(schema).map(drop)
    }

    fn open(&self, input: Input, options: &OpenOptions) -> Result<Box<dyn Table>> {
        let table = PpmTable::open(input, options)?;
        options.check_schema(table.path(), table.schema())?;
        Ok(Box::new(table))
    }

    fn create(&self, schema: &Schema, options: &CreateOptions) -> Result<Box<dyn BatchWriter>> {
        Ok(Box::new(Writer::new(schema, options.ascii).map_err(Error::Usage)?))
    }
}

#[cfg(test)]
mod tests;
