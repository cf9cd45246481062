//! Rewrites objects in an array, over several lines, or several on a line, to one object per line.
//!
//! Every byte keeps its position. Bytes between two objects become a line feed and spaces, and line feeds within an
//! object become spaces; so line-based readers can read the result, and report correct positions. A text is processed
//! once and in order, with only the checks that this requires; the row parser does the rest.
//!
//! An object that lacks a closing quote or bracket would swallow later ones. They are located again where an object
//! begins like the first ones: at the start of a line, after the same indentation. If objects do not begin lines,
//! nothing after the broken one can be read.

use super::syntax::is_space;
use crate::text::{LONGEST_LINE, Notes, Reline, RelineFault, Relines};
use brc_text::BYTE_ORDER_MARK;
use memchr::memchr3;
use std::sync::{Arc, OnceLock};

/// The layout of objects in a text.
pub(super) struct ObjectsToLines {
    in_array: bool,
    /// The indentation of objects that begin a line; known from the first one on.
    indent: Arc<OnceLock<u64>>,
    /// The offset after the end of the array; known once it was reached.
    end: Arc<OnceLock<u64>>,
}

impl ObjectsToLines {
    pub(super) fn new(in_array: bool) -> Self {
        Self { in_array, indent: Arc::default(), end: Arc::default() }
    }
}

impl Reline for ObjectsToLines {
    fn begin_at(&self, byte: u64) -> Box<dyn Relines> {
        let context = match (byte, self.in_array) {
            (0, true) => Context::BeforeArray,
            (_, true) if self.end.get().is_some_and(|end| byte >= *end) => Context::AfterArray,
            (_, true) => Context::BeforeValue,
            (_, false) => Context::Between,
        };
        Box::new(Objects {
            in_array: self.in_array,
            indent: Arc::clone(&self.indent),
            end: Arc::clone(&self.end),
            context,
            byte,
            open: Vec::new(),
            expects_key: false,
            is_row_start: true,
            is_line_start: byte == 0,
            column: 0,
        })
    }
}

/// The syntactic context of the next byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Context {
    BeforeArray,
    /// After the opening bracket of the array.
    FirstOfArray,
    /// After a comma of the array.
    BeforeValue,
    /// Outside of an array, or in one where a comma is expected.
    Between,
    AfterValue,
    /// In an object or list.
    Inside,
    InString,
    AfterBackslash,
    /// In a number or word, which is not an object.
    InWord,
    AfterArray,
    /// In an object that should have ended.
    Broken,
}

struct Objects {
    in_array: bool,
    indent: Arc<OnceLock<u64>>,
    end: Arc<OnceLock<u64>>,
    context: Context,
    /// The offset of the next byte in the file.
    byte: u64,
    /// The open brackets.
    open: Vec<u8>,
    /// Whether a key or the end of an object comes next.
    expects_key: bool,
    /// Whether the previous byte became a line feed.
    is_row_start: bool,
    /// Whether only spaces precede the next byte on its line, and their number.
    is_line_start: bool,
    column: u64,
}

impl Relines for Objects {
    fn reline(&mut self, text: &mut [u8], from: usize, notes: &mut Notes) -> Result<(), RelineFault> {
        let mut at = from;
        while at < text.len() {
            if self.context == Context::InString {
                // Most of a text is strings.
                let length = memchr3(b'"', b'\\', b'\n', &text[at..]).unwrap_or(text.len() - at);
                at += length;
                self.byte += length as u64;
                if at == text.len() {
                    break;
                }
            }
            self.step(text, at, notes)?;
            at += 1;
        }
        Ok(())
    }

    fn end(&self) -> Result<(), RelineFault> {
        match self.context {
            Context::AfterArray => Ok(()),
            _ if self.in_array => Err(self.fault("the array does not end: the file is cut off")),
            _ => Ok(()),
        }
    }
}

impl Objects {
    fn fault(&self, reason: &'static str) -> RelineFault {
        RelineFault { byte: self.byte, reason }
    }

    fn step(&mut self, text: &mut [u8], at: usize, notes: &mut Notes) -> Result<(), RelineFault> {
        let byte = text[at];
        if byte == b'\n' {
            notes.newlines.push(self.byte);
        }
        match self.context {
            Context::InString | Context::AfterBackslash => self.in_string(text, at)?,
            Context::Inside => self.inside(text, at)?,
            Context::Broken => self.broken(text, at),
            Context::InWord if !is_space(byte) && !matches!(byte, b',' | b']') => {}
            Context::InWord => {
                self.context = Context::AfterValue;
                self.between(text, at, notes)?;
            }
            Context::BeforeArray
            | Context::FirstOfArray
            | Context::BeforeValue
            | Context::Between
            | Context::AfterValue
            | Context::AfterArray => self.between(text, at, notes)?,
        }
        self.is_row_start = text[at] == b'\n';
        self.next(byte);
        Ok(())
    }

    /// Processes one byte.
    fn next(&mut self, byte: u8) {
        self.byte += 1;
        match byte {
            b'\n' => (self.is_line_start, self.column) = (true, 0),
            _ if is_space(byte) => self.column += 1,
            // A byte order mark.
            _ if !byte.is_ascii() && self.byte <= BYTE_ORDER_MARK.len() as u64 => {}
            _ => self.is_line_start = false,
        }
    }

    fn in_string(&mut self, text: &mut [u8], at: usize) -> Result<(), RelineFault> {
        self.context = match text[at] {
            b'\n' => {
                text[at] = b' ';
                return self.break_off("a string does not end on its line");
            }
            _ if self.context == Context::AfterBackslash => Context::InString,
            b'\\' => Context::AfterBackslash,
            b'"' if self.open.is_empty() => Context::AfterValue,
            b'"' => Context::Inside,
            _ => Context::InString,
        };
        Ok(())
    }

    /// Notes that the current value does not end where it should.
    fn break_off(&mut self, reason: &'static str) -> Result<(), RelineFault> {
        self.context = Context::Broken;
        if self.indent.get().is_some() { Ok(()) } else { Err(self.fault(reason)) }
    }

    fn inside(&mut self, text: &mut [u8], at: usize) -> Result<(), RelineFault> {
        let byte = text[at];
        match byte {
            b'\n' => text[at] = b' ',
            b'"' => (self.context, self.expects_key) = (Context::InString, false),
            b'{' if self.expects_key => {
                // The previous object lacks its end.
                self.break_off("an object begins where a key should stand")?;
                self.broken(text, at);
            }
            b'{' | b'[' => self.open(byte)?,
            b'}' | b']' => {
                let is_right = self.open.pop() == Some(if byte == b'}' { b'{' } else { b'[' });
                self.expects_key = false;
                if !is_right {
                    return self.break_off("a bracket ends what another one began");
                }
                if self.open.is_empty() {
                    self.context = Context::AfterValue;
                }
            }
            b',' => self.expects_key = self.open.last() == Some(&b'{'),
            _ => {}
        }
        Ok(())
    }

    fn open(&mut self, bracket: u8) -> Result<(), RelineFault> {
        if self.open.len() >= LONGEST_LINE {
            return Err(self.fault("more brackets are open than a row has bytes"));
        }
        self.open.push(bracket);
        (self.context, self.expects_key) = (Context::Inside, bracket == b'{');
        Ok(())
    }

    /// Searches for the start of the next object.
    fn broken(&mut self, text: &mut [u8], at: usize) {
        let byte = text[at];
        let indent = self.indent.get().copied();
        let begins_line = self.is_line_start && at > 0;
        if byte == b'\n' {
            text[at] = b' ';
        } else if begins_line && byte == b'{' && indent == Some(self.column) {
            text[at - 1] = b'\n';
            self.open.clear();
            self.open.push(byte);
            (self.context, self.expects_key) = (Context::Inside, true);
        } else if begins_line && byte == b']' && self.in_array && indent.is_some_and(|most| self.column <= most) {
            text[at - 1] = b'\n';
            text[at] = b' ';
            self.end_array();
        }
    }

    /// The current byte is the bracket that ends the array.
    fn end_array(&mut self) {
        self.context = Context::AfterArray;
        self.end.get_or_init(|| self.byte + 1);
    }

    /// Processes bytes between objects.
    fn between(&mut self, text: &mut [u8], at: usize, notes: &mut Notes) -> Result<(), RelineFault> {
        let (byte, in_array) = (text[at], self.in_array);
        let mark = usize::try_from(self.byte).ok().and_then(|byte| BYTE_ORDER_MARK.get(byte));
        if mark == Some(&byte) {
            return Ok(());
        }
        if is_space(byte) {
            let ends_row = self.context == Context::AfterValue && !in_array;
            if ends_row {
                self.context = Context::Between;
            }
            // Any number of blank lines is allowed, and does not count as a long row.
            let is_blank = byte == b'\n' && matches!(self.context, Context::BeforeValue | Context::Between);
            text[at] = if ends_row || (is_blank && !self.is_row_start) { b'\n' } else { b' ' };
            return Ok(());
        }
        match (self.context, byte) {
            (Context::BeforeArray, b'[') => (text[at], self.context) = (b' ', Context::FirstOfArray),
            (Context::FirstOfArray | Context::AfterValue, b']') if in_array => {
                text[at] = b'\n';
                self.end_array();
            }
            (Context::AfterValue, b',') if in_array => (text[at], self.context) = (b'\n', Context::BeforeValue),
            (Context::BeforeValue, b']') => return Err(self.fault("a comma before the end of the array")),
            (Context::AfterArray, _) => return Err(self.fault("text after the end of the array")),
            (Context::AfterValue, _) if in_array => {
                return Err(self.fault("expected `,` or `]` after an object of the array"));
            }
            (Context::AfterValue, b'{') => {
                notes.adjoining.push(self.byte);
                self.value(byte)?;
            }
            _ => self.value(byte)?,
        }
        Ok(())
    }

    /// Begins a value.
    fn value(&mut self, byte: u8) -> Result<(), RelineFault> {
        if self.is_line_start && byte == b'{' {
            self.indent.get_or_init(|| self.column);
        }
        match byte {
            b'{' | b'[' => self.open(byte)?,
            b'"' => self.context = Context::InString,
            _ => self.context = Context::InWord,
        }
        Ok(())
    }
}
