//! What a text file's first lines tell of its columns.

use super::row;
use crate::input::Input;
use crate::text::{is_binary, strip_carriage_return};
use brc_core::{Error, Result, Schema};
use memchr::{memchr, memchr_iter};

/// Whether some first bytes are of a text: text has no NUL byte in its first line. (Later ones are bad rows, unless all is
/// full of what text has not.)
pub(super) fn is_text(prefix: &[u8]) -> bool {
    let line = memchr(b'\n', prefix).unwrap_or(prefix.len());
    let (line, rest) = prefix.split_at(line);
    let nuls = memchr_iter(0, rest).count();
    memchr(0, line).is_none() && nuls * 100 <= rest.len() && !is_binary(prefix)
}

/// Recognises the table of the One Billion Row Challenge: rows `name;decimal` without a header. A file that has no row
/// of another number of columns is taken for one, so that what is wrong with its rows can be told.
pub(super) fn schema(input: &Input, separator: u8) -> Result<Schema> {
    let one_brc = Schema::one_brc();
    let mut lines = input.prefix.split(|&byte| byte == b'\n').map(strip_carriage_return).peekable();
    let columns = |line: &[u8]| memchr_iter(separator, line).count() + 1;
    let first_columns = lines.peek().map_or(1, |line| columns(line));
    let mut values = Vec::new();
    if first_columns <= 2 || lines.any(|line| row::parse(line, &one_brc, separator, &mut values).is_ok()) {
        return Ok(one_brc);
    }
    let path = input.path.display();
    let separator = separator.escape_ascii();
    Err(Error::Usage(format!(
        "{path}: the first line has {first_columns} columns between '{separator}', not the two of name{separator}decimal; \
         say what they are with --schema 'name:string,other:decimal(2),third:int'"
    )))
}
