//! Findings about the state of the index, and about searches that were stopped.

use super::look::{Look, is_leaf, name_of, own_ns, percent, sum};
use super::{Finding, Severity};
use crate::bitmap::WINDOW;
use crate::explain::ExplainNode;
use crate::explain::tree::Branch;
use crate::explain::units::size;
use crate::plural::number_of;

/// Segments that are no sign yet of merging that lags behind: its policy leaves up to seven of each size.
const SEGMENTS_MANY: usize = 16;
/// Segments with fewer documents on average have no full container: most of what they cost is to look words up.
const DOCUMENTS_SMALL: u64 = WINDOW as u64;
/// The policy of merging looks at segments of which a quarter is deleted; below that they cost little.
const DELETED_PERCENT: u64 = 25;
/// Fewer deleted documents cost nothing that can be measured.
const DELETED_MANY: u64 = 1_000;
/// From so much of all bytes that were read, in percent, one list is what is read.
const BYTES_PERCENT: u64 = 80;
/// Fewer bytes are read within some hundred microseconds even if nothing is cached.
const BYTES_MANY: u64 = 1 << 20;

pub(super) fn look_at(look: &mut Look<'_>) {
    stopped(look);
    segments(look);
    deleted(look);
    one_list(look);
}

fn stopped(look: &mut Look<'_>) {
    let is_stopped = |node: &ExplainNode| node.actual.as_ref().is_some_and(|it| it.stopped);
    // Operators above it were stopped by it.
    let Some(&(node, _)) = look.nodes.iter().rfind(|(node, _)| is_stopped(node)) else { return };
    let message = format!(
        "the search was stopped at {} {}, so the answer is what was found until then",
        node.operator, node.label
    );
    let finding = Finding::new("stopped", Severity::Warning, message).of_node(node);
    look.add(0, finding.remedy("a longer timeout"));
}

fn segments(look: &mut Look<'_>) {
    let n = look.tree.segments.len();
    if n < SEGMENTS_MANY || look.documents / n as u64 >= DOCUMENTS_SMALL {
        return;
    }
    let each = number_of(look.documents / n as u64, "document");
    let message = format!("every word is looked up in {n} segments of about {each}");
    let finding = Finding::new("many segments", Severity::Hint, message);
    look.add(0, finding.remedy("merge the index"));
}

fn deleted(look: &mut Look<'_>) {
    let deleted = look.tree.of_segments(|segment| segment.deleted);
    let percent = percent(deleted, look.documents);
    if deleted < DELETED_MANY || percent < DELETED_PERCENT {
        return;
    }
    let message =
        format!("{} ({percent} %) are deleted and still read", number_of(deleted, "document"));
    let finding = Finding::new("many deleted", Severity::Hint, message);
    look.add(0, finding.remedy("merge the index"));
}

fn one_list(look: &mut Look<'_>) {
    let bytes_read = |node: &&ExplainNode| node.own().map_or(0, |(_, bytes)| bytes);
    let nodes = look.nodes.iter().map(|(node, _)| *node);
    let all = sum(nodes.clone().map(|node| bytes_read(&node)));
    let leaves = nodes.filter(|node| is_leaf(node));
    // If there is nothing else to read, it is no news.
    if leaves.clone().count() < 2 {
        return;
    }
    let Some(node) = leaves.max_by_key(bytes_read) else { return };
    let bytes = bytes_read(&node);
    let percent = percent(bytes, all);
    if bytes < BYTES_MANY || percent < BYTES_PERCENT || !look.matters(own_ns(node)) {
        return;
    }
    let message = format!("{percent} % of what was read, {}, is of {}", size(bytes), name_of(node));
    look.add(own_ns(node), Finding::new("one long list", Severity::Note, message).of_node(node));
}
