"""What `with_optimizer` of an adapter adds to the class of a model, whatever the framework."""

from __future__ import annotations

from types import new_class
from typing import Any, ClassVar, TypeVar

from ctxopt_core.reports.fit_report import FitReport


class OptimizedModel:
    """Base of the class with which an adapter fits the requests of a model.

    An adapter derives one class from it, whose methods fit a request and pass it to `super()`. `empty_model` puts that
    class in front of the class of a model. Settings and report belong to the class that this makes: frameworks copy,
    store and show the fields of a model, and these are not fields.
    """

    fitting_class: ClassVar[type[OptimizedModel]]
    """The class of the adapter."""
    plain_class: ClassVar[type[Any]]
    """The class of the model before it was optimized."""
    fit_settings: ClassVar[Any]
    """How requests are fitted."""
    newest_report: ClassVar[FitReport | None] = None
    """What `last_report` returns, of every copy of a model."""

    @property
    def last_report(self) -> FitReport | None:
        """The report of the last request of this model and of its copies; None before the first."""
        return type(self).newest_report

    def _keep_report(self, report: FitReport) -> None:
        type(self).newest_report = report

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the classes and the settings: the optimized class has no name to import, and is made anew."""
        made = type(self)
        return empty_model, (made.fitting_class, made.plain_class, made.fit_settings), self.__getstate__()


M = TypeVar("M", bound=OptimizedModel)


def empty_model(fitting_class: type[M], plain_class: type[Any], settings: object) -> M:
    """Return a model without fields, of a new class that is `plain_class` with fitting added.

    The class has the name of the plain one, by which providers, traces and caches know the model.

    Args:
        fitting_class: The class of the adapter, derived from `OptimizedModel`.
        plain_class: The class of the model.
        settings: How requests are fitted. They can be pickled if the model shall be.
    """
    names = {
        "__module__": plain_class.__module__,
        "__qualname__": plain_class.__qualname__,
        "__doc__": plain_class.__doc__,
    }
    bases = (fitting_class, plain_class)
    made: Any = new_class(plain_class.__name__, bases, {}, lambda namespace: namespace.update(names))
    made.fitting_class, made.plain_class, made.fit_settings = fitting_class, plain_class, settings
    return made.__new__(made)  # type: ignore[no-any-return]
