//! Folders and files that only the user can read: they hold whole conversations.

use std::fs::{DirBuilder, OpenOptions};

/// How a file is opened that, where it is new, is the user's alone.
pub(in crate::store) fn options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no modes to set"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// How a folder is made that is the user's alone.
pub(in crate::store) fn folder() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no modes to set"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}
