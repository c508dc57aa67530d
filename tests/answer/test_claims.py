import pytest

from kbcite.answer.claims import check_claim
from kbcite.answer.questions import read_question
from kbcite.records import Verdict

POLICY = "自签收之日起 30 天内可以退货，运费由买家承担。本店销售额同比增长 12.5%。换货期限为 15 天。"
MUSEUM = "The museum opened in 1998 and is closed on Mondays. Admission rose to 12 dollars in 2020. It was designed by Anna Berg."


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("自签收之日起 30 天内可以退货。", POLICY),
        ("签收后三十天内可以退货。", POLICY),
        ("销售额同比增长百分之十二点五。", POLICY),
        ("The museum opened in 1998.", MUSEUM),
        ("The museum is closed on Mondays.", MUSEUM),
        ("Anna Berg designed the museum.", MUSEUM),
    ],
)
def test_what_the_evidence_says_is_supported(claim, evidence):
    assert check_claim(claim, evidence).verdict is Verdict.SUPPORTED


@pytest.mark.parametrize(
    ("claim", "evidence", "check"),
    [
        ("自签收之日起 20 天内可以退货。", POLICY, ("figures", "differs: 20")),
        ("自签收之日起 15 天内可以退货。", POLICY, ("figures", "differs: 15")),
        ("自签收之日起 30 天内不可以退货。", POLICY, ("negation", "differs")),
        ("本店销售额同比下降 12.5%。", POLICY, ("direction", "differs")),
        ("The museum opened in 1989 and is closed on Mondays.", MUSEUM, ("figures", "differs: 1989")),
        ("The museum is not closed on Mondays.", MUSEUM, ("negation", "differs")),
    ],
)
def test_what_the_evidence_says_otherwise_is_contradicted_by_a_named_check(claim, evidence, check):
    result = check_claim(claim, evidence)
    assert result.verdict is Verdict.CONTRADICTED
    assert check in result.checks


@pytest.mark.parametrize("claim", ["泰山位于山东省泰安市。", "The bridge was built by Roman soldiers."])
def test_what_the_evidence_does_not_speak_of_is_unsupported(claim):
    assert check_claim(claim, POLICY + MUSEUM).verdict is Verdict.UNSUPPORTED


def test_the_words_of_the_question_prove_nothing():
    question = read_question("Who designed the city museum of Oslo?")
    claim = "The city museum of Oslo was designed by Carl Lund."
    evidence = "The city museum of Oslo was designed by Anna Berg."
    assert check_claim(claim, evidence, question=question).score < check_claim(claim, evidence).score


def test_a_similarity_helps_and_is_named():
    plain = check_claim("Entry costs 12 dollars.", MUSEUM)
    helped = check_claim("Entry costs 12 dollars.", MUSEUM, similarity=lambda a, b: 1.0)
    assert helped.score > plain.score
    assert ("similarity", "1.00") in helped.checks


@pytest.mark.parametrize(
    ("claim", "evidence", "why"),
    [
        ("Tim Roth is an American actor.", "Timothy Roth is an English actor and director.", "american"),
        ("The story is set in a real place.", "The story is set in a fictional place.", "real"),
        ("他的小说在日本出版。", "他的小说在韩国出版。", "日本"),
    ],
)
def test_another_word_of_the_same_class_speaks_against_a_claim(claim: str, evidence: str, why: str) -> None:
    result = check_claim(claim, evidence)
    assert why in dict(result.checks)["class"]
    assert result.score < 0.5 < check_claim(evidence, evidence).score


@pytest.mark.parametrize(
    ("claim", "evidence", "is_said"),
    [
        ("伊朗队86:48战胜日本队。", "首场比赛伊朗队以86：48战胜了日本队。", True),
        ("日本队48:86不敌伊朗队。", "首场比赛日本队不敌伊朗队，比分是86:48。", True),
        ("伊朗队86:58战胜日本队。", "首场比赛伊朗队以86：48战胜了日本队，日本队得48分，58名记者到场。", False),
        ("社会融资规模存量达127万亿元。", "3月末社会融资规模存量为127.52万亿元。", True),
        ("社会融资规模存量达126万亿元。", "3月末社会融资规模存量为127.52万亿元。", False),
    ],
)
def test_scores_and_cut_figures_are_compared_as_readers_read_them(claim: str, evidence: str, is_said: bool) -> None:
    assert (dict(check_claim(claim, evidence).checks)["figures"] == "ok") is is_said


def test_the_name_that_answers_a_question_has_to_stand_in_the_evidence() -> None:
    question = read_question("《药神》的导演是谁？")
    right = check_claim("《药神》由文牧野执导。", "文牧野导演的电影《药神》提前上映。", question=question)
    wrong = check_claim("《药神》由文牧野执导。", "吴京导演的电影《药神》提前上映。", question=question)
    assert wrong.score < 0.5 < right.score


@pytest.mark.parametrize(
    ("claim", "evidence", "is_denied"),
    [
        ("Ida Moe writes for the radio.", "Ida Moe has yet to write anything for the radio.", True),
        ("The ferry carries cars.", "The ferry carries cars, but it is not cheap.", False),
        ("轮渡可以运送汽车。", "轮渡不可以运送汽车。", True),
        ("轮渡可以运送汽车。", "轮渡可以运送汽车，票价并不便宜。", False),
    ],
)
def test_only_a_denial_of_what_the_claim_says_speaks_against_it(claim: str, evidence: str, is_denied: bool) -> None:
    result = check_claim(claim, evidence)
    assert (dict(result.checks)["negation"] == "differs") is is_denied
    assert (result.verdict is Verdict.CONTRADICTED) is is_denied


def test_a_date_is_said_by_its_short_form_and_not_contradicted_by_a_part_of_it() -> None:
    short = check_claim("The hall opened on November 9, 2018.", "Nov 9, 2018: the hall opened its doors.")
    assert dict(short.checks)["figures"] == "ok"
    assert short.verdict is Verdict.SUPPORTED
    part = check_claim("The hall opened on November 9, 2018.", "The hall opened on November 9.")
    assert dict(part.checks)["figures"] == "missing: November 9, 2018"
    other = check_claim("The hall opened on November 9, 2018.", "The hall opened on November 8.")
    assert dict(other.checks)["figures"] == "differs: November 9, 2018"


def test_words_made_of_the_same_word_say_as_much() -> None:
    evidence = "Lena Holm is a drummer and the director of the choir."
    assert check_claim("Lena Holm directs the choir.", evidence).verdict is Verdict.SUPPORTED
    assert (
        check_claim("Lena Holm plays the drums.", evidence).score
        > check_claim("Lena Holm plays chess.", evidence).score
    )


def test_a_clause_of_which_nothing_is_said_costs_more_than_the_same_words_here_and_there() -> None:
    evidence = "The old mill was built of oak in 1802 by Jonas Dahl beside the river. Today it houses a bakery."
    scattered = check_claim(
        "The mill of collectors was built of clocks in 1802 by Jonas Dahl, and it houses a bakery.", evidence
    )
    together = check_claim("The mill was built of oak in 1802 by Jonas Dahl, and it collects clocks.", evidence)
    assert together.score < scattered.score


def test_a_year_that_is_asked_for_is_compared_as_a_year() -> None:
    evidence = "这座大桥于2009年12月11日正式通车。"
    claim = "大桥在2009年11月30日完成验收通车。"
    by_year = check_claim(claim, evidence, question=read_question("大桥哪一年通车？"))
    by_day = check_claim(claim, evidence, question=read_question("大桥什么时候通车？"))
    assert by_year.score > by_day.score
