//! The HTML page in a real browser, driven over WebDriver: a conversation full of attacks is words and does nothing.
//! `scripts/browser` installs chromium and chromedriver; `EVAL_JOB_TEST_CHROMIUM` and `EVAL_JOB_TEST_CHROMEDRIVER` name others.

#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::outputs::{ATTACKS, hostile_run};

/// The program of this variable, else of this name, if it is there; on CI it must be.
fn program(variable: &str, usual: &str) -> Option<String> {
    let name = std::env::var(variable).unwrap_or_else(|_| usual.to_owned());
    let found = Command::new(&name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if found.is_ok_and(|status| status.success()) {
        return Some(name);
    }
    assert!(
        std::env::var("CI").as_deref() != Ok("true"),
        "there is no {usual}: run scripts/browser, or set {variable}"
    );
    eprintln!("SKIPPED: there is no {usual}. Run scripts/browser, or name it by {variable}.");
    None
}

/// A browser without a window, ended when this is dropped.
struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

impl Browser {
    fn start(scheme: &str) -> Option<Browser> {
        let chromium = program("EVAL_JOB_TEST_CHROMIUM", "chromium")?;
        let driver = program("EVAL_JOB_TEST_CHROMEDRIVER", "chromedriver")?;
        let mut driver =
            Command::new(driver).arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut said = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = said.find_map(|line| {
            let line = line.unwrap();
            line.split_once("started successfully on port ")?.1.trim_end_matches('.').parse().ok()
        });
        let mut browser = Browser { driver, port: port.unwrap(), session: String::new() };
        std::thread::spawn(move || said.for_each(drop));
        let chromium = Command::new("sh").args(["-c", "command -v \"$0\"", &chromium]).output().unwrap().stdout;
        let chromium = String::from_utf8(chromium).unwrap();
        let mut args = vec![
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--window-size=1200,900",
        ];
        args.extend((scheme == "dark").then_some("--force-dark-mode"));
        let options = json!({"binary": chromium.trim(), "args": args});
        let asked = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}});
        let answer = browser.send("POST", "/session", &asked);
        browser.session = answer["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        Some(browser)
    }

    /// A request to the driver, over plain HTTP.
    fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        let body = if method == "POST" { body.to_string() } else { String::new() };
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut head = BufReader::new(stream);
        let (mut line, mut length) = (String::new(), 0);
        while line.trim() != "" || length == 0 {
            line.clear();
            assert!(head.read_line(&mut line).unwrap() > 0, "the driver said nothing");
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        head.read_exact(&mut body).unwrap();
        serde_json::from_slice::<Value>(&body).unwrap()["value"].clone()
    }

    fn of_session(&self, command: &str, body: &Value) -> Value {
        self.send("POST", &format!("/session/{}/{command}", self.session), body)
    }

    fn open(&self, page: &Path) {
        let answer = self.of_session("url", &json!({"url": format!("file://{}", page.display())}));
        assert!(answer.is_null(), "{answer}");
    }

    /// What a script of the test's own returns: the page can't run any.
    fn script(&self, script: &str) -> Value {
        self.of_session("execute/sync", &json!({"script": script, "args": []}))
    }

    fn press(&self, keys: &[&str]) {
        let actions: Vec<Value> = keys
            .iter()
            .flat_map(|key| [json!({"type": "keyDown", "value": key}), json!({"type": "keyUp", "value": key})])
            .collect();
        let answer =
            self.of_session("actions", &json!({"actions": [{"type": "key", "id": "keys", "actions": actions}]}));
        assert!(answer.is_null(), "{answer}");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.send("DELETE", &format!("/session/{}", self.session), &Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

#[test]
fn a_hostile_conversation_is_words_in_a_real_browser() {
    let Some(browser) = Browser::start("light") else { return };
    let folder = tempfile::tempdir().unwrap();
    hostile_run(folder.path(), &["-o", "page.html"]);
    let page = folder.path().join("page.html");
    // A page on which the first attack works, so that the test can fail.
    let control = folder.path().join("control.html");
    fs::write(&control, format!("<!doctype html><p>{}</p>", ATTACKS[0])).unwrap();
    browser.open(&control);
    assert_eq!(browser.script("return window.attacked === true"), true);
    // What that page did is in the log, which is read once.
    browser.of_session("se/log", &json!({"type": "browser"}));
    browser.open(&page);
    let opened = "document.querySelectorAll('details').forEach(it => it.open = true); return document.body.innerText";
    let text = browser.script(opened);
    let text = text.as_str().unwrap();
    for attack in ATTACKS {
        let words: Vec<&str> = attack.split_whitespace().collect();
        let shown: Vec<&str> = text.split_whitespace().collect();
        assert!(shown.windows(words.len()).any(|window| window == words), "not shown as it was said: {attack}");
    }
    let found = browser.script(
        "return [window.attacked === undefined, \
         document.querySelectorAll('script,iframe,img,object,embed,link,base,form,input,audio,video,math,foreignObject').length, \
         [...document.querySelectorAll('*')].flatMap(it => [...it.attributes]).filter(it => /^(on|style$|src$|srcdoc$|formaction$)/i.test(it.name)).length, \
         [...document.querySelectorAll('[href]')].filter(it => !it.getAttribute('href').startsWith('#')).length, \
         performance.getEntriesByType('resource').length, document.querySelectorAll('meta[http-equiv]').length]",
    );
    assert_eq!(found, json!([true, 0, 0, 0, 0, 1]));
    let log = browser.of_session("se/log", &json!({"type": "browser"}));
    assert_eq!(
        log.as_array().map(Vec::len),
        Some(0),
        "the page's policy stopped something, or the page is wrong: {log}"
    );
    // Were there a script after all, the policy would stop it.
    let injected = browser.script(
        "const it = document.createElement('div'); it.innerHTML = '<img src=x onerror=\"window.attacked=true\">'; \
         document.body.append(it); const s = document.createElement('script'); s.textContent = 'window.attacked=true'; \
         document.body.append(s); return window.attacked === undefined",
    );
    assert_eq!(injected, true);
}

#[test]
fn a_page_is_read_by_keyboard_and_by_name_in_light_and_dark() {
    let folder = tempfile::tempdir().unwrap();
    hostile_run(folder.path(), &["-o", "page.html"]);
    let mut backgrounds = Vec::new();
    for scheme in ["light", "dark"] {
        let Some(browser) = Browser::start(scheme) else { return };
        let media = json!({"cmd": "Emulation.setEmulatedMedia", "params": {"features": [{"name": "prefers-color-scheme", "value": scheme}]}});
        browser.of_session("goog/cdp/execute", &media);
        browser.open(&folder.path().join("page.html"));
        backgrounds.push(browser.script("return getComputedStyle(document.body).backgroundColor"));
        // Tab leads to what can be skipped, and on to each conversation, which Enter opens.
        browser.press(&["\u{e004}"]);
        assert_eq!(browser.script("return document.activeElement.className"), "skip");
        let mut opened = Value::Null;
        for _ in 0..60 {
            browser.press(&["\u{e004}"]);
            if browser.script("return document.activeElement.matches('.trial > summary')") == true {
                browser.press(&["\u{e007}"]);
                opened = browser.script("return document.activeElement.parentElement.open");
                break;
            }
        }
        assert_eq!(opened, true, "no conversation could be opened by keyboard");
        // What failed leads to its conversation, and opens it.
        let led = "document.querySelectorAll('details').forEach(it => it.open = false); \
                   document.querySelector('.lost a').click(); \
                   return document.querySelector(':target').parentElement.open";
        assert_eq!(browser.script(led), true);
        let names = browser.script(
            "return [document.documentElement.lang, document.querySelectorAll('h1').length, document.querySelectorAll('main').length, \
             [...document.querySelectorAll('section,article,nav')].every(it => it.ariaLabel || document.getElementById(it.getAttribute('aria-labelledby'))), \
             [...document.querySelectorAll('svg')].every(it => it.getAttribute('aria-hidden') || it.ariaLabel), \
             [...document.querySelectorAll('th')].every(it => it.scope), \
             document.querySelectorAll('summary').length > 3, document.documentElement.scrollWidth <= innerWidth]",
        );
        assert_eq!(names, json!(["en", 1, 1, true, true, true, true, true]));
    }
    assert_ne!(backgrounds[0], backgrounds[1]);
}
