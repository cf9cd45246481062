//! Tables that are drawn with lines, or whose columns are at fixed positions, as programs print them for people.

#![forbid(unsafe_code)]

mod common;

use common::{Outcome, Place};

fn query(text: &str, query: &str) -> Outcome {
    let place = Place::new();
    place.write("t.txt", text);
    place.run_of(&["query", "t.txt", query, "--format", "csv"])
}

#[test]
fn boxes_of_database_clients_are_read() {
    let text = "+----+-------+-------+\n| id | name  | score |\n+----+-------+-------+\n|  1 | alice |  3.50 |\n\
                |  2 | bob   |  NULL |\n+----+-------+-------+\n";
    let found = query(text, "select id, name, score");
    assert_eq!(found.text(), "id,name,score\n1,alice,3.50\n2,bob,\n");
    // Lines that draw nothing are rows: here of strands.
    let strands = "strand|n\n+|1\n-|2\n+|3\n";
    assert_eq!(query(strands, "select count(*) as n where strand = '+'").text(), "n\n2\n");
}

#[test]
fn the_rules_of_markdown_are_no_rows() {
    for rule in ["|------|----:|:-----:|", "| --- | --- | --- |", "|:---|:---:|---:|", "|------+-----+-------|"] {
        let text = format!("| name | qty | price |\n{rule}\n| apple | 3 | 1.25 |\n| pear | 10 | 0.75 |\n");
        let found = query(&text, "select name, sum(qty) as q, max(price) as p group by name order by name");
        assert!(found.stderr.contains("the row above a line of dashes names the columns"), "{}", found.stderr);
        assert_eq!(found.text(), "name,q,p\napple,3,1.25\npear,10,0.75\n", "{rule}");
    }
    // All columns are text.
    let text = "| a | b |\n|---|---|\n| x | y |\n| z | w |\n| u | v |\n";
    assert_eq!(query(text, "select a, b").text(), "a,b\nx,y\nz,w\nu,v\n");
    // Dashes that stand for missing values draw no line.
    let missing = "|a|b|\n|-|-|\n|x|y|\n";
    assert_eq!(query(missing, "select count(*) as n").text(), "n\n2\n");
}

#[test]
fn columns_at_fixed_positions_are_noted() {
    let note = "columns seem to be separated by two or more blanks; sed -E 's/ {2,}/\\t/g' makes tabs of these";
    let single = "NAME            CITY          AMOUNT\nAl              New York      814.68\n\
                  Al              Rome          268.14\nBo Li           New York      303.30\n";
    let found = query(single, "select count(*)");
    assert!(found.stderr.contains(&format!("3 {note}")), "{}", found.stderr);
    let split = "CONTAINER ID   IMAGE          COMMAND                  CREATED         STATUS         NAMES\n\
                 d9b100f2f636   nginx:latest   \"/docker-entrypoint.…\"   2 minutes ago   Up 2 minutes   web\n\
                 a1b2c3d4e5f6   redis:7        \"docker-entrypoint.s…\"   3 hours ago     Up 3 hours     cache\n\
                 ffeeddccbbaa   postgres:16    \"docker-entrypoint.s…\"   5 days ago      Up 5 days      db\n";
    let found = query(split, "select count(*)");
    assert!(found.stderr.contains(&format!("6 {note}")), "{}", found.stderr);
    for text in [
        "a    b    c\n1    2    3\n4    5    6\n7    8    9\n",
        "He said so.  She did not.\nNo one came.  It rained a lot.\nThe end.  Or not.\n",
        "x  -1.5 2\ny   1.5 3\nz  -2.5 4\n",
        "   12    40   300 a.txt\n  340  1000  9000 b.txt\n    7    20   100 c.txt\n",
    ] {
        let found = query(text, "select count(*)");
        assert!(!found.stderr.contains("two or more blanks"), "{text}{}", found.stderr);
    }
}

#[test]
fn blanks_of_few_texts_are_part_of_them() {
    let texts = ["  indented", "plain", "more", "words", "other"];
    let rows: String = (0..40).map(|row| format!("{row}, {},{}\n", row + 5, texts[row % 5])).collect();
    let found = query(&format!("id,n,text\n{rows}"), "select text, sum(n) as n where id < 2 group by text order by n");
    assert_eq!(found.text(), "text,n\n\"  indented\",5\nplain,6\n");
}

#[test]
fn documents_are_not_read_as_text() {
    let place = Place::new();
    place.write("a.pdf", "%PDF-1.4\n%\n1 0 obj\n<<>>\nendobj\n");
    place.write("b.rtf", "{\\rtf1 hello}\n");
    place.run("count a.pdf").fails_with(1, "looks like PDF");
    place.run("count b.rtf").fails_with(1, "looks like rich text");
}
