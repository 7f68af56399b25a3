//! How each language spells its markers. One function a language, called once for every node.

mod c_sharp;
mod cpp;
mod go;
mod jvm;
mod php;
mod python;
mod ruby;
mod rust;
mod script;

use super::context::{Walk, early_return, language};
use crate::evidence::grammar::{Language, Node};

pub(super) type Visitor = for<'w, 't> fn(&mut Walk<'w, 't>, Node<'_>);

pub(super) fn visitor(language: Language) -> Visitor {
    match language {
        Language::Python => python::visit,
        Language::JavaScript | Language::TypeScript | Language::Tsx => script::visit,
        Language::Rust => rust::visit,
        Language::Go => go::visit,
        Language::Java | Language::Kotlin => jvm::visit,
        Language::CSharp => c_sharp::visit,
        Language::Ruby => ruby::visit,
        Language::Php => php::visit,
        Language::Cpp => cpp::visit,
    }
}

pub(super) fn comment(walk: &mut Walk<'_, '_>, node: Node<'_>) {
    match language(walk) {
        Language::Go => go::comment(walk, node),
        Language::Php => php::comment(walk, node),
        _ => {}
    }
}

/// What only the whole file shows.
pub(super) fn whole_file(walk: &mut Walk<'_, '_>) {
    early_return(walk);
    match language(walk) {
        Language::Python => python::whole_file(walk),
        Language::Rust => rust::whole_file(walk),
        Language::Go => go::whole_file(walk),
        _ => {}
    }
}

/// The number of a literal.
fn number(node: Node<'_>) -> Option<f64> {
    node.text().replace('_', "").parse().ok()
}

/// The named arguments of a call or of a decorator.
fn arguments(call: Node<'_>) -> Vec<Node<'_>> {
    let list = call.field("arguments").or_else(|| {
        call.child(&[
            "argument_list",
            "value_arguments",
            "arguments",
            "attribute_argument_list",
            "annotation_argument_list",
        ])
    });
    list.map(|l| l.named().collect()).unwrap_or_default()
}
