use fee::fee;

#[test]
fn a_large_amount_costs_one_percent() {
    assert_eq!(fee(5000), 50);
}

#[test]
fn a_small_amount_costs_ten_cents() {
    assert_eq!(fee(500), 10);
}
