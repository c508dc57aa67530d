import re
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbcite.answer.deep_link import deep_link, find_fragment, page_link

PAGE = """# 退货政策

自签收之日起 30 天内可以退货，运费由买家承担，特殊商品除外；退回的商品须保持原有包装，附件齐全，并附上发票原件，否则将酌情扣除折旧费用。

| 项目 | 期限 |
| --- | --- |
| 换货 | 15 天 |

详情请咨询客服。

The **return** period is 30 days, non-negotiable.

详情请咨询客服。
"""


@pytest.mark.parametrize(
    ("quote", "directive"),
    [
        ("| 换货 | 15 天 |", "换货,15 天"),
        ("The **return** period is 30 days, non-negotiable.", "The return period is 30 days, non-negotiable"),
        ("# 退货政策", "退货政策"),
    ],
)
def test_a_unique_quote_is_linked_by_the_words_as_shown(quote, directive):
    link = deep_link("https://a.example/p?x=1#old", quote, PAGE)
    assert unquote(link) == f"https://a.example/p?x=1#:~:text={directive}"


def test_a_long_quote_is_linked_by_its_first_and_last_clause():
    quote = PAGE.splitlines()[2]
    assert unquote(deep_link("https://a.example/p", quote, PAGE)).endswith(
        "#:~:text=自签收之日起,否则将酌情扣除折旧费用"
    )


def test_what_means_something_in_a_directive_is_escaped():
    link = deep_link("https://a.example/p", "The **return** period is 30 days, non-negotiable.", PAGE)
    assert link.partition("text=")[2].count("-") == 0
    assert "%2C" in link


@pytest.mark.parametrize("quote", ["详情请咨询客服。", "这句话不在页面里。", ""])
def test_no_link_is_made_where_the_words_are_not_found_exactly_once(quote):
    assert deep_link("https://a.example/p", quote, PAGE) is None


def place(page: str, quote: str, nth: int = 0) -> tuple[int, int]:
    start = -1
    for _ in range(nth + 1):
        start = page.index(quote, start + 1)
    return start, start + len(quote)


def directive(page: str, quote: str, nth: int = 0) -> str | None:
    link = page_link("https://a.example/p#old", page, *place(page, quote, nth))
    return unquote(link.partition("#:~:text=")[2]) if link else None


@pytest.mark.parametrize(
    ("page", "quote", "nth", "words"),
    [
        ("Menu\nCall the desk.\nFees\nCall the desk.", "Call the desk.", 1, "Fees-,Call the desk"),
        ("Call the desk.\nFees\nCall the desk.", "Call the desk.", 0, "Call the desk.,-Fees"),
        ("退货\n详情请咨询客服。\n换货\n详情请咨询客服。", "详情请咨询客服。", 1, "换货-,详情请咨询客服"),
        ("Type\nPrice\nAdults\n6.50\nGroups\n6.50", "Groups\n6.50", 0, "Groups,6.50"),
        ("A red fox. The RED fox.", "The RED fox.", 0, "The RED fox"),
    ],
)
def test_words_that_stand_several_times_are_linked_with_what_is_around_them(
    page: str, quote: str, nth: int, words: str
) -> None:
    assert directive(page, quote, nth) == words


def test_words_that_nothing_tells_apart_have_no_link() -> None:
    assert directive("same\nsame\nsame", "same") is None


@pytest.mark.parametrize("end", ["3.4", "10,000", "don't"])
def test_a_link_is_never_cut_inside_a_word_or_number(end: str) -> None:
    quote = f"Nodes of version 3.3 and {end} keep the log for at most thirty days after an upgrade of them, and no longer than {end}."
    first, _, last = (directive(f"x\n{quote}\ny", quote) or "").partition(",")
    assert quote.startswith(first)
    assert re.search(rf"(?<![\w.,']){re.escape(last)}\.$", quote)


def test_the_menu_above_the_text_counts_too() -> None:
    page = "Return policy\nSearch\nReturn policy\nGoods may be returned."
    found = page_link("https://a.example/p", page, *place(page, "Return policy", 1))
    assert found is not None
    assert unquote(found).endswith("text=Search-,Return policy")


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from(["fee", "Fee", "30", "days", "押金", "退还。", "a-b"]), min_size=1, max_size=6),
        min_size=1,
        max_size=6,
    ),
    st.data(),
)
def test_whatever_is_linked_is_found_there_first(lines: list[list[str]], data: st.DataObject) -> None:
    page = "\n".join(" ".join(words) for words in lines)
    start = data.draw(st.integers(0, len(page) - 1))
    end = data.draw(st.integers(start + 1, len(page)))
    fragment = find_fragment(page, start, end)
    if fragment is None:
        return
    prefix = re.escape(fragment.prefix) + r"\s*" if fragment.prefix else ""
    suffix = r"(?=\s*" + re.escape(fragment.suffix) + ")" if fragment.suffix else ""
    middle = rf"(?:.*?){re.escape(fragment.end)}" if fragment.end else ""
    pattern = rf"(?is){prefix}(?P<hit>{re.escape(fragment.start)}{middle}){suffix}"
    hit = re.search(pattern, page)
    assert hit is not None
    closed = end + len(page[end:]) - len(page[end:].lstrip("。.;"))
    assert start <= hit.start("hit") < hit.end("hit") <= closed
