//! The first bytes of a connection: both sides agree on a version of Bolt.
//!
//! The client offers four versions, each perhaps with a range of older minors below it; one of them may be the
//! announcement that it can choose from a list of ours ("manifest").
//! <https://neo4j.com/docs/bolt/current/bolt/handshake/>

/// The magic number that opens a handshake.
pub(super) const MAGIC: [u8; 4] = [0x60, 0x60, 0xb0, 0x17];

/// The offer to choose from a list, and the beginning of that list.
const MANIFEST: [u8; 4] = [0, 0, 1, 0xff];

/// A version of Bolt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BoltVersion {
    pub(super) major: u8,
    pub(super) minor: u8,
}

/// The supported versions, best first. From 5.5 on, failures and notifications look different.
const OURS: [BoltVersion; 6] = [
    BoltVersion { major: 5, minor: 4 },
    BoltVersion { major: 5, minor: 3 },
    BoltVersion { major: 5, minor: 2 },
    BoltVersion { major: 5, minor: 1 },
    BoltVersion { major: 5, minor: 0 },
    BoltVersion { major: 4, minor: 4 },
];

impl BoltVersion {
    /// Whether graph values carry element ids, and date-times count from the epoch in UTC.
    pub(super) fn is_five(self) -> bool {
        self.major == 5
    }

    /// Whether credentials come in a message of their own, after HELLO.
    pub(super) fn has_logon(self) -> bool {
        self >= BoltVersion { major: 5, minor: 1 }
    }

    pub(super) fn bytes(self) -> [u8; 4] {
        [0, 0, self.minor, self.major]
    }
}

/// The answer to a client's four offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VersionAgreement {
    /// This version.
    Speak(BoltVersion),
    /// The client shall choose from our list.
    Choose,
    /// There is no common version.
    Nothing,
}

/// Finds the best version that both sides speak.
pub(super) fn agree(offers: [u8; 16]) -> VersionAgreement {
    let (offers, _) = offers.as_chunks::<4>();
    let offered = |ours: &BoltVersion| {
        offers.iter().any(|[_, range, minor, major]| {
            *major == ours.major && (minor.saturating_sub(*range)..=*minor).contains(&ours.minor)
        })
    };
    match OURS.into_iter().find(offered) {
        Some(version) => VersionAgreement::Speak(version),
        None if offers.contains(&MANIFEST) => VersionAgreement::Choose,
        None => VersionAgreement::Nothing,
    }
}

/// Our list: how many versions, each of them, and no further abilities.
pub(super) fn manifest() -> Vec<u8> {
    let mut bytes = MANIFEST.to_vec();
    bytes.push(2);
    bytes.extend_from_slice(&[0, 4, 4, 5]);
    bytes.extend_from_slice(&[0, 0, 4, 4]);
    bytes.push(0);
    bytes
}

/// The version that a client chose from our list.
pub(super) fn chosen(bytes: [u8; 4]) -> Option<BoltVersion> {
    OURS.into_iter().find(|version| version.bytes() == bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreed(offers: [[u8; 4]; 4]) -> VersionAgreement {
        agree(offers.concat().try_into().unwrap())
    }

    const V5_4: VersionAgreement = VersionAgreement::Speak(BoltVersion { major: 5, minor: 4 });
    const V4_4: VersionAgreement = VersionAgreement::Speak(BoltVersion { major: 4, minor: 4 });

    #[test]
    fn the_drivers_of_today_are_understood() {
        let python = [[0, 0, 1, 0xff], [0, 8, 8, 5], [0, 2, 4, 4], [0, 0, 0, 3]];
        assert_eq!(agreed(python), V5_4);
        let neo4rs = [[0, 0, 4, 4], [0, 0, 3, 4], [0, 0, 1, 4], [0, 0, 0, 4]];
        assert_eq!(agreed(neo4rs), V4_4);
        let early_five = [[0, 0, 0, 5], [0, 2, 4, 4], [0, 0, 1, 4], [0; 4]];
        assert_eq!(agreed(early_five), VersionAgreement::Speak(BoltVersion { major: 5, minor: 0 }));
    }

    #[test]
    fn a_list_is_offered_only_when_nothing_else_fits() {
        assert_eq!(agreed([[0, 0, 1, 0xff], [0; 4], [0; 4], [0; 4]]), VersionAgreement::Choose);
        assert_eq!(agreed([[0, 0, 8, 5], [0, 0, 3, 4], [0, 0, 0, 3], [0; 4]]), VersionAgreement::Nothing);
        assert_eq!(agreed([[0; 4]; 4]), VersionAgreement::Nothing);
        assert_eq!(
            agreed([[0, 9, 1, 5], [0; 4], [0; 4], [0; 4]]),
            VersionAgreement::Speak(BoltVersion { major: 5, minor: 1 })
        );
    }

    #[test]
    fn only_what_is_on_our_list_can_be_chosen() {
        assert_eq!(chosen([0, 0, 3, 5]), Some(BoltVersion { major: 5, minor: 3 }));
        assert_eq!(chosen([0, 0, 8, 5]), None);
        assert_eq!(chosen([0, 1, 4, 5]), None);
    }
}
