//! Exports scans as streams of record batches.

use crate::capsule::is_interrupted;
use crate::signals::{CHECK_INTERVAL, is_main_thread};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use brc_arrow::Reader;
use brc_core::Error;
use parking_lot::Mutex;
use std::sync::Arc;
use std::task::Poll;

/// Keeps the error of a stream, so that it can be raised with its type: the C interface passes only a text.
#[derive(Clone, Default)]
pub(crate) struct Failed(Arc<Mutex<Option<Error>>>);

impl Failed {
    pub(crate) fn take(&self) -> Option<Error> {
        self.0.lock().take()
    }

    fn set(&self, error: Error) {
        *self.0.lock() = Some(error);
    }
}

/// The record batches of a scan; Ctrl-C interrupts waiting for them.
pub(crate) struct Stream {
    schema: SchemaRef,
    /// `None` once the last row was read or the scan failed.
    reader: Option<Reader>,
    /// The number of rows left to deliver.
    left: u64,
    failed: Failed,
}

impl Stream {
    /// Reads at most `limit` rows; the limit is at least 1.
    pub(crate) fn new(reader: Reader, limit: Option<u64>, failed: Failed) -> Self {
        let schema = reader.schema();
        Self { schema, reader: Some(reader), left: limit.unwrap_or(u64::MAX), failed }
    }

    /// A stream without rows.
    pub(crate) fn empty(schema: SchemaRef) -> Self {
        Self { schema, reader: None, left: 0, failed: Failed::default() }
    }

    fn wait(&mut self) -> Option<Result<RecordBatch, ArrowError>> {
        loop {
            match self.reader.as_mut()?.next_within(CHECK_INTERVAL) {
                Poll::Ready(next) => return next,
                Poll::Pending if is_main_thread() && is_interrupted() => {
                    return Some(Err(ArrowError::ExternalError(Box::new(Error::Interrupted))));
                }
                Poll::Pending => {}
            }
        }
    }

    /// Stores the error, and returns it with a text that C can represent.
    fn fail(&mut self, error: ArrowError) -> ArrowError {
        self.reader = None;
        let text = error.to_string().replace('\0', "\u{fffd}");
        if let ArrowError::ExternalError(error) = error
            && let Ok(error) = error.downcast::<Error>()
        {
            let text = error.to_string().replace('\0', "\u{fffd}");
            self.failed.set(*error);
            return ArrowError::ExternalError(text.into());
        }
        ArrowError::ExternalError(text.into())
    }
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.wait() {
            Some(Ok(batch)) => {
                let rows = usize::try_from(self.left).map_or(batch.num_rows(), |left| left.min(batch.num_rows()));
                self.left -= rows as u64;
                if self.left == 0 {
                    self.reader = None;
                }
                Some(Ok(batch.slice(0, rows)))
            }
            Some(Err(error)) => Some(Err(self.fail(error))),
            None => {
                self.reader = None;
                None
            }
        }
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}
