//! The file of certificates that the environment names.

use std::path::Path;

use super::context::Context;
use super::printer::Printer;
use crate::report::plain;

/// Tells what is wrong with `SSL_CERT_FILE`: TLS passes over it in silence, and then trusts nobody.
pub(super) fn warn(context: &Context, printer: &Printer) {
    let Some(file) = context.credentials.variables.text("SSL_CERT_FILE") else { return };
    if let Some(problem) = problem(Path::new(file)) {
        printer.note(&format!(
            "warning: SSL_CERT_FILE: {} {problem}: no server's certificate will be trusted",
            plain(file)
        ));
    }
}

fn problem(file: &Path) -> Option<String> {
    match std::fs::read(file) {
        Err(error) => Some(format!("can't be read ({error})")),
        Ok(text) if !String::from_utf8_lossy(&text).contains("-----BEGIN CERTIFICATE-----") => {
            Some("holds no certificate (-----BEGIN CERTIFICATE-----)".to_owned())
        }
        Ok(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_brings_no_certificate_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("c.pem");
        assert!(problem(&file).unwrap().starts_with("can't be read ("));
        std::fs::write(&file, "-----BEGIN PRIVATE KEY-----").unwrap();
        assert!(problem(&file).unwrap().starts_with("holds no certificate"));
        std::fs::write(&file, "-----BEGIN CERTIFICATE-----\n").unwrap();
        assert_eq!(problem(&file), None);
    }
}
