//! Letters without their diacritics.
//!
//! A text is decomposed (NFKD), loses the combining marks of the alphabets that people leave out when
//! they type (Latin, Greek, Cyrillic, Hebrew points, Arabic and Syriac vowel signs), and is composed
//! again (NFC), so that Hangul, kana and the scripts of India stay as they are: their marks are letters.
//! Letters with a stroke or of two parts, which Unicode does not decompose, follow a table. Case stays.
//!
//! The decomposition maps compatibility forms too: `ﬁ` to `fi`, full width to plain, `²` to `2`.

use unicode_normalization::UnicodeNormalization;

/// Appends the text without its diacritics.
pub(super) fn push_folded(text: &str, out: &mut String) {
    let plain = text.nfkd().filter(|c| !is_mark(*c));
    for c in plain.nfc() {
        match SPECIAL.binary_search_by_key(&c, |(letter, _)| *letter) {
            Ok(at) => out.push_str(SPECIAL[at].1),
            Err(_) => out.push(c),
        }
    }
}

/// Combining marks that are not letters of their script.
pub(super) fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36F}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5BD}' | '\u{5BF}'
        | '\u{5C1}'..='\u{5C2}' | '\u{5C4}'..='\u{5C5}' | '\u{5C7}' | '\u{610}'..='\u{61A}'
        | '\u{640}' | '\u{64B}'..='\u{65F}' | '\u{670}' | '\u{6D6}'..='\u{6DC}'
        | '\u{6DF}'..='\u{6E4}' | '\u{6E7}'..='\u{6E8}' | '\u{6EA}'..='\u{6ED}' | '\u{711}'
        | '\u{730}'..='\u{74A}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}'
        | '\u{20D0}'..='\u{20FF}' | '\u{FE20}'..='\u{FE2F}')
}

/// Letters that do not decompose, sorted.
const SPECIAL: &[(char, &str)] = &[
    ('Æ', "AE"),
    ('Ð', "D"),
    ('Ø', "O"),
    ('Þ', "TH"),
    ('ß', "ss"),
    ('æ', "ae"),
    ('ð', "d"),
    ('ø', "o"),
    ('þ', "th"),
    ('Đ', "D"),
    ('đ', "d"),
    ('Ħ', "H"),
    ('ħ', "h"),
    ('ı', "i"),
    ('ĸ', "q"),
    ('Ł', "L"),
    ('ł', "l"),
    ('Ŋ', "N"),
    ('ŋ', "n"),
    ('Œ', "OE"),
    ('œ', "oe"),
    ('Ŧ', "T"),
    ('ŧ', "t"),
    ('ƀ', "b"),
    ('Ɓ', "B"),
    ('Ɖ', "D"),
    ('Ɗ', "D"),
    ('Ɨ', "I"),
    ('Ɲ', "N"),
    ('ƶ', "z"),
    ('Ǥ', "G"),
    ('ǥ', "g"),
    ('ȷ', "j"),
    ('ɓ', "b"),
    ('ɖ', "d"),
    ('ɗ', "d"),
    ('ɨ', "i"),
    ('ɲ', "n"),
    ('ẞ', "SS"),
    ('\u{2018}', "'"),
    ('\u{2019}', "'"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> String {
        let mut out = String::new();
        push_folded(text, &mut out);
        out
    }

    #[test]
    fn diacritics_go_and_letters_stay() {
        for (text, expected) in [
            ("Ünïcödé", "Unicode"),
            ("e\u{301}", "e"),
            ("Straße STRAẞE", "Strasse STRASSE"),
            ("smørrebrød Łódź Đorđe", "smorrebrod Lodz Dorde"),
            ("Æsir cœur Þór", "AEsir coeur THor"),
            ("i\u{307}stanbul ısı", "istanbul isi"),
            ("Ελλάδα", "Ελλαδα"),
            ("ёлка йод", "елка иод"),
            ("ﬁnance ＡＢＣ x²", "finance ABC x2"),
            ("Việt Nam", "Viet Nam"),
            ("שָׁלוֹם", "שלום"),
            ("مُحَمَّد", "محمد"),
            // Marks that are letters.
            ("が ガ ｶﾞ", "が ガ ガ"),
            ("한국어", "한국어"),
            ("हिन्दी தமிழ் ไทยที่", "हिन्दी தமிழ் ไทยที่"),
            ("北京", "北京"),
            ("", ""),
        ] {
            assert_eq!(folded(text), expected, "{text}");
        }
    }

    #[test]
    fn folding_twice_is_folding_once() {
        for c in (0..=0x10_FFFF).filter_map(char::from_u32) {
            let once = folded(c.encode_utf8(&mut [0; 4]));
            assert_eq!(folded(&once), once, "{c:?}");
        }
    }

    #[test]
    fn the_table_is_sorted_and_says_what_decomposition_does_not() {
        assert!(SPECIAL.is_sorted_by(|a, b| a.0 < b.0));
        for (letter, plain) in SPECIAL {
            let decomposed: String = std::iter::once(*letter).nfkd().collect();
            assert_eq!(decomposed, letter.to_string());
            assert!(plain.is_ascii(), "{letter}");
        }
    }
}
