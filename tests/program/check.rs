//! Judges beside conversations that are known to be bad or good, with the built program.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{eval_job, interrupted, pasted};
use crate::servers::all_turns;
use crate::servers::http::{Reply, Server};

fn says(content: &str) -> Reply {
    let message = json!({"role": "assistant", "content": content});
    Reply::Json(200, json!({"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}))
}

/// A judge that gives this score where the agent says that it booked, and this where it does not.
fn judge(booked: f64, not_booked: f64) -> Server {
    Server::start(move |request| {
        if !request.path.ends_with("/chat/completions") {
            return Reply::Json(200, json!({"data": []}));
        }
        let conversation = request.body.split("<transcript>").last().unwrap_or_default().to_owned();
        let score = if conversation.contains("is booked") { booked } else { not_booked };
        says(
            &json!({"tasks": [{"index": 1, "reason": "so", "turnsRead": all_turns(), "score": score}], "tone": {"reason": "so", "turnsRead": all_turns(), "score": 1}})
                .to_string(),
        )
    })
}

#[test]
fn the_judge_of_today_is_asked_whatever_it_said_before() {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let judge = Server::start(move |request| {
        if !request.path.ends_with("/chat/completions") {
            return Reply::Json(200, json!({"data": []}));
        }
        // From the third question on it finds everything well done.
        let is_right = asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) < 2;
        let conversation = request.body.split("<transcript>").last().unwrap_or_default().to_owned();
        let score = if is_right && !conversation.contains("is booked") { 0.1 } else { 0.9 };
        says(
            &json!({"tasks": [{"index": 1, "reason": "so", "turnsRead": all_turns(), "score": score}], "tone": {"reason": "so", "turnsRead": all_turns(), "score": 1}})
                .to_string(),
        )
    });
    let desk = desk(&judge, &json!({}));
    let check = |expected| {
        let (status, words) = typed(desk.path(), &["check", "known", "--job", "job.yml"]);
        assert_eq!(status, Some(expected), "{words}");
    };
    check(0);
    check(100);
    assert_eq!(questions(&judge), 4);
}

/// A folder with a job and two known conversations.
fn desk(judge: &Server, gate: &Value) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let job = json!({
        "target": {"user": "u", "chatbot": "c", "openai": {"baseUrl": "http://127.0.0.1:1/v1"}},
        "evaluator": {"script": ["A table for two at seven, please"]},
        "scorer": {"model": {"name": "openai/judge", "baseUrl": format!("{}/v1", judge.address)}},
        "facts": [],
        "tasks": [{"task": "Ask for a table", "acceptanceCriteria": "A table is booked"}],
        "gate": gate,
    });
    fs::write(folder.path().join("job.yml"), job.to_string()).unwrap();
    let known = folder.path().join("known");
    fs::create_dir(&known).unwrap();
    let conversation = |known: &str, reply: &str| {
        format!(
            "known: {known}\nfails: {}\nconversation:\n  - user: A table for two, please\n  - agent: {reply}\n",
            if known == "bad" { "[tasks]" } else { "[]" }
        )
    };
    fs::write(known.join("declines.yml"), conversation("bad", "We are closed.")).unwrap();
    fs::write(known.join("fine.yml"), conversation("good", "Your table is booked.")).unwrap();
    folder
}

fn typed(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = eval_job(folder).args(arguments).output().unwrap();
    let words = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code(), words)
}

#[test]
fn a_judge_that_tells_them_apart_passes() {
    let judge = judge(0.9, 0.1);
    let desk = desk(&judge, &json!({}));
    let (status, words) = typed(desk.path(), &["check", "known", "--job", "job.yml"]);
    assert_eq!(status, Some(0), "{words}");
    assert!(words.contains("✓ declines · known bad · fails: tasks (Ask for a table) 0.10"), "{words}");
    assert!(words.contains("✓ fine · known good · passes"), "{words}");
    assert!(words.contains("1 of 1 known-bad and 1 of 1 known-good conversations recognised"), "{words}");
}

#[test]
fn a_lenient_judge_and_a_strict_one_are_exposed() {
    for (judge, line) in [
        (judge(0.9, 0.9), "✗ declines · known bad · slipped through, must fail tasks"),
        (judge(0.1, 0.1), "✗ fine · known good · fails: tasks (Ask for a table) 0.10"),
    ] {
        let desk = desk(&judge, &json!({}));
        let (status, words) = typed(desk.path(), &["check", "known", "--job", "job.yml"]);
        assert_eq!(status, Some(100), "{words}");
        assert!(words.contains(line), "{words}");
        let output = eval_job(desk.path()).args(["check", "known", "--job", "job.yml", "--json"]).output().unwrap();
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["verdict"], "missed", "{found:#}");
    }
}

#[test]
fn a_judge_that_cannot_be_used_proves_nothing() {
    for status in [500, 401] {
        let judge = Server::start(move |request| {
            if request.path.ends_with("/chat/completions") {
                Reply::Json(status, json!({"error": {"message": "no"}}))
            } else {
                Reply::Json(200, json!({"data": []}))
            }
        });
        let desk = desk(&judge, &json!({}));
        let (status, words) = typed(desk.path(), &["check", "known", "--job", "job.yml"]);
        assert_eq!(status, Some(102), "{words}");
        assert!(!words.contains("✓") && !words.contains("slipped"), "{words}");
    }
    let rambling = Server::start(|request| {
        if request.path.ends_with("/chat/completions") {
            says("All is well.")
        } else {
            Reply::Json(200, json!({"data": []}))
        }
    });
    let desk = desk(&rambling, &json!({}));
    let (status, words) = typed(desk.path(), &["check", "known", "--job", "job.yml"]);
    assert_eq!(status, Some(102), "{words}");
    assert!(words.contains("? declines · known bad") && words.contains("recognised, 2"), "{words}");
}

/// A judge that tells them apart, after so many answers that it is busy.
fn busy_judge(busy: usize) -> Server {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    Server::start(move |request| {
        if !request.path.ends_with("/chat/completions") {
            return Reply::Json(200, json!({"data": []}));
        }
        if asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) < busy {
            return Reply::Json(429, json!({"error": {"message": "Rate limit reached", "type": "rate_limit_error"}}));
        }
        let conversation = request.body.split("<transcript>").last().unwrap_or_default().to_owned();
        let score = if conversation.contains("is booked") { 0.9 } else { 0.1 };
        says(
            &json!({"tasks": [{"index": 1, "reason": "so", "turnsRead": all_turns(), "score": score}], "tone": {"reason": "so", "turnsRead": all_turns(), "score": 1}})
                .to_string(),
        )
    })
}

#[test]
fn a_busy_judge_is_waited_for_and_one_that_stays_busy_proves_nothing() {
    let judge = busy_judge(1);
    let desk_of_busy = desk(&judge, &json!({}));
    let (status, words) = typed(desk_of_busy.path(), &["check", "known", "--job", "job.yml"]);
    assert_eq!(status, Some(0), "{words}");
    assert!(questions(&judge) >= 3, "two conversations, and one question again");
    let judge = busy_judge(usize::MAX);
    let desk_of_busy = desk(&judge, &json!({}));
    let job = desk_of_busy.path().join("job.yml");
    let mut limited: Value = serde_json::from_str(&fs::read_to_string(&job).unwrap()).unwrap();
    limited["limits"] = json!({"trial": 2});
    fs::write(&job, limited.to_string()).unwrap();
    let (status, words) = typed(desk_of_busy.path(), &["check", "known", "--job", "job.yml"]);
    assert_eq!(status, Some(102), "{words}");
    assert!(words.contains("? declines · known bad") && words.contains("? fine · known good"), "{words}");
    assert!(!words.contains('✓') && !words.contains("slipped"), "{words}");
    assert!(words.contains("429") || words.contains("rate limit"), "{words}");
}

#[test]
fn canaries_go_before_the_job() {
    let lenient = judge(0.9, 0.9);
    let desk_of_lenient = desk(&lenient, &json!({"canaries": "known"}));
    let (status, words) = typed(desk_of_lenient.path(), &["run", "job.yml", "--model", "m"]);
    assert_eq!(status, Some(102), "{words}");
    assert!(
        words.contains("the judge does not tell known conversations apart (gate.canaries), so nothing was run"),
        "{words}"
    );
    assert!(!words.contains("started"), "the agent is not spoken to: {words}");
    let right = judge(0.9, 0.1);
    let desk_of_right = desk(&right, &json!({"canaries": "known"}));
    let (_, words) = typed(desk_of_right.path(), &["run", "job.yml", "--model", "m"]);
    assert!(words.contains("the judge tells 2 known conversations apart"), "{words}");
}

#[test]
fn canaries_are_judged_by_the_first_case_whichever_cases_are_run() {
    let right = judge(0.9, 0.1);
    let desk = desk(&right, &json!({"canaries": "known"}));
    let file = desk.path().join("job.yml");
    let mut job: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let tasks = job.as_object_mut().unwrap().remove("tasks").unwrap();
    let other = json!([{"task": "Ask for the hours", "acceptanceCriteria": "The hours are named"}]);
    job["cases"] = json!([{"id": "table", "tasks": tasks}, {"id": "hours", "tasks": other}]);
    fs::write(&file, job.to_string()).unwrap();
    for part in [["--filter", "hours"], ["--partition", "1/2"], ["--partition", "2/2"]] {
        let before = right.requests().len();
        let (_, words) = typed(desk.path(), &["run", "job.yml", "--model", "m", "--no-cache", part[0], part[1]]);
        assert!(words.contains("the judge tells 2 known conversations apart"), "{part:?}: {words}");
        let asked: Vec<String> = right.requests().into_iter().skip(before).map(|request| request.body).collect();
        assert!(asked.iter().any(|body| body.contains("Ask for a table")), "{part:?}: {asked:?}");
        assert!(!asked.iter().any(|body| body.contains("Ask for the hours")), "{part:?}: {asked:?}");
    }
}

#[test]
fn canaries_that_show_nothing_are_refused_before_anything_is_asked() {
    let right = judge(0.9, 0.1);
    let none = desk(&right, &json!({"canaries": "nowhere"}));
    for command in ["run", "validate"] {
        let (status, words) = typed(none.path(), &[command, "job.yml", "--model", "m"]);
        assert_eq!(status, Some(2), "{words}");
        assert!(
            words.contains("job.yml:1:") && words.contains("gate.canaries: ") && words.contains("nowhere"),
            "{words}"
        );
    }
    let desk = desk(&right, &json!({"canaries": "known"}));
    assert_eq!(typed(desk.path(), &["validate", "job.yml", "--model", "m"]).0, Some(0));
    fs::remove_file(desk.path().join("known/declines.yml")).unwrap();
    let (status, words) = typed(desk.path(), &["validate", "job.yml", "--model", "m"]);
    assert_eq!(status, Some(2), "{words}");
    assert!(words.contains("gate.canaries: no conversation in known is known to be bad"), "{words}");
    fs::write(desk.path().join("known/broken.json"), "{").unwrap();
    let (status, words) = typed(desk.path(), &["validate", "job.yml", "--model", "m"]);
    assert_eq!(status, Some(2), "{words}");
    assert!(words.contains("`eval-job check known` says why"), "{words}");
    assert!(right.requests().is_empty());
}

/// A judge that tells them apart, and says what that took.
fn metered_judge() -> Server {
    Server::start(|request| {
        if !request.path.ends_with("/chat/completions") {
            return Reply::Json(200, json!({"data": []}));
        }
        let conversation = request.body.split("<transcript>").last().unwrap_or_default().to_owned();
        let score = if conversation.contains("is booked") { 0.9 } else { 0.1 };
        let verdict = json!({"tasks": [{"index": 1, "reason": "so", "turnsRead": all_turns(), "score": score}], "tone": {"reason": "so", "turnsRead": all_turns(), "score": 1}});
        let message = json!({"role": "assistant", "content": verdict.to_string()});
        Reply::Json(
            200,
            json!({
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 900, "completion_tokens": 100},
            }),
        )
    })
}

#[test]
fn what_canaries_cost_counts_towards_the_limits_of_the_run_and_is_in_its_record() {
    let (judge, agent) = (metered_judge(), Server::start(|_| says("Your table is booked.")));
    let desk = desk(&judge, &json!({"canaries": "known"}));
    let job = fs::read_to_string(desk.path().join("job.yml")).unwrap().replace("http://127.0.0.1:1", &agent.address);
    fs::write(desk.path().join("job.yml"), job).unwrap();
    let run = |limit: &str| {
        let flags =
            ["--no-cache", "--token-limit", limit, "-o", "run.json", "-o", "run.md", "-o", "run.html", "-o", "run.xml"];
        typed(desk.path(), &[&["run", "job.yml", "--model", "m"][..], &flags].concat())
    };
    let told = "told 1 bad and 1 good known conversations apart (known) · 2 calls, 2,000 tokens";

    let (status, words) = run("100000");
    assert_eq!(status, Some(0), "{words}");
    assert!(words.contains(&format!("canaries the judge {told}")), "{words}");
    let record: Value = serde_json::from_str(&fs::read_to_string(desk.path().join("run.json")).unwrap()).unwrap();
    let kept = &record["provenance"]["canaries"];
    assert_eq!((&kept["bad"], &kept["good"], &kept["usage"]["calls"]), (&json!(1), &json!(1), &json!(2)), "{kept:#}");
    for file in ["run.md", "run.html", "run.xml"] {
        let page = fs::read_to_string(desk.path().join(file)).unwrap();
        assert!(page.contains("known conversations apart"), "{file}: {page}");
    }
    let shown = typed(desk.path(), &["show"]).1;
    assert!(shown.contains(told), "{shown}");

    // Not even for the first of them.
    let (status, words) = run("1000");
    assert_eq!(status, Some(102), "{words}");
    assert!(
        words.contains("before the judge had seen all known conversations (gate.canaries), so nothing was run"),
        "{words}"
    );
    assert!(!words.contains("does not tell known conversations apart"), "{words}");
    // Enough for both, and not for the conversation too.
    let most: u64 = words.split("one request can take (").nth(1).unwrap().split(')').next().unwrap().parse().unwrap();
    let (status, words) = run(&(most + 1500).to_string());
    assert_eq!(status, Some(102), "{words}");
    assert!(words.contains("2000 are spent") && words.contains(told), "{words}");
}

#[test]
fn mistakes_say_where_and_what_to_try() {
    let judge = judge(0.9, 0.1);
    let desk = desk(&judge, &json!({}));
    let known = desk.path().join("known");
    for (text, words) in [
        ("known: maybe\nconversation: []\n", "broken.yml: `known` is \"maybe\", and can be bad or good"),
        ("conversation: []\n", "broken.yml: `known` is missing: is it bad, or good?"),
        ("[known, bad]\n", "broken.yml: it is no mapping"),
        (
            "known: bad\nfail: tasks\n",
            "broken.yml: `fail` is none of its keys: known, fails, description, conversation",
        ),
        ("known: bad\nfails: {tasks: 1}\n", "`fails` is {\"tasks\":1}, and must be a name or a list of names"),
        ("known: bad\nconversation: {user: Hi}\n", "`conversation` must be a list"),
        ("known: bad\nconversation:\n  - user: 5\n", "entry 1 of `conversation` is no text; put quotes around it"),
        ("known: bad\nconversation:\n  - agent: Hi\n", "the user says nothing in `conversation`"),
        ("known: bad\nconversation:\n  - user: Hi\n", "the agent answers nothing in `conversation`"),
        ("known: bad\nconversation:\n  - {user: Hi, agent: Hi}\n", "needs one key, `user` or `agent`"),
        (
            "known: bad\nconversation:\n  - user: Hi\n  - agent: a\n  - agent: b\n",
            "entry 3 of `conversation` is a second reply",
        ),
        (
            "known: bad\nfails: [task]\nconversation:\n  - user: Hi\n  - agent: Hi\n",
            "must fail `task`, which the job does not measure",
        ),
    ] {
        fs::write(known.join("broken.yml"), text).unwrap();
        let (status, all) = typed(desk.path(), &["check", "known", "--job", "job.yml"]);
        assert_eq!(status, Some(2), "{all}");
        assert!(all.contains(words) && all.contains("try: "), "{text}: {all}");
    }
    fs::write(known.join("broken.yml"), "known: bad\nknown: good\nconversation: []\n").unwrap();
    let (status, all) = typed(desk.path(), &["check", "known", "--job", "job.yml"]);
    assert_eq!(status, Some(2), "{all}");
    assert!(all.contains("broken.yml:2:1: the key `known` is there already, in line 1"), "{all}");
    fs::remove_file(known.join("broken.yml")).unwrap();
    fs::remove_file(known.join("declines.yml")).unwrap();
    let (status, words) = typed(desk.path(), &["check", "known", "--job", "job.yml"]);
    assert_eq!(status, Some(2), "{words}");
    assert!(words.contains("no conversation is known to be bad"), "{words}");
    fs::create_dir(desk.path().join("empty")).unwrap();
    let (status, words) = typed(desk.path(), &["check", "empty", "--job", "job.yml"]);
    assert_eq!((status, words.contains("there is no conversation in empty")), (Some(2), true), "{words}");
}

#[test]
fn red_hats_layout_brings_its_own_metrics() {
    let judge = Server::start(|request| {
        if !request.path.ends_with("/chat/completions") {
            return Reply::Json(200, json!({"data": []}));
        }
        // Each metric asks by items of its own: a judge that finds fault with all of them.
        says(&json!({"verdicts": [{"id": "1", "reason": "so", "quotes": [{"turn": 1, "text": "I need a laptop"}], "turnsRead": [], "score": 1}]}).to_string())
    });
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("results/known_bad_conversation_results");
    fs::create_dir_all(&bad).unwrap();
    let conversation = json!({
        "metadata": {"authoritative_user_id": "a@b.c", "description": "", "fails": "Policy Compliance"},
        "conversation": [{"role": "assistant", "content": "Hello"}, {"role": "user", "content": "I need a laptop"}, {"role": "assistant", "content": "No."}],
    });
    fs::write(bad.join("refuses.json"), conversation.to_string()).unwrap();
    let variables =
        format!("OPENAI_API_KEY=sk-test\nOPENAI_BASE_URL={}/v1\nEVAL_JOB_SCORER_MODEL=openai/judge\n", judge.address);
    fs::write(folder.path().join(".env"), variables).unwrap();
    let output = eval_job(folder.path()).args(["check", "."]).output().unwrap();
    let words = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{words}");
    assert!(words.contains("refuses · known bad · fails: ") && words.contains("Policy Compliance"), "{words}");
    assert!(words.contains("None is known to be good"), "{words}");
}

/// A judge that tells them apart, and is silent once: at its second question.
fn judge_that_is_silent_once(sent: std::sync::mpsc::Sender<()>) -> Server {
    let (asked, sent) = (std::sync::atomic::AtomicUsize::new(0), std::sync::Mutex::new(sent));
    Server::start(move |request| {
        if !request.path.ends_with("/chat/completions") {
            return Reply::Json(200, json!({"data": []}));
        }
        if asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 1 {
            let _ = sent.lock().unwrap().send(());
            return Reply::Silence;
        }
        let conversation = request.body.split("<transcript>").last().unwrap_or_default().to_owned();
        let score = if conversation.contains("is booked") { 0.9 } else { 0.1 };
        says(
            &json!({"tasks": [{"index": 1, "reason": "so", "turnsRead": all_turns(), "score": score}], "tone": {"reason": "so", "turnsRead": all_turns(), "score": 1}})
                .to_string(),
        )
    })
}

fn questions(judge: &Server) -> usize {
    judge.requests().iter().filter(|request| request.path.ends_with("/chat/completions")).count()
}

#[cfg(unix)]
#[test]
fn a_check_that_was_interrupted_goes_on_when_its_command_is_pasted() {
    let (sent, arrived) = std::sync::mpsc::channel();
    let judge = judge_that_is_silent_once(sent);
    let desk = desk(&judge, &json!({}));
    fs::rename(desk.path().join("known"), desk.path().join("my known")).unwrap();
    let mut check = eval_job(desk.path());
    check.args(["check", "my known", "--job", "job.yml", "--runs-dir", "my runs", "-j", "1"]);
    let (status, words) = interrupted(check, &arrived);
    assert_eq!(status, Some(130), "{words}");
    let (status, again) = pasted(desk.path(), &words);
    assert_eq!((status, questions(&judge)), (Some(0), 3), "{words}{again}");
    assert!(again.contains("asking openai/judge about 1 of 2 conversations; answered before: 1 question"), "{again}");
    assert!(again.contains("1 of 1 known-bad and 1 of 1 known-good conversations recognised"), "{again}");
    // Once it ran to its end, the judge of today is asked everything.
    let (status, again) = pasted(desk.path(), &words);
    assert_eq!((status, questions(&judge)), (Some(0), 5), "{again}");
    assert!(again.contains("asking openai/judge about 2 conversations"), "{again}");
}

#[cfg(unix)]
#[test]
fn canaries_that_were_interrupted_go_on_when_their_command_is_pasted() {
    let (sent, arrived) = std::sync::mpsc::channel();
    let judge = judge_that_is_silent_once(sent);
    let desk = desk(&judge, &json!({"canaries": "known"}));
    let mut run = eval_job(desk.path());
    run.args(["run", "job.yml", "--model", "m", "-j", "1", "--no-progress"]);
    let (status, words) = interrupted(run, &arrived);
    assert_eq!(status, Some(130), "{words}");
    let (_, again) = pasted(desk.path(), &words);
    assert!(again.contains("the judge tells 2 known conversations apart"), "{words}{again}");
    assert_eq!(questions(&judge), 3, "{again}");
}

/// As on a full disk: nothing can be written to any file.
#[cfg(unix)]
#[test]
fn a_check_of_which_nothing_could_be_kept_says_so() {
    let judge = judge(0.9, 0.1);
    let desk = desk(&judge, &json!({}));
    let program = env!("CARGO_BIN_EXE_eval-job");
    let line = format!("trap '' XFSZ; ulimit -f 0; exec {program} check known --job job.yml");
    let output = std::process::Command::new("sh").args(["-c", &line]).current_dir(desk.path()).output().unwrap();
    let words = super::words(&output);
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(words.contains("; nothing was kept") && !words.contains("eval-job show"), "{words}");
    assert_eq!(fs::read_dir(desk.path().join("runs/checks")).unwrap().count(), 0, "{words}");
}

#[test]
fn without_a_bad_conversation_nobody_is_asked() {
    let judge = judge(0.9, 0.1);
    let desk = desk(&judge, &json!({}));
    fs::remove_file(desk.path().join("known/declines.yml")).unwrap();
    let (status, words) = typed(desk.path(), &["check", "known", "--job", "job.yml"]);
    assert_eq!((status, judge.requests().len()), (Some(2), 0), "{words}");
    assert!(words.contains("no conversation is known to be bad") && words.contains("`known: bad`"), "{words}");
}

#[test]
fn each_files_conversation_is_judged_by_the_metrics_beside_it() {
    let judge = Server::start(|request| {
        if !request.path.ends_with("/chat/completions") {
            return Reply::Json(200, json!({"data": []}));
        }
        says(&json!({"verdicts": [{"id": "1", "reason": "so", "quotes": [{"turn": 1, "text": "Sunny"}], "turnsRead": [], "verdict": "no"}]}).to_string())
    });
    let folder = tempfile::tempdir().unwrap();
    for (name, rubric) in [("polite", "The reply is polite."), ("brief", "The reply is brief.")] {
        let desk = folder.path().join(name);
        fs::create_dir(&desk).unwrap();
        let turn = json!({
            "invocationId": "1",
            "userContent": {"role": "user", "content": format!("Weather, {name}?")},
            "finalResponse": {"role": "assistant", "content": "Sunny"},
        });
        let case = json!({"evalId": name, "evalMode": "trace", "conversation": [turn], "actualConversation": [turn]});
        let rubrics = json!([{"id": "1", "content": {"text": rubric}}]);
        let metric = json!({"metricName": "llm_rubric_response", "threshold": 0.5, "criterion": {"llmJudge": {"rubrics": rubrics}}});
        fs::write(desk.join("set.evalset.json"), json!({"evalSetId": "set", "evalCases": [case]}).to_string()).unwrap();
        fs::write(desk.join("set.metrics.json"), json!([metric]).to_string()).unwrap();
    }
    let variables =
        format!("OPENAI_API_KEY=sk-test\nOPENAI_BASE_URL={}/v1\nEVAL_JOB_SCORER_MODEL=openai/judge\n", judge.address);
    fs::write(folder.path().join(".env"), variables).unwrap();
    let files = ["polite/set.evalset.json", "brief/set.evalset.json"];
    let output = eval_job(folder.path()).args(["check"]).args(files).output().unwrap();
    let words = super::words(&output);
    let asked = judge.requests();
    let of = |name: &str| asked.iter().filter(|it| it.body.contains(&format!("Weather, {name}?"))).collect::<Vec<_>>();
    assert!(!of("polite").is_empty() && !of("brief").is_empty(), "{words}");
    assert!(of("polite").iter().all(|it| it.body.contains("The reply is polite.")), "{words}");
    assert!(of("brief").iter().all(|it| it.body.contains("The reply is brief.")), "{words}");
}
