//! Finds the longest token that a text starts with.
//!
//! Tokens are a trie: the first two bytes of a text choose a node of it by themselves, each further byte leads to a child. A
//! node knows the longest token on the way to it, so nothing is remembered on the way. The children of all nodes share one
//! array: that of a byte stands so many places behind its parent's *base*, and names its parent, so that a place taken by
//! another one is told from it. Everything about a node is one word.
//!
//! The first [`STEPS`] steps are taken whatever the text looks like, in place behind a missing child. As no branch depends
//! on the text there, a processor works on the next texts before it is done with one.

use std::collections::VecDeque;

/// As many nodes as numbers of 16 bits name.
const NODES: usize = 1 << 16;

/// Steps behind the first two bytes that are always taken: few tokens are longer, and a word has eight bytes.
const STEPS: usize = 6;

/// No node, and nobody's parent.
const NOWHERE: u16 = u16::MAX;

/// Places that are tried for several children among those that others left free, before they go behind all others.
const TRIES: usize = 64;

pub(super) struct Trie {
    /// For each first two bytes, the first one lowest, the node to start at.
    pairs: Box<[u16; 1 << 16]>,
    /// Place 0 is no node, and neither is one that is 0.
    nodes: Box<[u64; NODES]>,
}

/// From the lowest bits: parent, base, code and length of the longest token on the way (16 bits each), and in the highest
/// bit whether it has children.
#[derive(Clone, Copy)]
struct Node(u64);

impl Node {
    const HAS_CHILDREN: u64 = 1 << 63;

    fn new(parent: u16, token: Token<'_>) -> Self {
        let length = token.bytes.len() as u64;
        Self(u64::from(parent) | u64::from(token.code) << 32 | length << 48)
    }

    #[inline(always)]
    fn parent(self) -> u16 {
        self.0 as u16
    }

    /// The place of the child of a byte.
    #[inline(always)]
    fn child(self, byte: u8) -> u16 {
        ((self.0 >> 16) as u16).wrapping_add(byte.into())
    }

    #[inline(always)]
    fn code(self) -> u16 {
        (self.0 >> 32) as u16
    }

    #[inline(always)]
    fn length(self) -> usize {
        usize::from((self.0 >> 48) as u8)
    }

    /// What makes a node one with children.
    fn with_base(base: u16) -> u64 {
        u64::from(base) << 16 | Self::HAS_CHILDREN
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Token<'a> {
    bytes: &'a [u8],
    code: u16,
}

impl Trie {
    /// Takes all tokens in the order of their codes: first each byte, then longer ones.
    pub(super) fn new<'a>(tokens: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut sorted: Vec<Token<'a>> = tokens.zip(0..).map(|(bytes, code)| Token { bytes, code }).collect();
        sorted.sort_unstable();
        let mut builder = Builder::new();
        for of_byte in sorted.chunk_by(|a, b| a.bytes[0] == b.bytes[0]) {
            let (single, longer) = (of_byte[0], &of_byte[1..]);
            let node = builder.add_root(1, single, &[]);
            for second in 0..=u8::MAX {
                builder.trie.pairs[pair(single.bytes[0], second)] = node;
            }
            for of_pair in longer.chunk_by(|a, b| a.bytes[1] == b.bytes[1]) {
                let is_token = of_pair[0].bytes.len() == 2;
                let token = if is_token { of_pair[0] } else { single };
                let node = builder.add_root(2, token, &of_pair[usize::from(is_token)..]);
                builder.trie.pairs[pair(single.bytes[0], of_pair[0].bytes[1])] = node;
            }
        }
        builder.finish()
    }

    #[inline(always)]
    fn node(&self, place: u16) -> Node {
        Node(self.nodes[usize::from(place)])
    }

    /// The code and the length of the longest token that the `left` bytes of a text from `at` on start with. If there is
    /// none left the length is 0.
    #[inline(always)]
    pub(super) fn longest(&self, text: &[u8], at: usize, left: usize) -> (u16, usize) {
        let Some(word) = text.get(at..).and_then(<[u8]>::first_chunk) else { return self.walk(&text[at..at + left]) };
        // Bytes that do not count become zeros.
        let behind = 8 * (8 - left.min(8)) as u32;
        let word = u64::from_le_bytes(*word).checked_shl(behind).unwrap_or(0) >> (behind & 63);
        let mut place = self.pairs[usize::from(word as u16)];
        let mut node = self.node(place);
        for step in 0..STEPS {
            let next = node.child((word >> (16 + 8 * step)) as u8);
            let child = self.node(next);
            // As compilers make a branch of a selection.
            let is_child = u64::from(child.parent() == place).wrapping_neg();
            node = Node(node.0 ^ (node.0 ^ child.0) & is_child);
            place = next | !(is_child as u16);
        }
        if place != NOWHERE && node.0 & Node::HAS_CHILDREN != 0 && left > 2 + STEPS {
            return self.walk_on(place, &text[at + 2 + STEPS..at + left]);
        }
        if node.length() > left { self.walk(&text[at..at + left]) } else { (node.code(), node.length()) }
    }

    /// The same, byte by byte.
    #[cold]
    fn walk(&self, text: &[u8]) -> (u16, usize) {
        match *text {
            [] => (0, 0),
            [byte] => (byte.into(), 1),
            [first, second, ref rest @ ..] => self.walk_on(self.pairs[pair(first, second)], rest),
        }
    }

    /// The same for a text that leads to a node, and goes on so.
    fn walk_on(&self, mut place: u16, rest: &[u8]) -> (u16, usize) {
        let mut node = self.node(place);
        for &byte in rest {
            let next = node.child(byte);
            let child = self.node(next);
            if child.parent() != place {
                break;
            }
            (place, node) = (next, child);
        }
        (node.code(), node.length())
    }
}

fn pair(first: u8, second: u8) -> usize {
    usize::from(u16::from_le_bytes([first, second]))
}

/// Those of the tokens that go on from a node.
struct Below<'t, 'a> {
    place: u16,
    /// How many bytes lead to it.
    depth: usize,
    /// The longest token on the way.
    token: Token<'a>,
    longer: &'t [Token<'a>],
}

/// A trie while nodes get their places.
struct Builder<'t, 'a> {
    trie: Trie,
    pending: VecDeque<Below<'t, 'a>>,
    /// All places before it are taken.
    first_free: usize,
    /// No place from here on is taken.
    end: usize,
}

impl<'t, 'a> Builder<'t, 'a> {
    fn new() -> Self {
        Self { trie: Trie { pairs: zeroed(), nodes: zeroed() }, pending: VecDeque::new(), first_free: 1, end: 1 }
    }

    /// A node that some first bytes lead to, its longest token, and those that go on from it.
    fn add_root(&mut self, depth: usize, token: Token<'a>, longer: &'t [Token<'a>]) -> u16 {
        // There are at most two for each token, long before places run out.
        let place = self.end as u16;
        self.put(place, Node::new(0, token));
        self.pending.push_back(Below { place, depth, token, longer });
        place
    }

    fn put(&mut self, place: u16, node: Node) {
        self.trie.nodes[usize::from(place)] = node.0;
        self.end = self.end.max(usize::from(place) + 1);
    }

    fn is_free(&self, place: usize) -> bool {
        place < NOWHERE.into() && self.trie.nodes[place] == 0
    }

    /// Places the children of all nodes.
    fn finish(mut self) -> Trie {
        while let Some(Below { place, depth, token, longer }) = self.pending.pop_front() {
            let children = || longer.chunk_by(|a, b| a.bytes[depth] == b.bytes[depth]);
            let bytes: Vec<u8> = children().map(|tokens| tokens[0].bytes[depth]).collect();
            // Tokens that there is no place for are not found: shorter ones serve as well.
            let Some(base) = self.base(&bytes) else { continue };
            self.trie.nodes[usize::from(place)] |= Node::with_base(base);
            for (byte, longer) in bytes.into_iter().zip(children()) {
                let is_token = longer[0].bytes.len() == depth + 1;
                let token = if is_token { longer[0] } else { token };
                let child = base.wrapping_add(byte.into());
                self.put(child, Node::new(place, token));
                let longer = &longer[usize::from(is_token)..];
                self.pending.push_back(Below { place: child, depth: depth + 1, token, longer });
            }
        }
        self.trie
    }

    /// What places the children of these bytes where nothing is, if there are any.
    fn base(&mut self, bytes: &[u8]) -> Option<u16> {
        let least = *bytes.first()?;
        while self.first_free < self.end && !self.is_free(self.first_free) {
            self.first_free += 1;
        }
        let fits = |first: &usize| bytes.iter().all(|byte| self.is_free(first + usize::from(byte - least)));
        let free = || (self.first_free..self.end).filter(|&place| self.is_free(place));
        let few = free().take(TRIES).find(fits);
        let first = few.or_else(|| Some(self.end).filter(fits)).or_else(|| free().find(fits))?;
        Some((first as u16).wrapping_sub(least.into()))
    }
}

fn zeroed<T: Copy + Default, const N: usize>() -> Box<[T; N]> {
    vec![T::default(); N].try_into().unwrap_or_else(|_| unreachable!("so many entries"))
}
