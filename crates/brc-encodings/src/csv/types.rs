//! The types of a text's columns: those of its first rows, widened by what all files of the table require.

use super::inference::Inference;
use super::text_reason::undecided;
use brc_core::{ColumnChanges, Error, Field, Result, Schema};
use brc_text::typed::{ColumnType, TextFormat};
use std::sync::Arc;

/// The types of all columns.
pub(super) struct Types {
    /// The version of the inference that they are from.
    pub(super) version: u64,
    pub(super) columns: Vec<ColumnType>,
    pub(super) schema: Arc<Schema>,
    /// What separates the fields.
    delimiter: u8,
    /// Whether some column has decimal points.
    has_points: bool,
}

impl Types {
    /// The types that all files of the table have in common.
    pub(super) fn new(
        names: &[String],
        mut columns: Vec<ColumnType>,
        format: &TextFormat,
        inference: &Inference,
    ) -> Result<Self> {
        let (delimiter, has_points) = (format.syntax.delimiter(), inference.has_decimal_points());
        let version = inference.version();
        for (name, column) in names.iter().zip(&mut columns) {
            if let ColumnType::Inferred { seen, given, .. } = column {
                *seen = seen.join(inference.of(name));
                given.likely_decimal = inference.likely_decimal();
                // Programs that write decimal commas hardly separate fields by commas.
                given.no_decimal_commas = delimiter == b',' && has_points;
            }
        }
        let field = |(name, column): (&String, &ColumnType)| Field {
            name: name.clone(),
            logical_type: column.logical_type(),
            nullable: column.nullable(),
        };
        let schema = Schema::new(names.iter().zip(&columns).map(field).collect());
        let schema = schema.map_err(|error| Error::Usage(format!("{error}; set other names with --names")))?;
        let form = |(name, column): (&String, &ColumnType)| column.form().map(|form| form.metadata(name));
        let schema = schema.with_metadata(names.iter().zip(&columns).filter_map(form).collect());
        Ok(Self { version, columns, schema: Arc::new(schema), delimiter, has_points })
    }

    /// Adds what is doubtful about the inferred types to the changes of each column.
    pub(super) fn add_doubts(&self, names: &[String], changes: &mut [ColumnChanges]) {
        let has_comma = |column: &ColumnType| match column {
            ColumnType::Inferred { seen, given, .. } => seen.decimal(given) == Some(b','),
            ColumnType::Fixed { .. } => false,
        };
        let has_commas = self.columns.iter().any(has_comma);
        let has_lists = |column: &ColumnType| matches!(column, ColumnType::Inferred { seen, .. } if seen.has_lists());
        // What speaks for lists in the other columns.
        let are_lists = self.has_points || self.columns.iter().any(has_lists);
        for ((changes, column), name) in changes.iter_mut().zip(&self.columns).zip(names) {
            let ColumnType::Inferred { seen, exact: false, given } = column else { continue };
            changes.doubtful_points = (has_commas || self.delimiter == b';')
                && given.number.is_none()
                && column.form().is_none()
                && column.logical_type().scale() == 3
                && !seen.is_ungrouped();
            let lists_are_likely = match self.delimiter {
                b',' => true,
                b';' => false,
                _ => are_lists || seen.are_like_pairs(),
            };
            changes.assumed_separator = seen.assumed_separator(given, lists_are_likely);
            let form = column.form().map(|form| form.to_string());
            changes.has_short_years = !given.is_own && form.is_some_and(|form| form.contains("%y"));
            changes.undecided = seen.ambiguity(given).map(|forms| undecided(name, forms));
            let is_unfit = given.is_own && !seen.is_untyped() && !seen.fits_given(given);
            changes.unfit_format = given.timestamp.or(given.date).filter(|_| is_unfit).map(|form| form.to_string());
        }
    }
}
