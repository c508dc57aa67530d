from __future__ import annotations

import numpy as np

from kbcite.retrieval.builtin_encoder import BuiltinEncoder
from kbcite.retrieval.centring import centre, centroids_of, shipped_centroids
from kbcite.retrieval.vectors import to_unit_length


def random_vectors(count: int, shift: float) -> np.ndarray:
    return to_unit_length(np.random.default_rng(1).normal(shift, 1, (count, 8)))


def test_many_blocks_are_centred_on_their_own_mean() -> None:
    vectors = random_vectors(5000, 3.0)
    mean = centroids_of(vectors, ["zh"] * 5000, "st/another")["zh"]
    assert np.allclose(mean, vectors.mean(axis=0), atol=0.01)


def test_few_blocks_are_hardly_centred() -> None:
    vectors = random_vectors(1, 3.0)
    centred = centre(vectors, ["zh"], centroids_of(vectors, ["zh"], "st/another"))
    assert float((centred @ vectors.T)[0, 0]) > 0.99


def test_the_built_in_encoders_means_do_not_depend_on_the_blocks(builtin: BuiltinEncoder) -> None:
    few = centroids_of(builtin.encode_passages(["短"]), ["zh"], builtin.fingerprint)
    none = centroids_of(np.empty((0, 384), np.float32), [], builtin.fingerprint)
    assert few.keys() == none.keys() == {"zh", "en"}
    assert all(np.array_equal(few[language], none[language]) for language in few)


def test_centred_vectors_have_unit_length_and_an_unknown_language_stays() -> None:
    vectors = random_vectors(2, 1.0)
    centred = centre(vectors, ["zh", "fr"], {"zh": np.full(8, 0.2, np.float32)})
    assert np.allclose(np.linalg.norm(centred, axis=1), 1, atol=1e-6)
    assert np.allclose(centred[1], vectors[1])


def test_the_shipped_means_are_of_the_built_in_encoder_only(builtin: BuiltinEncoder) -> None:
    shipped = shipped_centroids(builtin.fingerprint)
    assert {language: mean.shape for language, mean in shipped.items()} == {"zh": (384,), "en": (384,)}
    assert shipped_centroids("st/another") == {}


def test_centring_lets_a_question_find_its_answer_in_the_other_language(builtin: BuiltinEncoder) -> None:
    chinese = [
        "台风预计明天夜间登陆，沿海地区将有暴雨。",
        "他的小说讲述一个渔村家庭的故事。",
        "把鸡蛋打散，加入少许盐，用小火翻炒。",
        "孩子发烧超过三天应当带去医院检查。",
        "球队在加时赛中打入制胜一球。",
    ]
    texts = [*chinese, "Tenants must give the landlord one month's written notice before moving out."]
    languages = ["zh"] * 5 + ["en"]
    vectors, question = builtin.encode_passages(texts), builtin.encode_queries(["房客搬走前要提前多久告诉房东？"])
    centroids = centroids_of(vectors, languages, builtin.fingerprint)
    margin = {
        "raw": vectors @ question[0],
        "centred": centre(vectors, languages, centroids) @ centre(question, ["zh"], centroids)[0],
    }
    assert margin["centred"].argmax() == 5
    # Against the next best, on the scale of each: this is what the other language costs.
    lead = {name: scores[5] - scores[:5].max() for name, scores in margin.items()}
    assert lead["centred"] > 0.2 > lead["raw"]
