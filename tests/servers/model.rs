//! A language model behind OpenAI's chat completions, as persona and as judge. The envelope of every reply is one that
//! the official Python package serialised.

use serde_json::{Value, json};

use super::http::{Reply, Request, Server};

/// Starts a model that behaves like this; its base URL ends in `/v1`.
pub fn start(behaviour: &str) -> (Server, String) {
    let behaviour = behaviour.to_owned();
    let lists =
        ["wrong-key", "web-page", "no-such-page", "out-of-order", "lists-nothing"].contains(&behaviour.as_str());
    let answer = move |request: &Request| answer(&behaviour, request);
    let server = if lists { Server::with_list(answer) } else { Server::start(answer) };
    let base = format!("{}/v1", server.address);
    (server, base)
}

/// The reply of a model that behaves like this.
pub fn answer(behaviour: &str, request: &Request) -> Reply {
    if behaviour == "wrong-key" {
        return Reply::Json(401, error("Incorrect API key provided: sk-…", "invalid_request_error"));
    }
    match behaviour {
        "web-page" => return Reply::Body(200, "text/html", b"<html><body>Welcome</body></html>".to_vec()),
        "no-such-page" => return Reply::Body(404, "text/html", b"<html><body>Not found</body></html>".to_vec()),
        "out-of-order" => return Reply::Json(500, error("out of order", "server_error")),
        "no-questions-asked" if request.body == "{}" => return Reply::Json(500, error("KeyError", "server_error")),
        _ => {}
    }
    if behaviour == "lists-nothing" && request.path == "/v1/models" {
        return Reply::Json(403, error("Missing scopes: api.model.read", "invalid_request_error"));
    }
    if request.path == "/v1/embeddings" {
        return embeddings(request);
    }
    if request.path != "/v1/chat/completions" {
        return Reply::Json(404, error("no such path", "invalid_request_error"));
    }
    if request.body == "{}" {
        return Reply::Json(400, error("there is no model", "invalid_request_error"));
    }
    let body = request.json();
    let messages: Vec<(String, String)> = body["messages"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|message| (text(&message["role"]), text(&message["content"])))
        .collect();
    let is_judge = messages.iter().any(|(_, content)| content.contains("<transcript>") || content.contains(PAIR));
    let is_again = messages.last().is_some_and(|(_, content)| content.contains("much shorter"));
    match (behaviour, is_judge) {
        ("persona-rambles", false) | ("judge-rambles", true) if !is_again => cut_off("Well, let me see, and then", 0),
        ("persona-never-ends", false) | ("judge-never-ends", true) => cut_off("Well, let me see, and then", 0),
        ("reasons", _) if body["max_tokens"].as_u64().is_some_and(|tokens| tokens < 10_000) => cut_off("", 400),
        ("unauthorized", _) => Reply::Json(401, error("Incorrect API key provided: sk-…", "invalid_request_error")),
        ("judge-out-of-order", true) => Reply::Json(500, error("out of order", "server_error")),
        ("silent", _) | ("judge-silent", true) => Reply::Silence,
        ("persona-down", false) | ("judge-down", true) => Reply::Json(400, error("no", "invalid_request_error")),
        (_, true) => completion(&judge(behaviour, &messages)),
        (_, false) => completion(&persona(behaviour, &messages)),
    }
}

fn persona(behaviour: &str, messages: &[(String, String)]) -> String {
    if behaviour == "first-person" {
        return first_person(messages);
    }
    let tasks = between(&messages[0].1, "<task ", "</task>");
    let signoff = between(&messages[0].1, "<signoff>", "</signoff>").first().cloned().unwrap_or_default();
    // The greeting was said before the model was first asked.
    let said = messages.iter().filter(|(role, _)| role == "assistant").count().saturating_sub(1);
    match (behaviour, tasks.get(said)) {
        ("never-done", _) => {
            json!({"message": format!("And another thing, number {}", said + 1), "done": false}).to_string()
        }
        ("leaves-with-a-word", _) => json!({"message": "Bye then!", "done": true}).to_string(),
        ("leaves-at-once", _) => json!({"message": "", "done": true}).to_string(),
        ("plain-text", Some(task)) => in_own_words(task),
        ("plain-text", None) => format!("That was all, thank you. {signoff}!"),
        (_, Some(task)) => json!({"message": in_own_words(task), "done": false}).to_string(),
        (_, None) => json!({"message": "That was all, thank you.", "done": true}).to_string(),
    }
}

/// A task as a user asks for it: "Ask what …" is said to the persona, not to the agent.
fn in_own_words(task: &str) -> String {
    let task = task.rsplit('>').next().unwrap_or_default();
    if let Some(rest) = task.strip_prefix("Ask the assistant to ") {
        return format!("Please {rest}");
    }
    match (task.strip_prefix("Ask for "), task.strip_prefix("Ask ")) {
        (Some(rest), _) => format!("I would like {rest}"),
        (_, Some(rest)) => format!("Tell me {rest}"),
        _ => task.to_owned(),
    }
}

/// A persona that says its tasks as a user would, and answers a question for its time zone by the fact that names one.
fn first_person(messages: &[(String, String)]) -> String {
    let is_question = |(role, content): &&(String, String)| role == "user" && content.contains("Which time zone");
    let questions = messages.iter().filter(is_question).count();
    let prompt = &messages[0].1;
    let say = |text: &str| json!({"message": text, "done": false}).to_string();
    if messages.last().as_ref().is_some_and(is_question) {
        let zone = prompt.lines().find_map(|line| Some(line.split_once("timezone is ")?.1));
        return say(zone.map_or("I don't know.", |zone| zone.split('<').next().unwrap_or_default()));
    }
    let said = messages.iter().filter(|(role, _)| role == "assistant").count().saturating_sub(1 + questions);
    match between(prompt, "<task ", "</task>").get(said) {
        Some(task) => {
            let task = task.rsplit('>').next().unwrap_or_default();
            say(&task.replace("Ask the assistant to ", "Please ").replace("Ask what ", "Tell me what "))
        }
        None => json!({"message": "That was all, thank you.", "done": true}).to_string(),
    }
}

/// The words by which a question about two texts is known.
const PAIR: &str = "the first of these two texts";

/// Two texts mean the same if their last words do.
fn same_meaning(behaviour: &str, question: &str) -> String {
    let pair = question.lines().find_map(|line| serde_json::from_str::<[String; 2]>(line).ok()).unwrap();
    let [one, other] = pair.map(|text| text.rsplit(' ').next().unwrap_or_default().to_lowercase());
    match behaviour {
        "judge-prose" => "They look alike to me.".to_owned(),
        _ => json!({"reason": "by their last words", "same": one == other}).to_string(),
    }
}

/// A vector of how often each letter is in a text.
fn embeddings(request: &Request) -> Reply {
    let body = request.json();
    let vector = |text: &Value| -> Vec<usize> {
        let text = text.as_str().unwrap_or_default().to_lowercase();
        ('a'..='z').map(|letter| text.matches(letter).count()).collect()
    };
    let Some(texts) = body["input"].as_array() else {
        return Reply::Json(400, error("there is no input", "invalid_request_error"));
    };
    let data: Vec<Value> =
        texts.iter().enumerate().map(|(index, text)| json!({"index": index, "embedding": vector(text)})).collect();
    Reply::Json(200, json!({"object": "list", "data": data, "usage": {"prompt_tokens": 8, "total_tokens": 8}}))
}

fn judge(behaviour: &str, messages: &[(String, String)]) -> String {
    if let Some((_, question)) = messages.iter().find(|(_, content)| content.contains(PAIR)) {
        return same_meaning(behaviour, question);
    }
    let prompt = &messages.iter().find(|(_, content)| content.contains("<transcript>")).unwrap().1;
    let asked = between(prompt, "<task ", "</task>").len();
    let retries = messages.iter().filter(|(role, _)| role == "assistant").count();
    let entry = |index: usize, score: f64| json!({"index": index, "reason": format!("as asked in task {index}"), "turnsRead": super::all_turns(), "score": score});
    let (count, score) = match behaviour {
        "judge-prose" => return "The agent did quite well, I would say.".to_owned(),
        "judge-fenced" => (asked, 0.8),
        "judge-out-of-range" => (asked, 8.0),
        "judge-too-few" => (asked - 1, 0.8),
        "judge-recovers" if retries == 0 => (asked - 1, 0.8),
        _ => (asked, 0.8),
    };
    let tasks: Vec<Value> = (1..=count).map(|index| entry(index, score)).collect();
    let verdict = json!({"tasks": tasks, "tone": {"reason": "polite", "turnsRead": super::all_turns(), "score": 0.9}})
        .to_string();
    if behaviour == "judge-fenced" { format!("Here it is:\n```json\n{verdict}\n```\nHope it helps.") } else { verdict }
}

fn completion(content: &str) -> Reply {
    let mut reply: Value = serde_json::from_str(include_str!("../fixtures/openai/reply-text.json")).unwrap();
    reply["choices"][0]["message"]["content"] = content.into();
    Reply::Json(200, reply)
}

/// A reply that reached its token limit after so many tokens of reasoning.
fn cut_off(content: &str, reasoning: u64) -> Reply {
    let mut reply: Value = serde_json::from_str(include_str!("../fixtures/openai/reply-length.json")).unwrap();
    reply["choices"][0]["message"]["content"] = content.into();
    reply["usage"]["completion_tokens_details"] = json!({"reasoning_tokens": reasoning});
    Reply::Json(200, reply)
}

fn error(message: &str, kind: &str) -> Value {
    json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Every stretch between an opening and the next closing.
fn between(text: &str, open: &str, close: &str) -> Vec<String> {
    text.split(open).skip(1).filter_map(|rest| Some(rest.split_once(close)?.0.to_owned())).collect()
}

/// Starts a server that speaks as Anthropic and as Gemini do, with models that behave like this.
pub fn start_others(behaviour: &str) -> Server {
    let behaviour = behaviour.to_owned();
    Server::start(move |request| {
        let body = request.json();
        let is_anthropic = request.path == "/v1/messages";
        let (system, said) = if is_anthropic {
            (text(&body["system"]), "/messages")
        } else {
            (text(&body["systemInstruction"]["parts"][0]["text"]), "/contents")
        };
        let said = body.pointer(said).and_then(Value::as_array).cloned().unwrap_or_default();
        let content = |message: &Value| match &message["content"] {
            Value::Null => text(&message["parts"][0]["text"]),
            content => text(content),
        };
        let role = |message: &Value| text(&message["role"]).replace("model", "assistant");
        let mut messages: Vec<(String, String)> =
            said.iter().map(|message| (role(message), content(message))).collect();
        if !system.is_empty() {
            messages.insert(0, ("system".to_owned(), system));
        }
        let is_judge = messages.iter().any(|(_, content)| content.contains("<transcript>"));
        let words = if is_judge { judge(&behaviour, &messages) } else { persona(&behaviour, &messages) };
        let (recorded, place) = if is_anthropic {
            (include_str!("../fixtures/anthropic/reply-text.json"), "/content/0/text")
        } else {
            (include_str!("../fixtures/gemini/reply-text.json"), "/candidates/0/content/parts/0/text")
        };
        let mut reply: Value = serde_json::from_str(recorded).unwrap();
        *reply.pointer_mut(place).unwrap() = words.into();
        Reply::Json(200, reply)
    })
}
