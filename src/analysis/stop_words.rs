//! Stop words, too common to be looked up: articles, prepositions, pronouns, forms of "to be".
//!
//! The English list is the one of 33 words that Lucene and most evaluations use; the others were
//! written for this crate from the closed word classes of each language. A change of a list changes the
//! terms of an index, so it raises [`ANALYSIS_VERSION`](crate::analysis::ANALYSIS_VERSION).

/// The stop words of a language, in lower case and sorted.
pub(super) fn list(language: &str) -> Option<&'static [&'static str]> {
    LISTS.iter().find(|(code, _)| *code == language).map(|(_, list)| *list)
}

/// The languages with a list.
pub(super) fn languages() -> impl Iterator<Item = &'static str> {
    LISTS.iter().map(|(code, _)| *code)
}

#[rustfmt::skip]
const LISTS: &[(&str, &[&str])] = &[
    ("ca", &[
        "a", "això", "al", "als", "amb", "aquell", "aquella", "aquelles", "aquells", "aquest",
        "aquesta", "aquestes", "aquests", "aquí", "com", "de", "del", "dels", "des", "el", "ell",
        "ella", "elles", "ells", "els", "em", "en", "ens", "era", "eren", "es", "esta", "estan",
        "està", "et", "fa", "fins", "ha", "han", "havia", "hi", "ho", "i", "ja", "jo", "la", "les",
        "li", "llur", "lo", "los", "meu", "meva", "molt", "més", "na", "ne", "no", "nosaltres", "o",
        "on", "per", "perquè", "però", "qual", "quan", "que", "qui", "què", "s", "sa", "se",
        "sense", "ser", "seu", "seus", "seva", "seves", "si", "sobre", "són", "també", "te", "tot",
        "tots", "tu", "un", "una", "unes", "uns", "us", "va", "van", "vosaltres", "és",
    ]),
    ("da", &[
        "af", "alle", "anden", "andet", "at", "blev", "bliver", "da", "de", "dem", "den", "denne",
        "der", "deres", "det", "dette", "dig", "din", "disse", "dog", "du", "efter", "eller", "en",
        "end", "er", "et", "for", "fra", "ham", "han", "hans", "har", "havde", "hende", "hendes",
        "her", "hos", "hun", "hvad", "hvis", "hvor", "i", "ikke", "ind", "jeg", "jer", "jo", "kan",
        "kunne", "man", "mange", "med", "meget", "men", "mig", "min", "mine", "mit", "mod", "ned",
        "noget", "nogle", "nu", "når", "og", "også", "om", "op", "os", "over", "på", "selv", "sig",
        "sin", "sine", "sit", "skal", "skulle", "som", "sådan", "thi", "til", "ud", "under", "var",
        "vi", "vil", "ville", "vor", "være", "været",
    ]),
    ("de", &[
        "aber", "alle", "allem", "allen", "aller", "alles", "als", "also", "am", "an", "ander",
        "andere", "anderem", "anderen", "anderer", "anderes", "auch", "auf", "aus", "bei", "bin",
        "bis", "bist", "da", "damit", "dann", "das", "dass", "daß", "dein", "deine", "deinem",
        "deinen", "deiner", "deines", "dem", "den", "denn", "der", "des", "dich", "die", "dies",
        "diese", "diesem", "diesen", "dieser", "dieses", "dir", "doch", "dort", "du", "durch",
        "ein", "eine", "einem", "einen", "einer", "eines", "er", "es", "etwas", "euch", "euer",
        "eure", "für", "gegen", "hab", "habe", "haben", "hat", "hatte", "hatten", "hier", "hin",
        "hinter", "ich", "ihm", "ihn", "ihnen", "ihr", "ihre", "ihrem", "ihren", "ihrer", "ihres",
        "im", "in", "ins", "ist", "ja", "jede", "jedem", "jeden", "jeder", "jedes", "jener", "kann",
        "kein", "keine", "keinem", "keinen", "keiner", "können", "könnte", "man", "manche", "mein",
        "meine", "meinem", "meinen", "meiner", "meines", "mich", "mir", "mit", "muss", "musste",
        "nach", "nicht", "nichts", "noch", "nun", "nur", "ob", "oder", "ohne", "sehr", "sein",
        "seine", "seinem", "seinen", "seiner", "seines", "sich", "sie", "sind", "so", "solche",
        "soll", "sollte", "sondern", "sonst", "um", "und", "uns", "unser", "unsere", "unter",
        "viel", "vom", "von", "vor", "war", "waren", "warst", "was", "weg", "weil", "weiter",
        "welche", "welchem", "welchen", "welcher", "welches", "wenn", "werde", "werden", "wie",
        "wieder", "will", "wir", "wird", "wirst", "wo", "wollen", "wollte", "würde", "würden", "zu",
        "zum", "zur", "zwar", "zwischen", "über",
    ]),
    ("en", &[
        "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is",
        "it", "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there",
        "these", "they", "this", "to", "was", "will", "with",
    ]),
    ("es", &[
        "a", "al", "algo", "algunas", "algunos", "ante", "antes", "como", "con", "contra", "cual",
        "cuando", "de", "del", "desde", "donde", "durante", "e", "el", "ella", "ellas", "ellos",
        "en", "entre", "era", "eran", "es", "esa", "esas", "ese", "eso", "esos", "esta", "estaba",
        "estado", "estamos", "estar", "este", "esto", "estos", "está", "están", "fue", "fueron",
        "ha", "haber", "había", "habían", "han", "hasta", "hay", "la", "las", "le", "les", "lo",
        "los", "me", "mi", "mis", "mucho", "muchos", "muy", "más", "mí", "nada", "ni", "no", "nos",
        "nosotros", "o", "os", "otra", "otras", "otro", "otros", "para", "pero", "poco", "por",
        "porque", "que", "quien", "quienes", "qué", "se", "sea", "ser", "si", "sido", "sin",
        "sobre", "son", "su", "sus", "suya", "suyo", "sí", "también", "tanto", "te", "tiene",
        "tienen", "todo", "todos", "tu", "tus", "tú", "un", "una", "unas", "uno", "unos", "y", "ya",
        "yo", "él",
    ]),
    ("fi", &[
        "ei", "eivät", "eli", "en", "ennen", "entä", "että", "he", "heidän", "heille", "heitä",
        "hän", "hänelle", "hänen", "häntä", "ja", "jo", "joita", "joka", "joko", "jolla", "jonka",
        "jos", "jossa", "jota", "joten", "jotka", "kanssa", "keitä", "ken", "kenen", "ketkä",
        "ketä", "koska", "kuin", "kuka", "kun", "kuten", "me", "meidän", "meille", "meitä", "mikä",
        "mikäli", "minkä", "minua", "minulle", "minun", "minä", "missä", "mitkä", "mitä", "mukaan",
        "mutta", "myös", "ne", "nehän", "niiden", "niihin", "niin", "niissä", "niistä", "niitä",
        "noiden", "noita", "nuo", "nyt", "näiden", "näissä", "näitä", "nämä", "ole", "olemme",
        "olen", "olet", "olette", "oli", "olimme", "olin", "olisi", "olivat", "olla", "olleet",
        "ollut", "on", "ovat", "poikki", "se", "sekä", "sen", "siihen", "siinä", "siis", "siitä",
        "sinua", "sinulle", "sinun", "sinä", "sitä", "tai", "te", "teidän", "teille", "teitä",
        "tuo", "tuon", "tuota", "tähän", "tämä", "tämän", "tässä", "tästä", "tätä", "vaan", "vai",
        "vaikka", "voi", "yli",
    ]),
    ("fr", &[
        "a", "ai", "ainsi", "alors", "au", "aucun", "aucune", "aussi", "autre", "aux", "avaient",
        "avait", "avec", "avez", "avons", "c", "ce", "ceci", "cela", "celle", "celles", "celui",
        "ces", "cet", "cette", "ceux", "chez", "comme", "d", "dans", "de", "des", "donc", "dont",
        "du", "elle", "elles", "en", "encore", "entre", "es", "est", "et", "eu", "eux", "fait",
        "fut", "il", "ils", "j", "je", "jusqu", "l", "la", "le", "les", "leur", "leurs", "lors",
        "lui", "m", "ma", "mais", "me", "mes", "moi", "mon", "même", "mêmes", "n", "ne", "ni",
        "nos", "notre", "nous", "on", "ont", "ou", "où", "par", "pas", "peu", "plus", "pour",
        "puis", "qu", "quand", "que", "quel", "quelle", "quelles", "quels", "qui", "s", "sa",
        "sans", "se", "sera", "ses", "si", "son", "sont", "sous", "sur", "t", "ta", "te", "tes",
        "toi", "ton", "tous", "tout", "toute", "toutes", "très", "tu", "un", "une", "vers", "vos",
        "votre", "vous", "y", "à", "étaient", "était", "étant", "été", "être",
    ]),
    ("it", &[
        "a", "abbia", "abbiamo", "agli", "ai", "al", "alla", "alle", "allo", "anche", "avere",
        "aveva", "avevano", "c", "che", "chi", "ci", "coi", "col", "come", "con", "contro", "cui",
        "da", "dagli", "dai", "dal", "dalla", "dalle", "dallo", "degli", "dei", "del", "della",
        "delle", "dello", "di", "dov", "dove", "e", "ed", "egli", "era", "erano", "essa", "esse",
        "essere", "essi", "esso", "fra", "fu", "furono", "gli", "ha", "hai", "hanno", "ho", "i",
        "il", "in", "io", "l", "la", "le", "lei", "li", "lo", "loro", "lui", "ma", "me", "mi",
        "mia", "mie", "miei", "mio", "ne", "negli", "nei", "nel", "nella", "nelle", "nello", "noi",
        "non", "nostra", "nostro", "o", "ogni", "per", "perché", "più", "quale", "quali", "quando",
        "quanto", "quella", "quelle", "quelli", "quello", "questa", "queste", "questi", "questo",
        "se", "sei", "si", "sia", "siamo", "sono", "sta", "stata", "stati", "stato", "su", "sua",
        "sue", "sugli", "sui", "sul", "sulla", "sulle", "sullo", "suo", "suoi", "ti", "tra", "tu",
        "tua", "tue", "tuo", "tutti", "tutto", "un", "una", "uno", "vi", "voi", "è",
    ]),
    ("nl", &[
        "aan", "al", "alles", "als", "altijd", "andere", "ben", "bij", "daar", "dan", "dat", "de",
        "der", "deze", "die", "dit", "doch", "doen", "door", "dus", "een", "en", "er", "ge", "geen",
        "geweest", "haar", "had", "heb", "hebben", "heeft", "hem", "het", "hier", "hij", "hoe",
        "hun", "iemand", "iets", "ik", "in", "is", "ja", "je", "kan", "kon", "kunnen", "maar", "me",
        "meer", "men", "met", "mij", "mijn", "moet", "na", "naar", "niet", "niets", "nog", "nu",
        "of", "om", "omdat", "onder", "ons", "onze", "ook", "op", "over", "reeds", "te", "tegen",
        "toch", "toen", "tot", "u", "uit", "uw", "van", "veel", "voor", "want", "waren", "was",
        "wat", "werd", "wezen", "wie", "wil", "worden", "wordt", "zal", "ze", "zelf", "zich", "zij",
        "zijn", "zo", "zonder", "zou",
    ]),
    ("no", &[
        "alle", "andre", "at", "av", "ble", "bli", "blir", "blitt", "da", "de", "dem", "den",
        "denne", "der", "dere", "deres", "det", "dette", "din", "disse", "du", "eller", "en", "enn",
        "er", "et", "etter", "for", "fra", "få", "ha", "hadde", "han", "hans", "har", "henne",
        "hennes", "her", "hos", "hun", "hva", "hvem", "hver", "hvis", "hvor", "hvordan", "hvorfor",
        "i", "ikke", "inn", "ja", "jeg", "kan", "kom", "kunne", "man", "mange", "med", "meg",
        "mellom", "men", "min", "mine", "mitt", "mot", "mye", "ned", "noe", "noen", "nå", "når",
        "og", "også", "om", "opp", "oss", "over", "på", "samme", "seg", "selv", "si", "sin", "sine",
        "sitt", "skal", "skulle", "slik", "som", "så", "til", "under", "ut", "var", "ved", "vi",
        "vil", "ville", "vår", "være", "vært",
    ]),
    ("pt", &[
        "a", "ao", "aos", "aquela", "aquelas", "aquele", "aqueles", "aquilo", "as", "até", "com",
        "como", "da", "das", "de", "dela", "delas", "dele", "deles", "depois", "do", "dos", "e",
        "ela", "elas", "ele", "eles", "em", "entre", "era", "eram", "essa", "essas", "esse",
        "esses", "esta", "estas", "este", "estes", "estou", "está", "eu", "foi", "foram", "há",
        "isso", "isto", "já", "lhe", "lhes", "mais", "mas", "me", "mesmo", "meu", "meus", "minha",
        "minhas", "muito", "na", "nas", "nem", "no", "nos", "nossa", "nossas", "nosso", "nossos",
        "num", "numa", "não", "nós", "o", "os", "ou", "para", "pela", "pelas", "pelo", "pelos",
        "por", "qual", "quando", "que", "quem", "se", "seja", "sem", "ser", "será", "seu", "seus",
        "sua", "suas", "são", "só", "também", "te", "tem", "teu", "teus", "tinha", "tu", "tua",
        "tuas", "tudo", "têm", "um", "uma", "umas", "uns", "você", "vocês", "vos", "à", "às", "é",
    ]),
    ("ru", &[
        "а", "без", "более", "бы", "был", "была", "были", "было", "быть", "в", "вам", "вас", "весь",
        "во", "вот", "все", "всего", "всех", "вы", "где", "да", "даже", "для", "до", "его", "ее",
        "ей", "ему", "если", "есть", "еще", "ещё", "её", "же", "за", "здесь", "и", "из", "или",
        "им", "их", "к", "как", "какая", "какой", "ко", "когда", "кто", "ли", "лучше", "между",
        "меня", "мне", "может", "мой", "моя", "мы", "на", "над", "надо", "нас", "не", "него", "нее",
        "ней", "нет", "ни", "них", "но", "ну", "о", "об", "однако", "он", "она", "они", "оно", "от",
        "очень", "перед", "по", "под", "после", "потом", "потому", "почти", "при", "про", "раз",
        "с", "сам", "свою", "себе", "себя", "со", "так", "также", "такой", "там", "тебя", "тем",
        "теперь", "то", "тогда", "того", "тоже", "той", "только", "том", "тот", "тут", "ты", "у",
        "уже", "хотя", "чего", "чем", "через", "что", "чтоб", "чтобы", "чуть", "эта", "эти", "этих",
        "это", "этого", "этой", "этом", "этот", "эту", "я",
    ]),
    ("sv", &[
        "alla", "allt", "att", "av", "blev", "bli", "blir", "blivit", "de", "dem", "den", "denna",
        "deras", "dess", "dessa", "det", "detta", "dig", "din", "dina", "ditt", "du", "där", "då",
        "efter", "ej", "eller", "en", "er", "era", "ert", "ett", "från", "för", "ha", "hade", "han",
        "hans", "har", "henne", "hennes", "hon", "honom", "hur", "här", "i", "icke", "ingen",
        "inom", "inte", "jag", "ju", "kan", "kunde", "man", "med", "mellan", "men", "mig", "min",
        "mina", "mitt", "mot", "mycket", "ni", "nu", "när", "någon", "något", "några", "och", "om",
        "oss", "på", "samma", "sedan", "sig", "sin", "sina", "sitta", "själv", "skulle", "som",
        "så", "sådan", "till", "under", "upp", "ut", "utan", "vad", "var", "vara", "varför",
        "varit", "varje", "vars", "vart", "vem", "vi", "vid", "vilka", "vilken", "vilket", "vår",
        "våra", "vårt", "än", "är", "åt", "över",
    ]),
    ("tr", &[
        "acaba", "ama", "ancak", "aslında", "az", "bana", "bazen", "bazı", "bazıları", "belki",
        "ben", "benden", "beni", "benim", "bile", "bir", "biri", "birkaç", "birçok", "biz",
        "bizden", "bize", "bizi", "bizim", "bu", "buna", "bundan", "bunlar", "bunların", "bunu",
        "bunun", "burada", "böyle", "da", "daha", "de", "değil", "diye", "dolayı", "en", "fakat",
        "gibi", "göre", "ha", "hangi", "hani", "hatta", "hem", "henüz", "hep", "hepsi", "her",
        "hiç", "ile", "ilgili", "ise", "için", "kadar", "karşı", "ki", "kim", "kime", "kimi",
        "kimse", "mi", "mu", "mü", "mı", "nasıl", "ne", "neden", "nerede", "niye", "niçin", "o",
        "olan", "olarak", "ona", "onda", "ondan", "onlar", "onlara", "onların", "onu", "onun",
        "oysa", "pek", "rağmen", "sana", "sen", "senden", "seni", "senin", "siz", "sizden", "size",
        "sizi", "sizin", "sonra", "tüm", "ve", "veya", "ya", "yani", "yine", "çok", "çünkü", "öyle",
        "üzere", "şey", "şu", "şuna", "şunlar", "şunu",
    ]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case::{self, Language};

    #[test]
    fn lists_are_sorted_lower_case_words() {
        for language in languages() {
            let list = list(language).unwrap();
            assert!(list.len() >= 30, "{language}");
            assert!(list.is_sorted_by(|a, b| a < b), "{language}");
            for word in list {
                assert_eq!(*word, word.to_lowercase(), "{language}");
                assert!(!word.is_empty() && !word.contains(char::is_whitespace), "{word:?}");
            }
        }
        assert_eq!(list("en").unwrap().len(), 33);
        // The result of `lower` for a stop word is one, too.
        let (mut folded, mut buffer) = (String::new(), String::new());
        for (code, list) in LISTS.iter().filter(|(code, _)| *code != "tr") {
            for word in *list {
                folded.clear();
                folded.push_str(word);
                case::fold(&mut folded, Language::Any, &mut buffer);
                assert!(list.contains(&&*folded), "{code}: {word}");
            }
        }
        assert!(list("xx").is_none());
    }
}
