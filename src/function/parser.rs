//! Texts of expressions.
//!
//! ```text
//! comparison = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//! sum        = product { ("+" | "-") product }
//! product    = signed { ("*" | "/" | "%") signed }
//! signed     = ("-" | "+") signed | power
//! power      = atom [ "^" signed ]
//! atom       = number | name | function "(" comparison { "," comparison } ")" | "(" comparison ")"
//! ```

use super::expression::{Binary, Expression, Many, Name, Step, Unary};
use crate::error::{Error, ErrorKind, Result};
use crate::value;

/// Levels of parentheses, signs and powers; and parts. Nobody writes so many by hand.
const DEPTH_MAX: u32 = 64;
const STEPS_MAX: usize = 1_000;

/// Reads an expression.
pub(super) fn parse(text: &str) -> Result<Expression> {
    let mut parser = Parser { text, at: 0, depth: 0, names: vec![], steps: vec![] };
    parser.comparison()?;
    parser.skip_spaces();
    if parser.at < text.len() {
        return Err(parser.refused("an operator or the end"));
    }
    Ok(Expression::new(text, parser.names, parser.steps))
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: u32,
    names: Vec<Name>,
    steps: Vec<Step>,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_spaces(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Takes this, if it is next.
    fn takes(&mut self, text: &str) -> bool {
        self.skip_spaces();
        let is_next = self.rest().starts_with(text);
        self.at += if is_next { text.len() } else { 0 };
        is_next
    }

    fn expect(&mut self, text: &str) -> Result<()> {
        if self.takes(text) { Ok(()) } else { Err(self.refused(&format!("'{text}'"))) }
    }

    fn refused(&self, expected: &str) -> Error {
        let found = match self.rest().chars().next() {
            Some(next) => format!("'{next}' at byte {} of '{}'", self.at, self.text),
            None => format!("the end of '{}'", self.text),
        };
        Error::new(ErrorKind::Usage, "reading an expression").expected(expected).found(found)
    }

    fn push(&mut self, step: Step) -> Result<()> {
        if self.steps.len() >= STEPS_MAX {
            let expected = format!("at most {STEPS_MAX} parts");
            return Err(Error::new(ErrorKind::Usage, "reading an expression")
                .expected(expected)
                .found("more"));
        }
        self.steps.push(step);
        Ok(())
    }

    /// Goes a level deeper for what `parse` reads.
    fn deeper(&mut self, parse: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if self.depth == DEPTH_MAX {
            let expected = format!("at most {DEPTH_MAX} levels");
            return Err(Error::new(ErrorKind::Usage, "reading an expression")
                .expected(expected)
                .found(format!("more at byte {}", self.at)));
        }
        self.depth += 1;
        parse(self)?;
        self.depth -= 1;
        Ok(())
    }

    fn comparison(&mut self) -> Result<()> {
        const COMPARISONS: [(&str, Binary); 6] = [
            ("<=", |a, b| of_both(a, b, a <= b)),
            (">=", |a, b| of_both(a, b, a >= b)),
            ("==", |a, b| of_both(a, b, a == b)),
            ("!=", |a, b| of_both(a, b, a != b)),
            ("<", |a, b| of_both(a, b, a < b)),
            (">", |a, b| of_both(a, b, a > b)),
        ];
        self.sum()?;
        let found = COMPARISONS.into_iter().find(|(sign, _)| self.takes(sign));
        let Some((_, function)) = found else { return Ok(()) };
        self.sum()?;
        self.push(Step::Binary(function))
    }

    fn sum(&mut self) -> Result<()> {
        self.product()?;
        loop {
            let function: Binary = match () {
                () if self.takes("+") => |a, b| a + b,
                () if self.takes("-") => |a, b| a - b,
                () => return Ok(()),
            };
            self.product()?;
            self.push(Step::Binary(function))?;
        }
    }

    fn product(&mut self) -> Result<()> {
        self.signed()?;
        loop {
            let function: Binary = match () {
                () if self.takes("*") => |a, b| a * b,
                () if self.takes("/") => |a, b| a / b,
                () if self.takes("%") => |a, b| a % b,
                () => return Ok(()),
            };
            self.signed()?;
            self.push(Step::Binary(function))?;
        }
    }

    fn signed(&mut self) -> Result<()> {
        let is_negative = self.takes("-");
        if !is_negative && !self.takes("+") {
            return self.power();
        }
        self.deeper(Self::signed)?;
        if is_negative { self.push(Step::Unary(|x| -x)) } else { Ok(()) }
    }

    fn power(&mut self) -> Result<()> {
        self.atom()?;
        if !self.takes("^") {
            return Ok(());
        }
        self.deeper(Self::signed)?;
        // Anything to the power of 0 is 1, but for what is not there.
        self.push(Step::Binary(|a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.powf(b) }))
    }

    fn atom(&mut self) -> Result<()> {
        if self.takes("(") {
            self.deeper(Self::comparison)?;
            return self.expect(")");
        }
        self.skip_spaces();
        let rest = self.rest();
        match rest.chars().next() {
            Some('0'..='9' | '.') => self.number(),
            Some('`') => {
                let end = rest.get(1..).and_then(|rest| rest.find('`'));
                let Some(end) = end else {
                    return Err(self.refused("a name between backquotes"));
                };
                self.at += end + 2;
                self.name(rest.get(1..=end).unwrap_or_default(), true)
            }
            Some(first) if first.is_alphabetic() || first == '_' => {
                let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
                let name = rest.split_once(|c| !is_part(c)).map_or(rest, |(name, _)| name);
                let before = self.at;
                self.at += name.len();
                match self.takes("(") {
                    true => self.call(name, before),
                    false => self.name(name, false),
                }
            }
            _ => Err(self.refused("a number, a name or '('")),
        }
    }

    fn number(&mut self) -> Result<()> {
        let rest = self.rest();
        let digits = |from: usize| {
            let rest = rest.get(from..).unwrap_or_default();
            rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())
        };
        let mut end = digits(0);
        if rest.get(end..).is_some_and(|rest| rest.starts_with('.')) {
            end += 1 + digits(end + 1);
        }
        if rest.get(end..).is_some_and(|rest| rest.starts_with(['e', 'E'])) {
            let sign = rest.get(end + 1..).is_some_and(|rest| rest.starts_with(['+', '-']));
            let exponent = end + 1 + usize::from(sign);
            if digits(exponent) > 0 {
                end = exponent + digits(exponent);
            }
        }
        let text = rest.get(..end).unwrap_or_default();
        let is_kept = |number: &f64| number.is_finite() && !value::vanishes(text, *number);
        let Some(number) = text.parse().ok().filter(is_kept) else {
            return Err(self.refused("a finite number"));
        };
        self.at += end;
        self.push(Step::Number(number))
    }

    fn name(&mut self, text: &str, is_quoted: bool) -> Result<()> {
        let name = Name { text: text.to_owned(), is_quoted };
        let known = self.names.iter().position(|other| *other == name);
        let nth = known.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        self.push(Step::Name(nth))
    }

    /// A function, whose name begins at `at` and whose parenthesis is open.
    fn call(&mut self, name: &str, at: usize) -> Result<()> {
        let mut n = 0;
        loop {
            self.deeper(Self::comparison)?;
            n += 1;
            if !self.takes(",") {
                break;
            }
        }
        self.expect(")")?;
        let step = match (name, n, unary(name)) {
            ("min", ..) => Step::Many(Many::Min, n),
            ("max", ..) => Step::Many(Many::Max, n),
            ("coalesce", ..) => Step::Many(Many::Coalesce, n),
            ("if", 3, _) => Step::Many(Many::If, n),
            (_, 1, Some(function)) => Step::Unary(function),
            (name, _, function) => {
                self.at = at;
                return Err(match (name, function) {
                    ("if", _) => self.refused("if(condition, then, else)"),
                    (_, Some(_)) => self.refused(&format!("one number in {name}(x)")),
                    _ => self.refused(
                        "a function: abs, ceil, coalesce, exp, floor, if, ln, log10, log1p, log2, max, min, round, sign or sqrt",
                    ),
                });
            }
        };
        self.push(step)
    }
}

/// 1 or 0; nothing where one of them is not there.
fn of_both(a: f64, b: f64, is_so: bool) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { f64::from(u8::from(is_so)) }
}

fn unary(name: &str) -> Option<Unary> {
    Some(match name {
        "abs" => f64::abs,
        "ceil" => f64::ceil,
        "exp" => f64::exp,
        "floor" => f64::floor,
        "ln" => f64::ln,
        "log10" => f64::log10,
        "log1p" => f64::ln_1p,
        "log2" => f64::log2,
        "round" => f64::round,
        "sign" => |x| if x == 0.0 { 0.0 } else { x.signum() },
        "sqrt" => f64::sqrt,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With `a` = 2, `b` = 3, and everything else missing.
    fn value(text: &str) -> f64 {
        let expression = parse(text).unwrap();
        let number = |name: &Name| match &*name.text {
            "a" => 2.0,
            "b" | "x.y" | "a b" => 3.0,
            _ => f64::NAN,
        };
        let numbers: Vec<_> = expression.names().iter().map(number).collect();
        expression.value(&numbers, &mut vec![])
    }

    #[test]
    fn expressions_are_what_they_are_on_paper() {
        let cases = [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("10 - 3 - 2", 5.0),
            ("24 / 4 / 2", 3.0),
            ("7 % 4 % 2", 1.0),
            ("2 ^ 3 ^ 2", 512.0),
            ("-2 ^ 2", -4.0),
            ("2 ^ -1", 0.5),
            ("2 * -a", -4.0),
            ("- - a", 2.0),
            ("+a", 2.0),
            ("1e3 + 1.5E-1 + .5 + 2.", 1002.65),
            ("a*b", 6.0),
            ("x.y + `a b`", 6.0),
            ("max(1, min(2, 3))", 2.0),
            ("max(1 + 1, max(b, max(7, 4)), a)", 7.0),
            ("min(a)", 2.0),
            ("a < b", 1.0),
            ("a >= b", 0.0),
            ("a + 1 == b", 1.0),
            ("a != b", 1.0),
            ("if(a > b, a, b - a)", 1.0),
            ("sqrt(abs(-9)) + ceil(1.2) + floor(1.8) + round(-2.5)", 3.0 + 2.0 + 1.0 - 3.0),
            ("exp(0) + ln(1) + log1p(0) + log2(8) + log10(1000)", 7.0),
            ("sign(-3) + sign(0) + sign(0.5)", 0.0),
            ("coalesce(c, a) + coalesce(b, c)", 5.0),
            ("if(a, b, c)", 3.0),
            ("coalesce(1 / 0 - 1 / 0, 4)", 4.0),
        ];
        for (text, expected) in cases {
            assert!((value(text) - expected).abs() < 1e-12, "{text} is {}", value(text));
        }
        for text in [
            "c",
            "c ^ 0",
            "1 ^ c",
            "0 * c",
            "min(a, c)",
            "max(c, a)",
            "c < 1",
            "c != c",
            "if(c, 1, 2)",
            "if(a < b, c, 1)",
            "sign(c)",
            "coalesce(c, c)",
            "sqrt(-1)",
        ] {
            assert!(value(text).is_nan(), "{text} is {}", value(text));
        }
    }

    #[test]
    fn what_is_no_expression_is_refused_where_it_stops_being_one() {
        let cases = [
            ("", "found the end of ''"),
            ("1 +", "found the end"),
            ("a b", "found 'b' at byte 2 of 'a b'"),
            ("(a", "expected ')', found the end"),
            ("a)", "found ')' at byte 1"),
            ("1 < 2 < 3", "found '<' at byte 6"),
            ("sin(a)", "expected a function: abs"),
            ("if(a, b)", "if(condition, then, else)"),
            ("sqrt(a, b)", "one number in sqrt(x)"),
            ("max()", "expected a number, a name or '('"),
            ("a & b", "found '&'"),
            ("`a", "between backquotes"),
            ("1e999", "a finite number"),
            (".", "a finite number"),
            ("é + ü ü", "found 'ü' at byte 8"),
        ];
        for (text, words) in cases {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
        for deep in ["(".repeat(100_000), "-".repeat(100_000), "2^".repeat(100_000)] {
            assert!(parse(&deep).unwrap_err().to_string().contains("at most 64 levels"));
        }
        let long = "1+".repeat(2_000) + "1";
        assert!(parse(&long).unwrap_err().to_string().contains("at most 1000 parts"));
    }

    /// Whatever is typed is read or refused.
    #[test]
    fn nothing_that_is_typed_brings_it_down() {
        let parts = [
            "(", ")", ",", "max", "min", "if", "-", "+", "*", "^", "1", "2.5", ".", "`", "a", "é",
            "ln", " ", "/", "<", "=", "==", "e", "1e", "\u{301}", "_",
        ];
        let mut random = 88_172_645_463_325_252u64;
        let mut below = |n: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random % n as u64) as usize
        };
        let mut n_read = 0;
        for _ in 0..20_000 {
            let text: String = (0..1 + below(9)).map(|_| parts[below(parts.len())]).collect();
            if let Ok(expression) = parse(&text) {
                n_read += 1;
                let mut stack = vec![];
                expression.value(&vec![1.5; expression.names().len()], &mut stack);
                assert!(stack.is_empty(), "{text} leaves {stack:?}");
            }
        }
        assert!(n_read > 100, "{n_read}");
    }
}
