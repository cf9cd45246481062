//! Tests of small real-world files: exports of spreadsheets, databases and statistics, logs, and command output.
//! Headers, types and missing values are inferred as a person would read them, and text is written back unchanged.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

mod common;

use common::Place;

/// Each file of the folder: rows, columns, and the number of null values per column.
#[rustfmt::skip]
const TABLES: &[(&str, u64, &str, &str)] = &[
    ("access.log", 2, "column_1:string,column_2:string,column_3:string,column_4:timestamp(s) with zone,column_5:string,column_6:int64,column_7:int64", "column_7:1"),
    ("bank.csv", 2, "Booked:date,Valued:date,Text:string,Amount:decimal(18,2),Balance:decimal(18,2)", ""),
    ("bigquery-fractions.csv", 2, "id:int64,created:timestamp with zone", ""),
    ("bigquery.csv", 3, "id:int64,created:timestamp(s) with zone,ok:bool", "created:1 ok:1"),
    ("clock.csv", 2, "stop:string,departs:time(s),opens:time(s)", ""),
    ("comments.csv", 2, "time:timestamp(s),celsius:decimal(18,2)", ""),
    ("covid.csv", 3, "date:date,country:string,cases:int64,deaths_per_million:decimal(18,1)", "cases:1 deaths_per_million:2"),
    ("dates-ambiguous.csv", 2, "id:int64,d:string", ""),
    ("dates-compact.csv", 2, "id:int64,d:int64", ""),
    ("dates-long-names.csv", 2, "title:string,published:date", ""),
    ("dates-long.csv", 2, "title:string,published:date", ""),
    ("dates-short.csv", 2, "id:int64,due:date", ""),
    ("dates-slashes.csv", 2, "id:int64,d:date", ""),
    ("dates-unpadded.csv", 2, "id:int64,d:date", ""),
    ("df.txt", 3, "Filesystem:string,1K-blocks:int64,Used:int64,Available:int64,Use%:string,Mounted on:string", ""),
    ("excel-french.csv", 2, "Date:date,Montant:decimal(18,2),Ville:string", ""),
    ("excel-german.csv", 3, "Datum:date,Kunde:string,Betrag:decimal(18,2),Menge:int64", "Menge:1"),
    ("excel-us.csv", 2, "Order Date:date,Ship Date:string,Sales:string,Region:string", ""),
    ("flights-utc.csv", 2, "carrier:string,time_hour:timestamp(s) with zone,air_time:int64", "air_time:1"),
    ("flights.csv", 3, "year:int64,month:int64,day:int64,dep_time:int64,dep_delay:int64,carrier:string,tailnum:string,time_hour:timestamp(s)", "dep_delay:1 dep_time:1"),
    ("iso-weeks.csv", 2, "week:string,value:int64", ""),
    ("js-locale.csv", 2, "event:string,at:timestamp(s)", ""),
    ("log-times.csv", 2, "time:timestamp(s) with zone,host:string,status:int64,bytes:int64", "bytes:1"),
    ("ls.txt", 4, "column_1:string,column_2:int64,column_3:string,column_4:string,column_5:int64,column_6:string,column_7:int64,column_8:int64,column_9:string", ""),
    ("mysql.tsv", 2, "id:int64,name:string,deleted:timestamp(s),score:int64", "deleted:1 score:1"),
    ("oracle.csv", 2, "EMPNO:int64,ENAME:string,HIREDATE:date,SAL:int64,COMM:int64", "COMM:1"),
    ("pandas.csv", 3, "column_1:int64,name:string,score:float64,when:date", "score:1 when:1"),
    ("percent.csv", 2, "name:string,share:string,price:string", ""),
    ("pipe.txt", 2, "id:int64,name:string,amount:decimal(18,2)", "amount:1"),
    ("postgres.csv", 2, "id:int64,at:timestamp with zone,tags:string,active:string", ""),
    ("ps.txt", 3, "USER:string,PID:int64,%CPU:decimal(18,1),%MEM:decimal(18,1),VSZ:int64,RSS:int64,TTY:string,STAT:string,START:time(s),TIME:time(s),COMMAND:string", ""),
    ("python-log.csv", 2, "time:timestamp(ms),level:string,message:string", ""),
    ("r-airquality.txt", 4, "column_1:int64,Ozone:int64,Solar.R:int64,Wind:decimal(18,1),Month:int64", "Ozone:1 Solar.R:1"),
    ("r-mtcars.csv", 3, "column_1:string,mpg:decimal(18,1),cyl:int64,am:int64", "am:1"),
    ("sas.csv", 2, "id:int64,visit:date,weight:decimal(18,1)", "weight:1"),
    ("sep-line.csv", 2, "id:int64,price:decimal(18,2)", ""),
    ("sql-server.csv", 2, "id:int64,at:timestamp(s)", ""),
    ("stocks.csv", 2, "Date:date,Open:decimal(18,2),High:decimal(18,2),Volume:int64", ""),
    ("survey.csv", 2, "Timestamp:timestamp(s),Age:int64,Agree?:string", "Age:1"),
    ("swiss.csv", 2, "id:int64,amount:decimal(18,2)", ""),
    ("thousands-only.csv", 2, "id:int64,n:string", ""),
    ("thousands.csv", 3, "city:string,people:int64", ""),
    ("twitter.csv", 2, "id:int64,created_at:timestamp(s) with zone", ""),
    ("vcf.tsv", 2, "#CHROM:int64,POS:int64,ID:string,REF:string", ""),
    ("versions.csv", 2, "package:string,version:string,ip:string", ""),
    ("zip-codes.csv", 2, "id:int64,zip:string,phone:string", ""),
];

fn place() -> Place {
    let place = Place::new();
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tables")).unwrap() {
        let path = entry.unwrap().path();
        place.write(path.file_name().unwrap().to_str().unwrap(), std::fs::read(&path).unwrap());
    }
    place
}

#[test]
fn headers_types_and_nulls_are_what_people_see() {
    let place = place();
    let mut names = place.names();
    names.sort();
    assert_eq!(names, TABLES.iter().map(|(name, ..)| *name).collect::<Vec<_>>());
    for (name, rows, schema, nulls) in TABLES {
        assert_eq!(place.run_of(&["sniff", name, "--schema", "--all"]).text().trim_end(), *schema, "{name}");
        let json = place.run_of(&["summarize", name, "--json"]).text();
        assert!(json.contains(&format!("\"rows\": {rows},")), "{name}: {json}");
        let part = |line: &str, before: &str, after: char| -> Option<String> {
            Some(line.split_once(before)?.1.split_once(after)?.0.to_owned())
        };
        let nulls_of = |line: &str| {
            let (column, nulls) = (part(line, "\"name\": \"", '"')?, part(line, "\"nulls\": ", ',')?);
            (nulls != "0").then(|| format!("{column}:{nulls}"))
        };
        let mut found: Vec<String> = json.lines().filter_map(nulls_of).collect();
        found.sort();
        assert_eq!(found.join(" "), *nulls, "{name}");
    }
}

/// A table converted to binary and back in the same dialect is the same text, except for null tokens and trailing zeros
/// of decimals.
#[test]
fn values_round_trip() {
    let place = place();
    for name in [
        "dates-long.csv",
        "dates-short.csv",
        "dates-slashes.csv",
        "dates-unpadded.csv",
        "js-locale.csv",
        "log-times.csv",
        "python-log.csv",
        "bigquery-fractions.csv",
        "thousands.csv",
        "twitter.csv",
        "sql-server.csv",
    ] {
        place.run_of(&["convert", name, "t.buren", "--force"]).ok();
        place.run_of(&["convert", "t.buren", "back.csv", "--force"]).ok();
        let unquoted = |text: Vec<u8>| String::from_utf8(text).unwrap().replace('"', "");
        let expected = unquoted(place.read(name)).replace(",-\n", ",\n");
        assert_eq!(unquoted(place.read("back.csv")), expected, "{name}");
    }
}
