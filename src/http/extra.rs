//! What a request has beside the usual.

use reqwest::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};

use super::{HttpFault, HttpFaultKind};
use crate::secret::Secret;

/// A header's value that is shorter is no secret: blotting it out would spoil every message.
const SHORTEST_SECRET: usize = 8;

/// What a request has beside the usual.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extra<'a> {
    /// Headers of the user's own: name and value. They stand in for ours of the same name.
    pub headers: &'a [(String, Secret)],
    /// Headers that a service asks for and that hold no secret, by their names in lower case.
    pub plain: &'a [(&'static str, &'a str)],
    /// What the body holds that no message may show.
    pub secret: Option<&'a Secret>,
    /// What is accepted instead of JSON alone.
    pub accept: Option<&'static str>,
}

impl Extra<'_> {
    pub(super) fn add_to(&self, headers: &mut HeaderMap, place: &str) -> Result<(), HttpFault> {
        if let Some(accept) = self.accept {
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
        }
        for (name, value) in self.plain {
            let value = HeaderValue::from_str(value).map_err(|_| {
                HttpFault::new(HttpFaultKind::Unsendable, place, format!("the header `{name}` can't be sent"))
            })?;
            headers.insert(*name, value);
        }
        for (name, value) in self.headers {
            let unfit = || {
                let what = format!("the header {name:?} can't be sent: its name or its value holds what none may hold");
                HttpFault::new(HttpFaultKind::Unsendable, place, what)
            };
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unfit())?;
            let mut value = HeaderValue::from_str(value.expose()).map_err(|_| unfit())?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(())
    }

    /// What a server might echo and nobody may read.
    pub(super) fn secrets(&self) -> impl Iterator<Item = Secret> {
        let values = self.headers.iter().map(|(_, value)| value);
        values.filter(|value| value.expose().len() >= SHORTEST_SECRET).chain(self.secret).cloned()
    }
}
