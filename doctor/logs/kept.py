"""What is kept of many: the first and the last, while the count counts all."""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Kept(Generic[Item]):
    """The first and the last so many items."""

    def __init__(self, first: int, last: int) -> None:
        self.count = 0
        self._size = first
        self._first: list[Item] = []
        self._last: deque[Item] = deque(maxlen=last)

    def add(self, item: Item) -> None:
        """Take an item."""
        self.count += 1
        if len(self._first) < self._size:
            self._first.append(item)
        else:
            self._last.append(item)

    def items(self) -> list[Item]:
        """Return what is kept, in order."""
        return [*self._first, *self._last]

    def dropped(self) -> int:
        """Return how many items are gone."""
        return self.count - len(self._first) - len(self._last)
