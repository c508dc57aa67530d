import pytest

from kbcite.page.head import read_head
from kbcite.page.page_kind import PageKind
from kbcite.page.tree import parse_html


def kind_of(source: str, url: str = "https://example.org/a") -> PageKind:
    root = parse_html(source)
    return PageKind(url, read_head(root), root.find("body"))


@pytest.mark.parametrize(
    ("source", "url"),
    [
        ("<body><p>Hello", "https://example.org/forum/7"),
        ("<body class='thread page'><p>Hello", "https://example.org/7"),
        ("<body><p>Hello", "https://example.org/t/pump-stops/42"),
        ("<meta name=generator content='Discuz! X3.4'><body><p>Hello", "https://example.org/7"),
        ('<body><p>Hello<script type=application/ld+json>{"@type": "QAPage"}</script>', "https://example.org/7"),
    ],
)
def test_a_forum_is_known_by_its_address_its_body_or_its_schema(source: str, url: str) -> None:
    assert kind_of(source, url).is_forum


def test_a_thread_is_told_from_a_list_of_threads() -> None:
    for path in ("viewtopic.php?t=7", "threads/pump.7/", "thread-7-1-1.html", "t/pump/7", "questions/7/pump"):
        assert kind_of("<body><p>Hello", f"https://example.org/{path}").is_thread
    for path in ("forum/garden", "viewforum.php?f=7", "questions", "topics"):
        assert not kind_of("<body><p>Hello", f"https://example.org/{path}").is_thread


def test_a_question_is_known_by_its_schema_but_not_where_a_site_answers_its_own() -> None:
    question = "<div itemscope itemtype=https://schema.org/Question>Why?</div>"
    assert kind_of(f"<body>{question}").is_question
    assert not kind_of(f"<body itemscope itemtype=https://schema.org/FAQPage>{question}").is_question


@pytest.mark.parametrize(
    "mark",
    [
        '<script type=application/ld+json>{"@type" : "Product"}</script>',
        "<div itemtype='https://schema.org/Product'>",
        '<meta property="og:type" content="product">',
        '<meta property="product:price:amount" content="12.00">',
        "<body class='product-template-default single-product'>",
    ],
)
def test_a_product_is_known_by_its_schema(mark: str) -> None:
    assert kind_of(f"{mark}<p>Lamp").is_product


@pytest.mark.parametrize(
    ("source", "url"),
    [
        ("<body><p>Lamps", "https://example.org/product-category/lamps/"),
        ("<body><p>Lamps", "https://example.org/collections/lamps?page=2"),
        ("<body class='archive category'><p>Lamps", "https://example.org/lamps"),
        ("<body class='page-products catalog-category-view'><p>Lamps", "https://example.org/lamps"),
    ],
)
def test_a_listing_is_known_by_its_address_or_its_body(source: str, url: str) -> None:
    assert kind_of(source, url).is_listing
    article = '<meta property="article:published_time" content="2026-05-01">'
    assert not kind_of(article + source, url).is_listing


def test_a_product_is_no_listing_for_the_collection_it_is_in() -> None:
    assert not kind_of("<body><p>Lamp", "https://example.org/collections/lamps/products/lamp").is_listing
    assert not kind_of('<meta property="og:type" content="product.group"><body><p>Lamps').is_product


def test_other_pages_are_neither() -> None:
    kind = kind_of('<body><p>Threadbare products<script type=application/ld+json>{"@type": "ProductGroup"}</script>')
    assert not kind.is_forum
    assert not kind.is_product
