//# error: a computed field must name its source: `= count Signature`, `= sum Donation`, `= outside`, ...
// The macro by which the tables read what stands behind the `=` of a field.
#[path = "../../model/src/describe/mode.rs"]
mod mode;

fn main() {
    let _ = mode::mode!(computed);
}
