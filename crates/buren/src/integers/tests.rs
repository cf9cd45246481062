use super::scheme::SCHEMES;
use super::*;
use crate::Malformed;
use proptest::prelude::*;

#[test]
fn ids_and_names_are_pinned() {
    let list: Vec<_> = SCHEMES.iter().map(|scheme| (scheme.id, scheme.name)).collect();
    let expected = [
        (0, "constant"),
        (9, "progression"),
        (10, "periodic"),
        (1, "plain"),
        (2, "packed"),
        (7, "divisor"),
        (8, "difference"),
        (6, "dictionary"),
        (4, "run-length"),
        (5, "delta"),
    ];
    assert_eq!(list, expected);
}

/// Deterministic pseudo-random numbers.
fn random(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed.wrapping_mul(2).wrapping_add(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    })
}

fn column(rows: usize, value: impl FnMut(u64) -> i64) -> Vec<i64> {
    random(rows as u64).take(rows).map(value).collect()
}

fn chosen(values: &[i64], reference: &[i64]) -> &'static str {
    Plan::choose(values, reference).scheme()
}

#[test]
fn the_smallest_scheme_is_chosen() {
    const ROWS: usize = 150_000;
    let mut sum = 0;
    let sorted = column(ROWS, |random| {
        sum += (random % 5) as i64;
        sum
    });
    let dates = column(ROWS, |random| 8000 + (random % 2500) as i64);
    let receipts: Vec<_> = dates.iter().zip(random(1)).map(|(date, random)| date + 1 + (random % 30) as i64).collect();
    let far = column(ROWS, |random| (random % 5) as i64 * (random % 5) as i64 * 1_000_000_007);
    let runs: Vec<_> = dates.iter().step_by(50).flat_map(|&date| [date; 50]).collect();
    assert_eq!(chosen(&[7; 70_000], &[]), "constant");
    assert_eq!(chosen(&(-5..100_000).collect::<Vec<_>>(), &[]), "progression");
    let grid = |width: i64, start: i64| (start..start + ROWS as i64).map(move |at| (at % width, at / width)).unzip();
    for (width, start) in [(640, 0), (33, 1_000_003), (50_000, 49_999), (100_000, 7)] {
        let (x, y): (Vec<i64>, Vec<i64>) = grid(width, start);
        let down: Vec<_> = y.iter().map(|y| 5 - 3 * y).collect();
        for column in [x, y, down] {
            assert_eq!(chosen(&column, &[]), "periodic", "{width} {start}");
        }
    }
    let (mut broken, _): (Vec<i64>, Vec<i64>) = grid(640, 0);
    broken[ROWS - 1] += 1;
    assert_ne!(chosen(&broken, &[]), "periodic");
    assert_eq!(chosen(&column(ROWS, |random| random as i64), &[]), "plain");
    assert_eq!(chosen(&column(20, |random| random as i64 % 100), &[]), "plain");
    assert_eq!(chosen(&column(ROWS, |random| (random % 1000) as i64), &[]), "packed");
    assert_eq!(chosen(&column(ROWS, |random| (random % 50) as i64 * 100), &[]), "divisor");
    assert_eq!(chosen(&dates, &[]), "packed");
    assert_eq!(chosen(&receipts, &dates), "difference");
    assert_eq!(chosen(&column(ROWS, |random| far[random as usize % 5] + (random >> 32) as i64 % 3), &[]), "dictionary");
    assert_eq!(chosen(&runs, &[]), "run-length");
    assert_eq!(chosen(&sorted, &[]), "delta");
}

#[test]
fn estimates_are_close_to_the_actual_size() {
    let mut sum = 0;
    let columns = [
        column(200_000, |random| (random % 1000) as i64),
        column(200_000, |random| if random % 300 == 5 { random as i64 } else { (random % 1000) as i64 }),
        column(200_000, |random| {
            sum += if random % 50 == 0 { 1000 } else { 1 };
            sum
        }),
        column(100_000, |random| (random % 7) as i64 * 123_456_789),
    ];
    for values in &columns {
        let plan = Plan::choose(values, IntegerSlice::EMPTY);
        let actual = encode(&plan, values, &[]).size() as f64;
        let estimate = plan.estimated_bytes() as f64;
        assert!((estimate / actual - 1.0).abs() < 0.03, "{}: {estimate} instead of {actual}", plan.scheme());
    }
}

struct Encoded {
    id: u8,
    parameters: Vec<u8>,
    blocks: Vec<Vec<u8>>,
}

impl Encoded {
    fn size(&self) -> usize {
        self.parameters.len() + self.blocks.iter().map(Vec::len).sum::<usize>()
    }
}

fn encode(plan: &Plan, values: &[i64], reference: &[i64]) -> Encoded {
    let mut encoded = Encoded { id: plan.scheme_id(), parameters: Vec::new(), blocks: Vec::new() };
    plan.encode_parameters(&mut encoded.parameters);
    for number in 0..values.len().div_ceil(BLOCK_ROWS) {
        let mut block = Vec::new();
        plan.encode_block(number, values, reference, &mut block);
        encoded.blocks.push(block);
    }
    encoded
}

/// Decodes all rows from a multiple of a group's rows on, batch by batch.
fn decode<T: Decodable>(encoded: &Encoded, reference: &[i64], rows: usize, skip: usize) -> Result<Vec<T>, Malformed> {
    let reference: Vec<_> = reference.iter().map(|&value| T::cut(value)).collect();
    let chunk = Chunk::open(encoded.id, &encoded.parameters)?;
    let mut all = Vec::new();
    for (number, bytes) in encoded.blocks.iter().enumerate() {
        let start = number * BLOCK_ROWS;
        let block = Block { bytes, rows: BLOCK_ROWS.min(rows - start), start: start as u64 };
        let mut first = skip.min(block.rows / GROUP_ROWS * GROUP_ROWS);
        while first < block.rows {
            let mut values = vec![T::default(); 2048.min(block.rows - first)];
            let reference = reference.get(start + first..start + first + values.len()).unwrap_or_default();
            chunk.decode(&block, first, reference, &mut values)?;
            first += values.len();
            all.extend(values);
        }
    }
    Ok(all)
}

fn check<T: Decodable>(encoded: &Encoded, values: &[i64], reference: &[i64]) {
    let back: Vec<T> = decode(encoded, reference, values.len(), 0).unwrap();
    assert!(back.iter().map(|value| value.wide()).eq(values.iter().map(|&value| T::cut(value).wide())));
    if values.len() <= BLOCK_ROWS {
        let skip = 1024.min(values.len() / GROUP_ROWS * GROUP_ROWS);
        let back: Vec<T> = decode(encoded, reference, values.len(), skip).unwrap();
        assert!(back.iter().map(|value| value.wide()).eq(values[skip..].iter().map(|&value| T::cut(value).wide())));
        // A batch may end within a group.
        let chunk = Chunk::open(encoded.id, &encoded.parameters).unwrap();
        let Some(bytes) = encoded.blocks.first() else { return };
        let block = Block { bytes, rows: values.len(), start: 0 };
        let wanted = skip..values.len() - (values.len() - skip) / 3;
        let of_rows: Vec<_> = reference.get(wanted.clone()).unwrap_or_default().iter().map(|&it| T::cut(it)).collect();
        let mut some = vec![T::default(); wanted.len()];
        chunk.decode(&block, skip, &of_rows, &mut some).unwrap();
        assert!(some.iter().map(|value| value.wide()).eq(values[wanted].iter().map(|&value| T::cut(value).wide())));
    }
}

/// Codes are 32-bit integers; the largest one, if returned, must be correct.
fn check_codes(encoded: &Encoded, values: &[i64], reference: &[i64]) {
    let chunk = Chunk::open(encoded.id, &encoded.parameters).unwrap();
    for ((bytes, values), start) in encoded.blocks.iter().zip(values.chunks(BLOCK_ROWS)).zip((0..).step_by(BLOCK_ROWS))
    {
        let block = Block { bytes, rows: values.len(), start: start as u64 };
        assert!(!chunk.is_narrow(&block) || values.iter().all(|&value| i32::try_from(value).is_ok()));
        let reference: Vec<_> = reference.iter().skip(start).take(values.len()).map(|&value| value as i32).collect();
        let mut codes = vec![0; values.len()];
        let largest = chunk.decode_codes(&block, 0, &reference, &mut codes).unwrap();
        let expected: Vec<_> = values.iter().map(|&value| value as i32).collect();
        assert!(codes == expected);
        let expected = expected.iter().map(|&code| code as u32).max();
        assert!(largest.is_none_or(|largest| Some(largest) == expected), "{largest:?} {expected:?}");
    }
}

fn check_all_schemes(values: &[i64], reference: &[i64]) {
    for scheme in SCHEMES {
        let Some(plan) = Plan::with_scheme(scheme.name, values, reference) else { continue };
        let encoded = encode(&plan, values, reference);
        check::<i16>(&encoded, values, reference);
        check::<i32>(&encoded, values, reference);
        check::<i64>(&encoded, values, reference);
        check_codes(&encoded, values, reference);
    }
}

#[test]
fn extremes_round_trip() {
    for values in [&[][..], &[0], &[i64::MIN], &[i64::MIN, i64::MAX], &[i64::MAX, i64::MIN, 0, -1, 1]] {
        check_all_schemes(values, &[]);
        check_all_schemes(values, values);
        check_all_schemes(&values.repeat(2000), &[]);
    }
    check_all_schemes(&column(BLOCK_ROWS + 1, |random| ((random % 9) as i64).wrapping_mul(1 << 60)), &[]);
    check_all_schemes(&(0..140_000).collect::<Vec<_>>(), &[]);
}

/// Columns of the shapes that schemes are designed for.
fn columns() -> impl Strategy<Value = Vec<i64>> {
    let shape = (any::<u64>(), 1usize..5000, 0u32..64, any::<i64>(), 1u64..20, 1i64..1000, 0u8..4);
    shape.prop_map(|(seed, rows, shift, base, every, factor, kind)| {
        let mut state = base;
        random(seed)
            .take(rows)
            .map(|random| {
                let small = (random as i64) >> shift;
                state = match kind {
                    0 => small.wrapping_mul(factor).wrapping_add(base),
                    1 if random.is_multiple_of(every) => small,
                    2 if random.is_multiple_of(every) => state.wrapping_add(factor),
                    3 => base.wrapping_mul((random % every) as i64),
                    _ => state,
                };
                state
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn every_scheme_round_trips(values in columns(), other in columns()) {
        let reference: Vec<_> = other.iter().copied().cycle().take(values.len()).collect();
        check_all_schemes(&values, &reference);
    }

    /// Damage is refused or yields other integers.
    #[test]
    fn damage_never_panics(
        values in columns(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut: Option<prop::sample::Index>,
    ) {
        for scheme in SCHEMES {
            let Some(plan) = Plan::with_scheme(scheme.name, &values, &values) else { continue };
            let mut encoded = encode(&plan, &values, &values);
            for bytes in [&mut encoded.parameters].into_iter().chain(&mut encoded.blocks) {
                for (at, byte) in if bytes.is_empty() { &[] } else { &flips[..] } {
                    // Mostly damages the headers, which are at the front.
                    let at = at.index(if byte % 2 == 0 { bytes.len() } else { bytes.len().min(32) });
                    bytes[at] = *byte;
                }
                if let Some(cut) = cut {
                    bytes.truncate(cut.index(bytes.len() + 1));
                }
            }
            let _ = decode::<i16>(&encoded, &values, values.len(), 0);
            let _ = decode::<i64>(&encoded, &values, values.len(), 1024);
        }
    }

    #[test]
    fn any_bytes_are_refused_or_read(
        parameters in prop::collection::vec(prop_oneof![Just(0), any::<u8>()], 0..40),
        block in prop::collection::vec(prop_oneof![3 => Just(0), 1 => any::<u8>()], 0..300),
        rows in 1usize..3000,
    ) {
        for id in 0..12 {
            for parameters in [&parameters[..], &[]] {
                let encoded = Encoded { id, parameters: parameters.to_vec(), blocks: vec![block.clone()] };
                let _ = decode::<i32>(&encoded, &vec![1; rows], rows, 0);
            }
        }
    }
}

#[test]
fn the_faster_of_two_tiny_schemes_is_chosen() {
    let mut code = 0;
    let codes = column(1_000_000, |random| {
        code += i64::from(random % 2700 == 0);
        code
    });
    let plan = Plan::choose(&codes, IntegerSlice::EMPTY);
    assert_eq!(plan.scheme(), "run-length");
}
