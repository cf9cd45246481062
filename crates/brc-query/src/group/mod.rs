//! G

mod scan;
pub(crate) mod table;
