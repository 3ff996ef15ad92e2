//! Who asks: the key of a request, checked before anything of its body is read (AUT-01 to AUT-08, UND-39).

use http::request::Parts;
use svc_core::{
    Result, Tenant,
    api::{Api, Verdict},
    auth::{Caller, Credentials, Right},
    link::{Address, Target},
    value::Timestamp,
};

/// Who a request comes from.
#[derive(Debug)]
pub(crate) enum Identity {
    /// Somebody the authenticator knows.
    Known(Tenant, Caller),
    /// Somebody without a key.
    Nobody,
    /// The bearer of a key that is not valid.
    Invalid,
}

/// What comes of a request after its key was checked.
#[derive(Debug)]
pub(crate) enum Admission {
    /// It may be answered.
    Admitted {
        /// For this tenant.
        tenant: Tenant,
        /// And this caller.
        caller: Caller,
        /// With its body, or without reading it.
        takes_body: bool,
    },
    /// 401: the key is missing or not valid (AUT-03, AUT-07).
    KeyInvalid,
    /// 403: the key may not do this (AUT-04).
    KeyNotAllowed,
    /// 404 once its body is read: nobody has the container of this call without a key (HLP-09).
    NoContainer,
    /// The operation is not supported, if what it addresses exists (UND-39).
    NotImplemented(Tenant, Caller),
}

/// Reads the key and asks the authenticator. More than one key was refused before.
pub(crate) async fn identify(api: &Api, parts: &Parts, now: Timestamp) -> Result<Identity> {
    let header = parts.headers.get(api.dialect().key_header());
    let key = match header.map(|value| std::str::from_utf8(value.as_bytes())) {
        None => None,
        Some(Ok(key)) if !key.is_empty() => Some(key),
        Some(_) => return Ok(Identity::Invalid),
    };
    let Some(authenticator) = api.authenticator() else {
        return Ok(if key.is_some() { Identity::Invalid } else { Identity::Nobody });
    };
    let credentials = Credentials { key, headers: &parts.headers, extensions: &parts.extensions, now };
    let known = match key {
        Some(_) => authenticator.authenticate(credentials).await?,
        None => authenticator.without_key(credentials).await?,
    };
    Ok(match known {
        Some((tenant, caller)) => Identity::Known(tenant, caller),
        None if key.is_some() => Identity::Invalid,
        None => Identity::Nobody,
    })
}

/// Whether the operation that `verdict` is about may be done, and for whom.
pub(crate) async fn admit(api: &Api, identity: Identity, verdict: Verdict, target: &Target) -> Result<Admission> {
    let known = match identity {
        Identity::Invalid => return Ok(Admission::KeyInvalid),
        Identity::Known(tenant, caller) => Some((tenant, caller)),
        Identity::Nobody => None,
    };
    match verdict {
        Verdict::Public => {
            let (tenant, caller) = known.unwrap_or_else(|| (Tenant::new(""), Caller::anonymous()));
            Ok(Admission::Admitted { tenant, caller, takes_body: false })
        }
        Verdict::NotImplemented => Ok(match known {
            Some((tenant, caller)) if !caller.is_anonymous() => Admission::NotImplemented(tenant, caller),
            _ => Admission::KeyInvalid,
        }),
        Verdict::Needs { right, anonymous, takes_body } => match known {
            Some((tenant, caller)) if !caller.is_anonymous() => Ok(with_key(tenant, caller, right, takes_body)),
            _ if !anonymous => Ok(Admission::KeyInvalid),
            Some((tenant, caller)) => Ok(Admission::Admitted { tenant, caller, takes_body }),
            None => without_key(api, target, takes_body).await,
        },
    }
}

fn with_key(tenant: Tenant, caller: Caller, right: Right, takes_body: bool) -> Admission {
    if caller.may(right) { Admission::Admitted { tenant, caller, takes_body } } else { Admission::KeyNotAllowed }
}

/// A call without a key works on the tenant of the container that it addresses (HLP-07).
async fn without_key(api: &Api, target: &Target, takes_body: bool) -> Result<Admission> {
    let (Some(tenants), Some(container)) = (api.anonymous_tenant(), container(target)) else {
        return Ok(Admission::KeyInvalid);
    };
    Ok(match tenants.tenant_of(container).await? {
        Some(tenant) => Admission::Admitted { tenant, caller: Caller::anonymous(), takes_body },
        None => Admission::NoContainer,
    })
}

fn container(target: &Target) -> Option<&Address> {
    match target {
        Target::Helper { container, .. } => container.as_ref(),
        _ => None,
    }
}
