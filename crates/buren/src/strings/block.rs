//! A block of strings: its scheme, its template, and the bytes that the scheme stored.

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
    /// The size in bytes; an estimate for tokens.
    pub bytes: u64,
}

/// The scheme chosen for some strings, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The chosen scheme.
    pub scheme: &'static str,
    /// All schemes that can store the strings, including the chosen one.
    pub candidates: Vec<Candidate>,
}

/// Appends a block of strings in the smallest scheme; among those at most 3 % larger, in the fastest to decode.
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

/// The estimated size of a string column stored without a dictionary.
pub struct Estimate {
    /// The bytes of all blocks and tokens. With a dictionary, the column would need the bytes of its distinct values
    /// and a code per row instead.
    pub bytes: u64,
    /// The tokens to encode the blocks with, if they make the blocks smaller.
    pub tokenizer: Option<Arc<Tokenizer>>,
    /// The schemes with the estimated size of the whole column.
    pub choice: Choice,
    /// The total length of all values.
    total: usize,
}

/// Tokens trained on other strings that may be similar.
#[derive(Clone)]
pub struct KnownTokens {
    tokenizer: Arc<Tokenizer>,
    /// The compressed size of those strings divided by their length.
    share: f64,
}

/// A rough estimate of the size of values. If they are stored plain, tokens are assumed to halve them.
#[must_use]
pub fn untrained_bytes(values: Strings<'_>) -> u64 {
    let choice = choose(&Prepared::new(values, None).plans());
    choice.bytes() / if choice.scheme == "plain" { 2 } else { 1 }
}

/// Estimates the size of strings from a sample, and trains tokens if these make them smaller. The `known` tokens are
/// reused if they compress these strings about as well as those they were trained on.
#[must_use]
pub fn estimate(values: Strings<'_>, known: Option<&KnownTokens>) -> Estimate {
    const SAMPLE: usize = 64 << 10;
    /// The maximum share with known tokens, relative to that of the strings they were trained on.
    const MAX_RELATIVE_SHARE: f64 = 1.02;
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
    // Addresses and numbers have almost nothing in common that tokens could save.
    if matches!(choice.scheme, "plain" | "symbols") {
        let total = values.total_bytes();
        let with = |tokenizer: Arc<Tokenizer>| {
            let choice = estimate(Some(&tokenizer));
            let all = choice.bytes() + tokenizer.tokens().stored_bytes() as u64;
            let pays = choice.scheme == "tokens" && all < bytes - bytes / 32;
            pays.then_some(Estimate { bytes: all, tokenizer: Some(tokenizer), choice, total })
        };
        let known = known.and_then(|known| {
            with(Arc::clone(&known.tokenizer)).filter(|estimate| estimate.share() <= known.share * MAX_RELATIVE_SHARE)
        });
        if let Some(with_tokens) = known.or_else(|| with(Arc::new(train(values)))) {
            return with_tokens;
        }
    }
    Estimate { bytes, tokenizer: None, choice, total: values.total_bytes() }
}

impl Estimate {
    /// The compressed size divided by the length.
    fn share(&self) -> f64 {
        self.choice.bytes() as f64 / self.total.max(1) as f64
    }

    /// The tokens, for reuse with other strings.
    #[must_use]
    pub fn tokens(&self) -> Option<KnownTokens> {
        Some(KnownTokens { tokenizer: Arc::clone(self.tokenizer.as_ref()?), share: self.share() })
    }
}

impl Choice {
    /// The size in the chosen scheme.
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

/// The strings of one block, prepared for encoding.
struct Prepared<'a> {
    whole: Strings<'a>,
    template: Template,
    /// The values without the template; `None` if it is empty.
    left: Option<StringBuffer>,
    tokenizer: Option<&'a Tokenizer>,
}

impl<'a> Prepared<'a> {
    fn new(whole: Strings<'a>, tokenizer: Option<&'a Tokenizer>) -> Self {
        // A template of fixed positions suits values over a small alphabet; words are better kept whole.
        let positions = Template::of_positions(whole).filter(|template| !template.is_none());
        let positions = positions.map(|template| (template.strip(whole), template));
        let (left, template) = match positions.filter(|(left, _)| schemes::few_symbols(left.strings())) {
            Some((left, template)) => (Some(left), template),
            None => {
                let template = Template::of_affixes(whole);
                ((!template.is_none()).then(|| template.strip(whole)), template)
            }
        };
        Self { whole, template, left, tokenizer }
    }

    /// The input of a scheme.
    fn input(&self, scheme: &dyn Scheme) -> Input<'_> {
        let left = self.left.as_ref().filter(|_| !scheme.whole());
        Input { values: left.map_or(self.whole, StringBuffer::strings), tokenizer: self.tokenizer }
    }

    fn plans(&self) -> Vec<(&'static dyn Scheme, Plan)> {
        SCHEMES.iter().filter_map(|&scheme| Some((scheme, scheme.plan(self.input(scheme))?))).collect()
    }
}

/// A block that is open for decoding.
pub struct StringBlock<'a> {
    scheme: &'static dyn Scheme,
    template: Template,
    stored: Stored<'a>,
}

impl<'a> StringBlock<'a> {
    /// Opens a block of `rows` rows. `tokens` are those of its column, if it has any.
    ///
    /// # Errors
    /// If the start of the block is malformed.
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

    /// The values as numbers; `None` if they are stored in another form.
    ///
    /// # Errors
    /// If the block is malformed.
    pub fn numbers(&self) -> Result<Option<Numbers<'a>>, Malformed> {
        Ok(self.scheme.numbers(self.stored)?.and_then(|packed| Numbers::new(&self.template, packed)))
    }

    /// Replaces `out` with the values of some rows.
    ///
    /// # Errors
    /// If the block is malformed; the contents of `out` are then unspecified.
    ///
    /// # Panics
    /// If the rows do not start at a multiple of [`GROUP`](super::GROUP), or are out of bounds.
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
