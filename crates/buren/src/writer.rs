//! Writes a file of the version that suits its table.

use crate::v1;
use crate::v2::file;
use brc_compress::Compressor;
use brc_core::{BatchWriter, ColumnarWriter, Error, Part, PartEncoder, Result, Schema};

/// Tables of more columns have no one obvious question, so a cluster key is not chosen for them.
const FEW_COLUMNS: usize = 8;

/// How to write a file.
#[derive(Clone)]
pub struct WriterOptions {
    /// The compression of blocks that it makes smaller.
    pub compression: Compressor,
    /// The name of the cluster key. `None` for the string column of lowest cardinality in each row group, if the table has
    /// few columns, all of them strings or numbers of 64 bits without nulls; no key otherwise.
    pub key: Option<String>,
    /// How much memory, in bytes, the dictionaries may take that strings of all row groups share; when they have taken it,
    /// further row groups have dictionaries of their own. The file depends on it.
    pub dictionary_bytes: usize,
}

impl WriterOptions {
    /// Those of a file whose blocks are compressed so.
    #[must_use]
    pub fn new(compression: Compressor) -> Self {
        Self { compression, key: None, dictionary_bytes: 80 << 20 }
    }
}

/// Writes a buren file: see [`BatchWriter`] for who writes which bytes.
pub struct Writer(Box<dyn BatchWriter>);

impl Writer {
    /// A writer of a table of that schema.
    ///
    /// # Errors
    /// If the key is no string column of the schema, or the table cannot be clustered.
    pub fn new(schema: &Schema, options: WriterOptions) -> Result<Self> {
        let fields = schema.fields();
        let obvious = fields.len() <= FEW_COLUMNS && fields.iter().all(|field| !field.nullable);
        let version_1 = v1::writer::Writer::supports(schema) && schema.metadata().is_empty();
        if options.key.is_some() {
            v1::writer::key_column(schema, &options)?;
            if !version_1 {
                return Err(Error::Usage(
                    "only tables of strings, int64 and decimal(18, scale) columns can be clustered by a key".to_owned(),
                ));
            }
        }
        Ok(Self(if version_1 && (obvious || options.key.is_some()) {
            Box::new(v1::writer::Writer::new(schema, options)?)
        } else {
            Box::new(file::Writer::new(schema, options))
        }))
    }
}

impl BatchWriter for Writer {
    fn encoder(&self) -> Box<dyn PartEncoder> {
        self.0.encoder()
    }

    fn start(&mut self) -> Vec<u8> {
        self.0.start()
    }

    fn append(&mut self, part: &mut Part) -> Result<()> {
        self.0.append(part)
    }

    fn columnar(&mut self) -> Option<&mut dyn ColumnarWriter> {
        self.0.columnar()
    }

    fn finish(&mut self) -> Result<Vec<u8>> {
        self.0.finish()
    }
}
