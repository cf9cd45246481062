//! The interface of an encoding.

use crate::csv::{Headers, Inference};
use crate::description::Description;
use crate::input::{self, Input};
use brc_core::{
    BatchWriter, Error, Field, LeftOut, LogicalType, Progress, Result, ScanOptions, Schema, Table, identifier,
    read_rows,
};
use brc_text::typed::Ragged;
use brc_text::{DialectOverrides, TableForms};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

/// How a whole file lays rows out.
pub trait Encoding: Sync {
    /// Its name, as in `--from` and `--to`.
    fn name(&self) -> &'static str;

    /// Other names of it in `--from` and `--to`.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// The file extensions that mean it, the usual one first.
    fn extensions(&self) -> &'static [&'static str];

    /// One line on what it is, for help texts.
    fn about(&self) -> &'static str;

    /// Whether a file that starts with these bytes is of this encoding. The first encoding of the list that says yes
    /// is taken.
    fn sniff(&self, prefix: &[u8]) -> bool;

    /// Whether files are read, but not written.
    fn is_read_only(&self) -> bool {
        false
    }

    /// Sees to it that the options for reading text that are given apply to files of this encoding.
    ///
    /// # Errors
    /// Why one does not.
    fn check_text_options(&self, options: &TextOptions) -> Result<(), String> {
        if *options == TextOptions::default() {
            return Ok(());
        }
        Err("options for reading text do not apply to it".to_owned())
    }

    /// Whether files of other programs may begin with anything, so that a name must be believed.
    fn may_lack_header(&self) -> bool {
        false
    }

    /// Whether tables of that schema can be written.
    ///
    /// # Errors
    /// Why not.
    fn supports(&self, schema: &Schema) -> Result<(), String> {
        let strange = |logical_type| {
            !matches!(logical_type, LogicalType::String | LogicalType::Int64 | LogicalType::Decimal { .. })
        };
        match schema.fields().iter().find(|field| strange(field.logical_type)) {
            Some(field) => Err(format!("column '{}' of type {} cannot be stored", field.name, field.logical_type)),
            None => Ok(()),
        }
    }

    /// Whether strings may be any bytes, or none.
    fn holds_any_bytes(&self) -> bool {
        true
    }

    /// Whether a damaged file is always seen to be damaged, also one that is not compressed: not so for formats without
    /// checksums, such as plain text, in which a digit that became another one is another number.
    fn detects_damage(&self) -> bool {
        true
    }

    /// Whether files are text, so that anything may be in one.
    fn is_text(&self) -> bool {
        !self.detects_damage()
    }

    /// Whether numbers can be written as text instead ([`CreateOptions::ascii`]).
    fn has_ascii_form(&self) -> bool {
        false
    }

    /// Whether most questions need only some of the bytes of a file, and its end tells which.
    fn reads_parts(&self) -> bool {
        false
    }

    /// Whether the encoding compresses its blocks itself. Files of all others are compressed as a whole, in chunks.
    fn compresses_blocks(&self) -> bool {
        false
    }

    /// Whether files can be compressed so.
    ///
    /// # Errors
    /// Why not.
    fn can_compress(&self, _compression: &dyn brc_compress::Compression) -> Result<(), String> {
        Ok(())
    }

    /// Opens a file of this encoding.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, or its schema cannot be told.
    fn open(&self, input: Input, options: &OpenOptions) -> Result<Box<dyn Table>>;

    /// A writer of a table of that schema.
    ///
    /// # Errors
    /// If the encoding cannot hold the schema, or the options do not fit it.
    fn create(&self, schema: &Schema, options: &CreateOptions) -> Result<Box<dyn BatchWriter>>;

    /// What a file is made of.
    ///
    /// # Errors
    /// As for [`Encoding::open`].
    fn describe(&self, input: Input, options: &OpenOptions) -> Result<Description> {
        let compression = input.compression.unwrap_or("none");
        Ok(Description::of_table(self.name(), compression, self.open(input, options)?.as_ref()))
    }

    /// Reads a whole file with up to `threads` threads and checks everything that can be checked: at least that all of
    /// its rows can be read.
    ///
    /// # Errors
    /// The first thing in the file that does not hold.
    fn verify(&self, input: Input, options: &OpenOptions, threads: usize, progress: &Progress) -> Result<Verified> {
        read_all(self.open(input, options)?.as_ref(), threads, progress)
    }
}

/// All rows of all columns of a file. Where columns are inferred, those that cannot be read are known only at the end, and left
/// out.
///
/// # Errors
/// [`Error::Unsupported`] if the table lacks some of them.
pub(crate) fn whole(table: &dyn Table) -> Result<ScanOptions> {
    match (table.inferred(), table.schema().left_out()) {
        (Some(inferred), _) => Ok(ScanOptions::everything(&inferred)),
        (None, []) => Ok(ScanOptions::everything(table.schema())),
        (None, [column, ..]) => Err(unread(table.path(), column)),
    }
}

/// The error that a column would be needed that is left out.
pub(crate) fn unread(path: &Path, column: &LeftOut) -> Error {
    Error::unsupported(path, format!("{column}; leave it out of the file, or cast it to a string or a number"))
}

/// Reads all rows of a table. Inferred types hold all values then.
///
/// # Errors
/// Those of the scan.
pub fn read_all(table: &dyn Table, threads: usize, progress: &Progress) -> Result<Verified> {
    whole(table)?;
    read_rows(table, threads, progress)?;
    let (rows, bytes) = (progress.rows.load(Relaxed), table.bytes());
    Ok(Verified { rows, bytes: bytes.unwrap_or_else(|| progress.bytes.load(Relaxed)) })
}

/// What was verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    /// Rows.
    pub rows: u64,
    /// The size of the file in bytes.
    pub bytes: u64,
}

/// How to read a file, as far as it does not tell itself.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// The columns of a text file; inferred from its values if `None`.
    pub schema: Option<Schema>,
    /// The names of a text file's columns, if there is no schema; those of its header, or made up, if `None`.
    pub names: Option<Vec<String>>,
    /// How to read a text file otherwise.
    pub text: TextOptions,
    /// Where the text files of one table share what their values demand of inferred types; `None` if there is one file.
    pub inference: Option<Inference>,
    /// Where the text files of one table share what their first rows are; `None` if there is one file.
    pub headers: Option<Headers>,
    /// Whether malformed rows are set aside ([`brc_core::Scanned::rejects`]) rather than an error.
    pub keep_rejects: bool,
    /// Whether binary columns of parquet and arrow files are strings.
    pub binary_as_string: bool,
    /// How many bytes of rows make up a split if splits become row groups: then they must not depend on anything but the
    /// table. `None` leaves the size to the encoding: whatever is best for reading.
    pub row_group_bytes: Option<u64>,
    /// How long the temporary copy of a file may become that is read at any place, but is compressed as a whole or comes
    /// through a pipe; in bytes.
    pub longest_copy: u64,
}

impl OpenOptions {
    /// The type as which a column of a file is read.
    pub(crate) fn as_read(&self, logical_type: LogicalType) -> LogicalType {
        if self.binary_as_string && logical_type == LogicalType::Binary { LogicalType::String } else { logical_type }
    }

    /// Sees to it that a file which tells its columns has those that were asked for, if any were.
    ///
    /// # Errors
    /// [`Error::Usage`] if it has others.
    pub(crate) fn check_schema(&self, path: &Path, own: &Schema) -> Result<()> {
        match &self.schema {
            Some(schema) if !schema.is_like(own) => {
                Err(Error::Usage(format!("{}: its columns are {own}, not {schema}", path.display())))
            }
            _ => self.check_names(path, own),
        }
    }

    /// Sees to it that the table has all columns of which types or forms were given.
    ///
    /// # Errors
    /// [`Error::Usage`] if it lacks one.
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

    /// Sees to it that a file which names its columns has the names that were asked for, if any were.
    ///
    /// # Errors
    /// [`Error::Usage`] if it has others.
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
            inference: None,
            headers: None,
            keep_rejects: false,
            binary_as_string: false,
            row_group_bytes: None,
            longest_copy: input::LONGEST_COPY,
        }
    }
}

/// How to read a text file. What is not said is inferred from the data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TextOptions {
    /// The types of some columns, by name; those of the others are inferred.
    pub types: Vec<Field>,
    /// Whether all columns are strings, but those of `types`.
    pub all_strings: bool,
    /// Whether values come back as they were written: columns of which some would not are strings.
    pub exact_text: bool,
    /// What is known of how the text is written; the rest is sniffed.
    pub dialect: DialectOverrides,
    /// How numbers, dates and times are written, as far as it is said.
    pub forms: TableForms,
    /// The sheet of a workbook, by its name or number, if not the first.
    pub sheet: Option<String>,
    /// What becomes of rows that have not as many columns as the table, if it is said.
    pub ragged: Option<Ragged>,
}

/// How to write a file.
#[derive(Clone)]
pub struct CreateOptions {
    /// The compression of blocks; encodings that do not compress blocks leave it to whoever writes the file.
    pub compression: brc_compress::Compressor,
    /// The cluster key's name, or `none` for no key; the encoding's choice if `None`.
    pub key: Option<String>,
    /// What stands between the columns of a text file; what is usual for the table if `None`.
    pub delimiter: Option<u8>,
    /// Whether numbers are written as text by an encoding that has a binary and a text form: ppm.
    pub ascii: bool,
    /// How much memory, in bytes, the dictionaries may take that all row groups of a buren file share; what is usual if
    /// `None` or more.
    pub dictionary_bytes: Option<usize>,
}

impl CreateOptions {
    /// The usual ones, with that compression.
    #[must_use]
    pub fn new(compression: brc_compress::Compressor) -> Self {
        Self { compression, key: None, delimiter: None, ascii: false, dictionary_bytes: None }
    }
}
