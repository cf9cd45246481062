//! The table `G1` of h2o's db-benchmark, for its group-by queries.

use super::random::{Random, mix};
use super::{BLOCK_ROWS, Block, Blocks, Preset, Shape, text};
use brc_core::{Error, Result};

pub(super) struct G1;

impl Preset for G1 {
    fn name(&self) -> &'static str {
        "g1"
    }

    fn about(&self) -> &'static str {
        "h2o's db-benchmark, uniformly distributed: id1, id2 (strings), id4 and id5 (numbers) with --groups distinct \
         values, id3 (strings) and id6 (numbers) with rows / --groups; v1 from 1 to 5, v2 from 1 to 15, v3 from 0 to 100 \
         with six decimals. --nulls makes that percentage of the ids, and of the rows of v1 to v3, null; --sorted sorts \
         by id1 to id6"
    }

    fn options(&self) -> &'static [&'static str] {
        &["groups", "nulls", "sorted"]
    }

    fn table(&self, shape: &Shape) -> Result<Box<dyn Blocks>> {
        let (groups, nulls) = (shape.groups.unwrap_or(100), shape.nulls.unwrap_or(0));
        if groups == 0 || groups > u64::from(u32::MAX) {
            return Err(Error::Usage("--groups must be between 1 and 4294967295".to_owned()));
        }
        if nulls > 100 {
            return Err(Error::Usage("--nulls is a percentage from 0 to 100".to_owned()));
        }
        if shape.sorted && nulls > 0 {
            return Err(Error::Usage("--sorted cannot be combined with --nulls".to_owned()));
        }
        let rare = (shape.rows / groups).max(1);
        Ok(Box::new(Rows { seed: shape.seed, rows: shape.rows, groups, rare, nulls, sorted: shape.sorted }))
    }
}

struct Rows {
    seed: u64,
    rows: u64,
    groups: u64,
    /// The number of distinct values of id3 and id6.
    rare: u64,
    nulls: u64,
    sorted: bool,
}

/// The values of id1 to id6, each starting from 0.
type Ids = [u64; 6];

impl Blocks for Rows {
    fn header(&self) -> &'static str {
        "id1,id2,id3,id4,id5,id6,v1,v2,v3\n"
    }

    fn fill(&self, number: u64, rows: u64, block: &mut Block) {
        let mut random = Random::new(self.seed, number);
        block.write(|out| {
            if self.sorted {
                let mut ids: Vec<Ids> = (0..rows).map(|_| self.ids_between(number, rows, &mut random)).collect();
                ids.sort_unstable();
                ids.iter().for_each(|ids| self.row(ids, &mut random, out));
            } else {
                (0..rows).for_each(|_| self.row(&self.ids(&mut random), &mut random, out));
            }
        });
    }
}

impl Rows {
    fn ids(&self, random: &mut Random) -> Ids {
        [self.groups, self.groups, self.rare, self.groups, self.groups, self.rare].map(|values| random.below(values))
    }

    /// Draws the ids of a row of a sorted table. All triples of the first three ids are divided into ranges, one per
    /// block.
    fn ids_between(&self, number: u64, rows: u64, random: &mut Random) -> Ids {
        let [groups, rare] = [self.groups, self.rare].map(u128::from);
        let triples = groups * groups * rare;
        let bound = |row: u64| triples * u128::from(row) / u128::from(self.rows);
        let (first, end) = (bound(number * BLOCK_ROWS), bound(number * BLOCK_ROWS + rows));
        let fraction = u128::from(random.next());
        let triple = first + (((end - first).max(1) * fraction) >> 64);
        let [_, _, _, id4, id5, id6] = self.ids(random);
        let pair = triple / rare;
        [(pair / groups) as u64, (pair % groups) as u64, (triple % rare) as u64, id4, id5, id6]
    }

    #[inline]
    fn row(&self, ids: &Ids, random: &mut Random, out: &mut Vec<u8>) {
        for (column, &id) in ids.iter().enumerate() {
            let is_null = self.nulls > 0 && mix(mix(self.seed ^ column as u64) ^ id) % 100 < self.nulls;
            if !is_null {
                let width = [3, 3, 10, 1, 1, 1][column];
                out.extend_from_slice(if column < 3 { b"id" } else { b"" });
                text::number(1 + id, width, out);
            }
            out.push(b',');
        }
        for (below, end) in [(5, b','), (15, b',')] {
            if !self.is_null(random) {
                text::number(1 + random.below(below), 1, out);
            }
            out.push(end);
        }
        if !self.is_null(random) {
            text::millionths(random.below(100_000_001), out);
        }
        out.push(b'\n');
    }

    #[inline]
    fn is_null(&self, random: &mut Random) -> bool {
        self.nulls > 0 && random.below(100) < self.nulls
    }
}

#[cfg(test)]
mod tests {
    use super::super::generated;
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ids_have_the_requested_number_of_values() {
        let table = generated(&G1, &Shape { rows: 50_000, seed: 1, groups: Some(20), ..Shape::default() });
        assert_eq!((table.len(), table[0].join(",")), (50_001, "id1,id2,id3,id4,id5,id6,v1,v2,v3".to_owned()));
        let distinct = |column: usize| table[1..].iter().map(|row| &row[column]).collect::<HashSet<_>>().len();
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(distinct), [20, 20, 2500, 20, 20, 2500, 5, 15]);
        assert!(
            table[1..].iter().all(|row| row[0].len() == 5 && row[2].len() == 12 && row.len() == 9),
            "{:?}",
            table[1]
        );
        assert!(table[1..].iter().all(|row| row[8].parse::<f64>().unwrap() <= 100.0));
    }

    #[test]
    fn nulls_are_a_percentage() {
        let table =
            generated(&G1, &Shape { rows: 50_000, seed: 1, groups: Some(1000), nulls: Some(10), ..Shape::default() });
        for column in 0..9 {
            let nulls = table[1..].iter().filter(|row| row[column].is_empty()).count();
            assert!((2000..8500).contains(&nulls), "{column}: {nulls}");
        }
    }

    #[test]
    fn sorted_rows_are_sorted() {
        for (rows, groups) in [(50_000, 20), (40_000, 1000), (100, 100), (20_000, 1)] {
            let table =
                generated(&G1, &Shape { rows, seed: 1, groups: Some(groups), sorted: true, ..Shape::default() });
            let ids = |row: &Vec<String>| {
                let number = |text: &String| text.trim_start_matches("id").parse::<u64>().unwrap();
                row[..6].iter().map(number).collect::<Vec<_>>()
            };
            assert!(table[1..].windows(2).all(|pair| ids(&pair[0]) <= ids(&pair[1])), "{rows} {groups}");
            let first: HashSet<&String> = table[1..].iter().map(|row| &row[0]).collect();
            assert!(first.len() as u64 > groups / 2);
        }
    }
}
