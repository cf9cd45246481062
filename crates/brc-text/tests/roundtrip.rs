//! Random tables that are written in random dialects are detected correctly; random bytes are handled gracefully.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use brc_text::{Delimiter, DialectOverrides, Sample, sniff};
use proptest::prelude::*;

/// The source of the fields of a column.
#[derive(Debug, Clone, Copy)]
enum Column {
    Integer,
    Decimal,
    Date,
    Word,
    /// Text that contains the delimiter, the quote and line ends.
    Text,
}

#[derive(Debug, Clone)]
struct Form {
    delimiter: u8,
    quote: u8,
    line_end: &'static str,
    has_header: bool,
}

fn column() -> impl Strategy<Value = Column> {
    prop_oneof![
        Just(Column::Integer),
        Just(Column::Decimal),
        Just(Column::Date),
        Just(Column::Word),
        Just(Column::Text)
    ]
}

fn form() -> impl Strategy<Value = Form> {
    let delimiter = prop::sample::select(&b",;\t|^~\x01\x1f"[..]);
    let quote = prop_oneof![3 => Just(b'"'), 1 => Just(b'\'')];
    let line_end = prop::sample::select(&["\n", "\r\n", "\r"][..]);
    (delimiter, quote, line_end, any::<bool>()).prop_map(|(delimiter, quote, line_end, has_header)| Form {
        delimiter,
        quote,
        line_end,
        has_header,
    })
}

/// A field derived from a number and words.
fn field(column: Column, number: u32, words: &[String], form: &Form) -> String {
    match column {
        Column::Integer => number.to_string(),
        Column::Decimal => format!("{}.{:02}", number / 100, number % 100),
        Column::Date => format!("20{:02}-{:02}-{:02}", number % 30, number % 12 + 1, number % 28 + 1),
        Column::Word => words[0].clone(),
        Column::Text => {
            let joints =
                [" ", &char::from(form.delimiter).to_string(), &char::from(form.quote).to_string(), form.line_end]
                    .map(str::to_owned);
            let joint = |index: usize| joints[(number as usize >> (2 * index)) % joints.len()].as_str();
            words.iter().enumerate().fold(String::new(), |text, (index, word)| text + word + joint(index)) + "end"
        }
    }
}

/// A field, quoted if necessary.
fn written(field: &str, form: &Form) -> String {
    let [delimiter, quote] = [form.delimiter, form.quote].map(char::from);
    if field.contains([delimiter, quote, '\n', '\r']) {
        format!("{quote}{}{quote}", field.replace(quote, &[quote, quote].iter().collect::<String>()))
    } else {
        field.to_owned()
    }
}

type Seeds = Vec<(u32, Vec<String>)>;

fn table(columns: &[Column], seeds: &[Seeds], form: &Form) -> String {
    let delimiter = char::from(form.delimiter).to_string();
    let mut rows: Vec<Vec<String>> = Vec::new();
    if form.has_header {
        rows.push((0..columns.len()).map(|index| format!("name{}", char::from(b'a' + index as u8))).collect());
    }
    rows.extend(seeds.iter().map(|seeds| {
        let fields = columns.iter().zip(seeds);
        fields.map(|(column, (number, words))| written(&field(*column, *number, words, form), form)).collect()
    }));
    rows.iter().map(|row| row.join(&delimiter) + form.line_end).collect()
}

fn columns() -> impl Strategy<Value = Vec<Column>> {
    let typed = prop_oneof![Just(Column::Integer), Just(Column::Decimal), Just(Column::Date)];
    (typed, prop::collection::vec(column(), 1..6), any::<prop::sample::Index>()).prop_map(|(typed, mut columns, at)| {
        columns.insert(at.index(columns.len() + 1), typed);
        columns
    })
}

fn seeds() -> impl Strategy<Value = Vec<Seeds>> {
    let words = prop::collection::vec("[a-z]{3,8}", 1..4);
    prop::collection::vec(prop::collection::vec((0_u32..100_000, words), 6), 3..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn dialects_of_random_tables_are_detected(columns in columns(), seeds in seeds(), form in form()) {
        let text = table(&columns, &seeds, &form);
        let sniffed = sniff(&[Sample::whole(text.as_bytes())], &DialectOverrides::default());
        let is_quoted = text.contains(char::from(form.quote));
        let found = (sniffed.dialect.delimiter, sniffed.dialect.header, sniffed.dialect.quote.unwrap());
        let expected = (Delimiter::Byte(form.delimiter), form.has_header, if is_quoted { form.quote } else { b'"' });
        prop_assert_eq!(found, expected, "{}", text);
        prop_assert_eq!(sniffed.names.len(), columns.len(), "{}", text);
    }

    #[test]
    fn random_bytes_yield_a_valid_dialect(
        bytes in prop::collection::vec(prop::sample::select(&b"a1,; \t\"'\\#\r\n\0\xc3\xff"[..]), 0..80),
        cuts in prop::array::uniform2(any::<prop::sample::Index>()),
        blanks in any::<bool>(),
    ) {
        let [from, to] = cuts.map(|cut| cut.index(bytes.len() + 1));
        let samples = [
            Sample { bytes: &bytes[..to], offset: 0, is_end: to == bytes.len() },
            Sample { bytes: &bytes[from..], offset: from as u64, is_end: true },
        ];
        let delimiter = blanks.then_some(Delimiter::Blanks);
        let overrides = DialectOverrides { delimiter, ..DialectOverrides::default() };
        for samples in [&samples[..], &samples[1..]] {
            prop_assert_eq!(sniff(samples, &overrides).dialect.check(), Ok(()));
        }
    }
}
