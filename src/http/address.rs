//! Base addresses: checked, and joined with path segments.

use std::fmt;

use reqwest::Url;

use crate::secret::Secret;

/// The base address of a service. `Display` leaves out user and password.
#[derive(Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

impl BaseUrl {
    /// Reads an address, such as `http://localhost:8081`.
    pub fn parse(text: &str) -> Result<BaseUrl, BaseUrlError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(BaseUrlError::Empty);
        }
        if holds_variable(text) {
            return Err(BaseUrlError::Variable);
        }
        let url = Url::parse(text)
            .map_err(|_| if text.contains("://") { BaseUrlError::Invalid } else { BaseUrlError::NoScheme })?;
        match url.scheme() {
            "http" | "https" if url.path().trim_end_matches('/').ends_with("/chat/completions") => {
                Err(BaseUrlError::Endpoint)
            }
            "http" | "https" if url.query().is_some() || url.fragment().is_some() => Err(BaseUrlError::NotABase),
            "http" | "https" => Ok(BaseUrl(url)),
            _ if text.contains("://") => Err(BaseUrlError::OtherScheme),
            _ => Err(BaseUrlError::NoScheme),
        }
    }

    /// The address with these path segments appended, each percent-encoded.
    pub fn join<'a>(&self, segments: impl IntoIterator<Item = &'a str>) -> Url {
        let mut url = self.0.clone();
        // `http` and `https` addresses always have segments.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments.into_iter().filter(|segment| !segment.is_empty()));
        }
        url
    }

    /// Whether its path ends with this segment.
    pub fn ends_with(&self, segment: &str) -> bool {
        let mut segments = self.0.path_segments().into_iter().flatten().filter(|segment| !segment.is_empty());
        segments.next_back() == Some(segment)
    }

    /// Whether it is an address of this machine, which is never behind a proxy.
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.0)
    }
}

/// Why a text is no base address. The message does not repeat the text, which can hold a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BaseUrlError {
    /// It is empty.
    #[error("the address is empty; write it like http://localhost:8081")]
    Empty,
    /// It is no address.
    #[error("the address can't be read; write it like http://localhost:8081")]
    Invalid,
    /// It has another scheme than `http` and `https`.
    #[error("the address must start with http:// or https://; write it like http://localhost:8081")]
    OtherScheme,
    /// It has no scheme.
    #[error("the address must start with http:// or https://; put http:// or https:// before it")]
    NoScheme,
    /// It holds a variable of a shell.
    #[error("no variables (`$NAME`) are filled in here; write the address itself, like http://localhost:8081")]
    Variable,
    /// It ends with a path that is added to it.
    #[error(
        "the address must end before /chat/completions, which is added to it; write it like http://localhost:8081/v1"
    )]
    Endpoint,
    /// It has a query or a fragment.
    #[error("the address must end before any ? or #; put only host, port and path in it")]
    NotABase,
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(shown(&self.0).trim_end_matches('/'))
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why a text is no address of one of these schemes, without repeating it.
pub fn address_problem(text: &str, schemes: &[&str]) -> Option<String> {
    let listed = || schemes.iter().map(|scheme| format!("{scheme}://")).collect::<Vec<_>>().join(" or ");
    match Url::parse(text) {
        _ if holds_variable(text) => Some("no variables are filled in here, write the address itself".to_owned()),
        Ok(url) if schemes.contains(&url.scheme()) && url.has_host() => None,
        _ if !text.contains("://") => Some(format!("{} must stand before it", listed())),
        Ok(url) if url.has_host() => Some(format!("it begins with another scheme than {}", listed())),
        Ok(_) => Some("there is no host in it".to_owned()),
        Err(error) => Some(error.to_string()),
    }
}

/// Whether a text begins with a variable of a shell, or holds one in braces: `$HOST`, `${HOST}`.
fn holds_variable(text: &str) -> bool {
    text.starts_with('$') || text.contains("${")
}

/// An address for messages: without user, password, query and fragment.
pub(super) fn shown(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{host}{port}{}", url.scheme(), url.path())
}

/// Whether two addresses have the same origin: scheme, host and port. All names of this machine count as one host.
pub fn is_same_origin(one: &Url, other: &Url) -> bool {
    let host = |url: &Url| match is_loopback(url) {
        true => "localhost".to_owned(),
        false => url.host_str().unwrap_or_default().to_owned(),
    };
    one.scheme() == other.scheme()
        && one.port_or_known_default() == other.port_or_known_default()
        && host(one) == host(other)
}

/// The password in an address, which a server might echo.
pub(super) fn password(url: &Url) -> Option<Secret> {
    url.password().map(Secret::new)
}

pub(super) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn base(text: &str) -> BaseUrl {
        BaseUrl::parse(text).unwrap()
    }

    #[test]
    fn no_slash_is_doubled_and_none_is_lost() {
        for text in ["http://h:1", "http://h:1/"] {
            assert_eq!(base(text).join("/api/v1/chat".split('/')).as_str(), "http://h:1/api/v1/chat");
        }
        for text in ["https://h/v1", "https://h/v1/"] {
            assert_eq!(base(text).join(["chat", "completions"]).as_str(), "https://h/v1/chat/completions");
        }
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let is_same = |one: &str, other: &str| is_same_origin(&Url::parse(one).unwrap(), &Url::parse(other).unwrap());
        assert!(is_same("http://h/a", "http://H:80/b") && is_same("http://localhost:1", "http://127.0.0.1:1"));
        for other in ["https://h/a", "http://h:8080/a", "http://g.h/a", "https://h:80/a"] {
            assert!(!is_same("http://h/a", other), "{other}");
        }
    }

    #[test]
    fn a_segment_is_percent_encoded() {
        assert_eq!(base("http://h").join(["o", "a/b ?#%é"]).as_str(), "http://h/o/a%2Fb%20%3F%23%25%C3%A9");
    }

    #[test]
    fn what_is_no_address_is_refused_with_words_that_help() {
        for (text, part) in [
            ("", "is empty"),
            ("localhost:8081", "put http:// or https:// before it"),
            ("agent.example", "put http:// or https:// before it"),
            ("127.0.0.1:8081/v1", "put http:// or https:// before it"),
            ("${HOST}/v1", "no variables"),
            ("$HOST", "no variables"),
            ("http://h:1/v1/chat/completions", "must end before /chat/completions"),
            ("ftp://h", "http:// or https://"),
            ("http://", "can't be read"),
            ("http://h:99999", "can't be read"),
            ("http://h/?key=1", "before any ?"),
            ("http://h/#x", "before any ?"),
        ] {
            let error = BaseUrl::parse(text).unwrap_err();
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn user_and_password_are_never_shown() {
        let url = base("http://ann:hush@h:1/api/");
        assert_eq!(url.to_string(), "http://h:1/api");
        assert_eq!(format!("{url:?}"), "http://h:1/api");
        assert!(!BaseUrl::parse("http://ann:hush@h:port").unwrap_err().to_string().contains("hush"));
    }

    #[test]
    fn this_machine_is_recognised() {
        for (text, expected) in [
            ("http://localhost", true),
            ("http://127.0.0.1:8081", true),
            ("http://127.9.9.9", true),
            ("http://[::1]:80", true),
            ("http://api.localhost", true),
            ("http://localhost.example", false),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(base(text).is_loopback(), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in ".{0,80}") {
            let _ = BaseUrl::parse(&text);
        }

        #[test]
        fn a_segment_stays_one_segment(id in "[^.]{1,40}") {
            let url = base("http://h/a").join(["o", &id]);
            prop_assert_eq!(url.path_segments().unwrap().count(), 3);
        }
    }
}
