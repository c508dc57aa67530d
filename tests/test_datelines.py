from __future__ import annotations

import pytest

from kbcite.datelines import dateline_end


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Mar 3, 2014 ... It opened at last.", "It opened at last."),
        ("2 days ago ... It opened at last.", "It opened at last."),
        ("2021-03-05 — 大桥通车。", "大桥通车。"),
        ("新华社3月5日电 大桥通车。", "大桥通车。"),
        ("发布时间：2021-12-29 大桥通车。", "大桥通车。"),
        ("Mar 3, 2014 was the day it opened.", "Mar 3, 2014 was the day it opened."),
        ("大桥于2021年3月5日通车。", "大桥于2021年3月5日通车。"),
    ],
)
def test_a_text_goes_on_after_its_dateline(text: str, rest: str) -> None:
    assert text[dateline_end(text) :] == rest
