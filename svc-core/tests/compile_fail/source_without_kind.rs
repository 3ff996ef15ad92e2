//# error: no field is `= count`: see `mode!` for the allowed forms
// The macro by which the tables read what stands behind the `=` of a field.
#[path = "../../model/src/describe/mode.rs"]
mod mode;

fn main() {
    let _ = mode::mode!(count);
}
