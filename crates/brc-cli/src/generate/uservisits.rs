//! The table `uservisits` of AMPLab's big data benchmark.

use super::random::{Random, Zipf};
use super::web::{Letters, pages};
use super::{Block, Blocks, Preset, Shape, text};
use brc_core::{LogicalType, Result, Value};

pub(super) struct UserVisits;

impl Preset for UserVisits {
    fn name(&self) -> &'static str {
        "uservisits"
    }

    fn about(&self) -> &'static str {
        "AMPLab's big data benchmark, about 160 bytes per row: source_ip (uniform), dest_url (Zipf over a tenth as \
         many pages as rows), visit_date (uniform from 1970 to 2013), ad_revenue (uniform up to 1000.00), user_agent (392 values), \
         country_code and language_code (10 values, the first most likely), search_word (Zipf over 20,000 words), duration \
         (uniform from 1 to 1000)"
    }

    fn table(&self, shape: &Shape) -> Result<Box<dyn Blocks>> {
        let letters = Letters::new();
        let date = |day| Value::Integer(day).to_text(LogicalType::Date).into_bytes();
        let agents =
            AGENTS.iter().flat_map(|agent| (0..98).map(move |version| format!("{agent}{version}").into_bytes()));
        Ok(Box::new(Visits {
            seed: shape.seed,
            pages: Zipf::new(pages(shape.rows)),
            words: Zipf::new(WORDS),
            word_texts: (0..WORDS).map(|word| letters.word(shape.seed, word)).collect(),
            dates: (0..DAYS).map(date).collect(),
            agents: agents.collect(),
            letters,
        }))
    }
}

const WORDS: u64 = 20_000;
const DAYS: i128 = 16_000;
const AGENTS: [&str; 4] = [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML like Gecko) Chrome/",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 14.2) Gecko/20100101 Firefox/",
    "Opera/9.80 (X11; Linux x86_64) Presto/2.12.",
    "curl/7.",
];
const COUNTRIES: [&str; 10] = [
    "USA,en-US",
    "DEU,de-DE",
    "CHN,zh-CN",
    "BRA,pt-BR",
    "FRA,fr-FR",
    "JPN,ja-JP",
    "IND,hi-IN",
    "GBR,en-GB",
    "ITA,it-IT",
    "ESP,es-ES",
];

struct Visits {
    seed: u64,
    pages: Zipf,
    words: Zipf,
    word_texts: Vec<Vec<u8>>,
    dates: Vec<Vec<u8>>,
    agents: Vec<Vec<u8>>,
    letters: Letters,
}

impl Blocks for Visits {
    fn header(&self) -> &'static str {
        "source_ip,dest_url,visit_date,ad_revenue,user_agent,country_code,language_code,search_word,duration\n"
    }

    fn fill(&self, number: u64, rows: u64, block: &mut Block) {
        let mut random = Random::new(self.seed, number);
        block.write(|out| (0..rows).for_each(|_| self.row(&mut random, out)));
    }
}

impl Visits {
    #[inline]
    fn row(&self, random: &mut Random, out: &mut Vec<u8>) {
        let ip = random.next().to_le_bytes();
        for (index, octet) in ip[..4].iter().enumerate() {
            text::number(u64::from(*octet), 1, out);
            out.push(if index < 3 { b'.' } else { b',' });
        }
        self.letters.url(self.seed, self.pages.draw(random), out);
        out.push(b',');
        out.extend_from_slice(&self.dates[random.below(self.dates.len() as u64) as usize]);
        out.push(b',');
        text::hundredths(random.below(100_001), out);
        out.push(b',');
        out.extend_from_slice(&self.agents[random.below(self.agents.len() as u64) as usize]);
        out.push(b',');
        // The square of a fraction, so that the first values are more likely.
        let fraction = random.next() >> 32;
        out.extend_from_slice(COUNTRIES[((((fraction * fraction) >> 32) * 10) >> 32) as usize].as_bytes());
        out.push(b',');
        out.extend_from_slice(&self.word_texts[self.words.draw(random) as usize]);
        out.push(b',');
        text::number(1 + random.below(1000), 1, out);
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::super::{generated, rankings::Rankings};
    use super::*;
    use std::collections::{HashMap, HashSet};

    #[test]
    fn values_are_distributed_as_described() {
        let visits = generated(&UserVisits, &Shape { rows: 40_000, seed: 3, ..Shape::default() });
        assert_eq!(
            (visits.len(), visits[0].join(",")),
            (
                40_001,
                "source_ip,dest_url,visit_date,ad_revenue,user_agent,\
            country_code,language_code,search_word,duration"
                    .to_owned()
            )
        );
        let mut counts: Vec<HashMap<&str, usize>> = vec![HashMap::new(); 9];
        for row in &visits[1..] {
            assert_eq!(row.len(), 9, "{row:?}");
            counts.iter_mut().zip(row).for_each(|(counts, value)| *counts.entry(value).or_default() += 1);
        }
        let most = |column: usize| counts[column].values().max().unwrap();
        assert!(counts[0].len() > 39_900 && (3000..=4000).contains(&counts[1].len()), "{}", counts[1].len());
        // One of H(4000) visits goes to the most popular page, and one of H(20000) searches for the most popular word.
        assert!((4200..4900).contains(most(1)) && (3500..4100).contains(most(7)), "{} {}", most(1), most(7));
        assert!(counts[2].len() > 13_000 && counts[2].keys().all(|date| ("1970-01-01".."2013-10-23").contains(date)));
        assert_eq!((counts[4].len(), counts[5].len(), counts[6].len(), counts[8].len()), (392, 10, 10, 1000));
        assert!((12_000..13_300).contains(&counts[5]["USA"]), "{}", counts[5]["USA"]);
        let bytes: usize = visits.iter().flatten().map(|value| value.len() + 1).sum();
        assert!((150..170).contains(&(bytes / visits.len())), "{}", bytes / visits.len());

        let ranked = generated(&Rankings, &Shape { rows: 4000, seed: 3, ..Shape::default() });
        let urls: HashSet<&str> = ranked.iter().map(|row| row[0].as_str()).collect();
        assert!(counts[1].keys().all(|url| urls.contains(url)) && urls.len() == 4001);
    }
}
