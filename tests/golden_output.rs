//! What the files of `-o` say, without what differs from run to run.

use std::fs;
use std::path::Path;

/// Columns of CSV whose values are other ones each time.
const TIMES: [&str; 6] =
    ["started_at", "seconds", "mean_latency_ms", "mean_first_token_ms", "reply_seconds", "session"];

/// A file's text without ids, ports, dates and times; of a page the text alone, a line a part.
pub fn normalised(name: &str, text: &str, folder: &Path) -> String {
    let kept = fs::read_dir(folder.join("runs")).unwrap().map(|entry| entry.unwrap().path());
    // Beside the runs are the verdicts that are kept.
    let run = kept.into_iter().find(|path| path.join("journal.ndjson").is_file()).unwrap();
    let run = run.file_name().unwrap().to_owned();
    let run = run.to_string_lossy().into_owned();
    let text = text.replace(run.rsplit('-').next().unwrap(), "ID");
    let text = match Path::new(name).extension().unwrap().to_str().unwrap() {
        "html" => page_text(&text),
        "csv" => without_columns(&text),
        "xml" => ["time", "timestamp"].iter().fold(text, |text, name| without_attribute(&text, name)),
        _ => text,
    };
    let lines = text.lines().map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let mut kept: Vec<String> = words.iter().map(|word| without_port(word)).collect();
        for place in 1..words.len() {
            let (number, unit) = (words[place - 1], words[place].trim_end_matches([',', ';', ':', ')']));
            if ["ms", "s"].contains(&unit) && number.trim_start_matches('(').parse::<f64>().is_ok() {
                let bracket = if number.starts_with('(') { "(" } else { "" };
                kept[place - 1] = format!("{bracket}N");
                kept[place] = words[place].replacen(unit, "ms", 1);
            }
            if unit == "UTC" && number.contains(':') && place > 1 {
                (kept[place - 2], kept[place - 1]) = ("DATE".to_owned(), "TIME".to_owned());
            }
        }
        kept.join(" ").trim_end().to_owned() + "\n"
    });
    lines.collect()
}

fn without_port(word: &str) -> String {
    match word.split_once("127.0.0.1:") {
        Some((before, port)) => {
            format!("{before}127.0.0.1:PORT{}", port.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        None => word.to_owned(),
    }
}

/// The values of this attribute of XML are left out.
fn without_attribute(text: &str, name: &str) -> String {
    let start = format!(" {name}=\"");
    let mut parts = text.split(&start);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + start.as_str() + part.trim_start_matches(|c| c != '"'))
}

/// CSV without the values of these columns, which stand before every column whose cells may have commas in them.
fn without_columns(text: &str) -> String {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let mut page = names.join(",") + "\n";
    for line in lines {
        let cells = line.splitn(names.len(), ',').zip(&names);
        let cells: Vec<&str> = cells.map(|(cell, name)| if TIMES.contains(name) { "" } else { cell }).collect();
        page += &(cells.join(",") + "\n");
    }
    page
}

/// The text of a page: without its style and its charts, whose shapes tell times.
fn page_text(text: &str) -> String {
    let body = text.split_once("<body>").unwrap().1;
    let mut parts = body.split("<svg class=\"meter\"").flat_map(|part| part.split("<svg "));
    let mut body = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        body += part.split_once("</svg>").unwrap().1;
    }
    let mut page = String::new();
    for part in body.split('<').skip(1) {
        let (tag, words) = part.split_once('>').unwrap();
        let tag = tag.trim_start_matches('/').split(' ').next().unwrap();
        if !["a", "b", "code", "em", "span", "strong"].contains(&tag) {
            page.push_str(if ["td", "th", "dd"].contains(&tag) { "  " } else { "\n" });
        }
        page.push_str(words);
    }
    let known = [("&quot;", "\""), ("&#x27;", "'"), ("&#x2f;", "/"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")];
    let page = known.iter().fold(page, |page, (reference, c)| page.replace(reference, c));
    // What is in a prompt is another test's.
    let is_prompt = |line: &str| line.starts_with("You are the judge ");
    let mut is_in_prompt = false;
    let lines = page.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let lines = lines.filter(|line| {
        is_in_prompt = (is_in_prompt || is_prompt(line)) && line != "reply";
        let is_digest = line.len() > 12 && line.chars().all(|c| c.is_ascii_hexdigit());
        !is_in_prompt && !is_digest && line != env!("CARGO_PKG_VERSION")
    });
    lines.filter(|line| !line.is_empty()).map(|line| line + "\n").collect()
}
