//! Columns like those of TPC-H and of web logs: comments from text of TPC-H's grammar, URLs, addresses, ids.

use buren::strings::StringBuffer;

/// A pseudo-random number generator (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    /// A random word, by the weights in the list.
    fn word(&mut self, words: &[(&'static str, usize)]) -> &'static str {
        let total = words.iter().map(|word| word.1 * word.0.split(' ').count()).sum();
        let mut at = self.below(total);
        for (list, weight) in words {
            for word in list.split(' ') {
                if at < *weight {
                    return word;
                }
                at -= weight;
            }
        }
        unreachable!("the weights add up")
    }
}

const NOUNS: &[(&str, usize)] = &[
    ("packages requests accounts deposits", 40),
    ("foxes ideas theodolites pinto_beans instructions", 20),
    ("dependencies excuses platelets asymptotes", 10),
    ("courts dolphins", 5),
    ("multipliers sauternes warthogs frets dinos attainments somas Tiresias' patterns forges braids", 1),
    ("hockey_players frays warhorses dugouts notornis epitaphs pearls tithes waters orbits gifts", 1),
    ("sheaves depths sentiments decoys realms pains grouches escapades", 1),
];
const VERBS: &[(&str, usize)] = &[
    ("sleep wake are cajole haggle", 20),
    ("nag use boost", 10),
    ("affix detect integrate", 5),
    ("maintain nod was lose sublate solve thrash promise engage hinder print x-ray breach eat grow impress", 1),
    ("mold poach serve run dazzle snooze doze unwind kindle play hang believe doubt", 1),
];
const ADJECTIVES: &[(&str, usize)] = &[
    ("regular", 50),
    ("final ironic", 40),
    ("even", 30),
    ("special pending unusual express bold", 20),
    ("silent", 10),
    ("furious sly careful blithe quick fluffy slow quiet ruthless thin close dogged daring brave stealthy", 1),
    ("permanent enticing idle busy", 1),
];
const ADVERBS: &[(&str, usize)] = &[
    ("furiously slyly carefully", 50),
    ("blithely", 40),
    ("quickly", 30),
    ("fluffily", 20),
    ("sometimes always never slowly quietly ruthlessly thinly closely doggedly daringly bravely stealthily", 1),
    ("permanently enticingly idly busily regularly finally ironically evenly boldly silently", 1),
];
const PREPOSITIONS: &[(&str, usize)] = &[
    ("about above according_to across after", 50),
    ("against along", 40),
    ("alongside_of among", 30),
    ("around", 20),
    ("at", 10),
    ("atop before behind beneath beside besides between beyond by despite during except for from in_place_of", 1),
    ("inside instead_of into near of on outside over past since through throughout to toward under until up", 1),
    ("upon whithout with within", 1),
];
const AUXILIARIES: &[(&str, usize)] = &[(
    "do may might shall will would can could should ought_to must will_have_to shall_have_to could_have_to \
     should_have_to must_have_to need_to try_to",
    1,
)];
const TERMINATORS: &[(&str, usize)] = &[(".", 50), ("; : ? ! --", 1)];

/// Sentences of TPC-H's grammar: N noun, J adjective, D adverb, V verb, X auxiliary, P preposition, T end.
fn sentence(random: &mut Random, text: &mut String) {
    let noun_phrases = [("N", 10), ("J_N", 20), ("J,_J_N", 10), ("D_J_N", 50)];
    let verb_phrases = [("V", 30), ("X_V", 1), ("V_D", 40), ("X_V_D", 1)];
    let form = random.word(&[("n_v_T", 3), ("n_v_p_T", 3), ("n_v_n_T", 3), ("n_p_v_n_T", 1), ("n_p_v_p_T", 1)]);
    let mut expanded = String::new();
    for part in form.chars() {
        match part {
            'n' => expanded.push_str(random.word(&noun_phrases)),
            'v' => expanded.push_str(random.word(&verb_phrases)),
            'p' => {
                expanded.push_str("P_the_");
                expanded.push_str(random.word(&noun_phrases));
            }
            other => expanded.push(other),
        }
    }
    for part in expanded.chars() {
        let words = match part {
            'N' => NOUNS,
            'J' => ADJECTIVES,
            'D' => ADVERBS,
            'V' => VERBS,
            'X' => AUXILIARIES,
            'P' => PREPOSITIONS,
            'T' => TERMINATORS,
            other => {
                text.push(if other == '_' { ' ' } else { other });
                continue;
            }
        };
        if part == 'T' {
            text.pop();
        }
        text.push_str(&random.word(words).replace('_', " "));
    }
    text.push(' ');
}

/// Substrings of 10 to 43 bytes at random positions of a text, like TPC-H's comments.
pub(crate) fn comments(rows: usize) -> StringBuffer {
    let mut random = Random(1);
    let mut text = String::new();
    while text.len() < 30 << 20 {
        sentence(&mut random, &mut text);
    }
    let mut column = StringBuffer::default();
    for _ in 0..rows {
        let start = random.below(text.len() - 50);
        let length = 10 + random.below(34);
        column.push(&text.as_bytes()[start..start + length]);
    }
    column
}

fn hex(random: &mut Random, digits: usize) -> String {
    format!("{:016x}{:016x}", random.next(), random.next())[..digits].to_owned()
}

/// `http://www.0123456789ab.com/01234567….html`, with 8 to 31 digits at the end.
pub(crate) fn url(random: &mut Random) -> String {
    let host = hex(random, 12);
    let length = 8 + random.below(24);
    format!("http://www.{host}.com/{}.html", hex(random, length))
}

fn made(rows: usize, value: impl Fn(&mut Random, usize) -> String) -> StringBuffer {
    let mut random = Random(2);
    let mut column = StringBuffer::default();
    for row in 0..rows {
        column.push(value(&mut random, row).as_bytes());
    }
    column
}

/// All columns with their names.
pub(crate) fn all(rows: usize) -> Vec<(&'static str, StringBuffer)> {
    vec![
        ("comments", comments(rows)),
        ("URLs", made(rows, |random, _| url(random))),
        ("IPv4", made(rows, |random, _| std::net::Ipv4Addr::from(random.next() as u32).to_string())),
        (
            "UUIDs",
            made(rows, |random, _| {
                let digits = hex(random, 32);
                format!("{}-{}-{}-{}-{}", &digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..])
            }),
        ),
        ("id0000012345", made(rows, |random, _| format!("id{:010}", 1 + random.below(100_000)))),
        ("user-12345", made(rows, |_, row| format!("user-{row}"))),
        (
            "hex words",
            made(rows, |random, _| {
                let length = 4 + random.below(16);
                hex(random, length)
            }),
        ),
    ]
}
