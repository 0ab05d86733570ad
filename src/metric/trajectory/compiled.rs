//! Rules, ready to be applied.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::equality::{Equality, Mode};
use super::rule::{LengthRule, PathTree, Rule, RuleKind};
use crate::metric::json_schema::CompiledSchema;
use crate::metric::selection::Paths;
use crate::script::{COMPARISON, ExpressionProblem, ScriptText};

/// A schema that rules share.
#[derive(Clone)]
pub(super) struct SharedSchema(Arc<CompiledSchema>);

impl SharedSchema {
    /// The violations of a value.
    pub(super) fn violations(&self, value: &Value) -> Vec<String> {
        self.0.violations(value)
    }
}

impl std::fmt::Debug for SharedSchema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedSchema").finish_non_exhaustive()
    }
}

/// A rule of one word.
const fn from_kind_alone(kind: RuleKind) -> CompiledRule {
    CompiledRule { kind, ..PLAIN }
}

/// Why a rule can't be used.
#[derive(Debug)]
pub(super) struct RuleProblem {
    /// The problem, in a sentence.
    pub(super) why: String,
    /// The problem of its script, with its place in it.
    pub(super) script: Option<ExpressionProblem>,
}

impl<S: Into<String>> From<S> for RuleProblem {
    fn from(why: S) -> RuleProblem {
        RuleProblem { why: why.into(), script: None }
    }
}

/// A rule with its trees of paths.
#[derive(Debug, Clone, Default)]
pub(super) struct CompiledRule {
    pub(super) kind: RuleKind,
    /// Whether the values are compared at all, beside the conditions.
    pub(super) compares: bool,
    pub(super) only: Option<PathTree>,
    pub(super) ignore: Option<PathTree>,
    pub(super) schema: Option<SharedSchema>,
    pub(super) length: Option<LengthRule>,
    pub(super) valid: bool,
    pub(super) compare: Option<ScriptText>,
    number: Option<f64>,
    fold: Option<bool>,
    list_order: Option<bool>,
    extra: Option<bool>,
}

/// Equality as the options of the metric mean it.
pub(super) static STRICT: CompiledRule = PLAIN;

/// Rules of one word, in the order of their kinds.
static WORDS: [CompiledRule; 7] = [
    PLAIN,
    from_kind_alone(RuleKind::Fuzzy),
    from_kind_alone(RuleKind::Ignore),
    from_kind_alone(RuleKind::Optional),
    from_kind_alone(RuleKind::Contains),
    from_kind_alone(RuleKind::Regex),
    from_kind_alone(RuleKind::Date),
];

const PLAIN: CompiledRule = CompiledRule {
    kind: RuleKind::Strict,
    compares: true,
    only: None,
    ignore: None,
    schema: None,
    length: None,
    valid: false,
    compare: None,
    number: None,
    fold: None,
    list_order: None,
    extra: None,
};

impl CompiledRule {
    /// Whether it wants something of the actual value beside what is expected: also of none.
    pub(super) fn has_conditions(&self) -> bool {
        self.schema.is_some() || self.length.is_some() || self.valid || self.compare.is_some()
    }

    /// Reads a rule. `lenient` passes over leaves of `ignorePaths` that are neither true, false nor a mapping.
    ///
    /// # Errors
    /// It contradicts itself; the sentence says how.
    pub(super) fn new(rule: &Rule, lenient: bool) -> Result<CompiledRule, RuleProblem> {
        let options = rule.options();
        if !options.only_paths.is_empty() && !options.ignore_paths.is_empty() {
            return Err("has onlyPaths and ignorePaths; keep one of them".into());
        }
        if options.number.is_some_and(|number| number.is_nan() || number < 0.0) {
            return Err("number must be 0 or more".into());
        }
        let tree = |key: &str, paths| PathTree::new(paths).map_err(|why| format!("{key}: {why}"));
        let only = (!options.only_paths.is_empty()).then(|| tree("onlyPaths", &options.only_paths)).transpose()?;
        let ignore = (!options.ignore_paths.is_empty()).then(|| tree("ignorePaths", &options.ignore_paths));
        let ignore = match ignore.transpose() {
            Err(_) if lenient => Some(PathTree::from_valid_leaves(&options.ignore_paths)),
            other => other?,
        };
        if let Some(LengthRule { min, max }) = options.length {
            match (min, max) {
                (None, None) => return Err("length has neither min nor max".into()),
                (Some(min), Some(max)) if min > max => {
                    return Err(format!("length: min {min} is above max {max}").into());
                }
                _ => {}
            }
        }
        let schema =
            options.schema.as_ref().map(|schema| CompiledSchema::new(schema).map(|it| SharedSchema(Arc::new(it))));
        let schema = schema.transpose().map_err(|why| why.to_string())?;
        if let Some(problem) = options.compare.as_ref().and_then(|script| script.problem(&COMPARISON)) {
            return Err(RuleProblem { why: problem.to_string(), script: Some(problem.clone()) });
        }
        let is_condition = schema.is_some() || options.length.is_some() || options.valid || options.compare.is_some();
        let compares = options.rule.is_some() || only.is_some() || ignore.is_some() || options.number.is_some();
        Ok(CompiledRule {
            kind: options.rule.unwrap_or_default(),
            compares: compares || !is_condition,
            only,
            ignore,
            schema,
            length: options.length,
            valid: options.valid,
            compare: options.compare,
            number: options.number,
            fold: options.case_insensitive,
            list_order: options.list_order,
            extra: options.extra_args,
        })
    }

    /// Whether values are equal by it wherever they are the same.
    pub(super) fn is_plain(&self) -> bool {
        let CompiledRule { kind, compares, only, ignore, schema, length, valid, compare, .. } = self;
        let has_condition = schema.is_some() || length.is_some() || *valid || compare.is_some();
        *kind == RuleKind::Strict && *compares && only.is_none() && ignore.is_none() && !has_condition
    }

    /// The mode below this rule.
    pub(super) fn mode(&self, mode: &Mode) -> Mode {
        Mode {
            tolerance: self.number.unwrap_or(mode.tolerance),
            fold: self.fold.unwrap_or(mode.fold),
            list_order: self.list_order.unwrap_or(mode.list_order),
            extra: self.extra.unwrap_or(mode.extra),
            equality: if self.number.is_some() && mode.equality == Equality::Watsonx {
                Equality::Json
            } else {
                mode.equality
            },
            ..*mode
        }
    }

    /// The rule that values within this one's are compared by.
    pub(super) fn inherited(&self) -> &'static CompiledRule {
        CompiledRule::from_kind(self.kind)
    }

    /// A rule of one word.
    pub(super) fn from_kind(kind: RuleKind) -> &'static CompiledRule {
        &WORDS[kind as usize]
    }
}

impl PathTree {
    /// The tree without the leaves that say nothing.
    fn from_valid_leaves(paths: &Paths) -> PathTree {
        fn clean(value: &Value) -> Option<Value> {
            match value {
                Value::Bool(_) => Some(value.clone()),
                Value::Object(map) => {
                    let kept = map.iter().filter_map(|(key, value)| Some((key.clone(), clean(value)?)));
                    Some(Value::Object(kept.collect()))
                }
                _ => None,
            }
        }
        let Paths::Tree(tree) = paths else { return PathTree::default() };
        let kept = tree.iter().filter_map(|(key, value)| Some((key.clone(), clean(value)?)));
        PathTree::new(&Paths::Tree(kept.collect())).unwrap_or_default()
    }
}

/// Rules by the paths of values: `a.b`.
#[derive(Debug, Clone, Default)]
pub(super) struct PathRules(BTreeMap<String, CompiledRule>);

impl PathRules {
    pub(super) fn new(rules: &BTreeMap<String, Rule>, lenient: bool) -> Result<PathRules, (String, RuleProblem)> {
        let compiled = |(path, rule): (&String, &Rule)| match CompiledRule::new(rule, lenient) {
            Ok(rule) => Ok((path.clone(), rule)),
            Err(why) => Err((path.clone(), why)),
        };
        Ok(PathRules(rules.iter().map(compiled).collect::<Result<_, _>>()?))
    }

    fn has_below(&self, path: &str) -> bool {
        let below =
            |(key, _): (&String, &CompiledRule)| key.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
        self.0.range(path.to_owned()..).take_while(|(key, _)| key.starts_with(path)).any(below)
    }
}

/// Rules by paths from several places, the nearest first.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Layers<'a>(pub(super) [Option<&'a PathRules>; 3]);

impl<'a> Layers<'a> {
    fn filled(&self) -> impl Iterator<Item = &'a PathRules> + use<'a> {
        self.0.into_iter().flatten().filter(|rules| !rules.0.is_empty())
    }

    pub(super) fn are_empty(&self) -> bool {
        self.filled().next().is_none()
    }

    /// The rule of this path.
    pub(super) fn exact(&self, path: &str) -> Option<&'a CompiledRule> {
        self.filled().find_map(|rules| rules.0.get(path))
    }

    /// The kind of rule that this path has from its longest parent.
    pub(super) fn parent_kind(&self, path: &str) -> Option<RuleKind> {
        let parents = path.rmatch_indices('.').map(|(end, _)| &path[..end]);
        parents.filter_map(|parent| self.exact(parent)).map(|rule| rule.kind).next()
    }

    /// Whether this path may be absent, or more than is expected.
    pub(super) fn may_differ(&self, path: &str) -> bool {
        let kind = self.exact(path).map(|rule| rule.kind).or_else(|| self.parent_kind(path));
        matches!(kind, Some(RuleKind::Ignore | RuleKind::Optional))
    }

    /// Whether some rule is of a path below this one.
    pub(super) fn have_below(&self, path: &str) -> bool {
        self.filled().any(|rules| rules.has_below(path))
    }
}
