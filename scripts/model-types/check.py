"""Holds the rooms of our own models to the types of the providers' official Python packages.

    pip install -r scripts/model-types/requirements.txt
    python scripts/model-types/check.py

It writes the replies that the Rust tests serve as recorded bytes (`tests/fixtures/PROVIDER/reply-*.json`,
`error-*.json`), serialised from the packages' own models, and it validates the requests that the Rust tests compare what
they send with (`tests/fixtures/PROVIDER/request-*.json`). It ends with status 1 if a request is not what a package allows.
Nothing is sent anywhere; CI uses the recorded bytes and does not run this.
"""

import json
import sys
from pathlib import Path

import anthropic_types
import gemini_types
import openai_types
import responses_types

FIXTURES = Path(__file__).resolve().parents[2] / "tests" / "fixtures"


def main():
    refused = False
    for provider in (openai_types, responses_types, anthropic_types, gemini_types):
        name = provider.__name__.removesuffix("_types")
        folder = FIXTURES / name
        folder.mkdir(parents=True, exist_ok=True)
        texts = provider.replies() | {name: json.dumps(body) for name, body in provider.ERRORS.items()}
        for file, text in texts.items():
            (folder / f"{file}.json").write_text(text + "\n")
        print(f"{name}: wrote {len(texts)} replies and errors")
        requests = sorted(folder.glob("request-*.json"))
        if not requests:
            print(f"{name}: no request-*.json yet: run `cargo test --release` once, then this again")
            refused = True
        for path in requests:
            found = provider.problems(json.loads(path.read_text()))
            refused |= bool(found)
            print(f"{name}/{path.name}: {'valid' if not found else '; '.join(found)}")
    sys.exit(1 if refused else 0)


if __name__ == "__main__":
    main()
