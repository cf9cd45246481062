//! Builds the library's array of a record batch column; the library checks that the buffers are consistent.

use crate::columnar::{Fault, guarded};
use arrow_array::{ArrayRef, make_array};
use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use arrow_schema::DataType;
use arrow_select::take::{TakeOptions, take};

/// The array of a column, or of its codes: `rows` rows with `nulls` nulls, from its buffers.
pub(super) fn array(data_type: &DataType, rows: usize, nulls: usize, buffers: &[Buffer]) -> Result<ArrayRef, Fault> {
    guarded(|| {
        let (validity, values) = match buffers.split_first() {
            Some((validity, values)) if *data_type != DataType::Null => {
                let validity = (nulls > 0).then(|| validity.clone());
                (validity, values.to_vec())
            }
            _ => (None, Vec::new()),
        };
        let values = match (data_type, values.as_slice()) {
            // Without rows, offsets may be missing.
            (DataType::Binary | DataType::LargeBinary, [offsets, bytes]) if rows == 0 && offsets.is_empty() => {
                vec![Buffer::from(&[0; 8]), bytes.clone()]
            }
            _ => values,
        };
        let data = ArrayData::try_new(data_type.clone(), rows, validity, 0, values, Vec::new());
        let data = data.map_err(|error| Fault::corrupt(error.to_string()))?;
        if *data_type != DataType::Null && data.null_count() != nulls {
            return Err(Fault::corrupt("it does not have as many nulls as it says"));
        }
        Ok(make_array(data))
    })
}

/// The values of codes.
pub(super) fn looked_up(values: &ArrayRef, codes: &ArrayRef) -> Result<ArrayRef, Fault> {
    let options = TakeOptions { check_bounds: true };
    guarded(|| take(values, codes, Some(options)).map_err(|error| Fault::corrupt(error.to_string())))
}
