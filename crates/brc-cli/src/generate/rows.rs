//! Writes rows at the speed of memory: names and numbers are copied from tables of formatted text.

use super::names::Station;
use super::random::{Normal, Random};
use super::{BLOCK_ROWS, Block, Blocks};

/// Generates blocks of rows.
pub(crate) struct Rows {
    seed: u64,
    stations: Vec<Entry>,
    /// Names with their delimiter that do not fit an entry, at the index of their station.
    long_names: Vec<Box<[u8]>>,
    /// The text of each temperature, starting from [`LOWEST`]; temperatures out of range are clamped.
    numbers: Box<[Number; NUMBERS]>,
    deviations: Normal,
    longest_row: usize,
}

/// The text of a station, copied as a whole whatever its length.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Entry {
    /// The name with its delimiter.
    text: [u8; ENTRY_TEXT],
    /// The length of the text; 0 if it is too long for an entry.
    length: u8,
    mean: i16,
}

const ENTRY_TEXT: usize = 28;

/// A number with its line end.
#[derive(Clone, Copy)]
struct Number {
    /// The text, padding zeros, and the length of the text in the last byte; copied as one word.
    word: [u8; 8],
}

impl Number {
    fn length(&self) -> usize {
        usize::from(self.word[7])
    }
}

/// The largest temperature in tenths of a degree; the smallest is its negative.
const HOTTEST: i16 = 999;

/// The number of temperatures before clamping: a mean plus a deviation.
const NUMBERS: usize = 4096;
const LOWEST: i16 = -(NUMBERS as i16 / 2);

impl Rows {
    /// Rows of the given stations; `deviation` is the standard deviation of temperatures in tenths of a degree.
    pub(crate) fn new(seed: u64, stations: &[Station], deviation: u16) -> Self {
        let longest_name = stations.iter().map(|station| station.name.len()).max().unwrap_or(0);
        Self {
            seed,
            stations: stations.iter().map(entry).collect(),
            long_names: stations.iter().map(long_name).collect(),
            numbers: Box::new(std::array::from_fn(|index| number(LOWEST + index as i16))),
            deviations: Normal::new(deviation),
            longest_row: longest_name + 1 + size_of::<Number>(),
        }
    }

    /// Writes one row and returns its length.
    #[inline(always)]
    fn row(&self, random: u64, out: &mut [u8]) -> usize {
        let station = (((random >> 32) * self.stations.len() as u64) >> 32) as usize;
        let entry = &self.stations[station];
        let tenths = entry.mean + self.deviations.pick(random as u32);
        let number = &self.numbers[(tenths - LOWEST) as usize % NUMBERS];
        let length = usize::from(entry.length) % (ENTRY_TEXT + 4);
        match out.first_chunk_mut::<CHUNK>() {
            Some(chunk) if length > 0 => {
                chunk[..ENTRY_TEXT].copy_from_slice(&entry.text);
                chunk[length..length + 8].copy_from_slice(&number.word);
                length + number.length()
            }
            _ => self.long_row(station, number, out),
        }
    }

    #[cold]
    fn long_row(&self, station: usize, number: &Number, out: &mut [u8]) -> usize {
        let name = &self.long_names[station];
        out[..name.len()].copy_from_slice(name);
        out[name.len()..name.len() + 8].copy_from_slice(&number.word);
        name.len() + number.length()
    }
}

impl Blocks for Rows {
    fn header(&self) -> &'static str {
        ""
    }

    fn fill(&self, number: u64, rows: u64, block: &mut Block) {
        // Rows are written in chunks of fixed size, which may reach beyond the end of a row.
        let room = self.longest_row * BLOCK_ROWS as usize + CHUNK;
        if block.buffer.len() != room {
            block.buffer = vec![0; room];
        }
        let mut random = Random::new(self.seed, number);
        let mut end = 0;
        for _ in 0..rows {
            end += self.row(random.next(), &mut block.buffer[end..]);
        }
        block.length = end;
    }
}

/// The number of bytes that a row of an [`Entry`] may write.
const CHUNK: usize = 64;

fn with_separator(station: &Station) -> impl Iterator<Item = u8> {
    station.name.bytes().chain(*b";")
}

fn entry(station: &Station) -> Entry {
    let mut entry = Entry { text: [0; ENTRY_TEXT], length: 0, mean: station.mean };
    if station.name.len() < ENTRY_TEXT {
        for (target, byte) in entry.text.iter_mut().zip(with_separator(station)) {
            *target = byte;
        }
        entry.length = station.name.len() as u8 + 1;
    }
    entry
}

fn long_name(station: &Station) -> Box<[u8]> {
    if station.name.len() < ENTRY_TEXT { Box::default() } else { with_separator(station).collect() }
}

fn number(tenths: i16) -> Number {
    let mut line = Vec::new();
    brc_core::decimal::format(i128::from(tenths.clamp(-HOTTEST, HOTTEST)), 1, &mut line);
    line.push(b'\n');
    let mut word = [0; 8];
    word[..line.len()].copy_from_slice(&line);
    word[7] = line.len() as u8;
    Number { word }
}

#[cfg(test)]
mod tests {
    use super::super::names;
    use super::*;

    fn text(rows: &Rows, block: u64, count: u64) -> String {
        let mut bytes = Block::default();
        rows.fill(block, count, &mut bytes);
        String::from_utf8(bytes.as_ref().to_vec()).unwrap()
    }

    #[test]
    fn rows_match_their_stations() {
        for stations in [names::real(413, 0), names::invented(1000, 0)] {
            let rows = Rows::new(7, &stations, 100);
            let text = text(&rows, 3, BLOCK_ROWS);
            assert_eq!(text.lines().count() as u64, BLOCK_ROWS);
            for line in text.lines() {
                let (name, number) = line.split_once(';').unwrap();
                let station = stations.iter().find(|station| station.name == name).unwrap();
                let tenths = brc_core::decimal::parse(number.as_bytes(), 1).unwrap();
                assert_eq!(brc_core::decimal::to_string(i128::from(tenths), 1), number);
                assert!((tenths - i64::from(station.mean)).abs() < 700 || tenths.abs() == 999, "{line}");
            }
        }
    }

    #[test]
    fn a_short_block_is_the_start_of_the_whole_one() {
        let rows = Rows::new(7, &names::real(413, 0), 100);
        let whole = text(&rows, 0, BLOCK_ROWS);
        assert!(whole.starts_with(&text(&rows, 0, 100)));
        assert_ne!(whole, text(&rows, 1, BLOCK_ROWS));
        assert_eq!(text(&rows, 0, 0), "");
    }

    #[test]
    fn mean_and_deviation_are_as_requested() {
        let stations = names::real(1, 0);
        let text = text(&Rows::new(1, &stations, 100), 0, BLOCK_ROWS);
        let tenths = |line: &str| brc_core::decimal::parse(line.split_once(';').unwrap().1.as_bytes(), 1).unwrap();
        let values: Vec<f64> = text.lines().map(|line| tenths(line) as f64).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64;
        assert!((mean - f64::from(stations[0].mean)).abs() < 3.0, "{mean}");
        assert!((variance.sqrt() - 100.0).abs() < 3.0, "{variance}");
    }

    #[test]
    fn temperatures_are_clamped() {
        let stations = [Station { name: "Oven".into(), mean: 990 }, Station { name: "Ice".into(), mean: -990 }];
        let text = text(&Rows::new(1, &stations, 100), 0, BLOCK_ROWS);
        assert!(text.contains("Oven;99.9\n") && text.contains("Ice;-99.9\n"));
        assert!(!text.contains("-0.0") && text.lines().all(|line| line.len() <= 10));
    }
}
