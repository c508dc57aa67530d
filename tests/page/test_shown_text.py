import pytest

from kbcite.page.shown_text import body_text, shown_text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<p>One  <b>two</b>\n three</p><p>four</p>", "One two three\nfour"),
        ("<table><tr><td>a</td><td>b</td></tr></table>", "a\nb"),
        ("a<br>b &amp; c&nbsp;d", "a\nb & c d"),
        ("<head><title>T</title></head><body>x<script>if (a<b) {}</script><style>p{}</style><!-- no -->y</body>", "xy"),
        ("a<div hidden>no<div>no</div></div>b<span style='color:red; display : none'>no</span>c", "a\nbc"),
        ("a<noscript><p>no</p></noscript><template>no</template><svg><text>no</text></svg>b", "ab"),
        ('<a title="a > b">x</a>', "x"),
        ("<pre>one\n  two</pre>", "one\ntwo"),
        ("中文<wbr>断行", "中文断行"),
        ("", ""),
    ],
)
def test_the_shown_text_is_what_a_reader_sees(source: str, text: str) -> None:
    lines = [line.strip() for line in shown_text(source).text.splitlines() if line.strip()]
    assert "\n".join(lines) == text


def test_a_place_in_the_source_is_a_place_in_the_text() -> None:
    source = "<h1>Fees</h1>\n<p>The fee&nbsp;is <b>30&nbsp;&euro;</b> a year.</p>"
    page = shown_text(source)
    start, end = source.index("The fee"), source.index(" a year")
    assert page.text[slice(*page.place(start, end))] == "The fee is 30 €"
    assert page.text[slice(*page.place(source.index("30"), source.index("</b>")))] == "30 €"


def test_a_place_in_a_hidden_part_is_empty() -> None:
    source = "a<div hidden>secret words</div>b"
    first, last = shown_text(source).place(source.index("secret"), source.index("</div>"))
    assert first == last


def test_the_text_content_holds_blanks_and_scripts() -> None:
    source = "<html><head><title>T</title></head>\n<body>\n<p>a &lt; b</p><script>x = 1</script>\n</body></html>"
    assert body_text(source).text == "\na < bx = 1\n"
