"""``Owners``: whose each subscription is, by key.

What was loaded from a file stays in arrays (a key, and a code of the distinct names) until
somebody asks; only then is the dictionary made, once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


class Owners:
    """Names of owners by key, of those subscriptions that have one."""

    def __init__(self) -> None:
        self._by_key: dict[int, str] = {}
        self._unread: tuple[np.ndarray, np.ndarray, pa.Array] | None = None

    @classmethod
    def restored(cls, keys: np.ndarray, codes: np.ndarray, names: pa.Array) -> Owners:
        """Those of a file: each key is owned by the name that its code stands for."""
        owners = cls()
        owners._unread = (keys, codes, names) if len(keys) else None
        return owners

    def by_key(self) -> dict[int, str]:
        """All of them; to be looked at, not to be changed."""
        if self._unread is not None:
            keys, codes, names = self._unread
            words = names.to_pylist()
            owned = (words[code] for code in codes.tolist())
            self._by_key = dict(zip(keys.tolist(), owned, strict=True)) | self._by_key
            self._unread = None
        return self._by_key

    def get(self, key: int) -> str | None:
        """The owner of a subscription, if it has one."""
        return self.by_key().get(key)

    def set(self, key: int, owner: str | None) -> None:
        """Note whose a subscription is, or that it is nobody's."""
        owners = self._by_key if self._unread is None else self.by_key()
        if owner is None:
            owners.pop(key, None)
        else:
            owners[key] = owner

    def copy(self) -> Owners:
        """The same, untouched by later changes."""
        copy = Owners()
        copy._by_key, copy._unread = self._by_key.copy(), self._unread
        return copy
