//! Converts errors of brc to errors of DataFusion.

use datafusion::arrow::error::ArrowError;
use datafusion::error::DataFusionError;

/// Wraps an error of brc, which stays available as the source.
pub(crate) fn external(error: brc_core::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// Converts an error that passed through Arrow.
pub(crate) fn of_arrow(error: ArrowError) -> DataFusionError {
    match error {
        ArrowError::ExternalError(inner) => DataFusionError::External(inner),
        error => DataFusionError::ArrowError(Box::new(error), None),
    }
}
