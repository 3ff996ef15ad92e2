//! The map: the kinds and how they are connected, drawn from the schema. Its page has the same
//! content as text.
//!
//! Requirements: ENT-22.

mod layout;

use std::fmt::Write as _;

use maud::{Markup, html};
use svc_core::{api::Api, link::Target, model::Kind};

use self::layout::{Arrow, DiagramLayout, DiagramPath, DiagramSegment, Rect, WIDTH};
use crate::documents::graph::{Graph, GraphEdge, HelperNode, KindNode, in_words};

/// The styles of the map, in pages and in the explorer.
pub(super) const STYLE: &str = include_str!("map.css");

/// Returns the URL of a target.
type HrefFn<'a> = &'a dyn Fn(&Target) -> String;

/// Returns the map with its legend, in a box that scrolls if the window is narrow.
///
/// `words` is the address of the page with the same content as text, if that is another page.
pub(super) fn figure(api: &Api, href: HrefFn<'_>, words: Option<String>) -> Markup {
    let graph = Graph::new(api);
    html! {
        figure class="map" {
            div class="map-box" tabindex="0" role="region" aria-label="Map of the API" { (picture(api, &graph, href, false)) }
            (legend(!graph.is_complete()))
            @if let Some(page) = words { p { a href=(page) { "The map as text" } } }
        }
    }
}

/// Returns only the map, for scripts. Its nodes and lines have attributes that name what they
/// represent.
pub(super) fn file(api: &Api, href: HrefFn<'_>) -> String {
    picture(api, &Graph::new(api), href, true).into_string()
}

fn legend(is_partial: bool) -> Markup {
    let swatch = |shape: Markup, text: &str| {
        html! { li { svg class="map-swatch" viewBox="0 0 30 16" aria-hidden="true" { (shape) } " " (text) } }
    };
    html! {
        figcaption {
            ul class="map-legend" {
                (swatch(html! { g class="kind" { rect x="1" y="1" width="28" height="14" rx="4" {} } }, "kind of record"))
                (swatch(html! { path class="line" d="M0 8H30" {} }, "collection of a record"))
                (swatch(html! { path class="line ref" d="M0 8H30" {} }, "other link"))
                (swatch(html! { path class="call" d="M0 8H22" {} path class="head" d="M30 8L22 4V12Z" {} }, "helper, with the records it writes"))
                @if is_partial {
                    (swatch(html! { g class="kind off" { rect x="1" y="1" width="28" height="14" rx="4" {} } }, "not on this server"))
                }
            }
        }
    }
}

fn picture(api: &Api, graph: &Graph, href: HrefFn<'_>, is_for_scripts: bool) -> Markup {
    let layout = DiagramLayout::new(graph);
    let view = format!("0 0 {WIDTH} {}", layout.height());
    let relation = |name: &str| is_for_scripts.then(|| api.dialect().relation(name));
    let page = |name: &'static str| href(&Target::DocsPage(name.into()));
    html! {
        svg xmlns=[is_for_scripts.then_some("http://www.w3.org/2000/svg")] viewBox=(view) role="group" aria-label="Kinds of records and helpers" {
            g aria-hidden="true" {
                @for Stroke { class, way, links, of } in strokes(&layout, graph, is_for_scripts) {
                    path class=(class) d=(way) data-links=[links] data-of=[of] {}
                }
            }
            @for KindNode { kind, declared } in &graph.kinds {
                a class=(class(if *kind == Kind::Person { "kind home" } else { "kind" }, *declared)) href=(page(kind.singular()))
                    aria-label=[absent(kind.singular(), *declared)]
                    data-kind=[is_for_scripts.then_some(kind.plural())] data-rel=[relation(kind.plural())]
                    data-under=[kind.schema().parent_kind().filter(|_| is_for_scripts).map(Kind::plural)] {
                    (label(layout.area(*kind), 8, kind.singular()))
                }
            }
            @for HelperNode { helper, declared, writes } in &graph.helpers {
                a class=(class("helper", *declared)) href=(page(helper.relation())) aria-label=[absent(helper.as_str(), *declared)]
                    data-helper=[is_for_scripts.then_some(helper.as_str())] data-rel=[relation(helper.relation())]
                    data-writes=[is_for_scripts.then(|| writes.iter().map(|kind| kind.plural()).collect::<Vec<_>>().join(" "))] {
                    (label(layout.helper_area(*helper), 11, helper.as_str()))
                }
            }
        }
    }
}

/// Returns whether a helper has the same path as a line, from one kind to the other.
fn is_helped(graph: &Graph, line: &GraphEdge) -> bool {
    let goes_along = |node: &HelperNode| {
        let of = node
            .helper
            .container_kind()
            .filter(|of| !node.writes.contains(of) && *of != Kind::Person);
        let kinds: Vec<Kind> = of.into_iter().chain(node.writes.iter().copied()).collect();
        line.lists && kinds.len() > 1 && line.ends.iter().all(|end| kinds.contains(end))
    };
    graph.helpers.iter().any(goes_along)
}

fn class(name: &str, is_declared: bool) -> String {
    if is_declared {
        name.to_owned()
    } else {
        format!("{name} off")
    }
}

/// Returns the label of something that this server does not support; its appearance shows the same.
fn absent(name: &str, is_declared: bool) -> Option<String> {
    (!is_declared).then(|| format!("{}: not on this server", in_words(name)))
}

fn label(area: Rect, round: i32, name: &str) -> Markup {
    let Rect {
        x,
        y,
        half_width,
        half_height,
    } = area;
    html! {
        rect x=(x - half_width) y=(y - half_height) width=(2 * half_width) height=(2 * half_height) rx=(round) {}
        text x=(x) y=(y + 5) { (in_words(name)) }
    }
}

/// The part of the picture with one appearance.
struct Stroke {
    class: String,
    way: String,
    links: Option<String>,
    of: Option<&'static str>,
}

/// Returns all lines and arrows. For scripts each is separate and names what it represents;
/// otherwise those with the same appearance are joined.
fn strokes(layout: &DiagramLayout, graph: &Graph, is_for_scripts: bool) -> Vec<Stroke> {
    let lines = graph.lines.iter().map(|line| {
        let links = line
            .links
            .iter()
            .map(|of| format!("{}.{}", of.kind.plural(), of.link.name))
            .collect::<Vec<_>>();
        let class = class(
            if line.lists { "line" } else { "line ref" },
            line.is_declared(),
        );
        Stroke {
            class,
            way: written(&layout.path_between(line, is_helped(graph, line))),
            links: Some(links.join(" ")),
            of: None,
        }
    });
    let arrows = graph.helpers.iter().flat_map(|node| {
        let stroke = |name: &str, way: String| Stroke {
            class: class(name, node.declared),
            way,
            links: None,
            of: Some(node.helper.as_str()),
        };
        let stem = layout
            .stem(node.helper)
            .map(|stem| stroke("call", written(&stem)));
        let arrows = layout.arrows(node).into_iter().flat_map(
            move |Arrow {
                      way,
                      head: [tip, one, other],
                  }| {
                let head = format!(
                    "M{} {}L{} {}L{} {}Z",
                    tip.0, tip.1, one.0, one.1, other.0, other.1
                );
                [stroke("call", written(&way)), stroke("head", head)]
            },
        );
        stem.into_iter().chain(arrows)
    });
    let all = lines.chain(arrows);
    if is_for_scripts {
        return all.collect();
    }
    let mut by_class: Vec<Stroke> = Vec::new();
    for stroke in all {
        match by_class
            .iter_mut()
            .find(|known| known.class == stroke.class)
        {
            Some(known) => known.way.push_str(&stroke.way),
            None => by_class.push(Stroke {
                links: None,
                of: None,
                ..stroke
            }),
        }
    }
    by_class
}

/// Returns a path in SVG syntax.
fn written(way: &DiagramPath) -> String {
    let mut out = format!("M{} {}", way.start.0, way.start.1);
    for step in &way.steps {
        let _ = match step {
            DiagramSegment::Straight(to) => write!(out, "L{} {}", to.0, to.1),
            DiagramSegment::Curve(from, by, to) => write!(
                out,
                "C{} {} {} {} {} {}",
                from.0, from.1, by.0, by.1, to.0, to.1
            ),
        };
    }
    out
}

#[cfg(test)]
mod tests;
