//! Which encoding should a table be kept in? Measures all of them on the user's own table and machine, checks every
//! answer, and says what to pick.
//!
//! A [`matrix::Matrix`] goes through the cells (an encoding with a compression each) and has each one measured
//! ([`measure`]) in processes of its own ([`process`], whose other side is [`worker`]). What is found is plain data
//! ([`results`]), kept after each cell ([`store`]) and gone on with if it still holds ([`resume`]). Reports are made from nothing else: [`view`] turns samples into
//! figures, [`advice`] into sentences, and there is one file for each form of report.

pub(crate) mod advice;
pub(crate) mod child;
pub(crate) mod csv;
pub(crate) mod environment;
pub(crate) mod executor;
pub(crate) mod html;
pub(crate) mod job;
pub(crate) mod limit;
pub(crate) mod markdown;
pub(crate) mod matrix;
pub(crate) mod measure;
pub(crate) mod monitor;
pub(crate) mod notes;
pub(crate) mod pareto;
pub(crate) mod process;
pub(crate) mod results;
pub(crate) mod resume;
pub(crate) mod statistics;
pub(crate) mod store;
pub(crate) mod terminal;
pub(crate) mod text_size;
pub(crate) mod usage;
pub(crate) mod view;
pub(crate) mod worker;

#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;
