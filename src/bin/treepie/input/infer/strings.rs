//! Field types for columns of strings, by what the columns hold.
//!
//! | seen in the sample | field | why |
//! |---|---|---|
//! | one value in twenty or more is long: more than 12 words, more than 256 bytes, or several lines | text | nobody counts paragraphs, and a keyword has a greatest length |
//! | each value comes twice or more on average; of fewer than 20 values, any comes twice | keyword | countries, states, brands: facets count the value as a whole |
//! | nineteen in twenty are one word | keyword | codes, ids and addresses are looked for as a whole |
//! | lists whose values have 4 words or less on average | keyword | tags |
//! | of fewer than 20 values half are one word, and none has more than 3 | keyword | too few to see any twice, and short |
//! | all others | text | names and titles: mostly different, of several words |
//!
//! Each keyword has a text copy, `country.text` of `country`, which is a default field. So every string is found by its
//! words without naming a field, whatever was decided here, and a wrong decision costs a little room and no answer.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use super::clues::Clues;

/// Words and bytes of a value beyond which it is long.
const LONG_WORDS: usize = 12;
const LONG_BYTES: usize = 256;
/// Values from which on it counts how many there are of each.
const FEW_VALUES: u64 = 20;
/// Number of values of which one may be another than the rest.
const ONE_IN: u64 = 20;
/// Words of a tag on average, and of a short value, at the most.
const TAG_WORDS: u64 = 4;
const SHORT_WORDS: usize = 3;
/// Characters that are one word if none has blanks around it: names and categories have that many.
const UNSPACED_CHARS: usize = 4;

/// Words of what has no blanks in it: of a script that is written without them, one for every few characters.
fn words_of(part: &str) -> usize {
    let n_unspaced = part.chars().filter(|c| is_unspaced(*c)).count();
    n_unspaced.div_ceil(UNSPACED_CHARS).max(1)
}

/// Characters of Chinese and Japanese, Thai, Lao, Khmer and Burmese.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}'
        | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

/// Statistics of the strings of a field.
#[derive(Debug, Default)]
pub(super) struct Strings {
    n_values: u64,
    n_words: u64,
    words_max: usize,
    n_one_word: u64,
    n_long: u64,
    hasher: RandomState,
    /// Hashes of the different values, of which a sample has few.
    distinct: HashSet<u64>,
    clues: Clues,
}

/// Decision on how a field of strings is indexed, and the reason.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) is_keyword: bool,
    pub(super) why: String,
}

impl Strings {
    /// Looks at a value that is not empty.
    pub(super) fn add(&mut self, value: &str) {
        let n_words = value.split_whitespace().map(words_of).sum::<usize>().min(LONG_WORDS + 1);
        let is_long =
            n_words > LONG_WORDS || value.len() > LONG_BYTES || value.trim_end().contains('\n');
        self.n_values += 1;
        self.n_words += n_words as u64;
        self.words_max = self.words_max.max(n_words);
        self.n_one_word += u64::from(n_words <= 1);
        self.n_long += u64::from(is_long);
        self.distinct.insert(self.hasher.hash_one(value));
        if !is_long {
            self.clues.add(value);
        }
    }

    /// The field that suits, in the order of the table of the module.
    pub(super) fn choice(&self, many: bool) -> Choice {
        let (n_values, n_distinct) = (self.n_values, self.distinct.len() as u64);
        let values = |n: u64| if n == 1 { "1 value".to_owned() } else { format!("{n} values") };
        let choice = |is_keyword: bool, why: String| Choice { is_keyword, why };
        if n_values == 0 {
            return choice(false, "no values in the sample".into());
        }
        if self.n_long * ONE_IN >= n_values {
            return choice(false, format!("{} of {} are long", self.n_long, values(n_values)));
        }
        let different = format!("{n_distinct} different in {}", values(n_values));
        let clue = self.clues.told().map_or(String::new(), |told| format!("; {told}"));
        let choice = |is_keyword, why: String| choice(is_keyword, format!("{why}{clue}"));
        let is_repeated = match n_values < FEW_VALUES {
            true => n_distinct < n_values,
            false => n_distinct * 2 <= n_values,
        };
        if is_repeated {
            return choice(true, different);
        }
        if (n_values - self.n_one_word) * ONE_IN <= n_values {
            return choice(true, format!("{different}, of one word each"));
        }
        if many && self.n_words <= TAG_WORDS * n_values {
            return choice(true, format!("{different}, short ones in lists"));
        }
        let are_short = self.n_one_word * 2 >= n_values && self.words_max <= SHORT_WORDS;
        if n_values < FEW_VALUES && are_short {
            return choice(true, format!("{different}, all short"));
        }
        let words = self.n_words as f64 / n_values as f64;
        choice(false, format!("{different}, of {words:.1} words on average"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(values: impl IntoIterator<Item = impl AsRef<str>>, many: bool) -> Choice {
        let mut strings = Strings::default();
        values.into_iter().for_each(|value| strings.add(value.as_ref()));
        strings.choice(many)
    }

    #[test]
    fn repeated_and_short_values_are_keywords_and_names_and_paragraphs_are_text() {
        let of = |n: usize, value: &dyn Fn(usize) -> String| (0..n).map(value).collect::<Vec<_>>();
        let strings = |values: &[&str]| values.iter().map(ToString::to_string).collect::<Vec<_>>();
        let countries = ["United Kingdom", "France", "Côte d'Ivoire"];
        let paragraph = "words ".repeat(40);
        for (values, many, is_keyword, why) in [
            (strings(&countries[..2]), false, true, "2 different in 2 values, all short"),
            (strings(&["France"; 3]), false, true, "1 different in 3 values"),
            (strings(&["France"]), false, true, "1 different in 1 value, of one word each"),
            (of(541, &|n| countries[n % 3].into()), false, true, "3 different in 541 values"),
            (
                of(500, &|n| format!("SKU-{n}")),
                false,
                true,
                "500 different in 500 values, of one word each",
            ),
            (
                of(30, &|n| format!("https://example.com/{n}?q=a%20b")),
                false,
                true,
                "30 different in 30 values, of one word each",
            ),
            (
                of(400, &|n| format!("The story of number {n}")),
                false,
                false,
                "400 different in 400 values, of 5.0 words on average",
            ),
            (
                strings(&["Ada Lovelace", "Alan Turing"]),
                false,
                false,
                "2 different in 2 values, of 2.0 words on average",
            ),
            (strings(&["a red lamp", "a lamp"]), false, false, "of 2.5 words on average"),
            (vec![paragraph.clone(); 9], false, false, "9 of 9 values are long"),
            (strings(&[&paragraph, "short"]), true, false, "1 of 2 values are long"),
            (strings(&["one\ntwo", "x"]), false, false, "1 of 2 values are long"),
            (vec!["東京は日本の首都である。".repeat(30)], false, false, "1 of 1 value are long"),
            (
                strings(&["science fiction", "film noir", "road movie"]),
                true,
                true,
                "short ones in lists",
            ),
            (
                of(10, &|n| format!("{n}月の東京はとても暑いです。")),
                false,
                false,
                "10 different in 10 values, of 3.0 words on average",
            ),
            (
                strings(&["東京", "北海道", "神奈川県"]),
                false,
                true,
                "3 different in 3 values, of one word each",
            ),
            // One value that is long among many that are not.
            (
                of(100, &|n| if n == 7 { paragraph.clone() } else { "open".into() }),
                false,
                true,
                "2 different in 100 values",
            ),
            (vec![], false, false, "no values in the sample"),
        ] {
            let found = chosen(&values, many);
            assert!(found.is_keyword == is_keyword && found.why.contains(why), "{found:?}, {why}");
        }
    }
}
