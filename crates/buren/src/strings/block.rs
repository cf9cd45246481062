//! One block of strings: which scheme stores it, what its values have in common, and what the scheme stored.

use super::buffers::StringBuffer;
use super::sample::sample;
use super::schemes::{self, Input, Plan, SCHEMES, Scheme, Stored};
use super::template::Template;
use super::{Malformed, Numbers, Scratch, Strings, Tokenizer, Tokens, train};
use std::ops::Range;
use std::sync::Arc;

/// A scheme that can store some strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Its name.
    pub scheme: &'static str,
    /// The bytes it needs; an estimate where values are cut into tokens.
    pub bytes: u64,
}

/// Which scheme stores some strings, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The scheme taken.
    pub scheme: &'static str,
    /// All schemes that can store the strings, the one taken among them.
    pub candidates: Vec<Candidate>,
}

/// Appends a block of strings, in the scheme that needs the fewest bytes; of those that need at most 3 % more, in the one
/// that is decoded fastest.
pub fn encode(values: Strings<'_>, tokenizer: Option<&Tokenizer>, out: &mut Vec<u8>) -> Choice {
    let prepared = Prepared::new(values, tokenizer);
    let plans = prepared.plans();
    let choice = choose(&plans);
    if let Some((scheme, plan)) = plans.iter().find(|(scheme, _)| scheme.name() == choice.scheme) {
        let template = if scheme.whole() { &Template::none() } else { &prepared.template };
        out.push(scheme.id());
        template.write(out);
        scheme.encode(prepared.input(*scheme), plan, out);
    }
    choice
}

/// How small the strings of a column get when each row has its own, and with which tokens.
pub struct Estimate {
    /// The bytes of all blocks and of the tokens. As a dictionary the column needs the bytes of its distinct values, and
    /// those of a code for each row.
    pub bytes: u64,
    /// Tokens to encode the blocks with, if these make them smaller.
    pub tokenizer: Option<Arc<Tokenizer>>,
    /// The schemes, with the bytes that the whole column would need.
    pub choice: Choice,
    /// The bytes of all values as they are.
    total: usize,
}

/// Tokens of other strings that may be like these.
#[derive(Clone)]
pub struct KnownTokens {
    tokenizer: Arc<Tokenizer>,
    /// What was left of a byte of those strings.
    share: f64,
}

/// A rough estimate of the bytes that values need: where they lie as they are, tokens are taken to halve them.
#[must_use]
pub fn untrained_bytes(values: Strings<'_>) -> u64 {
    let choice = choose(&Prepared::new(values, None).plans());
    choice.bytes() / if choice.scheme == "plain" { 2 } else { 1 }
}

/// Estimates from a sample how small strings get, and finds tokens for them if these make them smaller. Tokens that are
/// `known` are taken where they do for these strings about what they did for those they were found for.
#[must_use]
pub fn estimate(values: Strings<'_>, known: Option<&KnownTokens>) -> Estimate {
    const SAMPLE: usize = 64 << 10;
    /// How much less they may do.
    const WORSE: f64 = 1.02;
    let sampled = sample(values, SAMPLE);
    let sampled = sampled.strings();
    let scale = |bytes: u64| match sampled.total_bytes() {
        0 => bytes,
        sampled => (bytes as f64 * values.total_bytes() as f64 / sampled as f64) as u64,
    };
    let estimate = |tokenizer: Option<&Tokenizer>| {
        let mut choice = choose(&Prepared::new(sampled, tokenizer).plans());
        choice.candidates.iter_mut().for_each(|candidate| candidate.bytes = scale(candidate.bytes));
        choice
    };
    let choice = estimate(None);
    let bytes = choice.bytes();
    // Addresses and numbers have next to nothing in common that tokens could save.
    if matches!(choice.scheme, "plain" | "symbols") {
        let total = values.total_bytes();
        let with = |tokenizer: Arc<Tokenizer>| {
            let choice = estimate(Some(&tokenizer));
            let all = choice.bytes() + tokenizer.tokens().stored_bytes() as u64;
            let pays = choice.scheme == "tokens" && all < bytes - bytes / 32;
            pays.then_some(Estimate { bytes: all, tokenizer: Some(tokenizer), choice, total })
        };
        let known = known.and_then(|known| {
            with(Arc::clone(&known.tokenizer)).filter(|estimate| estimate.share() <= known.share * WORSE)
        });
        if let Some(with_tokens) = known.or_else(|| with(Arc::new(train(values)))) {
            return with_tokens;
        }
    }
    Estimate { bytes, tokenizer: None, choice, total: values.total_bytes() }
}

impl Estimate {
    /// What is left of a byte.
    fn share(&self) -> f64 {
        self.choice.bytes() as f64 / self.total.max(1) as f64
    }

    /// The tokens, for other strings.
    #[must_use]
    pub fn tokens(&self) -> Option<KnownTokens> {
        Some(KnownTokens { tokenizer: Arc::clone(self.tokenizer.as_ref()?), share: self.share() })
    }
}

impl Choice {
    /// The bytes of the scheme taken.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.candidates.iter().find(|candidate| candidate.scheme == self.scheme).map_or(0, |taken| taken.bytes)
    }
}

fn choose(plans: &[(&'static dyn Scheme, Plan)]) -> Choice {
    let smallest = plans.iter().map(|(_, plan)| plan.bytes).min().unwrap_or(0);
    let near = plans.iter().filter(|(_, plan)| plan.bytes <= smallest + smallest / 32);
    let taken = near.min_by_key(|(scheme, plan)| (scheme.cost(), plan.bytes));
    let candidates = plans.iter().map(|(scheme, plan)| Candidate { scheme: scheme.name(), bytes: plan.bytes });
    Choice { scheme: taken.map_or("plain", |(scheme, _)| scheme.name()), candidates: candidates.collect() }
}

/// The strings of one block on their way into it.
struct Prepared<'a> {
    whole: Strings<'a>,
    template: Template,
    /// The values without what they have in common, if that is anything.
    left: Option<StringBuffer>,
    tokenizer: Option<&'a Tokenizer>,
}

impl<'a> Prepared<'a> {
    fn new(whole: Strings<'a>, tokenizer: Option<&'a Tokenizer>) -> Self {
        // Places in common serve values of few symbols; words are better left in one piece.
        let places = Template::of_places(whole).filter(|template| !template.is_none());
        let places = places.map(|template| (template.strip(whole), template));
        let (left, template) = match places.filter(|(left, _)| schemes::few_symbols(left.strings())) {
            Some((left, template)) => (Some(left), template),
            None => {
                let template = Template::of_affixes(whole);
                ((!template.is_none()).then(|| template.strip(whole)), template)
            }
        };
        Self { whole, template, left, tokenizer }
    }

    /// What a scheme has to store.
    fn input(&self, scheme: &dyn Scheme) -> Input<'_> {
        let left = self.left.as_ref().filter(|_| !scheme.whole());
        Input { values: left.map_or(self.whole, StringBuffer::strings), tokenizer: self.tokenizer }
    }

    fn plans(&self) -> Vec<(&'static dyn Scheme, Plan)> {
        SCHEMES.iter().filter_map(|&scheme| Some((scheme, scheme.plan(self.input(scheme))?))).collect()
    }
}

/// A block to decode strings from.
pub struct StringBlock<'a> {
    scheme: &'static dyn Scheme,
    template: Template,
    stored: Stored<'a>,
}

impl<'a> StringBlock<'a> {
    /// Takes `bytes` for a block of so many rows. The tokens are those of its column, if that has some.
    ///
    /// # Errors
    /// If the bytes are not the beginning of a block.
    pub fn open(bytes: &'a [u8], rows: usize, tokens: Option<&'a Tokens>) -> Result<Self, Malformed> {
        let (&id, mut bytes) = bytes.split_first().ok_or(Malformed("it has no bytes"))?;
        let scheme = schemes::by_id(id).ok_or(Malformed("its scheme is unknown"))?;
        let template = Template::take(&mut bytes)?;
        Ok(Self { scheme, template, stored: Stored { bytes, rows, tokens } })
    }

    /// The name of its scheme.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        self.scheme.name()
    }

    /// The values as numbers; `None` if they are stored as something else.
    ///
    /// # Errors
    /// If the bytes are not those of a block.
    pub fn numbers(&self) -> Result<Option<Numbers<'a>>, Malformed> {
        Ok(self.scheme.numbers(self.stored)?.and_then(|packed| Numbers::new(&self.template, packed)))
    }

    /// Replaces what is in `out` by the values of some rows.
    ///
    /// # Errors
    /// If the bytes are not those of a block. What is in `out` then is not said.
    ///
    /// # Panics
    /// If the rows do not start at a multiple of [`GROUP`](super::GROUP), or end behind the last one.
    pub fn decode(&self, rows: Range<usize>, scratch: &mut Scratch, out: &mut StringBuffer) -> Result<(), Malformed> {
        assert!(rows.start.is_multiple_of(super::GROUP), "rows start with a group");
        assert!(rows.start <= rows.end && rows.end <= self.stored.rows, "rows of the block");
        if self.template.is_none() {
            return self.scheme.decode(self.stored, rows, scratch, out);
        }
        let mut left = std::mem::take(&mut scratch.left);
        let decoded = self.scheme.decode(self.stored, rows, scratch, &mut left);
        let filled = decoded.and_then(|()| self.template.fill(&mut left, out));
        scratch.left = left;
        filled
    }
}
