//! Scripts of characters, which decide whether a text is cut into words or into pairs.

use crate::analysis::normalization;

/// Rule by which texts of a character's script are cut into terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    /// No letter and no digit.
    Separator,
    /// Part of a word.
    Word,
    /// A mark, which belongs to what is before it.
    Mark,
    /// A syllable of Korean, whose words are cut into pairs beside.
    Hangul,
    /// A character of a script without spaces: Chinese, Japanese, Thai, Lao, Khmer, Burmese and their neighbours.
    Unspaced,
}

impl Script {
    /// That of a character that is normalized.
    #[inline]
    pub(super) fn of(c: char) -> Self {
        if is_ideograph(c) {
            return Script::Unspaced;
        }
        if normalization::is_mark(c) {
            return Script::Mark;
        }
        if !c.is_alphanumeric() {
            return Script::Separator;
        }
        match c {
            _ if is_hangul(c) => Script::Hangul,
            _ if is_unspaced(c) && !is_digit(c) => Script::Unspaced,
            _ => Script::Word,
        }
    }

    /// That of a character that is known to be cut into pairs.
    #[inline]
    pub(super) fn of_pair(c: char) -> Self {
        if is_hangul(c) { Script::Hangul } else { Script::Unspaced }
    }
}

#[inline]
fn is_hangul(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11FF}' | '\u{3130}'..='\u{318F}'
        | '\u{A960}'..='\u{A97F}' | '\u{AC00}'..='\u{D7FF}')
}

/// Whether a character is one of the Chinese characters that normalization leaves as they are.
#[inline]
pub(super) fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}')
}

/// Whether a character is a syllable of Korean.
#[inline]
pub(super) fn is_syllable(c: char) -> bool {
    matches!(c, '\u{AC00}'..='\u{D7A3}')
}

/// Digits of Thai and its neighbours, which are numbers as any others.
fn is_digit(c: char) -> bool {
    c.is_numeric() && c < '\u{2000}' || matches!(c, '\u{A9F0}'..='\u{A9F9}')
}

/// Letters of scripts that write words without spaces: Han, Hiragana, Katakana, Bopomofo, and the scripts of Southeast
/// Asia whose lines are broken by a dictionary (`Line_Break=Complex_Context`).
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}'
        | '\u{1950}'..='\u{19DF}' | '\u{1A20}'..='\u{1AAF}' | '\u{2E80}'..='\u{2FDF}'
        | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3031}'..='\u{3035}'
        | '\u{3038}'..='\u{303C}' | '\u{3041}'..='\u{312F}' | '\u{31A0}'..='\u{31BF}'
        | '\u{31F0}'..='\u{31FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{A9E0}'..='\u{A9FF}' | '\u{AA60}'..='\u{AADF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{11700}'..='\u{1174F}' | '\u{1AFF0}'..='\u{1B16F}' | '\u{20000}'..='\u{3FFFF}')
}

/// Whether a mark binds the letter after it, which is written below: the coeng of Khmer, the virama of Burmese.
#[inline]
pub(super) fn binds_next(c: char) -> bool {
    matches!(c, '\u{17D2}' | '\u{1039}' | '\u{1A60}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_cut_as_their_script_is_written() {
        for (text, expected) in [
            ("aZ9éσЖאعहக", Script::Word),
            ("๓໓၃៣", Script::Word),
            (" -.、。・’\u{200B}🎵", Script::Separator),
            ("\u{301}\u{93C}\u{94D}\u{E31}\u{3099}\u{17D2}", Script::Mark),
            ("한국ㅋᄒ", Script::Hangul),
            ("東京かなカナー々〇〆ㄅ𠀀ไทลາကខខก", Script::Unspaced),
        ] {
            for c in text.chars() {
                assert_eq!(Script::of(c), expected, "{c:?}");
                if matches!(expected, Script::Hangul | Script::Unspaced) {
                    assert_eq!(Script::of_pair(c), expected, "{c:?}");
                }
            }
        }
    }
}
