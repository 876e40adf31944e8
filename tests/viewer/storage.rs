//! The page of the storage of an index.

use super::browser::browser;
use treepie::{Document, Index, Schema};

/// Two fields, two segments, deleted documents, and a term that would be markup.
pub(crate) fn page() -> String {
    let schema = Schema::builder().text("title").keyword("kind").build().expect("two fields");
    let index = Index::in_memory(schema);
    let mut writer = index.writer().expect("a writer");
    for half in 0..2 {
        for n in 0..2_000 {
            let mut document =
                Document::new().with("title", format!("all of number {n} in {half}"));
            document.push("kind", if n % 3 == 0 { "</script><b>x" } else { "plain\u{202e}" });
            writer.add(document).expect("a document");
        }
        writer.commit().expect("in memory");
    }
    writer.delete_value("kind", "plain\u{202e}").expect("a keyword");
    writer.commit().expect("in memory");
    let inspector = index.inspect().expect("a snapshot");
    let usage = index.disk_usage().expect("in memory");
    inspector.storage_html("a </script> of titles\u{202e}", &usage, 20).expect("sound")
}

#[test]
fn the_storage_is_a_map_and_tables_that_sort() {
    let Some(browser) = browser("storage") else { return };
    browser.open(&page(), "");
    browser.expect_silence("storage");
    assert!(browser.text("#title").contains("a </script> of titles\\u{202e}"));
    assert!(browser.text("#summary").contains("2 segments"), "{}", browser.text("#summary"));
    let tiles = browser.count("#map button");
    assert!(tiles > 10, "{tiles} parts");

    // The tiles cover the map, and each tells what it is.
    let covered = browser.get(
        "[...document.querySelectorAll('#map > div')].reduce((sum, tile) => { \
           const box = tile.getBoundingClientRect(); return sum + box.width * box.height }, 0) \
         / (document.querySelector('#map').clientWidth * document.querySelector('#map').clientHeight)",
    );
    assert!((0.97..1.03).contains(&covered.as_f64().expect("a share")), "{covered} of the map");
    browser.run("document.querySelector('#map button').focus()");
    assert!(browser.text("#told").contains('%'), "{}", browser.text("#told"));

    // One field alone has fewer.
    let value = browser.get("document.querySelector('#field').options[1].value");
    browser.choose("#field", value.as_str().expect("a value"));
    assert!((1..tiles).contains(&browser.count("#map button")));

    assert!(browser.text("#savings").contains("deleted documents"));
    assert!(browser.text("#terms").contains("</script><b>x"), "{}", browser.text("#terms"));
    let first = || browser.text("#terms tbody tr:first-child td:first-child");
    let before = first();
    browser.click("#terms th:first-child button");
    assert_eq!(browser.count("#terms th[aria-sort='ascending']"), 1);
    browser.click("#terms th:first-child button");
    assert_eq!(browser.count("#terms th[aria-sort='descending']"), 1);
    assert_ne!(first(), before, "sorted by name, not by bytes");
    if cfg!(target_os = "linux") {
        assert!(browser.text("#resident-note").contains("100 %"), "it is all in memory");
    }
    browser.choose("#theme", "dark");
    assert_eq!(browser.get("document.documentElement.dataset.theme"), "dark");
    browser.expect_silence("storage, used");
}
