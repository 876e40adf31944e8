//! Names of fields as typed before options. Backquotes surround names with signs of options in them.

/// Names between `/`, and what follows the first `:`. Neither counts between backquotes, which are no part of a name.
pub(super) fn path_and_rest(typed: &str) -> (Vec<&str>, Option<&str>) {
    let (mut path, mut start, mut rest) = (vec![], 0, None);
    let (mut end, mut is_quoted) = (typed.len(), false);
    for (at, c) in typed.char_indices() {
        match c {
            '`' if is_quoted || at == start => is_quoted = !is_quoted,
            '/' if !is_quoted => {
                path.push(without_backquotes(&typed[start..at]));
                start = at + 1;
            }
            ':' if !is_quoted => {
                (end, rest) = (at, Some(&typed[at + 1..]));
                break;
            }
            _ => {}
        }
    }
    path.push(without_backquotes(&typed[start..end]));
    (path, rest)
}

fn without_backquotes(name: &str) -> &str {
    let inside = name.strip_prefix('`').and_then(|name| name.strip_suffix('`'));
    inside.filter(|inside| !inside.is_empty()).unwrap_or(name)
}
