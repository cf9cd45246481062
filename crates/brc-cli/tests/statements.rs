//! Tests of SQL statements on the command line: how they are recognised, which table they name, and sequences of them.

#![allow(clippy::unwrap_used)]

mod common;

use common::Place;

const SALES: &str = "city,price,sold\nOslo,12.50,1\nOslo,10.50,6\nBergen,11.50,4\n";

fn place() -> Place {
    let place = Place::new();
    place.write("sales.csv", SALES);
    place.write("more.csv", "city,price,sold\nBergen,1.00,2\n");
    place
}

fn csv(place: &Place, arguments: &[&str]) -> String {
    place.run_of(&[&["query", "--format", "csv"], arguments].concat()).text()
}

#[test]
fn files_are_named_in_the_query() {
    let place = place();
    std::fs::create_dir(place.path("sub dir")).unwrap();
    place.write("sub dir/select", SALES);
    for (arguments, expected) in [
        (&["select count(*) as n from 'sales.csv'"][..], "n\n3\n"),
        (&["SELECT count(*) AS n FROM \"sales.csv\" WHERE sold > 1;"], "n\n2\n"),
        (&["select count(*) as n from sales.csv"], "n\n3\n"),
        (&["select count(*) as n from './*.csv' where price < 12"], "n\n3\n"),
        (&["from 'sub dir/select' select max(price) as n"], "n\n12.50\n"),
        (&["-f", "-"], "n\n1.00\n"),
        (&["/* which? */ from 'more.csv'"], "city,price,sold\nBergen,1.00,2\n"),
    ] {
        let arguments = [&["query", "--format", "csv"], arguments].concat();
        let answer = place.pipe_of(&arguments, b"select min(price) as n\nfrom 'more.csv'\n").text();
        assert_eq!(answer, expected, "{arguments:?}");
    }
    place.run_of(&["query", "select 1 from 'none.csv'"]).fails_with(1, "none.csv");
    place.run_of(&["query", "from 'none*.csv'"]).fails_with(2, "no file matches this pattern");
    place.run_of(&["query", "select 1"]).fails_with(2, "no file is given; name it before the query or in it");
    place
        .run_of(&["query", "from sales"])
        .fails_with(2, "unknown table 'sales'; name its file in quotes: from 'sales.csv'");
    place.run_of(&["query"]).fails_with(2, "no file is given");
}

#[test]
fn tables_have_the_names_of_their_files() {
    let place = place();
    let all = "select sum(sold) as n from";
    for table in
        ["t", "T", "sales", "SALES", "sales.csv", "'sales.csv'", "\"./sales.csv\"", "\"sales\" as s", "this", "data"]
    {
        assert_eq!(csv(&place, &["sales.csv", &format!("{all} {table}")]), "n\n11\n", "{table}");
        assert_eq!(csv(&place, &[&format!("{all} {table}"), "./sales.csv"]), "n\n11\n", "{table}");
    }
    for (table, expected) in [("t", "13"), ("sales", "11"), ("'more.csv'", "2")] {
        let answer = csv(&place, &["sales.csv", "more.csv", &format!("{all} {table}")]);
        assert_eq!(answer, format!("n\n{expected}\n"), "{table}");
    }
    for (table, message) in [
        ("sals", "unknown table 'sals' (tables: t, sales, more)\n  select 1 from sals\n                ^"),
        ("'other.csv'", "unknown table 'other.csv' (tables: t, sales, more)"),
        ("\"SALES\"", "unknown table 'SALES'"),
        ("(select 1)", "subqueries are not supported: save the inner result first"),
        ("sales join more on 1", "'join' is not supported: brc query asks one table; use brc-sql"),
        ("sales, more", "more than one table is not supported: brc query asks one table"),
    ] {
        let statement = format!("select 1 from {table}");
        place.run_of(&["query", "sales.csv", "more.csv", &statement]).fails_with(2, message);
    }
    std::fs::create_dir(place.path("x")).unwrap();
    place.write("x/sales.csv", SALES);
    let outcome = place.run_of(&["query", "sales.csv", "x/sales.csv", "from sales"]);
    outcome.fails_with(2, "2 files are called 'sales'; name one with its folder, in quotes");
    assert_eq!(csv(&place, &["sales.csv", "x/sales.csv", "from 'x/sales.csv' select 1 as n limit 1"]), "n\n1\n");
}

#[test]
fn files_may_have_names_that_look_like_sql() {
    let place = place();
    for name in ["select", "from", "show.csv", "with-header.csv", "from.csv"] {
        place.write(name, SALES);
        assert_eq!(csv(&place, &[name, "select count(*) as n"]), "n\n3\n", "{name}");
        assert_eq!(csv(&place, &[name, "--by", "", "--agg", "count(*)"]), "count(*)\n3\n", "{name}");
    }
    place.run("query describe.csv").fails_with(1, "describe.csv");
    place.run("query describe").fails_with(2, "no file is given");
    place.run("query nothing").fails_with(1, "nothing");
    place.run_of(&["query", "sales.csv", "count(*)"]).fails_with(2, "'count(*)' is neither a file nor a query");
    place.run_of(&["query", "sales.csv", "price > 3"]).fails_with(2, "queries begin with select: 'select …'");
    place
        .run_of(&["query", "sales.csv", "update t set x = 1"])
        .fails_with(2, "'update' is not supported: brc reads tables");
    place
        .run_of(&["query", "sales.csv", "copy (select 1) to 'x.csv'"])
        .fails_with(2, "'copy' is not supported: brc reads tables; -o saves the result of a query");
    std::fs::create_dir(place.path("year=2024")).unwrap();
    place.write("year=2024/a.csv", SALES);
    assert_eq!(csv(&place, &["year=2024/*.csv", "select count(*) as n"]), "n\n3\n");
    place.write("a=1 (2)", SALES);
    assert_eq!(csv(&place, &["a=1 (2)", "--group-by", "", "--agg", "count(*)"]), "count(*)\n3\n");
}

#[test]
fn what_is_no_command_and_no_option_leads_to_the_query() {
    let place = place();
    let written = "tip: queries are written brc query FILE \"select …\"";
    for arguments in
        [&["sql", "sales.csv", "select 1"][..], &["select 1 from 'sales.csv'"], &["sales.csv", "select 1"], &["x.csv"]]
    {
        place.run_of(arguments).fails_with(2, written);
    }
    place.run_of(&["qurey"]).fails_with(2, "a similar subcommand exists: 'query'");
    for (arguments, tip) in [
        (&["query", "sales.csv", "select 1", "--csv"][..], "tip: the format is written --format csv"),
        (&["head", "sales.csv", "--markdown"], "tip: the format is written --format markdown"),
        (&["count", "sales.csv", "--csv"], "tip: to pass '--csv' as a value"),
    ] {
        place.run_of(arguments).fails_with(2, tip);
    }
    assert_eq!(csv(&place, &["sales.csv", "-- all\n-- of it\nselect count(*) as n"]), "n\n3\n");
    let wrong = place.run_of(&["query", "sales.csv", "-- all\nselect x"]);
    wrong.fails_with(2, "unknown column 'x' (columns: city, price, sold) (line 2, column 8)");
    place.write("two.csv", "a,b,n\nx,y,1\n");
    place
        .run_of(&["query", "two.csv", "--where", "n > 1"])
        .fails_with(2, "or '' for all rows as one group; for the rows themselves, write 'select * where n > 1'");
}

#[test]
fn tables_are_described() {
    let place = place();
    let (schema, summary) = (place.run("schema sales.csv").text(), place.run("summarize sales.csv").text());
    for (arguments, expected) in [
        (&["sales.csv", "describe"][..], &schema),
        (&["sales.csv", "DESCRIBE t;"], &schema),
        (&["describe 'sales.csv'"], &schema),
        (&["sales.csv", "show columns"], &schema),
        (&["sales.csv", "show columns from sales"], &schema),
        (&["sales.csv", "summarize"], &summary),
        (&["summarize sales.csv"], &summary),
        (&["sales.csv", "describe", "--format", "json"], &place.run("schema sales.csv --json").text()),
        (&["sales.csv", "summarize", "--format", "json"], &place.run("summarize sales.csv --json").text()),
    ] {
        assert_eq!(&place.run_of(&[&["query"], arguments].concat()).text(), expected, "{arguments:?}");
    }
    let tables = place.run_of(&["query", "sales.csv", "show tables"]).text();
    assert_eq!(tables, " name    files\n───────────────────\n sales   sales.csv\n");
    let tables = place.run_of(&["query", "sales.csv", "sales.csv", "show tables", "--format", "json"]).text();
    let all = "{\"name\": \"t\", \"files\": \"sales.csv, sales.csv\"}";
    assert_eq!(tables, format!("[\n  {all},\n  {{\"name\": \"sales\", \"files\": \"sales.csv\"}}\n]\n"));
    place
        .run_of(&["query", "sales.csv", "show tables", "--format", "csv"])
        .fails_with(2, "show tables prints text, or");
    place.run_of(&["query", "sales.csv", "show tables", "-o", "x"]).fails_with(2, "show tables only prints");
    let explained = place.run_of(&["query", "sales.csv", "explain select count(*) as n", "--format", "csv"]);
    assert!(explained.stderr.contains("reads       nothing\n"), "{}", explained.stderr);
    assert_eq!(explained.text(), "n\n3\n");
    place.run_of(&["query", "sales.csv", "describe", "--format", "tsv"]).fails_with(2, "describe prints text, or JSON");
    place
        .run_of(&["query", "sales.csv", "describe", "-o", "x.csv"])
        .fails_with(2, "--output saves the result of select");
}

#[test]
fn statements_follow_one_another() {
    let place = place();
    place.write("q.sql", "-- two; questions\nselect count(*) as n; /* ; */\n\nselect sum(sold) as n;\n");
    let two = "n\n3\nn\n11\n";
    assert_eq!(csv(&place, &["sales.csv", "select count(*) as n;select sum(sold) as n;"]), two);
    assert_eq!(csv(&place, &["sales.csv", "select count(*) as n", "from t select sum(sold) as n"]), two);
    assert_eq!(csv(&place, &["sales.csv", "-f", "q.sql"]), two);
    assert_eq!(csv(&place, &["sales.csv", "select 1 as n limit 1", "-f", "q.sql"]), format!("n\n1\n{two}"));
    let shown = place.run_of(&["query", "sales.csv", "select 1 as n limit 1; select 2 as n limit 1"]).text();
    assert_eq!(shown, " n\n───\n 1\n\n n\n───\n 2\n");

    let failing =
        place.run_of(&["query", "sales.csv", "--format", "csv", "select 1 as n limit 1;\nselect no;\nselect 2"]);
    assert_eq!((failing.code, failing.stdout.as_slice()), (Some(2), &b"n\n1\n"[..]));
    let message = "brc: statement 2 (line 2): unknown column 'no' (columns: city, price, sold) (line 2, column 8)\n";
    assert!(failing.stderr.starts_with(message), "{}", failing.stderr);
    let failing = place.run_of(&["query", "sales.csv", "select 1; selct 2"]);
    assert!(failing.stdout.is_empty());
    failing.fails_with(2, "expected a statement (select, from, describe, summarize, show or explain), found 'selct'");
    place.write("bad.sql", "describe;\nselect no");
    let failing = place.run("query sales.csv -f bad.sql");
    assert!(
        failing.stderr.starts_with("brc: statement 2 (bad.sql, line 2): unknown column 'no'"),
        "{}",
        failing.stderr
    );
    place.write("bad.sql", "select 1;\nselect");
    place
        .run("query sales.csv -f bad.sql")
        .fails_with(2, "bad.sql: expected an expression, found the end (line 2, column 7)");
    place.run("query sales.csv -f none.sql").fails_with(1, "none.sql");
    place.run("query - -f -").fails_with(2, "standard input cannot be both the table and the statements");
    place.write("empty.sql", "-- nothing\n;");
    place.run("query sales.csv -f empty.sql").fails_with(2, "there is no statement to run");
    place
        .run_of(&["query", "sales.csv", "from t; from t", "-o", "x.csv"])
        .fails_with(2, "--output takes the result of one statement");
    place
        .run_of(&["query", "sales.csv", "from t", "--by", "city"])
        .fails_with(2, "cannot be combined with a SQL query");
    place
        .run_of(&["query", "sales.csv", "with a as (select 1) from a"])
        .fails_with(2, "brc query FILE 'select …' -o part.buren");
}

#[test]
fn a_pipe_is_queried_several_times() {
    let place = place();
    // Larger than the buffered start of a pipe.
    let long = format!("{SALES}{}", "Oslo,1.25,2\n".repeat(1 << 18));
    for (text, rows, sold) in [(SALES, 3, 11), (&long, 3 + (1 << 18), 11 + (1 << 19))] {
        let statements = "select count(*) as n from t; select sum(sold) as n; describe";
        let outcome = place.pipe_of(&["query", "-", "--format", "json", statements], text.as_bytes());
        let schema = place.pipe("schema - --json", text.as_bytes()).text();
        assert_eq!(outcome.text(), format!("{{\"n\":{rows}}}\n{{\"n\":{sold}}}\n{schema}"));
    }
}

#[test]
fn rows_of_a_split_that_a_limit_ends_are_counted() {
    let place = Place::new();
    place.write("t.csv", "x\n".to_owned() + &"1\n".repeat(20_000));
    for query in ["select * limit 3", "select * where x > 0 limit 3"] {
        let explained = place.run_of(&["query", "t.csv", query, "--explain", "--threads", "1"]).stderr;
        assert!(explained.contains("in splits: 0; not counting splits that the limit ended: 1\n"), "{explained}");
        assert!(!explained.contains("rows        read: 0\n"), "{explained}");
    }
    let explained = place.run_of(&["query", "t.csv", "select * limit 30000", "--explain", "--threads", "1"]).stderr;
    assert!(explained.contains("in splits: 1\nrows        read: 20,000\n"), "{explained}");
}
