//! A text with arbitrary columns, open for reading.

use super::inference::Inference;
use super::scanner::CsvScanner;
use super::source::{Source, Text};
use super::text_reason::Reader;
use super::types::Types;
use brc_core::{
    ColumnChanges, DoubtfulText, LogicalType, Result, RowFault, ScanOptions, Scanner, Schema, SkippedLines, Split,
    Table, TextReason, ValueForm, WantedText,
};
use brc_text::Form;
use brc_text::form::GivenForms;
use brc_text::infer::{NullTokenSet, Seen};
use brc_text::typed::{Changes, ColumnType, TableParser, TextFormat, fault_of};
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The default size of splits in bytes.
const SPLIT_BYTES: u64 = 2 << 20;
/// The maximum size of splits in bytes: their text is in memory as a whole.
const MAX_SPLIT_BYTES: u64 = 256 << 20;

/// The parts of a [`CsvTable`].
pub(super) struct Parts {
    pub(super) path: PathBuf,
    pub(super) text: Text,
    pub(super) format: TextFormat,
    pub(super) names: Vec<String>,
    pub(super) columns: Vec<ColumnType>,
    /// The inference shared with the other files of the table.
    pub(super) inference: Inference,
    /// The number of bytes before the first row.
    pub(super) body: u64,
    /// The lines before the first row and after the last.
    pub(super) skipped: SkippedLines,
    pub(super) notes: Vec<String>,
    pub(super) split_bytes: Option<u64>,
    pub(super) keep_rejects: bool,
}

/// A text with arbitrary columns.
pub(super) struct CsvTable {
    path: PathBuf,
    pub(super) source: Source,
    pub(super) format: TextFormat,
    names: Vec<String>,
    /// The types of the first rows.
    columns: Vec<ColumnType>,
    schema: Schema,
    /// The current types, if they are inferred.
    types: RwLock<Arc<Types>>,
    inference: Inference,
    pub(super) is_inferred: bool,
    body: u64,
    skipped: SkippedLines,
    notes: Vec<String>,
    split_bytes: u64,
    /// The splits of a compressed file, if they may coincide with chunks.
    chunk_splits: Option<Vec<Range<u64>>>,
    pub(super) keep_rejects: bool,
    /// The columns that have type string because of their null tokens, with these tokens.
    nulls_as_text: Mutex<BTreeMap<usize, NullTokenSet>>,
    /// The number of values whose spelling changes, and the types in which they were read: by split and column, if any.
    changes: Mutex<BTreeMap<(u64, usize), (ReadAs, Changes)>>,
}

/// The type and form in which values were read.
type ReadAs = (LogicalType, Option<Form>);

impl CsvTable {
    pub(super) fn new(parts: Parts) -> Result<Self> {
        let Parts { path, text, format, names, columns, inference, body, skipped, notes, split_bytes, keep_rejects } =
            parts;
        let is_inferred = columns.iter().any(|column| matches!(column, ColumnType::Inferred { .. }));
        let types = Types::new(&names, columns.clone(), &format, &inference)?;
        let chunk_splits = match &text {
            Text::Chunks(chunks) if split_bytes.is_none() => Some(chunks.splits()),
            Text::File { .. } | Text::Chunks(_) | Text::Stream(_) => None,
        };
        Ok(Self {
            source: Source::new(path.clone(), text, body, format.syntax.clone(), format.max_row),
            path,
            format,
            names,
            columns,
            schema: Schema::clone(&types.schema),
            types: RwLock::new(Arc::new(types)),
            inference,
            is_inferred,
            body,
            skipped,
            notes,
            split_bytes: split_bytes.unwrap_or(SPLIT_BYTES).clamp(1, MAX_SPLIT_BYTES),
            chunk_splits,
            keep_rejects,
            nulls_as_text: Mutex::default(),
            changes: Mutex::default(),
        })
    }

    pub(super) fn types(&self) -> Arc<Types> {
        let types = Arc::clone(&self.types.read());
        if !self.is_inferred || types.version == self.inference.version() {
            return types;
        }
        let mut types = self.types.write();
        // Only names could be invalid, and these were accepted when the table was opened.
        if let Ok(wider) = Types::new(&self.names, self.columns.clone(), &self.format, &self.inference) {
            *types = Arc::new(wider);
        }
        Arc::clone(&types)
    }

    /// Merges the demands of some values.
    pub(super) fn learn(&self, seen: &[Option<Seen>]) {
        for (name, more) in self.names.iter().zip(seen) {
            if let Some(more) = more {
                self.inference.learn(name, *more);
            }
        }
    }

    /// Records how many values of these columns of a split change their spelling.
    pub(super) fn keep_changes(&self, split: u64, projection: &[usize], types: &Types, parser: &TableParser) {
        let found: Vec<&Changes> = parser.changes().collect();
        let mut known = self.changes.lock();
        for &column in projection {
            let (key, changes) = ((split, column), found[column]);
            if *changes == Changes::default() {
                known.remove(&key);
            } else {
                known.insert(key, (types.columns[column].read_as(), changes.clone()));
            }
        }
    }

    /// The byte range of a split, without the bytes before the first row.
    pub(super) fn range(&self, index: u64) -> Range<u64> {
        let range = match &self.chunk_splits {
            Some(splits) => usize::try_from(index).ok().and_then(|index| splits.get(index)).cloned().unwrap_or(0..0),
            None => {
                let start = index.saturating_mul(self.split_bytes);
                let end = start.saturating_add(self.split_bytes);
                match self.length() {
                    Some(length) => start.min(length)..end.min(length),
                    None => start..end,
                }
            }
        };
        range.start.max(self.body)..range.end.max(self.body)
    }

    /// The length of the text in bytes, if known.
    fn length(&self) -> Option<u64> {
        match self.source.text() {
            Text::File { length, .. } => Some(*length),
            Text::Chunks(chunks) => Some(chunks.length()),
            Text::Stream(_) => None,
        }
    }

    /// Reads the text again, apart from any scan.
    fn with_reader<T>(&self, read: impl FnOnce(&Reader<'_>) -> Result<T>) -> Result<T> {
        let range = |index| self.range(index);
        let (source, format, header_lines) = (&self.source, &self.format, self.header_lines());
        read(&Reader { source, range: &range, format, header_lines, columns: self.names.len() })
    }
}

impl Table for CsvTable {
    fn path(&self) -> &Path {
        &self.path
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn inferred(&self) -> Option<Arc<Schema>> {
        self.is_inferred.then(|| Arc::clone(&self.types().schema))
    }

    fn is_untyped(&self, column: usize) -> bool {
        let is_untyped = |column: &ColumnType| matches!(column, ColumnType::Inferred { seen, .. } if seen.is_untyped());
        self.types().columns.get(column).is_some_and(is_untyped)
    }

    fn assume(&self, column: usize, logical_type: Option<LogicalType>) -> bool {
        let is_inferred = matches!(self.columns.get(column), Some(ColumnType::Inferred { .. }));
        is_inferred && self.inference.assume(&self.names[column], logical_type)
    }

    fn why_text(&self, column: usize) -> Result<Option<TextReason>> {
        let Some(ColumnType::Inferred { exact: false, given, .. }) = self.types().columns.get(column).copied() else {
            return Ok(None);
        };
        self.with_reader(|reader| reader.why_text(column, &self.names[column], given))
    }

    fn value_form(&self, column: usize) -> Result<Option<ValueForm>> {
        let Some(ColumnType::Inferred { exact: false, given, .. }) = self.types().columns.get(column).copied() else {
            return Ok(None);
        };
        self.with_reader(|reader| reader.value_form(column, given))
    }

    fn doubtful_text(&self) -> Result<Vec<DoubtfulText>> {
        let types = self.types();
        let given = |column: &ColumnType| match column {
            ColumnType::Inferred { seen, exact: false, given }
                if column.logical_type() == LogicalType::String
                    && !seen.is_untyped()
                    && seen.ambiguity(given).is_none() =>
            {
                Some(*given)
            }
            _ => None,
        };
        let strings = types.columns.iter().enumerate().filter_map(|(index, column)| Some((index, given(column)?)));
        let strings: Vec<(usize, GivenForms)> = strings.collect();
        if strings.is_empty() { Ok(Vec::new()) } else { self.with_reader(|reader| reader.doubtful_text(&strings)) }
    }

    fn read_nulls_as_text(&self, wanted: &[WantedText]) -> bool {
        let types = self.types();
        let tokens = |column: &ColumnType| match column {
            ColumnType::Inferred { seen, .. } => seen.null_tokens(column.logical_type()),
            ColumnType::Fixed { .. } => NullTokenSet::default(),
        };
        let is_wanted = |column: usize, tokens: NullTokenSet| {
            let mut of_column = wanted.iter().filter(|it| it.column == self.names[column]);
            of_column.any(|WantedText { token, .. }| match token {
                Some(token) => tokens.iter().any(|it| it.as_bytes() == token),
                None => !tokens.is_empty(),
            })
        };
        let tokens = types.columns.iter().map(tokens).enumerate();
        let found: BTreeMap<usize, NullTokenSet> =
            tokens.filter(|(column, tokens)| is_wanted(*column, *tokens)).collect();
        found.keys().for_each(|&column| self.inference.learn(&self.names[column], Seen::TEXT));
        let has_some = !found.is_empty();
        self.nulls_as_text.lock().extend(found);
        has_some
    }

    fn changes(&self) -> Vec<ColumnChanges> {
        let types = self.types();
        let mut sums = vec![ColumnChanges::default(); self.names.len()];
        for ((_, column), (was_read_as, changes)) in self.changes.lock().iter() {
            if *was_read_as == types.columns[*column].read_as() {
                let sum = &mut sums[*column];
                sum.altered += changes.altered;
                sum.nulled += changes.nulled;
                sum.null_tokens.extend(changes.null_tokens.iter());
                sum.example = sum.example.take().or_else(|| changes.example.clone());
                sum.not_utf8 = sum.not_utf8.take().or_else(|| changes.not_utf8.clone());
            }
        }
        for (&column, tokens) in self.nulls_as_text.lock().iter() {
            sums[column].nulls_are_text = true;
            sums[column].null_tokens.extend(tokens.iter());
        }
        types.add_doubts(&self.names, &mut sums);
        sums
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn bytes(&self) -> Option<u64> {
        match self.source.text() {
            Text::File { length, .. } => Some(*length),
            Text::Chunks(chunks) => Some(chunks.stored_length()),
            Text::Stream(_) => None,
        }
    }

    fn is_read_once(&self) -> bool {
        matches!(self.source.text(), Text::Stream(stream) if stream.copy().is_none())
    }

    fn split(&self, index: u64) -> Option<Split> {
        let (start, length) = match &self.chunk_splits {
            Some(splits) => (splits.get(usize::try_from(index).ok()?)?.start, None),
            None => (index.checked_mul(self.split_bytes)?, self.length()),
        };
        let range = self.range(index);
        length.is_none_or(|length| start < length).then_some(Split { index, start: range.start, end: range.end })
    }

    fn header_lines(&self) -> u64 {
        let SkippedLines { preamble, header, comments, blank, .. } = self.skipped;
        preamble + header + comments + blank
    }

    fn skipped_lines(&self) -> SkippedLines {
        self.skipped
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn explain(&self, row: &[u8]) -> Option<(Option<usize>, RowFault)> {
        fault_of(row, &self.format, &self.types().columns)
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        Ok(Box::new(CsvScanner::new(self, options.projection.clone())))
    }
}
