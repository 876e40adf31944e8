//! Screenshots of the page at three widths in both themes, compared with those in `screens/`, and pictures for readers.

use super::{browser::Browser, browser::browser, plans};
use base64::{Engine, prelude::BASE64_STANDARD as BASE64};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Pixels that may differ, of a thousand: corners and letters are drawn a little differently now and then.
const DIFFERENT_PER_MILLE: f64 = 2.0;

/// Half of the pixels each way: pictures take a third of the room, and show what changed as well.
const SCALE: f64 = 0.5;

/// How to compare two pictures: pixels of which any colour differs by more than 24 of 255, of a thousand.
const COMPARE: &str = "
    const pixels = async (png) => {
        const image = new Image();
        image.src = 'data:image/png;base64,' + png;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height);
        const context = canvas.getContext('2d');
        context.drawImage(image, 0, 0);
        return context.getImageData(0, 0, image.width, image.height);
    };
    Promise.all(argument.map(pixels)).then(([a, b]) => {
        if (a.width !== b.width || a.height !== b.height) return done(1000);
        let different = 0;
        for (let at = 0; at < a.data.length; at += 4) {
            if ([0, 1, 2].some((c) => Math.abs(a.data[at + c] - b.data[at + c]) > 24)) different += 1;
        }
        done((1000 * different) / (a.width * a.height));
    });";

/// What the fonts that the page takes on this machine make of a line of text, in pixels: for each kind of text the first
/// that is there of those it asks for.
const FONTS: &str = "['body', 'code'].map((kind) => { \
    const context = new OffscreenCanvas(9, 9).getContext('2d'); \
    context.font = `20px ${getComputedStyle(document.querySelector(kind)).fontFamily}`; \
    const line = context.measureText('Fontes differunt, wie man sieht: 0123456789'); \
    return `${line.width.toFixed(2)} × ${line.fontBoundingBoxAscent}` }).join(' and ')";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/viewer/screens")
}

/// What pictures depend on beside the page.
fn made_with(browser: &Browser) -> String {
    let major = browser.version.split('.').next().unwrap_or_default();
    format!("{major}, texts {} pixels wide\n", super::browser::text(&browser.get(FONTS)))
}

#[test]
fn screens_are_the_stored_ones() {
    let Some(browser) = browser("screens") else { return };
    let bless = env::var("TREEPIE_SCREENS").is_ok_and(|what| what == "bless");
    let page = plans::everything().to_html();
    browser.open(&page, "");
    let (here, note) = (made_with(&browser), folder().join("made-with.txt"));
    if bless {
        fs::create_dir_all(folder()).expect("a folder for screens");
        fs::write(&note, &here).expect("the note is written");
    }
    let there = fs::read_to_string(&note).unwrap_or_default();
    if here != there {
        eprintln!("!!! SKIPPED: comparison of screens: made with {there:?}, here is {here:?}");
    }
    for (width, height) in [(360, 1_800), (768, 1_500), (1_440, 1_100)] {
        for theme in ["light", "dark"] {
            browser.set_screen(width, height, SCALE, theme);
            browser.open(&page, "node=0.0.2&doc=77");
            let shown = browser.screenshot();
            let file = folder().join(format!("{width}-{theme}.png"));
            if bless {
                fs::write(&file, decoded(&shown)).expect("the screen is written");
            }
            if here != there {
                continue;
            }
            let stored = BASE64.encode(
                fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())),
            );
            let different = compare(&browser, &shown, &stored);
            let seen = env::temp_dir().join(format!("treepie-{width}-{theme}.png"));
            if different > DIFFERENT_PER_MILLE {
                fs::write(&seen, decoded(&shown)).expect("the screen is written");
            }
            assert!(
                different <= DIFFERENT_PER_MILLE,
                "{different:.1} of 1,000 pixels of {} differ from {}",
                file.display(),
                seen.display()
            );
        }
    }
    // That a comparison can fail: one theme is not the other.
    browser.set_window(360, "dark");
    browser.open(&page, "node=0.0.2&doc=77");
    let dark = browser.screenshot();
    browser.set_window(360, "light");
    let light = browser.screenshot();
    assert!(compare(&browser, &dark, &light) > 100.0);
}

/// How many pixels of a thousand differ; a page of its own, as that of a plan may not load pictures.
fn compare(browser: &Browser, one: &str, other: &str) -> f64 {
    browser.open("<!doctype html><title>comparison</title>", "");
    browser.run_until_done(COMPARE, &json!([one, other])).as_f64().expect("a number")
}

/// A picture of any page, where one is asked for: those in the README are made so.
#[test]
fn picture() {
    let Ok(of) = env::var("TREEPIE_PICTURE_OF") else { return };
    let path = env::var("TREEPIE_PICTURE").expect("TREEPIE_PICTURE names the file to write");
    let theme = env::var("TREEPIE_THEME").unwrap_or_else(|_| "light".into());
    let (page, behind) = of.split_once('#').unwrap_or((&of, ""));
    let page = fs::read_to_string(page).unwrap_or_else(|error| panic!("{page}: {error}"));
    let browser = browser("picture").expect("pictures need a browser");
    browser.set_screen(1_280, 880, 0.75, &theme);
    browser.open(&page, behind);
    let png = decoded(&browser.screenshot());
    eprintln!("{path}: {} bytes", png.len());
    fs::write(&path, png).unwrap_or_else(|error| panic!("{path}: {error}"));
}

fn decoded(base64: &str) -> Vec<u8> {
    BASE64.decode(base64).expect("a picture in base64")
}
