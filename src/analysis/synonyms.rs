//! Words and groups of words that stand for one another, applied to queries.
//!
//! Rules, one a line, in the notation of Lucene and Solr:
//!
//! ```text
//! usa, united states, united states of america     each stands for all of them
//! tv => television, tv set                         what is left is replaced by what is right
//! # a comment; a backslash takes a comma, `=>`, `#` or backslash as it is
//! ```
//!
//! Both sides run through the analyzer that the query's words run through, so that a rule matches
//! whatever forms that makes equal. In a query the longest match wins, from left to right.
//!
//! The result is no graph of tokens but a row of [`Slot`]s: each says which sequences of terms may stand
//! there, and how many positions each takes. So a phrase knows that after `usa` or `united states` the
//! next word comes one or two positions later. Documents are not touched: rules may change at any
//! time.

use std::collections::HashMap;
use std::ops::Range;

use crate::analysis::Analyzer;
use crate::error::{Error, ErrorKind, Result};

/// Terms of one side of a rule at the most.
pub const SYNONYM_TERMS_MAX: usize = 32;
/// Alternatives of one side of a rule at the most.
pub const SYNONYM_ALTERNATIVES_MAX: usize = 256;

/// Alternatives for one place of a query; see [`Analyzers::query_slots`](crate::analysis::Analyzers::query_slots).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Slot {
    /// Empty positions before this slot, behind the one before or the beginning. A stop word leaves one, say.
    pub gap: u32,
    /// One or more; any of them will do. The first is what the query says, unless a rule replaces it.
    pub alternatives: Vec<Alternative>,
}

/// A sequence of terms.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Alternative {
    /// One or more, by position, counted from the beginning of the alternative.
    pub terms: Vec<PlacedTerm>,
    /// Positions that it takes: one more than that of its last term.
    pub span: u32,
}

/// Term with its position.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct PlacedTerm {
    /// Counted from what the term is part of.
    pub position: u32,
    /// The term.
    pub term: String,
}

impl Alternative {
    /// From terms by position, of which there is one at least.
    fn new(terms: Vec<PlacedTerm>) -> Self {
        let span = terms.last().map_or(0, |last| last.position.saturating_add(1));
        Alternative { terms, span }
    }
}

/// Returns all readings of slots as phrases, with positions from the same beginning.
///
/// ```
/// use treepie::{Field, FieldKind, analysis::{Analyzer, Analyzers, Synonyms, phrases}};
///
/// let rules = Synonyms::parse("usa, united states", &Analyzer::default())?;
/// let analyzers = Analyzers::default().synonyms("title", rules);
/// let slots = analyzers.query_slots(&Field::new("title", FieldKind::Text), "the USA today")?;
/// let phrases: Vec<String> = phrases(&slots, 10)?
///     .iter()
///     .map(|phrase| phrase.iter().map(|at| format!("{}@{}", at.term, at.position)).collect::<Vec<_>>().join(" "))
///     .collect();
/// assert_eq!(phrases, ["the@0 usa@1 today@2", "the@0 united@1 states@2 today@3"]);
/// # Ok::<(), treepie::Error>(())
/// ```
///
/// # Errors
///
/// [`ErrorKind::LimitExceeded`] if there are more than `max`.
pub fn phrases(slots: &[Slot], max: usize) -> Result<Vec<Vec<PlacedTerm>>> {
    let n = slots.iter().map(|slot| slot.alternatives.len());
    let n = n.fold(1, usize::saturating_mul);
    if n > max {
        return Err(Error::new(ErrorKind::LimitExceeded, "reading a phrase with synonyms")
            .expected(format!("at most {max} ways to read it"))
            .found(n.to_string()));
    }
    // Phrases so far, each with the position after its end.
    let mut all = vec![(vec![], 0u32)];
    for slot in slots {
        let longer = all.iter().flat_map(|(phrase, end)| {
            let from = end.saturating_add(slot.gap);
            slot.alternatives.iter().map(move |alternative| {
                let placed = alternative.terms.iter().map(|at| PlacedTerm {
                    position: from.saturating_add(at.position),
                    term: at.term.clone(),
                });
                let phrase: Vec<_> = phrase.iter().cloned().chain(placed).collect();
                (phrase, from.saturating_add(alternative.span))
            })
        });
        all = longer.collect();
    }
    Ok(all.into_iter().map(|(phrase, _)| phrase).collect())
}

/// Rules; the module documentation of [`analysis`](crate::analysis) says how they are applied.
///
/// One rule a line: `usa, united states` makes each of its parts stand for all of them, and
/// `tv => television, tv set` replaces what is left of the arrow. `#` begins a comment; a backslash takes the next
/// character as it is.
#[derive(Clone, Debug, Default)]
pub struct Synonyms {
    /// By the first term of what is replaced; the longest first.
    rules: HashMap<String, Vec<Rule>>,
}

#[derive(Clone, Debug)]
struct Rule {
    from: Vec<PlacedTerm>,
    to: Vec<Alternative>,
}

impl Synonyms {
    /// Reads rules. `analyzer` is the one for the queries of the field that they are for.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Analyzer`] with the line, for a side of which the analyzer leaves nothing, a second arrow, a lone
    /// part, more than [`SYNONYM_TERMS_MAX`] terms or [`SYNONYM_ALTERNATIVES_MAX`] alternatives.
    pub fn parse(rules: &str, analyzer: &Analyzer) -> Result<Synonyms> {
        let mut analyzer = analyzer.clone().for_queries();
        let mut synonyms = Synonyms::default();
        for (nth, line) in rules.lines().enumerate() {
            let added = synonyms.add_line(line, &mut analyzer);
            added.map_err(|error| error.at_line(nth as u64 + 1))?;
        }
        synonyms.rules.values_mut().for_each(|rules| {
            rules.sort_by_key(|rule| std::cmp::Reverse(rule.from.len()));
        });
        Ok(synonyms)
    }

    fn add_line(&mut self, line: &str, analyzer: &mut Analyzer) -> Result<()> {
        let sides = split_line(line)?;
        let mut sides = sides.into_iter().map(|parts| {
            parts.iter().map(|part| analyzed(part, analyzer)).collect::<Result<Vec<_>>>()
        });
        match (sides.next().transpose()?, sides.next().transpose()?) {
            (None, _) => Ok(()),
            (Some(left), Some(right)) => left.iter().try_for_each(|from| self.add(from, &right)),
            (Some(parts), None) if parts.len() < 2 => {
                Err(wrong().expected("two parts or more, or an arrow").found("one part"))
            }
            (Some(parts), None) => parts.iter().enumerate().try_for_each(|(nth, from)| {
                // The query's own words come first.
                let mut to = parts.clone();
                to[..=nth].rotate_right(1);
                self.add(from, &to)
            }),
        }
    }

    fn add(&mut self, from: &Alternative, to: &[Alternative]) -> Result<()> {
        let Some(first) = from.terms.first() else { return Ok(()) };
        let rules = self.rules.entry(first.term.clone()).or_default();
        let known = match rules.iter_mut().find(|rule| rule.from == from.terms) {
            Some(rule) => &mut rule.to,
            None => {
                rules.push(Rule { from: from.terms.clone(), to: vec![] });
                &mut rules.last_mut().expect("one was pushed").to
            }
        };
        for alternative in to {
            if !known.contains(alternative) {
                known.push(alternative.clone());
            }
        }
        if known.len() > SYNONYM_ALTERNATIVES_MAX {
            return Err(wrong()
                .expected(format!("at most {SYNONYM_ALTERNATIVES_MAX} alternatives"))
                .found(known.len().to_string()));
        }
        Ok(())
    }

    /// The longest rule that the tokens begin with.
    fn matching(&self, tokens: &[PlacedTerm]) -> Option<&Rule> {
        self.all_matching(tokens).next()
    }

    /// The rules that the tokens begin with, the longest first.
    fn all_matching(&self, tokens: &[PlacedTerm]) -> impl Iterator<Item = &Rule> {
        let first = tokens.first();
        let rules = first.and_then(|first| self.rules.get(&first.term)).into_iter().flatten();
        rules.filter(move |rule| {
            let (Some(first), Some(tokens)) = (first, tokens.get(..rule.from.len())) else {
                return false;
            };
            let at = |token: &PlacedTerm| token.position.checked_sub(first.position);
            let mut pairs = tokens.iter().zip(&rule.from);
            pairs.all(|(token, from)| token.term == from.term && at(token) == Some(from.position))
        })
    }

    /// The longest rules for several of some words, from left to right and none over another.
    pub(super) fn of_words(&self, words: &[&str], analyzer: &mut Analyzer) -> Vec<WordRule> {
        let (mut text, mut ends) = (String::new(), vec![]);
        for word in words {
            text.push_str(word);
            ends.push(text.len());
            text.push(' ');
        }
        let mut tokens = vec![];
        analyzer.for_each_token(&text, |token| {
            let word = ends.partition_point(|end| *end <= token.offset_from);
            let term = token.term.to_owned();
            tokens.push((PlacedTerm { position: token.position, term }, word));
        });
        tokens.sort_by_key(|(token, _)| token.position);
        let (tokens, of_words): (Vec<PlacedTerm>, Vec<usize>) = tokens.into_iter().unzip();
        let (mut found, mut at) = (vec![], 0);
        while at < tokens.len() {
            let word = of_words[at];
            let begins = at == 0 || of_words[at - 1] < word;
            let fits = self.all_matching(&tokens[at..]).find_map(|rule| {
                let last = of_words[at + rule.from.len() - 1];
                let ends = of_words.get(at + rule.from.len()).is_none_or(|next| *next > last);
                (begins && ends && last < words.len()).then_some((rule, last))
            });
            match fits {
                Some((rule, last)) => {
                    at += rule.from.len();
                    if last > word {
                        found.push(WordRule {
                            words: word..last + 1,
                            is_kept: rule.to.iter().any(|to| to.terms == rule.from),
                            others: rule
                                .to
                                .iter()
                                .filter(|to| to.terms != rule.from)
                                .cloned()
                                .collect(),
                        });
                    }
                }
                None => at += 1,
            }
        }
        found
    }
}

/// A rule for several words of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WordRule {
    /// The words by their places.
    pub(crate) words: Range<usize>,
    /// Whether the words also stand for themselves.
    pub(crate) is_kept: bool,
    /// Alternatives that they also stand for.
    pub(crate) others: Vec<Alternative>,
}

/// Slots of the tokens of a query, by position: rules applied, and tokens in one position beside each other.
pub(super) fn slots(tokens: Vec<PlacedTerm>, synonyms: Option<&Synonyms>) -> Vec<Slot> {
    let mut slots: Vec<Slot> = vec![];
    let mut rest = tokens.as_slice();
    // Positions before this one are taken.
    let mut end = 0;
    while let Some(first) = rest.first() {
        let (n, alternatives, span) = match synonyms.and_then(|rules| rules.matching(rest)) {
            Some(rule) => {
                let span = rule.from.last().map_or(0, |last| last.position + 1);
                (rule.from.len(), rule.to.clone(), span)
            }
            None => {
                let n = rest.iter().take_while(|token| token.position == first.position).count();
                let one = |token: &PlacedTerm| {
                    Alternative::new(vec![PlacedTerm { position: 0, term: token.term.clone() }])
                };
                (n, rest[..n].iter().map(one).collect(), 1)
            }
        };
        slots.push(Slot { gap: first.position.saturating_sub(end), alternatives });
        end = first.position.saturating_add(span);
        rest = &rest[n..];
    }
    slots
}

/// The tokens of a text, by position.
pub(super) fn placed(text: &str, analyzer: &mut Analyzer) -> Vec<PlacedTerm> {
    let mut tokens = vec![];
    analyzer.for_each_token(text, |token| {
        tokens.push(PlacedTerm { position: token.position, term: token.term.to_owned() });
    });
    tokens.sort_by_key(|token| token.position);
    tokens
}

/// One part of a rule, counted from its first term.
fn analyzed(part: &str, analyzer: &mut Analyzer) -> Result<Alternative> {
    let mut terms = placed(part, analyzer);
    let Some(from) = terms.first().map(|first| first.position) else {
        return Err(wrong()
            .expected("words that the analyzer leaves something of")
            .found(format!("'{}'", part.trim())));
    };
    if terms.len() > SYNONYM_TERMS_MAX {
        return Err(wrong()
            .expected(format!("at most {SYNONYM_TERMS_MAX} terms in a part"))
            .found(terms.len().to_string()));
    }
    terms.iter_mut().for_each(|at| at.position -= from);
    Ok(Alternative::new(terms))
}

/// The sides of a rule with their parts; none for a line without a rule.
fn split_line(line: &str) -> Result<Vec<Vec<String>>> {
    let mut sides = vec![vec![String::new()]];
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let Some(parts) = sides.last_mut() else { break };
        match c {
            '#' => break,
            ',' => parts.push(String::new()),
            '=' if chars.next_if_eq(&'>').is_some() => sides.push(vec![String::new()]),
            _ => {
                let c = if c == '\\' { chars.next().unwrap_or(c) } else { c };
                parts.last_mut().expect("a side has a part").push(c);
            }
        }
    }
    if let [only] = sides.as_slice()
        && only.iter().all(|part| part.trim().is_empty())
        && only.len() == 1
    {
        return Ok(vec![]);
    }
    if sides.len() > 2 {
        return Err(wrong().expected("one arrow").found(format!("{}", sides.len() - 1)));
    }
    Ok(sides)
}

fn wrong() -> Error {
    Error::new(ErrorKind::Analyzer, "reading a rule for synonyms")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Synonyms {
        Synonyms::parse(text, &Analyzer::default()).unwrap()
    }

    fn slots_of(rules: &Synonyms, spec: &str, text: &str) -> Vec<Slot> {
        slots(placed(text, &mut Analyzer::from_spec(spec).unwrap()), Some(rules))
    }

    /// `a b|c _ d`: slots with their alternatives, `_` for an empty position.
    fn shown(slots: &[Slot]) -> String {
        let alternative = |alternative: &Alternative| {
            let mut at = 0;
            let mut words = vec![];
            for term in &alternative.terms {
                words.extend((at..term.position).map(|_| "_".to_owned()));
                words.push(term.term.clone());
                at = term.position + 1;
            }
            assert_eq!(at, alternative.span);
            words.join("+")
        };
        let slot = |slot: &Slot| {
            let any: Vec<_> = slot.alternatives.iter().map(alternative).collect();
            "_ ".repeat(slot.gap as usize) + &any.join("|")
        };
        slots.iter().map(slot).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn rules_are_applied_longest_first_from_left_to_right() {
        let rules = rules(
            "usa, united states, United States of America # countries\n\
             \n\
             tv, telly => television, tv set\n\
             new york, ny\n\
             york, jorvik",
        );
        for (text, expected) in [
            ("", ""),
            ("USA", "usa|united+states|united+states+of+america"),
            (
                "the united states of america today",
                "the united+states+of+america|usa|united+states today",
            ),
            ("united states of", "united+states|usa|united+states+of+america of"),
            ("united kingdom", "united kingdom"),
            ("my telly", "my television|tv+set"),
            ("new york york", "new+york|ny york|jorvik"),
            ("new", "new"),
        ] {
            assert_eq!(shown(&slots_of(&rules, "default", text)), expected, "{text}");
        }
    }

    #[test]
    fn rules_for_several_words_of_a_query_are_found_longest_first() {
        let analyzer = Analyzer::from_spec("words|lower|fold|stop:en").unwrap();
        let rules = "usa, united states, united states of america\n\
                     i pod => ipod\n\
                     york, jorvik\n\
                     new york, ny\n\
                     ac dc rocks, band";
        let rules = Synonyms::parse(rules, &analyzer).unwrap();
        for (words, expected) in [
            ("united states", "0..2 usa united_states_america".into()),
            ("the UNITED Stätes now", "1..3 usa united_states_america".into()),
            ("united states of america", "0..4 usa united_states".into()),
            ("united kingdom states", String::new()),
            ("i pod i", "0..2! ipod".into()),
            ("new york york", "0..2 ny".into()),
            ("york new york", "1..3 ny".into()),
            ("usa", String::new()),
            ("AC/DC rocks", "0..2 band".into()),
            ("x-ac dc rocks", String::new()),
            ("ac dc-rocks", "0..2 band".into()),
            ("ac dc-rocks-x", String::new()),
            ("", String::new()),
        ] {
            let words: Vec<&str> = words.split(' ').collect();
            let found = rules.of_words(&words, &mut analyzer.clone());
            let shown: Vec<String> = found
                .iter()
                .map(|rule| {
                    let terms = |any: &Alternative| {
                        let terms: Vec<_> = any.terms.iter().map(|at| &*at.term).collect();
                        terms.join("_")
                    };
                    let others: Vec<_> = rule.others.iter().map(terms).collect();
                    let sign = if rule.is_kept { "" } else { "!" };
                    format!("{:?}{sign} {}", rule.words, others.join(" "))
                })
                .collect();
            assert_eq!(shown.join(", "), expected, "{words:?}");
        }
    }

    #[test]
    fn stop_words_leave_their_gaps_in_queries_and_in_rules() {
        let spec = "words|lower|stop:en";
        let analyzer = Analyzer::from_spec(spec).unwrap();
        let rules = Synonyms::parse("king of spain, rey\nthe who => band", &analyzer).unwrap();
        for (text, expected) in [
            ("the king of spain", "_ king+_+spain|rey"),
            ("king spain", "king spain"),
            ("king in spain of the rey x", "king+_+spain|rey _ _ rey|king+_+spain x"),
            // `the who` is `who` once analyzed.
            ("a who", "_ band"),
            ("of the", ""),
        ] {
            assert_eq!(shown(&slots_of(&rules, spec, text)), expected, "{text}");
        }
    }

    #[test]
    fn phrases_know_how_long_each_alternative_is() {
        let rules = rules("usa, united states\nx => y z");
        let slots = slots_of(&rules, "words|lower|stop:en", "the usa in x now");
        let found: Vec<Vec<(u32, String)>> = phrases(&slots, 2)
            .unwrap()
            .into_iter()
            .map(|phrase| phrase.into_iter().map(|at| (at.position, at.term)).collect())
            .collect();
        let phrase = |terms: &[(u32, &str)]| {
            terms.iter().map(|(at, term)| (*at, (*term).to_owned())).collect::<Vec<_>>()
        };
        assert_eq!(
            found,
            [
                phrase(&[(1, "usa"), (3, "y"), (4, "z"), (5, "now")]),
                phrase(&[(1, "united"), (2, "states"), (4, "y"), (5, "z"), (6, "now")]),
            ]
        );
        assert_eq!(phrases(&slots, 1).unwrap_err().kind(), ErrorKind::LimitExceeded);
        assert_eq!(phrases(&[], 1).unwrap(), [vec![]]);
        let many: Vec<_> = slots.iter().cycle().take(300).cloned().collect();
        assert!(phrases(&many, 1_000).is_err());
    }

    #[test]
    fn tokens_in_one_position_are_alternatives() {
        let token = |position, term: &str| PlacedTerm { position, term: term.to_owned() };
        let tokens = vec![token(0, "wifi"), token(0, "wi"), token(1, "fi"), token(3, "x")];
        assert_eq!(shown(&slots(tokens, None)), "wifi|wi fi _ x");
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        for (text, words) in [
            ("a, b\nlonely", "one part (line 2)"),
            ("a, ", "leaves something of, found ''"),
            ("a => ", "leaves something of"),
            (" => a", "leaves something of"),
            ("!!! => a", "found '!!!' (line 1)"),
            ("a => b => c", "expected one arrow, found 2"),
            (&format!("a, {}", "b ".repeat(33)), "at most 32 terms"),
        ] {
            let error = Synonyms::parse(text, &Analyzer::default()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Analyzer);
            assert!(error.to_string().contains(words), "{text}: {error}");
        }
        let many: String = (0..300).map(|n| format!("a => b{n}\n")).collect();
        let error = Synonyms::parse(&many, &Analyzer::default()).unwrap_err();
        assert_eq!((error.kind(), error.line()), (ErrorKind::Analyzer, Some(257)));
    }

    #[test]
    fn a_backslash_takes_what_follows_as_it_is() {
        let spec = "keyword";
        let analyzer = Analyzer::from_spec(spec).unwrap();
        let rules = Synonyms::parse("a\\,b,c\\=>d,\\#", &analyzer).unwrap();
        let found = slots_of(&rules, spec, "a,b");
        assert_eq!(shown(&found), "a,b|c=>d|#");
    }
}
