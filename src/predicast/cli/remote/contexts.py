"""Named brokers, with their tokens, in a file that only its owner can read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from predicast.errors import InputFileError, InvalidOptionError, suggest

_VARIABLE: Final = "PREDICAST_CONTEXTS"
_OTHERS: Final = 0o077  # permissions of anybody but the owner


class Context(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where a broker is, and what it knows us by."""

    url: str
    token: str | None = None

    def __repr__(self) -> str:
        """Without what must not be seen in a log."""
        return f"Context({self.url!r})"


class Contexts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """All of them, and the name of the one that is used if none is named."""

    contexts: Mapping[str, Context] = {}
    current: str | None = None

    def named(self, name: str) -> Context:
        """That one, or an error that knows the others."""
        if name not in self.contexts:
            close = suggest(name, self.contexts)
            hint = (
                f"is it {close!r}?" if close else "`predicast context list` shows those there are"
            )
            raise InvalidOptionError(f"there is no context {name!r}; {hint}", option="context")
        return self.contexts[name]

    def adding(self, name: str, context: Context) -> Contexts:
        """With one more, or another in its place; the first is the one that is used."""
        return Contexts({**self.contexts, name: context}, self.current or name)

    def removing(self, name: str) -> Contexts:
        """Without that one."""
        self.named(name)
        left = {each: context for each, context in self.contexts.items() if each != name}
        return Contexts(left, None if self.current == name else self.current)

    def using(self, name: str) -> Contexts:
        """With that one for whoever names none."""
        self.named(name)
        return Contexts(self.contexts, name)


def contexts_path() -> Path:
    """Where the file is: where a variable says, or among the user's settings."""
    if named := os.environ.get(_VARIABLE):
        return Path(named)
    settings = os.environ.get("XDG_CONFIG_HOME")
    return (Path(settings) if settings else Path.home() / ".config") / "predicast" / "contexts.json"


def load_contexts(path: Path) -> Contexts:
    """What the file says; nothing if there is none."""
    try:
        if os.name == "posix" and path.stat().st_mode & _OTHERS:
            raise InputFileError(
                f"{path}: others can read the tokens in it; `chmod 600 {path}` mends that",
                path=str(path),
            )
        return msgspec.json.decode(path.read_bytes(), type=Contexts)
    except FileNotFoundError:
        return Contexts()
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputFileError(f"{path}: {error}", path=str(path)) from None


def save_contexts(path: Path, contexts: Contexts) -> None:
    """Write the file, all of it or nothing; from the start only its owner can read it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    written = msgspec.json.format(msgspec.json.encode(contexts), indent=2)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)  # with mode 600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(written + b"\n")
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
