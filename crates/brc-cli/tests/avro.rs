//! Tests of Avro files: files of other programs are read, and files of brc round-trip.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

mod common;

use common::Place;

/// A directory with a file written by another program.
fn place() -> Place {
    let place = Place::new();
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fastavro.avro");
    place.write("fastavro.avro", std::fs::read(path).unwrap());
    place
}

fn answer(place: &Place, file: &str, question: &str) -> String {
    place.run_of(&["query", file, question, "--format", "csv"]).text()
}

#[test]
fn avro_of_other_programs_is_read() {
    let place = place();
    let question = "select id, name, kind, price, wide, at, local, day, time, uid, ok, x, y, second from t limit 2"
        .replace(" from t", "");
    let rows = "id,name,kind,price,wide,at,local,day,time,uid,ok,x,y,second\n\
        -2,,NEW,-3.00,,2024-01-01 00:00:00.000000Z,2024-01-01 00:00:00.000,2024-02-29,01:02:03.004,\
        00000000-0000-0000-0000-000000000000,true,0.0,,SENT\n\
        -1,n1,PAID,-1.75,-999999999999999999999999999999,2024-01-01 00:00:01.000001Z,2024-01-01 00:00:01.000,2024-03-01,\
        01:02:03.004,00000000-0000-0000-0000-000000000001,false,0.25,0.125,\n";
    assert_eq!(answer(&place, "fastavro.avro", &question), rows);
    let totals = "select count(*), sum(id), count(second), count(distinct kind)";
    assert_eq!(
        answer(&place, "fastavro.avro", totals),
        "count(*),sum(id),count(second),count(distinct kind)\n40,700,20,3\n"
    );
    for column in ["tags", "more", "either", "nested"] {
        place.run_of(&["query", "fastavro.avro", &format!("select {column}")]).fails_with(2, column);
    }
    place.run("convert fastavro.avro t.buren").fails_with(1, "column 'tags' is a list, which brc does not read");
    let note = "note: column 'tags' is a list, which brc does not read; it is left out";
    for command in
        [&["query", "fastavro.avro", "select *"][..], &["head", "fastavro.avro"], &["summarize", "fastavro.avro"]]
    {
        assert!(place.run_of(command).stderr.contains(note), "{command:?}");
    }
    assert!(!place.run_of(&["query", "fastavro.avro", "select id, name"]).stderr.contains("left out"));
    place.run("verify fastavro.avro").fails_with(1, "column 'tags' is a list");
}

#[test]
fn every_type_round_trips_through_avro() {
    let place = Place::new();
    let schema = "a b:string,b:bool not null,c:int8,d:int16,e:int32,f:int64,g:uint64,h:decimal(38,5),i:float32,j:float64,\
                  k:date,l:time(s),m:time(ns),n:timestamp(s),o:timestamp(ns) with zone,p:binary,q:uuid";
    let row = "x,true,-128,-32768,7,-9223372036854775808,18446744073709551615,-123456789.12345,1.1,1e300,0001-01-01,\
               23:59:59,23:59:59.999999999,1970-01-01 00:00:01,2024-01-01 00:00:00.000000001Z,ff,\
               00000000-0000-0000-0000-00000000000a\n";
    let nulls = ",false,,,,,,,,,,,,,,,\n";
    let header = "a b,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q\n";
    place.write("t.csv", [header, row, nulls].concat());
    place.run_of(&["convert", "t.csv", "t.buren", "--schema", &quoted(schema)]).ok();
    let expected = place.run("schema t.buren --json").ok();
    for compression in ["none", "snappy", "zstd"] {
        place.run(&format!("convert t.buren t.avro --force --compression {compression}")).ok();
        assert_eq!(place.run("cat t.avro").ok(), place.run("cat t.buren").ok(), "{compression}");
        assert_eq!(place.run("schema t.avro --json").ok(), expected, "{compression}");
        place.run("verify t.avro").ok();
    }
    assert!(place.run("inspect t.avro").text().contains("zstd"));
    place
        .run("convert t.buren t.avro --force --compression gzip")
        .fails_with(2, "brc: avro does not support gzip with a checksum; it supports snappy, zstd");
}

/// A schema whose first name has a space.
fn quoted(schema: &str) -> String {
    schema.replacen("a b", "\"a b\"", 1)
}

#[test]
fn damaged_avro_files_are_corrupt() {
    let place = place();
    let sound = place.read("fastavro.avro");
    for length in [3, 5, 100, sound.len() / 2, sound.len() - 1] {
        place.write("t.avro", &sound[..length]);
        place.run("count t.avro --where id>0").fails_with(4, "corrupt file");
    }
    for at in (0..sound.len()).step_by(37) {
        let mut bytes = sound.clone();
        bytes[at] ^= 0x15;
        place.write("t.avro", bytes);
        let outcome = place.run_of(&["query", "t.avro", "select sum(id), count(name), max(price)"]);
        assert!(matches!(outcome.code, Some(0 | 1 | 2 | 4)), "byte {at}: {}", outcome.stderr);
        assert!(!outcome.stderr.contains("panicked"), "byte {at}: {}", outcome.stderr);
    }
    place.write("t.csv", (0..50_000).fold("a\n".to_owned(), |text, row| format!("{text}{row}\n")));
    place.run("convert t.csv o.avro").ok();
    let verified = place.run("verify o.avro").text();
    assert!(verified.starts_with("o.avro: OK (avro, 50,000 rows, "), "{verified}");
    assert!(verified.ends_with("B); its rows have no checksums\n"), "{verified}");
    for compression in ["snappy", "zstd"] {
        place.run(&format!("convert t.csv c.avro --force --compression {compression}")).ok();
        assert!(place.run("verify c.avro").text().ends_with("B)\n"), "{compression}");
    }
    let own = place.read("o.avro");
    let sync = own[own.len() - 16..].to_vec();
    let blocks: Vec<_> = own.windows(16).enumerate().filter(|(_, it)| *it == sync).map(|(at, _)| at + 16).collect();
    assert!(blocks.len() > 3);
    for end in &blocks[..blocks.len() - 1] {
        place.write("cut.avro", &own[..*end]);
        place.run("count cut.avro").fails_with(4, "the file is cut off");
    }
}
