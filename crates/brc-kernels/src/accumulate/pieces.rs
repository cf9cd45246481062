//! Exact sums of many floats, and of their products, where their exponents are close: as fixed-point numbers of three pieces
//! each, which vectors add and multiply. One float after the other as an integer of 128 bits takes ten times as long.

/// The floats of a block: so many products of pieces are added in 64 bits.
pub(super) const BLOCK: usize = 256;

/// What is added side by side.
const LANES: usize = 8;

const PIECES: usize = 3;

/// The bits of a piece. Three products of two pieces for each of the floats of a lane stay below 2⁶³.
const BITS: u32 = 28;

/// Exponents of floats, which have 53 bits, differ by at most so much.
const SPAN: u64 = (PIECES as u32 * BITS - 53) as u64;

/// The exponent of the smallest floats, which has the field 1.
const FINEST: i32 = -1074;

/// The sum of at most [`BLOCK`] finite floats as an integer and the exponent of its unit; `None` if their exponents differ too
/// much.
#[inline(always)]
pub(super) fn sum(values: &[f64]) -> Option<(i128, i32)> {
    let low = lowest(values)?;
    let mut sums = [[0; LANES]; PIECES];
    let (groups, last) = values.as_chunks::<LANES>();
    // A loop that is a closure is compiled elsewhere, without vectors.
    for values in groups {
        add(values, low, &mut sums);
    }
    add(&padded(last), low, &mut sums);
    let [low_sum, middle, high] = sums.map(total);
    Some((low_sum + (middle << BITS) + (high << (2 * BITS)), exponent(low)))
}

/// The sum of the products of equally many finite floats, at most [`BLOCK`] each, as an integer and one in units of
/// [`PRODUCT_BITS`] bits more, and the exponent of the unit; `None` if their exponents differ too much.
#[inline(always)]
pub(super) fn sum_of_products(ones: &[f64], others: &[f64]) -> Option<([i128; 2], i32)> {
    let lows = (lowest(ones)?, lowest(others)?);
    let mut sums = [[0; LANES]; 2 * PIECES - 1];
    let ((groups, last), (other_groups, other_last)) = (ones.as_chunks::<LANES>(), others.as_chunks::<LANES>());
    for (ones, others) in groups.iter().zip(other_groups) {
        add_products(ones, others, lows, &mut sums);
    }
    add_products(&padded(last), &padded(other_last), lows, &mut sums);
    let [first, second, third, fourth, fifth] = sums.map(total);
    let low = first + (second << BITS) + (third << (2 * BITS));
    Some(([low, fourth + (fifth << BITS)], exponent(lows.0) + exponent(lows.1)))
}

/// How far the second integer of [`sum_of_products`] lies above the first.
pub(super) const PRODUCT_BITS: u32 = 3 * BITS;

fn total(lanes: [i64; LANES]) -> i128 {
    lanes.into_iter().map(i128::from).sum()
}

#[inline(always)]
fn padded(values: &[f64]) -> [f64; LANES] {
    std::array::from_fn(|lane| values.get(lane).copied().unwrap_or(0.0))
}

fn exponent(field: u64) -> i32 {
    field as i32 + FINEST - 1
}

/// The field of the smallest exponent of floats that are not 0; `None` if the largest is too far above it.
#[inline(always)]
fn lowest(values: &[f64]) -> Option<u64> {
    let (mut above, mut most) = (u64::MAX, 0);
    for value in values {
        let bits = value.abs().to_bits();
        // 0 becomes the largest of all where the smallest is looked for.
        above = bits.wrapping_sub(1).min(above);
        most = bits.max(most);
    }
    let field = |bits: u64| (bits >> 52).max(1);
    match most {
        0 => Some(1),
        _ => Some(field(above + 1)).filter(|low| field(most) - low <= SPAN),
    }
}

/// The pieces of a float without its sign, the lowest first, and its sign: 0 or -1.
#[inline(always)]
fn pieces(value: f64, low: u64) -> ([u64; PIECES], i64) {
    const MASK: u64 = (1 << BITS) - 1;
    let bits = value.to_bits();
    let field = bits >> 52 & 0x7ff;
    let mantissa = bits & ((1 << 52) - 1) | u64::from(field != 0) << 52;
    // Of 0 it may be any.
    let shift = field.max(1).wrapping_sub(low) & 31;
    // The middle piece ends up to 28 bits above the end of the mantissa, or up to 3 below it.
    let middle = mantissa.rotate_left((shift as u32).wrapping_sub(BITS) & 63);
    ([mantissa << shift & MASK, middle & MASK, mantissa >> (2 * u64::from(BITS) - shift)], bits as i64 >> 63)
}

/// Adds floats to lanes of sums of pieces.
#[inline(always)]
fn add(values: &[f64; LANES], low: u64, sums: &mut [[i64; LANES]; PIECES]) {
    for lane in 0..LANES {
        let (pieces, sign) = pieces(values[lane], low);
        for piece in 0..PIECES {
            sums[piece][lane] += (pieces[piece] as i64 ^ sign) - sign;
        }
    }
}

/// Adds the products of floats to lanes of sums of products of pieces, by the place of the lower end of these.
#[inline(always)]
fn add_products(
    ones: &[f64; LANES],
    others: &[f64; LANES],
    lows: (u64, u64),
    sums: &mut [[i64; LANES]; 2 * PIECES - 1],
) {
    for lane in 0..LANES {
        let ((ones, sign), (others, other_sign)) = (pieces(ones[lane], lows.0), pieces(others[lane], lows.1));
        let sign = sign ^ other_sign;
        let ones = ones.map(|piece| (piece as i64 ^ sign) - sign);
        for one in 0..PIECES {
            for other in 0..PIECES {
                // Both have less than 32 bits, which is what vectors multiply.
                sums[one + other][lane] += i64::from(ones[one] as i32) * i64::from(others[other] as i32);
            }
        }
    }
}
