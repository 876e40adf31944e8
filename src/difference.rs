//! Differences of two texts, line by line.

/// Pairs of lines that are compared to find what two texts have in common; beyond that all of them are shown.
const PAIRS_MAX: usize = 4_000_000;
/// Lines around a difference that are shown with it.
const CONTEXT_LINES: usize = 3;

/// Returns the lines of two texts that differ, with some around them. Lines of the first alone have `-` before them,
/// lines of the second alone `+`.
#[doc(hidden)]
pub fn difference(left: &str, right: &str) -> String {
    let (left, right): (Vec<_>, Vec<_>) = (left.lines().collect(), right.lines().collect());
    let lines = aligned(&left, &right);
    let near = |at: usize| {
        let around = at.saturating_sub(CONTEXT_LINES)..(at + CONTEXT_LINES + 1).min(lines.len());
        lines[around].iter().any(|(sign, _)| *sign != ' ')
    };
    let mut out = String::new();
    for (at, (sign, line)) in lines.iter().enumerate() {
        if near(at) {
            out += format!("{sign} {line}").trim_end();
            out.push('\n');
        } else if at == 0 || near(at - 1) {
            out.push_str("  …\n");
        }
    }
    out
}

/// All of two rows in order: a blank before what both have, which is the longest common subsequence, `-` before what only the
/// first has, `+` before what only the second has.
fn aligned<T: PartialEq + Copy>(left: &[T], right: &[T]) -> Vec<(char, T)> {
    let all = |sign: char, items: &[T]| items.iter().map(|it| (sign, *it)).collect::<Vec<_>>();
    let start = left.iter().zip(right).take_while(|(l, r)| l == r).count();
    let ((same_start, l), r) = (left.split_at(start), &right[start..]);
    let end = l.iter().rev().zip(r.iter().rev()).take_while(|(l, r)| l == r).count();
    let ((l, same_end), r) = (l.split_at(l.len() - end), &r[..r.len() - end]);
    let between = match l.len().saturating_mul(r.len()) <= PAIRS_MAX {
        true => aligned_by_pairs(l, r),
        false => [all('-', l), all('+', r)].concat(),
    };
    [all(' ', same_start), between, all(' ', same_end)].concat()
}

fn aligned_by_pairs<T: PartialEq + Copy>(left: &[T], right: &[T]) -> Vec<(char, T)> {
    // Lengths of the subsequences of what begins at both positions.
    let mut longest = vec![vec![0_u32; right.len() + 1]; left.len() + 1];
    for l in (0..left.len()).rev() {
        for r in (0..right.len()).rev() {
            longest[l][r] = match left[l] == right[r] {
                true => longest[l + 1][r + 1] + 1,
                false => longest[l + 1][r].max(longest[l][r + 1]),
            };
        }
    }
    let mut signed = Vec::with_capacity(left.len() + right.len());
    let (mut l, mut r) = (0, 0);
    loop {
        let (sign, item) = match (left.get(l), right.get(r)) {
            (None, None) => break signed,
            (Some(one), Some(other)) if one == other => (' ', *one),
            (Some(one), Some(_)) if longest[l + 1][r] >= longest[l][r + 1] => ('-', *one),
            (Some(one), None) => ('-', *one),
            (_, Some(other)) => ('+', *other),
        };
        signed.push((sign, item));
        l += usize::from(sign != '+');
        r += usize::from(sign != '-');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn far_from_a_difference_nothing_is_shown() {
        let left: String = (0..50).map(|n| format!("{n}\n")).collect();
        let right = left.replace("25\n", "x\n");
        let shown = "  …\n  22\n  23\n  24\n- 25\n+ x\n  26\n  27\n  28\n  …\n";
        assert_eq!(difference(&left, &right), shown);
        assert_eq!(difference("", ""), "");
    }

    proptest! {
        #[test]
        fn both_texts_can_be_made_of_the_alignment(left in "[ab]{0,12}", right in "[abc]{0,12}") {
            let (l, r): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
            let signed = aligned(&l, &r);
            let of = |other: char| signed.iter().filter(move |(sign, _)| *sign != other);
            let of_left: String = of('+').map(|(_, c)| c).collect();
            let of_right: String = of('-').map(|(_, c)| c).collect();
            prop_assert_eq!((of_left, of_right), (left, right));
        }
    }
}
