//! What a union passes on to each of its tables: the columns, and what is known of the rows that are wanted.

use super::Union;
use super::columns::Origin;
use brc_core::{Conjunct, Predicate, PruneResult, ScanOptions, ValueBounds};

impl Union {
    /// The scan options for one table whose columns have these origins, given the options for the union.
    pub(super) fn options_of(&self, table: usize, origins: &[Origin], options: &ScanOptions) -> ScanOptions {
        let own = |column: &usize| match origins[*column] {
            Origin::Column { own, .. } => Some(own),
            Origin::Constant(_) | Origin::Missing => None,
        };
        let projection: Vec<_> = options.projection.iter().filter_map(own).collect();
        let is_missing =
            |column: &usize| matches!(self.statistics_of_all(table, origins[*column]).values, ValueBounds::None);
        let predicate = options.predicate.as_ref().map(|predicate| self.predicate_of(table, origins, predicate));
        let is_converted = |column: &usize| origins[*column].is_converted();
        // Statistics may replace rows only if all rows are known to match, and only in the type of the union.
        let exact = !matches!(predicate, Some(None))
            && !options.projection.iter().any(|column| is_missing(column) || is_converted(column));
        let conjunct = |conjunct: &Conjunct| Conjunct {
            columns: conjunct.columns.iter().filter_map(own).collect(),
            predicate: conjunct.predicate.as_ref().and_then(|part| self.predicate_of(table, origins, part)),
        };
        ScanOptions {
            projection,
            predicate: predicate.flatten(),
            conjuncts: options.conjuncts.iter().map(conjunct).collect(),
            statistics: options.statistics && exact,
            counts: options.counts,
            sums: options.sums && exact,
            order: options.order,
            // The union scans the splits one by one.
            splits: None,
        }
    }

    /// The predicate for the rows of one table; `None` if it depends on a column that the table lacks.
    pub(super) fn predicate_of(&self, table: usize, origins: &[Origin], predicate: &Predicate) -> Option<Predicate> {
        let of_constant = |constant: usize| {
            let known = |_| self.constants[constant].of(table).statistics();
            match predicate.decide(&known) {
                _ if matches!(known(0).values, ValueBounds::None) && !matches!(predicate, Predicate::IsNull { .. }) => {
                    None
                }
                PruneResult::Always => Some(Predicate::Constant(true)),
                PruneResult::Never => Some(Predicate::Constant(false)),
                PruneResult::Maybe => None,
            }
        };
        let part = |part: &Predicate| self.predicate_of(table, origins, part);
        let parts = |parts: &[Predicate]| parts.iter().map(part).collect::<Option<_>>();
        let origin = |column: usize| origins[column];
        Some(match predicate {
            Predicate::Constant(holds) => Predicate::Constant(*holds),
            Predicate::Range { column, low, high } => match origin(*column) {
                Origin::Column { own, conversion: None } => Predicate::Range { column: own, low: *low, high: *high },
                // The type of the union may have changed since the predicate was bound.
                Origin::Column { conversion: Some(_), .. } if self.is_inferred => return None,
                Origin::Column { own, conversion: Some(conversion) } => return conversion.range(own, *low, *high),
                Origin::Constant(constant) => return of_constant(constant),
                Origin::Missing => return None,
            },
            Predicate::Compare { column, comparison, value } => match origin(*column) {
                Origin::Column { own, conversion: None } => {
                    Predicate::Compare { column: own, comparison: *comparison, value: value.clone() }
                }
                Origin::Constant(constant) => return of_constant(constant),
                Origin::Column { conversion: Some(_), .. } | Origin::Missing => return None,
            },
            Predicate::IsNull { column } => match origin(*column) {
                Origin::Column { own, .. } => Predicate::IsNull { column: own },
                Origin::Constant(constant) => return of_constant(constant),
                Origin::Missing => Predicate::Constant(true),
            },
            Predicate::And(all) => Predicate::And(parts(all)?),
            Predicate::Or(any) => Predicate::Or(parts(any)?),
            Predicate::Not(negated) => Predicate::Not(Box::new(part(negated)?)),
        })
    }
}
