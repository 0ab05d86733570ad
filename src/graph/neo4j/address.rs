//! Where a database listens, checked before anything is asked of it. Pure.

use reqwest::Url;
use rustls::pki_types::ServerName;

const EXAMPLE: &str = "write it like bolt://localhost:7687 or neo4j+s://HOST";

/// The URI schemes. `+s` is TLS with a trusted certificate, `+ssc` with any.
const SCHEMES: [&str; 6] = ["bolt", "neo4j", "bolt+s", "neo4j+s", "bolt+ssc", "neo4j+ssc"];

/// Why an address is none of a Neo4j database, and what to write. It does not repeat the address, which can hold a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It has no scheme.
    #[error("the address has no scheme; {EXAMPLE}")]
    NoScheme,
    /// Its scheme is none of Neo4j's.
    #[error("the address must start with one of {}; {EXAMPLE}", SCHEMES.join(", "))]
    UnknownScheme,
    /// Its host or port is malformed.
    #[error("the address can't be read; {EXAMPLE}")]
    Unreadable,
    /// TLS needs a host's name.
    #[error("the address has no host that a certificate can name; {EXAMPLE}")]
    NoCertifiableHost,
    /// It holds a password.
    #[error("the address holds a password; put it in NEO_PASSWORD instead")]
    Password,
    /// It has a path, a query or a fragment.
    #[error("the address must end after its port; graph.neo4j.database names the database")]
    TooLong,
}

/// Checks the address of a Neo4j database.
///
/// # Errors
/// See [`AddressError`].
pub fn check(uri: &str) -> Result<(), AddressError> {
    let Some((scheme, rest)) = uri.split_once("://") else {
        return Err(AddressError::NoScheme);
    };
    if !SCHEMES.contains(&scheme) {
        return Err(AddressError::UnknownScheme);
    }
    // Only `http` and its like are read with all rules for hosts and ports.
    let url = Url::parse(&format!("http://{rest}")).map_err(|_| AddressError::Unreadable)?;
    // TLS needs a name that a certificate can hold.
    if scheme.contains('+') {
        let host =
            Url::parse(uri).ok().and_then(|url| url.host_str().map(|host| host.trim_matches(['[', ']']).to_owned()));
        if host.and_then(|host| ServerName::try_from(host).ok()).is_none() {
            return Err(AddressError::NoCertifiableHost);
        }
    }
    if url.password().is_some() {
        return Err(AddressError::Password);
    }
    if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
        return Err(AddressError::TooLong);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::graph::neo4j::{Neo4jConnection, Neo4jGraph, Neo4jLimits};
    use crate::secret::Secret;

    fn connects(uri: &str) -> bool {
        let connection = Neo4jConnection {
            uri: uri.to_owned(),
            username: "neo4j".to_owned(),
            password: Secret::new(""),
            database: None,
        };
        Neo4jGraph::connect(connection, Neo4jLimits::default()).is_ok()
    }

    #[test]
    fn what_is_an_address_is_one_for_the_driver_too() {
        for uri in [
            "bolt://localhost:7687",
            "neo4j://10.0.0.1",
            "bolt+s://db.example:1/",
            "neo4j+ssc://[::1]:7687",
            // Embabel's default.
            "bolt://neo4j@localhost:7687",
        ] {
            assert_eq!(check(uri), Ok(()), "{uri}");
            assert!(connects(uri), "{uri}");
        }
    }

    #[test]
    fn what_is_none_is_refused_with_words_that_help() {
        for (uri, part) in [
            ("", "has no scheme"),
            ("localhost:7687", "has no scheme"),
            ("http://localhost:7474", "must start with one of bolt, neo4j,"),
            ("BOLT ://x", "must start with"),
            ("bolt://", "can't be read"),
            ("bolt://host:99999", "can't be read"),
            ("bolt://two words", "can't be read"),
            ("bolt+s://0", "certificate"),
            ("bolt://ann:hush@host", "NEO_PASSWORD"),
            ("neo4j://host/movies", "graph.neo4j.database"),
            ("neo4j://host?policy=x", "graph.neo4j.database"),
        ] {
            let error = check(uri).unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains("hush"), "{uri}: {error}");
        }
    }

    proptest! {
        #[test]
        fn nothing_that_passes_fails_later(rest in "[a-z0-9.:@\\[\\]/ ]{0,24}", scheme in 0..SCHEMES.len()) {
            let uri = format!("{}://{rest}", SCHEMES[scheme]);
            prop_assert!(check(&uri).is_err() || connects(&uri), "{}", uri);
        }
    }
}
