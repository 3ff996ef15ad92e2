//! The thinnest whole path: people, petitions, signatures, and the helper that records all of them at once.

use crate::server::Server;
use serde_json::json;

/// HLP-11, CRU-22, RES-petition-10: one call makes person and signature, and everything counts them.
#[tokio::test]
async fn a_signature_by_helper() {
    let server = Server::start().await;
    let petition = server.make("petitions", json!({"title": "Save the park"})).await;
    let helper = server.get(&petition).await.link("svc:record_signature_helper");
    let person = json!({"given_name": "Ada", "email_addresses": [{"address": "Ada@example.org"}]});
    let signed = server.post(&helper, json!({"comments": "Yes", "person": person})).await;
    assert_eq!(signed.status, 200, "HLP-06: {}", signed.json);
    assert_eq!(signed.json["comments"], "Yes", "HLP-11");
    assert_eq!(signed.link("svc:petition"), petition, "RES-signature-07");
    let person = server.get(&signed.link("svc:person")).await;
    assert_eq!(person.json["given_name"], "Ada", "HLP-03");
    assert_eq!(person.json["created_date"], person.json["modified_date"], "clients.md 3");
    assert_eq!(server.get(&petition).await.json["total_signatures"], 1, "RES-petition-10");
    assert_eq!(server.total(&person.link("svc:signatures")).await, 1, "COL-14");
    assert_eq!(server.get(&signed.self_link()).await.json, signed.json, "CRU-22");

    let again = json!({"person": {"family_name": "L", "email_addresses": [{"address": "ada@EXAMPLE.org"}]}});
    let second = server.post(&helper, again).await;
    assert_eq!(second.link("svc:person"), person.self_link(), "HLP-04");
    let person = server.get(&person.self_link()).await;
    assert_eq!((&person.json["given_name"], &person.json["family_name"]), (&json!("Ada"), &json!("L")), "HLP-04");
    assert_ne!(person.json["created_date"], person.json["modified_date"], "clients.md 3");
    assert_eq!(server.total("people").await, 1, "HLP-04");
    assert_eq!(server.get(&petition).await.json["total_signatures"], 2, "RES-petition-10");

    assert_eq!(server.delete(&petition).await.codes(), ["HAS_DEPENDENTS"], "UND-26");
    assert_eq!(server.delete(&second.self_link()).await.status, 204, "CRU-05");
    assert_eq!(server.get(&petition).await.json["total_signatures"], 1, "RES-petition-10");
    let put = server.put(&signed.self_link(), json!({"comments": null, "origin_system": "x"})).await;
    assert_eq!((put.status, &put.json["origin_system"]), (200, &json!("x")), "CRU-04");
    assert!(put.json.get("comments").is_none(), "CRU-17");
    assert!(put.json["modified_date"].as_str() > signed.json["modified_date"].as_str(), "CRU-19");
}
