from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest

from kbcite.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    name: str
    rooms: tuple[int, ...] = ()
    note: str = dataclasses.field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Person:
    name: str

    def __repr__(self) -> str:
        return "somebody"


@dataclass(frozen=True, slots=True)
class Nothing:
    """It has no field."""


def test_two_are_equal_where_their_fields_are() -> None:
    assert Place("hall", (1, 2)) == Place("hall", (1, 2), "read yesterday")
    assert Place("hall") != Place("hut")
    assert Person("hall") != Place("hall")
    assert Nothing() == Nothing()


def test_equal_ones_are_one_key() -> None:
    assert len({Place("hall"), Place("hall", note="again"), Place("hut"), Nothing(), Nothing()}) == 3


def test_one_is_shown_with_its_fields_and_a_method_of_its_own_stays() -> None:
    assert repr(Place("hall", (1,))) == "Place(name='hall', rooms=(1,))"
    assert repr(Person("Ann")) == "somebody"


def test_a_field_cannot_be_set_nor_added() -> None:
    place = Place("hall")
    with pytest.raises(dataclasses.FrozenInstanceError):
        place.name = "hut"  # type: ignore[misc]
    assert not hasattr(place, "__dict__")


def test_one_is_replaced_copied_and_pickled() -> None:
    place = dataclasses.replace(Place("hall"), rooms=(3,))
    assert place == copy.deepcopy(place) == pickle.loads(pickle.dumps(place)) == Place("hall", (3,))
    assert dataclasses.asdict(place) == {"name": "hall", "rooms": (3,), "note": ""}


def test_with_other_options_it_is_the_standard_one() -> None:
    @dataclass(frozen=True, slots=True, order=True)
    class Step:
        number: int

    assert Step(1) < Step(2)
