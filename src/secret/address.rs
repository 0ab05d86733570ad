//! Addresses in a text: their users and passwords, and what of their queries are keys.

use std::ops::Range;

use memchr::{memchr2, memmem};

use super::naming::is_key_name;

/// An opening of braces that is not closed within so many bytes is none.
const LONGEST_IN_BRACES: usize = 200;

/// The secret parts of all addresses in a text: the part before an `@`, and the values of parameters
/// that are keys by their names.
pub fn secret_parts(text: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    // A login stands before the one, the value of a parameter behind the other: most texts have neither.
    if memchr2(b'@', b'=', text.as_bytes()).is_none() {
        return parts;
    }
    let mut places = memmem::find_iter(text.as_bytes(), "://").peekable();
    // An address can stand in another one's query; each is read as far as the next one, so that all take time for one.
    let (mut end, mut is_within_query) = (0, false);
    while let Some(at) = places.next() {
        let start = at + "://".len();
        if start >= end {
            (end, is_within_query) = (start + length(&text[start..]), false);
        }
        let address = &text[start..places.peek().map_or(end, |next| end.min(*next).max(start))];
        let host = address.find(['/', '?', '#']).unwrap_or(address.len());
        // A password that is not encoded can hold these characters too.
        let login = address[..host].rfind('@').map(|at| whole_login(address, at)).or_else(|| stray_login(address));
        parts.extend(login.filter(|login| *login > 0).map(|login| start..start + login));
        let rest = login.unwrap_or(0);
        let query = address[rest..].find(['?', '#']).map(|at| rest + at + 1);
        let parameters = if is_within_query { Some(rest) } else { query };
        is_within_query |= query.is_some();
        if let Some(from) = parameters {
            parts.extend(queried(&address[from..]).map(|part| start + from + part.start..start + from + part.end));
        }
    }
    parts
}

/// The length of the address at the start of a text. Within the braces of a template it may have spaces.
fn length(text: &str) -> usize {
    let mut end = 0;
    loop {
        let rest = &text[end..];
        let stop = rest.find(ends_address).unwrap_or(rest.len());
        // No `{{` is open where none has begun since the last one was closed.
        let Some(open) = rest[..stop].rfind("{{").filter(|open| !rest[*open..stop].contains("}}")) else {
            return end + stop;
        };
        let within = &rest.as_bytes()[open..];
        let near = &within[..within.len().min(LONGEST_IN_BRACES)];
        let Some(close) = memmem::find(near, b"}}").filter(|close| !near[..*close].contains(&b'\n')) else {
            return end + stop;
        };
        end += open + close + "}}".len();
    }
}

/// The end of a login whose password may have an `@` and then a slash in it. One without a password ends at the first.
fn whole_login(address: &str, at: usize) -> usize {
    let end = address.find(['?', '#']).unwrap_or(address.len()).max(at);
    let has_password = address[..at].contains(':');
    if has_password { address[..end].rfind('@').unwrap_or(at) } else { at }
}

/// The end of a login `user:pass/word@`: with a colon in front, nothing but a port would make it an address without one.
fn stray_login(address: &str) -> Option<usize> {
    let at = address.find('@')?;
    let host = address.find(['/', '?', '#']).unwrap_or(address.len());
    let (_, after) = address.get(..host.min(at))?.split_once(':')?;
    let is_port = after.bytes().all(|byte| byte.is_ascii_digit());
    (!is_port && !address.starts_with('[')).then_some(at)
}

/// The values of the parameters that are keys, in a query and in the fragment.
fn queried(parameters: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    parameters.split_inclusive(['&', '#', ';']).filter_map(move |parameter| {
        let from = start;
        start += parameter.len();
        let parameter = parameter.trim_end_matches(['&', '#', ';']);
        let (name, value) = parameter.split_once('=')?;
        let value_at = from + name.len() + 1;
        (is_key_parameter(name) && !value.is_empty() && !value.starts_with("{{") && value != "***")
            .then_some(value_at..value_at + value.len())
    })
}

/// Whether a parameter is a key by its name. A code of a redirect and the id of a session open what a password does; as names of
/// other things both are harmless.
fn is_key_parameter(name: &str) -> bool {
    let name = name.trim_start_matches("amp;");
    let is_session = |name: &str| {
        let letters: String =
            name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
        matches!(
            letters.as_str(),
            "code" | "authcode" | "sid" | "sessid" | "phpsessid" | "jsessionid" | "connectsid" | "otp"
        )
    };
    is_key_name(name) || is_session(name)
}

fn ends_address(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '\\' | '|' | '…')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(text: &str) -> Vec<&str> {
        secret_parts(text).into_iter().map(|part| &text[part]).collect()
    }

    #[test]
    fn addresses_within_addresses_take_no_more_time_than_one() {
        for (address, parts) in
            [("://", 0), ("a://{{ x }}", 0), ("://@{{", 0), ("://{{ ", 0), ("://a:b@c?key=d", 80_000)]
        {
            assert_eq!(secret_parts(&address.repeat(40_000)).len(), parts, "{address}");
        }
    }

    #[test]
    fn logins_and_keys_of_an_address_are_found() {
        for (text, parts) in [
            ("see http://me:pw@host:1/x?a=1", vec!["me:pw"]),
            ("bolt+s://neo4j:p@ss@host", vec!["neo4j:p@ss"]),
            ("\"postgres://bob:p/w@h/db\"", vec!["bob:p/w"]),
            ("(https://h/?api_key=abc&x=1&sig=def#access_token=ghi)", vec!["abc", "def", "ghi)"]),
            ("https://h/callback?code=abc&state=s&sid=s%3A1#connect.sid=2", vec!["abc", "s%3A1", "2"]),
            ("https://h/?zipcode=123&codec=x&side=y&inside=z", vec![]),
            ("https://h/?a=1&amp;sid=2", vec!["2"]),
            ("ws://h/chat?token=t1 and wss://u@h", vec!["t1", "u"]),
            ("http://host:8081/chat@x?model=m", vec![]),
            ("http://host/a:b@c", vec![]),
            ("bolt://neo4j:p@ss:w0rd/x@host", vec!["neo4j:p@ss:w0rd/x"]),
            ("http://me@host/a@b", vec!["me"]),
            ("http://h/{{ id }}/x?token=abc&u={{ user }}&key={{ key }}&sig=d e", vec!["abc", "d"]),
            ("http://h/{{id}}{{ a | b }}?token=abc {{ x", vec!["abc"]),
            ("http://h/{{ user | replace(\"@\", 'a') }}?key=abc\" {{x}}&key=1", vec!["abc"]),
            ("a://b, http://, x ://@", vec![]),
        ] {
            assert_eq!(hidden(text), parts, "{text}");
        }
    }
}
