import pytest

from kbcite.page.stand_in import is_login, recognise_stand_in

PAGE = "https://e.com/docs/a"
FORM = "<h1>Welcome</h1><form><input name=u><input name=p type='password'><button>OK</button></form>"


@pytest.mark.parametrize(
    ("url", "login"),
    [
        ("https://e.com/login?next=/a", True),
        ("https://e.com/accounts/sign-in/", True),
        ("https://e.com/user_login.php", True),
        ("https://passport.e.com/a", True),
        ("https://e.com/wp-login.php", True),
        ("https://e.com/docs/login-page-design", False),
        ("https://e.com/authors/a", False),
        ("https://e.com/", False),
    ],
)
def test_an_address_to_log_in_is_known_by_its_parts(url: str, login: bool) -> None:
    assert is_login(url) is login


def test_being_sent_to_log_in_is_a_login_wall() -> None:
    found = recognise_stand_in("<p>anything</p>", "https://e.com/login?next=a", PAGE)
    assert found is not None
    assert (found.kind, found.detail) == ("login_wall", "sent to https://e.com/login?next=a")


def test_a_page_about_logging_in_is_not() -> None:
    assert recognise_stand_in("<p>How to log in.</p>", "https://e.com/login/help", "https://e.com/login/help") is None


def test_a_short_page_with_a_password_field_is_a_login_wall() -> None:
    found = recognise_stand_in(FORM, PAGE, PAGE)
    assert found is not None
    assert found.kind == "login_wall"


def test_a_long_page_with_a_password_field_in_its_frame_is_not() -> None:
    assert recognise_stand_in(FORM + "<p>" + "The text of a page. " * 60, PAGE, PAGE) is None


@pytest.mark.parametrize(
    "text",
    [
        "<title>e.com</title><h1>This domain is for sale!</h1><p>Make an offer.",
        "<h1>e.com</h1><p>Buy this domain</p>",
        "<h1>Your domain has expired</h1>",
        "<p>该域名已过期，请联系注册商</p>",
        "<p>域名出售 联系 QQ</p>",
        "<title>e.com</title><iframe src='https://www.sedoparking.com/x'></iframe>",
    ],
)
def test_a_parked_domain_is_known(text: str) -> None:
    found = recognise_stand_in(text, PAGE, PAGE)
    assert found is not None
    assert found.kind == "parked_domain"


def test_an_article_about_domains_is_not_parked() -> None:
    assert recognise_stand_in("<p>When a domain is for sale, look at its past. " * 40, PAGE, PAGE) is None


def test_scripts_do_not_make_a_page_long() -> None:
    assert recognise_stand_in(f"<script>{'var a; ' * 500}</script><p>Buy this domain", PAGE, PAGE) is not None
