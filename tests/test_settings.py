from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from importlib import resources
from pathlib import Path

import pytest

from kbcite.errors import UsageError
from kbcite.records import SourceType, Tier
from kbcite.settings import BUILTIN_CLASSES, ClassSettings, Settings, SourceSettings, ToolServerSettings
from kbcite.settings_reading import load_settings, settings_from_table


def load(tmp_path: Path, text: str, environment: dict[str, str] | None = None) -> Settings:
    path = tmp_path / "kbcite.toml"
    path.write_text(text, encoding="utf-8")
    return load_settings(path, environment or {})


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert load_settings(tmp_path / "none.toml", {}) == Settings()


def test_sources_and_sections_are_read(tmp_path: Path) -> None:
    settings = load(
        tmp_path, '[[source]]\nurl = "https://a.example/"\ntype = "internal"\nlabels = ["hr"]\n[ask]\ntop_k = 4\n'
    )
    assert settings.sources == (SourceSettings("https://a.example/", type=SourceType.INTERNAL, labels=("hr",)),)
    assert settings.ask.top_k == 4


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    settings = load(
        tmp_path, "[ask]\nthreshold = 0.3\n", {"KBCITE_ASK_THRESHOLD": "0.6", "KBCITE_INDEX_ENCODER": "st:x"}
    )
    assert (settings.ask.threshold, settings.index.encoder) == (0.6, "st:x")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[ask\n", "is not valid TOML"),
        ("[askk]\n", r"unknown section \[askk\]"),
        ("[ask]\ntopk = 4\n", "unknown key 'topk'"),
        ('[ask]\ntop_k = "many"\n', "'many' is not a whole number"),
        ("[ask]\ntop_k = true\n", "True is not a whole number"),
        ('[source]\nurl = "x"\n', "two brackets"),
        ('[[source]]\ntype = "web"\n', "url"),
        ('[[source]]\nurl = "x"\ntype = "intranet"\n', "intranet"),
        ('[[source]]\nurl = "x"\nallow_private = "maybe"\n', "maybe"),
        ('[[source]]\nurl = "x"\nrender = "sometimes"\n', "sometimes"),
        ("ask = 3\n", "section"),
        ("source = [5]\n", "a table is needed"),
        ('[[source]]\nurl = "x"\ndepth = 2.7\n', "2.7 is not a whole number"),
        ('[[source]]\nurl = "x"\nexclude = "a"\n', "not a list"),
        ("[ask]\ntop_k = 0\n", "top_k: 0 is not between 1 and 20"),
        ("[ask]\nthreshold = nan\n", "threshold: nan"),
        ("[recheck]\ninterval_days = 0\n", "interval_days"),
        ("mcp = 3\n", r"written \[mcp.NAME\]"),
        ('[mcp]\ncommand = ["x"]\n', r"written \[mcp.NAME\]"),
        ('[mcp.a]\ntool = "fetch"\n', r"\[mcp.a\]: either command"),
        ('[mcp.a]\ncommand = ["x"]\nurl = "http://x/"\ntool = "fetch"\n', "either command"),
        ('[mcp.a]\ncommand = ["x"]\n', "tool is missing"),
        ('[mcp.a]\ncommand = ["x"]\ntool = "t"\narguments = { url = [1] }\n', "arguments: a table"),
        ('[mcp.a]\ncommand = ["x"]\ntool = "t"\nenvironment = ["KEY=secret"]\n', "names of variables.*'KEY'"),
        ('[mcp.a]\ncommand = ["x"]\ntool = "t"\ncolour = 1\n', "unknown key 'colour'"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        load(tmp_path, text)


def test_the_template_shows_every_setting_with_its_default() -> None:
    template = resources.files("kbcite.store").joinpath("kbcite.template.toml").read_text(encoding="utf-8")
    sections = {name: {} for name in ("crawl", "chunk", "index", "ask", "recheck", "live", "telemetry")}
    assert tomllib.loads(template) == sections | {"classes": {name: {} for name, _ in BUILTIN_CLASSES}}
    shown = tomllib.loads(
        re.sub(r"^# (?=\w+ = )", "", template, flags=re.MULTILINE)
        .replace("# [[source]]", "[[source]]")
        .replace("# [mcp.NAME]", "[mcp.NAME]")
    )
    server = shown.pop("mcp")["NAME"]
    assert set(server) | {"url"} == {f.name for f in fields(ToolServerSettings)}
    for section in fields(Settings):
        if section.name not in ("sources", "classes", "mcp"):
            assert set(shown[section.name]) == {f.name for f in fields(getattr(Settings(), section.name))}
    assert set(shown["classes"]["volatile"]) == {f.name for f in fields(ClassSettings)}
    assert set(shown["source"][0]) == {f.name for f in fields(SourceSettings)}
    del shown["source"]
    assert settings_from_table(shown, "the template", {}) == Settings()


def test_a_class_of_ones_own_has_the_window_of_seven_days_and_a_built_in_one_keeps_what_is_not_named(
    tmp_path: Path,
) -> None:
    classes = dict(load(tmp_path, '[classes.finance]\nhigh_risk = true\n[classes.news]\nttl = "30m"\n').classes)
    assert (classes["finance"].window_s, classes["finance"].high_risk) == (7 * 86_400, True)
    assert (classes["news"].window_s, classes["news"].ttl_s, classes["news"].max_age_s) == (
        3 * 86_400,
        1800,
        30 * 86_400,
    )
    assert classes["reference"].window_s is None


def test_a_class_reads_no_pooled_page_beyond_its_window(tmp_path: Path) -> None:
    classes = dict(load(tmp_path, '[classes.volatile]\nwindow = "15m"\n').classes)
    assert [classes[name].ttl_s for name in ("volatile", "news", "reference")] == [900, 3600, 3600]


def test_a_source_may_name_its_tier(tmp_path: Path) -> None:
    (source,) = load(tmp_path, '[[source]]\nurl = "https://a.example/"\ntier = "daily"\n').sources
    assert source.tier is Tier.DAILY


def test_a_tool_server_is_read_with_its_arguments_in_order(tmp_path: Path) -> None:
    text = '[mcp.find]\nurl = "https://t.example/mcp"\ntool = "search"\ntoken = "FIND_KEY"\ntimeout_s = 5\narguments = { q = "{query}", n = 5 }\n'
    ((name, server),) = load(tmp_path, text).mcp
    assert name == "find"
    assert (server.url, server.tool, server.token, server.timeout_s) == (
        "https://t.example/mcp",
        "search",
        "FIND_KEY",
        5.0,
    )
    assert server.arguments == (("q", "{query}"), ("n", 5))
    assert server.is_search


@pytest.mark.parametrize(("value", "reason"), [("high", "'high' is not a number"), ("7", "'7' is not between 0 and 1")])
def test_a_wrong_variable_is_named_and_not_the_file(tmp_path: Path, value: str, reason: str) -> None:
    with pytest.raises(UsageError, match=f"^KBCITE_ASK_THRESHOLD in the environment: {reason}"):
        load(tmp_path, "", {"KBCITE_ASK_THRESHOLD": value})
