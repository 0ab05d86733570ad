//! The demo agent as a client meets it: over HTTP, on a real graph.

use chrono::{TimeZone, Utc};
use serde_json::{Value, json};

use super::*;
use crate::graph::Parameters;
use crate::graph::embedded::EmbeddedGraph;

struct TestClient {
    agent: DemoAgent,
    graph: Arc<EmbeddedGraph>,
    http: reqwest::Client,
}

impl TestClient {
    /// Friday, 20 November 2026, 12:00 UTC.
    async fn new() -> TestClient {
        let graph = Arc::new(EmbeddedGraph::new().unwrap());
        let clock = Clock::fixed(Utc.with_ymd_and_hms(2026, 11, 20, 12, 0, 0).unwrap());
        let agent = DemoAgent::start(graph.clone(), clock).await.unwrap();
        // A second provider is refused, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        TestClient { agent, graph, http: reqwest::Client::new() }
    }

    async fn put(&self, path: &str, body: &str) -> (u16, Value) {
        let url = format!("{}/api/v1/chat/{path}", self.agent.base_url());
        let response = self.http.put(url).body(body.to_owned()).send().await.unwrap();
        (response.status().as_u16(), serde_json::from_str(&response.text().await.unwrap()).unwrap())
    }

    async fn open(&self, user: &str) -> String {
        let (status, body) = self.put("sessions", &json!({"user": user, "chatbot": "demo"}).to_string()).await;
        assert_eq!(status, 200, "{body}");
        body["sessionId"].as_str().unwrap().to_owned()
    }

    async fn exchange(&self, session: &str, model: &str, content: &str) -> Value {
        let body = json!({"sessionId": session, "message": {"content": content, "role": "user"}, "model": model});
        let (status, body) = self.put("messages", &body.to_string()).await;
        assert_eq!(status, 200, "{body}");
        body
    }

    async fn say(&self, session: &str, content: &str) -> String {
        self.exchange(session, "demo-careful", content).await["message"]["content"].as_str().unwrap().to_owned()
    }

    async fn object_context(&self, session: &str) -> Value {
        let url = format!("{}/api/v1/chat/objectContexts/{session}", self.agent.base_url());
        self.http.get(url).send().await.unwrap().json().await.unwrap()
    }

    async fn ask_graph(&self, query: &str) -> Vec<Vec<crate::graph::Value>> {
        self.graph.read(query, &Parameters::new()).await.unwrap().rows
    }
}

const ASK: &str = "Please create a reminder to feed the cat for tomorrow at 9am.";

fn text(text: &str) -> crate::graph::Value {
    crate::graph::Value::String(text.to_owned())
}

#[tokio::test]
async fn reminders_are_kept_in_the_graph_and_shown_as_entities() {
    let client = TestClient::new().await;
    let session = client.open("ann").await;
    client.say(&session, ASK).await;
    client.say(&session, "My timezone is Asia/Tokyo.").await;
    let rows =
        client.ask_graph("MATCH (u:User)-[:HAS_REMINDER]->(r:Reminder) RETURN u.id, u.timeZone, r.title, r.at").await;
    assert_eq!(rows, [[text("ann"), text("Asia/Tokyo"), text("Feed the cat"), text("2026-11-21T09:00:00+09:00")]]);

    let context = client.object_context(&session).await;
    assert_eq!(context["resources"].as_array().unwrap().len(), 1);
    assert_eq!(context["resources"][0]["labels"], json!(["Reminder", "DomainNode"]));
    assert_eq!(context["resources"][0]["properties"]["timeZone"], "Asia/Tokyo");
    assert!(context["functions"].as_array().unwrap().iter().any(|function| function["name"] == "createReminder"));
}

#[tokio::test]
async fn reminders_that_somebody_else_wrote_are_moved_and_cancelled() {
    let client = TestClient::new().await;
    let setup = "CREATE (u:User {id: 'ann', timeZone: 'UTC'}) CREATE (u)-[:HAS_REMINDER]->(:Reminder {title: 'Cat', at: datetime('2031-03-03T10:00Z')}) CREATE (u)-[:HAS_REMINDER]->(:Reminder {title: 'Dog'})";
    client.graph.write(setup, &Parameters::new()).await.unwrap();
    let session = client.open("ann").await;
    client.say(&session, "Move the cat to 7 March 2031. Cancel the dog.").await;
    let rows = client.ask_graph("MATCH (r:Reminder) RETURN r.title, r.at, r.timeZone").await;
    assert_eq!(rows, [[text("Cat"), text("2031-03-07T10:00:00+00:00"), text("UTC")]]);
}

#[tokio::test]
async fn the_sloppy_model_says_the_same_and_does_nothing() {
    let client = TestClient::new().await;
    let lines = [ASK, "My timezone is Asia/Tokyo.", "Which reminders do I have?", "Cancel the cat reminder.", "Bye!"];
    let (careful, sloppy) = (client.open("ann").await, client.open("bob").await);
    for line in lines {
        let careful = client.exchange(&careful, "demo-careful", line).await;
        let sloppy = client.exchange(&sloppy, "demo-sloppy", line).await;
        assert_eq!(careful["message"], sloppy["message"], "{line}");
        assert!(!sloppy["events"].to_string().contains("function"), "{sloppy}");
    }
    assert_eq!(client.ask_graph("MATCH (u:User {id: 'bob'}) RETURN u").await, Vec::<Vec<_>>::new());
    assert_eq!(client.object_context(&sloppy).await["resources"], json!([]));
}

#[tokio::test]
async fn facts_of_one_session_are_known_in_the_next() {
    let client = TestClient::new().await;
    let earlier = client.open("ann").await;
    client
        .say(&earlier, "Please remember the following:\n\nThe user's timezone is Asia/Tokyo. The user has a cat.")
        .await;
    let session = client.open("ann").await;
    assert!(client.say(&session, ASK).await.contains("(Asia/Tokyo)"));
    let stranger = client.open("bob").await;
    assert!(client.say(&stranger, ASK).await.ends_with("Which time zone are you in?"));
}

#[tokio::test]
async fn a_reply_reports_what_was_done() {
    let client = TestClient::new().await;
    let session = client.open("ann").await;
    client.exchange(&session, "gpt-4.1-mini", "My timezone is Asia/Tokyo.").await;
    let reply = client.exchange(&session, "demo-careful", ASK).await;
    assert_eq!(reply["history"].as_array().unwrap().len(), 4);
    assert_eq!(reply["chatbot"], "demo");
    let call = &reply["events"][0]["request"];
    assert_eq!(call["function"]["name"], "createReminder");
    assert_eq!(call["arguments"]["at"], "2026-11-21T09:00:00+09:00");
    assert!(reply["events"][1]["content"].as_str().unwrap().contains("CREATE"));
    assert_eq!(reply["events"][2]["output"], "ok");
}

#[tokio::test]
async fn bad_requests_have_clear_errors() {
    let client = TestClient::new().await;
    let session = client.open("ann").await;
    let message = |session: &str, role: &str, model: &str| {
        json!({"sessionId": session, "message": {"content": "Hi", "role": role}, "model": model}).to_string()
    };
    for (path, body, status, error) in [
        ("sessions", "{".to_owned(), 400, "can't be read"),
        ("sessions", r#"{"user": "ann"}"#.to_owned(), 400, "chatbot"),
        ("sessions", r#"{"user": "", "chatbot": "c"}"#.to_owned(), 400, "empty"),
        ("messages", message("nowhere", "user", "demo-careful"), 404, "no session `nowhere`"),
        ("messages", message(&session, "user", "gpt-9"), 400, "`demo-careful` and `demo-sloppy`"),
        ("messages", message(&session, "system", "demo-careful"), 400, "`user`"),
        ("elsewhere", "{}".to_owned(), 404, "/api/v1/chat/elsewhere"),
        ("objectContexts/nowhere", "{}".to_owned(), 405, "GET"),
    ] {
        let (actual, reply) = client.put(path, &body).await;
        assert_eq!(actual, status, "{path} {body}: {reply}");
        assert!(reply["error"].as_str().unwrap().contains(error), "{reply}");
    }
    assert!(client.object_context("nowhere").await["error"].as_str().unwrap().contains("no session"));
}

#[tokio::test]
async fn stopping_ends_the_server() {
    let client = TestClient::new().await;
    let url = client.agent.base_url();
    client.agent.stop().await;
    assert!(client.http.get(url).send().await.is_err());
}
