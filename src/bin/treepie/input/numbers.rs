//! Numbers as tables have them: with commas, groups of digits, and units.

/// Style of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberStyle {
    /// Digits and a point: 1234.5.
    Plain,
    /// A comma before the fraction: 1.234,5.
    DecimalComma,
    /// Commas between thousands: 1,234.5.
    ThousandsComma,
}

impl NumberStyle {
    /// A number as Rust reads it, without anything between groups of digits. An exponent may be behind.
    pub(crate) fn with_point(self, text: &str) -> Option<String> {
        if let Some((number, exponent)) = text.split_once(['e', 'E']) {
            let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
            let is_exponent = !digits.is_empty() && is_digits(digits);
            return self
                .with_point(number)
                .filter(|_| is_exponent && !number.contains(['e', 'E']))
                .map(|number| format!("{number}e{exponent}"));
        }
        let (point, comma) = match self {
            NumberStyle::DecimalComma => (',', '.'),
            NumberStyle::Plain | NumberStyle::ThousandsComma => ('.', ','),
        };
        let (whole, fraction) = text.split_once(point).unwrap_or((text, ""));
        let (sign, digits) = match whole.strip_prefix(['-', '+']) {
            Some(digits) => (if whole.starts_with('-') { "-" } else { "" }, digits),
            None => ("", whole),
        };
        let is_apart =
            |c: char| c == comma || matches!(c, ' ' | '\'' | '\u{2019}' | '\u{A0}' | '\u{202F}');
        const GROUP: usize = 3;
        let mut groups = digits.split(is_apart);
        let first = groups.next().unwrap_or_default();
        let groups: Vec<&str> = groups.collect();
        let first_fits = groups.is_empty() || (1..=GROUP).contains(&first.len());
        let fits = first_fits
            && is_digits(first)
            && groups.iter().all(|group| group.len() == GROUP && is_digits(group))
            && is_digits(fraction)
            && !(first.is_empty() && fraction.is_empty());
        let whole = format!("{}{}", if first.is_empty() { "0" } else { first }, groups.concat());
        let point = if fraction.is_empty() { "" } else { "." };
        fits.then(|| format!("{sign}{whole}{point}{fraction}"))
    }

    pub(super) fn described(self) -> &'static str {
        match self {
            NumberStyle::Plain => "a number",
            NumberStyle::DecimalComma => "a number with a comma before its fraction, as 1.234,50",
            NumberStyle::ThousandsComma => "a number with a point before its fraction, as 1,234.50",
        }
    }
}

pub(super) fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Bytes of a unit at the most.
const UNIT_BYTES_MAX: usize = 32;

/// A unit as it is typed: the sign of a currency, or a word beside numbers.
pub(super) fn unit(typed: &str) -> Result<String, String> {
    let has_digit = typed.contains(|c: char| c.is_ascii_digit());
    let is_of_numbers = |c: char| matches!(c, '+' | '-' | '.' | ',' | '\'') || c.is_control();
    let is_unit = typed.trim() == typed
        && typed.len() <= UNIT_BYTES_MAX
        && !has_digit
        && typed.contains(|c| !is_of_numbers(c));
    match is_unit {
        true => Ok(typed.to_owned()),
        false => Err("expected a unit without digits, as $ or kg".to_owned()),
    }
}

/// A number without the unit before or behind it; `None` for a number that has none. A sign may be before both.
pub(crate) fn without_unit(text: &str, unit: &str) -> Option<String> {
    let (sign, rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => text.split_at(text.len() - rest.len()),
        None => ("", text),
    };
    let rest = rest.trim_start();
    let number = rest.strip_prefix(unit).or_else(|| rest.strip_suffix(unit))?;
    Some(format!("{sign}{}", number.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_commas_are_numbers_with_points() {
        for (written, expected) in [
            ("1,5", Some("1.5")),
            ("-1.234.567,89", Some("-1234567.89")),
            ("1.234", Some("1234")),
            ("1 234,5", Some("1234.5")),
            ("1\u{202F}234", Some("1234")),
            ("12", Some("12")),
            (",5", Some("0.5")),
            ("+3,0", Some("3.0")),
            ("1.5", None),
            ("1.23,4", None),
            ("1,2,3", None),
            ("1234.567", None),
            (".5", None),
            ("", None),
            (",", None),
            ("x", None),
            ("1,5e3", Some("1.5e3")),
            ("-1.234,5E+03", Some("-1234.5e+03")),
            ("1,5e", None),
            ("1,5e3,2", None),
            ("1e2e3", None),
            ("e3", None),
        ] {
            let read = NumberStyle::DecimalComma.with_point(written);
            assert_eq!(read.as_deref(), expected, "{written:?}");
            // The other style is this one with commas and points exchanged.
            let exchanged = |text: &str| {
                let other = |c: char| match c {
                    ',' => '.',
                    '.' => ',',
                    c => c,
                };
                text.chars().map(other).collect::<String>()
            };
            let read = NumberStyle::ThousandsComma.with_point(&exchanged(written));
            assert_eq!(read.as_deref(), expected, "{written:?}");
        }
    }

    #[test]
    fn units_are_before_or_behind_a_number_once() {
        for (text, unit, number) in [
            ("$1,234.50", "$", Some("1,234.50")),
            ("-$5", "$", Some("-5")),
            ("- $ 5", "$", Some("-5")),
            ("$-5", "$", Some("-5")),
            ("1.234,50\u{A0}€", "€", Some("1.234,50")),
            ("€ 3", "€", Some("3")),
            ("12.5 kg", "kg", Some("12.5")),
            ("CHF 12.50", "CHF", Some("12.50")),
            ("45 %", "%", Some("45")),
            ("5", "$", None),
            ("€5", "$", None),
            ("5 kg", "g", Some("5 k")),
            ("$5 $", "$", Some("5 $")),
            ("$", "$", Some("")),
        ] {
            assert_eq!(without_unit(text, unit).as_deref(), number, "{text} {unit}");
        }
        for typed in ["$", "€", "US$", "kg", "%", "Fr.", "m²"] {
            assert_eq!(unit(typed).as_deref(), Ok(typed));
        }
        for typed in ["", " ", "$ ", "m2", "-", ".", ",", "\u{1b}", &"x".repeat(33)] {
            assert!(unit(typed).is_err(), "{typed:?}");
        }
    }
}
