//! Why a judge's reply can't be used.

use serde_json::Value;

/// Why a judge's reply can't be used, in sentences that can be sent back to the judge.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ReplyError {
    /// It is not JSON, with the parser's error.
    #[error("The reply is not JSON ({0}).")]
    NotJson(String),
    /// It is longer than any verdict: the most kilobytes that are read.
    #[error("The reply is longer than {0} kB: give the verdict alone.")]
    TooLong(usize),
    /// A key stands twice in one object, with different values.
    #[error("The reply says `{0}` twice in one object, and differently.")]
    Contradiction(String),
    /// It has no list of tasks.
    #[error("The reply must be an object with a list `tasks`.")]
    NoTasks,
    /// Its ratings have these errors.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))]
    Ratings(Vec<RatingError>),
    /// The tone counts, and was not rated.
    #[error("There is no rating of the tone.")]
    NoTone,
    /// It repeats a part of the prompt.
    #[error(
        "The verdict stands word for word in what you were given: as the example of its form, or as somebody's words in \
         the conversation. Give your own."
    )]
    Quoted,
    /// It has no list of verdicts.
    #[error("The reply must be an object with a list `verdicts`.")]
    NoVerdicts,
    /// The judge found nothing, where there must be something.
    #[error("There is no verdict, and the user had things to ask for: list what the user wanted.")]
    NothingFound,
    /// The judge found more than it may.
    #[error("There are {found} verdicts, where at most {most} are asked for: take together what belongs together.")]
    TooManyFound {
        /// How many it found.
        found: usize,
        /// How many it may find.
        most: usize,
    },
    /// The judge counts something twice that it found; its name, or its id.
    #[error("{0} is there more than once: give what belongs together one verdict, and each an id of its own.")]
    FoundTwice(String),
    /// Its verdicts have these errors, a sentence each.
    #[error("{}", .0.join(" "))]
    Verdicts(Vec<String>),
    /// Some verdicts can't be used, or don't rest on what was said; the others can. A sentence each.
    #[error("{}", .0.join(" "))]
    InPart(Vec<String>),
    /// It does not say whether two texts mean the same.
    #[error("The reply must be an object with `same`, which is true or false.")]
    NoSame,
    /// It is no cosine of two embeddings.
    #[error("The embeddings of both texts have no cosine.")]
    NoCosine,
    /// The metric asks no judge.
    #[error("{0} asks no judge")]
    NotAsked(&'static str),
}

/// The error of a rating in a judge's reply. Entries and tasks are counted from 1.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RatingError {
    /// An entry does not belong to a task.
    #[error("Entry {0} of `tasks` {1}.")]
    Entry(usize, EntryError),
    /// A task is rated twice.
    #[error("Task {0} is there more than once.")]
    Repeated(usize),
    /// A task's rating is unusable.
    #[error("Task {0} {1}.")]
    Task(usize, EntryError),
    /// The tone's rating is unusable.
    #[error("`tone` {0}.")]
    Tone(EntryError),
    /// Tasks are not rated, by their numbers.
    #[error("There is no entry for task {0}.")]
    Absent(String),
}

/// The error of one entry: the end of a sentence.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EntryError {
    /// It does not name its task.
    #[error("has no `index`")]
    NoIndex,
    /// Its index is not a whole number.
    #[error("has the index {0}, which is not a whole number")]
    NotWhole(Value),
    /// There are fewer tasks.
    #[error("has the index {0}, but the tasks are numbered from 1 to {1}")]
    NoSuchTask(f64, usize),
    /// It has no score.
    #[error("has no `score`")]
    NoScore,
    /// Its score is not a number.
    #[error("has the score {0}, which is not a number")]
    NotANumber(Value),
    /// Its score is out of range.
    #[error("has the score {0}, which is not from 0 to 1")]
    OutOfRange(f64),
    /// It gives no reason.
    #[error("has no `reason`")]
    NoReason,
}
