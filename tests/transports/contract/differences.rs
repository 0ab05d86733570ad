//! Where a transport differs from the others, and why.

use eval_job::agent::AgentErrorKind::{self, BadReply, BeyondLimit, Status, Timeout, Unreadable};

/// Where transports differ from the others.
pub struct Difference {
    pub fault: &'static str,
    pub wires: &'static [&'static str],
    /// Why there is no reply in the end, and how often the message arrives.
    pub comes_out: (Option<AgentErrorKind>, usize),
    /// The reason.
    pub why: &'static str,
}

/// What holds a reply whole: as a document, as a command's lines, as a frame.
const DOCUMENTS: &[&str] = &["embabel", "http json", "adk", "a2a", "trpc agent", "command", "websocket"];

pub const DIFFERENCES: &[Difference] = &[
    Difference {
        fault: "session expired",
        wires: &["command"],
        comes_out: (Some(Timeout), 1),
        why: "a process has no status; it ends, and that is a connection that breaks",
    },
    Difference {
        fault: "closed without a word",
        wires: &["command", "websocket"],
        comes_out: (Some(Timeout), 2),
        why: "a program that was started, and a connection that was opened, are the agent's: nobody else can have ended them",
    },
    Difference {
        fault: "silence in mid-body",
        wires: &["command", "websocket"],
        comes_out: (Some(Unreadable), 1),
        why: "words came, and not what the job says that ends them: it may name another end than the agent has",
    },
    Difference {
        fault: "cut in mid-body",
        wires: &["command"],
        comes_out: (Some(Unreadable), 1),
        why: "a process that has ended well has said all that it wanted to say, and its words had no end: as above",
    },
    Difference {
        fault: "invalid UTF-8",
        wires: &["command"],
        comes_out: (None, 1),
        why: "what a command prints has no encoding that it would break: what can't be read is shown as U+FFFD",
    },
    Difference {
        fault: "ends in mid-JSON",
        wires: &["watsonx v1"],
        comes_out: (Some(BadReply), 1),
        why: "the run's events have told its thread: that is read for the answer, and nothing is said twice",
    },
    Difference {
        fault: "empty body",
        wires: &["adk streaming", "a2a streaming", "trpc debug"],
        comes_out: (Some(BadReply), 1),
        why: "a run that ended without a word is the agent's own last word, and running it again would do its work twice",
    },
    Difference {
        fault: "empty text",
        wires: &[
            "adk",
            "adk streaming",
            "a2a",
            "a2a streaming",
            "trpc agent",
            "trpc debug",
            "watsonx v1",
            "watsonx v2",
        ],
        comes_out: (Some(BadReply), 1),
        why: "a final response without words is the agent's own, as above",
    },
    Difference {
        fault: "in-band error",
        wires: &["openai", "responses"],
        comes_out: (Some(Status(500)), 2),
        why: "the error names the status that it would have had, and nothing was done yet: it is tried again like that one",
    },
    Difference {
        fault: "10 MB at once",
        wires: DOCUMENTS,
        comes_out: (Some(BeyondLimit), 1),
        why: "what is held whole may be 8 MiB; only a stream, each word of which has an envelope, may be longer",
    },
];
