//! What to try where the agent can't be talked to: the words of `probe`, and of a conversation that never began.

use crate::agent::{AgentError, AgentErrorKind, TransportConfig};
use crate::job::Target;

/// What to try, with the keys of the job file that it is about.
pub fn hint(target: &Target, error: &AgentError) -> String {
    let (word, address) = (target.transport.word(), target.transport.address_key());
    let names = |part: &str| error.message.contains(part);
    if matches!(target.transport, TransportConfig::Command(_)) {
        return match error.kind {
            AgentErrorKind::Unreachable | AgentErrorKind::NotFound => {
                format!("the program's name or path in {address}, and target.command.cwd")
            }
            AgentErrorKind::Unreadable => {
                "target.command.terminator: a message ends where it stands, at the end of a line".to_owned()
            }
            _ if names("ended in mid-conversation")
                || names("ended before its first message")
                || names("any more input") =>
            {
                "what it needs: its arguments (target.command.args), its environment (env, inheritEnv), its files (cwd)"
                    .to_owned()
            }
            _ => "target.command.terminator: a message ends where it stands; or a longer limits.turn".to_owned(),
        };
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
            let plain = if matches!(target.transport, TransportConfig::WebSocket(_)) { "ws" } else { "http" };
            format!("{plain}:// in {address} if the agent speaks no TLS; else a certificate that this machine trusts")
        }
        AgentErrorKind::Unreachable if names("host name") => {
            format!("another host name in {address}: no name server knows this one")
        }
        AgentErrorKind::Unreachable => {
            format!("starting the agent, or its own address in {address}, or target.start to have it started")
        }
        AgentErrorKind::Unsendable => format!("what target.{word} says of the request: its address, headers and templates"),
        AgentErrorKind::Unauthorized
            if matches!(target.transport, TransportConfig::WebSocket(_)) && names("answered 403") =>
        {
            format!("another path in {address}, which many servers refuse like that; or a key in target.{word}.headers")
        }
        AgentErrorKind::NotFound | AgentErrorKind::Unreadable
            if matches!(target.transport, TransportConfig::WebSocket(_))
                && (error.kind == AgentErrorKind::NotFound || names("no WebSocket is there")) =>
        {
            format!("another path in {address}: something answers there, and has no WebSocket under this one")
        }
        // Of an agent without a protocol, keys are where its templates say, and nowhere else.
        AgentErrorKind::Unauthorized
            if matches!(target.transport, TransportConfig::Http(_) | TransportConfig::WebSocket(_)) =>
        {
            format!("a key, or another one, in the headers of target.{word}: the agent is there and wants one")
        }
        AgentErrorKind::Unauthorized => {
            "EVAL_JOB_AGENT_API_KEY=… in the environment: the agent is there and wants a key, or another one".to_owned()
        }
        AgentErrorKind::NotFound => {
            let what = called(target).map_or_else(String::new, |called| format!("{called}, or "));
            format!(
                "{what}another address or path in target.{word}: something answers there, and it does not know what was asked \
                 for"
            )
        }
        AgentErrorKind::NoDescriptor => crate::descriptors::HINT.to_owned(),
        AgentErrorKind::Crowded => "target.maxConcurrency, or -j 1".to_owned(),
        AgentErrorKind::Busy => "again later: the agent says that it is busy".to_owned(),
        AgentErrorKind::Timeout | AgentErrorKind::BadReply | AgentErrorKind::Status(400)
            if names("begins with https://") || names("HTTPS port") || names("HTTPS server") =>
        {
            let secure = if matches!(target.transport, TransportConfig::WebSocket(_)) { "wss" } else { "https" };
            format!("{secure}:// in {address} if TLS is spoken there; else a look at the agent's own log")
        }
        AgentErrorKind::Timeout if names("connection broke") => {
            format!(
                "another port in {address} if another program is there; else a look at the agent's own log: it, or a proxy \
                 before it, ended the connection"
            )
        }
        AgentErrorKind::Timeout => {
            "a longer limits.turn, or a look at what the agent waits for: its model, its database".to_owned()
        }
        AgentErrorKind::Unreadable | AgentErrorKind::BadReply if names("text/html") || names("web page") => {
            format!("another address in {address}: a web page is there, of a login, a proxy or another program")
        }
        AgentErrorKind::Unreadable => match target.transport {
            TransportConfig::Http(_) => {
                "target.http.say.reply, which says where the words are, and target.http.say.stream, which says how they come"
                    .to_owned()
            }
            TransportConfig::WebSocket(_) => {
                "target.websocket.reply, which says where the words are (delta, text) and what ends them (done); or \
                 target.websocket.say"
                    .to_owned()
            }
            _ => format!(
                "another transport than target.{word}, or another address in {address}: what answers there speaks \
                 otherwise"
            ),
        },
        AgentErrorKind::Status(300..400) => format!("the address that it is sent on to, in {address}"),
        AgentErrorKind::Status(405) => format!("another address or path in {address}"),
        AgentErrorKind::Status(400..500) => match target.transport {
            TransportConfig::Http(_) => "the body, the method and the headers of target.http.say".to_owned(),
            TransportConfig::WebSocket(_) => "target.websocket.url, and the headers beside it".to_owned(),
            _ => {
                let what = called(target).map_or_else(String::new, |called| format!("{called}, or "));
                format!("{what}what else target.{word} says that is sent; the agent refuses the request")
            }
        },
        AgentErrorKind::BadReply => format!("another transport than target.{word}, or a look at the agent's own log"),
        AgentErrorKind::Status(_) => "a look at the agent's own log".to_owned(),
    }
}

/// Where the job says by which name the agent is asked for.
fn called(target: &Target) -> Option<&'static str> {
    let or_chatbot = |own: &Option<String>, key| if own.is_some() { key } else { "target.chatbot" };
    match &target.transport {
        TransportConfig::Embabel(_) => Some("target.chatbot"),
        TransportConfig::Adk(config) => Some(or_chatbot(&config.app, "target.adk.app")),
        TransportConfig::Trpc(config) => Some(or_chatbot(&config.app, "target.trpc.app")),
        TransportConfig::Watsonx(config) => Some(or_chatbot(&config.agent, "target.watsonx.agent")),
        TransportConfig::OpenAi(_) | TransportConfig::Responses(_) => Some("another model (--model)"),
        TransportConfig::Demo(_)
        | TransportConfig::Http(_)
        | TransportConfig::WebSocket(_)
        | TransportConfig::Command(_)
        | TransportConfig::A2a(_) => None,
    }
}
