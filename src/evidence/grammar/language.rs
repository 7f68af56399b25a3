//! Which grammar a file has.

use std::sync::OnceLock;

/// A language with a grammar. Whether the grammar is compiled in is a feature of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// `.py`, `.pyi`
    Python,
    /// `.js`, `.jsx`, `.mjs`, `.cjs`
    JavaScript,
    /// `.ts`, `.mts`, `.cts`
    TypeScript,
    /// `.tsx`
    Tsx,
    /// `.rs`
    Rust,
    /// `.go`
    Go,
    /// `.java`
    Java,
    /// `.kt`, `.kts`
    Kotlin,
    /// `.cs`
    CSharp,
    /// `.rb`, `.rake`, `Rakefile`, `Gemfile`
    Ruby,
    /// `.php`
    Php,
    /// `.c`, `.cc`, `.cpp`, `.cxx`, `.h`, `.hpp`, `.hxx`
    Cpp,
}

/// Names of kinds and fields by number, read once for each grammar.
pub(super) struct Names {
    pub(super) kinds: Vec<String>,
    pub(super) fields: Vec<String>,
}

impl Language {
    /// Every language.
    pub const ALL: [Self; 12] = [
        Self::Python,
        Self::JavaScript,
        Self::TypeScript,
        Self::Tsx,
        Self::Rust,
        Self::Go,
        Self::Java,
        Self::Kotlin,
        Self::CSharp,
        Self::Ruby,
        Self::Php,
        Self::Cpp,
    ];

    /// The language of a file by its name; `None` where no grammar of ours fits.
    pub fn of_path(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        if matches!(name, "Rakefile" | "Gemfile" | "Guardfile" | "Fastfile") {
            return Some(Self::Ruby);
        }
        let (_, extension) = name.rsplit_once('.')?;
        Some(match extension.to_ascii_lowercase().as_str() {
            "py" | "pyi" | "pyw" => Self::Python,
            "js" | "jsx" | "mjs" | "cjs" => Self::JavaScript,
            "ts" | "mts" | "cts" => Self::TypeScript,
            "tsx" => Self::Tsx,
            "rs" => Self::Rust,
            "go" => Self::Go,
            "java" => Self::Java,
            "kt" | "kts" => Self::Kotlin,
            "cs" => Self::CSharp,
            "rb" | "rake" | "ru" => Self::Ruby,
            "php" | "phpt" | "phtml" => Self::Php,
            "c" | "cc" | "cpp" | "cxx" | "c++" | "h" | "hh" | "hpp" | "hxx" | "ipp" | "inl" => Self::Cpp,
            _ => return None,
        })
    }

    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "Python",
            Self::JavaScript => "JavaScript",
            Self::TypeScript => "TypeScript",
            Self::Tsx => "TSX",
            Self::Rust => "Rust",
            Self::Go => "Go",
            Self::Java => "Java",
            Self::Kotlin => "Kotlin",
            Self::CSharp => "C#",
            Self::Ruby => "Ruby",
            Self::Php => "PHP",
            Self::Cpp => "C++",
        }
    }

    /// Whether it is JavaScript in one of its spellings.
    pub fn is_script(self) -> bool {
        matches!(self, Self::JavaScript | Self::TypeScript | Self::Tsx)
    }

    /// The grammar, if it is compiled in.
    pub(super) fn grammar(self) -> Option<tree_sitter::Language> {
        match self {
            #[cfg(feature = "python")]
            Self::Python => Some(tree_sitter_python::LANGUAGE.into()),
            #[cfg(feature = "javascript")]
            Self::JavaScript => Some(tree_sitter_javascript::LANGUAGE.into()),
            #[cfg(feature = "typescript")]
            Self::TypeScript => Some(tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into()),
            #[cfg(feature = "typescript")]
            Self::Tsx => Some(tree_sitter_typescript::LANGUAGE_TSX.into()),
            #[cfg(feature = "rust")]
            Self::Rust => Some(tree_sitter_rust::LANGUAGE.into()),
            #[cfg(feature = "go")]
            Self::Go => Some(tree_sitter_go::LANGUAGE.into()),
            #[cfg(feature = "java")]
            Self::Java => Some(tree_sitter_java::LANGUAGE.into()),
            #[cfg(feature = "kotlin")]
            Self::Kotlin => Some(tree_sitter_kotlin_ng::LANGUAGE.into()),
            #[cfg(feature = "c-sharp")]
            Self::CSharp => Some(tree_sitter_c_sharp::LANGUAGE.into()),
            #[cfg(feature = "ruby")]
            Self::Ruby => Some(tree_sitter_ruby::LANGUAGE.into()),
            #[cfg(feature = "php")]
            Self::Php => Some(tree_sitter_php::LANGUAGE_PHP.into()),
            #[cfg(feature = "cpp")]
            Self::Cpp => Some(tree_sitter_cpp::LANGUAGE.into()),
            #[expect(unreachable_patterns, reason = "reachable when a grammar's feature is off")]
            _ => None,
        }
    }

    pub(super) fn names(self, grammar: &tree_sitter::Language) -> &'static Names {
        static NAMES: [OnceLock<Names>; 12] = [const { OnceLock::new() }; 12];
        NAMES[self as usize].get_or_init(|| Names {
            kinds: (0..grammar.node_kind_count())
                .map(|id| u16::try_from(id).ok().and_then(|id| grammar.node_kind_for_id(id)).unwrap_or("").to_owned())
                .collect(),
            fields: (0..=grammar.field_count())
                .map(|id| u16::try_from(id).ok().and_then(|id| grammar.field_name_for_id(id)).unwrap_or("").to_owned())
                .collect(),
        })
    }
}

impl std::fmt::Display for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
