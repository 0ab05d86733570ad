//! Recordings by their paths: found and looked through once, then read one by one. A file with a conversation a line, or a large one
//! with a list of them, is never held whole.

mod folder;
mod items;
mod pieces;
mod traces;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::files::PartReader;
use super::super::findings::about_file;
use super::super::load::{single, stem};
use super::super::{Files, Kind};
use super::{Recorded, case_of, load_named};
use crate::job::{Problem, Problems};
use pieces::{ConversationNames, Piece};

pub(in crate::dataset) use items::cut as cut_items;
pub(in crate::dataset) use pieces::{LARGE, Pieces};

/// The keys by which a conversation is matched with a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingKey {
    /// Its id: the case's, as far as the file says.
    pub id: String,
    /// Other ids in it that may be the case's, in the order in which they are looked for.
    pub other_ids: Vec<String>,
    /// The agent's model, where it is named.
    pub model: Option<String>,
    /// The id of its session.
    pub session: Option<String>,
    /// The name of its file, without folders and endings.
    pub file_stem: Arc<str>,
    /// Its file.
    pub file: Arc<Path>,
    /// The line at which it, or what it is read with, begins.
    pub line: usize,
}

/// A file with conversations.
#[derive(Debug)]
struct RecordedFile {
    path: PathBuf,
    kind: Kind,
    pieces: Pieces,
}

/// Conversations in files.
#[derive(Debug)]
pub struct Recordings {
    files: Vec<RecordedFile>,
    /// The keys by which they are matched, in the order of the files.
    pub keys: Vec<RecordingKey>,
    /// The file, the piece and the place in it of each.
    places: Vec<(usize, usize, usize)>,
    held: RefCell<HeldPiece>,
    /// The file of which parts were read last, by its place.
    reader: RefCell<(usize, Option<PartReader>)>,
    /// Deviations that were accepted: what is odd, and what was left out.
    pub warnings: Vec<Problem>,
}

/// The piece that was read last, and its conversations.
type HeldPiece = (Option<(usize, usize)>, Result<Vec<Option<Recorded>>, Problems>);

impl Recordings {
    /// Looks through a file or a folder.
    ///
    /// # Errors
    /// Nothing is there, nothing is recorded there, or there are errors in it: all of a file's, each with its place.
    pub fn open(path: &Path, files: &dyn Files) -> Result<Recordings, Problems> {
        let mut recordings = Recordings {
            files: Vec::new(),
            keys: Vec::new(),
            places: Vec::new(),
            held: RefCell::new((None, Ok(Vec::new()))),
            reader: RefCell::new((0, None)),
            warnings: Vec::new(),
        };
        match files.is_folder(path) {
            true => folder::open(&mut recordings, path, files)?,
            false => recordings.add(path, files).map_err(|refused| refused.problems)?,
        }
        Ok(recordings)
    }

    /// The files, and what each is.
    pub fn files(&self) -> impl Iterator<Item = (&Path, Kind)> {
        self.files.iter().map(|file| (file.path.as_path(), file.kind))
    }

    /// How many conversations there are.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// The conversation of this key, or why it can't be read. What is read together with it is held until another one is asked
    /// for.
    pub fn conversation(&self, key: usize, files: &dyn Files) -> Option<Result<Recorded, Problems>> {
        let (file, piece, place) = *self.places.get(key)?;
        let mut held = self.held.borrow_mut();
        if held.0 != Some((file, piece)) {
            let mut reader = self.reader.borrow_mut();
            if reader.0 != file {
                *reader = (file, None);
            }
            let (file, piece) = (&self.files[file], &self.files[file].pieces.list[piece]);
            let read = file.text_of(piece, files, &mut reader.1).and_then(|text| file.read(piece, &text));
            let read = read.map(|(conversations, _)| conversations.into_iter().map(Some).collect());
            *held = (Some((self.places[key].0, self.places[key].1)), read);
        }
        match &mut held.1 {
            // Each is asked for once.
            Ok(conversations) => conversations.get_mut(place)?.take().map(Ok),
            Err(problems) => Some(Err(problems.clone())),
        }
    }

    /// The conversations in the order of the keys, each read when it is asked for; in place of one that can't be read, why.
    pub fn conversations<'a>(
        &'a self,
        files: &'a dyn Files,
    ) -> impl Iterator<Item = Result<Recorded, Problems>> + use<'a> {
        self.files.iter().flat_map(move |file| {
            let (pieces, mut reader) = (file.pieces.list.iter(), None);
            pieces.flat_map(move |piece| {
                let read = file.text_of(piece, files, &mut reader).and_then(|text| file.read(piece, &text));
                match read {
                    Ok((conversations, _)) => {
                        conversations.into_iter().map(Ok).collect::<Vec<Result<Recorded, Problems>>>()
                    }
                    Err(problems) => vec![Err(problems); piece.conversations],
                }
            })
        })
    }

    /// Looks through a file. Nothing is added of one that is refused.
    fn add(&mut self, path: &Path, files: &dyn Files) -> Result<(), Refused> {
        let name = name(path);
        let (mut keys, mut warnings) = (Vec::new(), Vec::new());
        let nothing_read = |problems| Refused { problems, has_conversations: false };
        let pieces = pieces::cut(path, files, &mut warnings).map_err(nothing_read)?;
        let mut file = RecordedFile { path: path.to_path_buf(), kind: Kind::MessageList, pieces };
        let (mut problems, mut reader) = (Vec::new(), None);
        let mut list = std::mem::take(&mut file.pieces.list);
        let stem: Arc<str> = case_of(stem(&name)).into();
        let shared: Arc<Path> = path.into();
        let key = |names: ConversationNames, line: usize| {
            let ConversationNames { id, other_ids, model, session } = names;
            let (file_stem, file) = (stem.clone(), shared.clone());
            RecordingKey { id, other_ids, model, session, file_stem, file, line }
        };
        for (at, piece) in list.iter_mut().enumerate() {
            if let Some(seen) = piece.seen.take() {
                (piece.conversations, file.kind) = (1, Kind::MessageList);
                keys.push(key(*seen, piece.line));
                continue;
            }
            match file.text_of(piece, files, &mut reader).and_then(|text| file.read(piece, &text)) {
                Ok((conversations, of_piece)) => {
                    piece.conversations = conversations.len();
                    if at == 0 {
                        file.kind = of_piece.0;
                    }
                    warnings.extend(of_piece.1);
                    keys.extend(conversations.into_iter().map(|it| {
                        let Recorded { id, other_ids, model, session, .. } = it;
                        key(ConversationNames { id, other_ids, model, session: session.id }, piece.line)
                    }));
                }
                Err(of_piece) => problems.extend(of_piece.list),
            }
            if problems.len() > MOST_PROBLEMS {
                break;
            }
        }
        if !problems.is_empty() {
            let untold = problems.len().saturating_sub(MOST_PROBLEMS);
            problems.truncate(MOST_PROBLEMS);
            let problems = Problems { list: problems, untold };
            return Err(Refused { problems, has_conversations: !keys.is_empty() });
        }
        list.retain(|piece| piece.conversations > 0);
        if list.is_empty() {
            return Err(nothing_read(single(about_file(&name, "nothing is recorded in this file", None))));
        }
        let number = self.files.len();
        let places = list.iter().enumerate();
        self.places
            .extend(places.flat_map(|(piece, it)| (0..it.conversations).map(move |place| (number, piece, place))));
        self.keys.extend(keys);
        self.warnings.extend(warnings);
        file.pieces.list = list;
        self.files.push(file);
        Ok(())
    }
}

/// Why a file is not among the recordings.
struct Refused {
    problems: Problems,
    /// Whether conversations are recorded in it, beside what is wrong.
    has_conversations: bool,
}

/// The most problems of a file that are shown.
const MOST_PROBLEMS: usize = 20;

impl RecordedFile {
    /// The text of a piece; line breaks stand between what is read together. The file stays open in `reader`.
    fn text_of(&self, piece: &Piece, files: &dyn Files, reader: &mut Option<PartReader>) -> Result<String, Problems> {
        let unreadable = |error: std::io::Error| {
            single(about_file(&name(&self.path), format!("this file can't be read: {error}"), None))
        };
        if piece.spans.is_empty() {
            return files.read(&self.path).map_err(unreadable);
        }
        let reader = match reader {
            Some(reader) => reader,
            None => reader.insert(PartReader::open(&self.path, files).map_err(unreadable)?),
        };
        let mut bytes = self.pieces.before.clone().into_bytes();
        for (number, (start, length)) in piece.spans.iter().enumerate() {
            if number > 0 {
                bytes.push(b'\n');
            }
            reader.read(*start, *length, &mut bytes).map_err(unreadable)?;
        }
        bytes.extend_from_slice(self.pieces.after.as_bytes());
        String::from_utf8(bytes).map_err(|_| {
            let message = format!("line {} is not UTF-8; save the file as UTF-8", piece.line);
            single(Problem { line: piece.line, ..about_file(&name(&self.path), message, None) })
        })
    }

    /// The conversations of a piece, and what it is, with the warnings.
    #[expect(clippy::type_complexity, reason = "conversations, and what was found on the way")]
    fn read(&self, piece: &Piece, text: &str) -> Result<(Vec<Recorded>, (Kind, Vec<Problem>)), Problems> {
        let file_name = name(&self.path);
        let stem = stem(&file_name);
        let own = piece.number.map(|number| format!("{stem}-{number}"));
        let shifted = |problem: Problem| Problem { line: problem.line + piece.line - 1, ..problem };
        match load_named(&file_name, own.as_deref().unwrap_or(stem), text) {
            Ok(recording) => {
                let warnings = recording.warnings.into_iter().map(shifted).collect();
                Ok((recording.conversations, (recording.kind, warnings)))
            }
            Err(problems) if piece.line == 1 => Err(problems),
            Err(_) => {
                // Read once more where it stands, so that errors name the lines of the file.
                let text = format!("{}{text}", "\n".repeat(piece.line - 1));
                load_named(&file_name, own.as_deref().unwrap_or(stem), &text).map(|recording| {
                    let found = (recording.kind, recording.warnings);
                    (recording.conversations, found)
                })
            }
        }
    }
}

fn name(path: &Path) -> String {
    path.display().to_string()
}
