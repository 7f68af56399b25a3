//! Record -> check run, GitLab status and note, text, JSON: `render` is pure, `conclusion` is one exhaustive match, `post` speaks to the forge.
