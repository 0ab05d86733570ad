//! The messages of a client: <https://neo4j.com/docs/bolt/current/bolt/message/>.

use std::time::Duration;

use super::packstream::{Pack, read};
use super::value;
use crate::graph::embedded::AccessMode;
use crate::graph::{ConversionError, Parameters};
use crate::secret::Secret;

/// A client's message.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum BoltRequest {
    /// Introduces the client; up to 5.0 with its credentials.
    Hello {
        credentials: BoltCredentials,
        /// Whether date-times in UTC are wanted, in Bolt 4.
        utc_patch: bool,
    },
    Logon(BoltCredentials),
    Logoff,
    Goodbye,
    Reset,
    Run {
        statement: String,
        /// A value that can't be a parameter is reported when the statement would run.
        parameters: Result<Parameters, ConversionError>,
        options: TransactionOptions,
    },
    Begin(TransactionOptions),
    Commit,
    Rollback,
    Pull(Batch),
    Discard(Batch),
    Route {
        database: Option<String>,
    },
    Telemetry,
}

/// A client's credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BoltCredentials {
    pub(super) scheme: Option<String>,
    pub(super) principal: Option<String>,
    pub(super) password: Option<Secret>,
}

/// The options of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TransactionOptions {
    pub(super) access: AccessMode,
    pub(super) database: Option<String>,
    pub(super) impersonated: bool,
    /// How long it may take, if the client says so.
    pub(super) time: Option<Duration>,
}

/// The rows to pull or discard, and from which result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Batch {
    /// `None` means all.
    pub(super) rows: Option<usize>,
    /// `None` means the last one.
    pub(super) result: Option<i64>,
}

/// Why bytes are no message, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct Unreadable(String);

impl Unreadable {
    /// Out of what went wrong with the chunks of a message.
    pub(super) fn new(error: &std::io::Error) -> Unreadable {
        Unreadable(format!("This is no Bolt message: {error}."))
    }
}

/// Reads one message.
pub(super) fn request(bytes: &[u8]) -> Result<BoltRequest, Unreadable> {
    let unreadable = |why: String| Unreadable(format!("This is no Bolt message: {why}."));
    let Pack::Structure(tag, fields) = read(bytes).map_err(|why| unreadable(why.to_string()))? else {
        return Err(unreadable("it is no structure".to_owned()));
    };
    let count = fields.len();
    message(tag, fields)
        .ok_or_else(|| unreadable(format!("tag {tag:#04x} with {count} fields is unknown or misshapen")))
}

fn message(tag: u8, fields: Vec<Pack>) -> Option<BoltRequest> {
    let mut fields = fields.into_iter();
    let mut next = || fields.next();
    let request = match tag {
        0x01 => {
            let extra = dictionary(next()?)?;
            let patches = match extra.get("patch_bolt") {
                Some(Pack::List(patches)) => patches.as_slice(),
                _ => &[],
            };
            let utc_patch = patches.iter().any(|patch| patch.text() == Some("utc"));
            BoltRequest::Hello { credentials: credentials(&extra), utc_patch }
        }
        0x6a => BoltRequest::Logon(credentials(&dictionary(next()?)?)),
        0x6b => BoltRequest::Logoff,
        0x02 => BoltRequest::Goodbye,
        0x0f => BoltRequest::Reset,
        0x10 => {
            let (Pack::String(statement), Pack::Map(parameters)) = (next()?, next()?) else { return None };
            BoltRequest::Run {
                statement,
                parameters: self::parameters(parameters),
                options: options(&dictionary(next()?)?)?,
            }
        }
        0x11 => BoltRequest::Begin(options(&dictionary(next()?)?)?),
        0x12 => BoltRequest::Commit,
        0x13 => BoltRequest::Rollback,
        0x3f => BoltRequest::Pull(batch(&dictionary(next()?)?)?),
        0x2f => BoltRequest::Discard(batch(&dictionary(next()?)?)?),
        0x66 => {
            let (_, _, extra) = (dictionary(next()?)?, next()?, next()?);
            let database = extra.get("db").and_then(Pack::text).or(extra.text());
            BoltRequest::Route { database: database.map(str::to_owned) }
        }
        0x54 => {
            next()?.int()?;
            BoltRequest::Telemetry
        }
        _ => return None,
    };
    next().is_none().then_some(request)
}

fn dictionary(pack: Pack) -> Option<Pack> {
    matches!(pack, Pack::Map(_)).then_some(pack)
}

fn credentials(extra: &Pack) -> BoltCredentials {
    let text = |key| extra.get(key).and_then(Pack::text).map(str::to_owned);
    BoltCredentials {
        scheme: text("scheme"),
        principal: text("principal"),
        password: text("credentials").map(Secret::new),
    }
}

fn parameters(entries: Vec<(String, Pack)>) -> Result<Parameters, ConversionError> {
    entries
        .into_iter()
        .map(|(name, value)| match value::unpack(value) {
            Ok(value) => Ok((name, value)),
            Err(error) => Err(ConversionError(format!("The parameter ${name} holds {error}."))),
        })
        .collect()
}

fn options(extra: &Pack) -> Option<TransactionOptions> {
    let access = match extra.get("mode").map(Pack::text) {
        None | Some(Some("w")) => AccessMode::Write,
        Some(Some("r")) => AccessMode::Read,
        Some(_) => return None,
    };
    let time = match extra.get("tx_timeout") {
        None | Some(Pack::Null) => None,
        // Zero and less mean no limit of the client's own.
        Some(milliseconds) => u64::try_from(milliseconds.int()?).ok().filter(|ms| *ms > 0).map(Duration::from_millis),
    };
    Some(TransactionOptions {
        access,
        database: extra.get("db").and_then(Pack::text).map(str::to_owned),
        impersonated: extra.get("imp_user").is_some_and(|user| *user != Pack::Null),
        time,
    })
}

fn batch(extra: &Pack) -> Option<Batch> {
    let rows = match extra.get("n")?.int()? {
        -1 => None,
        rows => Some(usize::try_from(rows).ok().filter(|rows| *rows > 0)?),
    };
    let result = match extra.get("qid") {
        None => None,
        Some(number) => Some(number.int()?).filter(|number| *number != -1),
    };
    Some(Batch { rows, result })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::packstream::{map, write};
    use super::*;

    fn read_back(tag: u8, fields: Vec<Pack>) -> Result<BoltRequest, Unreadable> {
        let mut bytes = Vec::new();
        write(&mut bytes, &Pack::Structure(tag, fields));
        request(&bytes)
    }

    #[test]
    fn a_run_has_its_parameters_and_terms() {
        let extra = map([("mode", "r".into()), ("db", "neo4j".into()), ("tx_timeout", Pack::Int(5))]);
        let run = read_back(0x10, vec!["RETURN 1".into(), map([("x", Pack::Int(1))]), extra]).unwrap();
        let BoltRequest::Run { statement, parameters, options } = run else { panic!() };
        assert_eq!((statement.as_str(), parameters), ("RETURN 1", Ok([("x".to_owned(), 1i64.into())].into())));
        assert_eq!(
            options,
            TransactionOptions {
                access: AccessMode::Read,
                database: Some("neo4j".to_owned()),
                impersonated: false,
                time: Some(Duration::from_millis(5))
            }
        );
    }

    #[test]
    fn a_parameter_that_can_not_be_one_is_named() {
        let run = read_back(0x10, vec!["".into(), map([("x", Pack::Bytes(vec![]))]), map([])]).unwrap();
        let BoltRequest::Run { parameters: Err(error), .. } = run else { panic!() };
        assert!(error.to_string().contains("$x"), "{error}");
    }

    #[test]
    fn a_batch_counts_from_one_or_is_everything() {
        let pull = |n| read_back(0x3f, vec![map([("n", Pack::Int(n)), ("qid", Pack::Int(-1))])]);
        assert_eq!(pull(-1), Ok(BoltRequest::Pull(Batch { rows: None, result: None })));
        assert_eq!(pull(5), Ok(BoltRequest::Pull(Batch { rows: Some(5), result: None })));
        assert!(pull(0).is_err() && pull(-2).is_err());
        assert!(read_back(0x3f, vec![map([])]).is_err());
    }

    #[test]
    fn what_is_misshapen_is_refused() {
        assert!(read_back(0x12, vec![Pack::Null]).is_err());
        assert!(read_back(0x10, vec!["RETURN 1".into()]).is_err());
        assert!(read_back(0x11, vec![map([("mode", "x".into())])]).is_err());
        assert!(read_back(0x99, vec![]).is_err());
        assert!(request(&[0xc0]).unwrap_err().to_string().contains("no structure"));
    }

    #[test]
    fn a_password_is_not_shown() {
        let hello = read_back(0x01, vec![map([("scheme", "basic".into()), ("credentials", "hush".into())])]).unwrap();
        assert!(!format!("{hello:?}").contains("hush"));
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_reader(tag in prop_oneof![Just(0x10u8), Just(0x01), Just(0x3f), Just(0x66), any::<u8>()], bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = request(&bytes);
            let _ = request(&[&[0xb3, tag], bytes.as_slice()].concat());
        }
    }
}
