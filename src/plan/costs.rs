//! Costs of kernels, lookups and lists on a machine, in nanoseconds. The planner multiplies these figures by sizes.
//!
//! The figures order alternatives and are shown beside them. No answer depends on them. The built-in ones were
//! measured on 144,245 articles with the benchmark game's queries on one core of an AMD Zen 3 with AVX2, caches warm;
//! the portable kernels cost 1.3 to 5 times as much.

use crate::error::{Error, ErrorKind, Result};
use std::fmt::Write;

/// The version of the text that this program writes and reads.
const VERSION: u32 = 1;
/// Nothing that is counted takes longer than a second.
const NS_MAX: f32 = 1e9;
/// The machine's name is cut after so many characters.
const MACHINE_CHARS_MAX: usize = 100;

macro_rules! cost_model {
    ($($(#[doc = $doc:literal])+ $name:ident = $built_in:literal;)+) => {
        /// One figure for each thing that takes time, in nanoseconds.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(crate) struct CostModel {
            $($(#[doc = $doc])+ pub(crate) $name: f32,)+
        }

        impl CostModel {
            /// Costs that are used if no machine was measured.
            pub(crate) const BUILT_IN: CostModel = CostModel { $($name: $built_in,)+ };

            /// Each figure with its name.
            fn each(&self) -> impl Iterator<Item = (&'static str, f32)> {
                [$((stringify!($name), self.$name),)+].into_iter()
            }

            fn get_mut(&mut self, name: &str) -> Option<&mut f32> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)+
                    _ => None,
                }
            }
        }
    };
}

cost_model! {
    /// Looking one word up in a dictionary.
    lookup_ns = 300.0;
    /// Stepping over one term of a dictionary.
    enumerate_term_ns = 18.0;
    /// Opening a posting list: parsing the header.
    open_list_ns = 25.0;
    /// Opening a posting list, for each container in it.
    open_container_ns = 2.0;
    /// Decoding one document of a short list, a gap stored as a varint.
    varint_ns = 2.0;
    /// AND and population count of two bitmaps.
    bitmap_pair_ns = 190.0;
    /// Testing one element of an array in a bitmap.
    probe_ns = 0.39;
    /// Finding the next bit of a bitmap and testing it in another.
    probe_bit_ns = 1.6;
    /// Comparing two arrays, for each element of both.
    array_pair_ns = 0.45;
    /// Looking one element of a short array up in one sixty times as long.
    gallop_ns = 15.0;
    /// Looking one element of few up in a container that is not in the nearest cache.
    look_up_doc_ns = 10.0;
    /// Setting one element of an array in a bitmap and counting what was new.
    set_ns = 1.1;
    /// Writing a bitmap of 8 KiB that nobody needs but the next operation.
    write_bitmap_ns = 150.0;
    /// Writing one document number into a result.
    write_ns = 1.0;
    /// Reading the positions of two words in a document and comparing them.
    positions_ns = 70.0;
    /// Scoring one posting of a list that is gone through from end to end.
    score_posting_ns = 6.0;
    /// Emptying the sums of a window and going through them.
    score_window_ns = 10_000.0;
    /// Scoring a document by one list in which it is looked up.
    score_looked_up_ns = 40.0;
    /// Adding up the bounds of the blocks of a window.
    bound_window_ns = 500.0;
    /// Adding those of one list.
    bound_list_ns = 100.0;
    /// Finding out what a document with the words of a phrase can score at most, by the list of one word.
    bound_candidate_ns = 5.0;
    /// Opening a column, to look something up.
    column_ns = 200.0;
    /// The directory's entry of a block of a column, and the block.
    column_block_ns = 40.0;
    /// A document in it.
    column_doc_ns = 3.0;
    /// Comparing all documents of a window by their column; the same again in each block of a column whose blocks do not share a
    /// frame takes what a block takes.
    column_fill_ns = 20_000.0;
    /// A document in a column whose blocks share a frame.
    column_number_ns = 1.8;
    /// Setting up a counter and looking at it.
    counter_ns = 1.0;
    /// Writing down a code and sorting it.
    sort_code_ns = 30.0;
    /// Reading a term by its number and comparing it with those of other segments.
    merge_term_ns = 150.0;
    /// Visiting one container: finding it, checking its place, choosing the kernel.
    visit_ns = 12.0;
    /// Finding the points of a document and comparing them with an area.
    point_ns = 30.0;
    /// Adding the document of a point of a page that is in an area.
    page_doc_ns = 4.0;
    /// Comparing a point of a page with an area.
    page_point_ns = 8.0;
    /// Comparing a number of a vector with that of another.
    compare_number_ns = 0.5;
}

/// Costs of operations on this or another machine, which planning reckons with. Measured by
/// [`calibrate`](crate::calibrate()), kept as text, and given to an index that is
/// [opened](crate::IndexOptions::costs). The default are the built-in figures.
///
/// No answer depends on them: they choose between ways that find the same.
///
/// ```
/// use treepie::explain::Costs;
/// use treepie::ErrorKind;
///
/// let costs = Costs::from_text("version = 1\nmachine = \"a laptop\"\nlookup_ns = 420.5\n")?;
/// assert_eq!(costs.machine(), Some("a laptop"));
/// assert_eq!(costs.iter().next(), Some(("lookup_ns", 420.5)));
/// assert_eq!(Costs::from_text(&costs.to_text())?, costs);
///
/// let error = Costs::from_text("version = 1\nlookup_ns = -3\n").unwrap_err();
/// assert_eq!((error.kind(), error.line()), (ErrorKind::Usage, Some(2)));
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    pub(crate) model: CostModel,
    machine: Option<String>,
}

impl Default for Costs {
    fn default() -> Self {
        Costs { model: CostModel::BUILT_IN, machine: None }
    }
}

impl Costs {
    /// Costs of a machine of this name.
    pub(crate) fn of(model: CostModel, machine: Option<&str>) -> Self {
        let printable = |text: &str| -> String {
            let is_plain = |c: &char| !c.is_control() && !matches!(c, '"' | '\\');
            text.chars().filter(is_plain).take(MACHINE_CHARS_MAX).collect()
        };
        Costs { model, machine: machine.map(printable) }
    }

    /// Machine that was measured, if known; `None` for the built-in costs.
    pub fn machine(&self) -> Option<&str> {
        self.machine.as_deref()
    }

    /// Each figure with its name, in nanoseconds.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f32)> {
        self.model.each()
    }

    /// Returns the figures as text, `name = nanoseconds` on a line each. A line for the version and one for the machine
    /// come before. It is TOML.
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "# What this machine takes, in nanoseconds: written by `treepie calibrate`.\nversion = {VERSION}\n"
        );
        if let Some(machine) = &self.machine {
            let _ = writeln!(text, "machine = \"{machine}\"");
        }
        for (name, ns) in self.iter() {
            let _ = writeln!(text, "{name} = {ns:?}");
        }
        text
    }

    /// Reads what [`to_text`](Self::to_text) wrote. Figures that are left out are the built-in ones; empty lines and those that
    /// begin with `#` say nothing.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnsupportedVersion`] for another version; [`ErrorKind::Usage`], with the line, for anything that is not
    /// `name = value`, a name that is not known or that comes twice, and for what is no number of nanoseconds: above 0, at
    /// most a second; and for no figure at all.
    pub fn from_text(text: &str) -> Result<Costs> {
        const WHAT: &str = "reading a calibration";
        let mut costs = Costs::default();
        let mut seen: Vec<&str> = vec![];
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let wrong = |expected: &str, found: &str| {
                let found =
                    format!("'{}'", found.chars().take(MACHINE_CHARS_MAX).collect::<String>());
                Err(Error::new(ErrorKind::Usage, WHAT)
                    .expected(expected)
                    .found(found)
                    .at_line(line))
            };
            let Some((name, value)) = text.split_once('=') else {
                return wrong("name = value", text);
            };
            let (name, value) = (name.trim(), value.trim());
            if seen.contains(&name) {
                return wrong("each name once", name);
            }
            if seen.is_empty() && name != "version" {
                return wrong("version = 1 before all else", text);
            }
            match name {
                "version" if value.parse() == Ok(VERSION) => {}
                "version" => {
                    return Err(Error::new(ErrorKind::UnsupportedVersion, WHAT)
                        .expected(format!("version = {VERSION}"))
                        .found(format!("'{}'", value.chars().take(20).collect::<String>()))
                        .at_line(line)
                        .hint("run `treepie calibrate` again"));
                }
                "machine" => {
                    let quoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
                    let Some(machine) = quoted.filter(|it| !it.contains(['"', '\\'])) else {
                        return wrong("a name in double quotes", value);
                    };
                    costs = Costs::of(costs.model, Some(machine));
                }
                _ => {
                    let Some(slot) = costs.model.get_mut(name) else {
                        let known: Vec<_> = costs.iter().map(|(name, _)| name).collect();
                        return wrong(&format!("one of {}", known.join(", ")), name);
                    };
                    let ns = value.parse().ok();
                    match ns.filter(|ns: &f32| *ns > 0.0 && *ns <= NS_MAX) {
                        Some(ns) => *slot = ns,
                        None => {
                            let expected = format!("for {name} nanoseconds above 0, at most 1e9");
                            return wrong(&expected, value);
                        }
                    }
                }
            }
            seen.push(name);
        }
        let has_figures = seen.iter().any(|name| !["version", "machine"].contains(name));
        match has_figures {
            true => Ok(costs),
            false => Err(Error::new(ErrorKind::Usage, WHAT)
                .expected(format!("version = {VERSION} and figures"))
                .found(if seen.is_empty() { "nothing" } else { "no figure" })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_survive_being_written_down() {
        let model = CostModel { probe_ns: 0.1 + 0.2, score_window_ns: 1e9, ..CostModel::BUILT_IN };
        let costs = Costs::of(model, Some("AMD \"Zen\"\\ 3\n"));
        assert_eq!(costs.machine(), Some("AMD Zen 3"));
        assert_eq!(Costs::from_text(&costs.to_text()).unwrap(), costs);
        let few = Costs::from_text("\n# by hand\nversion = 1\n\n visit_ns=3 \n").unwrap();
        assert_eq!(few.model, CostModel { visit_ns: 3.0, ..CostModel::BUILT_IN });
    }

    #[test]
    fn damage_is_told_with_line_name_and_what_was_found() {
        for (text, line, expected, found) in [
            ("version = 1\nvisit_ns", 2, "name = value", "'visit_ns'"),
            ("version = 1\n\nvizit_ns = 3", 3, "one of lookup_ns, ", "'vizit_ns'"),
            ("version = 1\nvisit_ns = NaN", 2, "for visit_ns nanoseconds above 0", "'NaN'"),
            ("version = 1\nvisit_ns = -1", 2, "above 0", "'-1'"),
            ("version = 1\nvisit_ns = 0", 2, "above 0", "'0'"),
            ("version = 1\nvisit_ns = 1e10", 2, "at most 1e9", "'1e10'"),
            ("version = 1\nvisit_ns = inf", 2, "at most 1e9", "'inf'"),
            ("version = 1\nvisit_ns = ", 2, "nanoseconds", "''"),
            ("version = 1\nvisit_ns = 1\nvisit_ns = 2", 3, "each name once", "'visit_ns'"),
            ("visit_ns = 1", 1, "version = 1 before", "'visit_ns = 1'"),
            ("version = 2\nvisit_ns = 1", 1, "version = 1", "'2'"),
            ("version = 1\nmachine = Zen", 2, "in double quotes", "'Zen'"),
        ] {
            let error = Costs::from_text(text).unwrap_err();
            let shown = error.to_string();
            assert_eq!(error.line(), Some(line), "{text}: {shown}");
            assert!(shown.contains(expected) && shown.contains(found), "{text}: {shown}");
        }
        assert_eq!(Costs::from_text("").unwrap_err().kind(), ErrorKind::Usage);
        let cut = Costs::from_text("version = 1\nmachine = \"Zen\"\n").unwrap_err();
        assert!(cut.to_string().contains("no figure"), "{cut}");
        let newer = Costs::from_text("version = 2").unwrap_err();
        assert_eq!(newer.kind(), ErrorKind::UnsupportedVersion);
        // However long what is found is, the message is not.
        let long = format!("version = 1\n{} = 3", "x".repeat(100_000));
        assert!(Costs::from_text(&long).unwrap_err().to_string().len() < 2_000);
    }
}
