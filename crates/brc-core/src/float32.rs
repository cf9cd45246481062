//! 32-bit floats. They are 64-bit floats in memory, so that kernels need no second case: every 32-bit float is also a
//! 64-bit float, and the order is the same. Only the text form and the stored form differ.

/// Widens a float to 64 bits. Unlike a cast, this keeps every bit of a NaN.
#[must_use]
#[inline]
pub fn widen(value: f32) -> f64 {
    if value.is_nan() {
        let bits = u64::from(value.to_bits());
        f64::from_bits((bits & SIGN_32) << 32 | EXPONENT_64 | (bits & MANTISSA_32) << MORE_BITS)
    } else {
        value.into()
    }
}

/// The inverse of [`widen`]; `None` if the value is not exactly a 32-bit float.
#[must_use]
#[inline]
pub fn narrow(value: f64) -> Option<f32> {
    let narrow = nearest(value);
    (widen(narrow).to_bits() == value.to_bits()).then_some(narrow)
}

/// The nearest 32-bit float, ties to even; infinity if the value is too large. Of a longer NaN payload, the high bits
/// are kept.
#[must_use]
#[inline]
pub fn nearest(value: f64) -> f32 {
    if value.is_nan() {
        let bits = value.to_bits();
        let mantissa = bits >> MORE_BITS & MANTISSA_32;
        let quiet = if mantissa == 0 { QUIET_32 } else { mantissa };
        f32::from_bits((bits >> 32 & SIGN_32 | EXPONENT_32 | quiet) as u32)
    } else {
        value as f32
    }
}

/// The difference in mantissa length, in bits.
const MORE_BITS: u32 = 29;
const SIGN_32: u64 = 1 << 31;
const EXPONENT_32: u64 = 0x7f80_0000;
const MANTISSA_32: u64 = 0x007f_ffff;
const QUIET_32: u64 = 0x0040_0000;
const EXPONENT_64: u64 = 0x7ff0_0000_0000_0000;

/// Parses a 32-bit float, rounded once: digits with an optional point and exponent, `inf`, `infinity` or `nan`, with an
/// optional sign.
#[must_use]
pub fn parse(text: &[u8]) -> Option<f32> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Appends the shortest text that reads back as the same 32-bit float; `NaN`, `inf`, `-inf`. The sign and payload of a
/// NaN are not written.
pub fn write(value: f64, out: &mut Vec<u8>) {
    let value = nearest(value);
    if value == 0.0 || (1e-4..1e7).contains(&value.abs()) {
        out.extend_from_slice(zmij::Buffer::new().format(value).as_bytes());
    } else {
        // Exponents have Rust's form: `1e30`, and from `9e-5` down.
        out.extend_from_slice(format!("{value:?}").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5000))]
        #[test]
        fn every_bit_is_kept(bits: u32) {
            for bits in [bits, bits | 0x7f80_0000, bits & 0x807f_ffff] {
                let value = f32::from_bits(bits);
                prop_assert_eq!(narrow(widen(value)).unwrap().to_bits(), bits);
            }
        }

        #[test]
        fn order_is_kept(a: u32, b: u32) {
            let (a, b) = (f32::from_bits(a), f32::from_bits(b));
            prop_assert_eq!(widen(a).total_cmp(&widen(b)), a.total_cmp(&b));
        }

        #[test]
        fn text_is_the_shortest(bits: u32, digits in -99_999i32..99_999, exponent in -9i32..9) {
            for value in [f32::from_bits(bits), digits as f32 * 10f32.powi(exponent), digits as f32] {
                let mut out = Vec::new();
                write(widen(value), &mut out);
                // Of two equally near shortest forms, either may be written.
                prop_assert_eq!(out.len(), format!("{value:?}").len());
                let back = parse(&out).unwrap();
                prop_assert!(back.to_bits() == value.to_bits() || (back.is_nan() && value.is_nan()));
            }
        }
    }

    #[test]
    fn only_widened_floats_are_narrow() {
        assert_eq!(narrow(1.5), Some(1.5));
        for value in [1.1, 1e39, 1e-50, f64::from_bits(0x7ff0_0000_0000_0001)] {
            assert_eq!(narrow(value), None, "{value}");
        }
        assert!(nearest(f64::from_bits(0x7ff0_0000_0000_0001)).is_nan());
        assert_eq!(nearest(1e39), f32::INFINITY);
    }
}
