"""What `--help` adds to a command: examples that can be typed, and plain words for the values of options."""

from __future__ import annotations

import typer

EXAMPLES: dict[str, tuple[str, ...]] = {
    "init": ("kbcite init", "kbcite --store ~/handbook init"),
    "source": ("kbcite source add https://docs.example.com/guide/", "kbcite source list"),
    "source add": (
        "kbcite source add https://docs.example.com/guide/ --depth 3",
        "kbcite source add http://wiki.local/ --type internal --allow-private",
    ),
    "source remove": ("kbcite source remove https://docs.example.com/guide/",),
    "source list": ("kbcite source list",),
    "crawl": (
        "kbcite crawl",
        "kbcite crawl --dry-run",
        "kbcite crawl --explain https://docs.example.com/guide/a.html",
    ),
    "clean": ("kbcite clean", "kbcite clean --skipped", "kbcite clean --explain page.html"),
    "chunk": ("kbcite chunk",),
    "index": ("kbcite index", "kbcite index --rebuild --encoder st:BAAI/bge-m3"),
    "build": ("kbcite build", "kbcite build --max-time 1800 --wait 300"),
    "ask": (
        'kbcite ask "How long are backups kept?"',
        'kbcite ask "押金多久退还？" --model ollama/qwen2.5',
        'kbcite ask "How long are backups kept?" -f html -o answer.html',
    ),
    "search": ('kbcite search "snapshot retention"', 'kbcite search "snapshot retention" --explain'),
    "recheck": ("kbcite recheck", "kbcite recheck --limit 50 --exit-code"),
    "show": (
        "kbcite show",
        "kbcite show 1",
        "kbcite show a594 -f html -o answer.html",
        "kbcite show https://docs.example.com/guide/ --snapshot > page.html",
    ),
    "verify": ("kbcite verify", "kbcite verify --all", "kbcite verify report.md --live"),
    "audit": ("kbcite audit", "kbcite audit --re-ask"),
    "log": ("kbcite log", "kbcite log --grep 押金"),
    "trace": ("kbcite trace", "kbcite trace a594 --all"),
    "export": ("kbcite export -o answers.jsonl", "kbcite export -f bibtex -o pages.bib", "kbcite export a594 -f md"),
    "import": ("kbcite import answers.jsonl",),
    "status": ("kbcite status", "kbcite status --pages"),
    "warc": ("kbcite warc import crawl.warc.gz", "kbcite warc export kb.warc.gz"),
    "warc import": ("kbcite warc import crawl.warc.gz",),
    "warc export": (
        "kbcite warc export kb.warc.gz",
        "kbcite warc export guide.warc.gz https://docs.example.com/guide/",
    ),
    "forget": ("kbcite forget https://docs.example.com/guide/a.html", "kbcite forget --list"),
    "doctor": ("kbcite doctor", "kbcite doctor --read-data", "kbcite doctor --repair"),
    "mcp": ("kbcite mcp", "kbcite mcp --http 127.0.0.1:8970 --label hr"),
    "mcp check": ("kbcite mcp check prices",),
    "calibrate": ("kbcite calibrate", "kbcite calibrate questions.jsonl --write"),
    "regress": ("kbcite regress", "kbcite regress --pages golden_pages --html report.html"),
}
"""What stands under "Examples" on a command's help page, by the command's name; tests parse every one."""

_BY_NAME = {
    "api_base": "URL",
    "containing": "WORDS",
    "exclude": "PATTERN",
    "label": "LABEL",
    "live": "URL",
    "mark": "URL",
    "max_time": "SECONDS",
    "now": "TIME",
    "pages": "FOLDER",
    "scope": "URL",
    "store": "FOLDER",
    "time_limit": "SECONDS",
    "topic": "WORD",
    "url": "URL",
}
_BY_TYPE = {"int range": "N", "float range": "NUMBER", "int": "N", "float": "NUMBER", "str": "NAME", "path": "FILE"}
"""What typer would call `<int range>`, `<str>` and the like."""


def explain(command: object, name: str = "") -> None:
    """Give the command, or each of a group, its examples and the plain names of its options' values."""
    for param in getattr(command, "params", ()):
        if param.metavar is not None or getattr(param, "is_flag", False):
            continue
        if param.param_type_name == "argument":
            param.metavar = param.name.upper()
        else:
            param.metavar = _BY_NAME.get(param.name) or _BY_TYPE.get(param.type.name)
    if name in EXAMPLES and isinstance(command, typer.core.TyperCommand | typer.core.TyperGroup):
        # The first character keeps typer from joining the lines into one paragraph.
        command.epilog = "\b\nExamples:\n" + "\n".join(f"  {example}" for example in EXAMPLES[name])
    for below, child in getattr(command, "commands", {}).items():
        explain(child, f"{name} {below}".strip())
