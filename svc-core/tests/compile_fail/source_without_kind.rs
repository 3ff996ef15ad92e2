//# error: no field is `= count`: see `mode!` for the allowed forms
// The macro that parses what follows the `=` of a field in the tables.
#[path = "../../model/src/types/field_mode.rs"]
mod mode;

fn main() {
    let _ = mode::mode!(count);
}
