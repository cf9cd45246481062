use super::*;
use crate::text::MARGIN;
use proptest::prelude::*;

/// All numbers that are read from a text that is surrounded by digits, and the number of bytes consumed.
fn read_all(level: Level, text: &str, maximum: u16) -> (Vec<u16>, usize) {
    let margin = "7".repeat(MARGIN);
    let buffer = [&margin, text, &margin].concat();
    let mut numbers = vec![1, 2, 3];
    let mut done = 0;
    loop {
        let window = Window::new(buffer.as_bytes(), MARGIN + done, MARGIN + text.len());
        match read(level, window, maximum, &mut numbers) {
            0 => return (numbers.split_off(3), done),
            more => done += more,
        }
    }
}

/// A reference implementation: the numbers up to the first one that is not plain, and where the last of them ends.
fn expected(text: &str, maximum: u16) -> (Vec<u16>, usize) {
    let (mut numbers, mut end) = (Vec::new(), 0);
    for token in text.split_ascii_whitespace().flat_map(|token| token.split('\x0b').filter(|token| !token.is_empty())) {
        match token.parse() {
            Ok(number) if number <= maximum && token.len() <= digits(maximum) as usize && !token.contains('+') => {
                numbers.push(number);
            }
            _ => break,
        }
        end = token.as_ptr() as usize - text.as_ptr() as usize + token.len();
    }
    (numbers, end)
}

#[test]
fn plain_numbers_are_read() {
    for (text, maximum) in [
        ("0 1 22 255 256 3 ", 255),
        ("255\t255\n255\r\n255\x0c255\x0b255 ", 255),
        ("1 2 # 3 4 ", 255),
        ("1 2 0003 4 ", 255),
        ("65535 65534 0 1 23 456 7890 12345 65536 ", 65_535),
        ("65535 69999 1 ", 65_535),
        ("1 70000 1 ", 65_535),
        ("99999 ", 65_535),
        ("9 10 ", 9),
        ("1 ", 1),
        (" ", 1),
        ("", 1),
        ("x ", 255),
        ("1/2 ", 255),
        ("1:2 ", 255),
        ("1\u{e9} ", 255),
    ] {
        for level in Level::available() {
            for before in [0, 1, 58, 59, 60, 61, 62, 63, 64, 65] {
                let text = format!("{}{text}", " ".repeat(before));
                let (numbers, end) = read_all(level, &text, maximum);
                let wanted = expected(&text, maximum);
                // The fast variants may leave plain numbers to the caller, but not in a text with nothing else.
                assert!(wanted.0.starts_with(&numbers) && end <= wanted.1, "{level:?}: {text:?}");
                if wanted.1 == text.trim_end().len() || level == Level::Portable {
                    assert_eq!((numbers, end), wanted, "{level:?}: {text:?}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn all_levels_read_alike(
        tokens in prop::collection::vec((0u16..1000, any::<u16>(), 0usize..9), 0..300),
        maximum in prop_oneof![Just(1u16), Just(255), Just(999), Just(1000), Just(9999), Just(65_535)],
    ) {
        let mut text = String::new();
        for (narrow, wide, white) in tokens {
            let number = if maximum > 255 { wide } else { narrow } % (maximum.saturating_add(1).max(2));
            text += &format!("{}{}", number.min(maximum), ["\n", "  ", "\t", "\r\n"].get(white).unwrap_or(&" "));
        }
        let wanted = expected(&text, maximum);
        for level in Level::available() {
            prop_assert_eq!(&read_all(level, &text, maximum), &wanted, "{:?}", level);
        }
    }

    #[test]
    fn no_level_reads_more_than_is_plain(text in "[0-9 #x\n]{0,200} ", maximum in 1u16..) {
        let wanted = expected(&text, maximum);
        for level in Level::available() {
            let (numbers, end) = read_all(level, &text, maximum);
            prop_assert!(wanted.0.starts_with(&numbers) && end <= wanted.1, "{:?}", level);
        }
    }

    #[test]
    fn all_levels_split_alike(samples in prop::collection::vec(any::<u16>(), 0..1000)) {
        let bytes: Vec<_> = samples.iter().map(|&sample| sample as u8).collect();
        let pixels = samples.len() / 3;
        for level in Level::available() {
            let mut planes = [const { Vec::new() }; 3].map(|mut plane: Vec<i16>| { plane.resize(pixels + 1, -7); plane });
            split_words(level, &samples, &mut planes);
            for (colour, plane) in planes.iter().enumerate() {
                let own = samples[..3 * pixels].iter().skip(colour).step_by(3).map(|&sample| sample as i16);
                prop_assert!(own.chain([-7]).eq(plane.iter().copied()));
            }
            split_bytes(level, &bytes, &mut planes);
            for (colour, plane) in planes.iter().enumerate() {
                let own = bytes[..3 * pixels].iter().skip(colour).step_by(3).map(|&sample| i16::from(sample));
                prop_assert!(own.chain([-7]).eq(plane.iter().copied()));
            }
        }
    }
}
