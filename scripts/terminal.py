"""A terminal for tests and pictures: runs a program on a pseudo-terminal and keeps the screen that it paints.

It knows what eval-job writes and nothing else: line feeds, carriage returns, colours, and erasing the lines at the bottom. Any
other sequence is an error. When it gets narrower, longer lines go on in the next row, as in most terminals today.
"""
import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
import unicodedata

SEQUENCE = re.compile(r"\x1b\[(\d*(?:;\d+)*)([A-Za-z])")


class Terminal:
    """Rows of cells, each a character and its style; a row may go on in the next one."""

    def __init__(self, columns):
        self.columns, self.rows, self.goes_on = columns, [[]], [False]
        self.row = self.column = 0
        self.style = ()
        self.rest = ""
        self.decoder = codecs.getincrementaldecoder("utf-8")("strict")

    def feed(self, data):
        text, place = self.rest + self.decoder.decode(data), 0
        self.rest = ""
        while place < len(text):
            c = text[place]
            if c == "\x1b":
                found = SEQUENCE.match(text, place)
                if not found:
                    if len(text) - place > 20:
                        raise ValueError(f"unknown sequence: {text[place:place + 20]!r}")
                    self.rest = text[place:]
                    return
                self.sequence(*found.groups())
                place = found.end()
                continue
            place += 1
            if c == "\r":
                self.column = 0
            elif c == "\n":
                self.down(False)
            elif ord(c) < 32 or ord(c) == 127:
                raise ValueError(f"unknown control character: {c!r}")
            else:
                self.put(c)

    def sequence(self, numbers, kind):
        if kind == "m":
            for number in (numbers or "0").split(";"):
                self.style = () if number == "0" else self.style + (int(number),)
        elif kind == "A":
            self.row = max(0, self.row - int(numbers or "1"))
        elif kind == "K" and numbers == "2":
            self.rows[self.row] = []
            self.goes_on[self.row] = False
        else:
            raise ValueError(f"unknown sequence: {numbers}{kind}")

    def down(self, goes_on):
        self.goes_on[self.row] = goes_on
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append([])
            self.goes_on.append(False)

    def put(self, c):
        width = 0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        if self.column + width > self.columns:
            self.down(True)
            self.column = 0
        row = self.rows[self.row]
        row.extend([(" ", ())] * (self.column + width - len(row)))
        if width:
            row[self.column:self.column + width] = [(c, self.style)] + [("", self.style)] * (width - 1)
        self.column += width

    def resize(self, columns):
        """Breaks all lines anew."""
        rows, goes_on, cursor = [], [], None
        line, place = [], 0
        for number, row in enumerate(self.rows):
            if number == self.row:
                cursor = len(line) + self.column
            line = line + row
            if self.goes_on[number]:
                continue
            parts = [line[at:at + columns] for at in range(0, max(len(line), 1), columns)]
            if cursor is not None and place == 0:
                at = min(max(cursor - 1, 0) // columns, len(parts) - 1)
                self_row, self_column, place = len(rows) + at, cursor - at * columns, 1
            rows += parts
            goes_on += [True] * (len(parts) - 1) + [False]
            line = []
        self.rows, self.goes_on, self.columns = rows, goes_on, columns
        self.row, self.column = self_row, self_column

    def lines(self):
        return ["".join(c for c, _ in row).rstrip() for row in self.rows]


class Program:
    """A program on a pseudo-terminal of its own, with nothing in its environment but what is given."""

    def __init__(self, command, columns, environment=None, folder=None, rows=40):
        known = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        environment = {**known, "TERM": "xterm-256color", **(environment or {})}
        self.terminal = Terminal(columns)
        self.raw, self.rows = b"", rows
        ours, theirs = pty.openpty()
        self.file = ours
        self.size(columns)
        self.process = os.fork()
        if self.process == 0:
            os.setsid()
            fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
            for number in (0, 1, 2):
                os.dup2(theirs, number)
            os.closerange(3, 256)
            if folder:
                os.chdir(folder)
            os.execvpe(command[0], command, environment)
        os.close(theirs)

    def size(self, columns):
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", self.rows, columns, 0, 0))

    def resize(self, columns):
        self.size(columns)
        self.terminal.resize(columns)

    def press(self, keys):
        os.write(self.file, keys)

    def read(self, until=lambda terminal: False, seconds=60):
        """Reads on until the screen is like this (true), or the program has ended (false)."""
        end = time.monotonic() + seconds
        while not until(self.terminal):
            if time.monotonic() > end:
                self.end()
                raise TimeoutError("\n".join(self.terminal.lines()))
            if not select.select([self.file], [], [], 0.05)[0]:
                continue
            try:
                data = os.read(self.file, 4096)
            except OSError:
                data = b""
            if not data:
                return False
            self.raw += data
            self.terminal.feed(data)
        return True

    def end(self):
        try:
            os.kill(self.process, signal.SIGKILL)
        except ProcessLookupError:
            pass  # It has ended, and its status was asked for.

    def status(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
