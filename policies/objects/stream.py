"""Streams of sized objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, eq=False)
class ObjectStream:
    """Requests for objects, in order.

    Parameters
    ----------
    number
        int64, shape (requests,): the object of each request, numbered from 0 by first request.
    size_bytes
        int64, shape (requests,): its size, positive.
    """

    number: NDArray[np.int64]
    size_bytes: NDArray[np.int64]

    @classmethod
    def of(cls, obj_id: ArrayLike, size_bytes: ArrayLike) -> ObjectStream:
        """Return the stream of two columns of one length: ids of any kind, and sizes.

        Raises
        ------
        ValueError
            If the lengths differ, or a size is not positive.
        """
        ids, sizes = np.asarray(obj_id), np.asarray(size_bytes, dtype=np.int64)
        if ids.ndim != 1 or ids.shape != sizes.shape:
            raise ValueError("obj_id and size: expected two columns of one length")
        if len(sizes) and sizes.min() < 1:
            row = int(np.argmax(sizes < 1))
            raise ValueError(f"size of request {row}: expected 1 or more, found {sizes[row]}")
        _, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
        place = np.empty(len(first), dtype=np.int64)
        place[np.argsort(first)] = np.arange(len(first))
        return cls(place[inverse], sizes)

    def __len__(self) -> int:
        return len(self.number)

    def uniform(self) -> ObjectStream:
        """Return the same requests with every size set to 1."""
        return ObjectStream(self.number, np.ones_like(self.size_bytes))

    def sizes(self) -> NDArray[np.int64]:
        """Return the size of each object when it is first requested, in bytes, by its number."""
        by_number = np.zeros(int(self.number.max(initial=-1)) + 1, dtype=np.int64)
        by_number[self.number[::-1]] = self.size_bytes[::-1]
        return by_number

    def resized(self) -> int:
        """Return the requests whose object had another size when it was last requested."""
        order = np.argsort(self.number, kind="stable")
        number, size_bytes = self.number[order], self.size_bytes[order]
        same = number[1:] == number[:-1]
        return int(np.count_nonzero(same & (size_bytes[1:] != size_bytes[:-1])))

    def next_uses(self, never: int) -> list[int]:
        """Return for each request the number of the next for the same object, or `never`."""
        order = np.argsort(self.number, kind="stable")
        same = self.number[order[:-1]] == self.number[order[1:]]
        following: NDArray[Any] = np.full(len(self), never, dtype=np.int64)
        following[order[:-1][same]] = order[1:][same]
        uses: list[int] = following.tolist()
        return uses
