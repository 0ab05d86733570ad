//! OpenAI's chat completions.
