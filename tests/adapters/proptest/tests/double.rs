//! What must hold of the product, in proptest's own words.

use proptest::prelude::*;

proptest! {
    #[test]
    fn doubles(n in -1_000_000_i64..1_000_000) {
        prop_assume!(n != 3);
        prop_assert_eq!(double::double(n), n * 2);
    }

    #[test]
    fn meets_nothing(n in 0_i64..10) {
        prop_assume!(n > 10);
        prop_assert!(double::double(n) > 20);
    }
}
