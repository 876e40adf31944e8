//! Expressions, ready to be computed: a list of steps over a stack of numbers.
//!
//! Ours, because what there is to take had other rules than its readers expect: of exmex 0.21 `max(1, min(2, 3))` and `1e3` are errors
//! and `-1^2` is 1; fasteval and meval have not been changed since 2020; evalexpr's licence is not ours to take.

use crate::compared::equal_by;

/// A parsed expression. Equal to others of the same text.
#[derive(Debug)]
pub(super) struct Expression {
    text: String,
    names: Vec<Name>,
    steps: Vec<Step>,
}

/// A name in an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) text: String,
    /// Whether it stands between backquotes.
    pub(super) is_quoted: bool,
}

/// Functions of one number, and of two.
pub(super) type Unary = fn(f64) -> f64;
pub(super) type Binary = fn(f64, f64) -> f64;

#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Number(f64),
    /// One of the names.
    Name(usize),
    Unary(Unary),
    Binary(Binary),
    /// The last of so many that were put down.
    Many(Many, usize),
}

/// Functions of any number of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Many {
    Min,
    Max,
    Coalesce,
    If,
}

impl Expression {
    pub(super) fn new(text: &str, names: Vec<Name>, steps: Vec<Step>) -> Self {
        Expression { text: text.to_owned(), names, steps }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn names(&self) -> &[Name] {
        &self.names
    }

    /// Number of steps that a value takes.
    pub(super) fn n_steps(&self) -> usize {
        self.steps.len()
    }

    pub(super) fn n_bytes(&self) -> usize {
        let names =
            self.names.iter().map(|name| name.text.len() + size_of::<Name>()).sum::<usize>();
        self.text.len() + names + size_of_val(&self.steps[..])
    }

    /// Value for the numbers of its names; NaN stands for a missing one.
    pub(super) fn value(&self, numbers: &[f64], stack: &mut Vec<f64>) -> f64 {
        stack.clear();
        for step in &self.steps {
            let value = match step {
                Step::Number(number) => *number,
                Step::Name(nth) => numbers.get(*nth).copied().unwrap_or(f64::NAN),
                Step::Unary(function) => function(pop(stack)),
                Step::Binary(function) => {
                    let (b, a) = (pop(stack), pop(stack));
                    function(a, b)
                }
                Step::Many(many, n) => {
                    let from = stack.len().saturating_sub(*n);
                    let value = many.of(stack.get(from..).unwrap_or_default());
                    stack.truncate(from);
                    value
                }
            };
            stack.push(value);
        }
        pop(stack)
    }
}

fn pop(stack: &mut Vec<f64>) -> f64 {
    stack.pop().unwrap_or(f64::NAN)
}

impl Many {
    fn of(self, numbers: &[f64]) -> f64 {
        // Unlike `f64::min`, nothing of nothing.
        let chosen = |is_better: fn(f64, f64) -> bool| {
            let better = |a: f64, b: &f64| if a.is_nan() || is_better(a, *b) { a } else { *b };
            numbers.iter().copied().reduce(|a, b| better(a, &b)).unwrap_or(f64::NAN)
        };
        match self {
            Many::Min => chosen(|a, b| a <= b),
            Many::Max => chosen(|a, b| a >= b),
            Many::Coalesce => {
                numbers.iter().copied().find(|number| !number.is_nan()).unwrap_or(f64::NAN)
            }
            Many::If => match numbers {
                [condition, ..] if condition.is_nan() => f64::NAN,
                [condition, yes, no] => {
                    if *condition != 0.0 {
                        *yes
                    } else {
                        *no
                    }
                }
                _ => f64::NAN,
            },
        }
    }
}

equal_by! {
    Expression: it => &it.text;
}
