//! Stems of words, by the algorithms of the Snowball project (crate `frostem`, feature `stem`).
//!
//! A stem costs some hundred nanoseconds, mostly allocation, and few words make up most of a text;
//! so each analyzer remembers the stems of the words it has seen last, in a table of a fixed size.

#[cfg(feature = "stem")]
use frostem::Algorithm;

/// The languages with a stemmer, and Porter's first algorithm for English.
#[cfg(feature = "stem")]
const LANGUAGES: &[(&str, Algorithm)] = &[
    ("ar", Algorithm::Arabic),
    ("ca", Algorithm::Catalan),
    ("cs", Algorithm::Czech),
    ("da", Algorithm::Danish),
    ("de", Algorithm::German),
    ("el", Algorithm::Greek),
    ("en", Algorithm::English),
    ("es", Algorithm::Spanish),
    ("fi", Algorithm::Finnish),
    ("fr", Algorithm::French),
    ("hi", Algorithm::Hindi),
    ("hu", Algorithm::Hungarian),
    ("id", Algorithm::Indonesian),
    ("it", Algorithm::Italian),
    ("nl", Algorithm::Dutch),
    ("no", Algorithm::Norwegian),
    ("pl", Algorithm::Polish),
    ("porter", Algorithm::Porter),
    ("pt", Algorithm::Portuguese),
    ("ro", Algorithm::Romanian),
    ("ru", Algorithm::Russian),
    ("sv", Algorithm::Swedish),
    ("ta", Algorithm::Tamil),
    ("tr", Algorithm::Turkish),
];

/// The day of the algorithms' last change, as the crate's version has it; 0 in a build without stemmers.
/// Raise it together with the version in `Cargo.toml`.
#[cfg(feature = "stem")]
pub(super) const VERSION: u32 = 20_261_016;
#[cfg(not(feature = "stem"))]
pub(super) const VERSION: u32 = 0;

/// The stemmer of a language.
#[derive(Clone, Copy)]
pub(super) struct Stemmer {
    language: &'static str,
    #[cfg(feature = "stem")]
    stemmer: frostem::Stemmer,
}

impl Stemmer {
    /// `None` if this build has none for it.
    #[cfg(feature = "stem")]
    pub(super) fn of(language: &str) -> Option<Stemmer> {
        let (language, algorithm) = LANGUAGES.iter().find(|(code, _)| *code == language)?;
        Some(Stemmer { language, stemmer: frostem::Stemmer::new(*algorithm) })
    }

    /// `None` if this build has none for it.
    #[cfg(not(feature = "stem"))]
    pub(super) fn of(_language: &str) -> Option<Stemmer> {
        None
    }

    /// The languages of this build.
    pub(super) fn languages() -> impl Iterator<Item = &'static str> {
        #[cfg(feature = "stem")]
        let languages = LANGUAGES.iter().map(|(code, _)| *code);
        #[cfg(not(feature = "stem"))]
        let languages = std::iter::empty();
        languages
    }

    fn stem<'a>(&self, word: &'a str) -> std::borrow::Cow<'a, str> {
        #[cfg(feature = "stem")]
        return self.stemmer.stem(word);
        #[cfg(not(feature = "stem"))]
        return word.into();
    }
}

impl std::fmt::Debug for Stemmer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stemmer({})", self.language)
    }
}

/// Words remembered; with their stems some 100 KiB.
const SLOTS: usize = 1 << 11;
/// Bytes of a word that is worth remembering.
const WORD_BYTES_MAX: usize = 32;

/// The stems of the words that were seen last. One slot a hash: a word takes the place of another.
#[derive(Clone, Debug, Default)]
pub(super) struct StemCache {
    /// Empty until the first stem.
    slots: Vec<Slot>,
    language: &'static str,
}

#[derive(Clone, Debug, Default)]
struct Slot {
    word: String,
    stem: String,
}

impl StemCache {
    /// Replaces a word by its stem.
    pub(super) fn stem(&mut self, stemmer: &Stemmer, word: &mut String) {
        if word.len() > WORD_BYTES_MAX {
            if let std::borrow::Cow::Owned(stem) = stemmer.stem(word) {
                *word = stem;
            }
            return;
        }
        if self.slots.is_empty() || self.language != stemmer.language {
            self.slots.clear();
            self.slots.resize(SLOTS, Slot::default());
            self.language = stemmer.language;
        }
        let slot = &mut self.slots[hash(word) % SLOTS];
        if slot.word != *word {
            slot.stem.clear();
            slot.stem.push_str(&stemmer.stem(word));
            slot.word.clear();
            slot.word.push_str(word);
        }
        word.clear();
        word.push_str(&slot.stem);
    }
}

/// FNV-1a: short words, no adversary, since a collision costs a stem and nothing else.
fn hash(word: &str) -> usize {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    let hash = word.bytes().fold(0xCBF2_9CE4_8422_2325, step);
    (hash >> 32 ^ hash) as usize
}

#[cfg(all(test, feature = "stem"))]
mod tests {
    use super::*;

    #[test]
    fn words_of_several_languages_have_stems() {
        for (language, word, stem) in [
            ("en", "connections", "connect"),
            ("en", "generously", "generous"),
            ("porter", "generously", "gener"),
            ("de", "häuser", "haus"),
            ("fr", "continuellement", "continuel"),
            ("es", "canciones", "cancion"),
            ("ru", "книгами", "книг"),
            ("fi", "taloissa", "talo"),
            ("en", "", ""),
        ] {
            let stemmer = Stemmer::of(language).unwrap();
            assert_eq!(stemmer.stem(word), stem, "{language}");
        }
        assert!(Stemmer::of("xx").is_none());
    }

    #[test]
    fn remembered_stems_are_those_of_the_stemmer() {
        let (english, german) = (Stemmer::of("en").unwrap(), Stemmer::of("de").unwrap());
        let mut cache = StemCache::default();
        let mut check = |stemmer: &Stemmer, word: String| {
            let mut found = word.clone();
            cache.stem(stemmer, &mut found);
            assert_eq!(found, stemmer.stem(&word), "{word}");
        };
        // More words than slots; each again at once, and again when others have taken its slot.
        for nth in (0..2 * SLOTS).chain(0..2 * SLOTS) {
            let word = format!("w{nth}{}", ["ings", "ly", "ations"][nth % 3]);
            check(&english, word.clone());
            check(&english, word);
        }
        for stemmer in [english, german, english] {
            check(&stemmer, "houses".into());
            check(&stemmer, "häuser".into());
        }
    }

    #[test]
    fn long_words_are_stemmed_too() {
        let stemmer = Stemmer::of("en").unwrap();
        let mut word = "x".repeat(100) + "ations";
        let expected = stemmer.stem(&word).into_owned();
        StemCache::default().stem(&stemmer, &mut word);
        assert_eq!(word, expected);
        assert!(word.len() < 106);
    }

    /// A false version is not to be written into an index.
    #[test]
    fn the_version_is_that_of_the_crate_in_use() {
        let manifest = include_str!("../../Cargo.toml");
        assert!(manifest.contains(&format!("\"=2.{VERSION}.")), "{VERSION}");
    }
}
