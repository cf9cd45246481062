//! A compression with a level, as users choose it.

use crate::{COMPRESSIONS, Compression, by_name};
use std::fmt;

/// A compression at a level.
#[derive(Clone, Copy)]
pub struct Compressor {
    /// The compression.
    pub compression: &'static dyn Compression,
    /// The level; 0 if the compression has none.
    pub level: i32,
}

/// Why a text is not a compressor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompressorError {
    /// There is no compression with this name.
    #[error("unknown compression '{0}' ({names})", names = names())]
    Name(String),
    /// The level is not a number, or not a level of the compression.
    #[error("'{level}' is not a level of {name}, which has {levels}")]
    Level {
        /// The compression's name.
        name: &'static str,
        /// The requested level.
        level: String,
        /// The supported levels.
        levels: String,
    },
}

impl Compressor {
    /// A compression at its default level.
    #[must_use]
    pub fn of(compression: &'static dyn Compression) -> Self {
        Self { compression, level: compression.levels().map_or(0, |levels| levels.usual) }
    }

    /// No compression.
    #[must_use]
    pub fn none() -> Self {
        Self::of(&crate::none::None)
    }

    /// Parses `name` or `name:level`, the format of [`fmt::Display`].
    ///
    /// # Errors
    /// If there is no such compression or level.
    pub fn parse(text: &str) -> Result<Self, CompressorError> {
        let (name, level) = text.split_once(':').map_or((text, None), |(name, level)| (name, Some(level)));
        let compression = by_name(name).ok_or_else(|| CompressorError::Name(name.to_owned()))?;
        let Some(text) = level else { return Ok(Self::of(compression)) };
        let levels = compression.levels();
        let fits = |level: &i32| levels.is_some_and(|levels| (levels.lowest..=levels.highest).contains(level));
        match text.parse().ok().filter(fits) {
            Some(level) => Ok(Self { compression, level }),
            None => {
                let levels = levels.map_or_else(
                    || "none".to_owned(),
                    |levels| format!("{} to {}, usually {}", levels.lowest, levels.highest, levels.usual),
                );
                Err(CompressorError::Level { name: compression.name(), level: text.to_owned(), levels })
            }
        }
    }

    /// Whether it is no compression.
    #[must_use]
    pub fn is_none(self) -> bool {
        self.compression.id() == 0
    }

    /// The fastest compressor that compresses this sample about as well: a shortcut, or `self`.
    #[must_use]
    pub fn suited_to(self, sample: &[u8]) -> Self {
        let shortcuts = self.compression.shortcuts(self.level);
        if shortcuts.is_empty() {
            return self;
        }
        let levels = shortcuts.iter().copied().chain([self.level]);
        let mut packed = Vec::new();
        let sizes: Vec<_> = levels
            .map(|level| {
                packed.clear();
                self.compression.compress(level, sample, &mut packed);
                (level, packed.len())
            })
            .collect();
        let least = sizes.iter().map(|(_, size)| *size).min().unwrap_or(0);
        let level =
            sizes.into_iter().find(|(_, size)| *size <= least + least / 100).map_or(self.level, |(level, _)| level);
        Self { level, ..self }
    }

    /// Appends the compressed form of `input` to `output`.
    pub fn compress(self, input: &[u8], output: &mut Vec<u8>) {
        self.compression.compress(self.level, input, output);
    }
}

impl fmt::Display for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.compression.name())?;
        match self.compression.levels() {
            Some(levels) if levels.usual != self.level => write!(f, ":{}", self.level),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Compressor({self})")
    }
}

impl PartialEq for Compressor {
    fn eq(&self, other: &Self) -> bool {
        self.compression.id() == other.compression.id() && self.level == other.level
    }
}

fn names() -> String {
    let names: Vec<_> = COMPRESSIONS.iter().map(|compression| compression.name()).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_round_trips() {
        for compression in COMPRESSIONS {
            let name = compression.name();
            assert_eq!(Compressor::parse(name).unwrap().to_string(), name);
            assert!(Compressor::parse(&format!("{name}:x")).is_err());
            assert!(Compressor::parse(&format!("{name}:1000")).is_err());
            let Some(levels) = compression.levels() else { continue };
            for level in levels.lowest..=levels.highest {
                let compressor = Compressor::parse(&format!("{name}:{level}")).unwrap();
                assert_eq!(compressor.level, level);
                assert_eq!(Compressor::parse(&compressor.to_string()).unwrap(), compressor);
            }
        }
        assert_eq!(Compressor::parse("zip").unwrap_err(), CompressorError::Name("zip".to_owned()));
    }

    #[test]
    #[cfg(feature = "zstd")]
    fn shortcuts_compress_as_well() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        let digits: String = (0..2000).map(|_| random().to_string()).collect();
        let words = ["quick", "deposits", "furiously", "sleep", "above the", "regular", "accounts", "pending"];
        let text: String = (0..2000).map(|_| words[random() as usize % words.len()]).collect();
        for (level, has_shortcuts) in [("zstd", true), ("zstd:1", true), ("zstd:9", false)] {
            let compressor = Compressor::parse(level).unwrap();
            assert_eq!(compressor.suited_to(digits.as_bytes()) != compressor, has_shortcuts, "{level}");
            for content in [digits.as_bytes(), text.as_bytes()] {
                let [suited, own] = [compressor.suited_to(content), compressor].map(|compressor| {
                    let mut packed = Vec::new();
                    compressor.compress(content, &mut packed);
                    let mut unpacked = vec![0; content.len()];
                    compressor.compression.decompress(&packed, &mut unpacked).unwrap();
                    assert_eq!(unpacked, content);
                    packed.len()
                });
                assert!(suited <= own + own / 100, "{level}: {suited} {own}");
            }
        }
        assert_eq!(Compressor::none().suited_to(b"some"), Compressor::none());
    }
}
