//! The interface of an encoding.

use crate::csv::{Headers, Inference};
use crate::description::Description;
use crate::input::{self, Input};
use brc_core::{
    BatchWriter, Error, Field, LogicalType, Progress, Result, ScanOptions, Schema, Table, UnsupportedColumn,
    identifier, read_rows,
};
use brc_text::typed::Ragged;
use brc_text::{DialectOverrides, Form, TableForms};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

/// How a whole file lays out rows.
pub trait Encoding: Sync {
    /// Its name, as in `--from` and `--to`.
    fn name(&self) -> &'static str;

    /// Alternative names in `--from` and `--to`.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// Its file extensions, the usual one first.
    fn extensions(&self) -> &'static [&'static str];

    /// A one-line description for help texts.
    fn about(&self) -> &'static str;

    /// Whether a file with these first bytes has this encoding. The first encoding in the list that returns `true` is
    /// used.
    fn sniff(&self, prefix: &[u8]) -> bool;

    /// Whether files can be read but not written.
    fn is_read_only(&self) -> bool {
        false
    }

    /// Checks that the given text options apply to files of this encoding.
    ///
    /// # Errors
    /// The reason if one does not.
    fn check_text_options(&self, options: &TextOptions) -> Result<(), String> {
        if *options == TextOptions::default() {
            return Ok(());
        }
        Err("options for reading text do not apply to it".to_owned())
    }

    /// Whether files of other programs may begin with any bytes, so that the name decides.
    fn may_lack_header(&self) -> bool {
        false
    }

    /// Checks that tables of the schema can be written.
    ///
    /// # Errors
    /// The reason if not.
    fn supports(&self, _schema: &Schema) -> Result<(), String> {
        Ok(())
    }

    /// Whether strings may hold bytes that are not UTF-8.
    fn holds_any_bytes(&self) -> bool {
        true
    }

    /// Whether any damage is detected, also without compression. Formats without checksums cannot: in plain text, a
    /// changed digit is just a different number.
    fn detects_damage(&self) -> bool {
        true
    }

    /// Whether files are text, so that any content is possible.
    fn is_text(&self) -> bool {
        !self.detects_damage()
    }

    /// Whether numbers can be written as text instead ([`CreateOptions::ascii`]).
    fn has_ascii_form(&self) -> bool {
        false
    }

    /// Whether rows can be grouped by a column within row groups ([`CreateOptions::key`]).
    fn has_cluster_key(&self) -> bool {
        false
    }

    /// Whether files have delimiters ([`CreateOptions::delimiter`]).
    fn has_delimiter(&self) -> bool {
        false
    }

    /// Whether files have parts that can be read by themselves, whose size may be chosen: row groups, record batches,
    /// blocks, frames …
    fn has_row_groups(&self) -> bool {
        !self.is_text()
    }

    /// Whether most queries need only some of the bytes of a file, which its footer locates.
    fn reads_parts(&self) -> bool {
        false
    }

    /// Whether the encoding compresses its blocks itself. Other files are compressed as a whole, in chunks.
    fn compresses_blocks(&self) -> bool {
        false
    }

    /// Checks that files can be compressed with this compression.
    ///
    /// # Errors
    /// The reason if not.
    fn can_compress(&self, _compression: &dyn brc_compress::Compression) -> Result<(), String> {
        Ok(())
    }

    /// Opens a file of this encoding.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, or its schema cannot be determined.
    fn open(&self, input: Input, options: &OpenOptions) -> Result<Box<dyn Table>>;

    /// A writer of a table with the given schema.
    ///
    /// # Errors
    /// If the encoding cannot hold the schema, or the options do not fit it.
    fn create(&self, schema: &Schema, options: &CreateOptions) -> Result<Box<dyn BatchWriter>>;

    /// Describes the structure of a file.
    ///
    /// # Errors
    /// As for [`Encoding::open`].
    fn describe(&self, input: Input, options: &OpenOptions) -> Result<Description> {
        let compression = input.compression.unwrap_or("none");
        Ok(Description::of_table(self.name(), compression, self.open(input, options)?.as_ref()))
    }

    /// Reads a whole file with up to `threads` threads and checks everything that can be checked, at least that all
    /// rows can be read.
    ///
    /// # Errors
    /// The first violation in the file.
    fn verify(&self, input: Input, options: &OpenOptions, threads: usize, progress: &Progress) -> Result<Verified> {
        read_all(self.open(input, options)?.as_ref(), threads, progress)
    }
}

/// Options to scan all columns of a file. With inferred types, unsupported columns are known only at the end, and
/// skipped.
///
/// # Errors
/// [`Error::Unsupported`] if the table has unsupported columns.
pub(crate) fn whole(table: &dyn Table) -> Result<ScanOptions> {
    match (table.inferred(), table.schema().unsupported_columns()) {
        (Some(inferred), _) => Ok(ScanOptions::everything(&inferred)),
        (None, []) => Ok(ScanOptions::everything(table.schema())),
        (None, [column, ..]) => Err(unread(table.path(), column)),
    }
}

/// The error that a required column is unsupported.
pub(crate) fn unread(path: &Path, column: &UnsupportedColumn) -> Error {
    Error::unsupported(path, format!("{column}; leave it out of the file, or cast it to a string or a number"))
}

/// Reads all rows of a table; afterwards, inferred types fit all values.
///
/// # Errors
/// Those of the scan.
pub fn read_all(table: &dyn Table, threads: usize, progress: &Progress) -> Result<Verified> {
    whole(table)?;
    read_rows(table, threads, progress)?;
    let (rows, bytes) = (progress.rows.load(Relaxed) - progress.rejected_rows.load(Relaxed), table.bytes());
    Ok(Verified { rows, bytes: bytes.unwrap_or_else(|| progress.bytes.load(Relaxed)), remark: None })
}

/// The result of a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    /// The number of rows.
    pub rows: u64,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// What could not be checked.
    pub remark: Option<&'static str>,
}

/// How to read a file, where the file does not say so itself.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// The columns of a text file; inferred from the values if `None`.
    pub schema: Option<Schema>,
    /// The column names of a text file without a schema; taken from its header, or generated, if `None`.
    pub names: Option<Vec<String>>,
    /// Further options for text files.
    pub text: TextOptions,
    /// How the values of columns of given types are likely to be written in a text file: as in the table to which they
    /// are appended.
    pub likely_forms: Vec<(String, Form)>,
    /// The columns of the other files of the table, for rows that name none of them.
    pub names_of_others: Vec<String>,
    /// The inference that the text files of one table share; `None` for a single file.
    pub inference: Option<Inference>,
    /// The header detection that the text files of one table share; `None` for a single file.
    pub headers: Option<Headers>,
    /// Whether malformed rows are set aside ([`brc_core::Scanned::rejects`]) instead of reported as an error.
    pub keep_rejects: bool,
    /// Whether values have the given types, because brc wrote the text: then those of columns outside the projection
    /// are not checked.
    pub is_trusted: bool,
    /// Whether binary columns of parquet and arrow files are read as strings.
    pub binary_as_string: bool,
    /// The bytes of rows per split if splits become row groups: then split bounds must depend on the table alone.
    /// `None` lets the encoding choose the best size for reading.
    pub row_group_bytes: Option<u64>,
    /// The limit in bytes for the temporary copy of a file that needs random access but is compressed as a whole or
    /// comes from a pipe.
    pub longest_copy: u64,
}

impl OpenOptions {
    /// The type with which a column of a file is read.
    pub(crate) fn as_read(&self, logical_type: LogicalType) -> LogicalType {
        if self.binary_as_string && logical_type == LogicalType::Binary { LogicalType::String } else { logical_type }
    }

    /// Checks that a file with its own schema has the requested one, if any was requested.
    ///
    /// # Errors
    /// [`Error::Usage`] if they differ.
    pub(crate) fn check_schema(&self, path: &Path, own: &Schema) -> Result<()> {
        match &self.schema {
            Some(schema) if !schema.is_like(own) => {
                Err(Error::Usage(format!("{}: its columns are {own}, not {schema}", path.display())))
            }
            _ => self.check_names(path, own),
        }
    }

    /// Checks that the table has all columns with a given type or form.
    ///
    /// # Errors
    /// [`Error::Usage`] if one is missing.
    pub(crate) fn check_types<'a>(&self, names: impl Iterator<Item = &'a str> + Clone) -> Result<()> {
        let types = self.text.types.iter().map(|field| ("--type", &field.name));
        let forms = self.text.forms.times.iter().filter_map(|(name, form)| {
            Some((if form.is_timestamp() { "--timestamp-format" } else { "--date-format" }, name.as_ref()?))
        });
        let Some((option, unknown)) = types.chain(forms).find(|(_, own)| !names.clone().any(|name| name == *own))
        else {
            return Ok(());
        };
        let names: Vec<_> = names.map(identifier::in_list).collect();
        Err(Error::Usage(format!("{option}: unknown column '{unknown}' (columns: {})", names.join(", "))))
    }

    /// Checks that a file with its own column names has the requested ones, if any were requested.
    ///
    /// # Errors
    /// [`Error::Usage`] if they differ.
    pub(crate) fn check_names(&self, path: &Path, own: &Schema) -> Result<()> {
        let same = |names: &Vec<String>| names.iter().eq(own.fields().iter().map(|field| &field.name));
        if self.names.as_ref().is_none_or(same) {
            return Ok(());
        }
        Err(Error::Usage(format!("{}: names its columns itself: they are {own}", path.display())))
    }
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            schema: None,
            names: None,
            text: TextOptions::default(),
            likely_forms: Vec::new(),
            names_of_others: Vec::new(),
            is_trusted: false,
            inference: None,
            headers: None,
            keep_rejects: false,
            binary_as_string: false,
            row_group_bytes: None,
            longest_copy: input::LONGEST_COPY,
        }
    }
}

/// How to read a text file. Whatever is not given is inferred from the data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TextOptions {
    /// The types of some columns, by name; the types of other columns are inferred.
    pub types: Vec<Field>,
    /// Whether all columns except `types` are strings.
    pub all_strings: bool,
    /// Whether values keep their spelling: columns whose values would not are strings.
    pub exact_text: bool,
    /// The given parts of the dialect; the rest is sniffed.
    pub dialect: DialectOverrides,
    /// The given forms of numbers, dates and times.
    pub forms: TableForms,
    /// The sheet of a workbook, by name or number; the first one if `None`.
    pub sheet: Option<String>,
    /// How to treat rows with a different number of columns than the table; the default if `None`.
    pub ragged: Option<Ragged>,
}

/// How to write a file.
#[derive(Clone)]
pub struct CreateOptions {
    /// The compression of blocks; for encodings that do not compress blocks, the whole file is compressed.
    pub compression: brc_compress::Compressor,
    /// The name of the cluster key, or `none` for no key; the encoding chooses if `None`.
    pub key: Option<String>,
    /// The delimiter of a text file; the usual one for the table if `None`.
    pub delimiter: Option<u8>,
    /// Whether numbers are written as text by an encoding that has a binary and a text form (ppm).
    pub ascii: bool,
    /// The memory limit in bytes for the dictionaries that all row groups of a buren file share; the default if
    /// `None` or above it.
    pub dictionary_bytes: Option<usize>,
}

impl CreateOptions {
    /// The default options with the given compression.
    #[must_use]
    pub fn new(compression: brc_compress::Compressor) -> Self {
        Self { compression, key: None, delimiter: None, ascii: false, dictionary_bytes: None }
    }
}
