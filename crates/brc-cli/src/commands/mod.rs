//! The subcommands, one file each: options, help text and implementation.

pub(crate) mod cat;
pub(crate) mod compare;
pub(crate) mod compare_cell;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod count;
pub(crate) mod functions;
pub(crate) mod generate;
pub(crate) mod head;
pub(crate) mod inspect;
pub(crate) mod man;
pub(crate) mod query;
pub(crate) mod sample;
pub(crate) mod schema;
pub(crate) mod sniff;
pub(crate) mod sort;
pub(crate) mod summarize;
pub(crate) mod tail;
pub(crate) mod verify;
