//! The table `rankings` of AMPLab's big data benchmark: the pages visited in `uservisits`.

use super::random::{Random, mix};
use super::web::Letters;
use super::{BLOCK_ROWS, Block, Blocks, Preset, Shape, text};
use brc_core::Result;

pub(super) struct Rankings;

impl Preset for Rankings {
    fn name(&self) -> &'static str {
        "rankings"
    }

    fn about(&self) -> &'static str {
        "the pages of uservisits with the same seed and ten times as many rows: page_url (unique, the most visited first), \
         page_rank (Pareto: at least r with a probability of 1 / r), avg_duration (uniform from 1 to 100)"
    }

    fn table(&self, shape: &Shape) -> Result<Box<dyn Blocks>> {
        Ok(Box::new(Pages { seed: shape.seed, pages: shape.rows.max(1), letters: Letters::new() }))
    }
}

struct Pages {
    seed: u64,
    pages: u64,
    letters: Letters,
}

impl Blocks for Pages {
    fn header(&self) -> &'static str {
        "page_url,page_rank,avg_duration\n"
    }

    fn fill(&self, number: u64, rows: u64, block: &mut Block) {
        let mut random = Random::new(mix(self.seed), number);
        let first = number * BLOCK_ROWS;
        block.write(|out| {
            for page in first..first + rows {
                self.letters.url(self.seed, page, out);
                out.push(b',');
                text::number(self.pages / (1 + random.below(self.pages)), 1, out);
                out.push(b',');
                text::number(1 + random.below(100), 1, out);
                out.push(b'\n');
            }
        });
    }
}
