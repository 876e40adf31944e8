//! Unicode's normalization forms, for texts that were written by different programs.
//!
//! `é` is one character or two, and `ｶﾞ` is another spelling of `ガ`. NFC makes canonical equivalents one,
//! NFKC also the compatibility forms: full and half width, ligatures, superscripts. A text that Unicode's quick
//! check finds normalized is not copied, as most texts are.

use unicode_normalization::char::{canonical_combining_class, is_combining_mark};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfkc_quick};

/// A normalization form that composes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Canonical composition.
    Nfc,
    /// Compatibility composition.
    Nfkc,
}

impl Form {
    /// Replaces a text by its normalization; `buffer` is kept for its capacity.
    pub(super) fn apply(self, text: &mut String, buffer: &mut String) {
        if text.is_ascii() || self.is_surely(text) {
            return;
        }
        buffer.clear();
        match self {
            Form::Nfc => buffer.extend(text.nfc()),
            Form::Nfkc => buffer.extend(text.nfkc()),
        }
        std::mem::swap(text, buffer);
    }

    /// Whether the quick check is sure that a text is normalized.
    pub(super) fn is_surely(self, text: &str) -> bool {
        let found = match self {
            Form::Nfc => is_nfc_quick(text.chars()),
            Form::Nfkc => is_nfkc_quick(text.chars()),
        };
        found == IsNormalized::Yes
    }
}

/// Whether normalization may compose a character with what is before it, or move it there.
pub(super) fn joins(c: char) -> bool {
    if c < '\u{300}' {
        return false;
    }
    // A half-width voiced sound mark is a mark only when it is decomposed.
    let first = std::iter::once(c).nfkd().next().unwrap_or(c);
    canonical_combining_class(first) != 0
        || is_nfc_quick(std::iter::once(first)) == IsNormalized::Maybe
}

/// Whether a character is a mark that belongs to the character before it.
pub(super) fn is_mark(c: char) -> bool {
    c >= '\u{300}' && is_combining_mark(c)
}

/// Whether a character is invisible and says nothing about where words end (`Default_Ignorable_Code_Point`).
///
/// The zero-width space is not among these, because it ends a word (UAX #29).
pub(super) fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200C}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
        | '\u{FFF0}'..='\u{FFF8}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{E0FFF}')
}

/// Walks over the parts of a text that normalization treats by themselves: a character and what
/// [joins] it.
pub(super) fn clusters(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = &text[from..];
        let first = rest.chars().next()?;
        let tail = rest[first.len_utf8()..].find(|c: char| !joins(c) && !is_mark(c));
        let len = tail.map_or(rest.len(), |tail| first.len_utf8() + tail);
        from += len;
        Some((from - len, &rest[..len]))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn normalized(form: Form, text: &str) -> String {
        let (mut text, mut buffer) = (text.to_owned(), String::new());
        form.apply(&mut text, &mut buffer);
        text
    }

    #[test]
    fn forms_compose() {
        for (text, nfc, nfkc) in [
            ("", "", ""),
            ("abc", "abc", "abc"),
            ("e\u{301}", "é", "é"),
            ("é", "é", "é"),
            ("\u{1112}\u{1161}\u{11AB}", "한", "한"),
            ("か\u{3099} ｶﾞ", "が ｶﾞ", "が ガ"),
            ("ﬁ ＡＢ ²", "ﬁ ＡＢ ²", "fi AB 2"),
            ("Vie\u{302}\u{323}t Vie\u{323}\u{302}t", "Việt Việt", "Việt Việt"),
        ] {
            assert_eq!(normalized(Form::Nfc, text), nfc, "{text}");
            assert_eq!(normalized(Form::Nfkc, text), nfkc, "{text}");
        }
    }

    proptest! {
        #[test]
        fn clusters_are_normalized_by_themselves(text in "([a-zé]|\\PC|[\u{300}-\u{330}\u{1100}-\u{1175}\u{11A8}-\u{11C2}\u{3099}ｶﾞかはﾟ\u{93C}\u{9BE}\u{9C7}]){0,20}") {
            for form in [Form::Nfc, Form::Nfkc] {
                let parts: String =
                    clusters(&text).map(|(_, cluster)| normalized(form, cluster)).collect();
                prop_assert_eq!(parts, normalized(form, &text));
            }
            prop_assert_eq!(clusters(&text).map(|(_, cluster)| cluster).collect::<String>(), text);
        }
    }
}
