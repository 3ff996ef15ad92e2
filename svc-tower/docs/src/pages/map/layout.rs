//! The positions of everything in the map: people in the middle, their actions next to them, the
//! containers of actions outside. All numbers are integers in the units of the picture.

use svc_core::{helper::HelperName, model::Kind};

use crate::documents::graph::{Graph, GraphEdge, HelperNode};

/// The width of the picture.
pub(super) const WIDTH: i32 = 1120;

/// The distance between two rows.
const ROW: i32 = 88;
/// The center of the first row.
const FIRST: i32 = 60;
/// The row at whose center people are.
const HOME: i32 = 3;
/// Half the height of a kind.
const HALF: i32 = 22;
/// Half the height of the people rectangle.
const REACH: i32 = 132;
/// The distance of links below the center of a row, and of helpers above it, if a row has both.
const APART: i32 = 7;
/// The length of an arrow head.
const HEAD: i32 = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DiagramColumn {
    FarLeft,
    Left,
    Middle,
    Right,
    FarRight,
}

/// The cell of each kind. A kind that is missing here gets a cell in a row below.
const CELLS: &[(Kind, DiagramColumn, i32)] = &[
    (Kind::Person, DiagramColumn::Middle, HOME),
    (Kind::Petition, DiagramColumn::FarLeft, 1),
    (Kind::Signature, DiagramColumn::Left, 1),
    (Kind::AdvocacyCampaign, DiagramColumn::FarLeft, 2),
    (Kind::Outreach, DiagramColumn::Left, 2),
    (Kind::Event, DiagramColumn::FarLeft, 3),
    (Kind::Attendance, DiagramColumn::Left, 3),
    (Kind::FundraisingPage, DiagramColumn::FarLeft, 4),
    (Kind::Donation, DiagramColumn::Left, 4),
    (Kind::Form, DiagramColumn::FarLeft, 5),
    (Kind::Submission, DiagramColumn::Left, 5),
    (Kind::SharePage, DiagramColumn::Right, 1),
    (Kind::Message, DiagramColumn::FarRight, 1),
    (Kind::Item, DiagramColumn::Right, 2),
    (Kind::List, DiagramColumn::FarRight, 2),
    (Kind::Tagging, DiagramColumn::Right, 3),
    (Kind::Tag, DiagramColumn::FarRight, 3),
    (Kind::Canvass, DiagramColumn::Right, 4),
    (Kind::Answer, DiagramColumn::Right, 5),
    (Kind::Question, DiagramColumn::FarRight, 5),
    (Kind::Query, DiagramColumn::Middle, 5),
];

/// The cells of a row for kinds that have no cell above.
const MORE: [DiagramColumn; 4] = [
    DiagramColumn::FarLeft,
    DiagramColumn::Left,
    DiagramColumn::Right,
    DiagramColumn::FarRight,
];

impl DiagramColumn {
    const fn middle(self) -> i32 {
        match self {
            Self::FarLeft => 92,
            Self::Left => 382,
            Self::Middle => WIDTH / 2,
            Self::Right => WIDTH - 382,
            Self::FarRight => WIDTH - 92,
        }
    }

    /// Returns half the width of a kind.
    const fn half(self) -> i32 {
        match self {
            Self::FarLeft | Self::FarRight => 82,
            _ => 60,
        }
    }

    const fn is_outside(self) -> bool {
        matches!(self, Self::FarLeft | Self::FarRight)
    }

    /// Returns 1 if the middle of the picture is to the right, -1 if it is to the left.
    const fn inward(self) -> i32 {
        match self {
            Self::FarLeft | Self::Left => 1,
            _ => -1,
        }
    }
}

/// A rectangle, by its center.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rect {
    pub(super) x: i32,
    pub(super) y: i32,
    pub(super) half_width: i32,
    pub(super) half_height: i32,
}

/// A path in the picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DiagramPath {
    pub(super) start: (i32, i32),
    pub(super) steps: Vec<DiagramSegment>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DiagramSegment {
    Straight((i32, i32)),
    /// A curve with two control points.
    Curve((i32, i32), (i32, i32), (i32, i32)),
}

/// A path with an arrow head at its end. The three points are the corners of the head, the tip
/// first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arrow {
    pub(super) way: DiagramPath,
    pub(super) head: [(i32, i32); 3],
}

impl DiagramPath {
    fn straight(start: (i32, i32), end: (i32, i32)) -> Self {
        Self {
            start,
            steps: vec![DiagramSegment::Straight(end)],
        }
    }

    /// Returns a curve between two sides, with horizontal ends.
    fn sideways(start: (i32, i32), end: (i32, i32)) -> Self {
        let halfway = i32::midpoint(start.0, end.0);
        Self {
            start,
            steps: vec![DiagramSegment::Curve(
                (halfway, start.1),
                (halfway, end.1),
                end,
            )],
        }
    }
}

/// The positions of all kinds.
#[derive(Debug)]
pub(super) struct DiagramLayout {
    cells: Vec<(Kind, DiagramColumn, i32)>,
}

impl DiagramLayout {
    pub(super) fn new(graph: &Graph) -> Self {
        let mut cells = Vec::new();
        let mut more = (HOME + 3..).flat_map(|row| MORE.map(|column| (column, row)));
        for node in &graph.kinds {
            let known = CELLS.iter().copied().find(|(kind, ..)| *kind == node.kind);
            cells.extend(
                known.or_else(|| more.next().map(|(column, row)| (node.kind, column, row))),
            );
        }
        Self { cells }
    }

    /// Returns the height of the picture: the last row, and the paths below it.
    pub(super) fn height(&self) -> i32 {
        level(
            self.cells
                .iter()
                .map(|(.., row)| *row)
                .max()
                .unwrap_or(HOME),
        ) + 80
    }

    fn cell(&self, kind: Kind) -> (DiagramColumn, i32) {
        let known = self.cells.iter().find(|(known, ..)| *known == kind);
        known.map_or((DiagramColumn::Middle, HOME), |(_, column, row)| {
            (*column, *row)
        })
    }

    /// Returns the rectangle of a kind.
    pub(super) fn area(&self, kind: Kind) -> Rect {
        let (column, row) = self.cell(kind);
        let half_height = if kind == Kind::Person { REACH } else { HALF };
        Rect {
            x: column.middle(),
            y: level(row),
            half_width: column.half(),
            half_height,
        }
    }

    /// Returns the rectangle of a helper: in the gap outside its action, or above the action if
    /// that is in the middle.
    pub(super) fn helper_area(&self, helper: HelperName) -> Rect {
        let (column, row) = self.cell(helper.recorded_kind());
        // The longer part of the gap is on the side of the arrow.
        let (x, y) = match column {
            DiagramColumn::FarLeft => (252, level(row) - APART - 1),
            DiagramColumn::Left => (244, level(row) - APART - 1),
            DiagramColumn::Middle => (column.middle(), 44),
            DiagramColumn::Right => (WIDTH - 244, level(row) - APART - 1),
            DiagramColumn::FarRight => (WIDTH - 252, level(row) - APART - 1),
        };
        Rect {
            x,
            y,
            half_width: 64,
            half_height: 11,
        }
    }

    /// Returns the path of the links between two kinds. `is_helped`: a helper has a path next to
    /// it.
    pub(super) fn path_between(&self, line: &GraphEdge, is_helped: bool) -> DiagramPath {
        let [one, other] = line.ends;
        let apart = if is_helped { APART } else { 0 };
        match (one == Kind::Person, other == Kind::Person) {
            (true, true) => self.to_itself(),
            (true, false) => self.to_person(other, apart),
            (false, true) => self.to_person(one, apart),
            (false, false) => self.between(one, other, apart),
        }
    }

    fn to_itself(&self) -> DiagramPath {
        let person = self.area(Kind::Person);
        let (right, bottom) = (person.x + person.half_width, person.y + person.half_height);
        let end = (right, bottom - 34);
        DiagramPath {
            start: (right - 28, bottom),
            steps: vec![DiagramSegment::Curve(
                (right - 26, bottom + 34),
                (right + 24, bottom + 6),
                end,
            )],
        }
    }

    fn to_person(&self, kind: Kind, apart: i32) -> DiagramPath {
        let (column, row) = self.cell(kind);
        let (area, person, inward) = (self.area(kind), self.area(Kind::Person), column.inward());
        if column == DiagramColumn::Middle {
            return DiagramPath::straight(
                (area.x, area.y - area.half_height),
                (person.x, person.y + person.half_height),
            );
        }
        if !column.is_outside() {
            let start = (area.x + inward * area.half_width, area.y + apart);
            return DiagramPath::sideways(start, (side(person, inward), port(area.y) + apart));
        }
        // Above what is between, in the lane above its row.
        let lane = level(row) - ROW / 2;
        let (turn, nearer) = (
            area.x + inward * 24,
            if inward > 0 {
                DiagramColumn::Left
            } else {
                DiagramColumn::Right
            },
        );
        let beside = (nearer.middle() + inward * nearer.half(), lane);
        let mut way = DiagramPath::sideways(beside, (side(person, inward), port(lane)));
        way.steps.insert(0, DiagramSegment::Straight(beside));
        way.steps.insert(
            0,
            DiagramSegment::Curve(
                (area.x, lane + 6),
                (area.x + inward * 6, lane),
                (turn, lane),
            ),
        );
        DiagramPath {
            start: (area.x, area.y - area.half_height),
            ..way
        }
    }

    fn between(&self, one: Kind, other: Kind, apart: i32) -> DiagramPath {
        let ((column, row), (other_column, other_row)) = (self.cell(one), self.cell(other));
        let (area, to) = (self.area(one), self.area(other));
        let is_side_by_side = column.inward() == other_column.inward() && column != other_column;
        if row == other_row
            && is_side_by_side
            && column != DiagramColumn::Middle
            && other_column != DiagramColumn::Middle
        {
            let (left, right) = if area.x < to.x {
                (area, to)
            } else {
                (to, area)
            };
            // Below the helper, which has the height of a line of text.
            let y = area.y + if apart > 0 { 12 } else { 0 };
            return DiagramPath::straight(
                (left.x + left.half_width, y),
                (right.x - right.half_width, y),
            );
        }
        let (upper, lower) = if area.y < to.y {
            (area, to)
        } else {
            (to, area)
        };
        if column == other_column && row.abs_diff(other_row) == 1 {
            return DiagramPath::straight(
                (upper.x, upper.y + upper.half_height),
                (lower.x, lower.y - lower.half_height),
            );
        }
        // Below everything.
        let deep = self.height();
        let (start, end) = (
            (area.x, area.y + area.half_height),
            (to.x, to.y + to.half_height),
        );
        DiagramPath {
            start,
            steps: vec![DiagramSegment::Curve((start.0, deep), (end.0, deep), end)],
        }
    }

    /// Returns the path from the kind that a helper belongs to up to the helper; `None` if no kind
    /// is next to it.
    pub(super) fn stem(&self, helper: HelperName) -> Option<DiagramPath> {
        let container = helper
            .container_kind()
            .filter(|container| *container != helper.recorded_kind())?;
        let (column, _) = self.cell(container);
        let (area, of) = (self.helper_area(helper), self.area(container));
        column.is_outside().then(|| {
            let inward = column.inward();
            DiagramPath::straight(
                (of.x + inward * of.half_width, area.y),
                (area.x - inward * area.half_width, area.y),
            )
        })
    }

    /// Returns the arrows of a helper: to the action that it records, and from there to the person.
    pub(super) fn arrows(&self, node: &HelperNode) -> Vec<Arrow> {
        node.writes
            .iter()
            .filter_map(|kind| self.arrow(node.helper, *kind))
            .collect()
    }

    fn arrow(&self, helper: HelperName, kind: Kind) -> Option<Arrow> {
        let (from, records) = (self.helper_area(helper), helper.recorded_kind());
        let (column, _) = self.cell(records);
        let (area, person) = (self.area(records), self.area(Kind::Person));
        if column == DiagramColumn::Middle {
            let tip = (area.x, area.y - area.half_height);
            let way =
                DiagramPath::straight((from.x, from.y + from.half_height), (tip.0, tip.1 - HEAD));
            return (kind == records).then_some(Arrow {
                way,
                head: [tip, (tip.0 - 4, tip.1 - HEAD), (tip.0 + 4, tip.1 - HEAD)],
            });
        }
        // Towards the action: inwards, unless the action is itself outside.
        let towards = if column.is_outside() {
            -column.inward()
        } else {
            column.inward()
        };
        if kind == records {
            let tip = (area.x - towards * area.half_width, from.y);
            let start = (from.x + towards * from.half_width, from.y);
            return Some(level_arrow(tip, towards, |end| {
                DiagramPath::straight(start, end)
            }));
        }
        let start = (area.x + towards * area.half_width, area.y - APART);
        let tip = (side(person, towards), port(area.y) - APART);
        Some(level_arrow(tip, towards, |end| {
            DiagramPath::sideways(start, end)
        }))
    }
}

/// Returns an arrow with a horizontal end.
fn level_arrow(
    tip: (i32, i32),
    towards: i32,
    way: impl FnOnce((i32, i32)) -> DiagramPath,
) -> Arrow {
    let back = tip.0 - towards * HEAD;
    Arrow {
        way: way((back, tip.1)),
        head: [tip, (back, tip.1 - 4), (back, tip.1 + 4)],
    }
}

/// Returns the center of a row.
const fn level(row: i32) -> i32 {
    FIRST + ROW * (row - 1)
}

/// Returns the side of the people rectangle at which a path arrives.
const fn side(person: Rect, inward: i32) -> i32 {
    person.x - inward * person.half_width
}

/// Returns the position on that side at which a path arrives. The order of the rows prevents
/// crossings.
const fn port(y: i32) -> i32 {
    let home = level(HOME);
    home + (y - home) * 48 / 100
}
