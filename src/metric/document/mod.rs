//! Replies that are documents: JSON and XML.

mod config;
pub mod trpc;

pub use config::{JsonConfig, JsonMatch, XmlConfig};

use roxmltree::{Document, ParsingOptions};
use serde_json::Value;
use serde_json_path::JsonPath;

use super::json::{JsonRules, json_differences, shown_json};
use super::json_schema::CompiledSchema;
use super::measured::{MeasureProblem, Measured, problem, shown};

/// How many differences are shown at most.
const SHOWN: usize = 10;

/// A measure of JSON documents: its schema and paths are compiled once.
pub struct JsonMeasure<'a> {
    config: &'a JsonConfig,
    rules: JsonRules,
    schema: Option<CompiledSchema>,
    paths: Vec<(&'a String, JsonPath, &'a Value)>,
}

impl<'a> JsonMeasure<'a> {
    /// The measure by these options.
    ///
    /// # Errors
    /// Options contradict each other, a path is none, or the schema is none.
    pub fn new(config: &'a JsonConfig) -> Result<JsonMeasure<'a>, MeasureProblem> {
        let mut paths = Vec::new();
        for (path, value) in &config.paths {
            match JsonPath::parse(path) {
                Ok(query) => paths.push((path, query, value)),
                Err(why) => return problem(format!("`{path}` is no JSONPath: {why}")),
            }
        }
        Ok(JsonMeasure {
            config,
            rules: config.rules()?,
            schema: config.schema.as_ref().map(CompiledSchema::new).transpose()?,
            paths,
        })
    }

    /// Measures whether a reply is one JSON document, and the one that the options or, without one there, the case expects.
    ///
    /// # Errors
    /// There is nothing to compare with, or what is expected is no JSON.
    pub fn measure(&self, reply: &str, expected: Option<&str>) -> Result<Measured, MeasureProblem> {
        let expected = expected.map(|text| self.config.document(text)).transpose()?.flatten();
        match serde_json::from_str(reply) {
            Ok(value) => self.measure_value(&value, expected.as_ref()),
            Err(why) => {
                Ok(Measured::failed(format!("the reply is no JSON document: {why}\n  actual: {}", shown(reply))))
            }
        }
    }

    /// Measures a JSON value. The options' expectations take precedence over those given here.
    ///
    /// # Errors
    /// There is nothing to compare with, or whether two numbers are the same is not known.
    pub fn measure_value(&self, actual: &Value, expected: Option<&Value>) -> Result<Measured, MeasureProblem> {
        let mut wrong: Vec<String> = self.schema.iter().flat_map(|schema| schema.violations(actual)).collect();
        let mut doubt = None;
        let mut differences = |actual: &Value, wanted: &Value| {
            let differences = json_differences(actual, wanted, &self.rules);
            doubt = doubt.take().or(differences.doubt());
            differences.found
        };
        for (path, query, wanted) in &self.paths {
            match query.query(actual).all().as_slice() {
                [one] if differences(one, wanted).is_empty() => {}
                [] => wrong.push(format!("`{path}`: expected {}, actual nothing", shown_json(wanted))),
                [one] => wrong.push(format!("`{path}`: expected {}, actual {}", shown_json(wanted), shown_json(one))),
                several => wrong.push(format!("`{path}`: expected one value, found {}", several.len())),
            }
        }
        if self.config.json_match == JsonMatch::Exact {
            match self.config.expected.as_ref().or(expected) {
                Some(it) => wrong.extend(differences(actual, it).iter().map(ToString::to_string)),
                // The schema or paths are enough.
                None if self.schema.is_some() || !self.paths.is_empty() => {}
                None => {
                    return problem(
                        "there is no expected document to compare with: give `expected`, `schema` or `paths`",
                    );
                }
            }
        }
        if let Some(doubt) = doubt.filter(|_| wrong.is_empty()) {
            return problem(doubt);
        }
        if wrong.is_empty() {
            return Ok(Measured::passed("the document is as it is expected"));
        }
        let more = wrong.len().saturating_sub(SHOWN);
        wrong.truncate(SHOWN);
        wrong.extend((more > 0).then(|| format!("and {more} more")));
        Ok(Measured::failed(format!("the document is not as it is expected\n  {}", wrong.join("\n  "))))
    }
}

/// How many prefixes of namespaces may lack a declaration.
const PREFIXES: usize = 50;

/// Measures whether a reply is one well-formed XML document. Its namespaces need not be declared.
pub fn measure_xml(reply: &str) -> Measured {
    let reply = reply.trim();
    let mut declarations = String::new();
    for _ in 0..PREFIXES {
        let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
        let declared = with_declarations(reply, &declarations);
        match Document::parse_with_options(declared.as_deref().unwrap_or(reply), options) {
            Ok(_) => return Measured::passed("the reply is a well-formed XML document"),
            // The parser wants more than well-formedness: it is given what it misses.
            Err(roxmltree::Error::UnknownNamespace(prefix, _)) if !prefix.is_empty() => {
                declarations.push_str(&format!(" xmlns:{prefix}='urn:{prefix}'"));
            }
            Err(why) => {
                let block = format!("the reply is no well-formed XML document: {why}\n  actual: {}", shown(reply));
                return Measured::failed(block);
            }
        }
    }
    Measured::failed(format!(
        "the reply has more than {PREFIXES} prefixes that are not declared\n  actual: {}",
        shown(reply)
    ))
}

/// A document with more declarations on its root element; `None` where there are none, or no root.
fn with_declarations(document: &str, declarations: &str) -> Option<String> {
    let mut at = 0;
    // What stands before the root: comments, instructions, the document's type.
    while let Some(end) = ["<!--", "<?", "<!"].iter().find_map(|opening| end_of(&document[at..], opening)) {
        at += end;
    }
    let root = at + document[at..].find('<')? + 1;
    let name_end = root + document[root..].find([' ', '\t', '\r', '\n', '/', '>'])?;
    (!declarations.is_empty()).then(|| format!("{}{declarations}{}", &document[..name_end], &document[name_end..]))
}

/// Where a part ends that begins with this opening, white space before it.
fn end_of(text: &str, opening: &str) -> Option<usize> {
    let space = text.len() - text.trim_start().len();
    let rest = text[space..].strip_prefix(opening)?;
    let closing = match opening {
        "<!--" => "-->",
        "<?" => "?>",
        _ if rest.find('[').is_some_and(|subset| rest.find('>').is_some_and(|end| subset < end)) => "]>",
        _ => ">",
    };
    Some(space + opening.len() + rest.find(closing)? + closing.len())
}

#[cfg(test)]
mod tests;
