//! The stations of a generated table: their names and mean temperatures.

use super::random::Random;
use brc_core::decimal;
use std::collections::HashSet;

/// A station.
pub(crate) struct Station {
    /// The name, without delimiters, line ends and control characters.
    pub(super) name: String,
    /// The mean temperature in tenths of a degree.
    pub(super) mean: i16,
}

/// Real cities with their mean temperatures, one `name;mean` per line.
const CITIES: &str = include_str!("../../data/stations-413.csv");

/// A random choice of `count` real stations, or all of them in their original order.
pub(crate) fn real(count: usize, seed: u64) -> Vec<Station> {
    let mut stations: Vec<Station> = CITIES.lines().filter_map(city).collect();
    if count < stations.len() {
        let mut random = Random::new(seed, u64::MAX);
        for index in 0..count {
            let chosen = index + random.below((stations.len() - index) as u64) as usize;
            stations.swap(index, chosen);
        }
        stations.truncate(count);
    }
    stations
}

fn city(line: &str) -> Option<Station> {
    let (name, mean) = line.split_once(';')?;
    // The mean of one city has two decimals.
    let hundredths = decimal::parse(mean.as_bytes(), 2).ok()?;
    Some(Station { name: name.to_owned(), mean: i16::try_from(decimal::mean(hundredths.into(), 10)).ok()? })
}

/// `count` invented stations with distinct names in many scripts.
pub(crate) fn invented(count: usize, seed: u64) -> Vec<Station> {
    let mut random = Random::new(seed, u64::MAX);
    let mut taken = HashSet::with_capacity(count);
    // Lengths for which no unused name was found.
    let mut full = [false; MAX_LENGTH + 1];
    let mut stations = Vec::with_capacity(count);
    for index in 0..count {
        let mut length = length((index as f64 + 0.5) / count as f64);
        let name = loop {
            if full[length] {
                length += 1;
                continue;
            }
            match (0..MAX_ATTEMPTS).map(|_| name(length, &mut random)).find(|name| !taken.contains(name)) {
                Some(name) => break name,
                None => full[length] = true,
            }
        };
        taken.insert(name.clone());
        stations.push(Station { name, mean: random.below(451) as i16 - 100 });
    }
    stations
}

/// The length of the longest names in bytes.
const MAX_LENGTH: usize = 100;
/// The number of attempts to find an unused name of a length.
const MAX_ATTEMPTS: usize = 64;

/// The length in bytes of the name at quantile `point` (0 to 1). A polynomial of degree 7: most names are short, but
/// every length up to [`MAX_LENGTH`] occurs, and the mean is about 10.
fn length(point: f64) -> usize {
    let x = point - 0.435;
    let curve = 4.0 + 5277.0 * x * x * x * x * x * x * x;
    (curve.max(1.0) as usize).min(MAX_LENGTH)
}

/// A name of exactly `length` bytes.
fn name(length: usize, random: &mut Random) -> String {
    let mut ticket = random.below(SCRIPTS.iter().map(|script| script.weight).sum());
    let mut script = &SCRIPTS[0];
    for candidate in SCRIPTS {
        script = candidate;
        if ticket < candidate.weight {
            break;
        }
        ticket -= candidate.weight;
    }
    let mut name = String::with_capacity(length);
    while name.len() < length {
        let left = length - name.len();
        let next = if name.is_empty() { script.first } else { script.next };
        if !name.is_empty() && left > 4 && !name.ends_with(' ') && random.below(10) == 0 {
            name.push(' ');
        } else if next.width() <= left {
            name.push(next.draw(random));
        } else {
            name.push(FILLER.draw(random));
        }
    }
    name
}

/// A range of characters with the same UTF-8 length.
#[derive(Clone, Copy)]
struct Letters(char, char);

impl Letters {
    fn width(self) -> usize {
        self.1.len_utf8()
    }

    fn draw(self, random: &mut Random) -> char {
        let offset = random.below(u64::from(self.1) - u64::from(self.0) + 1) as u32;
        char::from_u32(u32::from(self.0) + offset).unwrap_or(self.0)
    }
}

/// Used where the letters of the script are too wide for the remaining bytes.
const FILLER: Letters = Letters('a', 'z');

struct Script {
    /// The relative frequency of names in this script.
    weight: u64,
    first: Letters,
    next: Letters,
}

const SCRIPTS: &[Script] = &[
    Script { weight: 70, first: Letters('A', 'Z'), next: Letters('a', 'z') },
    // Two bytes per letter: accented Latin, Greek, Cyrillic, Arabic.
    Script { weight: 8, first: Letters('À', 'Ö'), next: Letters('à', 'ö') },
    Script { weight: 3, first: Letters('Ά', 'Ώ'), next: Letters('α', 'ω') },
    Script { weight: 7, first: Letters('А', 'Я'), next: Letters('а', 'я') },
    Script { weight: 2, first: Letters('ا', 'غ'), next: Letters('ف', 'ي') },
    // Three bytes per letter: Devanagari, Thai, Hiragana, Han, Hangul.
    Script { weight: 2, first: Letters('अ', 'औ'), next: Letters('क', 'ह') },
    Script { weight: 1, first: Letters('ก', 'ฮ'), next: Letters('ก', 'ฮ') },
    Script { weight: 2, first: Letters('あ', 'ん'), next: Letters('あ', 'ん') },
    Script { weight: 3, first: Letters('一', '龥'), next: Letters('一', '龥') },
    Script { weight: 1, first: Letters('가', '힣'), next: Letters('가', '힣') },
    // Four bytes per letter: rare Han characters.
    Script { weight: 1, first: Letters('𠀀', '𪛖'), next: Letters('𠀀', '𪛖') },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_stations_are_all_or_a_random_choice() {
        let all = real(413, 1);
        assert_eq!((all.len(), CITIES.lines().count()), (413, 413));
        assert_eq!((all[0].name.as_str(), all[0].mean), ("Abha", 180));
        let some: HashSet<String> = real(50, 1).into_iter().map(|station| station.name).collect();
        assert_eq!(some.len(), 50);
        assert!(some.iter().all(|name| all.iter().any(|station| station.name == *name)));
        assert!(real(50, 2).iter().any(|station| !some.contains(&station.name)));
    }

    #[test]
    fn invented_names_are_distinct_and_of_every_length() {
        let stations = invented(10_000, 0);
        let names: HashSet<&str> = stations.iter().map(|station| station.name.as_str()).collect();
        assert_eq!(names.len(), 10_000);
        let lengths: HashSet<usize> = names.iter().map(|name| name.len()).collect();
        assert_eq!(lengths, (1..=100).collect());
        let mean = names.iter().map(|name| name.len()).sum::<usize>() as f64 / 10_000.0;
        assert!((9.0..11.5).contains(&mean), "{mean}");
        for name in names {
            assert!(!name.contains([';', '\n', '\r', '\0']) && name.trim() == name, "{name:?}");
        }
        assert!(stations.iter().all(|station| (-100..=350).contains(&station.mean)));
    }

    #[test]
    fn any_number_of_stations_can_be_invented() {
        for count in [1, 2, 60, 100_000] {
            assert_eq!(invented(count, 3).len(), count);
        }
    }
}
