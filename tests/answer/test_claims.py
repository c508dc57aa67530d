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
