import pytest

from kbcite.page.interstitial import recognise
from kbcite.page.links import read_links

URL = "https://example.com/a"
ARTICLE = "<p>" + "Captcha pages ask whether you are a robot; enable cookies, click to continue. " * 20 + "</p>"


def kind_of(html: str) -> str | None:
    found = recognise(html, read_links(html, URL).refresh)
    return found.kind if found else None


@pytest.mark.parametrize(
    ("html", "kind"),
    [
        ('<meta http-equiv="refresh" content="0;url=/next"><p>Moved', "meta_refresh"),
        ("<title>Just a moment...</title><script>window._cf_chl_opt={}</script>", "bot_challenge"),
        ("<h1>Checking your browser before accessing example.com</h1>", "bot_challenge"),
        ("<html><script>var arg1='A1';document.cookie='acw_sc__v2='+x</script></html>", "bot_challenge"),
        ("<title>访问验证</title><p>请拖动滑块完成验证</p>", "bot_challenge"),
        ("<p>您的访问过于频繁，请稍后再试</p>", "bot_challenge"),
        ("<p>Please enable cookies to view this site.</p>", "cookie_wall"),
        ("<p>您的浏览器禁用了 Cookie</p>", "cookie_wall"),
        ("<p>If you are not redirected, <a href=x>click here to continue</a></p>", "continue_page"),
        ("<p>页面跳转中，请稍候</p>", "continue_page"),
        ('<script>window.location.href = "/real"</script>', "script_redirect"),
    ],
)
def test_what_stands_in_front_of_a_page_is_recognised(html: str, kind: str) -> None:
    assert kind_of(html) == kind


@pytest.mark.parametrize(
    "html",
    [
        ARTICLE,
        '<meta http-equiv="refresh" content="0;url=/mobile">' + ARTICLE,
        '<meta http-equiv="refresh" content="300">' + "<p>Headlines, reloaded every five minutes.</p>",
        "<p>A short but honest page.</p>",
        "<h1>验证</h1><p>这是一篇短文。</p>",
        ARTICLE + '<script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>',
        "<p>A short page with eleven words or more, and a script.</p><script>location.href='x'</script>",
    ],
)
def test_a_page_is_not(html: str) -> None:
    assert kind_of(html) is None


def test_the_target_of_a_refresh_is_told() -> None:
    html = '<meta http-equiv="refresh" content="0;url=/next">'
    found = recognise(html, read_links(html, URL).refresh)
    assert found is not None
    assert found.target == "https://example.com/next"
