//! Every character by what the default analyzer makes of it.
//!
//! Texts are folded in this order: compatibility decomposition (NFKD), no diacritics, full case folding, and
//! composition. The result for most characters does not depend on their neighbours, so that a table has it: one page
//! for 256 characters of the basic multilingual plane, which the first of them that is met makes, in some 50 µs.

use std::sync::OnceLock;

use unicode_normalization::UnicodeNormalization;

use crate::analysis::normalization::{is_ignorable, joins};
use crate::analysis::script::{Script, is_ideograph, is_syllable};
use crate::analysis::{apostrophe, case, fold};

/// Class of a character for the default analyzer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Ends words.
    Separator,
    /// Belongs to the word that it is in and leaves nothing in it: a diacritic, a joiner.
    Dropped,
    /// Part of a word, as this character.
    Word(char),
    /// Part of a word, as these characters.
    Words(&'static str),
    /// Stays as it is, in a script that is cut into pairs.
    Pair,
    /// Stays as it is, and belongs to what is before it.
    Mark,
    /// May compose with what is before it, or change places with it.
    Joins,
    /// Only the general way knows.
    Other,
}

const PAGE: usize = 256;
const PAGES: usize = 0x1_0000 / PAGE;

/// Codes of the classes; from [`WORD`] on a code is the character of [`Class::Word`].
const SEPARATOR: u16 = 0;
const DROPPED: u16 = 1;
const PAIR: u16 = 2;
const MARK: u16 = 3;
const JOINS: u16 = 4;
const OTHER: u16 = 5;
const WORD: u16 = b'0' as u16;
/// Surrogates are no characters, so codes from here on number the texts of [`Class::Words`].
const WORDS: u16 = 0xD800;
const WORDS_END: u16 = 0xE000;

struct ClassPage {
    codes: [u16; PAGE],
    texts: Vec<String>,
}

static TABLE: [OnceLock<Box<ClassPage>>; PAGES] = [const { OnceLock::new() }; PAGES];

impl Class {
    /// The class of a character.
    #[inline]
    pub(super) fn of(c: char) -> Class {
        if is_ideograph(c) || is_syllable(c) {
            return Class::Pair;
        }
        let code = c as usize;
        match TABLE.get(code / PAGE) {
            Some(page) => {
                let page = page.get_or_init(|| ClassPage::new(code / PAGE));
                match page.codes[code % PAGE] {
                    SEPARATOR => Class::Separator,
                    DROPPED => Class::Dropped,
                    PAIR => Class::Pair,
                    MARK => Class::Mark,
                    JOINS => Class::Joins,
                    WORDS..WORDS_END if page.codes[code % PAGE] >= WORDS => {
                        let nth = page.codes[code % PAGE] - WORDS;
                        page.texts
                            .get(usize::from(nth))
                            .map_or(Class::Other, |text| Class::Words(text))
                    }
                    code if code >= WORD => {
                        char::from_u32(code.into()).map_or(Class::Other, Class::Word)
                    }
                    _ => Class::Other,
                }
            }
            None => match c {
                '\u{20000}'..='\u{2F7FF}' | '\u{30000}'..='\u{3FFFF}' if c.is_alphanumeric() => {
                    Class::Pair
                }
                '\u{1F300}'..='\u{1FAFF}' => Class::Separator,
                _ if joins(c) => Class::Joins,
                _ => Class::Other,
            },
        }
    }
}

impl ClassPage {
    #[cold]
    fn new(nth: usize) -> Box<Self> {
        let mut page = Box::new(ClassPage { codes: [SEPARATOR; PAGE], texts: vec![] });
        let mut folded = String::new();
        for at in 0..PAGE {
            let Some(c) = char::from_u32((nth * PAGE + at) as u32) else { continue };
            page.codes[at] = page.code_of(c, &mut folded);
        }
        page
    }

    fn code_of(&mut self, c: char, folded: &mut String) -> u16 {
        if is_ignorable(c) {
            return DROPPED;
        }
        if is_separator(c) {
            return SEPARATOR;
        }
        folded.clear();
        push_folded(std::iter::once(c), folded);
        if folded.is_empty() {
            // A space with an accent is a space.
            return if Script::of(c) == Script::Separator { SEPARATOR } else { DROPPED };
        }
        if joins(c) {
            return JOINS;
        }
        let scripts = || folded.chars().map(Script::of);
        let mut chars = folded.chars();
        let only = chars.next().filter(|_| chars.next().is_none());
        if scripts().all(|script| script == Script::Separator) {
            return SEPARATOR;
        }
        if scripts().all(|script| script == Script::Word) {
            return match only.and_then(|only| u16::try_from(u32::from(only)).ok()) {
                Some(code) if code >= WORD => code,
                _ => {
                    self.texts.push(folded.clone());
                    WORDS + (self.texts.len() - 1) as u16
                }
            };
        }
        match (only == Some(c), Script::of(c)) {
            (true, Script::Mark) => MARK,
            (true, Script::Hangul | Script::Unspaced) => PAIR,
            _ => OTHER,
        }
    }
}

/// Characters that end words although their folding has letters: apostrophes that are letters, and
/// the signs of trade marks.
fn is_separator(c: char) -> bool {
    apostrophe::is_letter(c) || matches!(c, '\u{2120}' | '\u{2122}')
}

/// Appends what the default analyzer folds a text to, the separators with it.
pub(super) fn push_folded(text: impl Iterator<Item = char>, out: &mut String) {
    let kept = |c: char| match c {
        _ if is_separator(c) => Some(' '),
        _ if is_ignorable(c) || fold::is_mark(c) => None,
        _ => Some(c),
    };
    let mut folded = String::new();
    for c in text.map(|c| if is_separator(c) { ' ' } else { c }).nfkd() {
        if let Some(c) = kept(c) {
            case::push(c, &mut folded);
        }
    }
    fold::push_folded(&folded, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        let mut out = String::new();
        push_folded(text.chars(), &mut out);
        out
    }

    #[test]
    fn case_compatibility_forms_and_diacritics_are_folded() {
        for (spellings, expected) in [
            (&["Zürich", "ZÜRICH", "Zu\u{308}rich", "zurich"][..], "zurich"),
            (&["ΟΔΥΣΣΕΎΣ", "Οδυσσεύς"], "οδυσσευσ"),
            (&["Straße", "STRAẞE"], "strasse"),
            (&["İstanbul", "ıstanbul", "I\u{307}stanbul"], "istanbul"),
            (&["ﬁnance", "ＦＩＮＡＮＣＥ", "ℱinance"], "finance"),
            (&["ガ", "ｶﾞ", "カ\u{3099}"], "ガ"),
            (&["한", "\u{1112}\u{1161}\u{11AB}"], "한"),
            (&["co\u{AD}operate", "co\u{200D}operate", "coo\u{200C}perate\u{FE0F}"], "cooperate"),
            (&["ᾳ", "ᾼ", "α"], "α"),
            (&["ŉ"], " n"),
            (&["x²"], "x2"),
        ] {
            for spelling in spellings {
                assert_eq!(folded(spelling), expected, "{spelling}");
            }
        }
    }

    #[test]
    fn classes_say_what_folding_does() {
        for c in (0..=0x10_FFFF).filter_map(char::from_u32) {
            let text = folded(&c.to_string());
            match Class::of(c) {
                Class::Word(one) => assert_eq!(text, one.to_string(), "{c:?}"),
                Class::Words(words) => assert_eq!(text, words, "{c:?}"),
                Class::Pair | Class::Mark => assert_eq!(text, c.to_string(), "{c:?}"),
                Class::Dropped => assert_eq!(text, "", "{c:?}"),
                Class::Separator => assert!(!text.contains(char::is_alphanumeric), "{c:?}"),
                Class::Joins | Class::Other => {}
            }
            assert_eq!(folded(&text), text, "{c:?}");
        }
        for c in "aé9ßİςжא東ー한ไิ\u{301}\u{200D}-".chars() {
            assert!(!matches!(Class::of(c), Class::Joins | Class::Other), "{c:?}");
        }
    }
}
