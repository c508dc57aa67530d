import pytest

from kbcite.answer.respelling import respell
from tests.answer.blocks import retrieved
from tests.answer.test_answering import ask

STATIONS = "| Station | Monday |\n| --- | --- |\n| Pier Road | 08:00–19:00 |\n| Airport | 06:00–23:00 |"


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("When does the airprot open?", "When does the airport open?"),
        ("When does the airpport open?", "When does the airport open?"),
        ("When does the airpot open?", "When does the airport open?"),
        ("When does the Airport open?", "When does the Airport open?"),
        ("When does the airports open?", "When does the airports open?"),
        ("When does the museum open?", "When does the museum open?"),
        ("When does the sirport open?", "When does the sirport open?"),
    ],
)
def test_a_slip_of_the_hand_is_mended_by_what_the_pages_write(text, mended):
    assert respell(text, f"{STATIONS} When does the station open?")[0] == mended


def test_two_words_a_slip_away_leave_it_as_it_is():
    assert respell("the casre", "a case of care") == ("the casre", ())


@pytest.mark.parametrize(("asked", "written"), [("Marian", "Maria wrote it"), ("Johan", "Johann wrote it")])
def test_a_name_that_only_goes_on_or_stops_is_another(asked, written):
    assert respell(f"When did {asked} write it?", written)[1] == ()


def test_an_answer_to_a_mended_question_says_how_it_was_read():
    result = ask("When does the airprot station open?", [retrieved(STATIONS, 0, title="Opening hours of the stations")])
    assert result.text.startswith("Station: Airport; Monday: 06:00–23:00")
    assert result.notices[0] == "“airprot” is read as “airport”"
    assert result.question == "When does the airprot station open?"
