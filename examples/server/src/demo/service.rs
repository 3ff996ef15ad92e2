//! The service over the store, with the options of the command line.

use std::time::Duration;

use svc_core::api::{
    Api, Atomicity, EntryLinks, ErrorBodies, IfMatchPolicy, PatchMethod, ResponseStyle, Vendor,
};
use svc_core::link::Dialect;
use svc_core::model::Kind;
use svc_core::webhooks::ReceiverPolicy;
use svc_tower::SvcService;

use super::cli;
use super::database::DemoStore;
use super::delivery::LogOnlyDelivery;
use super::import_page;
use super::scratch::Scratch;
use super::settings::{CorsSetting, ServerSettings};
use super::startup_error::StartupError;

/// The namespace of the identifiers of the server if `--namespace` is not set.
const NAMESPACE: &str = "svc_demo";
/// Longer than a request without a key takes if a sync of the disk is fast.
const EVEN: Duration = Duration::from_millis(10);

/// Returns the dialect of the settings, with the share names of the data.
///
/// # Errors
///
/// Returns an error if a prefix is invalid.
pub fn dialect(store: &DemoStore, settings: &ServerSettings) -> Result<Dialect, StartupError> {
    let wrong = |option: &str, prefix: &str| {
        StartupError::new(
            format!(
                "`{option}` must have 1 to 32 lower-case letters and digits and start with a letter."
            ),
            format!("{option} {prefix}"),
            "Change the value, or omit the option.",
        )
    };
    let mut dialect = Dialect::default();
    if let Some(prefix) = &settings.prefix {
        dialect = Dialect::with_prefix(prefix).ok_or_else(|| wrong("--prefix", prefix))?;
    }
    if let Some(prefix) = &settings.extension_prefix {
        dialect = dialect
            .with_extension_prefix(prefix)
            .ok_or_else(|| wrong("--extension-prefix", prefix))?;
    }
    Ok(dialect.with_share_names(store.share_names().clone()))
}

/// Returns the capabilities that depend on those that are disabled: collections below records that
/// cannot be read, and creating records there.
pub(super) fn also_withheld(settings: &ServerSettings) -> Vec<String> {
    let unread = settings
        .without
        .iter()
        .filter_map(|capability| capability.strip_suffix(".read"));
    let hanging = unread.filter_map(Kind::from_plural).flat_map(|parent| {
        let below = Kind::ALL
            .iter()
            .filter(move |kind| kind.schema().scope_kinds().any(|scope| scope == parent));
        let listed = below.map(move |kind| format!("{}.sub.{}", parent.plural(), kind.plural()));
        // Only its helper creates a canvass.
        let inside = Kind::ALL.iter().filter(move |kind| {
            kind.schema().parent_kind() == Some(parent) && **kind != Kind::Canvass
        });
        listed.chain(inside.map(|kind| format!("{}.create", kind.plural())))
    });
    hanging
        .filter(|capability| !settings.without.contains(capability))
        .collect()
}

/// Returns the service, mounted at the path of `base_url`.
///
/// # Errors
///
/// Returns an error if the options contradict each other or contain an unknown capability.
pub fn service(
    store: &DemoStore,
    settings: &ServerSettings,
    base_url: &str,
    deliver: LogOnlyDelivery,
) -> Result<SvcService, StartupError> {
    let namespace = settings.namespace.as_deref().unwrap_or(NAMESPACE);
    let vendor = Vendor::new("Example", "svc-demo")
        .namespace(namespace)
        .message_of_the_day("Welcome to the demo. Start here and follow the links.");
    let mut api = store
        .register(Api::builder(vendor), settings.anonymous_helpers)
        .delivery(deliver)
        .base_url(base_url)
        .dialect(dialect(store, settings)?)
        .response_style(match settings.style {
            cli::ResponseStyleArg::Table => ResponseStyle::Table,
            cli::ResponseStyleArg::Examples => ResponseStyle::Examples,
        })
        .entry_links(match settings.entry_links {
            cli::EntryLinksArg::All => EntryLinks::All,
            cli::EntryLinksArg::Listed => EntryLinks::Listed,
        })
        .error_bodies(if settings.error_bodies {
            ErrorBodies::Everywhere
        } else {
            ErrorBodies::AsSpecified
        })
        .conditional_requests(if settings.require_if_match {
            IfMatchPolicy::Required
        } else {
            IfMatchPolicy::Optional
        })
        .batches()
        .atomicity(if settings.atomic_helpers {
            Atomicity::WholeCall
        } else {
            Atomicity::PerResource
        })
        .webhook_receiver_policy(
            ReceiverPolicy::PUBLIC
                .allow_http(settings.private_webhooks)
                .allow_private_networks(settings.private_webhooks),
        )
        .patch_method(if settings.patch_is_put {
            PatchMethod::AsPut
        } else {
            PatchMethod::Unsupported
        });
    for capability in settings.without.iter().chain(&also_withheld(settings)) {
        api = api.without_capability(capability);
    }
    if settings.helpers_only {
        api = api.helpers_only();
    } else {
        api = api.merge_people();
    }
    let api = api.build().map_err(|error| {
        StartupError::new(
            format!(
                "The API cannot be served with these options: {}.",
                error.problems().join("; ").replace(".without_capability(...)", "--without-capability")
            ),
            given(settings),
            "Change these options. `svc-demo export capabilities` lists the capabilities of a server without them.",
        )
    })?;
    let path = api
        .base_url()
        .as_str()
        .splitn(4, '/')
        .nth(3)
        .unwrap_or_default()
        .to_owned();
    let mut docs = svc_docs::Docs::new();
    if import_page::is_offered(&api) {
        docs = docs.link("Import", import_page::PATH);
    }
    let service = SvcService::new(api)
        .with_docs(docs)
        .mounted_at(&path)
        .require_host_header(true)
        .trusted_proxies(settings.trusted_proxies.iter().copied())
        .response_time_quantum(EVEN, exactly);
    Ok(match &settings.cors {
        CorsSetting::Off => service,
        CorsSetting::Any => service.cors(svc_tower::Cors::any()),
        CorsSetting::Origins(origins) => service.cors(svc_tower::Cors::origins(origins)),
    })
}

/// Returns the options that can contradict each other, as they were given.
fn given(settings: &ServerSettings) -> String {
    let mut options: Vec<String> = settings
        .without
        .iter()
        .map(|it| format!("--without-capability {}", it.escape_debug()))
        .collect();
    options.extend(settings.helpers_only.then(|| "--helpers-only".to_owned()));
    options.extend(
        settings
            .atomic_helpers
            .then(|| "--atomic-helpers".to_owned()),
    );
    options.join(" ")
}

/// Waits with an accuracy of microseconds. `tokio::time::sleep` waits whole milliseconds from now,
/// which would reveal when the work ended.
async fn exactly(time: Duration) {
    // It fails only if the runtime ends.
    _ = tokio::task::spawn_blocking(move || std::thread::sleep(time)).await;
}

/// Checks that a service with these options is possible, before data is created or deleted for it.
///
/// # Errors
///
/// Returns the errors of [`service`], and an error if the folder for temporary files is not
/// writable.
pub(super) async fn check(settings: &ServerSettings) -> Result<(), StartupError> {
    let has_own_prefix = settings.prefix.is_some() || settings.extension_prefix.is_some();
    if settings.without.is_empty()
        && !settings.helpers_only
        && !settings.atomic_helpers
        && !has_own_prefix
    {
        return Ok(());
    }
    let scratch = Scratch::make()?;
    service(
        &scratch.open(settings).await?,
        settings,
        "http://localhost/",
        LogOnlyDelivery::default(),
    )
    .map(drop)
}

#[cfg(test)]
mod tests {
    use super::{also_withheld, service};
    use crate::demo::cli::Cli;
    use crate::demo::delivery::LogOnlyDelivery;
    use crate::demo::settings::ServerSettings;
    use clap::Parser;
    use svc_core::model::Kind;
    use svc_sqlite::{SqliteOptions, SqliteStore};

    use crate::demo::database::DemoStore;

    fn settings(arguments: &[&str]) -> ServerSettings {
        let arguments = ["svc-demo"].iter().chain(arguments);
        ServerSettings::check(&Cli::try_parse_from(arguments).expect("parses").options)
            .expect("is good")
    }

    #[test]
    fn what_hangs_on_a_kind_that_cannot_be_read_is_withheld_with_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = DemoStore::File(
            SqliteStore::open(SqliteOptions::new(folder.path().join("a.db"))).expect("it opens"),
        );
        for kind in Kind::ALL {
            let settings = settings(&["--without-capability", &format!("{}.read", kind.plural())]);
            assert!(
                service(
                    &store,
                    &settings,
                    "http://localhost/",
                    LogOnlyDelivery::default()
                )
                .is_ok(),
                "{kind:?}"
            );
        }
        let both = settings(&["--without-capability", "petitions.read,signatures.create"]);
        assert_eq!(also_withheld(&both), ["petitions.sub.signatures"]);
        assert!(
            service(
                &store,
                &both,
                "http://localhost/",
                LogOnlyDelivery::default()
            )
            .is_ok()
        );
    }

    #[test]
    fn a_capability_that_is_none_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = DemoStore::File(
            SqliteStore::open(SqliteOptions::new(folder.path().join("a.db"))).expect("it opens"),
        );
        let trouble = service(
            &store,
            &settings(&["--without-capability", "people.fly"]),
            "http://localhost/",
            LogOnlyDelivery::default(),
        )
        .expect_err("none");
        assert!(trouble.what().contains("people.fly"), "{trouble}");
    }
}
