import pytest

from kbcite.page.titles import clean_title


@pytest.mark.parametrize(
    ("title", "sites", "headings", "others", "expected"),
    [
        # an h1 agrees with one piece
        ("三峡大坝开始蓄水_国内新闻_某某网", [], ["三峡大坝开始蓄水"], [], "三峡大坝开始蓄水"),
        ("Rates rise - Money | The Paper", [], ["Rates rise"], [], "Rates rise"),
        ("The Paper: Rates rise", [], ["Rates rise"], [], "Rates rise"),
        # it agrees with a run of them
        ("Left - Right - Centre | The Paper", [], ["Left - Right - Centre"], [], "Left - Right - Centre"),
        ("A_B 测试报告_频道", [], ["A_B 测试报告"], [], "A_B 测试报告"),
        # only og:title agrees
        ("Rates rise | The Paper", [], [], ["Rates rise"], "Rates rise"),
        # og:title holds the site, too
        ("Rates rise | The Paper", ["The Paper"], [], ["Rates rise | The Paper"], "Rates rise"),
        # nothing agrees: the site's own name, at either end
        ("Rates rise - thepaper.com", ["thepaper"], [], [], "Rates rise"),
        ("The Paper - Rates rise", ["The Paper"], [], [], "Rates rise"),
        ("从上海车展看在华布局-某某汽车", [], [], [], "从上海车展看在华布局"),
        ("从原子弹爆炸想开去 - 奇闻 - 某某社区", [], [], [], "从原子弹爆炸想开去"),
        ("海外留学生看两会_教育频道_某某网", [], [], [], "海外留学生看两会"),
        # a dash alone is no reason to cut
        ("Rates rise - and fall again", ["The Paper"], [], [], "Rates rise - and fall again"),
        ("Left_Right_Centre", [], [], [], "Left_Right_Centre"),
        ("Web 品质 - 国际化", [], [], [], "Web 品质 - 国际化"),
        # what forum software appends
        ("断电求助怎么办 - 户外论坛 -  Powered by Discuz!", [], [], [], "断电求助怎么办"),
        # a heading that names the site is no title
        ("Rates rise | The Paper", ["The Paper"], ["The Paper"], [], "Rates rise"),
        # a title element that says nothing
        ("The Paper", ["The Paper"], ["Rates rise"], [], "Rates rise"),
        ("", [], ["Rates rise"], [], "Rates rise"),
        ("", ["The Paper"], [], ["Rates rise | The Paper"], "Rates rise"),
        ("", [], [], [], ""),
        ("  Rates \n rise ", [], [], [], "Rates rise"),
    ],
)
def test_the_title_is_what_the_page_agrees_on(
    title: str, sites: list[str], headings: list[str], others: list[str], expected: str
) -> None:
    assert clean_title(title, sites, headings, others) == expected


@pytest.mark.parametrize(
    ("title", "slug", "expected"),
    [
        ("逻辑回归 - 小王的小屋", "逻辑回归", "逻辑回归"),
        ("Rates - up again | Notes of a teller", "rates-up-again", "Rates - up again"),
        ("Notes of a teller | Rates", "rates", "Notes of a teller | Rates"),
        ("Rates - up again", "", "Rates - up again"),
    ],
)
def test_the_end_of_the_address_tells_how_far_the_title_goes(title: str, slug: str, expected: str) -> None:
    assert clean_title(title, [], [], [], [slug]) == expected
