//! Errors of brc on their way through DataFusion.

use datafusion::arrow::error::ArrowError;
use datafusion::error::DataFusionError;

/// An error of brc as one of DataFusion: whoever looks for its source finds it as it was.
pub(crate) fn external(error: brc_core::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// The same of one that came through Arrow.
pub(crate) fn of_arrow(error: ArrowError) -> DataFusionError {
    match error {
        ArrowError::ExternalError(inner) => DataFusionError::External(inner),
        error => DataFusionError::ArrowError(Box::new(error), None),
    }
}
