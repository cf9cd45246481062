//! All strings round-trip in every scheme; arbitrary block contents are refused or decoded, without a panic.

use super::schemes::SCHEMES;
use super::*;
use proptest::prelude::*;
use proptest::strategy::Union;

/// Columns of the kinds that schemes are designed for.
fn columns() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let word = prop_oneof![Just("the "), Just("regular "), Just("deposits "), Just("sleep"), Just("."), Just("x")];
    let text = prop::collection::vec(word, 0..8).prop_map(|words| words.concat());
    let kinds: [BoxedStrategy<String>; 11] = [
        Just(String::new()).boxed(),
        Just("the same".repeat(3)).boxed(),
        text.boxed(),
        any::<[u8; 4]>().prop_map(|[a, b, c, d]| format!("{a}.{b}.{c}.{d}")).boxed(),
        any::<[u8; 2]>().prop_map(|[a, b]| format!("10.0.{a}.{b}")).boxed(),
        any::<u64>().prop_map(|number| format!("id{:018}", number % 1_000_000_000_000_000_000)).boxed(),
        any::<u32>().prop_map(|number| format!("user-{}@example.org", number >> (number % 32))).boxed(),
        any::<[u32; 2]>().prop_map(|[a, b]| format!("{a:08x}-{:04x}-{b:08x}", a >> 16)).boxed(),
        prop::collection::vec(prop_oneof![Just("A"), Just("C"), Just("G"), Just("T")], 0..30)
            .prop_map(|bases| bases.concat())
            .boxed(),
        "[a-f0-9]{0,40}".boxed(),
        "[yn]".boxed(),
    ];
    let kinds = kinds.map(|kind| kind.prop_map(String::into_bytes).boxed());
    let bytes = prop::collection::vec(any::<u8>(), 0..40).boxed();
    let column = |kind| prop::collection::vec(kind, 0..40);
    let odd = column(Union::new(kinds.clone().into_iter().chain([bytes.clone()])).boxed());
    prop_oneof![4 => Union::new(kinds.into_iter().chain([bytes]).map(column)), 1 => odd]
}

/// A column with several groups, if `copies` is large.
fn column(values: &[Vec<u8>], copies: usize) -> StringBuffer {
    values.iter().map(Vec::as_slice).cycle().take(values.len() * copies).collect()
}

fn decoded(
    block: &[u8],
    rows: usize,
    part: std::ops::Range<usize>,
    tokens: &Tokens,
) -> Result<StringBuffer, Malformed> {
    let mut out = StringBuffer::default();
    StringBlock::open(block, rows, Some(tokens))?.decode(part, &mut Scratch::default(), &mut out)?;
    Ok(out)
}

/// Decodes and reads everything; it must not panic.
fn explore(block: &[u8], rows: usize, tokens: &Tokens) {
    for part in [0..rows, rows / GROUP * GROUP..rows] {
        if let Ok(out) = decoded(block, rows, part.clone(), tokens) {
            assert_eq!(out.strings().iter().count(), part.len());
        }
    }
    for tokens in [None, Some(tokens)] {
        let Ok(block) = SortedBlock::open(block, rows, tokens) else { continue };
        let _ = block.decode(&mut Scratch::default(), &mut StringBuffer::default());
        if rows > 0 {
            let _ = block.get(rows - 1, &mut Scratch::default());
        }
    }
}

proptest! {
    #[test]
    fn numbers_match_their_strings(
        (prefix, suffix) in ("[a-z0-9]{0,4}", "[a-z0]{0,3}"),
        width in 0usize..15,
        numbers in prop::collection::vec(0i64..1_000_000, 1..60),
    ) {
        let values: Vec<_> = numbers.iter().map(|number| format!("{prefix}{number:0width$}{suffix}").into_bytes()).collect();
        let strings = column(&values, 40);
        let mut block = Vec::new();
        encode(strings.strings(), None, &mut block);
        let block = StringBlock::open(&block, strings.strings().len(), None).unwrap();
        if let Some(found) = block.numbers().unwrap() {
            let (mut read, mut text) = (Vec::new(), Vec::new());
            for first in (0..strings.strings().len()).step_by(GROUP) {
                let rows = first..strings.strings().len().min(first + GROUP);
                found.read(rows.clone(), &mut read).unwrap();
                for (row, &number) in rows.zip(&read) {
                    found.format.write(number, &mut text);
                    prop_assert_eq!(&text, &values[row % values.len()]);
                    prop_assert_eq!(found.format.number(&text), Some(number));
                    // Digits that all values share are not part of the number.
                    let mut next = Vec::new();
                    found.format.write(number + 1, &mut next);
                    if found.format.is_ordered() && next.len() == text.len() {
                        found.format.increment(&mut text);
                        prop_assert_eq!(&text, &next);
                    }
                }
            }
        }
    }
}

#[test]
fn ids_and_names_are_pinned() {
    let list: Vec<_> = SCHEMES.iter().map(|scheme| (scheme.id(), scheme.name())).collect();
    assert_eq!(list, [(0, "constant"), (1, "plain"), (2, "tokens"), (3, "symbols"), (4, "digits"), (5, "ipv4")]);
}

#[test]
fn each_kind_of_column_gets_its_scheme() {
    let choice = |value: &dyn Fn(u64) -> String| {
        let values: Vec<_> =
            (0..3000u64).map(|row| value(row.wrapping_mul(0x9e37_79b9_7f4a_7c15)).into_bytes()).collect();
        let column = column(&values, 1);
        let tokenizer = train(column.strings());
        let mut block = Vec::new();
        let choice = encode(column.strings(), Some(&tokenizer), &mut block);
        let mut again = Vec::new();
        encode(column.strings(), Some(&train(column.strings())), &mut again);
        assert!(block == again, "the same bytes each time");
        (choice.scheme, block.len())
    };
    assert_eq!(choice(&|_| "http://www.example.org/".to_owned()), ("constant", 26));
    assert_eq!(
        choice(&|row| format!("{}.{}.{}.{}", row >> 56, row >> 48 & 255, row >> 40 & 255, row >> 32 & 255)).0,
        "ipv4"
    );
    assert_eq!(choice(&|row| format!("id{:010}", row >> 48)).0, "digits");
    assert_eq!(choice(&|row| format!("user-{}", row >> 48)).0, "digits");
    let (scheme, bytes) = choice(&|row| {
        let low = row.wrapping_mul(row | 1);
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            row >> 32,
            row >> 16 & 0xffff,
            row & 0xfff,
            low >> 48,
            low >> 16
        )
        .get(..36)
        .unwrap_or_default()
        .to_owned()
    });
    assert_eq!(scheme, "symbols");
    assert!(bytes < 3000 * 31 / 2 + 200, "{bytes}");
    let words = ["regular ", "ironic ", "deposits ", "sleep ", "furiously ", "among ", "accounts ", "final "];
    let text = |row: u64| (0..6).map(|word| words[(row >> (60 - 3 * word) & 7) as usize]).collect::<String>();
    assert_eq!(choice(&text).0, "tokens");
}

#[test]
fn a_single_value_that_is_no_address_round_trips() {
    let mut values: Vec<_> =
        (0..100_000u32).map(|row| format!("10.1.{}.{}", row >> 8 & 255, row & 255).into_bytes()).collect();
    for odd in ["10.1.2.03", "10.1.2.256", "10.1.2", "10.1.2.3 ", "", "10.1..3", "1.2.3.4.5", "+1.2.3.4"] {
        values[77_777] = odd.as_bytes().to_vec();
        let column = column(&values, 1);
        let mut block = Vec::new();
        assert_ne!(encode(column.strings(), None, &mut block).scheme, "ipv4", "{odd}");
        let back = decoded(&block, values.len(), 0..values.len(), &Tokens::read(&[0, 0]).unwrap()).unwrap();
        assert!(back.strings().iter().eq(column.strings().iter()));
    }
}

#[test]
fn estimates_are_close_to_the_actual_size() {
    let words = ["regular ", "ironic ", "deposits ", "sleep ", "furiously ", "among ", "accounts ", "final "];
    let text = |row: u64| (0..6).map(|word| words[(row >> (60 - 3 * word) & 7) as usize]).collect::<String>();
    let rows = 100_000u64;
    let values: Vec<_> = (0..rows).map(|row| text(row.wrapping_mul(0x9e37_79b9_7f4a_7c15)).into_bytes()).collect();
    let column = column(&values, 1);
    let estimate = estimate(column.strings(), None);
    let mut blocks = Vec::new();
    let tokenizer = estimate.tokenizer.as_deref().unwrap();
    tokenizer.tokens().write(&mut blocks);
    assert_eq!(blocks.len(), tokenizer.tokens().stored_bytes());
    let choice = encode(column.strings(), Some(tokenizer), &mut blocks);
    assert_eq!(choice.scheme, "tokens");
    let (estimated, real) = (estimate.bytes as f64, blocks.len() as f64);
    assert!((estimated / real - 1.0).abs() < 0.05, "{estimated} {real}");
}

proptest! {
    // Few cases, because training takes most of the time.
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_scheme_round_trips(values in columns(), copies in prop_oneof![3 => Just(1usize), 1 => 30usize..90]) {
        let column = column(&values, copies);
        let strings = column.strings();
        let tokenizer = train(strings);
        let mut stored = Vec::new();
        tokenizer.tokens().write(&mut stored);
        prop_assert_eq!(stored.len(), tokenizer.tokens().stored_bytes());
        let tokens = Tokens::read(&stored).unwrap();
        for tokenizer in [None, Some(&tokenizer)] {
            let mut block = Vec::new();
            encode(strings, tokenizer, &mut block);
            for first in (0..=strings.len()).step_by(GROUP) {
                for end in [first, strings.len().min(first + 7), strings.len().min(first + GROUP), strings.len()] {
                    let back = decoded(&block, strings.len(), first..end, &tokens);
                    prop_assert!(back.unwrap().strings().iter().eq(strings.slice(first..end).iter()));
                }
            }
        }
    }

    #[test]
    fn sorted_values_round_trip(values in prop::collection::vec(columns(), 1..4)) {
        let values: std::collections::BTreeSet<_> = values.into_iter().flatten().collect();
        let column: StringBuffer = values.iter().map(Vec::as_slice).collect();
        let tokenizer = train_sorted(column.strings());
        for tokenizer in [None, Some(&tokenizer)] {
            let mut block = Vec::new();
            encode_sorted(column.strings(), tokenizer, &mut block);
            let sorted = SortedBlock::open(&block, values.len(), tokenizer.map(Tokenizer::tokens)).unwrap();
            let (mut scratch, mut out) = (Scratch::default(), StringBuffer::default());
            sorted.decode(&mut scratch, &mut out).unwrap();
            prop_assert!(out.strings().iter().eq(column.strings().iter()));
            for (index, value) in values.iter().enumerate() {
                prop_assert_eq!(&sorted.get(index, &mut scratch).unwrap(), value);
            }
        }
    }

    #[test]
    fn damaged_blocks_are_refused_or_read(
        values in columns(),
        copies in prop_oneof![Just(1usize), Just(60)],
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let column = column(&values, copies);
        let tokenizer = train(column.strings());
        let rows = column.strings().len();
        let mut sorted = Vec::new();
        encode_sorted(column.strings(), Some(&tokenizer), &mut sorted);
        let mut block = Vec::new();
        encode(column.strings(), Some(&tokenizer), &mut block);
        for mut bytes in [block, sorted] {
            for (at, byte) in &changes {
                // Mostly damages the header, which is at the front.
                let at = at.index(bytes.len().max(1)) % if byte % 2 == 0 { 64 } else { usize::MAX };
                if let Some(old) = bytes.get_mut(at) {
                    *old = *byte;
                }
            }
            explore(&bytes, rows, tokenizer.tokens());
            explore(&bytes[..cut.index(bytes.len() + 1)], rows, tokenizer.tokens());
        }
    }

}

proptest! {
    #[test]
    fn any_bytes_are_refused_or_read(
        scheme in 0u8..7,
        template in prop::collection::vec(0u8..4, 1..6),
        bytes in prop::collection::vec(prop_oneof![Just(0u8), 0u8..20, any::<u8>()], 0..600),
        rows in prop_oneof![0usize..40, 1000usize..3000],
    ) {
        let tokens = Tokens::read(&[1, 0, 1, b'a', b'b']).unwrap();
        explore(&bytes, rows, &tokens);
        explore(&[&[scheme, 1, 0, 0, 0], bytes.as_slice()].concat(), rows, &tokens);
        explore(&[&[scheme], template.as_slice(), &bytes].concat(), rows, &tokens);
        let _ = Tokens::read(&bytes);
    }
}

#[test]
fn unsorted_tokens_are_refused() {
    assert!(Tokens::read(&[2, 0, 0x11, b'a', b'b', b'c', b'd']).is_ok());
    for wrong in [
        &[][..],
        &[1, 0],
        &[1, 0, 0, b'a'],
        &[1, 0, 0x11, b'a', b'b'],
        &[2, 0, 0x11, b'c', b'd', b'a', b'b'],
        &[2, 0, 0x11, b'a', b'b', b'a', b'b'],
        &[1, 0, 1, b'a', b'b', 0],
        &[0xff, 0xff, 0],
    ] {
        assert!(Tokens::read(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn forged_lengths_allocate_nothing() {
    // A packed array of width 0 gives each of 65,536 rows a length of a billion bytes.
    let mut lengths = 1_000_000_000i64.to_le_bytes().to_vec();
    lengths.extend_from_slice(&[0; 8]);
    let tokens = Tokens::read(&[0, 0]).unwrap();
    for scheme in [[1, 1, 0, 0, 0].as_slice(), &[2, 1, 0, 0, 0], &[3, 1, 0, 0, 0, 1, b'a', b'b']] {
        for rows in [1usize, 3, 65_536] {
            let ends = [0; 4].repeat(rows.div_ceil(GROUP));
            let block = [scheme, &lengths, &ends].concat();
            let mut out = StringBuffer::default();
            let block = StringBlock::open(&block, rows, Some(&tokens)).unwrap();
            assert!(block.decode(0..rows, &mut Scratch::default(), &mut out).is_err());
            assert!(out.room_bytes() < 1000, "{rows} rows of scheme {}", block.scheme());
        }
    }
}

#[test]
fn rows_of_strings_are_copied_in_any_order() {
    let values: StringBuffer =
        ["", "one", "a value longer than thirty-two bytes", "two", ""].map(str::as_bytes).into_iter().collect();
    let mut taken: StringBuffer = [&b"before"[..]].into_iter().collect();
    taken.push_rows(values.strings(), &[3, 2, 0, 1, 4]);
    let expected = ["before", "two", "a value longer than thirty-two bytes", "", "one", ""];
    assert!(taken.strings().iter().eq(expected.map(str::as_bytes)));
}
