//! What a record has behind its packed keys.

use super::fits_record;
use crate::plan::Plan;
use crate::states::StateKind;
use brc_core::{Batch, Column, PhysicalType};

/// The most columns whose nulls fit a word.
const MOST_COLUMNS: usize = 64;

/// Which columns of a batch a record has values of.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// How many columns a batch has.
    pub(super) columns: usize,
    /// Those with values, of which the flag says whether they are floats.
    pub(super) values: Vec<(usize, bool)>,
    /// Whether a word of nulls follows; else there are none.
    pub(super) nulls: bool,
    /// Whether a record may be of several rows: of sums in place of values, with the number of rows behind them.
    pub(super) folded: bool,
    /// Whether it might be so: nothing but sums and numbers of rows is kept.
    may_fold: bool,
}

impl Layout {
    /// For the states of a plan; `None` if its values do not fit.
    pub(super) fn of(plan: &Plan) -> Option<Self> {
        let (projection, fields) = (plan.batch_columns(), plan.fields());
        let mut kinds: Vec<(usize, Vec<StateKind>)> = Vec::new();
        for (columns, kind) in plan.states() {
            for column in columns {
                match kinds.iter_mut().find(|(known, _)| *known == column) {
                    Some((_, kinds)) => kinds.push(kind),
                    None => kinds.push((column, vec![kind])),
                }
            }
        }
        let fits = |(column, kinds): &(usize, Vec<StateKind>)| fits_record(fields[*column].logical_type, kinds);
        if !kinds.iter().all(fits) || kinds.len() > MOST_COLUMNS {
            return None;
        }
        let is_float = |column: usize| fields[column].logical_type.physical() == PhysicalType::Floats;
        let place = |&(column, _): &(usize, Vec<StateKind>)| {
            let position = projection.iter().position(|&projected| projected == column)?;
            Some((position, is_float(column)))
        };
        let adds_up = |kind: &StateKind| matches!(kind, StateKind::Sums | StateKind::Counts);
        let add_up = |(column, kinds): &(usize, Vec<StateKind>)| !is_float(*column) && kinds.iter().all(adds_up);
        let may_fold = kinds.iter().all(add_up);
        let values = kinds.iter().map(place).collect::<Option<_>>()?;
        Some(Self { columns: projection.len(), values, nulls: false, folded: false, may_fold })
    }

    /// The same for rows like those of a batch, whose keys do or do not come several times in a row. Rows with nulls, where a
    /// layout has no room for them, are grouped elsewhere.
    pub(super) fn for_rows_like(&self, batch: &Batch<'_>, keys_repeat: bool) -> Self {
        let column = |&(position, _): &(usize, bool)| batch.columns.get(position);
        let nulls = self.values.iter().filter_map(column).any(Column::has_nulls);
        Self { nulls, folded: keys_repeat && self.may_fold && !nulls, ..self.clone() }
    }

    /// Words of a record behind its tuple.
    pub(super) fn words(&self) -> usize {
        self.values.len() + usize::from(self.nulls) + usize::from(self.folded)
    }
}
