//! The samples of a file in UTF-8, and their rows.

use super::Sample;
use super::comments::{BOX, comment_prefix};
use super::rows::SampleRows;
use super::shape::Shape;
use crate::charset::Charset;
use crate::dialect::Dialect;
use std::borrow::Cow;

/// The samples of a file, decoded, and without a byte order mark.
pub(super) struct Samples<'a> {
    /// The sample of the file's start comes first; it is empty if none was taken.
    samples: Vec<Decoded<'a>>,
}

#[derive(Clone)]
struct Decoded<'a> {
    bytes: Cow<'a, [u8]>,
    is_start: bool,
    is_end: bool,
}

impl<'a> Samples<'a> {
    /// Decodes samples. Invalid bytes, such as characters that are cut off, are ignored here.
    pub(super) fn decode(samples: &[Sample<'a>], charset: Charset) -> Self {
        let decode = |sample: &Sample<'a>| {
            let bytes = match charset {
                Charset::Raw => Cow::Borrowed(sample.bytes),
                Charset::Encoded(encoding) => {
                    let is_wide = charset == Charset::UTF_16LE || charset == Charset::UTF_16BE;
                    let skip = usize::from(is_wide && sample.offset % 2 == 1).min(sample.bytes.len());
                    let (text, _) = encoding.decode_with_bom_removal(&sample.bytes[skip..]);
                    match text {
                        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
                    }
                }
            };
            Decoded { bytes, is_start: sample.offset == 0, is_end: sample.is_end }
        };
        let mut samples: Vec<Decoded<'a>> = samples.iter().map(decode).collect();
        samples.sort_by_key(|sample| !sample.is_start);
        if samples.first().is_none_or(|sample| !sample.is_start) {
            samples.insert(0, Decoded { bytes: Cow::Borrowed(&[]), is_start: true, is_end: samples.is_empty() });
        }
        Samples { samples }
    }

    /// The sample of the file's start.
    pub(super) fn start(&self) -> &[u8] {
        &self.samples[0].bytes
    }

    /// Whether the sample of the file's start is the whole file.
    pub(super) fn is_whole(&self) -> bool {
        self.samples[0].is_end
    }

    /// All samples.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.samples.iter().map(|sample| &*sample.bytes)
    }

    /// The index of the sample at the file's end.
    pub(super) fn end(&self) -> Option<usize> {
        self.samples.iter().position(|sample| sample.is_end)
    }

    /// The samples without the first `lines` lines of the file.
    pub(super) fn without_lines(&self, lines: u64, line_end: u8) -> Self {
        let mut samples = self.samples.clone();
        let start = &mut samples[0];
        let mut skip = 0;
        for _ in 0..lines {
            let rest = &start.bytes[skip..];
            skip += memchr::memchr(line_end, rest).map_or(rest.len(), |at| at + 1);
        }
        match &mut start.bytes {
            Cow::Borrowed(bytes) => *bytes = &bytes[skip..],
            Cow::Owned(bytes) => drop(bytes.drain(..skip)),
        }
        Samples { samples }
    }

    /// The likely comment prefix: one that some lines at the file's start have and others have not.
    pub(super) fn probable_comment(&self) -> Option<String> {
        let first = self.lines().next()?;
        // Around two columns or more.
        let is_box = first.starts_with(b"+-") && memchr::memchr_iter(b'+', first).count() > 2;
        let of_box = || is_box.then_some(BOX);
        let prefix = comment_prefix(first).or_else(of_box).unwrap_or("#");
        let is_comment = |line: &[u8]| line.starts_with(prefix.as_bytes());
        self.lines().any(|line| is_comment(line) != is_comment(first)).then(|| prefix.to_owned())
    }

    /// Whether all lines at the file's start may be comments.
    pub(super) fn are_comments(&self) -> bool {
        let Some(prefix) = self.lines().next().and_then(comment_prefix) else { return false };
        // The last line may be cut off within the prefix.
        self.lines().all(|line| line.starts_with(prefix.as_bytes()) || prefix.as_bytes().starts_with(line))
    }

    /// The non-empty lines of the file's start.
    fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.start().split(|byte| matches!(byte, b'\n' | b'\r')).filter(|line| !line.is_empty())
    }

    /// The same, without a last line that may be cut off.
    pub(super) fn whole_lines(&self) -> impl Iterator<Item = &[u8]> {
        let cut_off = usize::from(!self.is_whole());
        self.lines().take(self.lines().count().saturating_sub(cut_off))
    }

    /// Whether most lines contain runs of blanks, which align columns.
    pub(super) fn are_aligned(&self) -> bool {
        let is_aligned = |line: &&[u8]| line.trim_ascii().windows(2).any(|pair| pair == b"  ");
        let (aligned, lines) = (self.lines().filter(is_aligned).count(), self.lines().count());
        lines > 1 && aligned * 2 > lines
    }

    /// Whether these bytes occur in any sample.
    pub(super) fn contain(&self, bytes: &[u8]) -> bool {
        let finder = memchr::memmem::Finder::new(bytes);
        self.samples.iter().any(|sample| finder.find(&sample.bytes).is_some())
    }

    /// The rows of each sample, starting with that of the file's start.
    pub(super) fn split(&self, dialect: &Dialect) -> Vec<SampleRows<'_>> {
        let mut tables: Vec<SampleRows<'_>> = Vec::with_capacity(self.samples.len());
        let mut has_lines_in_quotes = false;
        for sample in &self.samples {
            tables.push(if sample.is_start {
                let start = SampleRows::split(&sample.bytes, dialect, sample.is_end);
                has_lines_in_quotes = start.have_lines_in_quotes(dialect.line_end.last_byte());
                start
            } else {
                sample.split_from_within(dialect, Shape::of(&tables, 0).width, has_lines_in_quotes)
            });
        }
        tables
    }
}

impl Decoded<'_> {
    /// Splits a sample that starts anywhere, assuming a start inside or outside quotes, whichever gives more rows of
    /// the usual width. If quoted fields of the table have several lines, a sample for which neither is clear has no
    /// rows: its lines may be the text of such a field.
    fn split_from_within(&self, dialect: &Dialect, width: usize, has_lines_in_quotes: bool) -> SampleRows<'_> {
        let outside = SampleRows::split_from_outside(&self.bytes, dialect, self.is_end, has_lines_in_quotes);
        let inside = SampleRows::split_from_inside(&self.bytes, dialect, self.is_end);
        let fit = |rows: &SampleRows<'_>| {
            let usual = rows.iter().filter(|row| row.len() == width).count();
            (usual as f64 - rows.quotes.malformed as f64) / rows.len().max(1) as f64
        };
        let has_quotes = dialect.quote.is_some_and(|quote| memchr::memchr(quote, &self.bytes).is_some());
        let outside = (fit(&outside), outside);
        let inside = inside.map(|rows| (fit(&rows), rows)).filter(|(fit, _)| *fit > outside.0);
        let (fit, best) = inside.unwrap_or(outside);
        // No field is open at the end of the file.
        let is_unclear = has_lines_in_quotes && !self.is_end && (!has_quotes || fit < LEAST_FIT);
        if is_unclear { SampleRows::default() } else { best }
    }
}

/// The minimum share of rows of the usual width, less those with malformed quotes, that shows where the quotes of a
/// sample start and end.
const LEAST_FIT: f64 = 0.8;
