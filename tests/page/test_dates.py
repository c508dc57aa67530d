import pytest

from kbcite.page.dates import date_in_url, find_dates, read_date


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2015年3月8日", "2015-03-08"),
        ("2015年03月08日 12:30", "2015-03-08T12:30:00"),
        ("2015年3月8日12时30分", "2015-03-08T12:30:00"),
        ("2015年3月8日 下午3:05", "2015-03-08T15:05:00"),
        ("2015年3月8日（周日）10:00", "2015-03-08T10:00:00"),
        ("二〇一五年三月八日", "2015-03-08"),
        ("二○一五年十二月三十一日", "2015-12-31"),
        ("二零二〇年十月二十日", "2020-10-20"),
        ("2015-03-08 12:30", "2015-03-08T12:30:00"),
        ("2015-3-8", "2015-03-08"),
        ("2015/03/08 - 12:30:15", "2015-03-08T12:30:15"),
        ("2015.03.08", "2015-03-08"),
        ("2015-03-08T12:30:00+08:00", "2015-03-08T12:30:00+08:00"),
        ("2015-03-08T12:30:00.123Z", "2015-03-08T12:30:00Z"),
        ("20150308", "2015-03-08"),
        ("20150308123000", "2015-03-08T12:30:00"),
        ("20150308T123000Z", "2015-03-08T12:30:00Z"),
        ("March 8, 2015", "2015-03-08"),
        ("Mar. 8th, 2015 at 3:05 PM", "2015-03-08T15:05:00"),
        ("8 March 2015, 12:10 am", "2015-03-08T00:10:00"),
        ("8th of March, 2015", "2015-03-08"),
        ("Sun, 08 Mar 2015 12:30:00 GMT", "2015-03-08T12:30:00Z"),
        ("8. März 2015", "2015-03-08"),
        ("8 de marzo de 2015", "2015-03-08"),
        ("08.03.2015", "2015-03-08"),
        ("25/12/2015", "2015-12-25"),
    ],
)
def test_dates_are_read_in_the_forms_that_pages_use(text: str, value: str) -> None:
    assert read_date(text) == value


@pytest.mark.parametrize(("day_first", "value"), [(False, "2015-03-08"), (True, "2015-08-03")])
def test_the_order_of_slashed_dates_is_the_callers_to_know(day_first: bool, value: str) -> None:
    assert read_date("03/08/2015", day_first) == value


@pytest.mark.parametrize(
    "text",
    [
        "2015-02-30",
        "2015年13月1日",
        "version 2015.3.8.1",
        "1.2015.3.8",
        "1899年3月8日",
        "1968-03-08",
        "3小时前",
        "2015",
        "",
        "2015-1-1%",
    ],
)
def test_what_is_no_day_of_the_web_is_no_date(text: str) -> None:
    assert read_date(text) is None


def test_every_date_of_a_text_is_found_with_its_place() -> None:
    text = "发布：2015-03-08 12:30 来源：新华社，更新于2015年3月9日。"
    found = find_dates(text)
    assert [date.value for date in found] == ["2015-03-08T12:30:00", "2015-03-09"]
    assert [text[date.start : date.end] for date in found] == ["2015-03-08 12:30", "2015年3月9日"]


def test_a_long_run_of_white_space_behind_a_date_costs_nothing() -> None:
    assert [date.value for date in find_dates("2015-03-08" + " " * 100_000 + "x")] == ["2015-03-08"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("/2015/03/08/title.html", "2015-03-08"),
        ("/20150308/n225551143.shtml", "2015-03-08"),
        ("/jizhe/2015-03/08/content_4894059.htm", "2015-03-08"),
        ("/a/t20150308_552130.html", "2015-03-08"),
        ("/2015/3/8/title", "2015-03-08"),
        ("/2015/mar/08/title", "2015-03-08"),
        ("/201503/title", None),
        ("/2015/03/", None),
        ("/item/120150308", None),
        ("/2015/13/08/", None),
    ],
)
def test_a_day_in_a_url_is_read_where_it_is_a_whole_one(path: str, value: str | None) -> None:
    assert date_in_url(path) == value
