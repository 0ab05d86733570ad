//! Hints for an agent that can't be reached, for `probe` and for conversations that never began.

use crate::agent::{AgentError, AgentErrorKind};
use crate::job::Target;

/// A hint at what to change, with keys of the job file.
pub fn hint(target: &Target, error: &AgentError) -> String {
    let transport = &target.transport;
    let key = transport.key();
    let address = format!("target.{key}.{}", transport.address_key());
    let [plain, secure] = transport.schemes();
    let names = |part: &str| error.message.contains(part);
    if names("target.http.open.sessionId") {
        return "target.http.open.sessionId, which says where the reply to target.http.open has the session's id"
            .to_owned();
    }
    if names("target.http.state") {
        return "target.http.state: its url and method, and the JSONPaths that say where the parts are in its reply"
            .to_owned();
    }
    if let Some(own) = transport.hint(error) {
        return own;
    }
    match error.kind {
        AgentErrorKind::Unreachable if names("CaUsedAsEndEntity") => {
            "a certificate for the server alone (basicConstraints=CA:FALSE), and SSL_CERT_FILE=… with it or its issuer"
                .to_owned()
        }
        AgentErrorKind::Unreachable if names("server's certificate") => {
            "SSL_CERT_FILE=… in the environment where the issuer is your own; else the host that the certificate is for"
                .to_owned()
        }
        AgentErrorKind::Unreachable if names("TLS failed") => {
            format!("{plain}:// in {address} if the agent speaks no TLS; else a certificate that this machine trusts")
        }
        AgentErrorKind::Unreachable if names("host name") => {
            format!("another host name in {address}: no name server knows this one")
        }
        AgentErrorKind::Unreachable => {
            format!("starting the agent, or its own address in {address}, or target.start to have it started")
        }
        AgentErrorKind::Unsendable if names("could not be made up") => {
            "another evaluator.model, or a `result` in the place of the mock's `prompt`".to_owned()
        }
        AgentErrorKind::Unsendable => {
            format!("what target.{key} says of the request: its address, headers and templates")
        }
        // Of an agent without a protocol, keys are where its templates say, and nowhere else.
        AgentErrorKind::Unauthorized if transport.is_templated() => {
            format!(
                "a key, or another one, in the headers of target.{key} (\"Bearer {{{{ apiKey }}}}\" sends EVAL_JOB_AGENT_API_KEY): the \
                 agent is there and wants one"
            )
        }
        AgentErrorKind::Unauthorized => {
            "EVAL_JOB_AGENT_API_KEY=… in the environment: the agent is there and wants a key, or another one".to_owned()
        }
        AgentErrorKind::NotFound => {
            let what = transport.name_key().map_or_else(String::new, |key| format!("{key}, or "));
            format!(
                "{what}another address or path in target.{key}: something answers there, and it does not know what was asked \
                 for"
            )
        }
        AgentErrorKind::NoDescriptor => crate::descriptors::HINT.to_owned(),
        AgentErrorKind::NoNetwork => "again, once this machine has a network".to_owned(),
        AgentErrorKind::RefusedTogether => "target.maxConcurrency, or -j 1".to_owned(),
        AgentErrorKind::Busy => "again later: the agent says that it is busy".to_owned(),
        AgentErrorKind::Cut | AgentErrorKind::Timeout | AgentErrorKind::BadReply | AgentErrorKind::Status(400)
            if names("begins with https://") || names("HTTPS port") || names("HTTPS server") =>
        {
            format!("{secure}:// in {address} if TLS is spoken there; else a look at the agent's own log")
        }
        AgentErrorKind::Cut | AgentErrorKind::Timeout if names("connection broke") => {
            format!(
                "another port in {address} if another program is there; else a look at the agent's own log: it, or a proxy \
                 before it, ended the connection"
            )
        }
        AgentErrorKind::Cut | AgentErrorKind::Timeout => {
            "a longer limits.turn, or a look at what the agent waits for: its model, its database".to_owned()
        }
        AgentErrorKind::Unreadable | AgentErrorKind::BadReply if names("text/html") || names("web page") => {
            format!("another address in {address}: a web page is there, of a login, a proxy or another program")
        }
        AgentErrorKind::Unreadable => format!(
            "another transport than target.{key}, or another address in {address}: what answers there does not speak this protocol"
        ),
        AgentErrorKind::Status(300..400) => format!("the address that it is sent on to, in {address}"),
        AgentErrorKind::Status(405) => format!("another address or path in {address}"),
        AgentErrorKind::Status(400..500) => {
            let what = transport.name_key().map_or_else(String::new, |key| format!("{key}, or "));
            format!("{what}what else target.{key} says that is sent; the agent refuses the request")
        }
        AgentErrorKind::BeyondLimit => {
            "less in one reply, or fewer events with it: eval-job reads no more than docs/transports.md says (Limits), and this is \
             not counted as the agent's failure"
                .to_owned()
        }
        AgentErrorKind::BadReply => format!("another transport than target.{key}, or a look at the agent's own log"),
        AgentErrorKind::Status(_) => "a look at the agent's own log".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::job::Job;

    #[test]
    fn what_is_wrong_with_opening_and_state_is_not_looked_for_in_the_reply() {
        let http =
            json!({"say": {"url": "http://127.0.0.1:9/say", "body": {"text": "{{ message }}"}, "reply": "$.text"}});
        let job = json!({"name": "j", "target": {"user": "u", "chatbot": "c", "http": http}, "cases": []});
        let target = Job::restored(&job).unwrap().target;
        for (kind, key) in [
            (AgentErrorKind::Unreadable, "target.http.open.sessionId"),
            (AgentErrorKind::NotFound, "target.http.state"),
        ] {
            let hint = hint(&target, &AgentError::new(kind, format!("{key}: nothing is there")));
            assert!(hint.starts_with(key), "{hint}");
        }
    }
}
