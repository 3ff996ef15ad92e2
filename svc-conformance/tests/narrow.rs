//! Narrow servers: a vendor that offers a few operations on a few fields is judged by what it declares. What nothing that is
//! declared could show is not applicable, with the reason, and no run stays undecided for it.

#[path = "narrow/vendor.rs"]
mod vendor;

use std::error::Error;

use svc_conformance::{Intensity, Outcome, Report};
use svc_core::api::ApiBuilder;
use svc_core::helper::{PersonSignup, RecordAttendance, RecordSignature};
use svc_core::model::{Attendance, Event, Kind, Person, Petition, Signature, Tag};
use svc_core::{fields, writable};
use vendor::Narrow;

type Offer = Box<dyn FnOnce(ApiBuilder) -> ApiBuilder>;

/// Every narrow vendor, by what it offers.
async fn vendors() -> Result<Vec<(&'static str, Offer)>, Box<dyn Error>> {
    let mut all: Vec<(&'static str, Offer)> = Vec::new();
    let v = Narrow::new();
    all.push((
        "people",
        Box::new(move |api| {
            api.resource::<Person, _>(&v, |x| {
                x.list()
                    .get()
                    .create()
                    .update()
                    .delete()
                    .readable(fields!(person::{given_name, family_name, gender_identity}))
                    .writable(writable!(person::{given_name, family_name, gender_identity}))
            })
        }),
    ));
    let v = Narrow::new();
    all.push((
        "sign-up",
        Box::new(move |api| {
            api.resource::<Person, _>(&v, |x| x.writable(writable!(person::{given_name, email_addresses})))
                .helper::<PersonSignup>(&v)
        }),
    ));
    let v = Narrow::new();
    v.holds(Kind::Person, &[("given_name", "Ada")]).await?;
    all.push((
        "people read-only",
        Box::new(move |api| {
            api.resource::<Person, _>(&v, |x| x.list().get().readable(fields!(person::{given_name, family_name})))
        }),
    ));
    let v = Narrow::new();
    all.push(("tags", Box::new(move |api| api.resource::<Tag, _>(&v, |x| x.complete().find()))));
    let v = Narrow::new();
    v.holds(Kind::Event, &[("title", "Meeting")]).await?;
    all.push((
        "events read-only, attendance helper",
        Box::new(move |api| {
            api.resource::<Person, _>(&v, |x| {
                x.list()
                    .get()
                    .create()
                    .update()
                    .delete()
                    .find()
                    .readable(fields!(person::{given_name, family_name}))
                    .writable(writable!(person::{given_name, family_name}))
            })
            .resource::<Event, _>(&v, |x| x.list().get().readable(fields!(event::{title, summary})))
            .resource::<Attendance, _>(&v, |x| {
                x.under::<Event>()
                    .get()
                    .create()
                    .update()
                    .delete()
                    .find()
                    .readable(fields!(attendance::{status, comment}))
                    .writable(writable!(attendance::{status, comment}))
            })
            .compose::<RecordAttendance>()
        }),
    ));
    let v = Narrow::new();
    v.holds(Kind::Petition, &[("title", "More trees")]).await?;
    all.push((
        "petitions with helper, no create",
        Box::new(move |api| {
            api.resource::<Person, _>(&v, |x| {
                x.create()
                    .update()
                    .find()
                    .readable(fields!(person::{given_name, family_name}))
                    .writable(writable!(person::{given_name, family_name}))
            })
            .resource::<Petition, _>(&v, |x| x.list().get().readable(fields!(petition::{title, summary})))
            .resource::<Signature, _>(&v, |x| {
                x.create().find().readable(fields!(signature::{comments})).writable(writable!(signature::{comments}))
            })
            .compose::<RecordSignature>()
            .without("people.create")
            .without("people.update")
            .without("signatures.create")
        }),
    ));
    Ok(all)
}

#[tokio::test]
async fn nothing_stays_undecided_that_a_narrow_server_cannot_show() -> Result<(), Box<dyn Error>> {
    for intensity in [Intensity::Quick, Intensity::Default] {
        for (name, offer) in vendors().await? {
            let report: Report = Narrow::suite(offer)?.intensity(intensity).run().await?;
            println!(
                "## {name} {intensity:?}: exit {} pass {} na {}",
                report.exit_code(),
                report.count(Outcome::Pass),
                report.count(Outcome::NotApplicable)
            );
            for row in report.rows.iter().filter(|row| {
                matches!(row.outcome, Outcome::Inconclusive | Outcome::Fail | Outcome::Error | Outcome::Warn)
            }) {
                println!("{} {} {:?} {}", row.id, row.level, row.outcome, row.reason);
            }
        }
    }
    Ok(())
}
