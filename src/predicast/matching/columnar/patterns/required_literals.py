"""What a regular expression plainly requires of a text: literals that any match contains.

    (error|warning): disk [0-9]+ full    requires    one of "error", "warning"
                                                     ": disk "
                                                     " full"

    (?i)whoami /priv                     requires    one of "i /p", "I /p", "i /P", ...

An expression is read once, from left to right, as RE2 would read the plain part of its syntax:
alternatives between bars, items one after the other, an item and its repetitions. Runs of literal
characters grow until something that is not one ends them; after short ones a few alternatives or a
small class do not, and are spelt out: ``-(W|R)`` requires ``-W`` or ``-R``. Of other alternatives
each must require something, and the one with the longest literals speaks for its branch. Where case
does not count, a part of a literal that has few letters does, spelt in every way. Time is linear in
the expression; whatever is not understood requires nothing, which is always right, since a
candidate is asked in full. Rejected: a parser of all of RE2's syntax, for which the few expressions
beyond the plain part are no reason.
"""

from __future__ import annotations

import re
import string
from itertools import islice, product
from typing import Final, NamedTuple

from predicast.bounded_cache import remembered

# An expression is asked about for every attribute, list and segment that it stands in.
_MAX_BYTES: Final = 8 << 20
_BYTES: Final = 1_000
_PER_CHARACTER: Final = 10
_REPEAT: Final = re.compile(r"\{([0-9]+)(,[0-9]*)?\}")
_GROUP: Final = re.compile(r"\((?!\?)|\(\?:|\(\?P?<\w+>")
_FLAGS: Final = re.compile(r"\(\?[imsU]+\)")  # of which only i changes what a literal is
_NAMED_CLASS: Final = re.compile(r"\[:\^?[a-z]+:\]")
_MOST_GROUPS: Final = 100  # bounds the recursion
_MOST_ALTERNATIVES: Final = 16
_MOST_SPELLINGS: Final = 64  # of all alternatives together
_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v"}
_CLASSES: Final = {"d": string.digits, "s": "\t\n\f\r "}  # those of few members
_MEMBER: Final = re.compile(r"(\\?.)(-(?:\\.|[^\\]))?", re.DOTALL)  # a character, or a range
_MOST_MEMBERS: Final = 16
_LONG: Final = 4  # characters that are seldom found by chance, whatever comes after them
# To RE2 these are the same letters: a Kelvin sign, and a long s.
_SPELLINGS: Final = {"k": ("k", "K", "\u212a"), "s": ("s", "S", "\u017f")}

_CHANGING: Final = re.compile(r"[ks]|[^\x00-\x7f]")  # what has spellings beyond ASCII


@remembered(_MAX_BYTES, lambda arguments, _: _BYTES + _PER_CHARACTER * len(arguments[0]))
def required_literals(regex: str) -> list[tuple[str, ...]]:
    r"""Choices of literals, at least one of each of which any text with a match contains.

    Reads the plain part of RE2's syntax and answers none for an expression with anything else
    (flags for a part of it, ``\Q``, ``\x``, classes by name outside of brackets), which is always
    right.
    """
    if without_case(regex):
        return _in_any_case(_choices(regex, most=1))
    return _choices(regex, most=_MOST_ALTERNATIVES)


@remembered(_MAX_BYTES, lambda arguments, _: _BYTES + _PER_CHARACTER * len(arguments[0]))
def required_pieces(regex: str) -> tuple[str, ...]:
    """Literals that any text with a match has in this order, none overlapping another.

    Where case does not count they are in lower case, and without letters that are not ASCII in one
    of their spellings.
    """
    pieces = [choice[0] for choice in _choices(regex, most=1) if len(choice) == 1]
    if without_case(regex):
        pieces = [part for each in pieces for part in _CHANGING.split(each.lower()) if part]
    return tuple(pieces)


def without_case(regex: str) -> bool:
    """Whether case does not count in the whole of an expression, as far as it is understood."""
    flags = _FLAGS.match(regex)
    return flags is not None and "i" in flags[0]


def _choices(regex: str, most: int) -> list[tuple[str, ...]]:
    """What is required, as it is written; a run is spelt out in at most so many ways."""
    if regex.count("(") > _MOST_GROUPS:
        return []
    try:
        return _Reader(regex, most).alternatives(0)[0].choices
    except (_NotPlainError, IndexError):
        return []


def _in_any_case(choices: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The same choices of what is compared without case, but for those of too many spellings."""
    found = []
    for choice in choices:
        parts = [_of_few_letters(literal) for literal in choice]
        spelt = [each for part in parts for each in map("".join, product(*map(_spellings, part)))]
        if all(parts) and len(spelt) <= _MOST_SPELLINGS:
            found.append(tuple(dict.fromkeys(spelt)))
    return found


def _spellings(character: str) -> tuple[str, ...]:
    lower = character.lower()
    if lower in _SPELLINGS:
        return _SPELLINGS[lower]
    return (lower, lower.upper()) if lower.isalpha() else (character,)


def _of_few_letters(literal: str) -> str:
    """The longest part that is ASCII and has few spellings; empty if there is none."""
    best, begin, spellings = "", 0, 1
    for end, character in enumerate(literal, 1):
        if not character.isascii():
            begin, spellings = end, 1
            continue
        spellings *= len(_spellings(character))
        while spellings > _MOST_ALTERNATIVES:
            spellings //= len(_spellings(literal[begin]))
            begin += 1
        best = literal[begin:end] if end - begin > len(best) else best
    return best


class _NotPlainError(Exception):
    """The regular expression has something that is not understood here."""


class _Item(NamedTuple):
    """What a part of an expression requires, and all texts that it matches if they are few."""

    choices: list[tuple[str, ...]]
    texts: tuple[str, ...] | None = None


_ANYTHING: Final = _Item([])
_NO_TEXT: Final = _Item([], ("",))


class _Run:
    """Items one after the other of which all texts are known."""

    def __init__(self, item: _Item = _NO_TEXT) -> None:
        self._heads, self._tail = item.texts or (), list[str]()
        self.ways = len(self._heads)
        self._is_literal = bool(item.choices)  # whether there is more to it than classes

    def add(self, item: _Item) -> None:
        """One more; a single text is put aside, so that a long run takes linear time."""
        texts = item.texts or ()
        self._is_literal |= bool(item.choices)
        if len(texts) == 1:
            self._tail += texts
            return
        self._heads = tuple(head + text for head in self.texts() for text in texts)
        self._tail, self.ways = [], len(self._heads)

    def texts(self) -> tuple[str, ...]:
        """All that it may be."""
        end = "".join(self._tail)
        return tuple(head + end for head in self._heads)

    def choices(self) -> list[tuple[str, ...]]:
        """What it requires, if anything worth looking for."""
        texts = self.texts()
        return [texts] if self._is_literal and all(texts) else []


class _Reader:
    """An expression, and in how many ways a run of it is spelt out at most."""

    def __init__(self, regex: str, most: int) -> None:
        self._regex, self._most = regex, most

    def alternatives(self, place: int) -> tuple[_Item, int]:
        """What branches between bars require, up to the closing parenthesis or the end."""
        branches: list[_Item] = []
        while True:
            branch, place = self._branch(place)
            branches.append(branch)
            if place == len(self._regex) or self._regex[place] == ")":
                break
            place += 1
        if len(branches) == 1:
            return branches[0], place
        texts = tuple(text for each in branches for text in each.texts or ())
        are_known = len(texts) <= self._most and all(each.texts for each in branches)
        known = tuple(dict.fromkeys(texts)) if are_known else None
        if not all(each.choices for each in branches):
            return _Item([], known), place
        best = [max(each.choices, key=lambda choice: min(map(len, choice))) for each in branches]
        union = tuple(sorted({literal for choice in best for literal in choice}))
        return _Item([union] if len(union) <= _MOST_ALTERNATIVES else [], known), place

    def _branch(self, place: int) -> tuple[_Item, int]:
        """What items one after the other require: runs of literals, and what groups require."""
        choices: list[tuple[str, ...]] = []
        run, is_one_run = _Run(), True
        while place < len(self._regex) and self._regex[place] not in "|)":
            item, place = self._item(place)
            least, after = _repeats(self._regex, place)
            is_repeated, place = after > place, after
            ways = len(item.texts or ()) if least > 0 else 0
            goes_on = ways == 1 or (ways > 1 and self._is_spelt_out(run, ways))
            if goes_on:
                run.add(item)
            if is_repeated or not goes_on:
                choices += run.choices()
                run, is_one_run = _Run(), False
            if not goes_on and least > 0:
                if 0 < ways <= self._most and not is_repeated:
                    run = _Run(item)
                else:
                    choices += item.choices
        texts = run.texts() if is_one_run else None
        return _Item(choices + run.choices(), texts), place

    def _is_spelt_out(self, run: _Run, ways: int) -> bool:
        """Whether a run is worth spelling out, if it goes on in so many ways."""
        return run.ways * ways <= self._most and min(map(len, run.texts())) < _LONG

    def _item(self, place: int) -> tuple[_Item, int]:
        """One item and its end."""
        regex, character = self._regex, self._regex[place]
        if character in "^$":
            return _NO_TEXT, place + 1
        if character == ".":
            return _ANYTHING, place + 1
        if character == "[":
            end = _class_end(regex, place)
            return _one_of(_members(regex[place + 1 : end - 1])), end
        if character == "\\":
            return _escaped(regex[place + 1]), place + 2
        if character != "(":
            return _literal(character), place + 1
        # Only at the beginning: elsewhere a repetition after flags is one of the item before them.
        if place == 0 and (flags := _FLAGS.match(regex)):
            return _NO_TEXT, flags.end()
        group = _GROUP.match(regex, place)
        if group is None:
            raise _NotPlainError
        item, end = self.alternatives(group.end())
        return item, end + 1


def _literal(character: str) -> _Item:
    return _Item([(character,)], (character,))


def _one_of(members: str) -> _Item:
    """A class, which requires nothing worth looking for unless it stands beside a literal."""
    if len(members) == 1:
        return _literal(members)
    return _Item([], tuple(members)) if members else _ANYTHING


def _escaped(character: str) -> _Item:
    if character in "bBAz":
        return _NO_TEXT
    if character in _CONTROLS:
        return _literal(_CONTROLS[character])
    if character in "dDsSwW":
        return _one_of(_CLASSES.get(character, ""))
    if character in string.punctuation and character != "_":
        return _literal(character)
    raise _NotPlainError


def _members(inside: str) -> str:
    """The characters of a class in brackets if they are plain and few, otherwise none."""
    if inside.startswith("^") or "[:" in inside:
        return ""
    found: dict[str, None] = {}
    for first, last in _MEMBER.findall(inside):
        one = _member(first)
        other = _member(last[1:]) if last else one
        if not one or not other or (last and len(one + other) > 2) or len(found) > _MOST_MEMBERS:
            return ""
        some = map(chr, range(ord(one), ord(other) + 1)) if last else one
        found |= dict.fromkeys(islice(some, _MOST_MEMBERS + 1))
    return "".join(found) if len(found) <= _MOST_MEMBERS else ""


def _member(written: str) -> str:
    """What a member stands for, the characters of a class; nothing if it is not understood."""
    if not written.startswith("\\"):
        return written
    escaped = written[1]
    if escaped in string.punctuation:
        return escaped
    return _CONTROLS.get(escaped, _CLASSES.get(escaped, ""))


def _class_end(regex: str, place: int) -> int:
    """Where a class in brackets ends; a closing one that comes first is a member."""
    place += 2 if regex.startswith("[^", place) else 1
    place += regex.startswith("]", place)
    while regex[place] != "]":
        if regex.startswith("[:", place):
            named = _NAMED_CLASS.match(regex, place)
            if named is None:
                raise _NotPlainError
            place = named.end()
        else:
            place += 2 if regex[place] == "\\" else 1
    return place + 1


def _repeats(regex: str, place: int) -> tuple[int, int]:
    """At least how often an item occurs (0, or 1 for more), and the end of its repetitions."""
    least = 1
    while place < len(regex) and regex[place] in "*+?{":
        counted = _REPEAT.match(regex, place)
        if regex[place] == "{" and counted is None:
            break  # a literal
        # Zero however it is written: RE2 takes 00 for a literal, and int() may refuse the digits.
        if regex[place] in "*?" or (counted and not counted[1].strip("0")):
            least = 0
        place = counted.end() if counted else place + 1
        place += regex.startswith("?", place)  # as few as possible: holds alike
    return least, place
