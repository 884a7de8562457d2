"""Numbers, addresses and wildcards in patterns, as Event Ruler takes them.

It compares a number as the float that it is written as, and refuses one that is not what its float
is written as: ``1E309`` has none, ``0.1000000000000000055`` is written ``0.1``. Equality alone is
also asked of such numbers, by their digits.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Final

from predicast.derived import addresses
from predicast.model.decimals import MAX_FRACTION_DIGITS, MAX_WHOLE_DIGITS, exact_number
from predicast.model.values import canonical_number

_MOST_BITS: Final = {4: 31, 6: 127}  # a network of one address is refused
_ADDRESS: Final = re.compile(r"[0-9]+(?:\.[0-9]+){3}|[0-9a-fA-F:]*:[0-9a-fA-F:]*")
_LITERALS: Final = re.compile(r"[^*\\]+|\\[*\\]|\*")
_LONGEST: Final = MAX_WHOLE_DIGITS + MAX_FRACTION_DIGITS


def comparable(numeral: str) -> int | float | None:
    """The number of a numeral, ``None`` if it is not the one that its float is written as."""
    try:
        value = float(numeral)
    except OverflowError:
        return None
    if not math.isfinite(value) or len(numeral) > _LONGEST:
        return None
    if Decimal(repr(value)) != Decimal(numeral):
        return None
    return canonical_number(value + 0.0)


def number(numeral: str) -> int | float | Decimal | None:
    """The number of a numeral, with all of its digits; ``None`` if those are too many."""
    if len(numeral) > _LONGEST:
        return None
    found = exact_number(Decimal(numeral))
    return canonical_number(found) if isinstance(found, float) else found


def network(text: str) -> tuple[str, str] | str:
    """The ends of a network in digits, or why it is none."""
    address, slash, bits = text.partition("/")
    if not slash or "/" in bits:
        return "a network has one '/', as in 10.0.0.0/8"
    if not bits.isascii() or not bits.isdigit() or len(bits) > 3:
        return "behind the '/' of a network stands a number of bits"
    digits = addresses.digits(address) if _ADDRESS.fullmatch(address) else None
    if digits is None:
        return f"{address!r} is no address"
    most = _MOST_BITS[int(digits[0])]
    if int(bits) > most:
        return f"a network of IPv{digits[0]} addresses has fewer than {most + 1} bits"
    ends = addresses.network_ends(text)
    return "this is no network" if ends is None else ends


def spelt_address(text: str) -> str | None:
    """The digits of an IPv6 address, which can be spelt in several ways; ``None`` of others."""
    if ":" not in text or not _ADDRESS.fullmatch(text):
        return None
    return addresses.digits(text)


def wildcard_parts(text: str) -> list[str] | str:
    """The literal texts around the asterisks, or what is wrong."""
    parts, end, was_run = [""], 0, False
    for found in _LITERALS.finditer(text):
        if found.start() != end:
            break
        end = found.end()
        piece = found[0]
        if piece == "*":
            if was_run:
                return "two asterisks stand side by side; one says the same"
            parts.append("")
        else:
            parts[-1] += piece[-1] if piece[0] == "\\" else piece
        was_run = piece == "*"
    if end != len(text):
        return r"a backslash stands before '*' or another backslash: write \\* or \\\\ in JSON"
    return parts


def wildcard_text(parts: list[str]) -> str:
    """The wildcard with these literal texts around its asterisks."""
    return "*".join(part.replace("\\", "\\\\").replace("*", "\\*") for part in parts)
