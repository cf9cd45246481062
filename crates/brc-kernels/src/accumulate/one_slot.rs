//! Accumulator rows of a single slot: nothing is transposed, and integers are added directly from their column.

use super::UnknownGroup;
use super::table::{COPIES, Counted, Operand};
use crate::cpu::Level;
use crate::direct::bounds;
use brc_core::Integers;

/// Adds rows to the sums of their groups, of which each has `copies`; `None` if the operand must be evaluated first.
pub(super) fn add_operand(
    level: Level,
    copies: usize,
    groups: &[u32],
    operand: Operand<'_>,
    sums: &mut [i64],
) -> Option<Result<(), UnknownGroup>> {
    Some(match operand {
        Operand::One => add_words(level, copies, groups, groups, |_| 1, sums),
        Operand::Integers(values) => add_integers(level, copies, groups, values, 0, sums),
        Operand::Counted(values) => add_integers(level, copies, groups, values, Counted::ONE, sums),
        Operand::Products(..) | Operand::High(..) | Operand::Low(..) => return None,
    })
}

/// Adds integers, and `plus` for each; 128-bit integers are truncated to 64 bits.
fn add_integers(
    level: Level,
    copies: usize,
    groups: &[u32],
    values: Integers<'_>,
    plus: i64,
    sums: &mut [i64],
) -> Result<(), UnknownGroup> {
    match values {
        Integers::I8(values) => add_words(level, copies, groups, values, |value| plus + i64::from(value), sums),
        Integers::I16(values) => add_words(level, copies, groups, values, |value| plus + i64::from(value), sums),
        Integers::I32(values) => add_words(level, copies, groups, values, |value| plus + i64::from(value), sums),
        Integers::I64(values) => add_words(level, copies, groups, values, |value| plus.wrapping_add(value), sums),
        Integers::I128(values) => {
            add_words(level, copies, groups, values, |value| plus.wrapping_add(value as i64), sums)
        }
    }
}

/// Adds `word` of each row's value to the sum of its group; there is one value per group entry.
///
/// # Errors
/// If a group does not exist; nothing is added then.
pub(super) fn add_words<T: Copy>(
    level: Level,
    copies: usize,
    groups: &[u32],
    values: &[T],
    word: impl Fn(T) -> i64,
    sums: &mut [i64],
) -> Result<(), UnknownGroup> {
    match copies {
        1 => add::<T, 1>(level, groups, values, word, sums),
        COPIES => add::<T, COPIES>(level, groups, values, word, sums),
        _ => Err(UnknownGroup),
    }
}

fn add<T: Copy, const TURNS: usize>(
    level: Level,
    groups: &[u32],
    values: &[T],
    word: impl Fn(T) -> i64,
    sums: &mut [i64],
) -> Result<(), UnknownGroup> {
    if bounds(level, groups).is_some_and(|(_, largest)| largest as usize >= sums.len() / TURNS) {
        return Err(UnknownGroup);
    }
    let (eights, rest) = groups.as_chunks::<8>();
    let (of_eights, of_rest) = values.as_chunks::<8>();
    for (groups, values) in eights.iter().zip(of_eights) {
        for row in 0..8 {
            let place = groups[row] as usize * TURNS + row % TURNS;
            // SAFETY: no group exceeds the largest, which has a sum for every copy.
            let sum = unsafe { sums.get_unchecked_mut(place) };
            *sum = sum.wrapping_add(word(values[row]));
        }
    }
    for (row, (&group, &value)) in rest.iter().zip(of_rest).enumerate() {
        let sum = sums.get_mut(group as usize * TURNS + row % TURNS).ok_or(UnknownGroup)?;
        *sum = sum.wrapping_add(word(value));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The total that the rows of a group add, over all its copies.
    fn expected(rows: &[(u32, i64)], group: usize, word: impl Fn(i64) -> i64) -> i64 {
        let of_group = rows.iter().filter(|row| row.0 as usize == group);
        of_group.fold(0, |sum, row| sum.wrapping_add(word(row.1)))
    }

    proptest! {
        #[test]
        fn sums_agree_with_plain_code(
            rows in prop::collection::vec((0u32..70, any::<i64>()), 0..300),
            shift in 0u32..64,
            copies in prop::sample::select(vec![1, COPIES]),
        ) {
            let groups: Vec<u32> = rows.iter().map(|row| row.0).collect();
            let rows: Vec<(u32, i64)> = rows.iter().map(|row| (row.0, row.1 >> shift)).collect();
            let i64s: Vec<i64> = rows.iter().map(|row| row.1).collect();
            let i8s: Vec<i8> = i64s.iter().map(|&value| value as i8).collect();
            let i16s: Vec<i16> = i64s.iter().map(|&value| value as i16).collect();
            let i32s: Vec<i32> = i64s.iter().map(|&value| value as i32).collect();
            let i128s: Vec<i128> = i64s.iter().map(|&value| i128::from(value) << 3).collect();
            type Word = fn(i64) -> i64;
            let integers: [(Integers<'_>, Word); 5] = [
                (Integers::I8(&i8s), |value| (value as i8).into()),
                (Integers::I16(&i16s), |value| (value as i16).into()),
                (Integers::I32(&i32s), |value| (value as i32).into()),
                (Integers::I64(&i64s), |value| value),
                (Integers::I128(&i128s), |value| value << 3),
            ];
            for level in Level::available() {
                let check = |operand: Operand<'_>, word: &dyn Fn(i64) -> i64| {
                    let mut sums = vec![0; 70 * copies];
                    add_operand(level, copies, &groups, operand, &mut sums).unwrap().unwrap();
                    for (group, copies) in sums.chunks(copies).enumerate() {
                        let sum = copies.iter().fold(0i64, |sum, &copy| sum.wrapping_add(copy));
                        assert_eq!(sum, expected(&rows, group, word), "{operand:?} {group}");
                    }
                    // A table that ends before the group of the last row.
                    if let Some((&group, _)) = groups.split_last() {
                        let mut sums = vec![0; group as usize * copies];
                        assert_eq!(add_operand(level, copies, &groups, operand, &mut sums), Some(Err(UnknownGroup)));
                    }
                };
                check(Operand::One, &|_| 1);
                for (values, word) in integers {
                    check(Operand::Integers(values), &word);
                    check(Operand::Counted(values), &|value| Counted::ONE.wrapping_add(word(value)));
                }
                let products = Operand::Products(integers[0].0, integers[1].0);
                prop_assert_eq!(add_operand(level, copies, &groups, products, &mut [0; 4]), None);
            }
        }
    }
}
