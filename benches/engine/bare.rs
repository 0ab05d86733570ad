//! The same exchanges by tokio and reqwest alone: request bodies of the same size, replies parsed as JSON.

use serde_json::{Value, json};

/// Holds the conversations, all at once; returns how many turns there were.
pub async fn run(conversations: usize, address: &str) -> usize {
    eval_job::http::install_tls();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..conversations {
        tasks.spawn(conversation(client.clone(), address.to_owned()));
    }
    let mut turns = 0;
    while let Some(done) = tasks.join_next().await {
        turns += done.unwrap();
    }
    turns
}

async fn conversation(client: reqwest::Client, address: String) -> usize {
    let put = async |path: &str, body: &Value| -> Value {
        let reply = client.put(format!("{address}{path}")).json(body).send().await.unwrap();
        serde_json::from_slice(&reply.bytes().await.unwrap()).unwrap()
    };
    let complete = async |messages: &[Value]| -> String {
        let body = json!({"model": "mock", "messages": messages, "temperature": 0.5});
        let reply = client.post(format!("{address}/v1/chat/completions")).json(&body).send().await.unwrap();
        let reply: Value = serde_json::from_slice(&reply.bytes().await.unwrap()).unwrap();
        reply["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
    };
    let opened = put("/api/v1/chat/sessions", &json!({"user": "u", "chatbot": "c"})).await;
    let session = opened["sessionId"].as_str().unwrap().to_owned();
    let mut messages = vec![json!({"role": "system", "content": "x".repeat(2600)})];
    let mut said = "Hello".to_owned();
    let mut turns = 0;
    loop {
        let body = json!({"sessionId": session, "message": {"content": said, "role": "user"}, "model": "mock"});
        let reply = put("/api/v1/chat/messages", &body).await;
        turns += 1;
        messages.push(json!({"role": "assistant", "content": said}));
        messages.push(json!({"role": "user", "content": reply["message"]["content"]}));
        if turns == 8 {
            break;
        }
        let next: Value = serde_json::from_str(&complete(&messages).await).unwrap();
        said = next["message"].as_str().unwrap().to_owned();
    }
    let transcript: String = messages.iter().map(|message| message["content"].as_str().unwrap()).collect();
    complete(&[json!({"role": "user", "content": format!("<transcript>{transcript}")})]).await;
    turns
}
