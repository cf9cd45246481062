use super::*;
use crate::{Output, OutputOptions, RejectLog, by_name, convert, writer};
use brc_compress::Compressor;
use brc_core::{Order, Progress, ScanOptions};
use brc_testing::Collector;
use proptest::prelude::*;
use std::io::Write;

fn input(bytes: &[u8]) -> Input {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    Input::from_file("image.ppm".into(), file).unwrap()
}

fn options(split: Option<u64>) -> OpenOptions {
    OpenOptions { row_group_bytes: split, ..OpenOptions::default() }
}

/// The table in a different encoding.
fn converted(table: &dyn Table, to: &str, ascii: bool, threads: usize) -> Result<Vec<u8>> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("out");
    let create = CreateOptions { ascii, ..CreateOptions::new(Compressor::none()) };
    let writer = writer(by_name(to).unwrap(), table.schema(), &create)?;
    let output = Output::create(&path, &OutputOptions::default())?;
    let outcome = convert(table, writer, output, RejectLog::none(), threads, &Progress::default());
    assert_eq!(path.exists(), outcome.is_ok());
    outcome?;
    Ok(std::fs::read(&path).unwrap())
}

fn to_ppm(bytes: &[u8], split: Option<u64>, ascii: bool, threads: usize) -> Result<Vec<u8>> {
    converted(Ppm.open(input(bytes), &options(split))?.as_ref(), "ppm", ascii, threads)
}

fn error(bytes: &[u8]) -> String {
    let whole = to_ppm(bytes, None, false, 2).unwrap_err().to_string();
    for split in [1, 2, 3, 7, 64] {
        assert_eq!(to_ppm(bytes, Some(split), false, 2).unwrap_err().to_string(), whole, "splits of {split} bytes");
    }
    whole.strip_prefix("image.ppm: ").unwrap().to_owned()
}

#[test]
fn pixels_are_rows() {
    let text = "P3\n# two rows\n3 2 255\n1 2 3  4 5 6  7 8 9\n10 11 12 13 14 15\n255 0 017\n";
    let csv = "r,g,b,x,y\n1,2,3,0,0\n4,5,6,1,0\n7,8,9,2,0\n10,11,12,0,1\n13,14,15,1,1\n255,0,17,2,1\n";
    let binary = b"P6\n3 2\n255\n\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\xff\x00\x11";
    for bytes in [text.as_bytes(), binary] {
        let table = Ppm.open(input(bytes), &options(Some(30))).unwrap();
        assert_eq!((table.rows(), table.bytes()), (Some(6), Some(bytes.len() as u64)));
        assert_eq!(converted(table.as_ref(), "csv", false, 2).unwrap(), csv.as_bytes());
        assert_eq!(to_ppm(bytes, None, false, 1).unwrap(), binary);
        let ascii = "P3\n3 2\n255\n1 2 3\n4 5 6\n7 8 9\n10 11 12\n13 14 15\n255 0 17\n";
        assert_eq!(to_ppm(bytes, None, true, 1).unwrap(), ascii.as_bytes());
    }
}

#[test]
fn a_binary_image_keeps_its_header() {
    for header in ["P6 # by hand\n2 1\n255\n", "P6 2 1 255 ", "P6\n2 1\n255#\n"] {
        let image = [header.as_bytes(), b"# 3\n\xff\x00"].concat();
        assert_eq!(to_ppm(&image, None, false, 1).unwrap(), image);
        assert!(to_ppm(&image, None, true, 1).unwrap().starts_with(b"P3\n2 1\n255\n35 32 51\n"));
    }
}

#[test]
fn splits_may_be_scanned_separately() {
    let text = "P3 2 2 255 1 2 3 4 5 6 # 7 8 9\n10 11 12 13 14 15 ";
    let table = Ppm.open(input(text.as_bytes()), &options(Some(3))).unwrap();
    let scan = ScanOptions { order: Order::Any, ..ScanOptions::everything(table.schema()) };
    let splits: Vec<_> = (0..).map_while(|index| table.split(index)).collect();
    let mut rows = 0;
    for split in splits.iter().rev() {
        let mut scanner = table.scanner(&scan).unwrap();
        rows += scanner.scan(split, &mut Collector::new(scan.projection.len())).unwrap().unwrap().rows;
    }
    assert_eq!(rows, 4);
}

#[test]
fn errors_include_the_position() {
    let image = |numbers: &str| error(format!("P3\n2 1\n200\n{numbers}").as_bytes());
    assert_eq!(image("1 2 3\n4 201 6"), "line 5, byte 19, column 'g': '201' is above the maximum of 200");
    assert_eq!(
        image("1 2 3 4 5 99999999999999999999"),
        "line 4, byte 21, column 'b': '99999999999999999999' is above the maximum of 200"
    );
    assert_eq!(image("1 2 3\n4 5\n"), "line 6, byte 21: the file ends after 5 of 6 numbers");
    assert_eq!(image(""), "line 4, byte 11: the file ends after 0 of 6 numbers");
    assert_eq!(image("1 2 3 4 # 5 6"), "line 4, byte 24: the file ends after 4 of 6 numbers");
    assert_eq!(image("1 2 3\n4 5 6 7\n"), "line 5, byte 23: '7' comes after the 6 numbers that the header announces");
    assert_eq!(image("1 2 3\n4 5 6 P3\n"), "line 5, byte 23: 'P3' comes after the 6 numbers that the header announces");
    assert_eq!(image("1 2 3\n4 5 6 7 x\n"), "line 5, byte 23: '7' comes after the 6 numbers that the header announces");
    assert_eq!(image("1 2 -3 4 5 6"), "line 4, byte 15, column 'b': malformed number '-3'");
    assert_eq!(image("1 2 3.5 4 5 6"), "line 4, byte 15, column 'b': malformed number '3.5'");
    assert_eq!(image("1 2 3 # x y\n4 x 5 6"), "line 5, byte 25, column 'g': malformed number 'x'");
    let long = format!("1 2 3 4 5{}6", "0".repeat(1 << 21));
    let long = to_ppm(format!("P3 2 1 200 {long}").as_bytes(), None, false, 1).unwrap_err().to_string();
    assert_eq!(long, "image.ppm: line 1, byte 19, column 'g': no white space in 1048576 bytes");
}

#[test]
fn wrong_headers_are_detected() {
    assert_eq!(
        error(b"P6 2 1 255 abcde"),
        "corrupt file: raster: 2 \u{d7} 1 pixels have 6 bytes, but the file has 5 for them"
    );
    assert_eq!(
        error(b"P6 2 1 256 abcdef"),
        "corrupt file: raster: 2 \u{d7} 1 pixels have 12 bytes, but the file has 6 for them"
    );
    assert_eq!(error(b"P6 2 1 255 abcdefg"), "corrupt file: byte 17: 1 bytes after the last of 2 \u{d7} 1 pixels");
    let several = error(b"P6 2 1 255 abcdefP6 2 1 255 abcdef");
    assert_eq!(several, "holds several images, the next one at byte 17; split them into files");
    assert_eq!(error(b"P6 2 1 98 abcd\x63f"), "corrupt file: byte 12, column 'b': 99 is above the maximum of 98");
    let most = i32::MAX;
    let huge = error(format!("P6 {most} {most} 65535 ").as_bytes());
    assert!(
        huge.starts_with("corrupt file: raster: 2147483647 \u{d7} 2147483647 pixels have 27670116084794523654"),
        "{huge}"
    );
    let huge = error(format!("P3 {most} {most} 65535 1 2 ").as_bytes());
    assert_eq!(huge, "line 1, byte 35: the file ends after 2 of 13835058042397261827 numbers");
    assert_eq!(
        error(b"P3\n-3 2\n255\n"),
        "corrupt file: header, line 2, byte 3: the width is '-3', which is not a number"
    );
    assert_eq!(error(b"P6\n3 2\n25"), "corrupt file: header, line 3, byte 9: the file ends within it");
}

#[test]
fn tables_that_are_not_images_are_rejected() {
    let of = |text: &str| Schema::parse(text).unwrap();
    let described = |schema: Schema, width: &str| {
        let of = |key: &str, value: &str| (format!("ppm.{key}"), value.to_owned());
        schema.with_metadata(vec![of("width", width), of("height", "2"), of("maximum", "9")])
    };
    let refused = |schema: &Schema| Ppm.supports(schema).unwrap_err();
    assert_eq!(refused(&of("r:int,b:int")), "it holds only images (columns r, g, b); there is no column 'g'");
    assert_eq!(refused(&of("r:int,b:int,g:string")), "column 'g' is of type string, not of integers");
    let samples = of("b:int,r:int,g:int");
    assert_eq!(refused(&samples), "the metadata of the table have no width, as those of an image have");
    let zero = "the table's ppm.width is '0', not a number from 1 to 2147483647";
    assert_eq!(refused(&described(samples.clone(), "0")), zero);
    assert_eq!(Ppm.supports(&described(samples.clone(), "1")), Ok(()));

    let convert = |rows: &str| {
        let rows = rows.lines().map(|row| {
            let [b, r, g] = row.split(';').collect::<Vec<_>>()[..] else { panic!("three numbers") };
            format!("{{\"b\":{b},\"r\":{r},\"g\":{g}}}\n")
        });
        let (text, rows) = (by_name("json").unwrap(), rows.collect::<String>());
        let file = OpenOptions { schema: Some(described(samples.clone(), "1")), ..options(None) };
        let mut bytes = tempfile::tempfile().unwrap();
        bytes.write_all(rows.as_bytes()).unwrap();
        let table = text.open(Input::from_file("t.json".into(), bytes).unwrap(), &file).unwrap();
        converted(table.as_ref(), "ppm", true, 1).map_err(|error| error.to_string())
    };
    assert_eq!(convert("1;2;3\n4;5;6\n").unwrap(), b"P3\n1 2\n9\n2 3 1\n5 6 4\n");
    let count = |word| {
        Err(format!("ppm cannot hold this table: it has {word} rows than the 1 \u{d7} 2 pixels in its metadata"))
    };
    assert_eq!(convert("1;2;3\n"), count("fewer"));
    assert_eq!(convert("1;2;3\n1;2;3\n1;2;3\n"), count("more"));
    let above = "t.json: row 2, column 'g': ppm cannot hold '10', which is not within 0 to 9";
    assert_eq!(convert("1;2;3\n4;5;10\n").unwrap_err(), above);
    assert_eq!(
        convert("1;-2;3\n4;5;10\n").unwrap_err(),
        "t.json: row 1, column 'r': ppm cannot hold '-2', which is not within 0 to 9"
    );
    assert_eq!(
        convert("1;2;3\n4;null;6\n").unwrap_err(),
        "t.json: row 2, column 'r': ppm cannot hold 'null', which is null"
    );
}

/// White space or comments between numbers.
fn gap() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[ \t\n\r\x0b\x0c]{1,3}",
        1 => "[ \n]{0,70}#[0-9a# ]{0,80}[\n\r]",
        1 => " {1,200}",
    ]
}

#[derive(Debug, Clone)]
struct Picture {
    text: Vec<u8>,
    binary: Vec<u8>,
}

fn picture() -> impl Strategy<Value = Picture> {
    let size = (1u32..9, 1u32..9, prop_oneof![Just(1u16), Just(9), Just(255), Just(256), Just(40_000), Just(65_535)]);
    size.prop_flat_map(|(width, height, maximum)| {
        let samples = (width * height * 3) as usize;
        let sample = (0..=maximum, gap(), prop::bool::weighted(0.05));
        (prop::collection::vec(sample, samples), Just((width, height, maximum)), any::<bool>())
    })
    .prop_map(|(samples, (width, height, maximum), ends)| {
        let mut text = format!("P3 {width} {height}\n{maximum}\n");
        let mut binary = format!("P6\n{width} {height}\n{maximum}\n").into_bytes();
        for (sample, gap, has_zeros) in &samples {
            text += &format!("{}{sample}{gap}", if *has_zeros { "000000" } else { "" });
            binary.extend_from_slice(&sample.to_be_bytes()[usize::from(maximum < 256)..]);
        }
        let text = if ends { text } else { text.trim_end().to_owned() };
        Picture { text: text.into_bytes(), binary }
    })
}

proptest! {
    #[test]
    fn any_image_is_read_and_written(picture in picture(), split in 1u64..300, threads in 1usize..4) {
        let Picture { text, binary } = picture;
        prop_assert!(is_same(&to_ppm(&text, Some(split), false, threads).unwrap(), &binary));
        prop_assert!(is_same(&to_ppm(&text, None, false, threads).unwrap(), &binary));
        let plain = to_ppm(&binary, Some(split), true, threads).unwrap();
        prop_assert!(is_same(&to_ppm(&plain, Some(split), false, threads).unwrap(), &binary));
        prop_assert!(is_same(&to_ppm(&binary, Some(split), false, threads).unwrap(), &binary));
    }

    #[test]
    fn damage_never_panics(picture in picture(), at in any::<prop::sample::Index>(), byte in any::<u8>(), split in 1u64..99) {
        for mut bytes in [picture.text, picture.binary] {
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let outcomes = [to_ppm(&bytes, Some(split), false, 2), to_ppm(&bytes, None, false, 1)];
            let outcomes = outcomes.map(|outcome| outcome.map_err(|error| error.to_string()));
            prop_assert_eq!(&outcomes[0], &outcomes[1]);
        }
    }
}

fn is_same(found: &[u8], expected: &[u8]) -> bool {
    found == expected
}
