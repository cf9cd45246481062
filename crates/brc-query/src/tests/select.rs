//! SQL queries with known answers.

use super::each_row;
use super::records::{self, PLAIN, Record};
use crate::Query;
use brc_core::{Field, Progress, Schema, Table, Value};
use brc_testing::{Delivery, MemoryTable, Typed};

/// Ten rows: s is a or b, t is its place as a word, x = -0.5 … 4.0 by halves, y is 0, 1 and 2 in turn.
fn table(delivery: Delivery) -> MemoryTable<Typed> {
    let words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    let row = |(place, word): (usize, &&str)| Record {
        s: if place % 2 == 0 { b"a".to_vec() } else { b"b".to_vec() },
        t: word.as_bytes().to_vec(),
        x: place as i64 * 5 - 5,
        y: place as i64 % 3,
    };
    records::table(words.iter().enumerate().map(row).collect(), delivery)
}

pub(super) fn ask(text: &str, delivery: Delivery, threads: usize) -> String {
    let query = match Query::parse(text) {
        Ok(query) => query,
        Err(error) => return error.to_string(),
    };
    match query.ask(&table(delivery), threads, &Progress::default()) {
        Ok((_, answer)) => {
            let value = |(value, column): (Option<Value<'_>>, &Field)| {
                value.map_or("null".to_owned(), |value| value.to_text(column.logical_type))
            };
            let fields = answer.schema().fields();
            each_row(&answer, |row| row.zip(fields).map(value).collect::<Vec<_>>().join(" ")).join("; ")
        }
        Err(error) => error.to_string().lines().next().unwrap_or_default().to_owned(),
    }
}

/// The answer is the same however rows are delivered.
pub(super) fn check(text: &str, expected: &str) {
    for (split_rows, batch_rows) in [(100, 100), (3, 2), (1, 1)] {
        for tests_rows in [false, true] {
            let delivery = Delivery { split_rows, batch_rows, tests_rows, ..PLAIN };
            for threads in [1, 3] {
                assert_eq!(ask(text, delivery, threads), expected, "{text}");
            }
        }
    }
}

#[test]
fn groups_are_answered() {
    for (text, expected) in [
        ("select count(*)", "10"),
        ("select s, count(*), sum(x) from anything group by s", "a 5 7.5; b 5 10.0"),
        ("select upper(s) as u, sum(x * 2 + 1) group by u order by 2 desc", "B 25.0; A 20.0"),
        ("select length(t), count(*) group by 1 having count(*) > 2 order by 2 desc, 1", "4 4; 3 3; 5 3"),
        ("select sum(x) / count(*) as m where t like '%e%' group by s order by s", "1.5; 2.0"),
        ("select count(*) filter (where x > 1), sum(x) filter (where s = 'a')", "6 7.5"),
        ("select s, greatest(max(x), sum(1)), if(count(*) > 3, 'many', 'few') group by s", "a 5.0 many; b 5.0 many"),
        ("select if(x > 2, 'high', 'low') as k, count(*) group by k", "high 4; low 6"),
        ("select s, max(x) - min(x) as spread group by s order by spread desc, s limit 1 offset 1", "b 4.0"),
        ("select \"y y\", count(*) group by \"y y\" order by count(*) desc, 1 desc", "0 4; 2 3; 1 3"),
        ("select distinct s", "a; b"),
        ("select distinct 36 as k, s", "36 a; 36 b"),
        ("select distinct 2, s", "2 a; 2 b"),
        (
            "select * exclude (t, x), count(*) group by all having count(*) > 1 order by all desc",
            "b 1 2; b 0 2; a 2 2; a 0 2",
        ),
        ("select upper(s) as u, sum(x), 1 as one group by all", "A 7.5 1; B 10.0 1"),
        ("select 1, s, count(*) group by 1, s", "1 a 5; 1 b 5"),
        ("select x in (null), s, count(*) group by 1, 2", "null a 5; null b 5"),
        ("select distinct x + null as n, s", "null a; null b"),
        ("select s, upper(s) as u, count(*) group by s, u, length(s) having u = 'B' order by u", "b B 5"),
        ("select upper(s) as u, s, count(*) group by u, s", "A a 5; B b 5"),
        ("select 3 - \"y y\" as n, count(*) group by \"y y\", n", "3 4; 2 3; 1 3"),
        ("select 'k' as k, 2 as two, count(*) group by k, two", "k 2 10"),
        ("select 'k' as k, 2 as two, count(*) where x > 100 group by k, two", ""),
        ("select count(*), 'a' as a group by all", "10 a"),
        ("select s, length(t) > 4 as long group by all order by all", "a false; a true; b false; b true"),
        ("select * exclude t where x > 3 order by all desc nulls first", "b 4.0 0; a 3.5 2"),
        ("select * exclude (\"y y\", s, x) limit 2", "zero; one"),
        ("select distinct s, length(t) > 4 order by 1, 2", "a false; a true; b false; b true"),
        (
            "select case when x < 0 then 'cold' when x < 2 then 'mild' else 'warm' end as k, count(*) group by k",
            "cold 1; mild 4; warm 5",
        ),
        ("select sum(1), count(1), min(3)", "10 10 3"),
        ("select min(distinct x), max(distinct t), bool_or(distinct x > 3)", "-0.5 zero true"),
        ("select sum(x) % 1.75, -sum(\"y y\") % 0.25, max(x) % 0.3", "0.00 0.00 0.1"),
        (
            "select sum(x + 1), sum(2 - x), sum(x - 0.25) filter (where s = 'a'), sum(1.5 + \"y y\") as z where x > 0",
            "26.0 -2.0 7.00 20.0",
        ),
        ("select sum(x + 1), sum(x + 1e0), 1 + sum(x + 1) where x > 100", "null null null"),
        ("select sum(x + 1e0), sum(\"y y\" + 0.5)", "27.5 14.0"),
        (
            "select s, sum(x), sum(x * x), sum(1 - x) where x > -0.5 group by s order by s",
            "a 8.0 21.00 -4.0; b 10.0 30.00 -5.0",
        ),
        (
            "select s, sum(x * 1000000000000000 * 1000000000000000) where x > -0.5 group by s order by s",
            "a 8000000000000000000000000000000.0; b 10000000000000000000000000000000.0",
        ),
        (
            "select s, sum(x * \"y y\"), sum(x * \"y y\" + x), sum(case when x * \"y y\" > 1 then x * \"y y\" end), \
             max(x * \"y y\" * 2) group by s order by s",
            "a 9.5 17.0 8.5 14.0; b 7.0 17.0 7.0 8.0",
        ),
        (
            "select s, sum(x * \"y y\" + x), count(*) where x * \"y y\" > 0 and x * \"y y\" < 7 group by s order by s",
            "a 4.5 2; b 12.0 2",
        ),
        ("select count(*) where x * 2 < \"y y\" + 1", "3"),
        ("select count(*) where x * 2 >= 7", "2"),
        ("select count(*) where x / 2 >= 1.25", "4"),
        ("select count(*) where case when x > 1 then x end > \"y y\"", "5"),
        ("select count(*) filter (where not case when x > 1 then x end > \"y y\")", "1"),
        (
            "select sum(case when x > 1 then x when \"y y\" > 0 then \"y y\" end), count(case when x > 3 then t end)",
            "19.5 2",
        ),
        ("select max(case when s = 'a' then t when x > 3 then 'zz' else 'n' end), count(x / \"y y\")", "zz 6"),
        (
            "select case when x > 2 then s when x > 1 then 'none' end as k, count(*) group by k order by k nulls last",
            "a 2; b 2; none 2; null 4",
        ),
        ("select sum(round(x)), sum(ceil(x)), sum(floor(x)), sum(round(x / 2))", "19 20 15 10.0"),
        ("select sum(cast(x as decimal(20, 3))), sum(cast(x as double)), sum(cast(x as int))", "17.500 17.5 19"),
        ("select sum(12 // (\"y y\" + 1)), sum(case when \"y y\" = 1 then 5 else 7 end)", "78 64"),
    ] {
        check(text, expected);
    }
}

#[test]
fn aggregates_are_known() {
    for (text, expected) in [
        ("select first(t), last(t) where s = 'b'", "one nine"),
        ("select s, first(x), last(x) group by s", "a -0.5 3.5; b 0.0 4.0"),
        ("select min_by(t, x), max_by(t, \"y y\")", "zero eight"),
        ("select s, string_agg(t, '+') filter (where x > 1) group by s", "a four+six+eight; b five+seven+nine"),
        ("select top(x, 3)", "4.0, 3.5, 3.0"),
        (
            "select corr(x, x), regr_slope(x, x * 2), regr_intercept(x + 1, x), regr_r2(x, x), regr_count(x, x)",
            "1.0 0.5 1.0 1.0 10",
        ),
        (
            "select covar_pop(x, x), var_pop(x), covar_samp(x, cast(x as float64)), var_samp(x)",
            "2.0625 2.0625 2.2916666666666665 2.2916666666666665",
        ),
        (
            "select mode(t), mode(s), mode(x > 1), mode(length(t)), mode(case when x > 9 then x end)",
            "eight a true 4 null",
        ),
        ("select approx_count_distinct(t), count(distinct s)", "10 2"),
        ("select regr_avgx(\"y y\", x), regr_avgy(\"y y\", x), regr_sxx(x, x)", "1.75 0.9 20.625"),
    ] {
        check(text, expected);
    }
}

/// Squares of floats may be beyond all floats or vanish where the floats themselves do not.
#[test]
fn variances_of_extreme_floats_are_known() {
    const ALL: &str = "select var_pop($), var_samp($), stddev_pop($), covar_pop($, $), covar_samp($, $), corr($, $), \
                       regr_slope($, $), regr_r2($, $), regr_sxy($, $)";
    for (value, expected) in [
        ("case when x = 0 then 1e300 end", "0.0 null 0.0 0.0 null null null null 0.0"),
        ("case x when 0 then 1e-200 when 1 then 3e-200 end", "0.0 0.0 1e-200 0.0 0.0 1.0 1.0 1.0 0.0"),
        ("case x when 0 then 1e300 when 1 then 3e300 end", "inf inf 1e300 inf inf 1.0 1.0 1.0 inf"),
        ("case x when 0 then cast('inf' as float64) when 1 then 1e0 end", "NaN NaN NaN NaN NaN NaN NaN NaN NaN"),
        ("case when x > 100 then 1e0 end", "null null null null null null null null null"),
    ] {
        check(&ALL.replace('$', value), expected);
    }
}

#[test]
fn rows_are_answered() {
    for (text, expected) in [
        ("select t where x > 3", "eight; nine"),
        (
            "select concat(t, case when x > 3.6 then x end, '!', null) as c, t || case when x > 3.6 then x end as d where x > 3",
            "eight! null; nine4.0! nine4.0",
        ),
        ("select t, x * x as sq order by sq desc, t limit 2", "nine 16.00; eight 12.25"),
        ("select t limit 3 offset 4", "four; five; six"),
        ("select * where t = 'two'", "a two 0.5 2"),
        ("select anything.* from anything where t = 'two'", "a two 0.5 2"),
        ("select my.file.* except (s, x), t as u from my.file where t = 'two'", "two 2 two"),
        ("select f.t, file.x from 'my/file.csv' f where F.t = 'two'", "two 0.5"),
        ("from t select t.t where x is distinct from 0.5 and t.t = 'nine'", "nine"),
        ("select 'a' || 1 + 2 || 'b' where t = 'two'", "a3b"),
        ("select `a b`.*, d.s as u from 'x/a b.csv/' d where t = 'two'", "a two 0.5 2 a"),
        (
            "select x is distinct from null, null is not distinct from null, x is distinct from 0.5 where t = 'two'",
            "true true false",
        ),
        ("select * except (s, x) where t = 'two'", "two 2"),
        ("select t where s || t like 'b_i%' and x + 1 > 1", "five; nine"),
        ("select 10 // \"y y\", 10 % \"y y\" where x < 1 order by 1 nulls first", "null null; 5 0; 10 0"),
        (
            "select cast(x as int), try_cast(t as int), round(x), floor(x) where t in ('zero', 'four')",
            "-1 null -1 -1; 2 null 2 1",
        ),
        (
            "select date '2024-01-31' + interval '1 month' as d, year(date '2024-02-29'), extract(quarter from date '2024-05-01') limit 1",
            "2024-02-29 2024 2",
        ),
        (
            "select date_trunc('week', date '2024-02-29') as w, coalesce(null, 1.5), bucket(-7, 5) limit 1",
            "2024-02-26 1.5 -10",
        ),
        (
            "select if(x > 1, t, 'low'), iif(x > 3, 1), nullif(\"y y\", 2), greatest(x, 1) where t in ('two', 'nine')",
            "low null null 1.0; nine 1 0 4.0",
        ),
        (
            "select greatest(if(x > 3, x), 1, null) as g, least(if(x > 3, t), 'b') as l, greatest(null, null) as n \
             where x > 2.6",
            "1.0 b null; 3.5 b null; 4.0 b null",
        ),
        (
            "select least(x > 1, true), greatest(1, 1e0 / 0, -1), least(date '2024-01-02', date '2024-01-01') limit 1",
            "false inf 2024-01-01",
        ),
        (
            "select greatest(12345678901234567890, 1), least(x, 12345678901234567890.5) limit 1",
            "12345678901234567890 -0.5",
        ),
        ("select strpos(t, 'e'), position('ne' in t), instr('blåbær', 'r') where x > 3", "1 0 6; 4 3 6"),
        (
            "select hour(time '23:59:58'), minute(timestamp '1969-12-31 23:59:58'), second(time '23:59:58.9') limit 1",
            "23 59 58",
        ),
        ("select ln(exp(0)), coalesce(nvl(null, 7), 3) limit 1", "0.0 7"),
        (
            "select coalesce(null, date '2024-01-02', '2024-01-01'), greatest('2024-01-02', date '2024-01-01') limit 1",
            "2024-01-02 2024-01-02",
        ),
        ("select case when x > 1 then x else '1.5' end, nullif('x', t) limit 1", "1.5 x"),
        ("select cast(2.567 as decimal(10)), 12.5::numeric(4), 'ab'::varchar(1) limit 1", "3 13 ab"),
        ("select if(x > 100, t) isnull, x isnull, not t isnull limit 1", "true false true"),
        (
            "select round(1.005::float64, 2), round(-9.995::float64, 2), 2.675::float64::decimal(10,2), \
             trunc(0.7::float32, 1), round(4.35::float32, 1) limit 1",
            "1.01 -10.0 2.68 0.7 4.4",
        ),
        (
            "select round(9331352388.813154::float64, 5), 8591709028925207.0::float64::decimal(38,2), \
             -569371946992852.9::float64::decimal(38,2) limit 1",
            "9331352388.81315 8591709028925207.00 -569371946992852.90",
        ),
        (
            "select date_trunc(month, date '2024-02-29'), date_diff(DAY, date '2024-01-01', '2024-03-01'), \
             year('2024-02-01'), hour('2024-02-01 07:30'), make_date(2024, 2, 29) limit 1",
            "2024-02-01 60 2024 7 2024-02-29",
        ),
        (
            "select x in (x, null), x in (100, null) is null, x not in (x, null), nullif(t, null) = t, \
             (x > 100)::float64, x in (null) is null, 1 in (null, 1) limit 1",
            "true true false true 0.0 true true",
        ),
        ("select x offset 1 row fetch next 1 rows only", "0.0"),
        ("select x limit all offset 9 rows", "4.0"),
        ("select 0.1 + 0.2 = 0.3, 1e0 / 3 limit 1", "true 0.3333333333333333"),
        (
            "select case when \"y y\" <> 0 then 9223372036854775807 * (2 - \"y y\") else 0 end where \"y y\" <> 0 and x < 1",
            "9223372036854775807; 0",
        ),
    ] {
        check(text, expected);
    }
}

#[test]
fn mistakes_are_named() {
    for (text, expected) in [
        ("select lenght(t)", "unknown function 'lenght', did you mean 'length'?"),
        ("select cuont(*)", "unknown function 'cuont', did you mean 'count'?"),
        ("select hash(t)", "unknown function 'hash' (brc functions lists all)"),
        ("select coalesce()", "'coalesce' is written coalesce(a, b, …)"),
        ("select nullif(x)", "'nullif' is written nullif(a, b)"),
        ("select make_date(2023, 2, 29)", "make_date(2023, 2, 29): there is no such date"),
        ("select 20240131::date", "cannot cast '20240131' to date, for which a number is the days since 1970-01-01"),
        ("select 300::int8", "cannot cast '300' to int8 of 8 bits, -128 to 127; write int64 for more"),
        ("select x::foo", "the type foo is not supported (types: bool, int8"),
        ("select case when x > 1 then 1 els 2 end", "expected END, found els"),
        ("select 1, case when x > 1 1 end as y, x from t", "expected THEN, found 1"),
        ("select case when x > case t when 'a' than 1 end then 2 end", "expected THEN, found than"),
        ("select t where t is 'a'", "expected null, true, false or distinct from after 'is', found 'a'"),
        (
            "select date '2024-01-01' + '1 day'",
            "'+' needs a number, found date; time is added as in t + interval '1 day'",
        ),
        ("select sum(x > 1)", "'sum' needs a column of numbers, found bool; count(*) filter (where x) counts where"),
        ("select count(distinct x, t)", "'count' takes one column; count(distinct concat(a, ',', b)) counts pairs"),
        ("select quantile(x, [0.25, 0.5])", "lists are not supported; write one call for each of the values"),
        ("select [y y]", "expected ], found y; write names in double quotes, not in brackets"),
        ("select bucket(x, 0)", "'bucket' needs a width above zero, found 0"),
        ("select count(*, x)", "'*' inside 'count' is not supported"),
        ("select sum(*)", "'sum' needs a column"),
        ("select sum(distinct x)", "'sum' of distinct values is not supported; brc-sql has it, and all of SQL"),
        ("select y y", "unknown column 'y'; write \"y y\" in double quotes"),
        ("select count(*), s group by 1", "'1' is 'count(*)', which has an aggregate; group by other columns"),
        ("select max(x) + 1 as m group by m", "'m' is 'max(x) + 1', which has an aggregate"),
        ("select x as a, a + 1", "'a' is an output column, not one of the table; repeat its expression"),
        ("select t where t like \"A%\"", "unknown column 'A%' (columns: s, t, x, y y); write strings in single quotes"),
        ("select upper(\"Anna\")", "unknown column 'Anna' (columns: s, t, x, y y); write strings in single quotes"),
        (
            "select t where t = \"Anna\"",
            "unknown column 'Anna' (columns: s, t, x, y y); write strings in single quotes",
        ),
        ("select t from ./a.csv", "write the name of a file in quotes: from './a.csv'"),
        ("select t from a-b.csv where x > 1", "write the name of a file in quotes: from 'a-b.csv'"),
        ("from 2024/a.csv limit 1", "write the name of a file in quotes: from '2024/a.csv'"),
        ("select length(x)", "'length' needs a string, found decimal(18,1)"),
        ("select x + t", "'+' needs a number, found string"),
        ("select a.t from b where t = 'two'", "unknown column 'a.t'"),
        ("select t where u.t = 'two'", "unknown column 'u.t'"),
        ("select b.* from a", "unknown table 'b' before '.*'"),
        ("select t order by 't' desc", "a constant sorts nothing; names of columns are written in double quotes"),
        ("select t order by -1", "a constant sorts nothing"),
        ("select t where x", "expected a condition, found a value of type decimal(18,1)"),
        ("select t where length(t) > 'a'", "a value of type int64 is compared with a string"),
        ("select s = x", "a value of type string is compared with one of type decimal(18,1)"),
        ("select t, count(*) group by s", "column 't' is neither in group by nor inside an aggregate"),
        ("select count(*) group by 2", "there are 1 output columns, but it names number 2"),
        ("select t from a join b", "'join' is not supported: brc query asks one table; use brc-sql"),
        ("select t limit x", "expected a number of rows, found 'x'"),
        ("select t where sum(x) > 1", "the aggregate 'sum' is not allowed here; use having to filter groups"),
        ("select sum(max(x))", "the aggregate 'max' is not allowed here"),
        ("select 9223372036854775807 + \"y y\" where \"y y\" = 1", "9223372036854775807 + 1 is out of range for int64"),
        (
            "select cast('2024-01-01T12:00:00Z' as timestamp)",
            "cannot cast '2024-01-01T12:00:00Z' to timestamp, because it says its distance from UTC; cast it to \
             timestamptz",
        ),
        ("select cast(t as int)", "cannot cast 'zero' to int64"),
        ("select * exclude (r)", "unknown column 'r'"),
        ("select * exclude (t x)", "expected ',' or ')', found 'x'"),
        ("select * exclude ()", "expected the name of a column, found ')'"),
        ("select * exclude (s, t, x, \"y y\")", "no column is left to select"),
        ("select s, x group by all, t", "expected a clause"),
        ("select greatest(x, t)", "values of types string and decimal(18,1) cannot be combined"),
        ("select greatest()", "'greatest' is written greatest(a, b, …)"),
        (&format!("select least({})", ["1"; 65].join(", ")), "'least' takes at most 64 values"),
        ("select if(x, 1, 2)", "expected a condition, found a value of type decimal(18,1)"),
        ("select if(x > 1)", "'if' is written if(condition, x, y)"),
        ("select s, sum(x) as p where p > 3 group by s", "'p' is an output column, not one of the table; repeat its"),
        ("select t, group by t", "expected an expression, found 'group'"),
        ("select top 3 t", "'select top n' is not supported; end the query with limit n"),
        ("select t limit 5, 10", "'limit a, b' is not supported; write limit b offset a"),
        ("select -t", "'-' needs a number, found string"),
        (
            "select time '10:00:00' + interval '1 hour'",
            "an interval can only be added to a date or timestamp, or subtracted from one, found time",
        ),
        ("select interval '1 day' - date '2024-01-31'", "an interval can only be added to a date or timestamp"),
        (
            "select timestamp '2024-01-02 00:00:00' - date '2024-01-01'",
            "'-' needs numbers; the time between t and u is date_diff('second', t, u), found timestamp",
        ),
        ("select * except (r)", "unknown column 'r'"),
        ("select * except (select 1)", "'except' is not supported; several files are one table"),
        ("select [t]", "write names in double quotes, not in brackets"),
        ("select t group by s where x > 1", "expected a clause (in this order: from, where, group by"),
        ("select x where x > '3'", "column 'x' is of type decimal(18,1), but is compared with a string; write numbers"),
        ("select sum(x) group by rollup(s)", "unknown function 'rollup': a query has one set of keys"),
        ("select t, t", "two output columns are named 't'"),
        ("select regexp_matches(t, '(')", "'regexp_matches' needs a regular expression"),
        ("select distinct on (s) s, t", "'distinct on' is not supported; group by takes one row of each group"),
        (
            "select count(*) group by grouping sets ((s))",
            "'grouping sets' is not supported: a query has one set of keys",
        ),
        ("select t qualify row_number() over () = 1", "'qualify' is not supported: window functions ('over') are not"),
        ("select t limit 1 fetch first 2 rows only", "the number of rows is limited twice"),
        ("select count(*) filter (x > 1)", "write filter (where …)"),
        ("select * replace (x as t)", "'replace' and 'rename' after '*' are not supported"),
        ("select s, count(*) group by (s, t)", "several expressions in parentheses are not one"),
        ("select x fetch first row", "expected 'only'"),
        ("select coalesce(date '2024-01-01', 'soon')", "values of types string and date cannot be combined"),
        ("select sin(x)", "unknown function 'sin': trigonometric functions are not supported; use brc-sql"),
    ] {
        let found = ask(text, Delivery { split_rows: 3, batch_rows: 2, tests_rows: true, ..PLAIN }, 1);
        assert!(found.starts_with(expected), "{text}\n{found}");
    }
}

#[test]
fn what_is_a_range_is_pushed_down() {
    let pushed = |text: &str| {
        let plan = Query::parse(text).unwrap().plan(&Record::schema()).unwrap();
        format!("{:?}", plan.pushed_down())
    };
    let one = pushed("select t where x > 1");
    assert!(one.contains("Range { column: 2, low: 11"), "{one}");
    assert_eq!(
        pushed("select t where x > 1 and length(t) > 2"),
        one.replace("Some(", "Some(And([").replace("})", "}]))")
    );
    assert!(pushed("select t where s like 'ab%'").contains("Compare { column: 0, comparison: GreaterOrEqual"));
    assert_eq!(pushed("select t where x > 1 or length(t) > 2"), "None");
    assert!(pushed("select t where x > 0.5 + 0.5").contains("low: 11"));
}

#[test]
fn plans_travel() {
    let text =
        "select upper(t), sum(x) filter (where x > 1) where length(t) > 3 group by 1 having sum(x) > 0 order by 2";
    let plan = Query::parse(text).unwrap().plan(&Record::schema()).unwrap();
    assert!(plan.check().is_ok());
    let schema = Schema::parse("s:string,t:int,x:int,y y:int").unwrap();
    assert!(Query::parse(text).unwrap().plan(&schema).is_err());
}
