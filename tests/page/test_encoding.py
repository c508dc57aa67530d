import html

import pytest

from kbcite.page.encoding import decode, strip_invisible, utf8_of

NEWS = "中国人民银行今天发布公告，决定下调金融机构存款准备金率，这是今年以来的第二次。记者从会议上了解到，有关部门将继续加强管理。"
TAIWAN = "臺北市政府今天表示，這次的活動將會在下個月開始，歡迎大家一起來參加，並且請各位朋友多多支持我們的工作，謝謝。"
JAPANESE = (
    "昨日の会議では、新しい計画について話し合いました。来月からサービスを開始する予定です。どうぞよろしくお願いします。"
)
KOREAN = (
    "오늘 회의에서 새로운 계획에 대해 이야기했습니다. 다음 달부터 서비스를 시작할 예정입니다. 많은 관심 부탁드립니다."
)
RUSSIAN = "Вчера на встрече мы обсудили новый план. Со следующего месяца мы начинаем работу, и приглашаем всех принять участие."
FRENCH = "L'été dernier, la société a présenté ses résultats à l'assemblée générale, où le président a évoqué les difficultés."


def page(text: str, codec: str, meta: str = "") -> bytes:
    head = f'<meta http-equiv="Content-Type" content="text/html; charset={meta}">' if meta else ""
    return (
        f"<html><head>{head}<title>t</title></head><body><p>".encode("ascii")
        + text.encode(codec)
        + b"</p></body></html>"
    )


@pytest.mark.parametrize(
    ("text", "codec", "name"),
    [
        (NEWS, "utf-8", "utf-8"),
        (NEWS, "gb18030", "gb18030"),
        (TAIWAN, "big5", "big5"),
        (JAPANESE, "shift_jis", "shift_jis"),
        (JAPANESE, "euc_jp", "euc-jp"),
        (KOREAN, "euc_kr", "euc-kr"),
        (RUSSIAN, "cp1251", "windows-1251"),
        (RUSSIAN, "koi8_r", "koi8-r"),
    ],
)
class TestWithoutAnyDeclaration:
    def test_the_bytes_alone_tell_the_encoding(self, text: str, codec: str, name: str) -> None:
        decoded = decode(page(text, codec), None)
        assert (decoded.encoding, text in decoded.text) == (name, True)

    def test_a_wrong_header_and_a_wrong_meta_do_not_change_it(self, text: str, codec: str, name: str) -> None:
        wrong = "utf-8" if name != "utf-8" else "gb2312"
        decoded = decode(page(text, codec, meta=wrong), f"text/html; charset={wrong}")
        assert (decoded.encoding, text in decoded.text) == (name, True)


@pytest.mark.parametrize(
    ("bom", "codec", "name"),
    [
        (b"\xef\xbb\xbf", "utf-8", "utf-8"),
        (b"\xff\xfe", "utf-16-le", "utf-16le"),
        (b"\xfe\xff", "utf-16-be", "utf-16be"),
    ],
)
def test_a_byte_order_mark_beats_header_and_meta_and_leaves_the_text(bom: bytes, codec: str, name: str) -> None:
    decoded = decode(bom + NEWS.encode(codec), "text/html; charset=big5")
    assert (decoded.text, decoded.encoding, decoded.how) == (NEWS, name, "bom")


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_known_by_its_first_character(codec: str) -> None:
    assert decode(f"<p>{NEWS}</p>".encode(codec), None).text == f"<p>{NEWS}</p>"


def test_ascii_needs_no_decision() -> None:
    decoded = decode(b"<p>plain</p>", "text/html; charset=gbk")
    assert (decoded.text, decoded.encoding, decoded.how) == ("<p>plain</p>", "utf-8", "ascii")


def test_iso_2022_jp_is_known_by_its_escape_sequence() -> None:
    assert decode(JAPANESE.encode("iso2022_jp"), None).text == JAPANESE


def test_an_empty_body_is_empty_text() -> None:
    assert decode(b"", None).text == ""


def test_utf_8_cut_inside_a_character_stays_utf_8() -> None:
    decoded = decode(NEWS.encode()[:-1], "text/html; charset=gb2312")
    assert decoded.encoding == "utf-8"
    assert decoded.text.startswith(NEWS[:-1])


def test_utf_8_with_two_damaged_bytes_stays_utf_8_and_says_how_damaged_it_is() -> None:
    data = bytearray((NEWS * 4).encode())
    data[30], data[400] = 0xFF, 0x20
    decoded = decode(bytes(data), None)
    assert decoded.encoding == "utf-8"
    assert 0 < decoded.damage < 0.05
    assert decoded.confidence < 1


def test_gbk_with_two_damaged_bytes_stays_gbk() -> None:
    data = bytearray(page(f"{NEWS}<br>" * 8, "gbk"))
    data[90], data[300] = 0xFF, 0x20
    decoded = decode(bytes(data), None)
    assert decoded.encoding == "gb18030"
    assert decoded.text.count(NEWS) >= 6


def test_gbk_cut_inside_a_character_stays_gbk() -> None:
    assert decode(NEWS.encode("gbk")[:-1], None).text.startswith(NEWS[:-1])


def test_a_gbk_fragment_in_a_utf_8_page_does_not_turn_the_page() -> None:
    decoded = decode((NEWS * 3).encode() + "版权所有".encode("gbk") + NEWS.encode(), None)
    assert decoded.encoding == "utf-8"
    assert decoded.text.startswith(NEWS)


@pytest.mark.parametrize("label", ["gb2312", "GB_2312-80", "gbk", "x-gbk", "GB18030"])
@pytest.mark.parametrize("rare", ["朱镕基", "中華民國", "𠮷野家", "€100"])
def test_every_label_of_the_chinese_family_reads_what_only_gb18030_has(label: str, rare: str) -> None:
    assert rare in decode(page(NEWS + rare, "gb18030", meta=label), None).text


def test_a_lone_0x80_in_gbk_is_the_euro_sign() -> None:
    assert "涨到€100元" in decode(page(NEWS, "gbk") + "涨到".encode("gbk") + b"\x80100" + "元".encode("gbk"), None).text


def test_the_middle_dot_and_the_dash_are_those_of_the_standard() -> None:
    assert "\u00b7\u2014" in decode(page(NEWS, "gbk", meta="gb2312") + b"\xa1\xa4\xa1\xaa", None).text


@pytest.mark.parametrize("text", ["你好世界", "最新公告"])
def test_four_characters_are_enough_with_a_declaration(text: str) -> None:
    assert text in decode(page(text, "gbk", meta="gb2312"), None).text


@pytest.mark.parametrize("text", [FRENCH, "don\u2019t \u2013 it\u2019s \u201cfine\u201d"])
@pytest.mark.parametrize("label", ["iso-8859-1", "latin1", "windows-1252", ""])
def test_western_text_is_windows_1252_whatever_it_is_called(text: str, label: str) -> None:
    assert text in decode(page(text, "cp1252"), f"text/html; charset={label}" if label else None).text


@pytest.mark.parametrize("text", ["£20 – £30, 50 €", "jalapeño crème brûlée", "©2015 Acme® Größe", "São Tomé"])
def test_a_few_western_characters_without_a_declaration_are_windows_1252(text: str) -> None:
    data = page("The quick brown fox jumps over the lazy dog. " * 20 + text, "cp1252")
    decoded = decode(data, None)
    assert (decoded.encoding, text in decoded.text) == ("windows-1252", True)


def test_few_two_byte_characters_that_form_utf_8_by_chance_follow_a_declared_chinese_label() -> None:
    chance = "实时".encode("gbk")
    assert chance.decode("utf-8") != "实时"
    assert decode(page("", "ascii", meta="gbk") + chance, None).text.endswith("实时")


def test_what_was_declared_is_recorded_with_its_place() -> None:
    data = b'<?xml version="1.0" encoding="big5"?>' + page(NEWS, "gbk", meta="GB2312")
    decoded = decode(data, 'text/html; charset="utf-8"')
    assert decoded.declared == (("header", "utf-8"), ("xml", "big5"), ("meta", "GB2312"))
    assert decoded.encoding == "gb18030"


@pytest.mark.parametrize(
    "head",
    [
        '<!-- <meta charset="big5"> --><meta charset="gbk">',
        '<script>document.write("<meta charset=big5>")</script><meta charset=gbk>',
        "<meta charset='gbk>",
        '<meta charset="unset"><meta content="text/html;charset = gbk" http-equiv=content-type>',
    ],
)
def test_a_declaration_is_read_where_a_browser_would_or_a_person_meant_it(head: str) -> None:
    assert ("meta", "gbk") in decode(head.encode() + NEWS.encode("gbk"), None).declared


def test_a_few_characters_behind_much_ascii_are_found() -> None:
    script = "<script>" + "var counter = 0; " * 4000 + "</script>"
    assert "最新公告请看这里" in decode(script.encode() + "最新公告请看这里".encode("gbk") + script.encode(), None).text


def test_confidence_is_higher_for_a_page_than_for_a_few_characters() -> None:
    assert decode(page(NEWS, "gbk"), None).confidence > decode("中国".encode("gbk"), None).confidence


def test_invisible_characters_are_removed_and_visible_ones_kept() -> None:
    hidden = "a\x1b[31mb\u202ec\u200bd\U000e0041e\ufefff\x00g\u00adh\x07"
    assert strip_invisible(hidden) == "a[31mbcdefgh"


@pytest.mark.parametrize(
    "reference",
    [
        "&#27;",
        "&#x1B;",
        "&#x202e;",
        "&#8238",
        "&#xE0041;",
        "&shy;",
        "&ZeroWidthSpace;",
        "&#x20&#x200b;2e;",
        "&#99999999;",
        "&#0;",
    ],
)
def test_invisible_characters_are_removed_where_they_are_written_as_references(reference: str) -> None:
    text = strip_invisible(f"a{reference}b")
    assert "".join(html.unescape(text).split()) in ("ab", "a&#xb")
    assert strip_invisible(text) == text


@pytest.mark.parametrize(
    "text", ["一\t二\r\n三\n", "👩\u200d👩\u200d👧", "❤\ufe0f", "a\u00a0b\u3000c", "&#146;&#x4e2d;&#10;&amp;&nbsp;&lt;"]
)
def test_text_without_hidden_characters_stays_as_it_is(text: str) -> None:
    assert strip_invisible(text) == text


@pytest.mark.parametrize(
    ("data", "is_itself"),
    [
        ("naïve 轮渡".encode(), True),
        (b"plain", True),
        (b"\xef\xbb\xbfplain", False),
        ((NEWS * 3).encode("gb18030"), False),
        (("轮渡每两小时开一班。" * 9).encode() + b"\xff", False),
    ],
)
def test_the_utf8_of_a_page_is_its_own_bytes_where_they_are_its_text(data: bytes, is_itself: bool) -> None:
    page = decode(data, None)
    assert utf8_of(page, data).decode() == page.text
    assert (utf8_of(page, data) is data) is is_itself


def test_text_with_nothing_to_strip_comes_back_itself() -> None:
    text = "a visible joiner 👩\u200d🚒, an entity &#8217; and &nbsp;"
    assert strip_invisible(text) is text
