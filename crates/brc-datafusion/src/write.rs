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
use tokio::sync::mpsc::{Receiver, Sender, channel};

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
    let reader = Receiving { schema: rows.schema(), receiver, is_over: false };
    let converted = tokio::task::spawn_blocking(move || {
        let conversion = Convert::from_words(&words)?;
        let table = RecordBatches::new(Path::new("the answer"), Box::new(reader))?;
        conversion.run(ConversionInput::Table(Box::new(table)), &Progress::default())
    });
    let sent = send(&mut rows, batches).await;
    let converted = converted.await.map_err(|error| DataFusionError::External(Box::new(error)))?;
    let count = sent?;
    converted.map_err(external)?;
    Ok(count)
}

/// Sends all rows, and then `None`, unless the receiver is gone. Returns their number.
async fn send(rows: &mut SendableRecordBatchStream, batches: Sender<Option<RecordBatch>>) -> Result<u64> {
    let mut count = 0;
    while let Some(batch) = rows.next().await.transpose()? {
        count += batch.num_rows() as u64;
        if batches.send(Some(batch)).await.is_err() {
            return Ok(count);
        }
    }
    // The receiver has failed if it is gone.
    let _ = batches.send(None).await;
    Ok(count)
}

/// Receives record batches for a reader on another thread.
struct Receiving {
    schema: SchemaRef,
    receiver: Receiver<Option<RecordBatch>>,
    is_over: bool,
}

impl Iterator for Receiving {
    type Item = Result<RecordBatch, ArrowError>;

    /// An error if the sender is gone before the end of the rows: it has failed, or was dropped.
    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        match self.receiver.blocking_recv() {
            Some(Some(batch)) => Some(Ok(batch)),
            Some(None) => {
                self.is_over = true;
                None
            }
            None => Some(Err(ArrowError::ComputeError("the query ended early".to_owned()))),
        }
    }
}

impl RecordBatchReader for Receiving {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}
