"""What a regular expression plainly requires of a text: literals that any match contains.

    (error|warning): disk [0-9]+ full    requires    one of "error", "warning"
                                                     ": disk "
                                                     " full"

    (?i)whoami /priv                     requires    one of "i /p", "I /p", "i /P", ...

An expression is read once, from left to right, as RE2 would read the plain part of its syntax:
alternatives between bars, items one after the other, an item and its repetitions. Runs of literal
characters grow until something that is not one ends them; of alternatives each must require
something, and the one with the longest literals speaks for its branch. Where case does not count,
a part of a literal that has few letters does, spelt in every way. Time is linear in the expression;
whatever is not understood requires nothing, which is always right, since a candidate is asked in
full. Rejected: a parser of all of RE2's syntax, for which the few expressions beyond
the plain part are no reason.
"""

from __future__ import annotations

import re
import string
from itertools import product
from typing import Final

_REPEAT: Final = re.compile(r"\{([0-9]+)(,[0-9]*)?\}")
_GROUP: Final = re.compile(r"\((?!\?)|\(\?:|\(\?P?<\w+>")
_FLAGS: Final = re.compile(r"\(\?[imsU]+\)")  # of which only i changes what a literal is
_NAMED_CLASS: Final = re.compile(r"\[:\^?[a-z]+:\]")
_MOST_GROUPS: Final = 100  # bounds the recursion
_MOST_ALTERNATIVES: Final = 16
_MOST_SPELLINGS: Final = 64  # of all alternatives together
_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v"}
# To RE2 these are the same letters: a Kelvin sign, and a long s.
_SPELLINGS: Final = {"k": ("k", "K", "\u212a"), "s": ("s", "S", "\u017f")}

_CHANGING: Final = re.compile(r"[ks]|[^\x00-\x7f]")  # what has spellings beyond ASCII


def required_literals(regex: str) -> list[tuple[str, ...]]:
    r"""Choices of literals, at least one of each of which any text with a match contains.

    Reads the plain part of RE2's syntax and answers none for an expression with anything else
    (flags for a part of it, ``\Q``, ``\x``, classes by name outside of brackets), which is always
    right.
    """
    choices = _choices(regex)
    return _in_any_case(choices) if without_case(regex) else choices


def required_pieces(regex: str) -> tuple[str, ...]:
    """Literals that any text with a match has in this order, none overlapping another.

    Where case does not count they are in lower case, and without letters that are not ASCII in one
    of their spellings.
    """
    pieces = [choice[0] for choice in _choices(regex) if len(choice) == 1]
    if without_case(regex):
        pieces = [part for each in pieces for part in _CHANGING.split(each.lower()) if part]
    return tuple(pieces)


def without_case(regex: str) -> bool:
    """Whether case does not count in the whole of an expression, as far as it is understood."""
    flags = _FLAGS.match(regex)
    return flags is not None and "i" in flags[0]


def _choices(regex: str) -> list[tuple[str, ...]]:
    """What is required, as it is written."""
    if regex.count("(") > _MOST_GROUPS:
        return []
    try:
        return _alternatives(regex, 0)[0]
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


def _alternatives(regex: str, place: int) -> tuple[list[tuple[str, ...]], int]:
    """What branches between bars require, up to the closing parenthesis or the end."""
    branches = []
    while True:
        choices, place = _branch(regex, place)
        branches.append(choices)
        if place == len(regex) or regex[place] == ")":
            break
        place += 1
    if len(branches) == 1:
        return branches[0], place
    if not all(branches):
        return [], place
    best = [max(choices, key=lambda choice: min(map(len, choice))) for choices in branches]
    union = tuple(sorted({literal for choice in best for literal in choice}))
    return ([union] if len(union) <= _MOST_ALTERNATIVES else []), place


def _branch(regex: str, place: int) -> tuple[list[tuple[str, ...]], int]:
    """What items one after the other require: runs of literals, and what groups require."""
    choices: list[tuple[str, ...]] = []
    run = ""
    while place < len(regex) and regex[place] not in "|)":
        item, place = _item(regex, place)
        least, after = _repeats(regex, place)
        if isinstance(item, str) and least > 0:
            run += item
        if run and (after > place or not isinstance(item, str)):
            choices.append((run,))
            run = ""
        if not isinstance(item, str) and least > 0:
            choices += item
        place = after
    if run:
        choices.append((run,))
    return choices, place


def _item(regex: str, place: int) -> tuple[str | list[tuple[str, ...]], int]:
    """One item and its end: a literal, empty if it takes no text, or what it requires."""
    character = regex[place]
    if character in "^$":
        return "", place + 1
    if character == ".":
        return [], place + 1
    if character == "[":
        return [], _class_end(regex, place)
    if character == "\\":
        return _escaped(regex[place + 1]), place + 2
    if character != "(":
        return character, place + 1
    # Only at the beginning: elsewhere a repetition after flags is one of the item before them.
    if place == 0 and (flags := _FLAGS.match(regex)):
        return "", flags.end()
    group = _GROUP.match(regex, place)
    if group is None:
        raise _NotPlainError
    choices, end = _alternatives(regex, group.end())
    return choices, end + 1


def _escaped(character: str) -> str | list[tuple[str, ...]]:
    if character in "bBAz":
        return ""
    if character in _CONTROLS:
        return _CONTROLS[character]
    if character in "dDsSwW":
        return []
    if character in string.punctuation and character != "_":
        return character
    raise _NotPlainError


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
