//! The operator's document: what is accepted, and that every fault is named where it stands.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use edge_core::wire::{EventConfig, Proof};
use serde_json::{Value, json};

fn contract_example() -> Value {
    json!({
        "title": "A concert", "registration_opens_at": "2027-06-01T08:00:00Z", "onsale_at": "2027-06-05T08:00:00Z",
        "closes_at": "2027-06-06T08:00:00Z", "lanes": 16,
        "admission": {"total_active_users": 2200, "new_users_per_minute": 4000, "session_seconds": 900,
                      "session_max_seconds": 3600, "no_show_compensation": true},
        "protect": [{"path": "/v1/events/evt_1/holds*", "methods": ["POST", "DELETE"], "proof": "dpop"}],
        "bypass": [], "origin": null, "pow": {"puzzles": 32, "difficulty": 8192}, "accounts": null, "beacon": null,
        "message": {"en": "Hello"}
    })
}

fn parse(value: &Value) -> Result<EventConfig, Vec<String>> {
    EventConfig::parse("evt_1", value.to_string().as_bytes())
        .map_err(|faults| faults.into_iter().map(|fault| fault.pointer).collect())
}

#[test]
fn the_contracts_example_is_accepted_and_returns_as_it_came() {
    let config = parse(&contract_example()).unwrap();
    let back = serde_json::to_value(&config).unwrap();
    assert_eq!(parse(&back).unwrap(), config, "what we show can be put back");
    assert_eq!(back["admission"], contract_example()["admission"]);
    assert_eq!(back["protect"], contract_example()["protect"]);
    assert_eq!(back["onsale_at"], "2027-06-05T08:00:00.000Z");
}

#[test]
fn what_is_left_out_has_its_default() {
    let config = parse(&json!({
        "title": "A", "registration_opens_at": "2027-06-01T08:00:00Z", "onsale_at": "2027-06-05T08:00:00Z",
        "closes_at": "2027-06-06T08:00:00Z",
        "admission": {"total_active_users": 1, "new_users_per_minute": 1},
        "protect": [{"path": "/v1/events/evt_1/x"}], "bypass": ["/assets/*"]
    }))
    .unwrap();
    assert_eq!((config.lanes, config.pow.puzzles, config.pow.difficulty), (16, 32, 8192));
    assert_eq!((config.admission.session_seconds, config.admission.session_max_seconds), (900, 3600));
    assert!(config.admission.no_show_compensation);
    assert_eq!(config.protect[0].proof, Proof::Dpop);
    assert_eq!(config.bypass[0].path, "/assets/*");
}

#[test]
fn every_fault_is_named_at_once() {
    let mut value = contract_example();
    value["title"] = json!(7);
    value["onsale_at"] = json!("tomorrow");
    value["lanes"] = json!(0);
    value["admission"]["total_active_users"] = json!(-1);
    value["admission"]["session_seconds"] = json!(4000);
    value["protect"][0]["path"] = json!("holds");
    value["protect"][0]["proof"] = json!("maybe");
    value["protect"][0]["methods"] = json!(["post"]);
    value["origin"] = json!("https://user@host/path");
    value["pow"]["puzzles"] = json!(65);
    value["beacon"] = json!({});
    value["message"] = json!({"en": 1});
    value["surprise"] = json!(true);
    let mut faults = parse(&value).unwrap_err();
    faults.sort();
    assert_eq!(
        faults,
        [
            "/admission/session_max_seconds",
            "/admission/total_active_users",
            "/beacon",
            "/lanes",
            "/message/en",
            "/onsale_at",
            "/origin",
            "/pow/puzzles",
            "/protect/0/methods/0",
            "/protect/0/path",
            "/protect/0/proof",
            "/surprise",
            "/title",
        ]
    );
}

#[test]
fn a_rule_that_protects_nothing_is_a_fault() {
    let refused = [
        "/holds*",
        "/v1/events/evt_2/holds*",
        "/v1/events/evt_12/*",
        "/v1/events/evt_",
        "/v1/events/evt_12",
        "/admin/*",
        "/v1/holds",
        "/V1/events/evt_1/holds",
        "/v1/events/evt_1/room",
        "/v1/events/evt_1/queue/me",
        "/v1/events/evt_1/batches/*",
    ];
    let accepted = [
        "/v1/events/evt_1",
        "/v1/events/evt_1/holds",
        "/v1/events/evt_1*",
        "/v1/events/evt_1/seatmap",
        "/v1/events/evt_1/layout",
        "/v1/events/*/holds",
        "/v1/*",
        "/*",
        "/v1/events/evt_*/holds*",
    ];
    let mut value = contract_example();
    for (paths, fault) in [(&refused[..], true), (&accepted[..], false)] {
        for path in paths {
            value["protect"] = json!([{"path": "/v1/events/evt_1/ok"}, {"path": path}]);
            let faults = parse(&value).err().unwrap_or_default();
            let expected: &[&str] = if fault { &["/protect/1/path"] } else { &[] };
            assert_eq!(faults, expected, "{path}");
        }
    }
}

#[test]
fn times_stand_in_order() {
    let mut value = contract_example();
    value["registration_opens_at"] = json!("2027-06-05T08:00:01Z");
    value["closes_at"] = json!("2027-06-05T08:00:00Z");
    assert_eq!(parse(&value).unwrap_err(), ["/onsale_at", "/closes_at"]);
}

#[test]
fn what_is_missing_is_said() {
    let faults = parse(&json!({})).unwrap_err();
    assert_eq!(faults, ["/title", "/registration_opens_at", "/onsale_at", "/closes_at", "/admission"]);
    for not_json in ["", "[", "null", "[]", "7"] {
        assert!(EventConfig::parse("evt_1", not_json.as_bytes()).is_err(), "{not_json}");
    }
}
