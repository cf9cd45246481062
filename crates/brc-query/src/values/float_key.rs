//! Floats as unsigned integers of the same order. The two zeros are one, and so are all NaNs, which are above all
//! numbers.

use brc_core::float_of_order;
use brc_kernels::accumulate::ordered_float;

/// The bits of a float as a key.
pub(crate) fn float_key(value: f64) -> u64 {
    ordered_float(value) as u64 ^ 1 << 63
}

/// The float that has these bits as a key.
pub(crate) fn float_of_key(bits: u64) -> f64 {
    float_of_order((bits ^ 1 << 63) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_order_as_keys() {
        let floats = [f64::NEG_INFINITY, -1.5, -f64::MIN_POSITIVE, 0.0, 1e-300, 2.0, f64::INFINITY, f64::NAN];
        assert!(floats.windows(2).all(|pair| float_key(pair[0]) < float_key(pair[1])));
        assert_eq!(float_key(-0.0), float_key(0.0));
        assert_eq!(float_key(-f64::NAN), float_key(f64::from_bits(0x7ff0_0000_0000_0001)));
        assert_eq!(floats.map(|float| float_of_key(float_key(float)).to_bits()), floats.map(f64::to_bits));
    }
}
