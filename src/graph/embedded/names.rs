//! Names as the engine can read them.

use crate::cypher::is_one_of;

/// The keywords that the engine's grammar does not take for a plain name.
const RESERVED: &str = "match where return create delete detach set remove merge order by skip limit and or not as is on \
                        ascending descending asc desc starts ends with contains optional unwind true false null case \
                        when then else end exists in distinct union all xor none single any shortestpath \
                        allshortestpaths explain count sum avg min max collect length nodes";

/// Whether it is one of the keywords that are no plain name.
pub(super) fn is_reserved(name: &str) -> bool {
    is_one_of(name, RESERVED)
}

/// Whether it can stand without backticks, for the engine and for Neo4j.
pub(super) fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !is_reserved(name)
}
