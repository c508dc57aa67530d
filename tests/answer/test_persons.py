import pytest

from kbcite.answer.kinds import OTHER_ROLE, answers_kind
from kbcite.answer.persons import PERSON
from kbcite.answer.questions import Kind, read_question


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("影片由林远山执导，去年上映。", "林远山"),
        ("导演周远舟在首映礼上说，片子拍了三年。", "周远舟"),
        ("1822 年以总统 安德鲁·杰克逊 命名。", "安德鲁·杰克逊"),
        ("选帝侯弗里德里希三世邀请他们迁居。", "选帝侯弗里德里希三世"),
        ("The bridge was drawn by Ada Lindqvist in 1931.", "Ada Lindqvist"),
    ],
)
def test_a_name_is_known_by_its_form_and_its_neighbours(text: str, name: str) -> None:
    assert any(name.endswith(match.group()) or match.group() == name for match in PERSON.finditer(text))


@pytest.mark.parametrize(
    "text",
    [
        "该片包括三个方面，于去年上映。",
        "车站位于江南，周四下午关闭。",
        "国家和地区的高质量发展，关于安全。",
        "The bridge was drawn in 1931.",
    ],
)
def test_what_only_starts_like_a_surname_is_no_name(text: str) -> None:
    assert not PERSON.search(text)


def test_who_is_answered_where_another_person_than_the_questions_is_named() -> None:
    question = read_question("电影《湖上》的导演是谁？")
    assert answers_kind(question, "《湖上》由林远山执导。") == 1.0
    assert answers_kind(question, "《湖上》是一部关于成长的电影，去年上映。") < 0.6


def test_who_made_it_is_answered_beside_the_role_that_is_asked_for() -> None:
    question = read_question("《湖上》的导演是谁？")
    assert answers_kind(question, "该片由林远山执导。") == 1.0
    assert answers_kind(question, "记者何清说，《湖上》很好看。") == OTHER_ROLE
    assert read_question("《湖上》的主演？").kind is Kind.PERSON
