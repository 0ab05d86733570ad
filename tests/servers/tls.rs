//! TLS with a certificate that nobody trusts by itself. It is for 127.0.0.1 and for nothing else:
//!
//! `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 36500 -subj "/CN=eval-job tests"
//! -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE -keyout key.pem -out certificate.pem`

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// Where the certificate is, for whoever is to trust it.
pub fn certificate() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tls/certificate.pem")
}

/// What a server with the certificate needs.
pub fn config() -> Arc<ServerConfig> {
    eval_job::http::install_tls();
    let certificate = CertificateDer::from_pem_file(certificate()).unwrap();
    let key =
        PrivateKeyDer::from_pem_file(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tls/key.pem")).unwrap();
    Arc::new(ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key).unwrap())
}

/// The server's end of a connection.
pub fn stream(config: Arc<ServerConfig>, stream: TcpStream) -> StreamOwned<ServerConnection, TcpStream> {
    StreamOwned::new(ServerConnection::new(config).unwrap(), stream)
}
