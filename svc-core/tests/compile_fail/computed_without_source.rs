//# error: a computed field must name its source: `= count(Signature)`, `= sum(Donation.amount)`, `= outside`, ...
// The macro that parses what follows the `=` of a field in the tables.
#[path = "../../model/src/types/field_mode.rs"]
mod mode;

fn main() {
    let _ = mode::mode!(computed);
}
