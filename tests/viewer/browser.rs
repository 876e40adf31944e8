//! A headless Chromium, driven through `chromedriver` by the WebDriver protocol: JSON over HTTP.

use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{env, fs, process};

/// One browser with one window. Ends with its value.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    /// Profile and pages.
    folder: PathBuf,
    /// `Chromium 150.0.7871.0`.
    pub(crate) version: String,
}

/// Clicks on an element that is drawn anew each time.
const CLICKS_MAX: u32 = 10;

/// Starts of a driver. It takes a free port of IPv4 and then the port of this number of IPv6, and ends if another program
/// has that one: drivers of other tests start at the same moment.
const STARTS_MAX: u32 = 10;

/// A browser, or nothing and a line that says why.
pub(crate) fn browser(test: &str) -> Option<Browser> {
    match Browser::start(test) {
        Ok(browser) => Some(browser),
        Err(reason) => {
            eprintln!("!!! SKIPPED: {test}: {reason}");
            None
        }
    }
}

/// A driver that runs, with its port, or one that has ended or is about to, with its lines added to `printed`.
fn start_driver(program: &str, printed: &mut String) -> Result<(Child, Option<u16>), String> {
    let mut driver = Command::new(program)
        .arg("--port=0")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{program} does not start: {error}"))?;
    let mut lines = BufReader::new(driver.stdout.take().expect("a pipe")).lines();
    let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
        writeln!(printed, "{line}").expect("a line in memory");
        line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok()
    });
    // It must be able to go on writing.
    std::thread::spawn(move || lines.for_each(drop));
    Ok((driver, port))
}

impl Browser {
    /// Starts `chromedriver`, or what `TREEPIE_CHROMEDRIVER` names. Once that runs everything else has to work.
    fn start(test: &str) -> Result<Browser, String> {
        let program = env::var("TREEPIE_CHROMEDRIVER").unwrap_or_else(|_| "chromedriver".into());
        let folder = env::temp_dir().join(format!("treepie-viewer-{test}-{}", process::id()));
        fs::create_dir_all(&folder).expect("a folder for the browser");
        let mut printed = String::new();
        for _ in 0..STARTS_MAX {
            let (mut driver, port) = start_driver(&program, &mut printed)?;
            if let Some(port) = port {
                let (session, version) = (String::new(), String::new());
                let mut browser = Browser { driver, port, session, folder, version };
                browser.open_session();
                return Ok(browser);
            }
            let status = driver.wait().expect("the driver's exit status");
            writeln!(printed, "({program} ended: {status})").expect("a line in memory");
        }
        panic!("{program} names no port after {STARTS_MAX} starts:\n{printed}");
    }

    fn open_session(&mut self) {
        let profile = self.folder.join("profile");
        // Without a sandbox because tests run as root in containers; the pages are ours.
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            // Pictures in shades of grey are alike on more machines, and smaller.
            "--hide-scrollbars",
            "--disable-lcd-text",
            "--force-device-scale-factor=1",
            "--font-render-hinting=none",
            &format!("--user-data-dir={}", profile.display()),
        ];
        let capabilities = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }}});
        let session = self.call("POST", "/session", &capabilities);
        self.session = format!("/session/{}", text(&session["sessionId"]));
        self.version = format!("Chromium {}", text(&session["capabilities"]["browserVersion"]));
        self.set_window(1440, "light");
        // What the browser asked for itself, for the page it starts with, is not the pages' doing.
        self.post("/url", &json!({"url": "about:blank"}));
        self.settle();
        self.log("performance");
        self.log("browser");
    }

    /// A window of this width and 900 pixels height, in the theme `light` or `dark`.
    pub(crate) fn set_window(&self, width: u32, theme: &str) {
        self.set_screen(width, 900, 1.0, theme);
    }

    /// The same of any height, on a screen of `scale` real pixels for each of these.
    pub(crate) fn set_screen(&self, width: u32, height: u32, scale: f64, theme: &str) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": scale, "mobile": false});
        self.command("Emulation.setDeviceMetricsOverride", &size);
        let features = json!([{"name": "prefers-color-scheme", "value": theme},
            {"name": "prefers-reduced-motion", "value": "reduce"}]);
        self.command("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// A command of the DevTools protocol.
    pub(crate) fn command(&self, name: &str, parameters: &Value) -> Value {
        let body = json!({"cmd": name, "params": parameters});
        self.post("/goog/cdp/execute", &body)
    }

    /// Opens a page as a file, with something behind `#`.
    pub(crate) fn open(&self, html: &str, behind: &str) {
        let file = self.folder.join("page.html");
        fs::write(&file, html).expect("the page is written");
        // From another page, because another `#` alone would not load it again.
        self.post("/url", &json!({"url": "about:blank"}));
        self.post("/url", &json!({"url": format!("file://{}#{behind}", file.display())}));
    }

    /// What an expression gives on the page.
    pub(crate) fn get(&self, expression: &str) -> Value {
        self.run(&format!("return {expression}"))
    }

    /// Runs statements on the page.
    pub(crate) fn run(&self, statements: &str) -> Value {
        self.post("/execute/sync", &json!({"script": statements, "args": []}))
    }

    /// Runs statements that end by calling `done` with a value.
    pub(crate) fn run_until_done(&self, statements: &str, argument: &Value) -> Value {
        let script = format!("const [argument, done] = arguments; {statements}");
        self.post("/execute/async", &json!({"script": script, "args": [argument]}))
    }

    /// The visible text of the first element of a selector.
    pub(crate) fn text(&self, selector: &str) -> String {
        let found = self.get(&format!("document.querySelector({})?.innerText", json!(selector)));
        found.as_str().unwrap_or_else(|| panic!("no {selector} on the page")).to_owned()
    }

    /// How many elements a selector finds.
    pub(crate) fn count(&self, selector: &str) -> u64 {
        let found = self.get(&format!("document.querySelectorAll({}).length", json!(selector)));
        found.as_u64().expect("a number")
    }

    /// Clicks with the mouse, where a person could. An element that is drawn anew between being found and being clicked is
    /// looked for again, as a person would.
    pub(crate) fn click(&self, selector: &str) {
        let body = json!({"using": "css selector", "value": selector});
        for attempt in 0.. {
            let element = self.post("/element", &body);
            let id = element.as_object().and_then(|names| names.values().next());
            let id = text(id.unwrap_or_else(|| panic!("no {selector} on the page")));
            let path = format!("{}/element/{id}/click", self.session);
            let answer = self.request("POST", &path, &json!({}));
            let value =
                answer.unwrap_or_else(|error| panic!("POST {path}: {error}"))["value"].clone();
            if value.get("error").is_none() {
                break;
            }
            let is_redrawn = value["error"] == "stale element reference" && attempt < CLICKS_MAX;
            assert!(is_redrawn, "clicking {selector}: {value}");
            self.settle();
        }
        self.settle();
    }

    /// Presses keys one after the other; those with names are U+E000 and above, see [`keys`].
    pub(crate) fn press(&self, keys: &str) {
        let actions: Vec<Value> = keys
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": key})))
            .collect();
        let body = json!({"actions": [{"type": "key", "id": "keyboard", "actions": actions}]});
        self.post("/actions", &body);
        self.settle();
    }

    /// Chooses an option of a select element as a person does.
    pub(crate) fn choose(&self, selector: &str, value: &str) {
        self.run(&format!(
            "const select = document.querySelector({}); select.value = {}; \
             select.dispatchEvent(new Event('change', {{bubbles: true}}));",
            json!(selector),
            json!(value)
        ));
        self.settle();
    }

    /// Waits until what was put off to the next frame is drawn.
    pub(crate) fn settle(&self) {
        let two_frames = "requestAnimationFrame(() => requestAnimationFrame(() => done(null)));";
        self.run_until_done(two_frames, &Value::Null);
    }

    /// What stands behind `#` in the address.
    pub(crate) fn behind(&self) -> String {
        text(&self.get("location.hash.slice(1)"))
    }

    /// The window as PNG in base64.
    pub(crate) fn screenshot(&self) -> String {
        self.settle();
        text(&self.call("GET", &format!("{}/screenshot", self.session), &Value::Null))
    }

    /// Fails if the page wrote to the console or asked for anything but files and data.
    pub(crate) fn expect_silence(&self, page: &str) {
        assert_eq!(self.noise(), Vec::<String>::new(), "{page}");
    }

    /// What the page wrote to the console, and what it asked for that is neither file nor data.
    pub(crate) fn noise(&self) -> Vec<String> {
        let console = self.log("browser");
        let mut noise: Vec<String> = console.iter().map(|entry| text(&entry["message"])).collect();
        for event in self.log("performance") {
            let message: Value = serde_json::from_str(&text(&event["message"])).expect("JSON");
            let message = &message["message"];
            if message["method"] == "Network.requestWillBeSent" {
                let url = text(&message["params"]["request"]["url"]);
                if !["file:", "data:", "about:"].iter().any(|kind| url.starts_with(kind)) {
                    noise.push(format!("asked for {url}"));
                }
            }
        }
        noise
    }

    /// What a log has had since it was last read.
    fn log(&self, name: &str) -> Vec<Value> {
        let log = self.post("/se/log", &json!({"type": name}));
        serde_json::from_value(log).expect("a list of events")
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.call("POST", &format!("{}{path}", self.session), body)
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.request(method, path, body);
        let answer = answer.unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        let value = answer["value"].clone();
        assert!(value.get("error").is_none(), "{method} {path} {body}: {value}");
        value
    }

    fn request(&self, method: &str, path: &str, body: &Value) -> io::Result<Value> {
        let body = if method == "POST" { body.to_string() } else { String::new() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(120)))?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut reader = BufReader::new(stream);
        let mut len = None;
        let mut line = String::new();
        while reader.read_line(&mut line)? > 2 {
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                len = value.trim().parse().ok();
            }
            line.clear();
        }
        let mut answer = vec![0; len.ok_or_else(|| io::Error::other("no length"))?];
        reader.read_exact(&mut answer)?;
        Ok(serde_json::from_slice(&answer)?)
    }
}

/// Closes the window and what it stood on.
impl Drop for Browser {
    fn drop(&mut self) {
        // Whether these succeed is no matter of the test. Chromium ends before there is an answer.
        if let Err(error) = self.request("DELETE", &self.session, &Value::Null) {
            eprintln!("the browser is left open: {error}");
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A JSON value that is a text.
pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("expected a text, found {value}")).to_owned()
}

/// Keys without characters, as WebDriver writes them.
pub(crate) mod keys {
    pub(crate) const ENTER: &str = "\u{E007}";
    pub(crate) const ESCAPE: &str = "\u{E00C}";
    pub(crate) const END: &str = "\u{E010}";
    pub(crate) const HOME: &str = "\u{E011}";
    pub(crate) const LEFT: &str = "\u{E012}";
    pub(crate) const UP: &str = "\u{E013}";
    pub(crate) const RIGHT: &str = "\u{E014}";
    pub(crate) const DOWN: &str = "\u{E015}";
}
