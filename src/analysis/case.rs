//! Full case folding: what makes two spellings one that differ in upper and lower case.
//!
//! Beyond lower case, Unicode's folding (`CaseFolding.txt`, statuses C and F) makes `ß`, `ẞ` and `ss` one, the two
//! forms of sigma, the long s, and the letters that were encoded twice. The result is composed (NFC). The
//! folding of a character is the lower case of its upper case, which the standard library knows; the test
//! compares it with the table.
//!
//! Two kinds of Unicode's table differ, and stand for the same matches: Cherokee is folded to its small letters, where
//! Unicode takes the capitals, and a few letters whose folding is decomposed come out composed.
//!
//! In Turkish and Azerbaijani `I` is the capital of `ı`, and `İ` that of `i`: [`Language::Turkic`]. Lithuanian
//! keeps the dot of `i` below an accent in lower case, which folding ignores, so it needs no language.

use crate::analysis::apostrophe;
use crate::analysis::normalization::Form;

/// Which letters `I` and `İ` are the capitals of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// `I` of `i`, as in all languages but the Turkic ones.
    Any,
    /// `I` of `ı`, and `İ` of `i`.
    Turkic,
}

/// Replaces a text by its full case folding in NFC, with plain apostrophes; `buffer` is kept for its capacity.
pub(super) fn fold(text: &mut String, language: Language, buffer: &mut String) {
    if text.is_ascii() && (language == Language::Any || !text.contains('I')) {
        text.make_ascii_lowercase();
        return;
    }
    Form::Nfc.apply(text, buffer);
    buffer.clear();
    let mut expands = false;
    for c in text.chars() {
        match (c, language) {
            ('I', Language::Turkic) => buffer.push('ı'),
            ('İ', Language::Turkic) => buffer.push('i'),
            _ if apostrophe::is_typographic(c) => buffer.push('\''),
            _ => expands |= push(c, buffer) | is_accent(c),
        }
    }
    std::mem::swap(text, buffer);
    if expands {
        // Characters of a folded letter may be composed, as may a small letter and an accent whose capital has no
        // character with it (`ẖ`), and `ŉ` became an apostrophe and an n.
        Form::Nfc.apply(text, buffer);
        apostrophe::make_plain(text, buffer);
    }
}

/// Whether a character is an accent that a letter before it may be composed with in one case and not in the other.
#[inline]
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}')
}

/// Appends the folding of a character; whether it may need to be composed again.
#[inline]
pub(super) fn push(c: char, out: &mut String) -> bool {
    if c.is_ascii() {
        out.push(c.to_ascii_lowercase());
        return false;
    }
    if is_plain(c) {
        out.extend(c.to_lowercase());
        return false;
    }
    // The dotless i is a letter of its own: that its capital is `I` says nothing outside of its languages.
    if c == 'ı' {
        out.push(c);
        return false;
    }
    let upper = c.to_lowercase().flat_map(char::to_uppercase);
    let before = out.len();
    out.extend(upper.flat_map(char::to_lowercase));
    !out[before..].chars().eq([c])
}

/// Whether the folding of a character is its lower case, of one character and composed.
fn is_plain(c: char) -> bool {
    matches!(c,
        '\u{C0}'..='\u{DE}' | '\u{E0}'..='\u{12F}' | '\u{132}'..='\u{148}' | '\u{14A}'..='\u{17E}'
        | '\u{3B1}'..='\u{3C1}' | '\u{3C3}'..='\u{3C9}' | '\u{400}'..='\u{52F}'
        | '\u{5D0}'..='\u{6FF}' | '\u{900}'..='\u{109F}' | '\u{3000}'..='\u{A63F}'
        | '\u{AC00}'..='\u{D7FF}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_normalization::UnicodeNormalization;

    fn folded(text: &str, language: Language) -> String {
        let (mut text, mut buffer) = (text.to_owned(), String::new());
        fold(&mut text, language, &mut buffer);
        text
    }

    #[test]
    fn spellings_in_upper_and_lower_case_are_one() {
        for (spellings, expected) in [
            (&["PARIS", "Paris", "paris"][..], "paris"),
            (&["ΟΔΥΣΣΕΥΣ", "οδυσσευς", "Οδυσσευσ"], "οδυσσευσ"),
            (&["STRASSE", "Straße", "STRAẞE"], "strasse"),
            (&["ÉCOLE", "école", "e\u{301}cole", "E\u{301}COLE"], "école"),
            (&["ſchön", "Schön", "SCHO\u{308}N"], "schön"),
            (&["\u{212A}elvin", "Kelvin"], "kelvin"),
            (&["Å", "\u{212B}", "A\u{30A}"], "å"),
            (&["ﬁn", "FIN", "ﬁN"], "fin"),
            (&["ΐ", "ι\u{308}\u{301}", "Ϊ\u{301}"], "ΐ"),
            (&["µm", "μM", "ΜM"], "μm"),
            (&["ЁЛКА", "ёлка", "е\u{308}лка"], "ёлка"),
            (&["Ǆ", "ǅ", "ǆ"], "ǆ"),
            (&["ԵՒ", "և"], "եւ"),
            (&["Ა", "ა"], "ა"),
            (&["Ꭰ", "ꭰ"], "ꭰ"),
            (&["𐐀", "𐐨"], "𐐨"),
            (&["O’Neil", "O'Neil", "OʼNEIL", "O＇neil", "o‘neil", "o‛neil"], "o'neil"),
            (&["İ", "i\u{307}", "I\u{307}"], "i\u{307}"),
            (&["ı"], "ı"),
            (&["東京", ""][..1], "東京"),
        ] {
            for spelling in spellings {
                assert_eq!(folded(spelling, Language::Any), expected, "{spelling}");
            }
        }
    }

    #[test]
    fn the_turkic_i_has_a_dot_in_both_cases_or_in_none() {
        for (spellings, expected) in [
            (&["İSTANBUL", "istanbul", "I\u{307}stanbul"][..], "istanbul"),
            (&["ISPARTA", "ısparta", "Isparta"], "ısparta"),
            (&["DİYARBAKIR", "diyarbakır"], "diyarbakır"),
            (&["ÇAĞ", "çağ"], "çağ"),
            (&["ABC"], "abc"),
        ] {
            for spelling in spellings {
                assert_eq!(folded(spelling, Language::Turkic), expected, "{spelling}");
            }
        }
    }

    #[test]
    fn capitals_without_a_character_of_their_own_are_those_of_their_letters() {
        for (spellings, expected) in [
            (&["ẖ", "h\u{331}", "H\u{331}"][..], "ẖ"),
            (&["ǰ", "j\u{30C}", "J\u{30C}"], "ǰ"),
            (&["ẗẘẙ", "T\u{308}W\u{30A}Y\u{30A}"], "ẗẘẙ"),
            (&["ῶ", "Ω\u{342}", "ω\u{342}"], "ῶ"),
        ] {
            for spelling in spellings {
                assert_eq!(folded(spelling, Language::Any), expected, "{spelling}");
            }
        }
        // The dotless i is no letter of `I` here.
        for c in (0..=0x10_FFFF).filter_map(char::from_u32).filter(|c| *c != 'ı') {
            let once = folded(&c.to_string(), Language::Any);
            let upper: String = c.to_uppercase().collect();
            for spelling in [upper.clone(), upper.nfd().collect(), upper.nfc().collect()] {
                assert_eq!(folded(&spelling, Language::Any), once, "{c:?} as {spelling:?}");
            }
        }
    }

    #[test]
    fn folding_twice_is_folding_once() {
        for language in [Language::Any, Language::Turkic] {
            for c in (0..=0x10_FFFF).filter_map(char::from_u32) {
                let once = folded(c.encode_utf8(&mut [0; 4]), language);
                assert_eq!(folded(&once, language), once, "{c:?}");
            }
        }
    }

    /// The characters that Unicode takes for one are one here, and no others.
    #[test]
    fn the_folding_of_every_character_is_that_of_unicode() {
        let table = icu_casemap::CaseMapper::new();
        let mut buffer = String::new();
        // Characters that the standard library does not know yet have no case here.
        let known = (0..=0x10_FFFF).filter_map(char::from_u32).filter(|c| c.is_alphanumeric());
        for c in known {
            let text = c.to_string();
            let unicode = table.fold_string(&text).into_owned();
            // Ours of Unicode's is ours: whatever Unicode makes one is one.
            assert_eq!(folded(&unicode, Language::Any), folded(&text, Language::Any), "{c:?}");
            // And Unicode's of ours is Unicode's: whatever we make one is one.
            let mut ours = String::new();
            push(c, &mut ours);
            Form::Nfc.apply(&mut ours, &mut buffer);
            let mut back = table.fold_string(&ours).into_owned();
            Form::Nfc.apply(&mut back, &mut buffer);
            let mut unicode = unicode;
            Form::Nfc.apply(&mut unicode, &mut buffer);
            assert_eq!(back, unicode, "{c:?}");
        }
    }
}
