//! Pages before compression: the rows and values of each, and which rows are null.

use super::hybrid;
use super::page::{DATA_PAGE, DICTIONARY_PAGE, PLAIN, RLE_DICTIONARY};
use brc_core::Bitmap;
use std::ops::Range;

/// Rows per page: enough for a compressor to find repetitions, few enough for a near cache.
const PAGE_ROWS: usize = 64 << 10;

/// The approximate maximum size of a page in bytes, where rows are long.
const PAGE_BYTES: usize = 8 << 20;

/// A page before compression.
pub(super) struct Page {
    pub(super) kind: i64,
    /// The rows of a data page; the values of a dictionary page.
    pub(super) values: usize,
    pub(super) encoding: i64,
    pub(super) body: Vec<u8>,
}

/// The division of a column chunk into pages.
pub(super) struct Paging(Vec<PageRows>);

struct PageRows {
    rows: usize,
    /// The range of its values among the valid ones.
    values: Range<usize>,
    /// The definition levels, with their length; empty if the column is not nullable.
    levels: Vec<u8>,
}

impl Paging {
    /// Pages for a column chunk of the given number of rows and bytes.
    pub(super) fn new(is_nullable: bool, validity: Option<Bitmap<'_>>, rows: usize, bytes: usize) -> Self {
        let page_rows = PAGE_ROWS.min((PAGE_BYTES as u128 * rows as u128 / bytes.max(1) as u128) as usize).max(1);
        let mut values = 0;
        let pages = (0..rows).step_by(page_rows).map(|start| {
            let rows = start..rows.min(start + page_rows);
            let validity = validity.map(|validity| validity.slice(rows.clone()));
            let count = validity.map_or(rows.len(), |validity| validity.count_values());
            let first = values;
            values += count;
            let levels = if is_nullable { levels(validity, rows.len()) } else { Vec::new() };
            PageRows { rows: rows.len(), values: first..values, levels }
        });
        Self(pages.collect())
    }

    /// Pages of valid values.
    pub(super) fn pages<T>(&self, encoding: i64, values: &[T], encode: impl Fn(&[T], &mut Vec<u8>)) -> Vec<Page> {
        let page = |rows: &PageRows| {
            let mut body = rows.levels.clone();
            encode(&values[rows.values.clone()], &mut body);
            Page { kind: DATA_PAGE, values: rows.rows, encoding, body }
        };
        self.0.iter().map(page).collect()
    }

    /// A dictionary page with the given body, and pages of codes.
    pub(super) fn coded(&self, body: Vec<u8>, distinct: usize, codes: &[u32]) -> Vec<Page> {
        let mut pages = vec![Page { kind: DICTIONARY_PAGE, values: distinct, encoding: PLAIN, body }];
        let width = code_width(distinct);
        pages.extend(self.pages(RLE_DICTIONARY, codes, |codes, body| {
            body.push(width as u8);
            hybrid::encode(width, codes, body);
        }));
        pages
    }
}

/// The bit width of a code. A width of 0 is legal, but some readers fail on it.
pub(super) fn code_width(distinct: usize) -> u32 {
    hybrid::width_of((distinct as u32).saturating_sub(1)).max(1)
}

/// The definition levels of some rows: 1 for each valid row.
fn levels(validity: Option<Bitmap<'_>>, rows: usize) -> Vec<u8> {
    let levels: Vec<u32> = match validity {
        Some(validity) => validity.iter().map(u32::from).collect(),
        None => vec![1; rows],
    };
    let mut encoded = vec![0; 4];
    hybrid::encode(1, &levels, &mut encoded);
    let length = (encoded.len() - 4) as u32;
    encoded[..4].copy_from_slice(&length.to_le_bytes());
    encoded
}
