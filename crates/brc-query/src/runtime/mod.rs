//! A query may take long, many rows and little memory: this folder has what every later stage needs to cope with that,
//! and knows nothing of queries.
//!
//! In: a memory limit, a number of threads. Out: the answers to "is memory short?" and "has the user interrupted?",
//! and work done on several threads.
//!
//! Where to look:
//!
//! - how much memory a query may take, when a worker spills (`Memory`, `Allowance`, `Gauge`): `memory.rs`
//! - how work is divided among threads (`map`, `try_map`, `for_each`): `parallel.rs`
//! - sorts and selections that end when the query is interrupted: `interruptible_sort.rs`

pub(crate) mod interruptible_sort;
pub(crate) mod memory;
pub(crate) mod parallel;
