//! Examples in documentation that a runner runs: Rust's code blocks, Python's `>>>`.

use crate::evidence::grammar::{Language, Syntax};
use crate::evidence::tests::inventory::Example;

/// Every example of a file, in order.
pub(in crate::evidence) fn examples(syntax: &Syntax<'_>) -> Vec<Example> {
    match syntax.language() {
        Language::Rust => rust(syntax),
        Language::Python => python(syntax),
        _ => Vec::new(),
    }
}

fn rust(syntax: &Syntax<'_>) -> Vec<Example> {
    let mut examples = Vec::new();
    let mut open: Option<(u32, String, bool)> = None;
    let mut count = 0_u32;
    for (number, line) in (1_u32..).zip(syntax.source().lines()) {
        let line = line.trim_start();
        let Some(doc) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            open = None;
            continue;
        };
        let doc = doc.strip_prefix(' ').unwrap_or(doc);
        if let Some(info) = doc.trim_start().strip_prefix("```") {
            match open.take() {
                Some((line, code, true)) => {
                    count += 1;
                    examples.push(Example { name: format!("documentation example {count}"), line, code });
                }
                Some(_) => {}
                None => open = Some((number, format!("```{}\n", info.trim()), is_rust(info))),
            }
        } else if let Some((_, code, _)) = &mut open {
            code.push_str(doc.trim());
            code.push('\n');
        }
    }
    examples
}

/// Whether rustdoc takes a code block for Rust by its info string.
fn is_rust(info: &str) -> bool {
    let known = |word: &str| {
        matches!(word, "" | "rust" | "ignore" | "no_run" | "should_panic" | "compile_fail" | "test_harness")
            || word.starts_with("edition")
            || word.starts_with("ignore-")
            || (word.starts_with('E') && word[1..].bytes().all(|b| b.is_ascii_digit()))
    };
    info.trim().split([',', ' ']).map(str::trim).all(known)
}

fn python(syntax: &Syntax<'_>) -> Vec<Example> {
    let mut examples = Vec::new();
    if !syntax.source().contains(">>>") {
        return examples;
    }
    for node in syntax.all().filter(|n| n.kind() == "string" && n.text().contains(">>>")) {
        let docs = node.parent().is_some_and(|p| p.kind() == "expression_statement");
        if !docs {
            continue;
        }
        let holder = node.ancestors().find(|a| a.is(&["function_definition", "class_definition"]));
        let name = holder.and_then(|h| h.field("name")).map_or("the module", crate::evidence::grammar::Node::text);
        let mut code = String::new();
        let mut within = false;
        for line in node.text().lines() {
            let line = line.trim();
            within = line.starts_with(">>>") || (within && !line.is_empty());
            if within {
                code.push_str(line);
                code.push('\n');
            }
        }
        examples.push(Example { name: format!("documentation example of {name}"), line: node.line(), code });
    }
    examples
}
