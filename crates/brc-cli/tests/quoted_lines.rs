//! Tests of long fields in quotes, whose lines look like rows of another table.

mod common;

use common::Place;

/// Short rows around others with a long field of these lines.
fn table(lines: &str, repeats: usize, long: usize) -> String {
    let field = lines.repeat(repeats).replace('"', "\"\"");
    let short: String = (0..3).map(|id| format!("{id},ok,1\n")).collect();
    let rows: String = (0..long).map(|id| format!("{},\"{field}\",3\n", 100 + id)).collect();
    format!("id,text,n\n{short}{rows}7,fine,4\n")
}

const LINES: [&str; 7] = [
    "| a | b | c |\n",
    "{\"a\": 1, \"b\": [1,2,3], \"c\": \"x, y\"}\n",
    "insert into t values (1, 'a', \"b\");\nselect a, b, c from t where x = 1;\n",
    "a\tb\tc\n1\t2\t3\n",
    "1;2;3\n",
    "1,2,3,4\n",
    "It was dark, and he said: go; then \"what?\" she asked.\n\n",
];

fn check(lines: &str, repeats: usize, long: usize) {
    let place = Place::new();
    place.write("t.csv", table(lines, repeats, long));
    let query = ["query", "t.csv", "select count(), sum(id), sum(n), max(length(text))", "--format", "csv"];
    let length = lines.len() * repeats;
    let (ids, ns) = (3 + 7 + (0..long).map(|id| 100 + id).sum::<usize>(), 3 + 4 + 3 * long);
    let expected = format!("count(),sum(id),sum(n),max(length(text))\n{},{ids},{ns},{length}\n", 4 + long);
    let outcome = place.run_of(&query);
    assert_eq!(outcome.stderr, "", "{lines:?} {repeats} {long}");
    assert_eq!(outcome.text(), expected, "{lines:?} {repeats} {long}");
}

#[test]
fn the_lines_of_long_fields_are_no_rows() {
    for lines in LINES {
        for (bytes, long) in [(100, 3), (10_000, 20), (70_000, 1), (70_000, 9), (800_000, 3)] {
            check(lines, bytes / lines.len(), long);
        }
    }
}

#[test]
fn a_field_may_be_longer_than_the_first_sample() {
    let place = Place::new();
    place.write("h.csv", format!("a,b\n1,\"{}\"\n2,y\n", "x,\n".repeat(400_000)));
    assert_eq!(place.run("count h.csv").text(), "2\n");
    place.write("e.csv", format!("id,t\n1,\"{}\"\n2,y\n", "1,2,3\n".repeat(250_000)));
    let given = ["count", "e.csv", "--delimiter", ",", "--quote", "\"", "--header", "yes", "--skip", "0"];
    assert_eq!(place.run_of(&given).text(), "2\n");
    // A quote that is never closed is an error of its line alone.
    let row = |id: u64| format!("{id},{}\n", if id == 3 { "\"inch" } else { "word" });
    place.write("s.csv", "a,b\n".to_owned() + &(0..300_000).map(row).collect::<String>());
    place.run("count s.csv").fails_with(3, "line 5, byte 25: a quote is never closed");
}

/// A row is limited to 16 MiB. What follows the first line of a longer one may be rows or a part of it.
#[test]
fn rows_are_not_invented_from_a_field_that_is_too_long() {
    let place = Place::new();
    let message =
        "brc: t.csv: line 2, byte 4: a row is longer than 16777216 bytes inside quotes, or a quote is never closed";
    for field in ["x y\n".repeat(4_300_000), "x".repeat(17 << 20) + "\n5,6\n7,8"] {
        place.write("t.csv", format!("a,b\n1,\"{field}\"\n2,y\n"));
        place.run("count t.csv").fails_with(3, message);
        place.run("convert t.csv t.buren --rejects r.tsv").fails_with(3, message);
        place.run("convert t.csv t.buren --rejects r.tsv --threads 1 --names a,b").fails_with(3, message);
        assert_eq!(place.names(), ["t.csv"]);
        place.shell("$BRC convert - t.buren --rejects r.tsv < t.csv").fails_with(3, "a row is longer than");
    }
    place.write("t.csv", format!("a,b\n1,{}\n2,y\n", "x".repeat(17 << 20)));
    let rejected = place.run("convert t.csv t.buren --rejects r.tsv");
    let reason = "rejected 1 row: line longer than 16777216 bytes (first on line 2)";
    assert!(rejected.stderr.contains(reason), "{}", rejected.stderr);
    assert_eq!(place.run("cat t.buren").text(), "a,b\n2,y\n");
}
