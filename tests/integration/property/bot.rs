//! The worker runs what the policy asks for, from a mirror that holds no file until one is asked for.

use crate::dsl::{Gate, World, opened, pr};

use super::{POLICY, PRODUCT, PROPERTY};

fn world() -> World {
    Gate::world()
        .policy(POLICY)
        .with_base("src/double.py", PRODUCT)
        .with_base("src/deep/below/other.py", "OTHER = 1\n")
        .with_base("oracle/properties/double.py", PROPERTY)
        .with_base("oracle/samples/double.json", r#"[{"in": 2, "out": 4}]"#)
}

async fn check_run_of(product: &str) -> String {
    let mut gate = world().pull(pr(7).writes("src/double.py", product)).start().await;
    gate.deliver(opened(7)).await;
    gate.drain().await;
    let run = gate.check_run(7);
    assert!(gate.data().join("outcomes/github").is_dir(), "outcomes are kept");
    gate.end().await;
    run
}

#[tokio::test]
async fn a_property_that_holds_is_a_success_and_one_that_fails_is_a_failure() {
    let run = check_run_of("def double(n):\n    return 2 * n\n").await;
    assert_eq!(run, "queued > in_progress > completed/success\nEvidence intact: 1 product file");
    let run = check_run_of("def double(n):\n    return 2 * n if n < 700 else 0\n").await;
    assert!(
        run.starts_with(
            "queued > in_progress > completed/failure\nREJECT: property-failed: property double fails with the"
        ),
        "{run}"
    );
}
