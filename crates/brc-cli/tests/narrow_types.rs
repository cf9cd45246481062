//! Tests of float32, UUID and binary columns in every encoding and in queries.

#![allow(clippy::unwrap_used)]

mod common;

use common::Place;

const ROWS: &str = "\
f,u,n
1.1,11111111-2222-4333-8444-555555555555,1
-0.0,ffffffff-ffff-ffff-ffff-ffffffffffff,2
3.4028235e38,00000000-0000-0000-0000-000000000000,3
,,4
16777216.0,a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11,5
1e-45,A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A12,6
1.1,11111111-2222-4333-8444-555555555555,7
";

fn place() -> Place {
    let place = Place::new();
    place.write("t.csv", ROWS);
    place
}

/// The result of a query as CSV without its header.
fn answer(place: &Place, file: &str, question: &str) -> String {
    let text = place.run_of(&["query", file, question, "--format", "csv"]).text();
    text.split_once('\n').unwrap().1.to_owned()
}

fn converted(place: &Place, from: &str, to: &str) {
    place.run_of(&["convert", from, to, "--type", "f=float32,u=uuid"]).ok();
}

#[test]
fn both_types_round_trip_through_every_encoding() {
    let place = place();
    let expected = ROWS.replace("A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A12", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12");
    converted(&place, "t.csv", "t.buren");
    let is_tried = |name: &str, is_read_only: bool| !is_read_only && !["ppm", "csv", "json"].contains(&name);
    for encoding in
        brc_encodings::ENCODINGS.iter().filter(|encoding| is_tried(encoding.name(), encoding.is_read_only()))
    {
        let file = format!("of.{}", encoding.extensions()[0]);
        place.run_of(&["convert", "t.buren", &file]).ok();
        let run = |arguments: &[&str]| place.run_of(arguments).text();
        let schema = run(&["schema", &file]);
        assert!(schema.contains("float32") && schema.contains("uuid"), "{file}: {schema}");
        assert_eq!(run(&["query", &file, "select *", "--format", "csv"]), expected, "{file}");
        assert_eq!(run(&["query", &file, "select n where f = 1.1", "--format", "csv"]), "n\n1\n7\n", "{file}");
        let by_id = "select n where u = 'A0EEBC99-9c0b-4ef8-bb6d-6bb9bd380a12'";
        assert_eq!(run(&["query", &file, by_id, "--format", "csv"]), "n\n6\n", "{file}");
        place.run_of(&["convert", &file, "back.csv", "--force"]).ok();
        assert_eq!(String::from_utf8(place.read("back.csv")).unwrap(), expected, "{file}");
    }
}

#[test]
fn constants_are_rounded_to_float32() {
    let place = place();
    converted(&place, "t.csv", "t.buren");
    for (condition, rows) in [
        ("f = 1.1", "1\n7\n"),
        ("1.1 = f", "1\n7\n"),
        ("f in (1.1, 2.2)", "1\n7\n"),
        ("f <> 1.1", "2\n3\n5\n6\n"),
        ("f >= 1.1 and f <= 1.1", "1\n7\n"),
        ("f > 1.1", "3\n5\n"),
        ("f between 1.1 and 1.2", "1\n7\n"),
        ("f = '1.1'", "1\n7\n"),
        ("f = cast(1.1 as float32)", "1\n7\n"),
        ("f = 16777216", "5\n"),
        ("f = 16777217", ""),
        ("abs(f) = 1.1", "1\n7\n"),
        ("f < 1e39", "1\n2\n3\n5\n6\n7\n"),
        ("f = 1e39", ""),
        ("f = 0", "2\n"),
        ("cast(f as float64) = 1.1", ""),
        ("cast(f as float64) = 1.100000023841858", "1\n7\n"),
    ] {
        assert_eq!(answer(&place, "t.buren", &format!("select n where {condition}")), rows, "{condition}");
    }
}

#[test]
fn columns_of_floats_are_compared_as_they_are() {
    let place = Place::new();
    place.write("t.csv", "f,d\n1.1,1.1\n1.5,1.5\n2.5,2.25\n");
    place.run_of(&["convert", "t.csv", "t.buren", "--type", "f=float32,d=float64"]).ok();
    assert_eq!(answer(&place, "t.buren", "select f where f = d"), "1.5\n");
    assert_eq!(answer(&place, "t.buren", "select f where f > d"), "1.1\n2.5\n");
}

#[test]
fn results_have_the_shortest_text_of_their_type() {
    let place = place();
    converted(&place, "t.csv", "t.buren");
    let question = |text: &str| answer(&place, "t.buren", text);
    assert_eq!(question("select f, count(*) where n in (1, 2, 7) group by f order by f"), "0.0,1\n1.1,2\n");
    assert_eq!(question("select min(f), max(f) where n in (1, 2)"), "0.0,1.1\n");
    assert_eq!(question("select sum(f), mean(f) where f = 1.1"), "2.200000047683716,1.100000023841858\n");
    assert_eq!(question("select distinct f where n in (1, 7)"), "1.1\n");
    assert_eq!(
        question("select round(f, 1), -f, coalesce(f, 0), case when n > 1 then 0.5 else f end where n = 1"),
        "1.1,-1.1,1.1,1.1\n"
    );
    assert_eq!(question("select f * 2 where n = 1"), "2.200000047683716\n");
    assert_eq!(
        question("select cast(1.1 as real), cast(n as float4), cast('1.1' as float32) where n = 1"),
        "1.1,1.0,1.1\n"
    );
    let json = place.run_of(&["query", "t.buren", "select f, u where n = 1", "--format", "json"]).text();
    assert!(json.contains("\"f\":1.1,"), "{json}");
    let too_large = place.run_of(&["query", "t.buren", "select cast(1e39 as float32) where n = 1"]);
    assert_eq!(too_large.code, Some(2), "{}", too_large.stderr);
}

#[test]
fn uuids_are_compared_and_ordered_as_their_text() {
    let place = place();
    converted(&place, "t.csv", "t.buren");
    for (condition, rows) in [
        ("u = '11111111-2222-4333-8444-555555555555'", "1\n7\n"),
        ("u = '{11111111222243338444555555555555}'", "1\n7\n"),
        ("u <> '11111111-2222-4333-8444-555555555555'", "2\n3\n5\n6\n"),
        ("u < '00000000-0000-0000-0000-000000000000'", ""),
        ("u <= '00000000-0000-0000-0000-000000000000'", "3\n"),
        ("u > 'ffffffff-ffff-ffff-ffff-ffffffffffff'", ""),
        ("u >= 'ffffffff-ffff-ffff-ffff-ffffffffffff'", "2\n"),
        ("u between '11111111-0000-0000-0000-000000000000' and 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "1\n5\n7\n"),
        ("u in ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'A0EEBC999C0B4EF8BB6D6BB9BD380A12')", "5\n6\n"),
        ("u is null", "4\n"),
        ("u like 'a0%'", "5\n6\n"),
        ("u = cast('11111111-2222-4333-8444-555555555555' as uuid)", "1\n7\n"),
    ] {
        assert_eq!(answer(&place, "t.buren", &format!("select n where {condition}")), rows, "{condition}");
    }
    assert_eq!(answer(&place, "t.buren", "select n where u is not null order by u"), "3\n1\n7\n5\n6\n2\n");
    assert_eq!(
        answer(&place, "t.buren", "select count(distinct u), min(u), max(u)"),
        "5,00000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff\n"
    );
    assert_eq!(
        answer(&place, "t.buren", "select u, count(*) as c group by u order by c desc limit 1"),
        "11111111-2222-4333-8444-555555555555,2\n"
    );
    assert_eq!(
        answer(&place, "t.buren", "select cast(u as string) || '!' as x where n = 1"),
        "11111111-2222-4333-8444-555555555555!\n"
    );
    let wrong = place.run_of(&["query", "t.buren", "select n where u = 'x'"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("write UUIDs as"), "{}", wrong.stderr);
}

#[test]
fn invalid_uuids_and_float32_values_are_refused() {
    let place = Place::new();
    for (text, value) in [("u\n1\n", "'1'"), ("u\n11111111-2222-4333-8444-55555555555g\n", "55555555555g")] {
        place.write("t.csv", text);
        let outcome = place.run_of(&["convert", "t.csv", "t.buren", "--type", "u=uuid", "--header", "yes"]);
        assert!(outcome.code == Some(3) || outcome.code == Some(1), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("is not a valid uuid") && outcome.stderr.contains(value), "{}", outcome.stderr);
    }
    place.write("t.csv", "f\n1e39\n");
    let outcome = place.run_of(&["convert", "t.csv", "t.buren", "--type", "f=float32", "--header", "yes"]);
    assert!(outcome.stderr.contains("'1e39' is out of range for float32"), "{}", outcome.stderr);
}

#[test]
fn binary_columns_are_read_as_strings_on_request() {
    let place = Place::new();
    place.write("t.csv", "s,x\nblå,1\n,2\nabc,3\n");
    for name in ["t.parquet", "t.arrow"] {
        place.run(&format!("convert t.csv {name} --type s=binary")).ok();
        for (option, logical_type, length) in [("", "binary", 4), ("--binary-as-string", "string", 3)] {
            let schema = place.run(&format!("schema {name} {option}")).text();
            assert!(schema.contains(logical_type) && schema.contains("int64"), "{schema}");
            let statement = "select length(s) as l, count(*) as n where s <> 'abc' and s like 'b%' group by l";
            let mut arguments = vec!["query", name, statement, "--format", "csv"];
            arguments.extend((!option.is_empty()).then_some(option));
            assert_eq!(place.run_of(&arguments).text(), format!("l,n\n{length},1\n"), "{name} {option}");
        }
        let copy = format!("copy-of-{name}");
        place.run(&format!("convert {name} {copy} --binary-as-string")).ok();
        assert!(place.run(&format!("schema {copy}")).text().contains("string"), "{copy}");
    }
}
