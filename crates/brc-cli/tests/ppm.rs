//! Tests of images as tables: pixels round-trip through every encoding that keeps the metadata of a table.

#![allow(clippy::unwrap_used)]

mod common;

use common::Place;

/// Samples that change little from pixel to pixel, as in a photograph.
fn samples(width: usize, height: usize, maximum: usize) -> Vec<usize> {
    let sample = |at: usize| {
        let (pixel, colour) = (at / 3, at % 3);
        (pixel % width * (colour + 1) + pixel / width * 2 + pixel * 7919 % 5) % (maximum + 1)
    };
    (0..3 * width * height).map(sample).collect()
}

fn binary(header: &str, samples: &[usize], maximum: usize) -> Vec<u8> {
    let bytes = |sample: &usize| (*sample as u16).to_be_bytes()[usize::from(maximum < 256)..].to_vec();
    [header.as_bytes(), &samples.iter().flat_map(bytes).collect::<Vec<_>>()].concat()
}

/// An ASCII image with 16 numbers per line, so that pixels cross line ends.
fn ascii(header: &str, samples: &[usize]) -> String {
    let lines: Vec<_> =
        samples.chunks(16).map(|line| line.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")).collect();
    format!("{header}{}\n", lines.join(" # 1 2\n"))
}

#[test]
fn an_image_round_trips_through_encodings_that_keep_metadata() {
    let place = Place::new();
    for (maximum, header) in [(255, "P6\n# made by hand\n300 200\n255\n"), (1000, "P6\n300 200\n1000\n")] {
        let samples = samples(300, 200, maximum);
        let image = binary(header, &samples, maximum);
        place.write("a.ppm", &image);
        place.write("p3.ppm", ascii(&format!("P3 # text\n300 200 {maximum}\n"), &samples));
        for through in ["buren", "parquet", "arrow"] {
            place.run(&format!("convert a.ppm a.{through} --row-group 64k --force")).ok();
            place.run(&format!("convert a.{through} b.ppm --force")).ok();
            assert!(place.read("b.ppm") == image, "{through}");
            place.run(&format!("convert p3.ppm p3.{through} --threads 3 --force")).ok();
            place.run(&format!("convert p3.{through} b.ppm --force")).ok();
            assert!(
                place.read("b.ppm") == binary(&format!("P6\n300 200\n{maximum}\n"), &samples, maximum),
                "{through}"
            );
            place.run(&format!("convert p3.{through} c.ppm --ascii --force")).ok();
            let text = String::from_utf8(place.read("c.ppm")).unwrap();
            let numbers = text.strip_prefix(&format!("P3\n300 200\n{maximum}\n")).unwrap();
            assert!(
                numbers
                    .split_ascii_whitespace()
                    .map(|number| number.parse::<usize>().unwrap())
                    .eq(samples.iter().copied())
            );
            assert!(text.lines().all(|line| line.len() <= 70));
        }
    }
}

#[test]
fn every_encoding_gives_the_same_results() {
    let place = Place::new();
    let samples = samples(64, 48, 255);
    place.write("a.ppm", binary("P6\n64 48\n255\n", &samples, 255));
    place.write("p3.ppm", ascii("P3\n64 48\n255\n", &samples));
    place.run("convert p3.ppm a.csv").ok();
    place.run("convert a.ppm a.buren").ok();
    place.run("convert a.ppm a.ppm.gz").ok();
    let query = |file: &str| {
        let query =
            ["--by", "y", "--agg", "count(),avg(r),max(g),sum(b),max(x)", "--where", "x > 3", "--format", "csv"];
        place.run_of(&[&["query", file], &query[..]].concat()).text()
    };
    let expected = query("a.csv");
    assert_eq!(expected.lines().count(), 49);
    for file in ["p3.ppm", "a.ppm", "a.buren", "a.ppm.gz"] {
        assert_eq!(query(file), expected, "{file}");
    }
    let piped = place.pipe("query - --by y --agg count() --format csv", &place.read("p3.ppm")).text();
    assert_eq!(piped, place.run("query a.ppm --by y --agg count() --format csv").text());
}

/// Pixel positions are computed, and buren does not store them.
#[test]
fn positions_take_no_space() {
    let place = Place::new();
    place.write("a.ppm", binary("P6\n640 480\n255\n", &samples(640, 480, 255), 255));
    place.run("convert a.ppm a.buren --row-group 1M").ok();
    let shown = place.run("inspect a.buren").text();
    assert!(shown.contains("ppm.height=480, ppm.maximum=255, ppm.width=640"), "{shown}");
    for column in [" x ", " y "] {
        let line = shown.lines().find(|line| line.starts_with(column)).unwrap();
        assert!(line.contains("periodic"), "{shown}");
    }
    place.run("convert a.ppm all.buren").ok();
    place.run_of(&["cat", "all.buren", "--columns", "r,g,b", "-o", "rgb.buren"]).ok();
    let (all, rgb) = (place.read("all.buren").len(), place.read("rgb.buren").len());
    assert!(all < rgb + 2000, "{all} {rgb}");
    place.run("convert rgb.buren b.ppm").ok();
    assert!(place.read("b.ppm") == place.read("a.ppm"));
}

#[test]
fn invalid_images_are_reported_and_leave_nothing() {
    let place = Place::new();
    for (content, code, message) in [
        ("P3\n2 1\n255\n1 2 3\n4 256 6\n", 3, "line 5, byte 19, column 'g': '256' is above the maximum of 255"),
        ("P3\n2 1\n255\n1 2 3\n4 -5 6\n", 3, "line 5, byte 19, column 'g': malformed number '-5'"),
        ("P3\n2 1\n255\n1 2 3\n4 5\n", 3, "line 6, byte 21: the file ends after 5 of 6 numbers"),
        (
            "P3\n2 1\n255\n1 2 3\n4 5 6 7\n",
            3,
            "line 5, byte 23: '7' comes after the 6 numbers that the header announces",
        ),
        ("P3\n2 x\n255\n", 4, "corrupt file: header, line 2, byte 5: the height is 'x', which is not a number"),
        ("P6\n2 1\n255\nabc", 4, "corrupt file: raster: 2 \u{d7} 1 pixels have 6 bytes, but the file has 3 for them"),
        (
            "P6\n1 1\n255\nabcP6\n1 1\n255\nabc",
            1,
            "holds several images, the next one at byte 14; split them into files",
        ),
    ] {
        place.write("bad.ppm", content);
        for command in [
            "convert bad.ppm out.buren",
            "convert bad.ppm out.ppm --threads 1",
            "query bad.ppm --by y",
            "verify bad.ppm",
        ] {
            place.run(command).fails(code, &format!("brc: bad.ppm: {message}"));
        }
        assert_eq!(place.names(), ["bad.ppm"]);
    }
}

#[test]
fn tables_that_are_not_images_are_refused_before_writing() {
    let place = Place::new();
    place.write("t.csv", "r;g;b\n1;2;3\n");
    place
        .run("convert t.csv t.ppm")
        .fails(2, "brc: ppm: the metadata of the table have no width, as those of an image have");
    place.run("convert t.csv t.json --ascii").fails(2, "brc: --ascii: json has no second form that is text");
    place.write("names.csv", "red;g;b\n1;2;3\n");
    place
        .run("convert names.csv t.ppm")
        .fails(2, "brc: ppm: it holds only images (columns r, g, b); there is no column 'r'");
    place.write("a.ppm", binary("P6\n2 2\n255\n", &samples(2, 2, 255), 255));
    place.run("convert a.ppm a.buren").ok();
    let some = place.run_of(&["cat", "a.buren", "--where", "x = 0", "-o", "some.ppm"]);
    some.fails(1, "brc: ppm cannot hold this table: it has fewer rows than the 2 \u{d7} 2 pixels in its metadata");
    assert_eq!(place.names(), ["a.buren", "a.ppm", "names.csv", "t.csv"]);
}
