//! The values of a column that are wanted and not null, with the group of each.

use crate::keys::group_ids::GroupIds;
use crate::states::Values;
use crate::values::selection::{Selection, keep, set_rows};
use brc_core::batch::codes_of;
use brc_core::{Bitmap, Column, Data, Integers, Run};
use brc_kernels::cpu::Level;
use brc_kernels::filter::{compress, compress_runs};

/// Memory for the wanted values of a batch, used again for the next.
#[derive(Debug, Clone, Default)]
pub(crate) struct FilteredValues {
    /// Rows that are wanted and not null.
    mask: Vec<u64>,
    /// Which of the wanted rows are not null.
    among: Vec<u64>,
    ids: Vec<u32>,
    runs: Vec<Run>,
    integers: FilteredIntegers,
    floats: Vec<f64>,
    codes: Vec<u32>,
    rows: Vec<u32>,
}

/// Integers of some rows of a batch, in sequence.
#[derive(Debug, Clone, Default)]
pub(crate) struct FilteredIntegers {
    i8s: Vec<i8>,
    i16s: Vec<i16>,
    i32s: Vec<i32>,
    i64s: Vec<i64>,
    i128s: Vec<i128>,
}

impl FilteredIntegers {
    /// Those of rows whose bits are set.
    pub(crate) fn of(&mut self, level: Level, values: Integers<'_>, mask: &[u64]) -> Integers<'_> {
        match values {
            Integers::I8(values) => Integers::I8(kept(values, mask, &mut self.i8s)),
            Integers::I16(values) => {
                compress(level, values, mask, &mut self.i16s);
                Integers::I16(&self.i16s)
            }
            Integers::I32(values) => {
                compress(level, values, mask, &mut self.i32s);
                Integers::I32(&self.i32s)
            }
            Integers::I64(values) => {
                compress(level, values, mask, &mut self.i64s);
                Integers::I64(&self.i64s)
            }
            Integers::I128(values) => Integers::I128(kept(values, mask, &mut self.i128s)),
        }
    }
}

impl FilteredValues {
    /// The values of a column of a batch of `rows` rows that count, and their groups. `ids` are those of the selected
    /// rows.
    pub(crate) fn of<'a>(
        &'a mut self,
        level: Level,
        column: &Column<'a>,
        selection: Selection<'a>,
        ids: GroupIds<'a>,
    ) -> (GroupIds<'a>, Values<'a>) {
        let validity = column.validity.filter(|validity| validity.count_nulls() > 0);
        let (mask, ids) = match (selection, validity) {
            (Selection::All, None) => (None, ids),
            (Selection::Some(mask, _), None) => (Some(mask), ids),
            (selection, Some(validity)) => {
                self.narrow(selection, validity);
                let ids = match ids {
                    GroupIds::Rows(all) => {
                        compress(level, all, &self.among, &mut self.ids);
                        GroupIds::Rows(&self.ids)
                    }
                    GroupIds::Runs(all) => {
                        compress_runs(level, all, &self.among, &mut self.runs);
                        GroupIds::Runs(&self.runs)
                    }
                };
                (Some(self.mask.as_slice()), ids)
            }
        };
        let values = match column.data {
            Data::Codes { codes, dictionary } => match mask {
                None => Values::Codes { codes, dictionary },
                Some(mask) => {
                    compress(level, codes, mask, &mut self.codes);
                    Values::Codes { codes: &self.codes, dictionary }
                }
            },
            Data::Runs { dictionary, .. } => {
                self.codes.clear();
                codes_of(column, &mut self.codes);
                if let Some(mask) = mask {
                    keep(&mut self.codes, mask);
                }
                Values::Codes { codes: &self.codes, dictionary }
            }
            Data::Bytes(strings) => {
                self.rows.clear();
                self.rows.extend(0..strings.len() as u32);
                if let Some(mask) = mask {
                    keep(&mut self.rows, mask);
                }
                Values::Bytes { strings, rows: &self.rows }
            }
            Data::Floats(values) => Values::Floats(match mask {
                None => values,
                Some(mask) => kept(values, mask, &mut self.floats),
            }),
            Data::Integers(values) => Values::Integers(match mask {
                None => values,
                Some(mask) => self.integers.of(level, values, mask),
            }),
        };
        (ids, values)
    }

    /// Finds the selected rows that are not null: among all rows, and among the selected ones.
    fn narrow(&mut self, selection: Selection<'_>, validity: Bitmap<'_>) {
        self.mask.clear();
        self.among.clear();
        match selection {
            Selection::All => {
                self.mask.extend(validity.words().map(|(word, _)| word));
                self.among.extend_from_slice(&self.mask);
            }
            Selection::Some(mask, _) => {
                self.mask.extend(validity.words().zip(mask).map(|((values, _), wanted)| values & wanted));
                let mut place = 0;
                for (&values, &wanted) in self.mask.iter().zip(mask) {
                    let mut left = wanted;
                    while left != 0 {
                        if place % 64 == 0 {
                            self.among.push(0);
                        }
                        let value = values >> left.trailing_zeros() & 1;
                        self.among[place / 64] |= value << (place % 64);
                        place += 1;
                        left &= left - 1;
                    }
                }
            }
        }
    }
}

fn kept<'a, T: Copy>(values: &[T], mask: &[u64], kept: &'a mut Vec<T>) -> &'a [T] {
    kept.clear();
    kept.extend(set_rows(mask).map(|row| values[row]));
    kept
}
