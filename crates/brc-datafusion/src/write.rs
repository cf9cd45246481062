//! Writes rows to a file of any encoding that brc writes: the whole file is there, or nothing of it.

use crate::error::external;
use brc_cli::embedding::{Convert, Given};
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

/// Record batches that are made before they are written.
const AHEAD: usize = 2;

/// Writes all rows, with options as `brc convert` has them. Returns how many they are.
///
/// # Errors
/// Those of the rows, and what goes wrong with the file; then there is none, or the one that was there before.
pub async fn write_rows(mut rows: SendableRecordBatchStream, path: &Path, options: &[OsString]) -> Result<u64> {
    let mut words = options.to_vec();
    words.extend(["--", "-"].map(OsString::from));
    words.push(path.as_os_str().to_owned());
    let (batches, taken) = channel(AHEAD);
    let reader = Received { schema: rows.schema(), taken };
    let converted = tokio::task::spawn_blocking(move || {
        let conversion = Convert::from_words(&words)?;
        let table = RecordBatches::new(Path::new("the answer"), Box::new(reader))?;
        conversion.run(Given::Table(Box::new(table)), &Progress::default())
    });
    let (mut count, mut failed) = (0, None);
    while let Some(batch) = rows.next().await {
        let batch = batch.map_err(|error| {
            // Without an error the conversion would end as if there were no more rows.
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

/// Record batches that are sent, for whoever reads them on another thread.
struct Received {
    schema: SchemaRef,
    taken: Receiver<Result<RecordBatch, ArrowError>>,
}

impl Iterator for Received {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.taken.blocking_recv()
    }
}

impl RecordBatchReader for Received {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}
