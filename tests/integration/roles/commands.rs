//! Commands in comments, and the buttons of a run: who may ask, and what comes of it.

use insta::assert_snapshot;

use crate::dsl::{Fault, Gate, Route, opened, pr};
use crate::fake_forge::{Happening, WIDGETS};

/// A pull request of ada's that was scored as a review.
async fn scored() -> Gate {
    let mut gate = Gate::with(pr(7).modifies("src/login.py")).await;
    gate.deliver(opened(7)).await;
    gate.drain().await;
    assert_eq!(gate.verdict(7), "completed/success");
    gate
}

#[tokio::test]
async fn the_author_and_who_may_write_can_ask_for_a_new_evaluation() {
    let mut gate = scored().await;
    for (who, runs) in [("ada", 2), ("mia", 3)] {
        let comment = gate.says(who, 7, "Thanks!\n\n/rescore");
        gate.deliver(Happening::Commented(comment)).await;
        gate.drain().await;
        assert_eq!(gate.reactions(comment), ["eyes"], "{who}");
        assert_eq!(gate.runs(7).len(), runs, "{who}");
        assert_eq!(gate.verdict(7), "completed/success");
    }
    assert_eq!(gate.bot_comments(7), Vec::<String>::new(), "a reaction is answer enough");
    gate.end().await;
}

#[tokio::test]
async fn a_reader_is_refused_with_a_reaction_and_nothing_else() {
    let mut gate = scored().await;
    let comment = gate.says("rita", 7, "/rescore");
    gate.deliver(Happening::Commented(comment)).await;
    gate.drain().await;
    assert_eq!(gate.reactions(comment), ["-1"]);
    assert_eq!(gate.runs(7).len(), 1);
    let audit = gate.audit(&["--kind", "refusal"]).await;
    assert!(audit.contains("rita") && audit.contains("read where write is asked for"), "{audit}");
    gate.end().await;
}

#[tokio::test]
async fn the_role_that_the_policy_asks_for_is_asked_for() {
    let policy = format!("{}\n[commands]\nmin_role = \"admin\"\n", crate::dsl::POLICY);
    let mut gate = Gate::world().policy(&policy).pull(pr(7).modifies("src/login.py")).start().await;
    gate.deliver(opened(7)).await;
    let comment = gate.says("mia", 7, "/rescore");
    gate.deliver(Happening::Commented(comment)).await;
    gate.drain().await;
    assert_eq!(gate.reactions(comment), ["-1"], "mia maintains");
    gate.forge.state().roles.insert((WIDGETS, "rita".to_owned()), ("admin", "admin"));
    let comment = gate.says("rita", 7, "/rescore");
    gate.deliver(Happening::Commented(comment)).await;
    gate.drain().await;
    assert_eq!(gate.reactions(comment), ["eyes"]);
    gate.look_at_all_runs();
    gate.end().await;
}

#[tokio::test]
async fn a_forge_that_does_not_say_who_somebody_is_refuses_him() {
    let mut gate = scored().await;
    let comment = gate.says("mia", 7, "/rescore");
    gate.forge.always(Route::Permission, Fault::status(404));
    gate.deliver(Happening::Commented(comment)).await;
    gate.drain().await;
    assert_eq!(gate.reactions(comment), ["-1"]);
    assert_eq!(gate.runs(7).len(), 1);
    gate.end().await;
}

#[tokio::test]
async fn what_is_shown_edited_or_written_by_a_program_is_no_command() {
    let mut gate = scored().await;
    for text in ["`/rescore`", "```\n/rescore\n```", "> /rescore", "please /rescore", "<!--\n/rescore\n-->"] {
        let comment = gate.says("mia", 7, text);
        gate.deliver(Happening::Commented(comment)).await;
    }
    let edited = gate.says("mia", 7, "/rescore");
    gate.deliver(Happening::CommentEdited(edited)).await;
    let bot = gate.says("agent[bot]", 7, "/rescore");
    gate.deliver(Happening::Commented(bot)).await;
    let own = gate.forge.state().write_comment(WIDGETS, 7, None, "/rescore");
    gate.deliver(Happening::Commented(own)).await;
    gate.close(7);
    let late = gate.says("mia", 7, "/rescore");
    gate.deliver(Happening::Commented(late)).await;
    gate.drain().await;
    assert_eq!(gate.runs(7).len(), 1);
    assert_eq!(gate.forge.asked(Route::React), 0);
    gate.end().await;
}

#[tokio::test]
async fn a_command_is_run_once_however_often_it_is_delivered() {
    let mut gate = scored().await;
    let comment = gate.says("mia", 7, "/rescore");
    let signed = gate.deliver(Happening::Commented(comment)).await;
    gate.drain().await;
    for copy in [signed.clone(), signed.replayed(), signed.replayed()] {
        assert!((200..300).contains(&gate.send(&copy).await));
    }
    gate.drain_through_retries().await;
    assert_eq!(gate.runs(7).len(), 2);
    assert_eq!(gate.forge.asked(Route::React), 1);
    gate.end().await;
}

#[tokio::test]
async fn a_command_for_another_head_is_answered_superseded() {
    let mut gate = scored().await;
    let old = gate.head(7);
    gate.push(&pr(7).writes("src/more.py", "x = 1\n"));
    let comment = gate.says("mia", 7, &format!("/rescore {old}"));
    gate.deliver(Happening::Commented(comment)).await;
    gate.drain().await;
    assert_eq!(gate.reactions(comment), ["confused"]);
    assert_eq!(gate.check_run(7), "no check run");
    let told = gate.bot_comments(7).join("\n");
    assert!(told.contains("Superseded") && told.contains(&old) && told.contains(&gate.head(7)), "{told}");
    let comment = gate.says("mia", 7, &format!("/rescore {}", gate.head(7)));
    gate.deliver(Happening::Commented(comment)).await;
    gate.drain().await;
    assert_eq!(gate.verdict(7), "completed/success");
    gate.end().await;
}

#[tokio::test]
async fn every_answer_is_the_same_one_comment() {
    let mut gate = scored().await;
    for (text, expected) in [
        ("/evidence-gate help", "Each command is a line of its own"),
        ("/evidence-gate explain", "What this verdict stands for"),
        ("/evidence-gate rescroe", "Did you mean `/evidence-gate rescore`?"),
    ] {
        let comment = gate.says("mia", 7, text);
        gate.deliver(Happening::Commented(comment)).await;
        gate.drain().await;
        let told = gate.bot_comments(7);
        assert_eq!(told.len(), 1);
        assert!(told[0].contains(expected), "{text}: {}", told[0]);
    }
    gate.end().await;
}

#[tokio::test]
async fn a_comment_whose_answer_was_lost_is_found_and_not_written_twice() {
    let mut gate = scored().await;
    gate.forge.once(Route::Comments, Fault::CutAfter);
    let comment = gate.says("mia", 7, "/evidence-gate help");
    gate.deliver(Happening::Commented(comment)).await;
    gate.drain_through_retries().await;
    assert_eq!(gate.bot_comments(7).len(), 1);
    gate.end().await;
}

#[tokio::test]
async fn commands_without_end_are_not_answered_without_end() {
    let mut gate = scored().await;
    for _ in 0..24 {
        let comment = gate.says("rita", 7, "/evidence-gate help");
        gate.deliver(Happening::Commented(comment)).await;
    }
    gate.drain().await;
    // Two that run at once may count each other out by one.
    assert!(gate.forge.asked(Route::React) <= 23, "{}", gate.forge.asked(Route::React));
    assert_eq!(gate.bot_comments(7), Vec::<String>::new());
    gate.end().await;
}

#[tokio::test]
async fn a_missing_permission_for_reactions_does_not_keep_a_command_from_being_run() {
    let mut gate = scored().await;
    gate.forge.state().app.permissions.insert("pull_requests".to_owned(), "read".to_owned());
    gate.forge.state().tokens.clear();
    let comment = gate.says("mia", 7, "/rescore");
    gate.deliver(Happening::Commented(comment)).await;
    gate.drain().await;
    assert_eq!(gate.runs(7).len(), 2);
    assert!(gate.log().contains("pull requests: write"), "{}", gate.log());
    gate.end().await;
}

// Re-run, button, suite.

#[tokio::test]
async fn a_re_run_and_the_button_ask_for_a_new_evaluation_and_a_reader_is_refused() {
    let mut gate = scored().await;
    let run = gate.runs(7)[0].id;
    assert_eq!(gate.runs(7)[0].actions[0]["identifier"], "rescore");
    gate.deliver(Happening::Rerequested { run, by: "mia" }).await;
    gate.drain().await;
    assert_eq!(gate.runs(7).len(), 2);
    gate.deliver(Happening::Button { run, by: "ada" }).await;
    gate.drain().await;
    assert_eq!(gate.runs(7).len(), 3);
    gate.deliver(Happening::SuiteRerequested { head: gate.head(7), by: "mia" }).await;
    gate.drain().await;
    assert_eq!(gate.runs(7).len(), 4);
    gate.deliver(Happening::Button { run, by: "rita" }).await;
    gate.drain().await;
    assert_eq!(gate.runs(7).len(), 4);
    assert!(gate.runs(7).iter().all(|run| run.stations == ["queued", "in_progress", "completed/success"]));
    let audit = gate.audit(&["--pull", "7"]).await;
    let kinds: Vec<&str> = audit.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_snapshot!(kinds.join(" "), @"refusal verdict command verdict command verdict command verdict");
    gate.end().await;
}

#[tokio::test]
async fn a_re_run_for_an_old_head_is_for_nothing() {
    let mut gate = scored().await;
    let run = gate.runs(7)[0].id;
    gate.push(&pr(7).writes("src/more.py", "x = 1\n"));
    gate.deliver(Happening::Rerequested { run, by: "mia" }).await;
    gate.drain().await;
    assert_eq!(gate.check_run(7), "no check run");
    gate.end().await;
}
