use std::collections::BTreeSet;

use svc_core::{
    Vendor, api::Api, auth::FixedKeys, helper::HelperName, model::Kind, schema::LinkTarget,
};
use svc_store::memory::MemoryStore;

use super::{
    file, is_helped,
    layout::{DiagramLayout, DiagramPath, DiagramSegment, Rect, WIDTH},
};
use crate::documents::graph::{Graph, GraphEdge, in_words};

/// Returns an API with everything but these relations.
fn api(without: &[&str]) -> Api {
    let builder =
        MemoryStore::new().register_all(Api::builder(Vendor::new("Acme", "CRM").namespace("acme")));
    let builder = builder
        .base_url("https://crm.acme.example/")
        .authenticator(FixedKeys::new());
    let builder = without
        .iter()
        .fold(builder, |builder, name| builder.without_capability(name));
    builder.build().unwrap()
}

fn svg(api: &Api) -> String {
    file(api, &|target| api.url(api.base_url(), target))
}

/// Returns the start tags of elements with a name in the picture.
fn tags<'p>(picture: &'p str, name: &str) -> Vec<&'p str> {
    let begin = format!("<{name} ");
    picture
        .split(begin.as_str())
        .skip(1)
        .map(|rest| rest.split_once('>').unwrap().0)
        .collect()
}

fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let begin = format!("{name}=\"");
    Some(tag.split_once(begin.as_str())?.1.split_once('"')?.0)
}

/// Returns everything that has a label, with the maximum width of the label. The maximum width of
/// letters in system fonts is in hundredths of the units of the picture.
fn labelled(graph: &Graph, layout: &DiagramLayout) -> Vec<(String, Rect, usize)> {
    let kinds = graph.kinds.iter().map(|node| {
        let letter = if node.kind == Kind::Person {
            18 * 66
        } else {
            14 * 66
        };
        (
            in_words(node.kind.singular()),
            layout.area(node.kind),
            letter,
        )
    });
    let helpers = graph.helpers.iter().map(|node| {
        (
            in_words(node.helper.as_str()),
            layout.helper_area(node.helper),
            12 * 60,
        )
    });
    kinds.chain(helpers).collect()
}

fn touches(one: Rect, other: Rect) -> bool {
    (one.x - other.x).abs() < one.half_width + other.half_width
        && (one.y - other.y).abs() < one.half_height + other.half_height
}

/// Returns points along a path.
fn points(way: &DiagramPath) -> Vec<(f64, f64)> {
    let point = |(x, y): (i32, i32)| (f64::from(x), f64::from(y));
    let mut from = point(way.start);
    let mut points = vec![from];
    for step in &way.steps {
        let (a, b, to) = match step {
            DiagramSegment::Straight(to) => (from, point(*to), point(*to)),
            DiagramSegment::Curve(a, b, to) => (point(*a), point(*b), point(*to)),
        };
        for part in 1..=50 {
            let t = f64::from(part) / 50.0;
            let mix = |p: f64, a: f64, b: f64, q: f64| {
                let s = 1.0 - t;
                s * s * s * p + 3.0 * s * s * t * a + 3.0 * s * t * t * b + t * t * t * q
            };
            points.push((mix(from.0, a.0, b.0, to.0), mix(from.1, a.1, b.1, to.1)));
        }
        from = to;
    }
    points
}

/// Returns whether a path passes through an area, without its border.
fn passes(way: &DiagramPath, area: Rect) -> bool {
    points(way).into_iter().any(|(x, y)| {
        (x - f64::from(area.x)).abs() < f64::from(area.half_width) - 1.0
            && (y - f64::from(area.y)).abs() < f64::from(area.half_height) - 1.0
    })
}

/// Returns how often the paths of two edges cross.
fn crossings(one: &DiagramPath, other: &DiagramPath) -> usize {
    let turn = |a: (f64, f64), b: (f64, f64), c: (f64, f64)| {
        (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0)
    };
    let (one, other) = (points(one), points(other));
    let cross = |a: &[(f64, f64)], b: &[(f64, f64)]| {
        turn(a[0], a[1], b[0]) * turn(a[0], a[1], b[1]) < 0.0
            && turn(b[0], b[1], a[0]) * turn(b[0], b[1], a[1]) < 0.0
    };
    one.windows(2)
        .map(|a| other.windows(2).filter(|b| cross(a, b)).count())
        .sum()
}

#[test]
fn ent_22_every_kind_and_helper_has_a_place_of_its_own_and_its_label_fits() {
    let graph = Graph::new(&api(&[]));
    let layout = DiagramLayout::new(&graph);
    let all = labelled(&graph, &layout);
    assert_eq!(all.len(), Kind::ALL.len() + HelperName::ALL.len());
    for (place, (name, area, letter)) in all.iter().enumerate() {
        let Rect {
            x,
            y,
            half_width,
            half_height,
        } = *area;
        assert!(
            x >= half_width && x + half_width <= WIDTH,
            "{name} is left or right of the picture"
        );
        assert!(
            y >= half_height && y + half_height <= layout.height(),
            "{name} is above or below the picture"
        );
        assert!(
            name.len() * letter <= usize::try_from(2 * half_width - 4).unwrap() * 100,
            "{name} is too long"
        );
        for (other, beside, _) in &all[..place] {
            assert!(!touches(*area, *beside), "{name} overlaps {other}");
        }
    }
}

#[test]
fn ent_22_no_line_leads_through_a_label_and_few_cross() {
    let graph = Graph::new(&api(&[]));
    let layout = DiagramLayout::new(&graph);
    let way = |line: &GraphEdge| layout.path_between(line, is_helped(&graph, line));
    for line in &graph.lines {
        for (name, area, _) in labelled(&graph, &layout) {
            assert!(
                !passes(&way(line), area),
                "{:?} passes through {name}",
                line.ends
            );
        }
    }
    for node in &graph.helpers {
        for arrow in layout.arrows(node) {
            for (name, area, _) in labelled(&graph, &layout) {
                assert!(
                    !passes(&arrow.way, area),
                    "{:?} passes through {name}",
                    node.helper
                );
            }
        }
    }
    let pairs = graph
        .lines
        .iter()
        .enumerate()
        .flat_map(|(place, one)| graph.lines[..place].iter().map(move |it| (one, it)));
    let crossing: usize = pairs
        .map(|(one, other)| crossings(&way(one), &way(other)))
        .sum();
    assert!(crossing <= 4, "{crossing} crossings");
}

#[test]
fn ent_22_every_link_of_the_tables_is_drawn_once() {
    let picture = svg(&api(&[]));
    let drawn: Vec<&str> = tags(&picture, "path")
        .into_iter()
        .filter_map(|tag| attribute(tag, "data-links"))
        .flat_map(|it| it.split(' '))
        .collect();
    let mut expected = BTreeSet::new();
    for kind in Kind::ALL {
        for link in kind
            .schema()
            .links
            .iter()
            .filter(|link| !matches!(link.target, LinkTarget::Helper(_)))
        {
            expected.insert(format!("{}.{}", kind.plural(), link.name));
        }
    }
    assert_eq!(drawn.len(), expected.len(), "no edge may be drawn twice");
    assert_eq!(
        drawn
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<BTreeSet<_>>(),
        expected
    );
    // Each helper has an arrow into each kind that it writes.
    for helper in HelperName::ALL {
        let heads = tags(&picture, "path").into_iter().filter(|tag| {
            attribute(tag, "class").is_some_and(|class| class.starts_with("head"))
                && attribute(tag, "data-of") == Some(helper.as_str())
        });
        let takes_another = helper.accepts_person() && helper.recorded_kind() != Kind::Person;
        assert_eq!(heads.count(), 1 + usize::from(takes_another), "{helper:?}");
    }
}

#[test]
fn cap_04_what_a_server_does_not_declare_is_faint_and_nothing_else_is() {
    let faint = |picture: &str| -> BTreeSet<String> {
        let is_faint =
            |tag: &&str| attribute(tag, "class").is_some_and(|class| class.ends_with(" off"));
        let name = |tag: &str| {
            ["data-kind", "data-helper", "data-of", "data-links"]
                .iter()
                .find_map(|it| attribute(tag, it).map(str::to_owned))
        };
        let all = [tags(picture, "a"), tags(picture, "path")].concat();
        all.into_iter().filter(is_faint).filter_map(name).collect()
    };
    // The server has no delivery for scheduled messages.
    assert_eq!(
        faint(&svg(&api(&[]))),
        BTreeSet::from(["schedule".to_owned()])
    );
    let messages = ["list", "read", "create", "update", "delete"]
        .map(|operation| format!("messages.{operation}"));
    let without: Vec<&str> = messages
        .iter()
        .map(String::as_str)
        .chain(["helper.record_signature"])
        .collect();
    let partial = svg(&api(&without));
    let expected = ["messages", "record_signature", "schedule"].map(str::to_owned);
    assert_eq!(faint(&partial), BTreeSet::from(expected));
    // The label also states this.
    assert!(
        partial.contains("aria-label=\"Message: not on this server\""),
        "{partial}"
    );
    for tag in tags(&partial, "path")
        .into_iter()
        .filter(|tag| attribute(tag, "data-of") == Some("record_signature"))
    {
        assert!(attribute(tag, "class").unwrap().ends_with(" off"), "{tag}");
    }
    assert_eq!(
        tags(&partial, "a").len(),
        Kind::ALL.len() + HelperName::ALL.len(),
        "all remain links"
    );
}
