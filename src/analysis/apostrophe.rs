//! Apostrophes as keyboards, word processors and linguists write them.
//!
//! Word processors write `don’t` for `don't`, and some languages have letters that look alike. A reader takes these for one.

/// Apostrophes beside the plain one of ASCII: the quotation marks that serve as one, the full-width form, and the
/// modifier letters.
pub(super) const TYPOGRAPHIC: [char; 9] = [
    '\u{2BB}', '\u{2BC}', '\u{2BD}', '\u{2018}', '\u{2019}', '\u{201B}', '\u{A78B}', '\u{A78C}',
    '\u{FF07}',
];

/// The plain apostrophe and the typographic ones.
pub(super) const ALL: [char; 10] = {
    let mut all = ['\''; 10];
    let mut nth = 0;
    while nth < TYPOGRAPHIC.len() {
        all[nth + 1] = TYPOGRAPHIC[nth];
        nth += 1;
    }
    all
};

/// Apostrophes of version 1 of the analyzers, before an `s` and behind an article.
pub(super) const VERSION_1: [char; 3] = ['\'', '\u{2019}', '\u{FF07}'];

/// Whether a character is an apostrophe outside ASCII.
#[inline]
pub(super) fn is_typographic(c: char) -> bool {
    c >= TYPOGRAPHIC[0] && TYPOGRAPHIC.contains(&c)
}

/// Whether a character is an apostrophe that Unicode takes for a letter, or a letter that people write as one:
/// the modifier letters of transliterations.
pub(super) fn is_letter(c: char) -> bool {
    matches!(c, '\u{2B9}'..='\u{2BF}' | '\u{2C8}' | '\u{2EE}' | '\u{A78B}' | '\u{A78C}')
}

/// Makes the apostrophes of a text plain; `buffer` is kept for its capacity.
pub(super) fn make_plain(text: &mut String, buffer: &mut String) {
    if text.is_ascii() || !text.contains(is_typographic) {
        return;
    }
    buffer.clear();
    buffer.extend(text.chars().map(|c| if is_typographic(c) { '\'' } else { c }));
    std::mem::swap(text, buffer);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apostrophes_become_plain() {
        let mut buffer = String::new();
        for c in TYPOGRAPHIC {
            let mut text = format!("don{c}t");
            make_plain(&mut text, &mut buffer);
            assert_eq!(text, "don't");
            assert!(ALL.contains(&c) && !is_typographic('\'') && ALL.contains(&'\''));
        }
        assert!(TYPOGRAPHIC.is_sorted());
        for other in ["", "abc", "“quoted”", "5′ 6″", "é"] {
            let mut text = other.to_owned();
            make_plain(&mut text, &mut buffer);
            assert_eq!(text, other);
        }
    }
}
