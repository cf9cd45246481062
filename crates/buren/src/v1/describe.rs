//! Describes a file of version 1.

use crate::description::{
    BlockTotals, Bounds, ChunkDescription, ColumnDescription, FileDescription, RowGroupDescription,
};
use crate::trailer;
use crate::v1::footer::{Chunk, Content};
use crate::v1::reader::Reader;
use brc_core::{Result, Statistics};

impl Reader {
    /// Describes the file. Reads the dictionaries, for their first and last values, and nothing else.
    ///
    /// # Errors
    /// If a dictionary cannot be read.
    pub(crate) fn describe(&self) -> Result<FileDescription> {
        let footer = self.footer();
        let columns = (0..footer.schema.fields().len()).map(|column| self.describe_column(column));
        let row_groups = footer.row_groups.iter().map(|row_group| RowGroupDescription {
            rows: row_group.rows,
            key: row_group.cluster.map(|cluster| cluster.key),
            run_index: BlockTotals::of(row_group.cluster.iter().map(|cluster| &cluster.run_index)),
            chunks: row_group.chunks.iter().map(describe_chunk).collect(),
        });
        let clusters = footer.row_groups.iter().filter_map(|row_group| row_group.cluster.as_ref());
        Ok(FileDescription {
            version: trailer::VERSION_1,
            schema: footer.schema.clone(),
            rows: footer.rows,
            bytes: self.file_bytes(),
            footer_bytes: self.footer_bytes(),
            compression: footer.compression.name(),
            rows_per_block: footer.rows_per_block,
            metadata: Vec::new(),
            unused_bytes: 0,
            columns: columns.collect::<Result<_>>()?,
            run_indexes: BlockTotals::of(clusters.map(|cluster| &cluster.run_index)),
            row_groups: row_groups.collect(),
        })
    }

    fn describe_column(&self, column: usize) -> Result<ColumnDescription> {
        let footer = self.footer();
        let field = &footer.schema.fields()[column];
        let chunks = || footer.row_groups.iter().map(|row_group| &row_group.chunks[column]);
        let mut schemes: Vec<(&'static str, u64)> = Vec::new();
        for chunk in chunks() {
            match schemes.iter_mut().find(|(name, _)| *name == chunk.scheme.name()) {
                Some((_, chunks)) => *chunks += 1,
                None => schemes.push((chunk.scheme.name(), 1)),
            }
        }
        let widths = || chunks().map(|chunk| chunk.width);
        let maps = chunks().filter_map(|chunk| match &chunk.content {
            Content::String { map, .. } => Some(map),
            Content::Decimal(_) => None,
        });
        Ok(ColumnDescription {
            name: field.name.clone(),
            logical_type: field.logical_type,
            schemes,
            widths: widths().min().zip(widths().max()),
            data: BlockTotals::of(chunks().flat_map(|chunk| &chunk.blocks)),
            maps: BlockTotals::of(maps),
            dictionary: BlockTotals::of(footer.dictionaries[column].blocks.iter().map(|(_, block)| block)),
            cardinality: footer.is_string(column).then_some(footer.dictionaries[column].values),
            nulls: 0,
            bounds: self.bounds(column)?,
        })
    }

    fn bounds(&self, column: usize) -> Result<Option<Bounds>> {
        let footer = self.footer();
        if footer.is_string(column) {
            let dictionary = self.dictionary(column)?;
            let last = (dictionary.len() as u32).checked_sub(1);
            return Ok(
                last.map(|last| Bounds::Text { min: dictionary.get(0).to_vec(), max: dictionary.get(last).to_vec() })
            );
        }
        let mut all = Statistics::EMPTY;
        let statistics = footer.row_groups.iter().filter_map(|row_group| row_group.chunks[column].statistics());
        statistics.for_each(|statistics| all.merge(statistics));
        Ok((all.count > 0).then_some(Bounds::Number { min: all.min.into(), max: all.max.into() }))
    }
}

fn describe_chunk(chunk: &Chunk) -> ChunkDescription {
    ChunkDescription {
        scheme: chunk.scheme.name(),
        width: chunk.width,
        data: BlockTotals::of(&chunk.blocks),
        cardinality: chunk.statistics().is_none().then_some(chunk.cardinality()),
        statistics: chunk.statistics().copied(),
    }
}
