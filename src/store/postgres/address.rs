//! The address of a team's store: `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full`.

use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use super::TeamError;

/// How long a server may take to answer at all.
const CONNECT: Duration = Duration::from_secs(10);

/// The checks of a server's certificate, as libpq's `sslmode` has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CertificateCheck {
    /// Nothing: `prefer` and `require`. The connection is still encrypted.
    Nothing,
    /// The signature of one of these authorities: `verify-ca`, and `require` with `sslrootcert`.
    Authority(PathBuf),
    /// The signature and the host's name: `verify-full`. Without a file the authorities are those that this machine trusts.
    Host(Option<PathBuf>),
}

/// The address of a team's store.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) checked: CertificateCheck,
    /// Without login and parameters.
    pub(super) shown: String,
}

impl Address {
    /// Reads one.
    ///
    /// # Errors
    /// [`TeamError::Address`], in which nothing of the login is repeated.
    pub(super) fn parse(url: &str) -> Result<Address, TeamError> {
        let wrong = |why: &str| TeamError::Address(why.to_owned());
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(wrong("it begins with postgres://"));
        }
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let parameters =
            reqwest::Url::parse(&format!("p://q?{query}")).map_err(|_| wrong("its parameters can't be read"))?;
        let value = |wanted: &str| {
            let found = parameters.query_pairs().filter(|(key, _)| key == wanted).last();
            found.map(|(_, value)| value.into_owned())
        };
        let root = value("sslrootcert").filter(|root| root != "system").map(PathBuf::from);
        let (mode, checked) = match (value("sslmode").as_deref(), root) {
            (Some("disable"), _) => (SslMode::Disable, CertificateCheck::Nothing),
            (None | Some("prefer" | "allow"), _) => (SslMode::Prefer, CertificateCheck::Nothing),
            (Some("require"), None) => (SslMode::Require, CertificateCheck::Nothing),
            (Some("require" | "verify-ca"), Some(root)) => (SslMode::Require, CertificateCheck::Authority(root)),
            (Some("verify-ca"), None) => return Err(wrong("sslmode=verify-ca needs sslrootcert=FILE")),
            (Some("verify-full"), root) => (SslMode::Require, CertificateCheck::Host(root)),
            (Some(_), _) => {
                return Err(wrong("sslmode is disable, prefer, require, verify-ca or verify-full"));
            }
        };
        let is_ours = |parameter: &&str| !parameter.starts_with("sslmode=") && !parameter.starts_with("sslrootcert=");
        let rest: Vec<&str> = query.split('&').filter(|it| !it.is_empty()).filter(is_ours).collect();
        let rest = if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) };
        // Its words name a key and never a value.
        let mut config: Config = rest
            .parse()
            .map_err(|_| wrong("it can't be read; is a character of the password not encoded (%40 for @)?"))?;
        if config.get_hosts().is_empty() {
            return Err(wrong("it names no host"));
        }
        config.ssl_mode(mode);
        config.application_name("eval-job");
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        let shown = shown(&config);
        Ok(Address { config, checked, shown })
    }
}

fn shown(config: &Config) -> String {
    let host = |(at, host): (usize, &Host)| {
        let name = match host {
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(path) => path.display().to_string(),
        };
        let port = config.get_ports().get(at).or_else(|| config.get_ports().first());
        port.map_or_else(|| name.clone(), |port| format!("{name}:{port}"))
    };
    let hosts: Vec<String> = config.get_hosts().iter().enumerate().map(host).collect();
    let database = config.get_dbname().map(|name| format!("/{name}")).unwrap_or_default();
    format!("postgres://{}{database}", hosts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_of_tls_is_read_as_libpq_reads_it() {
        let read = |query: &str| {
            let address = Address::parse(&format!("postgres://bob:s3cret%40@db.example:5433/evals{query}")).unwrap();
            assert_eq!(address.shown, "postgres://db.example:5433/evals");
            (address.config.get_ssl_mode(), address.checked)
        };
        let root = || PathBuf::from("/etc/ca 1.pem");
        assert_eq!(read(""), (SslMode::Prefer, CertificateCheck::Nothing));
        assert_eq!(read("?sslmode=disable"), (SslMode::Disable, CertificateCheck::Nothing));
        assert_eq!(read("?sslmode=require&connect_timeout=3"), (SslMode::Require, CertificateCheck::Nothing));
        assert_eq!(
            read("?sslrootcert=%2Fetc%2Fca%201.pem&sslmode=require"),
            (SslMode::Require, CertificateCheck::Authority(root()))
        );
        assert_eq!(read("?sslmode=verify-full"), (SslMode::Require, CertificateCheck::Host(None)));
        assert_eq!(read("?sslmode=verify-full&sslrootcert=system"), (SslMode::Require, CertificateCheck::Host(None)));
        assert_eq!(
            read("?sslmode=verify-full&sslrootcert=/etc/ca%201.pem"),
            (SslMode::Require, CertificateCheck::Host(Some(root())))
        );
    }

    #[test]
    fn what_is_no_address_is_reported_without_its_login() {
        for (url, why) in [
            ("mysql://bob:s3cret@db/evals", "begins with postgres://"),
            ("postgres://bob:s3cret@db/evals?sslmode=maybe", "sslmode is disable"),
            ("postgres://bob:s3cret@db/evals?sslmode=verify-ca", "needs sslrootcert=FILE"),
            ("postgres://bob:s3cret@db:port/evals", "can't be read"),
            ("postgres:///evals", "names no host"),
        ] {
            let error = Address::parse(url).map(|address| address.shown).unwrap_err().to_string();
            assert!(error.contains(why) && !error.contains("s3cret"), "{url}: {error}");
        }
    }
}
