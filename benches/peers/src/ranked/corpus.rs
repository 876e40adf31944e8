//! The three corpora, as files with a document a line that every engine reads the same way.

use std::{
    fs,
    io::{BufRead, BufReader, BufWriter, Read, Write},
    path::{Path, PathBuf},
};

use super::random::Random;
use crate::Result;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    Articles,
    Titles,
    Lines,
}

impl Name {
    pub(crate) const ALL: [Name; 3] = [Name::Articles, Name::Titles, Name::Lines];

    pub(crate) fn text(self) -> &'static str {
        match self {
            Name::Articles => "articles",
            Name::Titles => "titles",
            Name::Lines => "lines",
        }
    }
}

/// What stands on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Columns {
    /// A title, which is stored and indexed.
    Title,
    /// A title, which is stored, a tab, and a body, which is indexed.
    TitleAndBody,
}

/// One corpus on disk.
#[derive(Clone, Debug)]
pub(crate) struct Corpus {
    pub(crate) lines: PathBuf,
    pub(crate) columns: Columns,
}

/// Where the corpora come from.
pub(crate) struct Sources<'a> {
    /// JSON Lines with `title` and `body`.
    pub(crate) articles: Option<&'a Path>,
    /// A title a line.
    pub(crate) titles: Option<&'a Path>,
    /// How many lines to make of the titles.
    pub(crate) n_lines: usize,
    /// How many documents to take of each corpus at the most.
    pub(crate) limit: usize,
}

/// Documents that are made up where a file is absent.
const N_ARTICLES: usize = 144_245;
const N_TITLES: usize = 2_122_907;

impl Corpus {
    pub(crate) fn new(lines: PathBuf, name: Name) -> Self {
        let columns = match name {
            Name::Articles => Columns::TitleAndBody,
            Name::Titles | Name::Lines => Columns::Title,
        };
        Corpus { lines, columns }
    }

    /// Every document: its title and the text that is indexed.
    pub(crate) fn each_document(
        &self,
        mut take: impl FnMut(&str, &str) -> Result<()>,
    ) -> Result<()> {
        for line in reader(&self.lines)?.lines() {
            let line = line?;
            match self.columns {
                Columns::Title => take(&line, &line)?,
                Columns::TitleAndBody => {
                    let (title, body) = line.split_once('\t').ok_or("a line without a tab")?;
                    take(title, body)?;
                }
            }
        }
        Ok(())
    }

    /// The same as owned texts, for whoever cannot be called back.
    #[cfg(feature = "seekstorm")]
    pub(crate) fn documents(&self) -> Result<impl Iterator<Item = Result<(String, String)>>> {
        let columns = self.columns;
        Ok(reader(&self.lines)?.lines().map(move |line| {
            let line = line?;
            Ok(match columns {
                Columns::Title => (line.clone(), line),
                Columns::TitleAndBody => {
                    let (title, body) = line.split_once('\t').ok_or("a line without a tab")?;
                    (title.to_owned(), body.to_owned())
                }
            })
        }))
    }
}

/// The terms of treepie's default analyzer that every tokenizer leaves as they are, with blanks between: accents and forms of
/// letters are folded, and what is cut into pairs and single characters is left out.
fn plain(text: &str) -> String {
    let analyzer = treepie::analysis::Analyzer::default();
    let is_plain = |term: &String| {
        term.is_ascii()
            || term.chars().all(char::is_alphanumeric) && analyzer.tokens(term) == [&term[..]]
    };
    analyzer.tokens(text).into_iter().filter(is_plain).collect::<Vec<_>>().join(" ")
}

/// Calls `take` with every word of a text: runs of alphanumeric characters, lower-cased character by
/// character, which is what treepie's and tantivy's tokenizers make of it.
pub(crate) fn each_word(text: &str, word: &mut String, mut take: impl FnMut(&str)) {
    for run in text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty()) {
        word.clear();
        word.extend(run.chars().flat_map(char::to_lowercase));
        take(word);
    }
}

/// Appends the words of a text with blanks between.
#[cfg(feature = "seekstorm")]
pub(crate) fn push_words(text: &str, to: &mut String) {
    each_word(text, &mut String::new(), |word| {
        if !to.is_empty() {
            to.push(' ');
        }
        to.push_str(word);
    });
}

/// Writes the corpus below `dir`, unless it is there; also says what it is.
pub(crate) fn prepare(name: Name, sources: &Sources<'_>, dir: &Path) -> Result<(Corpus, String)> {
    let corpus = Corpus::new(dir.join("lines.txt"), name);
    let described = dir.join("corpus.txt");
    if described.exists() {
        return Ok((corpus, fs::read_to_string(described)?));
    }
    if sources.file(name).is_none() {
        eprintln!(
            "{}: no file, so text is made up: other figures than those of real text",
            name.text()
        );
    }
    eprintln!("{}: writing {}", name.text(), corpus.lines.display());
    fs::create_dir_all(dir)?;
    let mut to =
        Sink { to: BufWriter::new(fs::File::create(&corpus.lines)?), n: 0, limit: sources.limit };
    let origin = match name {
        Name::Articles => write_articles(sources, &mut to)?,
        Name::Titles => write_titles(sources, &mut to)?,
        Name::Lines => write_lines(sources, &mut to)?,
    };
    to.to.flush()?;
    let description = format!("{} documents, {origin}", to.n);
    fs::write(described, &description)?;
    Ok((corpus, description))
}

/// The file that is being written, up to a number of documents.
struct Sink {
    to: BufWriter<fs::File>,
    n: usize,
    limit: usize,
}

impl Sink {
    fn is_full(&self) -> bool {
        self.n >= self.limit
    }

    /// Writes a document; the text that is indexed, behind the last tab, is made [plain](plain).
    fn line(&mut self, line: &str) -> Result<()> {
        if !self.is_full() {
            let (title, text) = line.split_at(line.rfind('\t').map_or(0, |tab| tab + 1));
            writeln!(self.to, "{title}{}", plain(text))?;
            self.n += 1;
        }
        Ok(())
    }
}

impl Sources<'_> {
    /// The file to read, where there is one.
    fn file(&self, name: Name) -> Option<&Path> {
        let path = match name {
            Name::Articles => self.articles,
            Name::Titles | Name::Lines => self.titles,
        };
        path.filter(|path| path.exists())
    }

    /// The name of a corpus, by which sizes and origins do not mix.
    pub(crate) fn title(&self, name: Name) -> String {
        let made_up = if self.file(name).is_none() { "-made-up" } else { "" };
        let size = match (self.limit, name) {
            (usize::MAX, Name::Lines) => format!("-{}", self.n_lines),
            (usize::MAX, _) => String::new(),
            (limit, _) => format!("-{limit}"),
        };
        format!("{}{made_up}{size}", name.text())
    }
}

fn named(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn write_articles(sources: &Sources<'_>, to: &mut Sink) -> Result<String> {
    let Some(path) = sources.file(Name::Articles) else {
        let mut made = MadeUp::new(1);
        for _ in 0..N_ARTICLES.min(sources.limit) {
            let (title, body) = (made.title(), made.body());
            to.line(&format!("{title}\t{body}"))?;
        }
        return Ok("made up".into());
    };
    for line in decoded(path)?.lines() {
        let document: serde_json::Value = serde_json::from_str(&line?)?;
        let text = |name: &str| {
            let text = document[name].as_str().ok_or("an article without title or body");
            text.map(|text| text.replace(['\t', '\n', '\r'], " "))
        };
        to.line(&format!("{}\t{}", text("title")?, text("body")?))?;
        if to.is_full() {
            break;
        }
    }
    Ok(named(path))
}

fn write_titles(sources: &Sources<'_>, to: &mut Sink) -> Result<String> {
    let Some(path) = sources.file(Name::Titles) else {
        let mut made = MadeUp::new(2);
        for _ in 0..N_TITLES.min(sources.limit) {
            to.line(&made.title())?;
        }
        return Ok("made up".into());
    };
    for line in decoded(path)?.lines() {
        to.line(&line?)?;
        if to.is_full() {
            break;
        }
    }
    Ok(named(path))
}

/// The titles, then copies of them in which 30 % of the words are drawn again from all words, 8 %
/// are left out and, in every eighth or so, one is added: more documents, no more terms.
fn write_lines(sources: &Sources<'_>, to: &mut Sink) -> Result<String> {
    let mut text = String::new();
    let origin = match sources.file(Name::Titles) {
        Some(path) => {
            decoded(path)?.read_to_string(&mut text)?;
            format!("made from {}", named(path))
        }
        None => {
            let mut made = MadeUp::new(2);
            (0..N_TITLES.min(sources.limit)).for_each(|_| {
                text.push_str(&made.title());
                text.push('\n');
            });
            "made from made-up titles".into()
        }
    };
    let titles: Vec<&str> = text.lines().collect();
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.is_empty() {
        return Err("no titles".into());
    }
    let mut random = Random::new(3);
    to.limit = to.limit.min(sources.n_lines);
    for title in &titles {
        to.line(title)?;
    }
    let mut line = String::new();
    while !to.is_full() {
        line.clear();
        for word in random.one_of(&titles).split_whitespace() {
            let chance = random.below(100);
            if chance < 8 && !line.is_empty() {
                continue;
            }
            push(&mut line, if chance < 38 { words[random.below(words.len())] } else { word });
        }
        if random.below(100) < 12 {
            push(&mut line, words[random.below(words.len())]);
        }
        to.line(&line)?;
    }
    Ok(origin)
}

fn push(line: &mut String, word: &str) {
    if !line.is_empty() {
        line.push(' ');
    }
    line.push_str(word);
}

/// Text without meaning: half a million words, the r-th as frequent as 1/r.
struct MadeUp {
    random: Random,
}

const N_WORDS: f64 = 500_000.0;

impl MadeUp {
    fn new(seed: u64) -> Self {
        MadeUp { random: Random::new(seed) }
    }

    /// 1 to 6 words.
    fn title(&mut self) -> String {
        let n = 1 + self.random.below(6);
        self.text(n)
    }

    /// 30 to 1,500 words, short ones more often.
    fn body(&mut self) -> String {
        let n = (30_f64.ln() + self.random.unit() * (1_500_f64 / 30.0).ln()).exp();
        self.text(n as usize)
    }

    fn text(&mut self, n: usize) -> String {
        let mut text = String::new();
        for _ in 0..n {
            let rank = (self.random.unit() * N_WORDS.ln()).exp() as usize;
            push(&mut text, &word(rank));
        }
        text
    }
}

/// The word of a rank, in syllables: frequent words are short.
fn word(rank: usize) -> String {
    const CONSONANTS: &[u8] = b"bdfghjklmnprstvz";
    const VOWELS: &[u8] = b"aeiou";
    let (mut text, mut left) = (String::new(), rank + 1);
    while left > 0 {
        text.push(char::from(CONSONANTS[left % CONSONANTS.len()]));
        left /= CONSONANTS.len();
        text.push(char::from(VOWELS[left % VOWELS.len()]));
        left /= VOWELS.len();
    }
    text
}

fn reader(path: &Path) -> Result<BufReader<fs::File>> {
    let file = fs::File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(BufReader::with_capacity(1 << 20, file))
}

/// A file, decompressed if it is zstd's.
fn decoded(path: &Path) -> Result<Box<dyn BufRead>> {
    const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
    let mut file = reader(path)?;
    if !file.fill_buf()?.starts_with(&MAGIC) {
        return Ok(Box::new(file));
    }
    let decoder = ruzstd::decoding::StreamingDecoder::new(file)?;
    Ok(Box::new(BufReader::with_capacity(1 << 20, decoder)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_both_tokenizers() {
        let text = plain("Rock'n'Roll (1977) ΌΔΟΣ Straße İ 東京-都 x₂");
        let text = &text[..];
        let mut words = vec![];
        each_word(text, &mut String::new(), |word| words.push(word.to_owned()));
        assert_eq!(words, treepie::analysis::Analyzer::default().tokens(text));
        use tantivy::tokenizer::{LowerCaser, SimpleTokenizer, TextAnalyzer, TokenStream};
        let mut analyzer =
            TextAnalyzer::builder(SimpleTokenizer::default()).filter(LowerCaser).build();
        let mut tokens = vec![];
        analyzer.token_stream(text).process(&mut |token| tokens.push(token.text.clone()));
        assert_eq!(words, tokens);
    }

    #[test]
    fn no_two_ranks_share_a_word() {
        let words: std::collections::HashSet<_> = (0..20_000).map(word).collect();
        assert_eq!(words.len(), 20_000);
    }
}
