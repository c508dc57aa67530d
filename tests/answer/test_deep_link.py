from urllib.parse import unquote

import pytest

from kbcite.answer.deep_link import deep_link

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
