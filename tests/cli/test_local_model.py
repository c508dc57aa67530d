"""Models that really run: one of random weights, and, where KBCITE_TEST_GGUF names an instruct model, twenty questions over manuals.

    KBCITE_TEST_GGUF=model.gguf [KBCITE_TEST_STORE=STORE] [KBCITE_TEST_TRANSCRIPT=FILE.md] pytest -m slow tests/cli/test_local_model.py

STORE is one that `python -m tests.debian_docs build STORE` made; without it, the store of two of the manuals is built.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbcite.answer import llm
from kbcite.answer.llm import Complete, Reply
from tests import debian_docs
from tests.cli.run import Shell
from tests.local_model import serve_gguf, write_babbler

pytestmark = pytest.mark.slow
TOWN_QUESTIONS = ("How much is a day ticket for the swimming pool?", "When does the swimming pool open?")
GGUF = os.environ.get("KBCITE_TEST_GGUF", "")
TRANSCRIPT = Path(os.environ.get("KBCITE_TEST_TRANSCRIPT", "docs/answers-of-a-small-model.md"))
QUESTIONS = (
    "Debian 有多少个软件包？",
    "应该选择稳定版、测试版还是不稳定版？",
    "Debian 的不稳定版叫什么名字？",
    "怎么重新配置已安装的软件包？",
    "dpkg 和 apt 有什么区别？",
    "Debian 支持哪些硬件架构？",
    "如何报告软件包的缺陷？",
    "debian/control 文件里写什么？",
    "怎么在 Debian 上安装微信？",
    "谁获得了2035年的诺贝尔文学奖？",
    "What is a virtual environment in Python?",
    "How do I create a virtual environment?",
    "What does the strftime directive %j mean?",
    "What does json.dumps return?",
    "What is a generator in Python?",
    "Which exception is raised when a key is not in a dictionary?",
    "How many packages does Debian have?",
    "What is the unstable distribution of Debian called?",
    "How large is the moon of Saturn called Titan?",
    "Who won the football world cup in 1998?",
)


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the model said, raw, in order."""
    said: list[str] = []
    real = llm.open_model

    def open_model(*arguments: Any, **options: Any) -> Complete:
        complete = real(*arguments, **options)

        def listening(messages: Any) -> Reply:
            reply = complete(messages)
            said.append(reply.text)
            return reply

        return listening

    monkeypatch.setattr(llm, "open_model", open_model)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("KBCITE_ASK_TIMEOUT_S", "600")
    return said


def assert_it_holds(record: dict[str, Any]) -> None:
    """Every number names a source, and no sentence stands without one that supports it."""
    sources = [*record["sources"]["internal"], *record["sources"]["web"]]
    known = {source["n"] for source in sources}
    assert sorted(known) == list(range(1, len(known) + 1))
    for claim in record["answer"]["claims"]:
        assert claim["verdict"] in ("supported", "partial")
        assert claim["markers"]
        for marker in claim["markers"]:
            assert marker["n"] in known
            assert record["answer"]["text"][marker["start"] : marker["end"]] == f"[{marker['n']}]"
    assert all(source["quote"]["exact"] for source in sources)


@pytest.mark.parametrize("seed", range(2))
def test_a_model_that_babbles_is_refused(
    town: Shell, tmp_path: Path, heard: list[str], monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    pytest.importorskip("gguf", reason="pip install gguf")
    pytest.importorskip("xllamacpp", reason="pip install xllamacpp")
    monkeypatch.setenv("KBCITE_ASK_MAX_TOKENS", "300")
    write_babbler(tmp_path / "babbler.gguf", seed)
    with serve_gguf(tmp_path / "babbler.gguf", 1 << 16) as url:
        for question in TOWN_QUESTIONS:
            outcome = town("--json", "ask", question, "--model", "openai/babbler", "--api-base", url)
            assert outcome.code == 3, outcome.err or outcome.json["answer"]
            assert "Traceback" not in outcome.err
            assert outcome.json["refusal"]["reason"] == "citation_check_failed"
            assert outcome.json["answer"]["claims"] == []
    assert len(heard) >= 2


@pytest.fixture
def manuals(tmp_path: Path) -> Iterator[Shell]:
    if given := os.environ.get("KBCITE_TEST_STORE"):
        shutil.copytree(given, tmp_path / "kb")  # answers are kept in it
        yield Shell(tmp_path / "kb")
        return
    names = ("faq", "maint-guide")
    if not all(debian_docs.ROOTS[name].is_dir() for name in names):
        pytest.skip(f"needs Debian's manuals: apt install {debian_docs.PACKAGES}")
    with debian_docs.serve() as site:
        debian_docs.build(str(tmp_path / "kb"), site, names)
        yield Shell(tmp_path / "kb")


@pytest.mark.skipif(not GGUF, reason="KBCITE_TEST_GGUF names no instruct model")
def test_what_a_small_model_says_of_the_manuals_is_shown_only_where_it_holds(manuals: Shell, heard: list[str]) -> None:
    pytest.importorskip("xllamacpp", reason="pip install xllamacpp")
    parts = [f"# Twenty questions to {Path(GGUF).name}\n", "What the model said, and what kbcite showed of it.\n"]
    with serve_gguf(Path(GGUF), 8192) as url:
        for question in QUESTIONS:
            heard.clear()
            outcome = manuals("--json", "ask", question, "--model", "openai/local", "--api-base", url)
            assert outcome.code in (0, 3), outcome.err
            parts.append(transcript(question, heard, outcome.json))
            TRANSCRIPT.parent.mkdir(exist_ok=True)
            TRANSCRIPT.write_text("\n".join(parts), encoding="utf-8")
            assert_it_holds(outcome.json)


def transcript(question: str, heard: list[str], record: dict[str, Any]) -> str:
    """One question as Markdown: what the model said, what was shown, and each verdict."""
    lines = [f"## {question}\n"]
    for number, said in enumerate(heard, start=1):
        quoted = said.replace("\n", "\n> ")
        lines.append(f"The model, try {number}:\n\n> {quoted}\n")
    if not heard:
        lines.append("The model was not asked.\n")
    quoted = record["answer"]["text"].replace("\n", "\n> ")
    lines.append(f"kbcite ({record['status']}):\n\n> {quoted}\n")
    claims = [
        f"- {claim['verdict']}: {record['answer']['text'][claim['start'] : claim['end']]}"
        for claim in record["answer"]["claims"]
    ]
    refusal = [f"- refused: {record['refusal']['reason']}"] if record["refusal"] else []
    path = [f"- steps: {' > '.join(record['grounding']['path'])}"]
    return "\n".join([*lines, *claims, *refusal, *path, ""])
