//! Halves of surrogate pairs. JSON can escape them alone, but no text has one.

/// Bytes of an escape by number, `\uD83D`.
pub(super) const ESCAPE_LEN: usize = 6;

/// Finds the first escape from `start` on that is half of a surrogate pair and has no other half.
pub(super) fn lone_surrogate(text: &str, start: usize) -> Option<usize> {
    let unit = |at: usize| {
        let digits = text.get(at..at + ESCAPE_LEN)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    let mut at = start;
    while let Some(found) = text.get(at..)?.find('\\') {
        at += found;
        match unit(at) {
            Some(0xD800..0xDC00) => match unit(at + ESCAPE_LEN) {
                Some(0xDC00..0xE000) => at += 2 * ESCAPE_LEN,
                _ => return Some(at),
            },
            Some(0xDC00..0xE000) => return Some(at),
            Some(_) => at += ESCAPE_LEN,
            // An escape here is a character of one byte, or an error that others report.
            None => at += 2,
        }
    }
    None
}

/// The text with an escape of U+FFFD in the place of each lone surrogate, the first of which is at `at`.
pub(super) fn without_lone_surrogates(text: &str, at: usize) -> String {
    let mut mended = text.to_owned();
    let mut lone = Some(at);
    while let Some(at) = lone {
        mended.replace_range(at..at + ESCAPE_LEN, "\\uFFFD");
        lone = lone_surrogate(&mended, at + ESCAPE_LEN);
    }
    mended
}
