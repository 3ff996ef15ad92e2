"""Runs a program without arguments on a separate terminal, and prints what the terminal showed and the exit code.

    terminal.py PROGRAM QUESTION ANSWER [QUESTION ANSWER]...

Each answer is typed once the terminal shows its question; one that begins with `hidden:` once the terminal has no echo.
"""

import os
import pty
import sys
import termios
import time

program, *dialogue = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    os.execv(program, [program])

shown = b""


def read():
    """Returns what the terminal shows next, or an empty text after the end of the program."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


seen = 0
for question, answer in zip(dialogue[::2], dialogue[1::2]):
    while (found := shown.find(question.encode(), seen)) < 0:
        more = read()
        if not more:
            sys.exit(f"the program ended before {question!r}: {shown.decode()}")
        shown += more
    seen = found + len(question)
    if answer.startswith("hidden:"):
        answer = answer.removeprefix("hidden:")
        while termios.tcgetattr(terminal)[3] & termios.ECHO:
            time.sleep(0.01)
    os.write(terminal, answer.encode() + b"\n")
while more := read():
    shown += more
print(shown.decode())
print("exit code", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
