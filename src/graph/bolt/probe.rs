//! Everything that reads the bytes of any client, in one call for fuzzers.

use std::time::Duration;

use super::frame::{self, FrameLimits};
use super::packstream::{Pack, read, write};
use super::request::request;
use super::temporal;
use super::value::unpack;
use super::version::agree;

/// Reads any bytes as everything that a client can send: as offers of versions, as chunks with messages in them, and as
/// one message. It panics only when the reader has a bug: when it panics itself, or when what it read comes out
/// differently after it was written.
pub fn fuzz_bolt_reader(bytes: &[u8]) {
    if let Some(offers) = bytes.first_chunk::<16>() {
        let _ = agree(*offers);
    }
    message(bytes);
    let bounds = FrameLimits { size: 1 << 20, time: Duration::from_secs(3600) };
    let mut stream = bytes;
    if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_time().build() {
        while let Ok(Some(chunked)) = runtime.block_on(frame::read(&mut stream, || bounds)) {
            message(&chunked);
        }
    }
}

fn message(bytes: &[u8]) {
    let _ = request(bytes);
    let Ok(pack) = read(bytes) else { return };
    let mut again = Vec::new();
    write(&mut again, &pack);
    let mut once_more = Vec::new();
    if let Ok(second) = read(&again) {
        write(&mut once_more, &second);
    }
    // Bytes and not values are compared: NaN is not equal to itself.
    assert_eq!(again, once_more, "a value changed on its way out and in");
    temporals(&pack);
    let _ = unpack(pack);
}

fn temporals(pack: &Pack) {
    match pack {
        Pack::Structure(tag, fields) => {
            if let Some(value) = temporal::unpack(*tag, fields) {
                // Zones have names of their own, and wall clocks another tag.
                let same =
                    |pack: &Pack| matches!(pack, Pack::Structure(other, _) if other == tag && !b"iFf".contains(tag));
                match temporal::pack(&value, true) {
                    Some(again) if same(&again) && *tag != b'E' => assert_eq!(again, *pack, "{value}"),
                    Some(_) => {}
                    None => panic!("{value} can't be packed"),
                }
            }
            fields.iter().for_each(temporals);
        }
        Pack::List(items) => items.iter().for_each(temporals),
        Pack::Map(entries) => entries.iter().for_each(|(_, value)| temporals(value)),
        _ => {}
    }
}
