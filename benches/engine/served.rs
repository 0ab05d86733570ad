//! Instant replies: an agent of Embabel's protocol and a model of OpenAI's, on one port, in a process of their own.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A server in a process of its own.
pub struct Server {
    child: Child,
    pub address: String,
}

impl Server {
    pub fn start(delay: Duration) -> Server {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["serve", &delay.as_millis().to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Server { child, address: line.trim().to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Serves until the process is killed; prints its address first.
pub fn serve(delay: Duration) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener: TcpListener = socket.listen(4096).unwrap();
        println!("http://{}", listener.local_addr().unwrap());
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            tokio::spawn(connection(stream, delay));
        }
    });
}

async fn connection(mut stream: TcpStream, delay: Duration) {
    let mut buffer = Vec::with_capacity(16 << 10);
    let mut persona_turns = 0usize;
    loop {
        let (head, length) = loop {
            if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&buffer[..end]).to_ascii_lowercase();
                let length = head
                    .lines()
                    .find_map(|line| line.strip_prefix("content-length: "))
                    .map_or(0, |n| n.trim().parse().unwrap());
                break (head, end + 4 + length);
            }
            if stream.read_buf(&mut buffer).await.unwrap_or(0) == 0 {
                return;
            }
        };
        while buffer.len() < length {
            if stream.read_buf(&mut buffer).await.unwrap_or(0) == 0 {
                return;
            }
        }
        let body = String::from_utf8_lossy(&buffer[..length]).into_owned();
        buffer.drain(..length);
        let reply = reply(&head, &body, &mut persona_turns);
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", reply.len());
        if stream.write_all(&[head.as_bytes(), reply.as_bytes()].concat()).await.is_err() {
            return;
        }
    }
}

fn reply(head: &str, body: &str, _: &mut usize) -> String {
    if head.contains("/sessions") {
        return r#"{"sessionId":"session-1"}"#.to_owned();
    }
    if head.contains("/messages") {
        return r#"{"sessionId":"session-1","chatbot":"mock","message":{"content":"Certainly. I have noted that for you and will come back to it.","role":"assistant"},"history":[],"events":[]}"#.to_owned();
    }
    if head.contains("/objectcontexts") {
        return r#"{"context":null,"resources":[{"id":"1","name":"a","labels":["A","DomainNode"]}],"functions":[]}"#
            .to_owned();
    }
    let content = if body.contains("<transcript>") {
        r#"{\"tasks\":[{\"index\":1,\"reason\":\"as asked\",\"quotes\":[],\"turnsRead\":[0,1,2,3,4,5,6,7,8,9,10,11,12],\"score\":0.8}],\"tone\":{\"reason\":\"polite\",\"quotes\":[],\"turnsRead\":[0,1,2,3,4,5,6,7,8,9,10,11,12],\"score\":0.9}}"#
    } else {
        // The greeting is the first thing the persona has said: the eighth user message ends it.
        let said = body.matches(r#""role":"assistant""#).count();
        // No user says the same again and again: what does is a fault, and its conversation is held again.
        const WISHES: [&str; 6] = [
            r#"{\"message\":\"Please put the milk on my list.\",\"done\":false}"#,
            r#"{\"message\":\"Good. The window in the hall wants cleaning, too.\",\"done\":false}"#,
            r#"{\"message\":\"Then somebody has to call the plumber.\",\"done\":false}"#,
            r#"{\"message\":\"And could you note that the plants need water?\",\"done\":false}"#,
            r#"{\"message\":\"I also want to return those library books.\",\"done\":false}"#,
            r#"{\"message\":\"Last of all, the bicycle has a flat tyre.\",\"done\":false}"#,
        ];
        WISHES
            .get(said.saturating_sub(1))
            .copied()
            .unwrap_or(r#"{\"message\":\"Thank you, that was all.\",\"done\":true}"#)
    };
    format!(
        r#"{{"id":"c","object":"chat.completion","created":1,"model":"mock","choices":[{{"index":0,"finish_reason":"stop","message":{{"role":"assistant","content":"{content}","refusal":null}}}}],"usage":{{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}}}"#
    )
}
