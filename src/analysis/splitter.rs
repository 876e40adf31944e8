//! The built-in tokenizers: each cuts a text into pieces.
//!
//! | spec | the pieces |
//! |---|---|
//! | `default` | those of the [default analyzer](super::tokenizer): folded words, and pairs of characters where words have no spaces between |
//! | `alphanumeric` | runs of characters for which `char::is_alphanumeric` holds |
//! | `whitespace` | what stands between white space; apostrophes become plain |
//! | `words` | the words of Unicode's text segmentation (UAX #29) that hold a letter or a digit: `can't` and `3.14` stay whole; apostrophes become plain |
//! | `keyword` | the whole text |
//! | `ngram:MIN,MAX` | every run of MIN to MAX characters, by their beginning, then by their length |
//! | `edge_ngram:MIN,MAX` | the runs of MIN to MAX characters that the text begins with |
//! | `cjk_bigrams` | words and pairs as of `default`, of which only compatibility forms are folded |
//!
//! Pieces are as they are in the text but where this says otherwise, and numbered from 0. N-grams that begin at one
//! character have one position, as Lucene's do since version 4.4. Cost: one pass over the text, no allocation but the
//! token's.
//!
//! # Queries
//!
//! A tokenizer [for queries](crate::analysis::Analyzer::for_queries) gives only as many of its pieces as find a text.
//! For n-grams these are the longest ones that cover it: `barman` with `ngram:2,4` is the phrase `barm` and, two
//! characters later, `rman`, and `bar` is a term. A text of fewer than MIN characters has none, and finds nothing.
//! The longest piece of `edge_ngram` is enough; for a text longer than MAX it is only the beginning.
//!
//! # Characters before n-grams
//!
//! Filters of characters behind an n-gram tokenizer (`nfc`, `nfkc`, `lower`, `fold`) change the text before it is cut, so
//! that the n-grams of texts are equal where these are.

use tantivy_tokenizer_api::{Token, TokenStream, Tokenizer};
use unicode_segmentation::{UnicodeSegmentation, UnicodeWordIndices};

use crate::analysis::apostrophe;
use crate::analysis::classes;
use crate::analysis::filter::Filter;
use crate::analysis::normalization::Form;
use crate::analysis::prepared::Prepared;
use crate::analysis::stretch::{Folding, Side, Stretch};
use crate::analysis::tokenizer::{Cutter, next_run};
use crate::error::{Error, ErrorKind, Result};

/// A quotation mark that is also written for an apostrophe.
const REVERSED_QUOTE: char = '\u{201B}';

/// Characters of an n-gram at the most.
pub const NGRAM_MAX: usize = 64;

/// A built-in tokenizer; the module documentation lists them.
///
/// ```
/// use treepie::analysis::{Splitter, tokenizer_api::{TokenStream, Tokenizer}};
///
/// let mut splitter = Splitter::words();
/// let mut stream = splitter.token_stream("It can't be 3.14!");
/// let mut words = vec![];
/// stream.process(&mut |token| words.push(token.text.clone()));
/// assert_eq!(words, ["It", "can't", "be", "3.14"]);
/// ```
#[derive(Clone, Debug)]
pub struct Splitter {
    kind: Kind,
    side: Side,
    // Kept between texts for their capacity.
    token: Token,
    stretch: Stretch,
    /// The text as the filters of characters leave it, for n-grams behind which there are any.
    prepared: Prepared,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Stretches of letters and digits, which the default analyzer has.
    Stretches(Folding),
    Alphanumeric,
    Whitespace,
    Words,
    Keyword,
    Ngrams {
        min: usize,
        max: usize,
    },
    EdgeNgrams {
        min: usize,
        max: usize,
    },
    /// Tokens of version 1 of the analyzers.
    Old(Old),
}

/// Tokenizers of version 1 that are other ones now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Old {
    /// With apostrophes as they are written.
    Whitespace,
    /// With apostrophes as they are written.
    Words,
    /// Each with a position of its own.
    Ngrams { min: usize, max: usize },
    /// Each with a position of its own.
    EdgeNgrams { min: usize, max: usize },
    /// Without single characters and normalization, Chinese, Japanese and Korean only.
    CjkBigrams,
}

impl Splitter {
    /// Words and pairs as the [default analyzer](crate::analysis::DefaultTokenizer) makes them.
    pub fn folded() -> Self {
        Self::of(Kind::Stretches(Folding::Full))
    }

    /// Runs of alphanumeric characters, as they are written.
    pub fn alphanumeric() -> Self {
        Self::of(Kind::Alphanumeric)
    }

    /// Runs of characters between white space, with plain apostrophes.
    pub fn whitespace() -> Self {
        Self::of(Kind::Whitespace)
    }

    /// The words of UAX #29 that hold a letter or a digit, with plain apostrophes.
    pub fn words() -> Self {
        Self::of(Kind::Words)
    }

    /// The whole text, unless it is empty.
    pub fn keyword() -> Self {
        Self::of(Kind::Keyword)
    }

    /// Every run of `min` to `max` characters.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Analyzer`] unless 1 ≤ `min` ≤ `max` ≤ [`NGRAM_MAX`].
    pub fn ngrams(min: usize, max: usize) -> Result<Self> {
        check_ngrams(min, max)?;
        Ok(Self::of(Kind::Ngrams { min, max }))
    }

    /// The runs of `min` to `max` characters that the text begins with.
    ///
    /// # Errors
    ///
    /// Fails like [`ngrams`](Self::ngrams).
    pub fn edge_ngrams(min: usize, max: usize) -> Result<Self> {
        check_ngrams(min, max)?;
        Ok(Self::of(Kind::EdgeNgrams { min, max }))
    }

    /// Words, and pairs of neighbouring characters in scripts without spaces. Compatibility forms are folded.
    pub fn cjk_bigrams() -> Self {
        Self::of(Kind::Stretches(Folding::Forms))
    }

    /// Makes a splitter of version 1 of the analyzers.
    pub(super) fn old(old: Old) -> Result<Self> {
        if let Old::Ngrams { min, max } | Old::EdgeNgrams { min, max } = old {
            check_ngrams(min, max)?;
        }
        Ok(Self::of(Kind::Old(old)))
    }

    /// Whether filters of characters change the text before it is cut.
    pub(super) fn takes_prepared(&self) -> bool {
        matches!(self.kind, Kind::Ngrams { .. } | Kind::EdgeNgrams { .. })
    }

    /// Whether its pieces are all those of some lengths.
    pub(super) fn is_of_ngrams(&self) -> bool {
        matches!(self.kind, Kind::Ngrams { .. })
    }

    /// Sets the filters that change the text before it is cut.
    pub(super) fn prepared_by(mut self, filters: Vec<Filter>) -> Self {
        self.prepared = Prepared::new(filters);
        self
    }

    /// The text with its characters as those of the pieces are.
    pub(super) fn normalize(&mut self, text: &str) -> String {
        let mut normal = text.to_owned();
        match self.kind {
            Kind::Stretches(Folding::Full) => {
                normal.clear();
                classes::push_folded(text.chars(), &mut normal);
            }
            Kind::Stretches(Folding::Forms) => Form::Nfkc.apply(&mut normal, &mut String::new()),
            Kind::Whitespace | Kind::Words => {
                apostrophe::make_plain(&mut normal, &mut String::new());
            }
            Kind::Ngrams { .. } | Kind::EdgeNgrams { .. } if self.prepared.prepare(text) => {
                normal.clear();
                normal.push_str(self.prepared.text());
            }
            _ => {}
        }
        normal
    }

    pub(super) fn for_queries(mut self) -> Self {
        self.side = Side::Query;
        self
    }

    fn of(kind: Kind) -> Self {
        Splitter {
            kind,
            side: Side::Index,
            token: Token::default(),
            stretch: Stretch::default(),
            prepared: Prepared::default(),
        }
    }
}

fn check_ngrams(min: usize, max: usize) -> Result<()> {
    if 1 <= min && min <= max && max <= NGRAM_MAX {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Analyzer, "setting the lengths of n-grams")
        .expected(format!("1 ≤ MIN ≤ MAX ≤ {NGRAM_MAX} characters"))
        .found(format!("{min},{max}")))
}

impl Tokenizer for Splitter {
    type TokenStream<'a> = SplitterStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> SplitterStream<'a> {
        self.token.reset();
        let is_query = self.side == Side::Query;
        let ngrams = |text: &str, min, max, edge| match (is_query, edge) {
            (false, _) => Pieces::Ngrams(Ngrams::new(text, min, max, edge)),
            (true, _) => Pieces::Cover(Cover::new(text, min, max, edge)),
        };
        let mut cut = text;
        let (mut has_plain_apostrophes, mut is_prepared) = (false, false);
        let pieces = match self.kind {
            Kind::Stretches(folding) => {
                Pieces::Stretches(Cutter::new(folding, self.side, &mut self.stretch))
            }
            Kind::Alphanumeric => Pieces::Alphanumeric { at: 0 },
            Kind::Whitespace => {
                has_plain_apostrophes = true;
                Pieces::Whitespace { at: 0 }
            }
            Kind::Words => {
                has_plain_apostrophes = true;
                Pieces::Words(text.unicode_word_indices())
            }
            Kind::Keyword => Pieces::Keyword { done: text.is_empty() },
            Kind::Ngrams { min, max } | Kind::EdgeNgrams { min, max } => {
                let edge = matches!(self.kind, Kind::EdgeNgrams { .. });
                is_prepared = self.prepared.prepare(text);
                if is_prepared {
                    cut = self.prepared.text();
                }
                ngrams(cut, min, max, edge)
            }
            Kind::Old(Old::Whitespace) => Pieces::Whitespace { at: 0 },
            Kind::Old(Old::Words) => Pieces::OldWords(text.unicode_word_indices()),
            Kind::Old(Old::Ngrams { min, max }) => {
                Pieces::Ngrams(Ngrams { counts: true, ..Ngrams::new(text, min, max, false) })
            }
            Kind::Old(Old::EdgeNgrams { min, max }) => {
                Pieces::Ngrams(Ngrams { counts: true, ..Ngrams::new(text, min, max, true) })
            }
            Kind::Old(Old::CjkBigrams) => Pieces::CjkBigrams(CjkBigrams::default()),
        };
        SplitterStream {
            text: cut,
            pieces,
            has_plain_apostrophes,
            prepared: is_prepared.then_some(&self.prepared),
            stretch: &mut self.stretch,
            token: &mut self.token,
        }
    }
}

/// The tokens of one text; see [`Splitter`].
#[derive(Debug)]
pub struct SplitterStream<'a> {
    text: &'a str,
    pieces: Pieces<'a>,
    has_plain_apostrophes: bool,
    /// The text that it was made of, if it is not the one that was given.
    prepared: Option<&'a Prepared>,
    stretch: &'a mut Stretch,
    token: &'a mut Token,
}

#[derive(Debug)]
enum Pieces<'a> {
    Stretches(Cutter),
    Alphanumeric { at: usize },
    Whitespace { at: usize },
    Words(UnicodeWordIndices<'a>),
    OldWords(UnicodeWordIndices<'a>),
    Keyword { done: bool },
    Ngrams(Ngrams),
    Cover(Cover),
    CjkBigrams(CjkBigrams),
}

impl TokenStream for SplitterStream<'_> {
    fn advance(&mut self) -> bool {
        if let Pieces::Stretches(cutter) = &mut self.pieces {
            return cutter.next(self.text, self.stretch, self.token);
        }
        let Some((from, to)) = self.pieces.next(self.text) else { return false };
        self.token.position = match &self.pieces {
            Pieces::Ngrams(Ngrams { counts: false, given, .. }) => *given,
            Pieces::Cover(Cover { given, .. }) => *given,
            _ => self.token.position.wrapping_add(1),
        };
        self.token.position_length = 1;
        self.token.text.clear();
        self.token.text.push_str(&self.text[from..to]);
        if self.has_plain_apostrophes && !self.token.text.is_ascii() {
            apostrophe::make_plain(&mut self.token.text, &mut self.stretch.text);
        }
        (self.token.offset_from, self.token.offset_to) = match self.prepared {
            None => (from, to),
            Some(prepared) => prepared.given(from, to),
        };
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

impl Pieces<'_> {
    /// Beginning and end of the next piece; both are character boundaries.
    fn next(&mut self, text: &str) -> Option<(usize, usize)> {
        match self {
            Pieces::Stretches(_) => None,
            Pieces::Alphanumeric { at } => {
                let run = next_run(text, *at);
                *at = run.map_or(text.len(), |(_, to)| to);
                run
            }
            Pieces::Whitespace { at } => {
                let from = *at + text[*at..].find(|c: char| !c.is_whitespace())?;
                let len = text[from..].find(char::is_whitespace).unwrap_or(text.len() - from);
                *at = from + len;
                Some((from, *at))
            }
            Pieces::Words(words) => {
                let (from, mut to) = words.next().map(|(from, word)| (from, from + word.len()))?;
                // UAX #29 knows the other quotation marks as apostrophes between letters, but not this one.
                while text[to..].starts_with(REVERSED_QUOTE)
                    && let Some((next, word)) = text[to..].unicode_word_indices().next()
                    && next == REVERSED_QUOTE.len_utf8()
                    && text[..to].ends_with(char::is_alphabetic)
                    && word.starts_with(char::is_alphabetic)
                {
                    words.next();
                    to += next + word.len();
                }
                Some((from, to))
            }
            Pieces::OldWords(words) => words.next().map(|(from, word)| (from, from + word.len())),
            Pieces::Keyword { done } => (!std::mem::replace(done, true)).then_some((0, text.len())),
            Pieces::Ngrams(ngrams) => ngrams.next(text),
            Pieces::Cover(cover) => cover.next(text),
            Pieces::CjkBigrams(bigrams) => bigrams.next(text),
        }
    }
}

/// Walks over runs of characters by their beginning, then by their length.
#[derive(Debug)]
struct Ngrams {
    min: usize,
    max: usize,
    edge: bool,
    /// Whether each run has a position of its own, and not that of its first character.
    counts: bool,
    /// Start and end of the next run; none after the last.
    next: Option<(usize, usize)>,
    /// Its characters.
    len: usize,
    /// The character that it begins with, and that of the run before.
    first: usize,
    given: usize,
}

impl Ngrams {
    fn new(text: &str, min: usize, max: usize, edge: bool) -> Self {
        let next = end_of(text, 0, min).map(|to| (0, to));
        Ngrams { min, max, edge, counts: false, next, len: min, first: 0, given: 0 }
    }

    fn next(&mut self, text: &str) -> Option<(usize, usize)> {
        let (from, to) = self.next?;
        self.given = self.first;
        let longer = if self.len < self.max { end_of(text, to, 1) } else { None };
        self.next = match longer {
            Some(longer) => {
                self.len += 1;
                Some((from, longer))
            }
            None if self.edge => None,
            None => {
                self.len = self.min;
                self.first += 1;
                let from = end_of(text, from, 1)?;
                end_of(text, from, self.min).map(|to| (from, to))
            }
        };
        Some((from, to))
    }
}

/// The fewest runs of characters that cover a text: each of MAX of them, side by side, and the last one at its end.
#[derive(Debug)]
struct Cover {
    max: usize,
    /// Start of the next run, and its first character; none after the last.
    next: Option<(usize, usize)>,
    /// Characters of the text, or as many of them as the longest run has where only its beginning counts.
    n: usize,
    /// The first character of the run before.
    given: usize,
}

impl Cover {
    fn new(text: &str, min: usize, max: usize, edge: bool) -> Self {
        let n = match edge {
            true => text.chars().take(max).count(),
            false => text.chars().count(),
        };
        Cover { max, next: (n >= min).then_some((0, 0)), n, given: 0 }
    }

    fn next(&mut self, text: &str) -> Option<(usize, usize)> {
        let (from, first) = self.next.take()?;
        self.given = first;
        let to = end_of(text, from, self.max.min(self.n - first))?;
        let rest = self.n - first - self.max.min(self.n - first);
        if rest > 0 {
            // One that would be shorter begins earlier, so that it has as many characters.
            let step = rest.min(self.max);
            self.next = end_of(text, from, step).map(|from| (from, first + step));
        }
        Some((from, to))
    }
}

/// End of the `n`th character from `from` on; `None` if there are fewer.
fn end_of(text: &str, from: usize, n: usize) -> Option<usize> {
    let (at, last) = text[from..].char_indices().nth(n.checked_sub(1)?)?;
    Some(from + at + last.len_utf8())
}

/// Walks over neighbouring characters of Chinese, Japanese and Korean, and over other runs.
#[derive(Debug, Default)]
struct CjkBigrams {
    at: usize,
    /// Whether the character at `at` ended the last piece, so that it is no piece of its own.
    paired: bool,
}

impl CjkBigrams {
    fn next(&mut self, text: &str) -> Option<(usize, usize)> {
        loop {
            let from = self.at;
            let first = text[from..].chars().next()?;
            let to = from + first.len_utf8();
            let paired = std::mem::take(&mut self.paired);
            if is_cjk(first) {
                self.at = to;
                match text[to..].chars().next().filter(|next| is_cjk(*next)) {
                    Some(second) => {
                        self.paired = true;
                        return Some((from, to + second.len_utf8()));
                    }
                    None if paired => {}
                    None => return Some((from, to)),
                }
            } else if first.is_alphanumeric() {
                let other = |c: char| !c.is_alphanumeric() || is_cjk(c);
                self.at = text[from..].find(other).map_or(text.len(), |len| from + len);
                return Some((from, self.at));
            } else {
                self.at = to;
            }
        }
    }
}

/// Letters of the scripts that write words without spaces, and of Korean: Han, Hiragana, Katakana, Hangul.
fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11FF}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}'
        | '\u{3031}'..='\u{3035}' | '\u{3038}'..='\u{303C}' | '\u{3041}'..='\u{318F}'
        | '\u{31F0}'..='\u{31FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{A960}'..='\u{A97F}' | '\u{AC00}'..='\u{D7FF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{FF66}'..='\u{FFDC}' | '\u{1AFF0}'..='\u{1B16F}' | '\u{20000}'..='\u{3FFFF}')
        && c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain(text: &str) -> String {
        text.replace(apostrophe::is_typographic, "'")
    }

    fn pieces(mut splitter: Splitter, text: &str) -> Vec<String> {
        let mut pieces = vec![];
        let is_gram = splitter.takes_prepared();
        let mut stream = splitter.token_stream(text);
        while stream.advance() {
            let token = stream.token();
            let cut = &text[token.offset_from..token.offset_to];
            // N-grams are cut from what filters of characters have made, apostrophes included.
            assert_eq!(token.text, if is_gram { cut.to_owned() } else { plain(cut) });
            assert_eq!(token.position_length, 1);
            // N-grams that begin at one character have its position.
            let expected = match is_gram {
                true => text[..token.offset_from].chars().count(),
                false => pieces.len(),
            };
            assert_eq!(token.position, expected);
            pieces.push(token.text.clone());
        }
        assert!(!stream.advance());
        pieces
    }

    #[test]
    fn each_splitter_cuts_as_its_name_says() {
        let ngrams = |min, max| Splitter::ngrams(min, max).unwrap();
        let edges = |min, max| Splitter::edge_ngrams(min, max).unwrap();
        let none: &[&str] = &[];
        let cases: &[(Splitter, &str, &[&str])] = &[
            (Splitter::alphanumeric(), "AC/DC Ünï_1", &["AC", "DC", "Ünï", "1"]),
            (Splitter::alphanumeric(), "--", none),
            (Splitter::whitespace(), " a-b\u{3000}C,\t\u{1F3B5} ", &["a-b", "C,", "\u{1F3B5}"]),
            (Splitter::whitespace(), " \n", none),
            (
                Splitter::words(),
                "can't 3.14 O\u{2019}Neil e-mail",
                &["can't", "3.14", "O'Neil", "e", "mail"],
            ),
            (Splitter::words(), "\u{1F3B5} ... \u{1F1E9}\u{1F1EA}", none),
            (Splitter::keyword(), " A, b ", &[" A, b "]),
            (Splitter::keyword(), "", none),
            (ngrams(2, 3), "hεllo", &["hε", "hεl", "εl", "εll", "ll", "llo", "lo"]),
            (ngrams(3, 3), "ab", none),
            (ngrams(1, 1), "a\u{1F3B5}", &["a", "\u{1F3B5}"]),
            (ngrams(1, 64), "ab", &["a", "ab", "b"]),
            (edges(2, 5), "hεllo you", &["hε", "hεl", "hεll", "hεllo"]),
            (edges(2, 9), "abc", &["ab", "abc"]),
            (edges(2, 9), "a", none),
            (
                Splitter::old(Old::CjkBigrams).unwrap(),
                "東京都2020年 abc",
                &["東京", "京都", "2020", "年", "abc"],
            ),
            (Splitter::old(Old::CjkBigrams).unwrap(), "北、京都", &["北", "京都"]),
            (Splitter::old(Old::CjkBigrams).unwrap(), "서울 시x", &["서울", "시", "x"]),
            (Splitter::old(Old::CjkBigrams).unwrap(), "コーヒー", &["コー", "ーヒ", "ヒー"]),
            (
                Splitter::old(Old::CjkBigrams).unwrap(),
                "\u{20000}\u{20001}\u{20002}",
                &["\u{20000}\u{20001}", "\u{20001}\u{20002}"],
            ),
            (Splitter::old(Old::CjkBigrams).unwrap(), "、", none),
        ];
        for (splitter, text, expected) in cases {
            assert_eq!(pieces(splitter.clone(), text), *expected, "{splitter:?} of {text:?}");
        }
    }

    #[test]
    fn lengths_of_ngrams_have_limits() {
        for (min, max) in [(0, 1), (2, 1), (1, NGRAM_MAX + 1), (0, 0)] {
            for made in [Splitter::ngrams(min, max), Splitter::edge_ngrams(min, max)] {
                assert_eq!(made.unwrap_err().kind(), ErrorKind::Analyzer, "{min},{max}");
            }
        }
    }

    /// One case of Unicode's own test of word boundaries: `÷ 0061 × 0027 ÷`.
    fn check_word_break(case: &str) {
        let mut segments = vec![String::new()];
        for part in case.split_whitespace() {
            match (part, segments.last_mut()) {
                ("÷", _) => segments.push(String::new()),
                ("×", _) => {}
                (code, Some(last)) => {
                    let code = u32::from_str_radix(code, 16).expect("a code point");
                    last.push(char::from_u32(code).expect("a character"));
                }
                (_, None) => unreachable!("there is always a segment"),
            }
        }
        let words: Vec<_> = segments
            .iter()
            .filter(|s| s.contains(char::is_alphanumeric))
            .map(|s| plain(s))
            .collect();
        assert_eq!(pieces(Splitter::words(), &segments.concat()), words, "{case}");
    }

    /// Written for this test by the rules of UAX #29, one or more for each.
    const WORD_BREAKS: &[&str] = &[
        "÷ 0061 × 0062 ÷ 0020 ÷ 0063 ÷",               // WB5 and WB999
        "÷ 0061 ÷ 000D × 000A ÷ 0062 ÷",               // WB3 to WB3b
        "÷ 0061 × 0308 × 0062 ÷",                      // WB4: marks belong to what is before
        "÷ 0061 × 200D × 0062 ÷",                      // WB4: so does a joiner
        "÷ 0061 × 0027 × 0062 ÷",                      // WB6 and WB7: a'b
        "÷ 0061 × 2019 × 0308 × 0062 ÷",               // the same with a mark between
        "÷ 0061 ÷ 0027 ÷ 0031 ÷",                      // … but not before a digit
        "÷ 0061 × 002E × 0062 ÷ 002E ÷ 0020 ÷",        // a.b. ends before its last stop
        "÷ 05D0 × 0027 ÷ 0020 ÷",                      // WB7a: a Hebrew letter keeps its apostrophe
        "÷ 05D0 × 0022 × 05D1 ÷",                      // WB7b and WB7c: and quotes between two
        "÷ 0061 × 0031 × 0062 ÷",                      // WB9 and WB10
        "÷ 0033 × 002E × 0031 × 0034 ÷",               // WB11 and WB12: 3.14
        "÷ 0031 × 002C × 0030 × 0030 × 0030 ÷ 002C ÷", // 1,000,
        "÷ 0031 ÷ 003A ÷ 0032 ÷",                      // 1:2 are two
        "÷ 30AB × 30BF ÷ 6F22 ÷ 5B57 ÷", // WB13: Katakana holds together, Han does not
        "÷ 0061 × 005F × 0031 × 005F × 30AB ÷", // WB13a and WB13b: the underscore binds
        "÷ 1F1E9 × 1F1EA ÷ 1F1EB × 1F1F7 ÷ 0061 ÷", // WB15 and WB16: flags in pairs
        "÷ 1F469 × 200D × 1F4BB ÷ 0061 ÷", // WB3c: joined emoji
        "÷ 0061 × 2060 × 0062 ÷",        // WB4: a word joiner is ignored
        "÷ 0646 × 0651 × 0627 ÷ 0020 ÷ 0645 ÷", // right to left is like any other
    ];

    #[test]
    fn words_follow_the_rules_of_unicode() {
        WORD_BREAKS.iter().for_each(|case| check_word_break(case));
    }

    /// Cases of the file, which is that of Unicode 14, that a later Unicode has otherwise: U+2701 is no
    /// pictograph any more, so that nothing joins it.
    const CHANGED: &[(&str, &str)] = &[
        ("÷ 2701 × 200D × 2701 ÷", "÷ 2701 × 200D ÷ 2701 ÷"),
        ("÷ 0061 × 200D × 2701 ÷", "÷ 0061 × 200D ÷ 2701 ÷"),
    ];

    #[test]
    fn words_pass_every_case_of_unicodes_own_test_where_it_lies_beside_the_project() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../shared/data/text/WordBreakTest.txt");
        let Ok(file) = std::fs::read_to_string(&path) else {
            println!("skipped: {} is not here", path.display());
            return;
        };
        let cases = file.lines().map(|line| line.split('#').next().unwrap_or("").trim());
        let cases: Vec<_> = cases.filter(|case| !case.is_empty()).collect();
        assert!(cases.len() > 1_000, "{} cases", cases.len());
        for case in cases {
            let changed = CHANGED.iter().find(|(old, _)| *old == case);
            check_word_break(changed.map_or(case, |(_, new)| new));
        }
    }

    proptest! {
        #[test]
        fn ngrams_of_any_text_are_its_windows(text in "\\PC{0,12}", min in 1..4usize, more in 0..4usize) {
            let chars: Vec<char> = text.chars().collect();
            let windows = |from: usize| {
                let rest = &chars[from..];
                (min..=(min + more).min(rest.len())).map(|len| rest[..len].iter().collect::<String>()).collect::<Vec<_>>()
            };
            let all: Vec<_> = (0..chars.len()).flat_map(windows).collect();
            prop_assert_eq!(pieces(Splitter::ngrams(min, min + more).unwrap(), &text), all);
            let edges = if chars.is_empty() { vec![] } else { windows(0) };
            prop_assert_eq!(pieces(Splitter::edge_ngrams(min, min + more).unwrap(), &text), edges);
        }

        #[test]
        fn bigrams_cover_every_letter_once_or_twice(text in "[東京都かな한글a1 、-]{0,20}") {
            let found = pieces(Splitter::old(Old::CjkBigrams).unwrap(), &text);
            // Runs of one class each; a run of n letters of CJK has max(1, n - 1) bigrams.
            let class = |c: char| if !c.is_alphanumeric() { 0 } else if is_cjk(c) { 2 } else { 1 };
            let chars: Vec<char> = text.chars().collect();
            let mut expected = vec![];
            for run in chars.chunk_by(|a, b| class(*a) == class(*b)) {
                match (class(run[0]), run.len()) {
                    (0, _) => {}
                    (1, _) | (_, 1) => expected.push(run.iter().collect::<String>()),
                    _ => expected.extend(run.windows(2).map(|two| two.iter().collect::<String>())),
                }
            }
            prop_assert_eq!(found, expected);
        }
    }
}
