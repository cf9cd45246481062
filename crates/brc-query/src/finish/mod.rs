//! An answer may show ten of millions of groups, and only these should become rows. This folder decides which groups
//! an answer has and in which order, and computes the columns of those.
//!
//! In: a plan and `Partial`s that have no group in common. Out: references to groups in the order of the answer, and
//! columns of rows. Partitions use it too, so that each keeps only the groups that may be among the first.
//!
//! Where to look:
//!
//! - `having`, order, limit, and the columns of rows (`Groups`): `groups.rs`
//! - how parts are sorted together on several threads (`OrderKey`, `SortedPart`): `order.rs`

pub(crate) mod groups;
pub(crate) mod order;
