//! What is asked: eleven classes of queries, at least a hundred each, and four of heavy ones, which people and programs send and
//! the benchmark game does not have.

use std::{
    collections::{HashMap, HashSet},
    fs,
    io::{BufRead, BufReader},
    path::Path,
};

use super::{
    corpus::{Corpus, each_word},
    random::Random,
};
use crate::Result;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    Term,
    And2,
    And3,
    Or2,
    Or3,
    /// `+a b`, and `+a -b`.
    Mixed,
    Phrase2,
    Phrase3,
    Prefix,
    /// One edit, where swapping two neighbours is one.
    Fuzzy,
    /// Two such edits, on words that are misspelt twice.
    Fuzzy2,
    /// 10 to 30 different words that follow each other in a document, of which any will do.
    Sentence,
    /// Two to four of the words that most documents have: any, or all.
    StopOr,
    StopAnd,
    /// One of these words, which filters and adds nothing to scores, and a union of two others.
    FilterOr2,
}

impl Class {
    pub(crate) const ALL: [Class; 15] = [
        Class::Term,
        Class::And2,
        Class::And3,
        Class::Or2,
        Class::Or3,
        Class::Mixed,
        Class::Phrase2,
        Class::Phrase3,
        Class::Prefix,
        Class::Fuzzy,
        Class::Fuzzy2,
        Class::Sentence,
        Class::StopOr,
        Class::StopAnd,
        Class::FilterOr2,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Class::Term => "term",
            Class::And2 => "and2",
            Class::And3 => "and3+",
            Class::Or2 => "or2",
            Class::Or3 => "or3+",
            Class::Mixed => "mixed",
            Class::Phrase2 => "phrase2",
            Class::Phrase3 => "phrase3+",
            Class::Prefix => "prefix",
            Class::Fuzzy => "fuzzy(1)",
            Class::Fuzzy2 => "fuzzy(2)",
            Class::Sentence => "sentence",
            Class::StopOr => "stop or",
            Class::StopAnd => "stop and",
            Class::FilterOr2 => "filter+or2",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Must,
    Should,
    MustNot,
}

/// One query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) class: Class,
    /// In the query language that the engines share: `+a +b`, `a b`, `+a -b`, `"a b"`, and
    /// treepie's `a*`, `a~1`, `a~2` and `+a^=0 +(b c)`.
    pub(crate) text: String,
    /// The words, or the beginning of one.
    pub(crate) words: Vec<String>,
    /// Of each word.
    pub(crate) signs: Vec<Sign>,
}

impl Question {
    pub(crate) fn new(class: Class, text: String) -> Self {
        let (mut words, mut signs) = (vec![], vec![]);
        let within = text.trim_matches('"').trim_end_matches('*');
        let within = within.trim_end_matches("~1").trim_end_matches("~2");
        for clause in within.split(' ') {
            // Of a filter and a union the first word must be there, and one of the others.
            let clause = match class {
                Class::FilterOr2 => {
                    clause.trim_end_matches("^=0").trim_start_matches("+(").trim_end_matches(')')
                }
                _ => clause,
            };
            let (sign, word) = match clause.split_at_checked(1) {
                Some(("+", word)) => (Sign::Must, word),
                Some(("-", word)) => (Sign::MustNot, word),
                _ => (Sign::Should, clause),
            };
            words.push(word.to_owned());
            signs.push(sign);
        }
        Question { class, text, words, signs }
    }
}

/// Queries of a class at the least, where they are made here.
const N: usize = 100;
/// Single words taken from the game's queries.
const N_GAME_TERMS: usize = 150;

/// The queries of a corpus, made once and kept in `file`: the search benchmark game's where those
/// are given, else sampled from the corpus.
pub(crate) fn questions(
    file: &Path,
    game: Option<&Path>,
    corpus: &Corpus,
) -> Result<Vec<Question>> {
    if !file.exists() {
        let mut sample = Sample::of(corpus)?;
        let mut made = match game {
            Some(game) => from_game(game)?,
            None => from_corpus(&mut sample)?,
        };
        add_heavy(&mut sample, &mut made)?;
        add_misspelt_twice(&mut made);
        let line = |made: &Question| format!("{}\t{}\n", made.class.name(), made.text);
        fs::write(file, made.iter().map(line).collect::<String>())?;
    }
    let text = fs::read_to_string(file)?;
    let read = |line: &str| {
        let (class, text) = line.split_once('\t')?;
        let class = Class::ALL.into_iter().find(|known| known.name() == class)?;
        Some(Question::new(class, text.to_owned()))
    };
    let questions: Option<Vec<Question>> = text.lines().map(read).collect();
    questions.ok_or_else(|| format!("{}: a line is no question", file.display()).into())
}

fn and(words: &[&str]) -> String {
    words.iter().map(|word| format!("+{word}")).collect::<Vec<_>>().join(" ")
}

fn phrase(words: &[&str]) -> String {
    format!("\"{}\"", words.join(" "))
}

/// Whether every engine reads the word as this one word.
fn is_usable(word: &str) -> bool {
    let n = word.chars().count();
    (1..=40).contains(&n) && word.chars().all(char::is_alphanumeric)
}

/// The game's intersections, unions, phrases and mixed queries as they are; single words, prefixes
/// and misspelt words from its words.
fn from_game(path: &Path) -> Result<Vec<Question>> {
    let (mut made, mut words, mut mixed) = (vec![], vec![], vec![]);
    let mut known = HashSet::new();
    for line in BufReader::new(fs::File::open(path)?).lines() {
        let line: serde_json::Value = serde_json::from_str(&line?)?;
        let text = line["query"].as_str().ok_or("a query that is no string")?.to_lowercase();
        let plain: Vec<&str> = text
            .split_whitespace()
            .map(|word| word.trim_matches('"').trim_start_matches(['+', '-']))
            .collect();
        if !plain.iter().all(|word| is_usable(word)) {
            continue;
        }
        for word in &plain {
            if known.insert((*word).to_owned()) {
                words.push((*word).to_owned());
            }
        }
        let longer = plain.len() > 2;
        let class = match line["tags"][0].as_str() {
            Some("intersection") if longer => Class::And3,
            Some("intersection") => Class::And2,
            Some("union") if longer => Class::Or3,
            Some("union") => Class::Or2,
            Some("phrase") if longer => Class::Phrase3,
            Some("phrase") => Class::Phrase2,
            Some("intersection_union" | "negated") => Class::Mixed,
            _ => continue,
        };
        if matches!(class, Class::Or2 | Class::Or3) {
            mixed.push(Question::new(Class::Mixed, format!("+{}", plain.join(" "))));
        }
        made.push(Question::new(class, text));
    }
    // The game has fewer than a hundred mixed ones; its unions with a must make up for that.
    let n_mixed = made.iter().filter(|made| made.class == Class::Mixed).count();
    made.extend(spread(&mixed, N.saturating_sub(n_mixed)).cloned());

    let terms = spread(&words, N_GAME_TERMS).cloned();
    made.extend(terms.map(|word| Question::new(Class::Term, word)));
    let mut random = Random::new(4);
    let long: Vec<String> =
        words.iter().filter(|word| word.chars().count() >= 5).cloned().collect();
    let mut prefixes = HashSet::new();
    for word in spread(&long, long.len()) {
        let prefix: String = word.chars().take(2 + prefixes.len() % 4).collect();
        if prefixes.len() < N && prefixes.insert(prefix.clone()) {
            made.push(Question::new(Class::Prefix, format!("{prefix}*")));
        }
    }
    for (at, word) in spread(&long, N).enumerate() {
        made.push(Question::new(Class::Fuzzy, format!("{}~1", misspelt(word, at, &mut random))));
    }
    Ok(made)
}

/// `n` of them, evenly spaced; all where there are fewer.
fn spread<T>(of: &[T], n: usize) -> impl Iterator<Item = &T> {
    let n = n.min(of.len());
    (0..n).map(move |at| &of[at * of.len() / n])
}

/// The word with two neighbours swapped, a character less, or another character.
fn misspelt(word: &str, kind: usize, random: &mut Random) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let at = random.below(letters.len() - 1);
    match kind % 3 {
        0 if letters[at] != letters[at + 1] => letters.swap(at, at + 1),
        1 => drop(letters.remove(at)),
        _ => letters[at] = if letters[at] == 'x' { 'o' } else { 'x' },
    }
    letters.into_iter().collect()
}

/// Half of each class from the words of one document, half from words drawn by how many documents
/// have them, in bands; phrases of three and more are all from documents.
fn from_corpus(from: &mut Sample) -> Result<Vec<Question>> {
    let mut made = vec![];
    for at in 0..N {
        let from_document = at < N / 2;
        let term = match from_document {
            true => from.words_of_document(1)?.remove(0),
            false => from.word_of_band(at % 5),
        };
        made.push(Question::new(Class::Term, term));
        for (class, n) in [
            (Class::And2, 2),
            (Class::Or2, 2),
            (Class::And3, 3 + at % 3),
            (Class::Or3, 3 + at % 3),
            (Class::Mixed, 2 + at % 2),
        ] {
            let words = match from_document {
                true => from.words_of_document(n)?,
                false => from.words_of_bands(n)?,
            };
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let text = match class {
                Class::And2 | Class::And3 => and(&words),
                Class::Mixed if at % 4 == 3 => format!("+{}", words.join(" -")),
                Class::Mixed => format!("+{}", words.join(" ")),
                _ => words.join(" "),
            };
            made.push(Question::new(class, text));
        }
        let pair = match from_document {
            true => from.run_of_document(2)?,
            false => from.words_of_bands(2)?,
        };
        let run = from.run_of_document(3 + at % 2)?;
        for (class, words) in [(Class::Phrase2, pair), (Class::Phrase3, run)] {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            made.push(Question::new(class, phrase(&words)));
        }
        let n = 2 + at % 4;
        let prefix: String = from.word_of(from_document, n)?.chars().take(n).collect();
        made.push(Question::new(Class::Prefix, format!("{prefix}*")));
        let word = from.word_of(from_document, 4)?;
        let word = misspelt(&word, at, &mut from.random);
        made.push(Question::new(Class::Fuzzy, format!("{word}~1")));
    }
    Ok(made)
}

/// Adds the classes of heavy queries; unions of two words are those that were made before.
fn add_heavy(from: &mut Sample, made: &mut Vec<Question>) -> Result<()> {
    let unions: Vec<String> =
        made.iter().filter(|made| made.class == Class::Or2).map(|made| made.text.clone()).collect();
    let unions: Vec<String> = spread(&unions, N).cloned().collect();
    for (at, union) in unions.iter().enumerate() {
        let filter = &from.frequent[at % from.frequent.len()];
        made.push(Question::new(Class::FilterOr2, format!("+{filter}^=0 +({union})")));
        let n = 10 + from.random.below(21);
        // Titles are too short to have so many: of these the whole is taken, and more of the next.
        let mut words: Vec<String> = vec![];
        while words.len() < n {
            for word in from.start_of_document(n - words.len()) {
                if !words.contains(&word) {
                    words.push(word);
                }
            }
        }
        made.push(Question::new(Class::Sentence, words.join(" ")));
    }
    for at in 0..N / 2 {
        for class in [Class::StopOr, Class::StopAnd] {
            let mut words: Vec<&str> = vec![];
            while words.len() < (2 + at % 3).min(from.frequent.len()) {
                let word = from.random.one_of(&from.frequent);
                if !words.contains(&word.as_str()) {
                    words.push(word);
                }
            }
            let text = if class == Class::StopAnd { and(&words) } else { words.join(" ") };
            made.push(Question::new(class, text));
        }
    }
    Ok(())
}

/// Adds the words that are misspelt once, misspelt again.
fn add_misspelt_twice(made: &mut Vec<Question>) {
    let once: Vec<String> = made
        .iter()
        .filter(|made| made.class == Class::Fuzzy)
        .flat_map(|made| made.words.iter().cloned())
        .collect();
    let mut random = Random::new(6);
    made.extend(once.iter().enumerate().map(|(at, word)| {
        // Another kind of mistake than the first, which the place of the word decided.
        let word = misspelt(word, at + 1, &mut random);
        Question::new(Class::Fuzzy2, format!("{word}~2"))
    }));
}

/// What queries are sampled from.
struct Sample {
    random: Random,
    /// Words of some documents, in order.
    documents: Vec<Vec<String>>,
    /// Usable words by the number of documents that have them.
    bands: [Vec<String>; 5],
    /// Words that most documents have, the most frequent first.
    frequent: Vec<String>,
}

/// Words that are taken for stop words.
const FREQUENT: usize = 50;

/// Where the bands begin, in documents.
const BANDS: [u32; 5] = [1, 16, 128, 1_024, 8_192];
const DOCUMENTS_SAMPLED: usize = 20_000;
/// How often to draw again before giving up.
const DRAWS: usize = 1_000_000;

impl Sample {
    fn of(corpus: &Corpus) -> Result<Self> {
        let mut random = Random::new(5);
        // Documents with the word, and the last one counted.
        let mut frequencies: HashMap<String, (u32, u32)> = HashMap::new();
        let mut documents: Vec<Vec<String>> = vec![];
        let (mut number, mut word) = (0_u32, String::new());
        corpus.each_document(|_, text| {
            number += 1;
            let place = match documents.len() < DOCUMENTS_SAMPLED {
                true => {
                    documents.push(vec![]);
                    Some(documents.len() - 1)
                }
                false => Some(random.below(number as usize)).filter(|at| *at < DOCUMENTS_SAMPLED),
            };
            let mut words = vec![];
            each_word(text, &mut word, |word| {
                match frequencies.get_mut(word) {
                    Some((_, last)) if *last == number => {}
                    Some((n, last)) => (*n, *last) = (*n + 1, number),
                    None => drop(frequencies.insert(word.to_owned(), (1, number))),
                }
                if place.is_some() {
                    words.push(word.to_owned());
                }
            });
            if let Some(at) = place {
                documents[at] = words;
            }
            Ok(())
        })?;
        let mut frequent: Vec<(u32, String)> = frequencies
            .iter()
            .filter(|(word, _)| is_usable(word))
            .map(|(word, (n, _))| (*n, word.clone()))
            .collect();
        frequent.sort_unstable_by(|a, b| b.cmp(a));
        let frequent: Vec<String> =
            frequent.into_iter().take(FREQUENT).map(|(_, word)| word).collect();
        if frequent.is_empty() {
            return Err("the corpus has no words".into());
        }
        let mut bands = <[Vec<String>; 5]>::default();
        for (word, (n, _)) in frequencies {
            if is_usable(&word) {
                bands[BANDS.partition_point(|from| *from <= n) - 1].push(word);
            }
        }
        // A hash map has no order of its own, and the sample shall be the same every time.
        bands.iter_mut().for_each(|band| band.sort_unstable());
        Ok(Sample { random, documents, bands, frequent })
    }

    /// A word of this band, or of the next one below that has any.
    fn word_of_band(&mut self, band: usize) -> String {
        let below = (0..=band).rev().chain(band + 1..BANDS.len());
        let filled = below.map(|at| &self.bands[at]).find(|band| !band.is_empty());
        filled.map(|band| self.random.one_of(band).clone()).unwrap_or_default()
    }

    fn words_of_bands(&mut self, n: usize) -> Result<Vec<String>> {
        let mut words: Vec<String> = vec![];
        for _ in 0..DRAWS {
            let band = 1 + self.random.below(4);
            let word = self.word_of_band(band);
            if !words.contains(&word) {
                words.push(word);
            }
            if words.len() == n {
                return Ok(words);
            }
        }
        Err("the corpus has too few words".into())
    }

    /// Different words of one document, in any order.
    fn words_of_document(&mut self, n: usize) -> Result<Vec<String>> {
        for _ in 0..DRAWS {
            let document = self.random.below(self.documents.len());
            let mut words: Vec<&String> =
                self.documents[document].iter().filter(|word| is_usable(word)).collect();
            words.sort_unstable();
            words.dedup();
            if words.len() >= n {
                while words.len() > n {
                    words.swap_remove(self.random.below(words.len()));
                }
                return Ok(words.into_iter().cloned().collect());
            }
        }
        Err("the corpus has too few long documents".into())
    }

    /// The first words of a document, at most `n`.
    fn start_of_document(&mut self, n: usize) -> Vec<String> {
        let document = self.random.below(self.documents.len());
        let words = self.documents[document].iter().filter(|word| is_usable(word));
        words.take(n).cloned().collect()
    }

    /// Words that follow each other in a document; no word twice.
    fn run_of_document(&mut self, n: usize) -> Result<Vec<String>> {
        for _ in 0..DRAWS {
            let document = self.random.below(self.documents.len());
            let words = &self.documents[document];
            if words.len() < n {
                continue;
            }
            let at = self.random.below(words.len() - n + 1);
            let run = &words[at..at + n];
            let different: HashSet<&String> = run.iter().collect();
            if different.len() == n && run.iter().all(|word| is_usable(word)) {
                return Ok(run.to_vec());
            }
        }
        Err("the corpus has too few long documents".into())
    }

    /// A word of at least `n` characters: by how often it occurs, or each as likely as the other.
    fn word_of(&mut self, by_occurrence: bool, n: usize) -> Result<String> {
        for _ in 0..DRAWS {
            let word = match by_occurrence {
                true => self.words_of_document(1)?.remove(0),
                false => {
                    let total = self.bands.iter().map(Vec::len).sum();
                    let mut at = self.random.below(total);
                    let band = self.bands.iter().find(|band| {
                        let here = at < band.len();
                        at -= if here { 0 } else { band.len() };
                        here
                    });
                    band.map(|band| band[at].clone()).unwrap_or_default()
                }
            };
            if word.chars().count() >= n {
                return Ok(word);
            }
        }
        Err("the corpus has too few long words".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_knows_its_words() {
        let question = |text: &str| {
            let question = Question::new(Class::Mixed, text.into());
            (question.words.join(" "), question.signs)
        };
        use Sign::{Must, MustNot, Should};
        assert_eq!(question("+a bc -d"), ("a bc d".into(), vec![Must, Should, MustNot]));
        assert_eq!(question("\"a b\""), ("a b".into(), vec![Should, Should]));
        assert_eq!(question("ab*"), ("ab".into(), vec![Should]));
        assert_eq!(question("ab~1"), ("ab".into(), vec![Should]));
        assert_eq!(question("ab~2"), ("ab".into(), vec![Should]));
        assert_eq!(question("東 +京"), ("東 京".into(), vec![Should, Must]));
        let filtered = Question::new(Class::FilterOr2, "+of^=0 +(a bc)".into());
        assert_eq!(filtered.words, ["of", "a", "bc"]);
        assert_eq!(filtered.signs, [Must, Should, Should]);
    }

    #[test]
    fn a_misspelt_word_is_one_edit_away() {
        let mut random = Random::new(1);
        for kind in 0..300 {
            let wrong = misspelt("llama", kind, &mut random);
            let (a, b): (Vec<char>, Vec<char>) =
                ("llama".chars().collect(), wrong.chars().collect());
            let same_front = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
            let same_back = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
            let middle = a.len().saturating_sub(same_front + same_back);
            assert!(
                wrong != "llama" && (middle <= 1 || middle == 2 && a.len() == b.len()),
                "{wrong}"
            );
        }
    }
}
