//! The [`Encoding`] of all layouts of frames.

use super::Layout;
use super::table::FramesTable;
use super::writer::{self, FramesWriter};
use crate::encoding::{CreateOptions, Encoding, OpenOptions};
use crate::input::Input;
use brc_core::{BatchWriter, Result, Schema, Table};

/// The encoding of tables in frames of the given layout.
pub(crate) struct Framed(pub(crate) &'static dyn Layout);

impl Encoding for Framed {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn extensions(&self) -> &'static [&'static str] {
        self.0.extensions()
    }

    fn about(&self) -> &'static str {
        self.0.about()
    }

    fn sniff(&self, prefix: &[u8]) -> bool {
        prefix.starts_with(self.0.magic())
    }

    fn may_lack_header(&self) -> bool {
        true
    }

    fn supports(&self, schema: &Schema) -> Result<(), String> {
        writer::header(self.0, schema).map(drop)
    }

    fn open(&self, input: Input, options: &OpenOptions) -> Result<Box<dyn Table>> {
        Ok(Box::new(FramesTable::open(self.0, input, options)?))
    }

    fn create(&self, schema: &Schema, _: &CreateOptions) -> Result<Box<dyn BatchWriter>> {
        Ok(Box::new(FramesWriter::new(self.0, schema)?))
    }
}
