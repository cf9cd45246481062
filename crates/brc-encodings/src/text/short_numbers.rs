//! Decimals as text, fast.

use brc_core::decimal;

/// Writes decimals with what stands behind them, those near zero from a table: formatting would take most of the time.
pub(crate) struct ShortNumbers {
    scale: u8,
    end: u8,
    /// For each number from -[`ShortNumbers::REACH`]: its text with its end, and how many bytes of it count.
    texts: Vec<([u8; 8], u8)>,
}

impl ShortNumbers {
    /// Far enough for a temperature in tenths.
    const REACH: i64 = 2048;

    /// For decimals of that scale that `end` stands behind.
    pub(crate) fn new(scale: u8, end: u8) -> Self {
        let mut texts = Vec::new();
        for number in -Self::REACH..Self::REACH {
            let mut text = Vec::new();
            decimal::format(number.into(), scale, &mut text);
            text.push(end);
            let mut padded = [0; 8];
            match padded.get_mut(..text.len()) {
                Some(start) => start.copy_from_slice(&text),
                // At a larger scale even a small number has many digits.
                None => return Self { scale, end, texts: Vec::new() },
            }
            texts.push((padded, text.len() as u8));
        }
        Self { scale, end, texts }
    }

    /// Appends `number / 10^scale` with exactly as many decimals as the scale says, and what stands behind it.
    #[inline]
    pub(crate) fn write(&self, number: i64, out: &mut Vec<u8>) {
        let index = usize::try_from(number.saturating_add(Self::REACH)).unwrap_or(usize::MAX);
        match self.texts.get(index) {
            Some((text, length)) => {
                let end = out.len() + usize::from(*length);
                out.extend_from_slice(text);
                out.truncate(end);
            }
            None => {
                decimal::format(number.into(), self.scale, out);
                out.push(self.end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_from_the_table_are_those_that_are_formatted() {
        for scale in [0, 1, 2, 5, 6, 18] {
            let short = ShortNumbers::new(scale, b'\n');
            for number in (-2100..2100).chain([i64::MIN, i64::MAX, 123_456_789]) {
                let mut text = Vec::new();
                short.write(number, &mut text);
                assert_eq!(String::from_utf8(text).unwrap(), format!("{}\n", decimal::to_string(number.into(), scale)));
            }
        }
    }
}
