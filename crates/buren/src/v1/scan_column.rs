//! One projected column while its row group is scanned: the block at hand, and the piece of it at hand.

use crate::block::{BlockBuffer, Cost};
use crate::integer_buffer::{IntegerBuffer, IntegerSlice, for_widths};
use crate::place::Place;
use crate::v1::footer::Chunk;
use crate::v1::reader::Reader;
use crate::v1::schemes::Frames;
use brc_core::{Column, Dictionary, Result};
use brc_kernels::arithmetic::Integer;

pub(crate) struct ScanColumn<'r> {
    reader: &'r Reader,
    /// Its position in the schema.
    pub(crate) column: usize,
    pub(crate) dictionary: Option<&'r Dictionary>,
    /// The dictionary's code of each code of the chunk; of a string column only.
    pub(crate) map: Vec<u32>,
    row_group: usize,
    block: BlockBuffer,
    loaded: Option<usize>,
    integers: IntegerBuffer,
    codes: Vec<u32>,
}

impl<'r> ScanColumn<'r> {
    pub(crate) fn new(reader: &'r Reader, column: usize) -> Result<Self> {
        let dictionary = if reader.footer().is_string(column) { Some(reader.dictionary(column)?) } else { None };
        Ok(Self {
            reader,
            column,
            dictionary,
            map: Vec::new(),
            row_group: 0,
            block: BlockBuffer::default(),
            loaded: None,
            integers: IntegerBuffer::default(),
            codes: Vec::new(),
        })
    }

    /// Turns to another row group.
    pub(crate) fn start(&mut self, row_group: usize, cost: &mut Cost) -> Result<()> {
        self.turn_to(row_group);
        self.reader.load_map(row_group, self.column, &mut self.block, &mut self.map, cost)
    }

    /// The same for codes that are not translated.
    pub(crate) fn turn_to(&mut self, row_group: usize) {
        self.row_group = row_group;
        self.loaded = None;
    }

    pub(crate) fn chunk(&self) -> &'r Chunk {
        &self.reader.row_group(self.row_group).chunks[self.column]
    }

    fn place(&self) -> Place<'r> {
        let column = self.reader.footer().name(self.column);
        Place::Data { row_group: self.row_group, column, block: self.loaded.unwrap_or(0) }
    }

    /// Makes a block of the chunk the one at hand.
    pub(crate) fn load(&mut self, block: usize, cost: &mut Cost) -> Result<()> {
        if self.loaded == Some(block) {
            return Ok(());
        }
        self.loaded = Some(block);
        match self.chunk().blocks.get(block) {
            Some(stored) => self.block.load(self.reader.source(), stored, self.place(), cost),
            None => Ok(()),
        }
    }

    /// Decodes rows of the block at hand, from row `first` of it, into [`ScanColumn::values`].
    pub(crate) fn decode(&mut self, first: usize, rows: usize, frames: Frames<'_>) {
        let chunk = self.chunk();
        let frames = Frames { chunk: chunk.bounds().0, ..frames };
        let block = if chunk.blocks.is_empty() { &[][..] } else { self.block.bytes() };
        let out = self.integers.room_of(chunk.width_in_memory(), rows);
        chunk.scheme.decode(chunk.width, block, first, frames, out);
    }

    /// The integers decoded last: numbers, or codes of the chunk.
    pub(crate) fn values(&self) -> IntegerSlice<'_> {
        self.integers.slice()
    }

    /// Room for integers that come from elsewhere than [`ScanColumn::decode`].
    pub(crate) fn integers_mut(&mut self) -> &mut IntegerBuffer {
        &mut self.integers
    }

    /// Turns the codes of the chunk that were decoded last into those of the dictionary.
    pub(crate) fn translate(&mut self) -> Result<()> {
        if self.dictionary.is_none() {
            return Ok(());
        }
        let mut all_known = true;
        self.codes.clear();
        for_widths!(self.integers.slice(), values => self.codes.extend(values.iter().map(|&code| {
            let known = self.map.get(code.wide() as usize);
            all_known &= known.is_some();
            known.copied().unwrap_or(0)
        })));
        if all_known {
            Ok(())
        } else {
            Err(self.reader.corrupt(self.place(), "a code is beyond the chunk's cardinality"))
        }
    }

    /// The rows decoded, and translated, last.
    pub(crate) fn as_column(&self) -> Column<'_> {
        match self.dictionary {
            Some(dictionary) => Column::codes(&self.codes, dictionary),
            None => Column::integers(self.integers.slice().into()),
        }
    }
}
