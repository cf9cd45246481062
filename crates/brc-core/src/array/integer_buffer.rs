//! Integers that own their memory.

use super::gather;
use crate::batch::Integers;
use crate::bitmap::Bitmap;
use crate::for_integers;

/// A growable array of integers of one width, which widens where appended ones need it.
#[derive(Debug, Clone)]
pub enum IntegerBuffer {
    /// 8 bits a value.
    I8(Vec<i8>),
    /// 16 bits a value.
    I16(Vec<i16>),
    /// 32 bits a value.
    I32(Vec<i32>),
    /// 64 bits a value.
    I64(Vec<i64>),
    /// 128 bits a value.
    I128(Vec<i128>),
}

/// Evaluates an expression with the vector of an [`IntegerBuffer`] of any width.
macro_rules! for_vectors {
    ($buffer:expr, $values:ident => $body:expr) => {
        match $buffer {
            IntegerBuffer::I8($values) => $body,
            IntegerBuffer::I16($values) => $body,
            IntegerBuffer::I32($values) => $body,
            IntegerBuffer::I64($values) => $body,
            IntegerBuffer::I128($values) => $body,
        }
    };
}

impl Default for IntegerBuffer {
    /// No integers, of the narrowest width.
    fn default() -> Self {
        Self::I8(Vec::new())
    }
}

impl IntegerBuffer {
    /// The integers, borrowed.
    #[must_use]
    pub fn as_integers(&self) -> Integers<'_> {
        match self {
            Self::I8(values) => Integers::I8(values),
            Self::I16(values) => Integers::I16(values),
            Self::I32(values) => Integers::I32(values),
            Self::I64(values) => Integers::I64(values),
            Self::I128(values) => Integers::I128(values),
        }
    }

    /// The number of integers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.as_integers().len()
    }

    /// Whether there is no integer.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all integers, keeping the width and the memory.
    pub fn clear(&mut self) {
        for_vectors!(self, values => values.clear());
    }

    /// No integers, of the same width.
    #[must_use]
    pub fn of_same_width(&self) -> Self {
        Self::of_width(&self.as_integers())
    }

    fn of_width(integers: &Integers<'_>) -> Self {
        match integers {
            Integers::I8(_) => Self::I8(Vec::new()),
            Integers::I16(_) => Self::I16(Vec::new()),
            Integers::I32(_) => Self::I32(Vec::new()),
            Integers::I64(_) => Self::I64(Vec::new()),
            Integers::I128(_) => Self::I128(Vec::new()),
        }
    }

    /// Appends integers of any width.
    #[allow(clippy::unnecessary_cast, reason = "one text for all widths")]
    pub fn extend(&mut self, integers: Integers<'_>) {
        if self.bits() < Self::of_width(&integers).bits() {
            let before = std::mem::replace(self, Self::of_width(&integers));
            self.extend(before.as_integers());
        }
        // No value is cut: the buffer is at least as wide.
        for_integers!(integers, values => match self {
            Self::I8(own) => own.extend(values.iter().map(|&value| value as i8)),
            Self::I16(own) => own.extend(values.iter().map(|&value| value as i16)),
            Self::I32(own) => own.extend(values.iter().map(|&value| value as i32)),
            Self::I64(own) => own.extend(values.iter().map(|&value| value as i64)),
            Self::I128(own) => own.extend(values.iter().map(|&value| value as i128)),
        });
    }

    /// Sets the integers from `start` on whose bit is clear to 0.
    ///
    /// # Panics
    /// If there are fewer than `start`.
    pub fn clear_nulls(&mut self, start: usize, validity: Bitmap<'_>) {
        for_vectors!(self, values => {
            let of_nulls = values[start..].iter_mut().zip(validity.iter()).filter(|(_, is_valid)| !is_valid);
            of_nulls.for_each(|(value, _)| *value = 0);
        });
    }

    /// Replaces the integers by those of some rows of others, in their width, and returns them.
    ///
    /// # Panics
    /// If a row is out of bounds.
    pub fn gather(&mut self, integers: Integers<'_>, rows: &[u32]) -> Integers<'_> {
        if self.bits() != Self::of_width(&integers).bits() {
            *self = Self::of_width(&integers);
        }
        match (&mut *self, integers) {
            (Self::I8(own), Integers::I8(values)) => Integers::I8(gather(values, rows, own)),
            (Self::I16(own), Integers::I16(values)) => Integers::I16(gather(values, rows, own)),
            (Self::I32(own), Integers::I32(values)) => Integers::I32(gather(values, rows, own)),
            (Self::I64(own), Integers::I64(values)) => Integers::I64(gather(values, rows, own)),
            (Self::I128(own), Integers::I128(values)) => Integers::I128(gather(values, rows, own)),
            (Self::I8(_) | Self::I16(_) | Self::I32(_) | Self::I64(_) | Self::I128(_), _) => {
                unreachable!("of the same width")
            }
        }
    }

    fn bits(&self) -> u32 {
        match self {
            Self::I8(_) => i8::BITS,
            Self::I16(_) => i16::BITS,
            Self::I32(_) => i32::BITS,
            Self::I64(_) => i64::BITS,
            Self::I128(_) => i128::BITS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_widen_and_keep_their_values() {
        let mut buffer = IntegerBuffer::I16(vec![1]);
        for values in [
            Integers::I8(&[-5]),
            Integers::I32(&[70_000]),
            Integers::I16(&[6]),
            Integers::I64(&[i64::MIN]),
            Integers::I128(&[i128::MAX]),
            Integers::I8(&[7]),
        ] {
            buffer.extend(values);
        }
        let all = [1, -5, 70_000, 6, i64::MIN.into(), i128::MAX, 7];
        assert_eq!(buffer.as_integers(), Integers::I128(&all));
        assert_eq!((buffer.len(), buffer.of_same_width().bits()), (7, 128));
        buffer.clear_nulls(1, Bitmap::new(&[0b10], 0, 3));
        buffer.gather(buffer.clone().as_integers(), &[0, 1, 2, 3, 4]);
        assert_eq!(buffer.as_integers(), Integers::I128(&[1, 0, 70_000, 0, i64::MIN.into()]));
        buffer.gather(Integers::I16(&[3, 4]), &[1]);
        assert_eq!(buffer.as_integers(), Integers::I16(&[4]));
        buffer.clear();
        assert_eq!(buffer.as_integers(), Integers::I16(&[]));
    }
}
