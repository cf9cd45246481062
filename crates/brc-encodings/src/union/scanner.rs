//! Scans several tables for one worker.

use super::Union;
use super::columns::Origin;
use super::conversion::Misfit;
use super::numbering::SplitLocation;
use super::translation::{TranslatedColumn, Translation, Zeros, constant};
use brc_core::table::ColumnSummary;
use brc_core::{
    Batch, ColumnStatistics, Conjunct, Data, Error, Field, PruneResult, Result, ScanError, ScanOptions, Scanned,
    Scanner, Schema, Sink, Split, Summary,
};
use std::sync::Arc;

/// Scans tables in sequence: a worker's splits are in table order.
pub(super) struct UnionScanner<'a> {
    union: &'a Union,
    options: ScanOptions,
    /// For each table, the origins of the columns known at the start of the scan.
    origins: Vec<Vec<Origin>>,
    /// For each table, whether statistics exclude all its rows, so that it is not read.
    pruned: Vec<bool>,
    /// Whether only one table has rows.
    is_alone: bool,
    /// The current table and its scanner.
    current: Option<(usize, Box<dyn Scanner + 'a>)>,
    translation: Translation<'a>,
}

impl<'a> UnionScanner<'a> {
    /// `schema` has the columns of the union as currently known.
    pub(super) fn new(union: &'a Union, schema: &Schema, options: &ScanOptions) -> Self {
        let is_alone = union.tables.iter().filter(|table| table.rows() != Some(0)).count() <= 1;
        let column = |&column: &usize| TranslatedColumn::new(column, &schema.fields()[column], is_alone);
        let position = |column: &usize| options.projection.iter().position(|projected| projected == column);
        let positions = |conjunct: &Conjunct| conjunct.columns.iter().filter_map(position).collect();
        let translation = Translation {
            table: 0,
            columns: options.projection.iter().map(column).collect(),
            tested: options.conjuncts.iter().map(positions).collect(),
            constants: &union.constants,
            zeros: Zeros::default(),
        };
        let origins = union.origins(schema);
        let is_pruned = |(table, origins): (usize, &Vec<Origin>)| {
            let known = |column: usize| {
                origins.get(column).map_or(ColumnStatistics::UNKNOWN, |it| union.statistics_of_all(table, *it))
            };
            options.predicate.as_ref().is_some_and(|predicate| predicate.decide(&known) == PruneResult::Never)
        };
        let pruned = origins.iter().enumerate().map(is_pruned).collect();
        Self { union, options: options.clone(), origins, pruned, is_alone, current: None, translation }
    }

    /// Skips a split of a pruned table; `None` if there are no more splits.
    fn skip(&self, table: usize, split: &Split) -> Option<Scanned> {
        let own = &self.union.tables[table];
        if own.bytes().is_none() {
            // The number of splits of a stream is unknown.
            self.union.end(table)?;
            return Some(Scanned::default());
        }
        // Files that do not store the rows of each split may store those of all: they count as skipped with the first.
        let of_first = || own.rows().filter(|_| split.index == 0);
        let skipped_rows = own.rows_of(split.index).or_else(of_first).unwrap_or(0);
        Some(Scanned { skipped_rows, ..Scanned::default() })
    }

    /// Switches to a table.
    fn switch_to(&mut self, table: usize, sink: &mut dyn Sink) -> Result<()> {
        if self.current.as_ref().is_some_and(|(current, _)| *current == table) {
            return Ok(());
        }
        self.finish(sink)?;
        let origins = &self.origins[table];
        let options = self.union.options_of(table, origins, &self.options);
        let scanner = self.union.tables[table].scanner(&options)?;
        let origins = self.options.projection.iter().map(|&column| origins[column]);
        self.translation.switch_to(table, self.union.tables[table].rows(), origins);
        if !self.is_alone && !self.options.conjuncts.is_empty() {
            sink.forget_codes();
        }
        self.current = Some((table, scanner));
        Ok(())
    }
}

impl Scanner for UnionScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let union = self.union;
        let Some(SplitLocation { table, split: inner, .. }) = union.numbering.find(split.index, &union.tables) else {
            return Ok(None);
        };
        if self.pruned[table] {
            return Ok(self.skip(table, &inner));
        }
        self.switch_to(table, sink)?;
        let Some((_, scanner)) = &mut self.current else { return Ok(None) };
        let mut translating = TranslatingSink { translation: &mut self.translation, union, sink };
        let own = &union.tables[table];
        if union.is_inferred && own.inferred().is_none() {
            translating.schema(&Arc::new(own.schema().clone()))?;
        }
        let Some(scanned) = scanner.scan(&inner, &mut translating)? else {
            return Ok(union.end(table).map(|()| Scanned::default()));
        };
        Ok(Some(scanned))
    }

    fn finish(&mut self, sink: &mut dyn Sink) -> Result<()> {
        match &mut self.current {
            Some((_, scanner)) => {
                scanner.finish(&mut TranslatingSink { translation: &mut self.translation, union: self.union, sink })
            }
            None => Ok(()),
        }
    }
}

/// A sink for the current table that delivers its rows as rows of the union.
struct TranslatingSink<'s, 't, 'a> {
    translation: &'t mut Translation<'a>,
    union: &'a Union,
    sink: &'s mut dyn Sink,
}

impl TranslatingSink<'_, '_, '_> {
    /// Delivers the rows of a batch as rows of the union.
    fn translate(
        &mut self,
        batch: &Batch<'_>,
        wanted: Option<&[u64]>,
        hand_over: impl FnOnce(&mut dyn Sink, &Batch<'_>) -> Result<()>,
    ) -> Result<()> {
        if batch.rows == 0 {
            return Ok(());
        }
        let Translation { table, columns, zeros, .. } = &mut *self.translation;
        zeros.make(batch.rows);
        let own = columns.iter_mut().filter(|column| column.is_own());
        for (column, own) in own.zip(batch.columns) {
            column.convert(own, batch.rows, wanted).map_err(|Misfit| self.union.misfit(*table, column.index))?;
            column.shared.prepare(own.data, wanted);
        }
        constant(columns).for_each(|column| column.prepare_constant(batch.rows));
        let translated =
            self.translation.columns_at(0..self.translation.columns.len(), batch, |column, own| column.as_column(own));
        hand_over(self.sink, &Batch { rows: batch.rows, columns: &translated })
    }
}

impl Sink for TranslatingSink<'_, '_, '_> {
    fn schema(&mut self, schema: &Arc<Schema>) -> Result<()> {
        let now = self.union.current()?;
        let all = now.as_ref().unwrap_or(&self.union.schema);
        let origins = self.union.origins_in(self.translation.table, all, schema);
        let field = |(origin, field): (&Origin, &Field)| match origin {
            Origin::Column { own, conversion: None } => schema.fields()[*own].clone(),
            Origin::Column { own, conversion: Some(_) } => {
                Field { logical_type: field.logical_type, ..schema.fields()[*own].clone() }
            }
            Origin::Constant(_) | Origin::Missing => field.clone(),
        };
        let fields: Vec<Field> = origins.iter().zip(all.fields()).map(field).collect();
        for column in &mut self.translation.columns {
            // If columns were added, the sink receives none of these rows.
            let Some((field, origin)) = fields.get(column.index).zip(origins.get(column.index)) else { continue };
            column.physical = field.logical_type.physical();
            if column.is_own() && matches!(origin, Origin::Column { .. }) {
                column.origin = *origin;
            }
        }
        let schema = Schema::new(fields).map_err(|error| Error::Usage(error.to_string()))?;
        self.sink.schema(&Arc::new(schema.with_metadata(all.metadata().to_vec())))
    }

    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        self.translate(batch, None, |sink, batch| sink.batch(batch))
    }

    fn test(&mut self, conjunct: usize, batch: &Batch<'_>, rows: &mut [u64]) -> Result<usize> {
        let Translation { table, columns, tested, zeros, .. } = &mut *self.translation;
        zeros.make(batch.rows);
        let mut own = batch.columns.iter();
        for &position in &tested[conjunct] {
            let column = &mut columns[position];
            if let Origin::Constant(_) = column.origin {
                column.prepare_constant(batch.rows);
            }
            if column.is_own()
                && let Some(own) = own.next()
            {
                column
                    .convert(own, batch.rows, Some(rows))
                    .map_err(|Misfit| self.union.misfit(*table, column.index))?;
            }
        }
        // Most tested rows are filtered out: translating their codes would not pay.
        let translated =
            self.translation.columns_at(self.translation.tested[conjunct].iter().copied(), batch, |_, own| *own);
        self.sink.test(conjunct, &Batch { rows: batch.rows, columns: &translated }, rows)
    }

    fn wants(&self, position: usize) -> bool {
        let is_own = |it: &(usize, &TranslatedColumn<'_>)| it.1.is_own();
        let column = self.translation.columns.iter().enumerate().filter(is_own).nth(position);
        column.is_none_or(|(index, _)| self.sink.wants(index))
    }

    fn tested(&mut self, batch: &Batch<'_>, rows: Option<&[u64]>) -> Result<()> {
        self.translate(batch, rows, |sink, batch| sink.tested(batch, rows))
    }

    fn weighted(&mut self, batch: &Batch<'_>, weights: &[u32]) -> Result<()> {
        self.translate(batch, None, |sink, batch| sink.weighted(batch, weights))
    }

    fn summary(&mut self, summary: &Summary<'_>) -> Result<()> {
        let columns = &mut self.translation.columns;
        let own = columns.iter_mut().filter(|column| column.is_own());
        for (column, own) in own.zip(summary.columns) {
            if let ColumnSummary::Codes { codes, dictionary } = own {
                column.shared.prepare_codes(Data::Codes { codes, dictionary }, None);
            }
        }
        constant(columns).for_each(|column| column.prepare_sets(summary.rows));
        let mut own = summary.columns.iter();
        let translated = columns.iter().filter_map(|column| match column.origin {
            Origin::Column { .. } => own.next().map(|own| match own {
                ColumnSummary::Codes { codes, dictionary } => {
                    match column.shared.as_data(Data::Codes { codes, dictionary }) {
                        Data::Codes { codes, dictionary } => ColumnSummary::Codes { codes, dictionary },
                        Data::Runs { .. } | Data::Bytes(_) | Data::Integers(_) | Data::Floats(_) => *own,
                    }
                }
                ColumnSummary::Numbers(_) => *own,
            }),
            Origin::Constant(_) => column.constant_sets(summary.rows.len()),
            // A missing column has no summaries.
            Origin::Missing => None,
        });
        self.sink.summary(&Summary { rows: summary.rows, columns: &translated.collect::<Vec<_>>() })
    }
}
