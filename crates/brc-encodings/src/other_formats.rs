//! File formats that brc does not read, recognised by their first bytes, so that the error can name them. Unsupported
//! compressions are recognised before ([`brc_compress::unsupported`]).

/// A format: where its mark stands, in bytes, the mark, and what it is called.
type Format = (usize, &'static [u8], &'static str);

const FORMATS: &[Format] = &[
    (0, b"SQLite format 3\0", "an SQLite database"),
    (8, b"DUCK", "a DuckDB database"),
    (0, b"ORC", "ORC"),
    (0, b"\x89HDF\r\n\x1a\n", "HDF5"),
    (0, b"CDF\x01", "NetCDF"),
    (0, b"<stata_dta>", "Stata"),
    (0, b"$FL2", "SPSS"),
    (0, b"RDX3\n", "R data"),
    (0, b"X\n\0\0\0", "R data"),
    (0, b"\x93NUMPY", "NumPy"),
    (0, b"\x80\x04\x95", "a Python pickle"),
    (257, b"ustar", "a tar archive"),
    (0, b"Rar!\x1a\x07", "a RAR archive"),
    (0, b"%PDF-", "PDF"),
    (0, b"\x7fELF", "a program"),
    (0, b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
];

/// What a file is by its first bytes, if it is something that brc does not read.
pub(crate) fn name(prefix: &[u8]) -> Option<&'static str> {
    let is_there = |(at, mark, _): &&Format| prefix.get(*at..).is_some_and(|rest| rest.starts_with(mark));
    FORMATS.iter().find(is_there).map(|(.., name)| *name)
}
