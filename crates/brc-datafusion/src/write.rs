//! Writes rows atomically to a file, in any encoding that brc writes.

use crate::error::external;
use brc_cli::embedding::{ConversionInput, Convert};
use brc_core::Progress;
use brc_encodings::RecordBatches;
use datafusion::arrow::array::{RecordBatch, RecordBatchReader};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::error::ArrowError;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use std::ffi::OsString;
use std::path::Path;
use tokio::sync::mpsc::{Receiver, channel};

/// The number of record batches buffered between query and writer.
const BUFFERED_BATCHES: usize = 2;

/// Writes all rows, with options of `brc convert`. Returns their number.
///
/// # Errors
/// Errors of the rows and of the file, which is then left as it was.
pub async fn write_rows(mut rows: SendableRecordBatchStream, path: &Path, options: &[OsString]) -> Result<u64> {
    let mut words = options.to_vec();
    words.extend(["--", "-"].map(OsString::from));
    words.push(path.as_os_str().to_owned());
    let (batches, receiver) = channel(BUFFERED_BATCHES);
    let reader = Receiving { schema: rows.schema(), receiver };
    let converted = tokio::task::spawn_blocking(move || {
        let conversion = Convert::from_words(&words)?;
        let table = RecordBatches::new(Path::new("the answer"), Box::new(reader))?;
        conversion.run(ConversionInput::Table(Box::new(table)), &Progress::default())
    });
    let (mut count, mut failed) = (0, None);
    while let Some(batch) = rows.next().await {
        let batch = batch.map_err(|error| {
            // Without an error, the conversion would take this for the end of the rows.
            let stopped = ArrowError::ComputeError(error.to_string());
            failed = Some(error);
            stopped
        });
        count += batch.as_ref().map_or(0, |batch| batch.num_rows() as u64);
        if batches.send(batch).await.is_err() || failed.is_some() {
            break;
        }
    }
    drop(batches);
    let converted = converted.await.map_err(|error| DataFusionError::External(Box::new(error)))?;
    failed.map_or(Ok(()), Err)?;
    converted.map_err(external)?;
    Ok(count)
}

/// Receives record batches for a reader on another thread.
struct Receiving {
    schema: SchemaRef,
    receiver: Receiver<Result<RecordBatch, ArrowError>>,
}

impl Iterator for Receiving {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.receiver.blocking_recv()
    }
}

impl RecordBatchReader for Receiving {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}
