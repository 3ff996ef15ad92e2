//! Builds a suite from the command line.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use super::cli::{AccessOptions, RunArgs};
use super::{ProgramError, config};
use crate::connect::Tls;
use crate::declared;
use crate::keys::Keys;
use crate::selection::Waiver;
use crate::suite::Suite;
use crate::target::{Remote, Target};

/// The maximum size of a file to read, in bytes.
const MOST: u64 = 16 * 1024 * 1024;

/// Reads a text file, or standard input for `-`, up to a maximum size.
pub(super) fn text(path: &Path) -> Result<String, ProgramError> {
    let broken = |error: std::io::Error| {
        ProgramError::usage(format!("{} cannot be read: {error}", path.display()))
    };
    let mut text = String::new();
    if path.as_os_str() == "-" {
        std::io::stdin()
            .take(MOST)
            .read_to_string(&mut text)
            .map_err(broken)?;
    } else {
        std::fs::File::open(path)
            .map_err(broken)?
            .take(MOST)
            .read_to_string(&mut text)
            .map_err(broken)?;
    }
    Ok(text)
}

/// Returns the target for a URL.
pub(super) fn target(url: &str, access: &AccessOptions) -> Result<Arc<dyn Target>, ProgramError> {
    let target = Remote::with_tls(url, tls(access)?);
    Ok(Arc::new(
        target.map_err(|error| ProgramError::usage(error.to_string()))?,
    ))
}

/// Returns the target that a file names. The file can come from anyone, so the keys are sent to
/// that target only if it is on this machine.
pub(super) fn target_of(
    base: &str,
    named: Option<&str>,
    access: &AccessOptions,
) -> Result<Arc<dyn Target>, ProgramError> {
    let target = target(named.unwrap_or(base), access)?;
    if named.is_none() && !target.is_local() {
        let text = format!(
            "The file belongs to a run against {base}, which is not on this machine. Keys are sent there only"
        );
        return Err(ProgramError::usage(
            text + " if --url also names it. If you mean that server, add --url with its URL.",
        ));
    }
    Ok(target)
}

/// Reads the certificates that the command line names.
fn tls(options: &AccessOptions) -> Result<Tls, ProgramError> {
    let mut tls = Tls::system();
    for path in &options.ca {
        let broken = |error| ProgramError::usage(format!("--ca {}: {error}", path.display()));
        tls = tls.authorities(text(path)?.as_bytes()).map_err(broken)?;
    }
    if let (Some(certificate), Some(key)) = (&options.client_cert, &options.client_key) {
        let names = format!(
            "--client-cert {} --client-key {}",
            certificate.display(),
            key.display()
        );
        let broken = |error| ProgramError::usage(format!("{names}: {error}"));
        tls = tls
            .client(text(certificate)?.as_bytes(), text(key)?.as_bytes())
            .map_err(broken)?;
    }
    Ok(tls)
}

/// Returns the keys of the command line.
pub(super) fn keys(options: &AccessOptions) -> Result<Keys, ProgramError> {
    let mut keys = options.key.as_ref().map_or_else(Keys::none, Keys::primary);
    if let Some(other) = &options.other_tenant_key {
        keys = keys.other_tenant(other);
    }
    if let Some(restricted) = &options.restricted_key {
        // A key can contain an equals sign; the name of an operation cannot.
        let (key, lacks) = restricted
            .rsplit_once('=')
            .filter(|(key, lacks)| !key.is_empty() && lacks.contains('.'))
            .ok_or_else(|| {
                ProgramError::usage(
                    "--restricted-key must have the form KEY=RIGHT, such as KEY=people.create",
                )
            })?;
        keys = keys.restricted(key, lacks);
    }
    if options.key.is_none()
        && (options.other_tenant_key.is_some() || options.restricted_key.is_some())
    {
        return Err(ProgramError::usage(
            "--other-tenant-key and --restricted-key require --key",
        ));
    }
    Ok(keys)
}

/// Returns the suite that the command line describes.
pub(super) fn suite(options: &RunArgs) -> Result<Suite, ProgramError> {
    let url = config::entry_point(options.url.as_deref())?;
    let mut suite = Suite::from_shared(target(url, &options.access)?)
        .keys(keys(&options.access)?)
        .profile(options.profile)
        .intensity(options.intensity)
        .seed(options.seed)
        .only(&options.only)
        .exclude(&options.exclude)
        .allow_side_effects(options.allow_side_effects)
        .timeout(options.timeout)
        .check_timeout(options.check_timeout)
        .fail_fast(options.fail_fast)
        .snapshots(options.snapshots.is_some())
        .clean_up(!options.no_clean_up);
    if let Some(nonce) = &options.nonce {
        suite = suite.nonce(nonce);
    }
    for (name, address) in &options.fixture {
        suite = suite.fixture(name, address);
    }
    if let Some(listen) = &options.webhook_receiver {
        suite = suite
            .webhook_receiver(listen)
            .webhook_timeout(options.webhook_timeout);
    }
    if let Some(url) = &options.webhook_receiver_url {
        suite = suite.webhook_receiver_url(url);
    }
    if options.allow_writes {
        suite = suite.allow_writes(true);
    }
    if let Some(path) = &options.declaration {
        let text = text(path)?;
        let declaration = declared::parse_declaration(&text)
            .map_err(|error| ProgramError::usage(format!("{}: {error}", path.display())))?;
        suite = suite.declaration_from(declaration, declared::source(&text));
    }
    if let Some(path) = &options.waivers {
        suite = suite.waivers(Waiver::parse_all(&text(path)?)?);
    }
    if let Some(path) = &options.pins {
        suite = suite.pins(path);
    }
    if options.update_pins {
        suite = suite.update_pins();
    }
    suite.settings.rate = options.rate;
    if let Some(most) = options.max_records {
        suite = suite.max_records(most);
    }
    if let Some(prefix) = &options.prefix {
        suite = suite.prefix(prefix);
    }
    if let Some(name) = &options.key_header {
        suite = suite.key_header(name);
    }
    Ok(suite)
}
