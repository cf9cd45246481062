//! Columns of batches are borrowed from the scan and gone with the next batch. Whatever a query computes or keeps
//! longer is owned by the types of this folder, so that functions, keys, states and answers need no forms of their
//! own.
//!
//! In: borrowed columns and values of `brc_core`. Out: owned columns, views of rows, and selections of rows.
//!
//! Where to look:
//!
//! - rows of any column (`View`), the rows for which a function is computed (`Rows`): `view.rs`
//! - strings that expressions compute (`Text`): `text.rs`
//! - columns of an answer, which grow, are compared and are spilled (`Cells`): `cells.rs`
//! - which rows of a batch are wanted (`Selection`), and bit masks: `selection.rs`
//! - errors: a batch that is not as its scan promises (`BatchError`), a value that cannot be computed (`EvalError`):
//!   `error.rs`
//! - floats as integers of the same order: `float_key.rs`; hashes and random numbers of integers: `split_mix.rs`
//! - decimal constants of any length (`Number`), the nearest float or decimal of an exact ratio: `number.rs`,
//!   `ratio.rs`

pub(crate) mod cells;
pub(crate) mod error;
pub(crate) mod float_key;
pub(crate) mod number;
pub(crate) mod ratio;
pub(crate) mod selection;
pub(crate) mod split_mix;
pub(crate) mod text;
pub(crate) mod view;
