// SPDX-License-Identifier: GPL-2.0

//! What a Rust file names: the paths of its imports, and its words. It is no parser: comments are left out,
//! and the rest is read as a row of tokens.

use std::collections::BTreeSet;

/// A piece of code.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// A name or a keyword.
    Ident(String),
    /// The inside of a string.
    Text(String),
    /// `::`.
    Path,
    /// Any other character.
    Other(char),
}

/// A file, without its comments.
pub struct Code {
    tokens: Vec<Token>,
    /// Lines of its strings, from 1, in their order.
    lines: Vec<usize>,
}

impl Code {
    /// Reads a file.
    pub fn new(text: &str) -> Self {
        let (mut tokens, mut lines) = (Vec::new(), Vec::new());
        let mut line = 1;
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let used = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            } else if c == '"' {
                let len = string(rest);
                lines.push(line);
                tokens.push(Token::Text(rest[1..len - 1].to_owned()));
                len
            } else if c.is_alphabetic() || c == '_' {
                let is_end = |c: char| !c.is_alphanumeric() && c != '_';
                let len = rest.find(is_end).unwrap_or(rest.len());
                tokens.push(Token::Ident(rest[..len].to_owned()));
                len
            } else if rest.starts_with("::") {
                tokens.push(Token::Path);
                2
            } else if let Some(len) = character(rest) {
                len
            } else {
                if !c.is_whitespace() {
                    tokens.push(Token::Other(c));
                }
                c.len_utf8()
            };
            line += rest[..used].matches('\n').count();
            rest = &rest[used..];
        }
        Self { tokens, lines }
    }

    /// Returns the paths in the crate that a file names, from the crate root: of `use`, and of expressions that
    /// begin with `crate` or `super`. `module` is the path of the file's own module.
    pub fn paths(&self, module: &[&str]) -> BTreeSet<Vec<String>> {
        let mut paths = BTreeSet::new();
        let mut at = 0;
        let mut depth = Depth::default();
        while let Some(token) = self.tokens.get(at) {
            depth.pass(&self.tokens, at);
            let begins = matches!(token, Token::Ident(word) if word == "crate" || word == "super");
            // `pub(crate)` has none behind it.
            let goes_on = self.tokens.get(at + 1) == Some(&Token::Path);
            if begins && goes_on {
                let own: Vec<String> = module.iter().map(|s| (*s).to_owned()).collect();
                let inner = depth.inner();
                let own = own.into_iter().chain(inner).collect();
                at = self.tree(at, own, &mut paths);
            } else {
                at += 1;
            }
        }
        paths
    }

    /// Reads a path or a tree of paths from token `at` on, which counts from module `base`. Returns the token
    /// behind it.
    fn tree(&self, mut at: usize, base: Vec<String>, out: &mut BTreeSet<Vec<String>>) -> usize {
        let mut path = base;
        let mut rooted = false;
        loop {
            match self.tokens.get(at) {
                Some(Token::Ident(word)) if word == "crate" => path = Vec::new(),
                Some(Token::Ident(word)) if word == "super" && !rooted => {
                    path.pop();
                }
                Some(Token::Ident(word)) if word == "self" => rooted = true,
                Some(Token::Ident(word)) => {
                    rooted = true;
                    path.push(word.clone());
                }
                Some(Token::Other('{')) => {
                    at += 1;
                    while let Some(token) = self.tokens.get(at) {
                        match token {
                            Token::Other('}') => return at + 1,
                            Token::Ident(_) | Token::Other('{') => {
                                at = self.tree(at, path.clone(), out);
                            }
                            _ => at += 1,
                        }
                    }
                    return at;
                }
                _ => break,
            }
            if self.tokens.get(at + 1) != Some(&Token::Path) {
                at += 1;
                break;
            }
            at += 2;
        }
        // What follows `as` is a name of the file's own.
        if matches!(self.tokens.get(at), Some(Token::Ident(word)) if word == "as") {
            at += 2;
        }
        if !path.is_empty() {
            out.insert(path);
        }
        at
    }

    /// Returns the strings and the lines on which they begin, from 1.
    pub fn strings(&self) -> impl Iterator<Item = (usize, &str)> + '_ {
        let texts = self.tokens.iter().filter_map(|token| match token {
            Token::Text(text) => Some(text.as_str()),
            _ => None,
        });
        self.lines.iter().copied().zip(texts)
    }

    /// Returns the words that names and strings are made of, in lower case.
    pub fn words(&self) -> impl Iterator<Item = String> + '_ {
        self.tokens
            .iter()
            .filter_map(|token| match token {
                Token::Ident(text) | Token::Text(text) => Some(text),
                Token::Path | Token::Other(_) => None,
            })
            .flat_map(|text| split(text))
    }
}

/// Modules inside of the file that a token is in.
#[derive(Default)]
struct Depth {
    /// Braces that are open.
    braces: usize,
    /// Names, and the braces that were open before each.
    modules: Vec<(String, usize)>,
}

impl Depth {
    fn pass(&mut self, tokens: &[Token], at: usize) {
        match (&tokens[at], tokens.get(at + 1), tokens.get(at + 2)) {
            (Token::Ident(word), Some(Token::Ident(name)), Some(Token::Other('{')))
                if word == "mod" =>
            {
                self.modules.push((name.clone(), self.braces));
            }
            (Token::Other('{'), ..) => self.braces += 1,
            (Token::Other('}'), ..) => {
                self.braces = self.braces.saturating_sub(1);
                if self.modules.last().is_some_and(|m| m.1 == self.braces) {
                    self.modules.pop();
                }
            }
            _ => {}
        }
    }

    fn inner(&self) -> impl Iterator<Item = String> + '_ {
        self.modules.iter().map(|m| m.0.clone())
    }
}

/// Splits a name at its underscores and before its capitals, and text at whatever is no letter or digit.
fn split(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in text.chars() {
        if !c.is_alphanumeric() || before.is_lowercase() && c.is_uppercase() {
            words.push(String::new());
        }
        if let (true, Some(last)) = (c.is_alphanumeric(), words.last_mut()) {
            last.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Bytes of the string that code begins with, with its quotes.
fn string(code: &str) -> usize {
    let mut escaped = false;
    for (at, c) in code.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    code.len().max(2)
}

/// Bytes of the character that code begins with, such as `'"'`; `None` for a lifetime, and all else.
fn character(code: &str) -> Option<usize> {
    let inner = code.strip_prefix('\'')?;
    let end = match inner.strip_prefix('\\') {
        Some(escaped) => 1 + escaped.chars().next()?.len_utf8(),
        None => inner.chars().next()?.len_utf8(),
    };
    // `'\x7f'` and the like are longer, and have no quote in them.
    inner[end..].starts_with('\'').then_some(end + 2)
}
