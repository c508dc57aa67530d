import pytest

from kbcite.page.head import read_head
from kbcite.page.metadata import read_metadata, read_with_places
from kbcite.page.tree import parse_html
from kbcite.records import Metadata

URL = "https://news.example.com/a/1.html"
BODY = "<p>" + "这是正文的一段话，说明事情的经过。" * 5 + "</p>"


def read(html: str, url: str = URL, fetched_at: str | None = None) -> Metadata:
    root = parse_html(html)
    return read_metadata(root, read_head(root), url, fetched_at)


def metadata(
    head: str = "", body: str = "", url: str = URL, fetched_at: str | None = None, lang: str = "zh-CN"
) -> Metadata:
    html = f'<html lang="{lang}"><head><title>三峡大坝开始蓄水_国内新闻_某某网</title>{head}</head><body>{body}{BODY}</body></html>'
    return read(html, url, fetched_at)


H1 = "<h1>三峡大坝开始蓄水</h1>"


class TestPublicationDay:
    @pytest.mark.parametrize(
        ("head", "place"),
        [
            (
                '<script type="application/ld+json">{"@type":"NewsArticle","datePublished":"2015-03-08T12:30:00+08:00"}</script>',
                "json-ld",
            ),
            (
                '<script type="application/ld+json">{"@graph":[{"@type":"WebSite"},'
                '{"@type":["Article"],"datePublished":"2015-03-08"},]}</script>',
                "json-ld",
            ),
            (
                '<meta property="article:published_time" content="2015-03-08T12:30:00+08:00">',
                "meta:article:published_time",
            ),
            ('<meta name="PubDate" content="2015-03-08 12:30">', "meta:pubdate"),
            ('<meta itemprop="datePublished" content="2015年3月8日">', "meta:datepublished"),
        ],
    )
    def test_machine_readable_places_are_read_and_named(self, head: str, place: str) -> None:
        found = metadata(head, H1 + "<p>发布时间：2014-01-01</p>")
        assert (found.published_at or "")[:10] == "2015-03-08"
        assert found.published_from == place

    def test_the_url_tells_the_day_where_no_meta_element_does(self) -> None:
        found = metadata(url="https://news.example.com/2015/03/08/1.html")
        assert (found.published_at, found.published_from) == ("2015-03-08", "url")

    def test_the_canonical_url_tells_it_for_a_page_found_under_another(self) -> None:
        found = metadata('<link rel="canonical" href="/2015/03/08/1.html">', url="https://news.example.com/?p=1")
        assert (found.published_at, found.published_from) == ("2015-03-08", "url")

    @pytest.mark.parametrize(
        "line",
        [
            "<div class='info'>发布时间：2015-03-08 12:30　来源：新华社</div>",
            "<p>2015年03月08日 12:30　来源：新华社　作者：张三</p>",
            "<div><span>来源：新华社</span><span>2015-03-08 12:30:00</span></div>",
            "<p><b>日期：</b>2015/3/8</p>",
            "<div class='source'>二〇一五年三月八日</div>",
            "<p class='byline'>Published March 8, 2015 at 12:30 PM</p>",
            "<time datetime='2015-03-08T12:30:00+08:00'>三月八日</time>",
        ],
    )
    def test_a_visible_line_behind_the_heading_is_read(self, line: str) -> None:
        assert (metadata(body=H1 + line).published_at or "")[:10] == "2015-03-08"

    @pytest.mark.parametrize(
        "trap",
        [
            "<div id='footer'>Copyright © 2019-01-01 某某网 版权所有</div>",
            "<p>版权所有 2019-01-01</p>",
            "<div class='comment-list'><p>李四 2019-01-01 08:00</p><p>说得好</p></div>",
            "<ul class='related'><li><a href='/b'>另一篇文章</a> 2019-01-01</li></ul>",
            "<aside>2019-01-01 12:00</aside>",
            "<div class='customer-reviews'><p>Reviewed in Eastbrook on January 1, 2019</p></div>",
            "<p>这份计划从2019年1月1日开始，到2020年12月31日结束，涉及多个部门。</p>",
            "<p>版本 2019.1.1.3</p>",
        ],
    )
    def test_other_dates_on_the_page_are_not_its_own(self, trap: str) -> None:
        assert metadata(body=H1 + BODY * 3 + trap).published_at is None
        assert (metadata(body=H1 + "<p>时间：2015-03-08</p>" + trap).published_at or "")[:10] == "2015-03-08"

    def test_a_date_after_the_fetch_is_not_believed(self) -> None:
        head = '<meta property="article:published_time" content="2031-01-01">'
        line = "<p>活动时间：2030-05-01 09:00</p><p>发布时间：2015-03-08</p>"
        found = metadata(
            head, H1 + line, fetched_at="2016-01-01T00:00:00Z", url="https://news.example.com/2031/01/01/1.html"
        )
        assert found.published_at == "2015-03-08"

    def test_a_page_may_be_a_day_ahead_of_utc(self) -> None:
        found = metadata(body=H1 + "<p>发布时间：2015-03-08 01:30</p>", fetched_at="2015-03-07T18:00:00Z")
        assert found.published_at == "2015-03-08T01:30:00"

    def test_the_readers_day_is_taken_where_utc_has_another(self) -> None:
        head = '<meta property="article:published_time" content="2015-03-07T16:30:00Z">'
        assert (metadata(head, H1 + "<p class='time'>2015-03-08 00:30</p>").published_at or "")[:10] == "2015-03-08"
        assert (metadata(head, H1 + "<p class='time'>2015-03-08 00:41</p>").published_at or "")[:10] == "2015-03-07"

    def test_the_last_change_is_kept_apart(self) -> None:
        head = '<meta property="article:modified_time" content="2016-02-02">'
        found = metadata(head, H1 + "<p>发布时间：2015-03-08 12:30</p>")
        assert (found.published_at, found.modified_at) == ("2015-03-08T12:30:00", "2016-02-02")
        found = metadata(body=H1 + "<p>发布时间：2015-03-08</p><p>更新时间：2016-02-02 10:00</p>")
        assert (found.published_at, found.modified_at) == ("2015-03-08", "2016-02-02T10:00:00")

    def test_a_change_alone_stands_in_and_is_named_so(self) -> None:
        found = metadata('<meta property="article:modified_time" content="2016-02-02">', H1)
        assert (found.published_at, found.published_from) == ("2016-02-02", "modified")

    def test_dates_of_comments_in_json_ld_are_not_the_pages(self) -> None:
        head = '<script type="application/ld+json">{"@type":"WebPage","comment":[{"@type":"Comment","datePublished":"2019-01-01"}]}</script>'
        assert metadata(head).published_at is None

    def test_broken_json_ld_is_passed_over(self) -> None:
        head = '<script type="application/ld+json">{"@type": "Article", "datePublished": </script><meta name="pubdate" content="2015-03-08">'
        assert metadata(head).published_at == "2015-03-08"

    @pytest.mark.parametrize(("lang", "day"), [("en-US", "2015-03-08"), ("en-GB", "2015-08-03"), ("fr", "2015-08-03")])
    def test_the_declared_language_tells_the_order_of_slashed_dates(self, lang: str, day: str) -> None:
        assert metadata(body="<h1>Title</h1><p class='date'>Published 03/08/2015</p>", lang=lang).published_at == day


class TestTitle:
    def test_raw_and_clean_title_are_kept_side_by_side(self) -> None:
        found = metadata(body=H1)
        assert (found.raw_title, found.title) == ("三峡大坝开始蓄水_国内新闻_某某网", "三峡大坝开始蓄水")

    def test_papers_name_theirs_in_citation_metas(self) -> None:
        head = '<title>[2605.01234] On boiling</title><meta name="citation_title" content="On boiling">'
        root = parse_html(head + "<h1>Title:On boiling</h1>")
        assert read_metadata(root, read_head(root), URL).title == "On boiling"

    def test_the_address_tells_how_far_it_goes(self) -> None:
        page = "<title>大坝 蓄水 | 小王的小屋</title>"
        assert read(page, "https://example.org/a/%E5%A4%A7%E5%9D%9D-%E8%93%84%E6%B0%B4.html").title == "大坝 蓄水"

    def test_a_heading_that_links_home_is_the_sites_name(self) -> None:
        html = "<title>大坝 | 某某</title><h1><a href='/'>某某</a></h1><h2>大坝</h2>"
        assert read(html).title == "大坝"

    def test_a_page_without_title_takes_its_heading(self) -> None:
        assert read("<h1>大坝</h1>").title == "大坝"

    def test_titles_of_drawings_are_not_the_pages(self) -> None:
        html = "<title>大坝蓄水</title><svg><title>icon</title></svg>"
        assert read(html).raw_title == "大坝蓄水"


class TestAuthor:
    @pytest.mark.parametrize(
        ("head", "body"),
        [
            ('<meta name="author" content="张三">', ""),
            (
                '<script type="application/ld+json">{"@type":"Article","author":[{"@type":"Person","name":"张三"}]}</script>',
                "",
            ),
            ("", "<p>来源：新华社 作者：张三 责任编辑：李四</p>"),
            ("", "<span class='author-name'>By 张三</span>"),
            ("", "<p>文/张三</p>"),
            ("", "<div itemprop='author'><meta itemprop='name' content='张三'><a>张三</a><div>铜匠</div></div>"),
            ("", "<div itemprop='author'><a href='/u/1'><span itemprop='name'>张三</span></a><div>1,231</div></div>"),
            ('<meta name="citation_author" content="张三">', ""),
        ],
    )
    def test_the_author_is_read_from_where_the_page_names_one(self, head: str, body: str) -> None:
        assert metadata(head, H1 + body).author == "张三"

    def test_who_wrote_a_review_is_not_the_author(self) -> None:
        assert metadata(body=H1 + "<div class='review-author'>张三</div>").author is None

    @pytest.mark.parametrize("name", ["admin", "https://facebook.com/paper", "example.com", "佚名", ""])
    def test_what_is_no_name_is_no_author(self, name: str) -> None:
        assert metadata(f'<meta name="author" content="{name}">').author is None


class TestLanguage:
    def test_the_script_of_the_text_beats_a_wrong_declaration(self) -> None:
        assert metadata(lang="en").language == "zh"

    @pytest.mark.parametrize(
        ("lang", "text", "expected"),
        [
            ("zh-CN", "An English page in a Chinese template, with nothing else on it.", "en"),
            ("de", "Eine Seite in deutscher Sprache, und sonst nichts.", "de"),
            ("", "A page that declares nothing.", "en"),
            ("en", "これは日本語のページです。会議は来月の予定です。", "ja"),
            ("en", "오늘 회의에서 새로운 계획을 이야기했습니다.", "ko"),
        ],
    )
    def test_language_of_a_page(self, lang: str, text: str, expected: str) -> None:
        assert read(f"<html lang='{lang}'><body><p>{text}</p>").language == expected


class TestAddressAndSite:
    @pytest.mark.parametrize(
        ("head", "expected"),
        [
            ('<link rel="canonical" href="/a/2.html?x=1#top">', "https://news.example.com/a/2.html?x=1"),
            ('<meta property="og:url" content="https://example.com/a">', "https://example.com/a"),
            ('<link rel="canonical" href="javascript:void(0)">', None),
            ("", None),
        ],
    )
    def test_the_canonical_url_is_absolute(self, head: str, expected: str | None) -> None:
        assert metadata(head).canonical_url == expected

    def test_the_site_names_itself(self) -> None:
        assert metadata('<meta property="og:site_name" content="某某网">').site_name == "某某网"
        assert (
            metadata(
                '<script type="application/ld+json">{"@type":"Article","publisher":{"name":"某某网"}}</script>'
            ).site_name
            == "某某网"
        )


def test_an_empty_page_has_no_metadata() -> None:
    assert read("") == Metadata(language=None)


def test_a_date_in_an_example_is_not_the_day_of_publication() -> None:
    page = """<html><head><title>Dates</title></head><body><article><h1>Dates</h1><p>The date is written as
    <code>2022-07-27</code>, and a time as <kbd>2009-01-19T00:15:00</kbd>.</p><pre>Date: 2021-05-19 15:19:24
    <b>published 2021-05-20</b></pre></article></body></html>"""
    assert read(page, "https://a.example/x").published_at is None


def test_a_record_of_the_page_says_more_than_a_date_in_its_text() -> None:
    record = '<script type="application/ld+json">{"@type":"WebPage","datePublished":"2015-03-08"}</script>'
    told = "<div><div><div><div><div><p>The offer for new readers ends on 31 January 2016</p></div></div></div></div></div>"
    assert metadata(record, H1 + 5 * BODY + told).published_at == "2015-03-08"


def test_a_labelled_row_of_facts_is_not_the_day_of_publication() -> None:
    facts = "<table><tr><th>开通日</th><td>2011年11月26日</td></tr><tr><th>长度</th><td>1,248米</td></tr></table>"
    assert metadata(body=f"{H1}{5 * BODY}<div><div>{facts}</div></div>").published_at is None


def test_each_field_names_the_place_it_was_read_from() -> None:
    page = """<html lang=en><head><title>Bridge closed - Town News</title><meta property=og:site_name content="Town News">
    <meta name=author content="Jonas Field"><meta name=lastmod content=2026-03-09><link rel=canonical href=/bridge></head>
    <body><h1>Bridge closed</h1><p>Published 8 March 2026</p><p>The old bridge was closed for repairs.</p></body></html>"""
    root = parse_html(page)
    assert dict(read_with_places(root, read_head(root), URL)[1]) == {
        "title": "title and h1",
        "published_at": "text",
        "modified_at": "meta:lastmod",
        "author": "meta:author",
        "site_name": "meta:og:site_name",
        "language": "html lang",
        "canonical_url": "link:canonical",
    }


@pytest.mark.parametrize(("versions", "published"), [(4, None), (1, "2026-03-01")])
def test_days_in_many_headings_are_those_of_the_sections(versions: int, published: str | None) -> None:
    sections = "".join(
        f"<h2>3.{n} <small>(2026-03-0{n})</small></h2><p>Faster imports.</p>" for n in range(versions, 0, -1)
    )
    page = f"<html><head><title>Changelog</title></head><body><h1>Changelog</h1>{sections}</body></html>"
    assert read(page, "https://a.example/x").published_at == published
