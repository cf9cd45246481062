//! Functions of constants and of columns: known values, nulls, and what is refused.

use super::records::PLAIN;
use super::select::{ask, check};

fn value(expression: &str) -> String {
    ask(&format!("select {expression} limit 1"), PLAIN, 1)
}

#[test]
fn functions_of_text_have_known_values() {
    for (expression, expected) in [
        ("left('abc', -1) || '|' || left('é', 5) || '|' || left('abc', -9)", "ab|é|"),
        (
            "right('aéb', 2) || '|' || right('abc', -1) || '|' || right('abc', 0) || '|' || right('abc', 9)",
            "éb|bc||abc",
        ),
        ("right('abc', -9) || '|' || right('abc', -9223372036854775807 - 1)", "|"),
        (
            "lpad('abc', 2, 'x') || '|' || lpad('é', 6, 'xyz') || '|' || lpad('a', 3) || '|' || lpad('a', 3, '')",
            "ab|xyzxyé|  a|a",
        ),
        ("rpad('abc', 6, 'xy') || '|' || rpad('abc', -1, 'x') || '|' || rpad('', 2, '日')", "abcxyx||日日"),
        ("trim('  a ') || '|' || ltrim(' a ') || '|' || rtrim(' a ')", "a|a | a"),
        (
            "trim('xyaxy', 'yx') || trim(leading 'x' from 'xbx') || trim(trailing 'x' from 'xbx') || trim(both 'x' from 'xcx')",
            "abxxbc",
        ),
        ("trim(both from ' a ') || '|' || TRIM ( LEADING FROM ' b ') || '|' || trim(trailing from ' c ')", "a|b | c"),
        ("octet_length('blå') + strlen('')", "4"),
        ("regexp_replace('abab', 'b', 'X') || regexp_replace('abab', 'b', 'X', 'g')", "aXabaXaX"),
        (r"regexp_replace('abab', '(b)', '<\0\\\1>')", r"a<b\b>ab"),
        (r"regexp_replace('ab', '(a)|(c)', '\2-') || regexp_replace('abc', '', '-', 'g')", "-b-a-b-c-"),
        ("regexp_replace('aBc', 'b', '', 'i') || regexp_replace('aBc', 'b', '')", "acaBc"),
        (
            r"regexp_replace('-a1b2-', '([a-z])([0-9])', '\2\1', 'g') || regexp_replace('xabab', '(a)(b)', '\2\1')",
            "-1a2b-xbaab",
        ),
        (r"regexp_replace('éaéb', 'é', '<\0>', 'g') || regexp_replace('aé', '(x)?', '\1-', 'g')", "<é>a<é>b-a-é-"),
        (
            "regexp_extract('a1b2', '[0-9]') || regexp_extract('a1b2', '([a-z])([0-9])', 2) || regexp_extract('a', 'b')",
            "11",
        ),
        ("regexp_extract('ab', '(a)(c)?', 2) || '|' || regexp_extract('xB', 'b', 0, 'i')", "|B"),
        ("regexp_matches('aB', 'b', 'i') and not regexp_matches('aB', 'b')", "true"),
        ("split_part('a--b', '--', 2) || split_part('a-b', '-', -2) || '|' || split_part('a', '-', 2)", "ba|"),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
}

#[test]
fn functions_of_numbers_have_known_values() {
    for (expression, expected) in [
        ("sign(-0.5) + sign(0) * 10 + sign(7) * 100 + sign(-1e300)", "98"),
        ("sign(cast('nan' as float64))", "0"),
        ("log(100) + log(2, 8) + log2(0.5) + log10(1000) + log(10, 10)", "8.0"),
        ("99999999999999999999999999999999999999 % 1.5", "0.0"),
        ("1.5 % 99999999999999999999999999999999999999", "1.5"),
        ("-99999999999999999999999999999999999999 % 0.0000007", "-0.0000003"),
        ("log(0)", "-inf"),
        ("log(-1)", "NaN"),
    ] {
        assert_eq!(value(expression).to_lowercase(), expected.to_lowercase(), "{expression}");
    }
}

#[test]
fn functions_of_dates_have_known_values() {
    for (expression, expected) in [
        ("interval '1 day' + date '2024-01-31'", "2024-02-01"),
        ("interval -1 day + date '2024-01-31'", "2024-01-30"),
        ("date '2024-01-31' + interval (1.5) day", "2024-02-01 12:00:00.000000"),
        ("interval '-1' month + timestamp '2024-03-31 12:00:00'", "2024-02-29 12:00:00.000000"),
        ("date '2024-01-31' + 1 - (1 + date '2024-01-31')", "0"),
        ("date_diff('year', date '2023-12-31', date '2024-01-01')", "1"),
        ("date_diff('quarter', date '2024-04-01', date '2024-03-31')", "-1"),
        (
            "date_diff('weeks', date '2024-01-07', date '2024-01-08') + date_diff('week', date '2024-01-01', date '2024-01-07')",
            "1",
        ),
        ("date_diff('day', date '2024-01-01', timestamp '2024-01-02 23:00:00')", "1"),
        ("date_diff('hour', timestamp '1969-12-31 23:59:59', timestamp '1970-01-01 00:00:00')", "1"),
        ("date_diff('minute', time '01:59:59', time '02:00:00')", "1"),
        ("date_diff('microsecond', date '2024-01-01', date '2024-01-02')", "86400000000"),
        ("date_trunc('months', date '2024-02-29')", "2024-02-01"),
        (
            "extract(isoyear from date '2024-12-30') + extract(isoyear from date '2023-01-01') + extract(isodow from date '2023-01-01')",
            "4054",
        ),
        ("to_timestamp(1.5)", "1970-01-01 00:00:01.500000Z"),
        ("to_timestamp(-0.0000005)", "1969-12-31 23:59:59.999999Z"),
        ("to_timestamp(1e9)", "2001-09-09 01:46:40.000000Z"),
        ("cast(19782 as date)", "2024-02-29"),
        ("cast(-1 as timestamp(0))", "1969-12-31 23:59:59"),
        ("cast(-1 as timestamp(s))", "1969-12-31 23:59:59"),
        ("try_cast('12:30:00' as TIME ( ms ))", "12:30:00.000"),
        ("cast(-1 as timestamp(ms) with zone)", "1969-12-31 23:59:59.999Z"),
        ("(-1)::timestamp with zone", "1969-12-31 23:59:59.999999Z"),
        ("cast(-1 as timestamp(9) with time zone)", "1969-12-31 23:59:59.999999999Z"),
        ("cast(date '2024-02-29' as int64) + cast(timestamp '1970-01-01 00:00:01' as int64)", "1019782"),
        ("try_cast(3000000000 as date)", "null"),
        ("timestamp '2024-03-31 02:30:00' at time zone 'Europe/Oslo'", "2024-03-31 01:30:00.000000Z"),
        ("timestamp '2024-10-27 02:30:00' at time zone 'europe/oslo'", "2024-10-27 01:30:00.000000Z"),
        ("timestamp '2024-10-27 00:30:00Z' at time zone 'Europe/Oslo'", "2024-10-27 02:30:00.000000"),
        ("timestamp '2100-07-27 02:30:00Z' at time zone 'Europe/Oslo'", "2100-07-27 04:30:00.000000"),
        ("timestamp '1890-10-27 02:30:00Z' at time zone 'Europe/Oslo'", "1890-10-27 03:23:28.000000"),
        ("timestamp '9999-12-31 23:59:59' at time zone 'Europe/Oslo'", "9999-12-31 22:59:59.000000Z"),
        ("timestamp '9999-12-31 23:59:59Z' at time zone 'Europe/Oslo'", "+10000-01-01 00:59:59.000000"),
        ("timestamp '9999-12-31 23:59:59' at time zone 'UTC'", "9999-12-31 23:59:59.000000Z"),
        ("timestamp '-9999-01-01 00:00:00Z' at time zone 'Europe/Oslo'", "-09999-01-01 00:53:28.000000"),
        ("timestamp '+20000-07-01 00:00:00Z' at time zone 'Europe/Oslo'", "+20000-07-01 02:00:00.000000"),
        ("cast(cast(300000000000000000 as timestamp(0)) at time zone 'Etc/GMT-2' as int64)", "299999999999992800"),
        ("date '2024-07-01' at time zone 'Asia/Kolkata'", "2024-06-30 18:30:00.000000Z"),
        ("timezone('UTC', timestamp '2024-07-01 00:00:00')", "2024-07-01 00:00:00.000000Z"),
        (
            "strftime(date '2024-02-09', '%d.%m.%y %H%%') || strftime('%Y', timestamp '2024-01-01 00:00:00')",
            "09.02.24 00%2024",
        ),
        ("strftime(timestamp '2024-02-09 00:00:00Z', '%Z%z')", "UTC+00"),
        ("strftime(date '2024-05-31', '%Y-Q%q')", "2024-Q2"),
        ("to_char(timestamp '2024-02-09 13:04:05.678', 'yyyy-mm-dd HH24:mi:ss.MS')", "2024-02-09 13:04:05.678"),
        (
            "to_char(date '2024-02-09', 'Dy FMDD. Mon YY, FMDay FMMonth \"MM\" Q DDD')",
            "Fri 9. Feb 24, Friday February MM 1 040",
        ),
        ("to_char(timestamp '2024-02-09 13:04:05', 'HH12:MI AM')", "01:04 PM"),
        ("to_char(date '2024-02-09', '%d.%m.')", "09.02."),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
}

#[test]
fn a_bound_of_null_leaves_what_the_other_decides() {
    for (expression, expected) in [
        ("5 between null and 1", "false"),
        ("5 not between 10 and null", "true"),
        ("length(t) between null and -1", "false"),
        ("length(t) between null and -1 is null", "false"),
        ("case when 5 between 1 and null then 'a' when x not between null and -1e9 then 'b' end", "b"),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
}

#[test]
fn nulls_make_null() {
    for expression in [
        "left(nullif('a', 'a'), 1)",
        "right('a', nullif(1, 1))",
        "lpad('a', 3, nullif('a', 'a'))",
        "ltrim(nullif('a', 'a'))",
        "octet_length(nullif('a', 'a'))",
        "regexp_replace(nullif('a', 'a'), 'a', 'b')",
        "regexp_extract(nullif('a', 'a'), 'a')",
        "split_part('a', nullif('a', 'a'), 1)",
        "sign(nullif(1, 1))",
        "log(nullif(2, 2), 3)",
        "date_diff('day', date '2024-01-01', nullif(date '2024-01-01', date '2024-01-01'))",
        "strftime(nullif(date '2024-01-01', date '2024-01-01'), '%Y')",
        "to_timestamp(nullif(1, 1))",
        "nullif(null, 1)",
        "nullif(null, null)",
        "null in (1, 2)",
        "null not in ('a')",
        "5 between null and 10",
        "5 not between 1 and null",
        "null between 1 and 2",
        "x between null and null",
        "x between null and 1000",
        "t like null",
        "not t ilike null",
        "regexp_matches(t, null)",
        "substr(t, null)",
        "lpad(t, null)",
        "round(null)",
        "round(x, null) + 1",
        "abs(null) > 1",
        "x = abs(null)",
        "1 <> abs(null)",
        "-null * 2",
        "null + interval '1 day'",
        "date_diff('day', null, date '2024-01-01')",
        "extract(year from null)",
        "nullif(timestamp '2024-01-01 00:00:00', timestamp '2024-01-01 00:00:00') at time zone 'UTC'",
    ] {
        assert_eq!(value(expression), "null", "{expression}");
    }
}

#[test]
fn columns_have_the_values_of_their_rows() {
    for (text, expected) in [
        (r"select regexp_replace(t, '^(.)(.*)$', '\2\1') as r where x < 1", "eroz; neo; wot"),
        ("select right(t, 2) as r, count(*) group by r having count(*) > 1", "ne 2"),
        ("select left(t, octet_length(s)) as l, count(*) group by l having count(*) > 1", "f 2; s 2; t 2"),
        ("select split_part(t, 'e', 1) as p where x < 1 order by p", "on; two; z"),
        ("select rpad(t, length(t) + 1, s) as p where x between 0.5 and 1", "twoa; threeb"),
        ("select lpad(s, cast(x * 2 as int64), 'é') as p where x between 1 and 2", "éb; ééa; éééb"),
        ("select strftime(cast(\"y y\" as date), '%d') as d, count(*) group by d", "01 4; 02 3; 03 3"),
        (
            "select date_diff('day', date '1969-12-31', cast(\"y y\" as date)) as d, count(*) group by d",
            "1 4; 2 3; 3 3",
        ),
        ("select max(to_timestamp(x) at time zone 'UTC') - interval '1 second'", "1970-01-01 00:00:03.000000"),
        ("select sum(sign(x)), bool_and(x > 0), bool_or(s = 'b'), every(x < 5)", "7 false true true"),
        (
            "select quantile_cont(x, 0.25), percentile_cont(0.5) within group (order by x), quantile(\"y y\", 0.4)",
            "0.625 1.75 0",
        ),
        (
            "select s, median(cast(\"y y\" as date)) as m, quantile_disc(cast(\"y y\" as date), 1) as q group by s",
            "a 1970-01-02 00:00:00 1970-01-03; b 1970-01-02 00:00:00 1970-01-03",
        ),
        ("select quantile_cont(cast(\"y y\" as date), 0.25) as q where x < 1", "1970-01-01 12:00:00"),
        ("select quantile_cont(x, 0.5), median(cast(\"y y\" as date)) where x > 100", "null null"),
        ("select if(s = 'a' and t = 'two', 1, 0) as k, count(*) group by k", "0 9; 1 1"),
        ("select quantile_cont(x, '+0.25') as q, round(max(x), -9223372036854775808) as r", "0.625 0"),
        ("select max(extract(epoch from cast(-9223372036854775807 - 1 as timestamp(0)))) as e", "-9223372036854775808"),
        ("select sum(\"y y\" + 9000000000000000000) - sum(\"y y\") as s", "90000000000000000000"),
    ] {
        check(text, expected);
    }
}

#[test]
fn what_does_not_make_sense_is_refused() {
    for (expression, message) in [
        ("regexp_replace(t, '(', '')", "'regexp_replace' needs a regular expression: unclosed group"),
        (
            r"regexp_replace(t, 'a', '\1')",
            "'regexp_replace' needs groups that its pattern has: 0, but \\1 is beyond, found '\\1'",
        ),
        (
            "regexp_replace(t, 'a', 'b', 'q')",
            "'regexp_replace' needs options among i (ignore case), c, s (dot matches \\n) and g, found 'q'",
        ),
        (
            "regexp_extract(t, '(a)', 2)",
            "'regexp_extract' needs the number of a group of its pattern, from 0 to 1, found 2",
        ),
        ("split_part(t, '-', 'a')", "'split_part' needs an integer, found 'a'"),
        ("left(t)", "'left' is written left(s, n)"),
        ("substr(t)", "'substr' is written substr(s, from[, length])"),
        ("substring(t)", "'substr' is written substr(s, from[, length])"),
        ("left(t, 'x')", "'left' needs an integer, found 'x'"),
        ("datediff(x, x)", "'datediff' is written datediff('part', t, u)"),
        ("mod(t, 2)", "'mod' needs a number, found string"),
        ("group_concat(t)", "'group_concat' needs a separator after its column"),
        ("listagg(x, ',')", "'listagg' needs a column of strings, found decimal(18,1)"),
        ("date_part('eon', null)", "'date_part' needs one of: year, quarter"),
        ("null in (foo)", "unknown column 'foo'"),
        ("lpad(t, 1.5)", "'lpad' needs an integer, found 1.5"),
        ("date_diff('eon', date '2024-01-01', date '2024-01-01')", "'date_diff' needs year, quarter"),
        ("date_diff('day', time '01:00', date '2024-01-01')", "'date_diff' needs another value like the first"),
        ("date_diff('day', time '01:00', time '02:00')", "'date_diff' needs a date or a timestamp, found time"),
        ("strftime(date '2024-01-01', '%Q')", "'strftime' needs a format of text and %Y"),
        ("strftime(time '01:00', '%H')", "'strftime' needs a date or a timestamp"),
        ("to_char(date '2024-01-01', 'Month')", "'to_char' needs a template of these words"),
        ("to_char(date '2024-01-01', 'DD \"x')", "'to_char' needs a template of these words"),
        ("to_char(1, 'DD')", "'to_char' needs a date or a time, found 1"),
        (
            "to_timestamp(t)",
            "'to_timestamp' needs a number of seconds (for text, write cast(s as timestamp)), found string",
        ),
        ("to_timestamp(1e300)", "to_timestamp(1"),
        ("date '2024-01-01' at time zone 'Europe/Atlantis'", "'timezone' needs a time zone of the IANA database"),
        ("time '01:00' at time zone 'UTC'", "'timezone' needs a date or a timestamp"),
        (
            "cast(9223372036854775807 as timestamp) at time zone 'America/New_York'",
            "+294247-01-10 04:00:54.775807 at time zone 'America/New_York' is out of range for timestamp with zone",
        ),
        (
            "date '+5881580-07-11' at time zone 'UTC'",
            "+5881580-07-11 at time zone 'UTC' is out of range for timestamp with zone",
        ),
        (
            "date '2024-01-31' + interval '99999999999 months'",
            "2024-01-31 moved by an interval is out of range for date",
        ),
        (
            "date_trunc('week', cast(-9223372036854775807 - 1 as timestamp))",
            "the start of the period of -290308-12-21 19:59:05.224192 is out of range for timestamp",
        ),
        ("round(9223372036854775807, -1)", "9223372036854775807 rounded is out of range for int64"),
        ("bucket(-9223372036854775807, 10)", "the bucket of -9223372036854775807 is out of range for int64"),
        (
            "date_diff('microsecond', date '-5877641-06-23', date '2024-01-01')",
            "date_diff from -5877641-06-23 to 2024-01-01 is out of range for int64",
        ),
        ("cast(1.5 as date)", "a value of type decimal(2,1) cannot be cast to date"),
        ("cast(3000000000 as date)", "cannot cast '3000000000' to date"),
        ("bool_and(x)", "'bool_and' needs a condition, or a column of true and false"),
        ("quantile_cont(s, 0.5)", "'quantile_cont' needs a column of numbers, dates or times, found string"),
        ("t like t", "'like' needs a constant string, found string that is not constant"),
        (
            "percentile_cont(0.1) within group (order by x desc)",
            "'desc' inside 'within group' after 'percentile_cont' is not supported; take the other end: 0.1 for 0.9",
        ),
        (
            "percentile_disc(0.1) within group (order by x desc)",
            "'desc' inside 'within group' after 'percentile_disc' is not supported\n",
        ),
        ("sum(x) within group (order by x)", "'within group' after 'sum' is not supported"),
    ] {
        let found = value(expression);
        assert!(found.starts_with(message), "{expression}: {found}");
    }
}
