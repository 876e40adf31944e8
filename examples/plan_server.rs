//! A web application that answers searches and shows how each was answered: `/?q=london` finds, `/plan?q=london` is the
//! plan of the same search with what happened.
//!
//! `cargo run --example plan_server` asks itself two questions and ends; `-- --serve` stays, at <http://127.0.0.1:7700>.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    thread,
    time::Duration,
};
use treepie::writer::{BadLines, LineFormat};
use treepie::{Index, Searcher};

const TITLES: &[u8] = include_bytes!("../corpus/titles.txt");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let index = Index::in_memory(LineFormat::titles().schema()?);
    let mut writer = index.writer()?;
    writer.add_lines(TITLES, &LineFormat::titles(), BadLines::Refuse)?;
    writer.commit()?;
    let searcher = index.searcher()?;

    if std::env::args().any(|argument| argument == "--serve") {
        let listener = TcpListener::bind("127.0.0.1:7700")?;
        println!("http://{}/?q=london", listener.local_addr()?);
        // One after the other: a real application has threads, and a searcher may be used by all of them.
        for stream in listener.incoming() {
            if let Err(error) = stream.and_then(|stream| serve(&searcher, stream)) {
                eprintln!("a request: {error}");
            }
        }
        return Ok(());
    }

    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let paths = ["/?q=history+-war", "/plan?q=history+-war"];
    let server = thread::spawn(move || -> io::Result<()> {
        paths.iter().try_for_each(|_| serve(&searcher, listener.accept()?.0))
    });
    for path in paths {
        let answer = ask(address, path)?;
        let head: Vec<&str> =
            answer.lines().take(12).map(|line| line.get(..100).unwrap_or(line)).collect();
        println!("GET {path}\n{}\n… {} bytes in all\n", head.join("\n"), answer.len());
    }
    server.join().expect("the server does not panic")?;
    Ok(())
}

/// Reads one request and answers it.
fn serve(searcher: &Searcher, mut stream: TcpStream) -> io::Result<()> {
    const REQUEST_BYTES_MAX: u64 = 8 << 10;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut request = BufReader::new(stream.try_clone()?.take(REQUEST_BYTES_MAX));
    let mut first = String::new();
    request.read_line(&mut first)?;
    // Headers are read and forgotten; a client would see a connection that breaks instead of an answer otherwise.
    let mut header = String::new();
    while request.read_line(&mut header)? > 2 {
        header.clear();
    }
    let target = first.split(' ').nth(1).unwrap_or("/");
    let (path, query) = target.split_once("?q=").unwrap_or((target, ""));
    let query = decoded(query);
    let page = match path {
        "/" => hits(searcher, &query),
        "/plan" => plan(searcher, &query),
        _ => return respond(&mut stream, "404 Not Found", "There is no such page."),
    };
    match page {
        Ok(page) => respond(&mut stream, "200 OK", &page),
        Err(error) => respond(&mut stream, "400 Bad Request", &escaped(&error.to_string())),
    }
}

/// What was found, and the way to its plan.
fn hits(searcher: &Searcher, text: &str) -> treepie::Result<String> {
    let query = searcher.parse(text)?;
    let found = searcher.search(&query).timeout(Duration::from_secs(1)).run()?;
    let mut page = format!(
        "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>{0}</title>\n<form><input name=\"q\" value=\"{0}\"></form>\n\
         <p>{1} found; <a href=\"/plan?q={2}\">how</a></p>\n",
        escaped(text),
        found.total.value,
        encoded(text),
    );
    for hit in &found.hits {
        page += &format!("<p>{}</p>\n", escaped(&hit.fields["title"].to_string()));
    }
    Ok(page)
}

/// The same search, analyzed: one page that needs nothing but itself, as `treepie explain --format html` writes it.
fn plan(searcher: &Searcher, text: &str) -> treepie::Result<String> {
    let query = searcher.parse(text)?;
    let tree = searcher.search(&query).timeout(Duration::from_secs(1)).analyze()?;
    Ok(tree.to_html())
}

fn respond(stream: &mut TcpStream, status: &str, page: &str) -> io::Result<()> {
    let kind = "Content-Type: text/html; charset=utf-8\r\nConnection: close";
    write!(stream, "HTTP/1.1 {status}\r\n{kind}\r\nContent-Length: {}\r\n\r\n{page}", page.len())
}

fn ask(address: SocketAddr, path: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// `a+%C3%A9` as `a é`; what is no code stays as it is.
fn decoded(text: &str) -> String {
    let text = text.as_bytes();
    let (mut bytes, mut at) = (vec![], 0);
    while at < text.len() {
        let digits = text.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let (byte, n) = match (text[at], code) {
            (b'%', Some(code)) => (code, 3),
            (b'+', _) => (b' ', 1),
            (byte, _) => (byte, 1),
        };
        bytes.push(byte);
        at += n;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
