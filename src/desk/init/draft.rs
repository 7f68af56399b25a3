//! What was found -> the text of a policy that a newcomer can read.

use std::fmt::Write as _;

use super::detect::Detected;
use super::example::Example;
use crate::policy::Class;
use crate::score::visible;
use crate::words::count;

/// The page that explains every key.
const POLICY_PAGE: &str = "https://github.com/evidence-gate/evidence-gate/blob/main/docs/policy.md";

/// How many folders without a class are offered.
const MOST_OFFERED: usize = 12;

/// What a draft is made of.
pub(super) struct Draft<'d> {
    pub(super) detected: &'d Detected,
    /// How many fixtures the first lock lists.
    pub(super) fixtures: usize,
    pub(super) example: &'d Example,
}

macro_rules! add {
    ($text:expr, $($part:tt)*) => { writeln!($text, $($part)*).expect("writing to a String cannot fail") };
}

impl Draft<'_> {
    /// The policy.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        add!(
            text,
            "# What a pull request may change by itself, and what it may not. evidence-gate reads this file at the tip of the branch"
        );
        add!(text, "# that a pull request is meant for, and never from the pull request. Every key: {POLICY_PAGE}");
        add!(text, "schema = 1\n");
        add!(
            text,
            "# A test that a pull request adds proves nothing yet: a person looks at it (\"hold\"), or it is only listed (\"record\")."
        );
        add!(text, "added_tests = \"hold\"\n");
        add!(text, "[scope]");
        add!(
            text,
            "# Every pull request is judged. \"agents\" would judge only those whose author, branch or commits say that they are an agent's;"
        );
        add!(text, "# their author writes these words, so that is a convenience and no control.");
        add!(text, "gate = \"all\"\n");
        self.classes(&mut text);
        add!(text, "[limits]");
        add!(
            text,
            "# A change of more files than this is refused: nobody reads it. A file that only moved counts once."
        );
        add!(text, "max_changed_files = 60\n");
        self.fixtures(&mut text);
        add!(text, "[freeze]");
        add!(
            text,
            "# Known flaky failures that may be ignored until a day. `evidence-gate freeze add` writes an entry."
        );
        add!(text, "ledger = \"freeze_ledger.json\"");
        add!(text, "max_days = 30\n");
        add!(text, "[holds]");
        add!(
            text,
            "# A held change passes when somebody of this role or more approves its exact head, who neither wrote it nor is a bot."
        );
        add!(text, "release = \"approval\"");
        add!(text, "min_role = \"maintain\"\n");
        self.property(&mut text);
        text
    }

    fn classes(&self, text: &mut String) {
        add!(text, "[classes]");
        add!(
            text,
            "# Every path has one class. Built-in patterns know tests, fixtures, snapshots, build files and product of these languages."
        );
        add!(
            text,
            "# Evidence (snapshot, fixture, oracle, freeze_ledger, policy) always comes before product, whatever stands below."
        );
        add!(text, "# `evidence-gate policy explain PATH` says what a path is, and why.");
        let sets: Vec<String> =
            self.detected.ecosystems.iter().map(|(ecosystem, _)| format!("\"{}\"", ecosystem.as_str())).collect();
        if sets.is_empty() {
            add!(
                text,
                "# No language was found that has a set of its own: add one when it comes (python, javascript, rust, go, java, ruby, php, dotnet)."
            );
            add!(text, "extends = [\"generic\"]");
        } else {
            add!(text, "extends = [{}]", sets.join(", "));
        }
        for (class, why) in [
            (Class::Snapshot, "Recorded outputs, by the names of their folders. A pull request may not change them."),
            (Class::Fixture, "Recorded inputs, by the names of their folders. A pull request may not change them."),
            (Class::Test, "Tests, by the names of their folders."),
        ] {
            let own: Vec<String> = self
                .detected
                .conventions
                .iter()
                .filter(|(of, ..)| *of == class)
                .map(|(_, pattern, files)| format!("    {},  # {}\n", quoted(pattern), count(*files, "file", "files")))
                .collect();
            if !own.is_empty() {
                add!(text, "# {why}\n{class} = [\n{}]", own.concat());
            }
        }
        self.product(text);
        add!(text, "# What a review may ignore, besides documentation and licences.");
        add!(text, "allowed = []\n");
    }

    fn product(&self, text: &mut String) {
        let (ours, open): (Vec<_>, Vec<_>) =
            self.detected.unclassed.iter().partition(|group| {
                group.beside_product && group.pattern.contains('/') && !group.pattern.starts_with('/')
            });
        add!(text, "# The product, besides the source files of the languages above.");
        if ours.is_empty() && open.is_empty() {
            add!(text, "product = []");
            return;
        }
        add!(text, "product = [");
        for group in ours {
            add!(
                text,
                "    {},  # {} of no class, such as {}",
                quoted(&group.pattern),
                count(group.files, "file", "files"),
                comment(&group.example)
            );
        }
        if !open.is_empty() {
            add!(
                text,
                "    # These are of no class yet, so a change of one waits for a person. Take the # away for what is product,"
            );
            add!(text, "    # or move the line to `allowed`.");
        }
        for group in open.iter().take(MOST_OFFERED) {
            add!(
                text,
                "    # {},  # {}, such as {}",
                quoted(&group.pattern),
                count(group.files, "file", "files"),
                comment(&group.example)
            );
        }
        if open.len() > MOST_OFFERED {
            add!(text, "    # and {} more", open.len() - MOST_OFFERED);
        }
        add!(text, "]");
    }

    fn fixtures(&self, text: &mut String) {
        add!(text, "[require]");
        if self.fixtures == 0 {
            add!(
                text,
                "# No fixture was found. When there are some: `evidence-gate lock write --output fixtures.lock`, then true."
            );
            add!(text, "fixture_lock = false\n");
        } else {
            add!(
                text,
                "# The lock must be there: it lists the sha256 of every fixture, so that no merge changes one by the way."
            );
            add!(text, "fixture_lock = true\n");
        }
        add!(text, "[fixtures]");
        add!(
            text,
            "# When fixtures change: `evidence-gate lock write --output fixtures.lock`, in a pull request of their own."
        );
        add!(text, "lock = \"fixtures.lock\"");
        add!(text, "# A new fixture is refused (\"reject\"), or waits for a person (\"hold\").");
        add!(text, "added = \"reject\"\n");
    }

    fn property(&self, text: &mut String) {
        add!(
            text,
            "# A property is a check with a seed that a pull request can neither change nor skip. It runs in a sandbox, on the merged tree."
        );
        match self.example {
            Example::Works(property) => {
                add!(text, "# This one is an example: replace it with what your product must always do.");
                text.push_str(&property.section());
            }
            Example::None(why) => {
                add!(text, "# None is set up ({}). It would look like this:", comment(why));
                add!(
                    text,
                    "# [[property]]\n# id = \"round_trip\"\n# command = [\"python3\", \"-I\", \"properties/round_trip.py\"]  # in the folder oracle/"
                );
                add!(text, "# seed = 1\n# trials = 200\n# timeout = \"45s\"\n# paths = [\"src/**\"]");
            }
        }
    }
}

/// A text as TOML writes it.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// Text for the end of a comment: on one line.
fn comment(text: &str) -> String {
    visible(text)
}
