//! A server that looks like a Neo4j of the Enterprise edition: it speaks Bolt 4.4, agrees to everything, and finds
//! nothing. What it is told is written down.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A running server.
pub struct Enterprise {
    pub uri: String,
    messages: Arc<Mutex<Vec<String>>>,
}

impl Enterprise {
    pub fn start() -> Enterprise {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let uri = format!("bolt://{}", listener.local_addr().unwrap());
        let messages: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = messages.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = kept.clone();
                std::thread::spawn(move || serve(stream, &kept));
            }
        });
        Enterprise { uri, messages }
    }

    /// Every RUN and BEGIN, as text: PackStream's strings can be read in it.
    pub fn messages(&self) -> Vec<String> {
        self.messages.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, kept: &Mutex<Vec<String>>) -> io::Result<()> {
    stream.read_exact(&mut [0; 20])?;
    stream.write_all(&[0, 0, 4, 4])?;
    loop {
        let message = read(&mut stream)?;
        let tag = message.get(1).copied().unwrap_or_default();
        if matches!(tag, 0x10 | 0x11) {
            kept.lock().unwrap().push(String::from_utf8_lossy(&message).into_owned());
        }
        let answer: &[u8] = match tag {
            // HELLO
            0x01 => b"\xb1\x70\xa2\x86server\x8bNeo4j/5.0.0\x8dconnection_id\x81x",
            // GOODBYE
            0x02 => return Ok(()),
            // RUN: no columns.
            0x10 => b"\xb1\x70\xa1\x86fields\x90",
            _ => b"\xb1\x70\xa0",
        };
        let length = u16::try_from(answer.len()).unwrap().to_be_bytes();
        stream.write_all(&[length.as_slice(), answer, &[0, 0]].concat())?;
    }
}

/// One message, without its chunks.
fn read(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut message = Vec::new();
    loop {
        let mut length = [0; 2];
        stream.read_exact(&mut length)?;
        match usize::from(u16::from_be_bytes(length)) {
            0 if message.is_empty() => {}
            0 => return Ok(message),
            length => {
                let mut chunk = vec![0; length];
                stream.read_exact(&mut chunk)?;
                message.extend(chunk);
            }
        }
    }
}
