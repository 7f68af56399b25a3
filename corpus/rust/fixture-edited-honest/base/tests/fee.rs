use fee::fee;

#[test]
fn fees() {
    for line in include_str!("fixtures/fees.txt").lines() {
        let (cents, wanted) = line.split_once(' ').unwrap();
        assert_eq!(fee(cents.parse().unwrap()), wanted.parse().unwrap());
    }
}
