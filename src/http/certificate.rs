//! Problems with a server's certificate.

use std::io;

use rustls::CertificateError;

use super::excerpt;

/// The problem with the server's certificate and a hint, completing a sentence that begins with "the server's certificate";
/// `None` where the error has another cause.
pub fn certificate_problem(error: &io::Error) -> Option<String> {
    let rustls::Error::InvalidCertificate(problem) = tls_error(error)? else { return None };
    let detail = excerpt(&problem.to_string(), &[]);
    let detail = detail.trim_matches('"');
    Some(match problem {
        CertificateError::UnknownIssuer => format!(
            "is from nobody whom this machine trusts ({detail}); SSL_CERT_FILE can name a file with the certificate of its \
             issuer"
        ),
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            format!("is another host's ({detail}); use the name or address that the certificate is for")
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            format!("has expired ({detail}); have it renewed, or set this machine's clock")
        }
        _ if detail.contains("CaUsedAsEndEntity") => "is one of an issuer, made to sign others, and no server's \
             (CaUsedAsEndEntity), as `openssl req -x509` makes them; make one with -addext basicConstraints=critical,CA:FALSE, \
             or have one signed by it, and name it in SSL_CERT_FILE"
            .to_owned(),
        _ => format!("can't be used ({detail}); have the server show a good one"),
    })
}

/// The TLS error that an I/O error is wrapped around, at any depth.
fn tls_error(error: &io::Error) -> Option<&rustls::Error> {
    let inner = error.get_ref()?;
    inner.downcast_ref::<rustls::Error>().or_else(|| tls_error(inner.downcast_ref::<io::Error>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_doubt_has_words_that_help_at_any_depth() {
        #[derive(Debug)]
        struct CaUsedAsEndEntity;
        impl std::fmt::Display for CaUsedAsEndEntity {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("CaUsedAsEndEntity")
            }
        }
        impl std::error::Error for CaUsedAsEndEntity {}
        let of_an_issuer = CertificateError::Other(rustls::OtherError(std::sync::Arc::new(CaUsedAsEndEntity)));
        for (doubt, part) in [
            (of_an_issuer, "basicConstraints=critical,CA:FALSE"),
            (CertificateError::UnknownIssuer, "SSL_CERT_FILE"),
            (CertificateError::NotValidForName, "another host's"),
            (CertificateError::Expired, "has expired"),
            (CertificateError::Revoked, "can't be used (Revoked)"),
        ] {
            let error = io::Error::other(io::Error::other(rustls::Error::InvalidCertificate(doubt)));
            assert!(certificate_problem(&error).unwrap().contains(part), "{part}");
        }
        for error in
            [io::Error::other("else"), io::Error::other(rustls::Error::DecryptError), io::ErrorKind::Other.into()]
        {
            assert_eq!(certificate_problem(&error), None);
        }
    }
}
