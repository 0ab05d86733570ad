"""What eval-job paints on a terminal. `terminal.py EVAL_JOB FOLDER` says what is wrong; FOLDER has the jobs of terminal.rs."""
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from terminal import Program

PROGRAM, FOLDER = sys.argv[1:3]
BAR = re.compile(r"^(?:[━─]+  )?\d+/\d+ · ")


def start(columns, *arguments, **environment):
    return Program([PROGRAM, *arguments], columns, environment, FOLDER)


def bars(terminal):
    return [line for line in terminal.lines() if BAR.match(line) or line.startswith("waiting for ")]


def check(is_so, what, program):
    if not is_so:
        program.end()
        raise AssertionError(what + "\n" + "\n".join(program.terminal.lines()))


def clean(program, status):
    """The end of a program: nothing of the bar is left, the cursor is where it belongs, colours are reset."""
    program.read()
    found, screen = program.status(), program.terminal
    check(found == status, f"status {found}, expected {status}", program)
    check(not bars(screen), "something of the bar is left", program)
    check((screen.column, screen.style) == (0, ()), "the cursor is within a line, or coloured", program)
    check(b"?25l" not in program.raw, "the cursor was hidden", program)
    check("\\u{" not in "\n".join(screen.lines()), "our own colours are spelled out", program)


def the_bar_leaves_nothing_behind(columns):
    run = start(columns, "run", "slow.yml", "-v", "--repeat", "2", "-j", "2")
    check(run.read(lambda screen: len(bars(screen)) == 2), "there is no bar", run)
    widest = 0
    while run.read(lambda screen, known=len(run.raw): len(run.raw) > known):
        check(len(bars(run.terminal)) <= 2, "the bar stands there twice", run)
        widest = max([widest, *map(len, run.terminal.lines())])
    clean(run, 100)
    check(widest <= columns and not any(run.terminal.goes_on), "a line is broken by the terminal", run)
    said = " ".join(" ".join(run.terminal.lines()).split())
    for name in ["without facts #1", "with facts #2"]:
        check(f"{name}" in said, f"nothing of {name}", run)
    check("[function call] look_up" in said and "gate failed: " in said, "lines above the bar are missing", run)


def a_kept_conversation_is_shown_within_the_columns():
    for columns in [60, 100]:
        shown = start(columns, "show", "-v")
        shown.read()
        check(shown.status() == 100, "it is not shown", shown)
        lines = shown.terminal.lines()
        check(not any(shown.terminal.goes_on), "a line is broken by the terminal", shown)
        agent = next(number for number, line in enumerate(lines) if "agent (" in line)
        check("longer than any line" in " ".join(lines), "nothing of the conversation", shown)
        check(re.match(r"   \S", lines[agent + 1]), "a long line does not go on below its words", shown)
    piped = subprocess.run([PROGRAM, "show", "-v"], cwd=FOLDER, env={}, capture_output=True, text=True)
    check(max(map(len, piped.stdout.splitlines())) > 200, "lines in a pipe are broken", shown)


def sentences_are_broken_between_words():
    for arguments in [["run", "warned.yml"], ["validate", "wrong.yml"]]:
        run = start(60, *arguments)
        run.read()
        run.status()
        check(not any(run.terminal.goes_on), "a line is broken by the terminal", run)


def a_window_may_change_its_size():
    run = start(140, "run", "slow.yml", "--repeat", "3", "-j", "1")
    for columns in [60, 30, 100]:
        at = len(run.raw)
        check(run.read(lambda screen: len(run.raw) > at and len(bars(screen)) == 2), "there is no bar", run)
        run.resize(columns)
    clean(run, 100)


def after_an_interruption_the_terminal_is_clean():
    for keys in [b"\x03", b"\x03\x03"]:
        run = start(80, "run", "slow.yml", "-j", "1", "--repeat", "20")
        check(run.read(lambda screen: len(bars(screen)) == 2), "there is no bar", run)
        for key in keys:
            run.press(bytes([key]))
        clean(run, 130)


def what_is_waited_for_is_named():
    """Within three seconds something is told, whoever is slow."""
    for job, words in [("slow-agent.yml", "waiting for agent"), ("slow-persona.yml", "waiting for persona"), ("slow-judge.yml", "waiting for judge")]:
        for environment in [{}, {"CI": "true"}, {"TERM": "dumb"}]:
            run = start(80, "run", job, **environment)
            begun, told, silent = time.monotonic(), time.monotonic(), 0.0
            known = 0

            def is_told(screen):
                nonlocal told, silent, known
                if len(run.raw) != known:
                    known, told = len(run.raw), time.monotonic()
                silent = max(silent, time.monotonic() - told)
                return words in "\n".join(screen.lines()) or time.monotonic() - begun > 20

            run.read(is_told)
            check(words in "\n".join(run.terminal.lines()), f"{job} {environment}: nobody says {words!r}", run)
            check(silent < 4, f"{job} {environment}: silent for {silent:.1f} s", run)
            is_whole = not any(run.terminal.goes_on)
            check(environment or is_whole, f"{job}: a line is broken by the terminal", run)
            is_told_again = "trying again" in " ".join(" ".join(run.terminal.lines()).split())
            check(is_told_again or job != "slow-persona.yml", "no retry is told", run)
            check(bool(bars(run.terminal)) == (not environment), f"{job} {environment}: a bar, or none", run)
            run.end()
            run.status()


def colours_are_as_they_are_asked_for():
    plain = {"NO_COLOR": "1"}
    for arguments, environment, expected in [
        ([], {}, True),
        ([], plain, False),
        ([], {**plain, "CLICOLOR_FORCE": "1"}, False),
        ([], {"TERM": "dumb"}, False),
        ([], {"TERM": "dumb", "CLICOLOR_FORCE": "1"}, True),
        (["--color", "always"], plain, True),
        (["--color", "never"], {"CLICOLOR_FORCE": "1"}, False),
    ]:
        run = start(80, "run", "quick.yml", *arguments, **environment)
        run.read()
        run.status()
        check(bool(re.search(rb"\x1b\[\d+m", run.raw)) == expected, f"{arguments} {environment}: {run.raw!r}", run)


for columns in [60, 80, 140]:
    the_bar_leaves_nothing_behind(columns)
a_kept_conversation_is_shown_within_the_columns()
sentences_are_broken_between_words()
a_window_may_change_its_size()
after_an_interruption_the_terminal_is_clean()
what_is_waited_for_is_named()
colours_are_as_they_are_asked_for()
