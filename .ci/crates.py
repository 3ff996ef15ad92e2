#!/usr/bin/env python3
"""Updates the figures in the table of crates in CONTRIBUTING.md.

Prints an error and fails if a crate of the workspace has no row. Needs cargo.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "CONTRIBUTING.md"
# Types in macros are indented.
PUBLIC_TYPE = re.compile(r"pub (struct|enum|trait|type|union) ")
TEST_MODULE = re.compile(r"(?:pub(?:\(crate\))? )?mod (\w+);")


def code(text):
    """Returns the lines of code and the names of test modules in separate files.

    >>> code("//! Doc.\\n\\nfn f() {\\n    // Why.\\n    1\\n}\\n")
    (['fn f() {', '    1', '}'], [])
    >>> code("fn f() {}\\n#[cfg(test)]\\nmod tests {\\n    fn g() {}\\n}\\nfn h() {}\\n")
    (['fn f() {}', 'fn h() {}'], [])
    >>> code("#[cfg(test)]\\n#[allow(dead_code)]\\nmod tests;\\nmod other;\\n")
    (['mod other;'], ['tests'])
    """
    lines, tests, skipped = [], [], None
    for line in text.splitlines():
        word = line.strip()
        if word == "" or word.startswith("//"):
            continue
        indent = len(line) - len(line.lstrip())
        if word == "#[cfg(test)]":
            skipped = indent
        elif skipped is None:
            lines.append(line)
        # rustfmt indents the end of an item like its start.
        elif indent == skipped and not word.startswith("#[") and word.endswith((";", "}", "},")):
            tests += TEST_MODULE.findall(word)
            skipped = None
    return lines, tests


def figures(folder):
    """Returns the number of lines of code and of public types below a folder."""
    lines, tests = {}, set()
    for path in sorted(folder.rglob("*.rs")):
        lines[path], names = code(path.read_text())
        parent = path.parent if path.name in ("lib.rs", "main.rs", "mod.rs") else path.with_suffix("")
        tests |= {parent / name for name in names}
    kept = [
        line
        for path, all_lines in lines.items()
        if tests.isdisjoint([path.with_suffix(""), *path.parents])
        for line in all_lines
    ]
    return len(kept), sum(1 for line in kept if PUBLIC_TYPE.match(line))


def main():
    command = ["cargo", "metadata", "--no-deps", "--locked", "--format-version", "1"]
    packages = json.loads(subprocess.check_output(command, cwd=ROOT))["packages"]
    names = {package["name"] for package in packages}
    page = PAGE.read_text()
    for package in packages:
        name = package["name"]
        lines, types = figures(Path(package["manifest_path"]).parent / "src")
        uses = {d["name"] for d in package["dependencies"] if d["kind"] is None} & names
        listed = ", ".join(f"`{use.removeprefix('svc-')}`" for use in sorted(uses))
        cells = [f"{lines:,}".replace(",", " "), types, listed] if lines > 0 else ["", "", listed]
        row = re.compile(rf"^(\| `{name}` \|[^|]*\|[^|]*\|).*$", re.MULTILINE)
        page, count = row.subn(r"\1" + "".join(f" {cell} |".replace("  ", " ") for cell in cells), page)
        if count != 1:
            sys.exit(f"CONTRIBUTING.md needs one row for the crate `{name}`, and has {count}.")
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
