//! V

pub(crate) mod cells;
pub(crate) mod fault;
pub(crate) mod float_key;
pub(crate) mod number;
pub(crate) mod ratio;
pub(crate) mod selection;
pub(crate) mod vector;
