//! The stations of a generated table: their names, and the mean of what is measured there.

use super::random::Random;
use brc_core::decimal;
use std::collections::HashSet;

/// A station.
pub(crate) struct Station {
    /// Its name: no delimiter, line end or control character.
    pub(super) name: String,
    /// The mean temperature in tenths of a degree.
    pub(super) mean: i16,
}

/// Real cities with their mean temperatures, a line each: `name;mean`.
const CITIES: &str = include_str!("../../data/stations-413.csv");

/// `count` of the real stations, drawn by lot, or all of them in their own order.
pub(crate) fn real(count: usize, seed: u64) -> Vec<Station> {
    let mut stations: Vec<Station> = CITIES.lines().filter_map(city).collect();
    if count < stations.len() {
        let mut random = Random::new(seed, u64::MAX);
        for place in 0..count {
            let chosen = place + random.below((stations.len() - place) as u64) as usize;
            stations.swap(place, chosen);
        }
        stations.truncate(count);
    }
    stations
}

fn city(line: &str) -> Option<Station> {
    let (name, mean) = line.split_once(';')?;
    // One city's mean is given in hundredths.
    let hundredths = decimal::parse(mean.as_bytes(), 2).ok()?;
    Some(Station { name: name.to_owned(), mean: i16::try_from(decimal::mean(hundredths.into(), 10)).ok()? })
}

/// `count` invented stations with distinct names in many scripts.
pub(crate) fn invented(count: usize, seed: u64) -> Vec<Station> {
    let mut random = Random::new(seed, u64::MAX);
    let mut taken = HashSet::with_capacity(count);
    // Lengths of which all names seem to be taken.
    let mut full = [false; LONGEST + 1];
    let mut stations = Vec::with_capacity(count);
    for index in 0..count {
        let mut length = length((index as f64 + 0.5) / count as f64);
        let name = loop {
            if full[length] {
                length += 1;
                continue;
            }
            match (0..TRIES).map(|_| name(length, &mut random)).find(|name| !taken.contains(name)) {
                Some(name) => break name,
                None => full[length] = true,
            }
        };
        taken.insert(name.clone());
        stations.push(Station { name, mean: random.below(451) as i16 - 100 });
    }
    stations
}

/// The longest name in bytes.
const LONGEST: usize = 100;
/// How many names of a length may be taken in a row before no other is looked for.
const TRIES: usize = 64;

/// The length in bytes of the name at a point between 0 and 1 of all names. A curve of the 7th degree: most are short,
/// but every length to [`LONGEST`] occurs, and the mean is about 10.
fn length(point: f64) -> usize {
    let x = point - 0.435;
    let curve = 4.0 + 5277.0 * x * x * x * x * x * x * x;
    (curve.max(1.0) as usize).min(LONGEST)
}

/// A name of exactly that many bytes.
fn name(length: usize, random: &mut Random) -> String {
    let mut lot = random.below(SCRIPTS.iter().map(|script| script.weight).sum());
    let mut script = &SCRIPTS[0];
    for candidate in SCRIPTS {
        script = candidate;
        if lot < candidate.weight {
            break;
        }
        lot -= candidate.weight;
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

/// A range of characters that all take the same number of bytes.
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

/// Stands where a script's letters are too wide for the bytes that are left.
const FILLER: Letters = Letters('a', 'z');

struct Script {
    /// Its share of the names.
    weight: u64,
    first: Letters,
    next: Letters,
}

const SCRIPTS: &[Script] = &[
    Script { weight: 70, first: Letters('A', 'Z'), next: Letters('a', 'z') },
    // Latin with accents, Greek, Cyrillic, Arabic: two bytes a letter.
    Script { weight: 8, first: Letters('À', 'Ö'), next: Letters('à', 'ö') },
    Script { weight: 3, first: Letters('Ά', 'Ώ'), next: Letters('α', 'ω') },
    Script { weight: 7, first: Letters('А', 'Я'), next: Letters('а', 'я') },
    Script { weight: 2, first: Letters('ا', 'غ'), next: Letters('ف', 'ي') },
    // Devanagari, Thai, Hiragana, Han, Hangul: three.
    Script { weight: 2, first: Letters('अ', 'औ'), next: Letters('क', 'ह') },
    Script { weight: 1, first: Letters('ก', 'ฮ'), next: Letters('ก', 'ฮ') },
    Script { weight: 2, first: Letters('あ', 'ん'), next: Letters('あ', 'ん') },
    Script { weight: 3, first: Letters('一', '龥'), next: Letters('一', '龥') },
    Script { weight: 1, first: Letters('가', '힣'), next: Letters('가', '힣') },
    // Rarer Han: four.
    Script { weight: 1, first: Letters('𠀀', '𪛖'), next: Letters('𠀀', '𪛖') },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_stations_are_all_or_some() {
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
