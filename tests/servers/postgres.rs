//! A real PostgreSQL, where there is one: the variables that `scripts/postgres` writes.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use tokio_postgres::{Client, NoTls};

use super::{leave_out, variable};

/// The variable without which the tests that need a PostgreSQL are left out.
pub const VARIABLE: &str = "EVAL_JOB_TEST_POSTGRES_URL";

/// A database of its own for a test.
pub struct Database {
    /// `USER:PASSWORD@`.
    pub login: String,
    pub address: String,
    pub name: String,
    /// The file of the server's certificate, which is for `localhost`.
    pub certificate: String,
}

/// A new database, or nothing, said aloud.
pub fn database(test: &str) -> Option<Database> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let Some(url) = variable(VARIABLE) else {
        leave_out(test, &format!("{VARIABLE} names no PostgreSQL; scripts/postgres starts one"));
        return None;
    };
    let name = format!("test_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    let rest = url.strip_prefix("postgres://").unwrap();
    let (login, rest) = rest.split_once('@').unwrap();
    let (address, _) = rest.split_once('/').unwrap();
    let certificate = variable("EVAL_JOB_TEST_POSTGRES_CERTIFICATE").unwrap_or_default();
    let database =
        Database { login: format!("{login}@"), address: address.to_owned(), name: name.clone(), certificate };
    statement(&url, &format!("CREATE DATABASE {name}"));
    Some(database)
}

impl Database {
    /// Its address, with the login.
    pub fn url(&self) -> String {
        self.url_at(&self.address)
    }

    /// The same behind another host and port.
    pub fn url_at(&self, address: &str) -> String {
        format!("postgres://{}{address}/{}", self.login, self.name)
    }

    pub fn password(&self) -> &str {
        self.login.trim_end_matches('@').split_once(':').unwrap().1
    }

    /// Runs statements in it.
    pub fn run(&self, sql: &str) {
        statement(&self.url(), sql);
    }

    /// A number that a query comes to.
    pub fn count(&self, sql: &str) -> i64 {
        connected(&self.url(), async |client| client.query_one(sql, &[]).await.unwrap().get(0))
    }

    /// A door to it that is shut for good when so many bytes have gone to the server.
    pub fn cut_after(&self, bytes: i64) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (door, server) = (listener.local_addr().unwrap().to_string(), self.address.clone());
        let left = Arc::new(AtomicI64::new(bytes));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if left.load(Ordering::SeqCst) <= 0 {
                    return;
                }
                let behind = TcpStream::connect(&server).unwrap();
                let back = (behind.try_clone().unwrap(), client.try_clone().unwrap());
                let (left, unbounded) = (left.clone(), Arc::new(AtomicI64::new(i64::MAX)));
                std::thread::spawn(move || copy(client, behind, &left));
                std::thread::spawn(move || copy(back.0, back.1, &unbounded));
            }
        });
        door
    }
}

fn copy(mut from: TcpStream, mut to: TcpStream, left: &AtomicI64) {
    let mut bytes = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        if left.fetch_sub(read as i64, Ordering::SeqCst) <= read as i64 || to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(std::net::Shutdown::Both), to.shutdown(std::net::Shutdown::Both));
}

fn statement(url: &str, sql: &str) {
    connected(url, async |client| client.batch_execute(sql).await.unwrap());
}

fn connected<T, F: Future<Output = T>>(url: &str, work: impl FnOnce(Client) -> F) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(&format!("{url}?sslmode=disable"), NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        let done = work(client).await;
        connection.abort();
        done
    })
}
