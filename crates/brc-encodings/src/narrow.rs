//! Narrows numbers to 16 bits if they fit, which makes sums faster.

use brc_core::Integers;

/// A buffer for the narrow form of one column.
#[derive(Debug, Default)]
pub(crate) struct Narrow(Vec<i16>);

impl Narrow {
    /// The numbers as 16-bit integers if all of them fit; otherwise unchanged.
    pub(crate) fn narrowed<'a>(&'a mut self, numbers: &'a [i64]) -> Integers<'a> {
        let mut differences = 0;
        self.0.clear();
        self.0.extend(numbers.iter().map(|&number| {
            let narrow = number as i16;
            differences |= number ^ i64::from(narrow);
            narrow
        }));
        if differences == 0 { Integers::I16(&self.0) } else { Integers::I64(numbers) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_fitting_numbers_are_narrowed() {
        let mut narrow = Narrow::default();
        for fitting in [&[][..], &[0], &[i16::MIN.into(), 3, i16::MAX.into()]] {
            let values: Vec<i16> = fitting.iter().map(|&number| number as i16).collect();
            assert_eq!(narrow.narrowed(fitting), Integers::I16(&values));
        }
        for wide in [&[40_000][..], &[1, -32_769, 1], &[i64::MIN], &[i64::MAX, 0], &[1 << 40]] {
            assert_eq!(narrow.narrowed(wide), Integers::I64(wide));
        }
    }
}
