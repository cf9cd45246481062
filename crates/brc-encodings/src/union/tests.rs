//! Tables in memory, files and streams as one table.

use super::*;
use crate::encoding::read_all;
use brc_core::{
    Batch, Bitmap, Column, Comparison, Data, Dictionary, Integers, LogicalType, Predicate, Progress, ScanError,
    Scanned, Sink,
};
use brc_testing::{Cell, FunctionTable, collect_rows};

/// A table with one row per split: its position, and a string. A stream does not know the number of splits.
struct Memory {
    path: &'static str,
    schema: Schema,
    strings: Vec<Option<&'static str>>,
    is_stream: bool,
}

fn memory(path: &'static str, schema: &str, strings: &[Option<&'static str>]) -> Memory {
    Memory { path, schema: Schema::parse(schema).unwrap(), strings: strings.to_vec(), is_stream: false }
}

impl Memory {
    fn into_table(self) -> Box<dyn Table> {
        let Self { path, schema, strings, is_stream } = self;
        let rows = (!is_stream).then_some(strings.len() as u64);
        let types: Vec<_> = schema.fields().iter().map(|field| field.logical_type).collect();
        let deliver = move |split: &Split, options: &ScanOptions, sink: &mut dyn Sink| {
            let Some(string) = strings.get(split.index as usize) else { return Ok(None) };
            if *string == Some("bad") {
                let fault = brc_core::RowFault::EmptyName;
                return Err(ScanError::BadRow { line_in_split: 0, byte: 0, column: Some(1), fault });
            }
            // Each split extends the dictionary.
            let mut distinct: Vec<&str> = Vec::new();
            for string in strings[..=split.index as usize].iter().flatten() {
                if !distinct.contains(string) {
                    distinct.push(string);
                }
            }
            let code = distinct.iter().position(|it| Some(*it) == *string).unwrap_or(0) as u32;
            let (dictionary, bits): (Dictionary, _) = (distinct.into_iter().collect(), [u8::from(string.is_some())]);
            let codes = Column::codes(std::slice::from_ref(&code), &dictionary);
            let numbers = [split.index as i64];
            let column = |&column: &usize| match types[column] {
                LogicalType::String => codes.with_validity(Some(Bitmap::new(&bits, 0, 1))),
                _ => Column::integers(Integers::I64(&numbers)),
            };
            let columns: Vec<_> = options.projection.iter().map(column).collect();
            sink.batch(&Batch { rows: 1, columns: &columns })?;
            Ok(Some(Scanned { rows: 1, ..Scanned::default() }))
        };
        let splits = rows.unwrap_or(u64::MAX);
        Box::new(FunctionTable::new(path, schema, splits, deliver).with_rows(rows).with_header_lines(1))
    }
}

fn tables_of(tables: Vec<Memory>) -> Vec<Box<dyn Table>> {
    tables.into_iter().map(Memory::into_table).collect()
}

/// The rows of a scan, as text.
fn rows(table: &dyn Table, options: &ScanOptions, threads: usize) -> Result<Vec<String>> {
    let text = |(cell, &column): (&Cell, &usize)| cell.to_text(table.schema().fields()[column].logical_type);
    let line = |row: Vec<Cell>| row.iter().zip(&options.projection).map(text).collect::<Vec<_>>().join(",");
    Ok(collect_rows(table, options, threads)?.into_iter().map(line).collect())
}

fn union(tables: Vec<Memory>, by_name: bool, file_name: Option<&str>) -> Result<Union> {
    Union::new(
        tables_of(tables),
        UnionOptions { by_name, file_name: file_name.map(str::to_owned), ..UnionOptions::default() },
    )
}

fn everything(table: &Union) -> ScanOptions {
    ScanOptions::everything(table.schema())
}

#[test]
fn rows_of_all_tables_are_in_order_with_shared_codes() {
    for streams in 0..8 {
        let mut tables = vec![
            memory("a", "n:int64 not null,s:string", &[Some("x"), None, Some("y")]),
            memory("b", "n:int64 not null,s:string", &[]),
            memory("c", "n:int64 not null,s:string not null", &[Some("y"), Some("z"), Some("x")]),
        ];
        for (index, table) in tables.iter_mut().enumerate() {
            table.is_stream = streams >> index & 1 == 1;
        }
        let table = union(tables, false, Some("file")).unwrap();
        assert_eq!(table.schema().to_string(), "n:int64 not null,s:string,file:string not null");
        assert_eq!(table.rows(), (streams == 0).then_some(6));
        let expected = ["0,x,a", "1,NULL,a", "2,y,a", "0,y,c", "1,z,c", "2,x,c"].map(str::to_owned).to_vec();
        assert_eq!(rows(&table, &everything(&table), 1).unwrap(), expected, "{streams:b}");
        for threads in [2, 3, 7] {
            let mut tables: Vec<_> = ["a", "b", "c"].map(|path| memory(path, "n:int64,s:string", &[])).into();
            tables[0].strings = vec![Some("x"), None, Some("y")];
            tables[2].strings = vec![Some("y"), Some("z"), Some("x")];
            for (index, table) in tables.iter_mut().enumerate() {
                table.is_stream = streams >> index & 1 == 1;
            }
            let table = union(tables, false, Some("file")).unwrap();
            assert_eq!(rows(&table, &everything(&table), threads).unwrap(), expected);
        }
    }
}

/// Codes of one scanner keep their meaning across tables.
#[test]
fn equal_strings_have_equal_codes() {
    struct Codes(Vec<(u32, Vec<u8>)>);
    impl Sink for Codes {
        fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
            let Data::Codes { codes, dictionary } = batch.columns[0].data else { panic!("not codes") };
            self.0.push((codes[0], dictionary.get(codes[0]).to_vec()));
            Ok(())
        }
    }
    let tables =
        vec![memory("a", "s:string", &[Some("x"), Some("y")]), memory("b", "s:string", &[Some("y"), Some("x")])];
    let table = union(tables, false, None).unwrap();
    let mut scanner = table.scanner(&everything(&table)).unwrap();
    let mut codes = Codes(Vec::new());
    for index in 0..4 {
        scanner.scan(&table.split(index).unwrap(), &mut codes).unwrap().unwrap();
    }
    assert!(table.split(4).is_none());
    assert_eq!(codes.0, [(0, b"x".to_vec()), (1, b"y".to_vec()), (1, b"y".to_vec()), (0, b"x".to_vec())]);
}

#[test]
fn columns_are_matched_by_name_and_missing_ones_are_null() {
    let tables = vec![
        memory("a", "n:int64 not null,s:string not null", &[Some("x")]),
        memory("b", "s:string not null,d:date not null", &[Some("y")]),
    ];
    let table = union(tables, true, None).unwrap();
    assert_eq!(table.schema().to_string(), "n:int64,s:string not null,d:date");
    assert_eq!(table.filled().collect::<Vec<_>>(), ["n", "d"]);
    assert_eq!(rows(&table, &everything(&table), 1).unwrap(), ["0,x,NULL", "NULL,y,1970-01-01"]);
    let only_strings = ScanOptions { projection: vec![1], ..everything(&table) };
    assert_eq!(rows(&table, &only_strings, 1).unwrap(), ["x", "y"]);
}

#[test]
fn mismatches_name_file_and_column() {
    for (other, by_name, message) in [
        ("n:int64,t:string", false, "b: column 2 is 't', but 's' in a; --union-by-name matches columns by name"),
        (
            "n:int64,s:date",
            false,
            "b: column 's' is of type date, but string in a; brc query can cast it in one of them, and --output saves that",
        ),
        (
            "s:date,n:int64",
            true,
            "b: column 's' is of type date, but string in a; brc query can cast it in one of them, and --output saves that",
        ),
        ("n:int64", false, "b: lacks the column 's' of a; --union-by-name matches columns by name"),
        (
            "n:int64,s:string,x:date",
            false,
            "b: has a column 'x', but a has none; --union-by-name matches columns by name",
        ),
        ("n:int64,s:string,file:date", true, "--file-name file: there is a column of that name"),
    ] {
        let tables = vec![memory("a", "n:int64,s:string", &[None]), memory("b", other, &[None])];
        let error = union(tables, by_name, Some("file")).err().unwrap();
        assert!(matches!(error, Error::Usage(_) | Error::TypeMismatch { .. }));
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn malformed_rows_have_line_numbers_within_their_file() {
    let good = [Some("x"), Some("y")];
    let bad = [Some("x"), Some("bad")];
    let tables = || vec![memory("a", "n:int64,s:string", &good), memory("b", "n:int64,s:string", &bad)];
    for (threads, is_stream) in [(1, false), (3, false), (1, true), (3, true)] {
        let mut tables = tables();
        tables[0].is_stream = is_stream;
        let table = union(tables, false, None).unwrap();
        let error = read_all(&table, threads, &Progress::default()).unwrap_err();
        assert_eq!(error.to_string(), "b: line 3, byte 0, column 's': empty name");
    }
}

#[test]
fn conditions_on_the_file_name_are_decided_for_each_file() {
    let tables = vec![memory("a", "n:int64", &[]), memory("b", "s:string,n:int64", &[])];
    let table = union(tables, true, Some("file")).unwrap();
    // The columns are n, s, file.
    let compare = |column| Predicate::Compare { column, comparison: Comparison::Equal, value: b"a".to_vec() };
    let range = Predicate::Range { column: 0, low: 1, high: 2 };
    let both = Predicate::And(vec![range.clone(), compare(2)]);
    let decided = |holds| Predicate::Constant(holds);
    assert_eq!(
        table.predicate_of(0, &table.origins[0], &both),
        Some(Predicate::And(vec![range.clone(), decided(true)]))
    );
    let moved = Predicate::Range { column: 1, low: 1, high: 2 };
    assert_eq!(table.predicate_of(1, &table.origins[1], &both), Some(Predicate::And(vec![moved, decided(false)])));
    assert_eq!(table.predicate_of(0, &table.origins[0], &compare(1)), None);
    assert_eq!(table.predicate_of(0, &table.origins[0], &Predicate::IsNull { column: 1 }), Some(decided(true)));
    let options = ScanOptions { predicate: Some(compare(1)), statistics: true, ..everything(&table) };
    let options = ScanOptions { projection: vec![0], ..options };
    assert!(
        !table.options_of(0, &table.origins[0], &options).statistics
            && table.options_of(1, &table.origins[1], &options).statistics
    );
}

#[test]
fn constants_are_columns_and_prune_files() {
    for streams in 0..8 {
        let mut tables = vec![
            memory("a", "n:int64", &[Some("x")]),
            memory("b", "n:int64", &[Some("y")]),
            memory("c", "n:int64", &[]),
        ];
        tables[2].strings = vec![Some("z"), Some("z")];
        for (index, table) in tables.iter_mut().enumerate() {
            table.is_stream = streams >> index & 1 == 1;
        }
        let years = ConstantColumn::integers("year", LogicalType::Int64, vec![Some(2023), Some(2024), None]);
        let cities = ConstantColumn::strings("city", [Some(&b"Oslo"[..]), None, Some(&b"Oslo"[..])]);
        let constants = vec![years, cities];
        let table = Union::new(tables_of(tables), UnionOptions { constants, ..UnionOptions::default() }).unwrap();
        assert_eq!(table.schema().to_string(), "n:int64,year:int64,city:string");
        let all = ["0,2023,Oslo", "0,2024,NULL", "0,NULL,Oslo", "1,NULL,Oslo"];
        assert_eq!(rows(&table, &everything(&table), 1).unwrap(), all, "{streams:b}");
        if streams > 0 {
            continue;
        }
        let year = Predicate::Range { column: 1, low: 2024, high: 2030 };
        let city = Predicate::Compare { column: 2, comparison: Comparison::Equal, value: b"Oslo".to_vec() };
        let no_year = Predicate::IsNull { column: 1 };
        for (predicate, expected) in [
            (year.clone(), &all[1..2]),
            (Predicate::Not(Box::new(year.clone())), &all[..1]),
            (Predicate::And(vec![year.clone(), city.clone()]), &[]),
            (Predicate::Or(vec![year, no_year.clone()]), &all[1..]),
            (no_year, &all[2..]),
        ] {
            let options = ScanOptions { predicate: Some(predicate), ..everything(&table) };
            for threads in [1, 3] {
                assert_eq!(rows(&table, &options, threads).unwrap(), expected);
            }
        }
    }
}
