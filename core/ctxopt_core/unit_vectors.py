"""Vectors of an embedding model, checked and brought to length one, so that a product of two is their cosine."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from operator import mul
from typing import Any, TypeAlias

UnitVector: TypeAlias = "array[float]"
"""Numbers in single precision, of length one or all zeros."""

_TEXTS = (str, bytes, bytearray)


def unit_vectors(found: Any, wanted: int) -> list[UnitVector]:
    """Return the vectors that a model gave for `wanted` texts, each of length one.

    Args:
        found: The vectors: lists, tuples or arrays of numbers, or a matrix with one row for each text.
        wanted: How many there must be.

    Raises:
        TypeError: These are not vectors of numbers.
        ValueError: There are more or fewer, or one is empty or holds NaN or an infinity.
    """
    return [unit_vector(vector) for vector in listed(found, wanted)]


def listed(found: Any, wanted: int) -> list[Any]:
    """Return what a model gave for `wanted` texts as a list of that length."""
    if isinstance(found, _TEXTS) or not isinstance(found, Iterable):
        message = f"`embeddings` must return a list with one vector for each text, got {type(found).__name__}"
        raise TypeError(message)
    vectors = list(found)
    if len(vectors) != wanted:
        message = f"`embeddings` must return one vector for each text, got {len(vectors)} for {wanted}"
        raise ValueError(message)
    return vectors


def unit_vector(found: Any) -> UnitVector:
    """Return one vector with length one; a vector of zeros stays as it is."""
    numbers = _numbers(found)
    if not numbers or not all(map(math.isfinite, numbers)):
        what = "one that holds NaN or an infinity" if numbers else "an empty one"
        message = f"`embeddings` must return vectors of finite numbers, got {what}"
        raise ValueError(message)
    # Squares of very large or very small numbers would not be finite, or be nothing.
    largest = max(map(abs, numbers))
    if not largest:
        return array("f", numbers)
    scaled = [number / largest for number in numbers]
    length = math.hypot(*scaled)
    return array("f", [number / length for number in scaled])


def cosine(left: Iterable[float], right: Iterable[float]) -> float:
    """Return the cosine of two unit vectors, from -1.0 to 1.0; 0.0 if one is all zeros."""
    product: float = sum(map(mul, left, right))
    return max(-1.0, min(1.0, product))


def _numbers(found: Any) -> UnitVector:
    try:
        if not isinstance(found, _TEXTS):
            return array("d", found)
    except (TypeError, OverflowError) as error:
        message = f"`embeddings` must return vectors of numbers, got {type(found).__name__}: {error}"
        raise TypeError(message) from error
    message = f"`embeddings` must return vectors of numbers, got {type(found).__name__}"
    raise TypeError(message)
