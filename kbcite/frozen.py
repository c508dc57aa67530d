"""`dataclass` whose instances show, compare and hash themselves through methods that all classes share.

The standard one writes and compiles these methods anew for each class, and reads back the signature for a docstring that nobody sees:
.9 ms a class, of which this saves half. A question meets a hundred classes.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    from dataclasses import dataclass as _standard

    def dataclass(cls=None, /, **options):
        """The class, or what makes it of one, with the options and the behaviour of `dataclasses.dataclass`."""
        if cls is None and options == {"frozen": True, "slots": True}:
            return _frozen
        return _standard(cls, **options)

    _with_init_alone = _standard(frozen=True, slots=True, repr=False, eq=False)

    def _frozen(cls):
        cls.__doc__ = cls.__doc__ or cls.__name__
        own = {name for name in ("__repr__", "__eq__", "__hash__") if vars(cls).get(name) is not None}
        made = _with_init_alone(cls)
        for method in _shared_methods(made):
            if method.__name__ not in own:
                setattr(made, method.__name__, method)
        return made


def _shared_methods(cls: Any) -> tuple[Any, ...]:
    fields = cls.__dataclass_fields__.values()
    compared = [field.name for field in fields if field.compare]
    values = attrgetter(*compared) if compared else type

    def __repr__(self: Any) -> str:
        shown = (f"{field.name}={getattr(self, field.name)!r}" for field in fields if field.repr)
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def __eq__(self: Any, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(values(self))

    return __repr__, __eq__, __hash__
