"""Compiled reading of a line's parts: fields, words, numbers, alignment points, escapes. Bytes in, places out."""

from __future__ import annotations

import math

import numpy as np

from gpusearch.io.compilation import Array, Integer, helper

# What a number turned out to be: none, the float64 nearest to the decimal, or within 2^-50 of it (relatively).
NOT_A_NUMBER, EXACT, NEAR = 0, 1, 2
# A relative error of 2^-50 covers three roundings and the digits beyond the nineteenth.
UP, DOWN = 1.0 + 2.0**-50, 1.0 - 2.0**-50

LOWEST_POWER, HIGHEST_POWER = -300, 308
POWERS = np.array([float(f"1e{exponent}") for exponent in range(LOWEST_POWER, HIGHEST_POWER + 1)])

# Moses' escapes, as its tokenizer writes them.
ENTITIES = {
    "&#124;": "|",
    "&lt;": "<",
    "&gt;": ">",
    "&apos;": "'",
    "&quot;": '"',
    "&#91;": "[",
    "&#93;": "]",
    "&amp;": "&",
}
_ENTITY = np.array([list(name.encode().ljust(6)) for name in ENTITIES], np.uint8)
_ENTITY_LENGTH = np.array([len(name) for name in ENTITIES])
_ENTITY_MEANING = np.array([ord(meaning) for meaning in ENTITIES.values()], np.uint8)


@helper
def line_end(text: Array, start: int) -> int:
    """Place of the newline that ends the line, or the end of the text."""
    end = start
    while end < len(text) and text[end] != 10:
        end += 1
    return end


@helper
def without_return(text: Array, start: int, end: int) -> int:
    """End of a line without the carriage return of a CRLF file."""
    return end - 1 if end > start and text[end - 1] == 13 else end


@helper
def is_blank(byte: Integer) -> bool:
    """Whether a byte separates words: blank, tab, carriage return or NUL, as `files.BLANKS` has it."""
    return byte == 32 or byte == 9 or byte == 13 or byte == 0


@helper
def token(text: Array, start: int, stop: int) -> tuple[int, int]:
    """Bounds of the next word between blanks; an empty one where there is none."""
    while start < stop and is_blank(text[start]):
        start += 1
    end = start
    while end < stop and not is_blank(text[end]):
        end += 1
    return start, end


@helper
def tokens(text: Array, start: int, stop: int, bounds: Array) -> int:
    """Bounds of all words into int64[*, 2]; returns their number, or -1 where there are more than rows."""
    count = 0
    start, end = token(text, start, stop)
    while start < end:
        if count == len(bounds):
            return -1
        bounds[count, 0] = start
        bounds[count, 1] = end
        count += 1
        start, end = token(text, end, stop)
    return count


@helper
def fields(text: Array, start: int, stop: int, bounds: Array) -> int:
    """Bounds of the fields between the bare characters ``|||``, as many as there are rows; returns their number."""
    for count in range(len(bounds)):
        end = start
        while end < stop and not (
            text[end] == 124 and end + 3 <= stop and text[end + 1] == 124 and text[end + 2] == 124
        ):
            end += 1
        bounds[count, 0] = start
        bounds[count, 1] = end
        if end == stop:
            return count + 1
        start = end + 3
    return len(bounds)


@helper
def is_utf8(text: Array, start: int, stop: int) -> bool:
    """Whether ``text[start:stop]`` is well-formed UTF-8: no overlong forms, no surrogates."""
    i = start
    while i < stop:
        lead = text[i]
        if lead < 0x80:
            i += 1
            continue
        if lead < 0xC2 or lead > 0xF4:
            return False
        more = 1 if lead < 0xE0 else 2 if lead < 0xF0 else 3
        low = 0xA0 if lead == 0xE0 else 0x90 if lead == 0xF0 else 0x80
        high = 0x9F if lead == 0xED else 0x8F if lead == 0xF4 else 0xBF
        if i + more >= stop or text[i + 1] < low or text[i + 1] > high:
            return False
        for k in range(2, more + 1):
            if text[i + k] & 0xC0 != 0x80:
                return False
        i += more + 1
    return True


@helper
def number(text: Array, start: int, stop: int) -> tuple[float, int]:
    """A finite decimal number, and how sure it is: EXACT, NEAR or NOT_A_NUMBER. Below 1e-280 it counts as tiny."""
    negative = start < stop and text[start] == 45
    if start < stop and (text[start] == 45 or text[start] == 43):
        start += 1
    mantissa = np.uint64(0)
    digits, exponent = 0, 0
    any_digit, point, cut = False, False, False
    i = start
    while i < stop:
        if 48 <= text[i] <= 57:
            any_digit = True
            if digits < 19:
                mantissa = mantissa * np.uint64(10) + np.uint64(text[i] - 48)
                digits += 1 if mantissa > 0 else 0
                exponent -= point
            else:
                cut = True
                exponent += not point
        elif text[i] == 46 and not point:
            point = True
        else:
            break
        i += 1
    if not any_digit:
        return 0.0, NOT_A_NUMBER
    if i < stop and (text[i] == 101 or text[i] == 69):
        i += 1
        below = i < stop and text[i] == 45
        if i < stop and (text[i] == 45 or text[i] == 43):
            i += 1
        if i == stop:
            return 0.0, NOT_A_NUMBER
        written = 0
        while i < stop and 48 <= text[i] <= 57:
            written = min(written * 10 + (text[i] - 48), 1 << 40)
            i += 1
        exponent += -written if below else written
    magnitude = digits + exponent
    if i < stop or (mantissa > 0 and magnitude > HIGHEST_POWER + 1):
        return 0.0, NOT_A_NUMBER
    if mantissa == 0:
        return 0.0, EXACT
    if magnitude < -280:
        return (-1e-280 if negative else 1e-280), EXACT
    value = np.float64(mantissa)
    certainty = NEAR
    if not cut and mantissa <= np.uint64(1 << 53) and -22 <= exponent <= 22:
        certainty = EXACT  # mantissa and power are exact, so that there is a single rounding
    if certainty == EXACT and exponent < 0:
        value /= POWERS[-exponent - LOWEST_POWER]
    else:
        value *= POWERS[exponent - LOWEST_POWER]
    if value == np.inf:
        return 0.0, NOT_A_NUMBER
    return -value if negative else value, certainty


@helper
def unescape(text: Array, start: int, stop: int, out: Array) -> int:
    """Write a word with Moses' escapes turned into characters; returns its new length."""
    length = 0
    while start < stop:
        out[length] = text[start]
        step = 1
        if text[start] == 38:
            for entity in range(len(_ENTITY)):
                size = _ENTITY_LENGTH[entity]
                i = 0
                while i < size and start + i < stop and text[start + i] == _ENTITY[entity, i]:
                    i += 1
                if i == size:
                    out[length] = _ENTITY_MEANING[entity]
                    step = size
                    break
        length += 1
        start += step
    return length


@helper
def alignment_point(text: Array, start: int, stop: int) -> tuple[int, int]:
    """Source and target position of a point ``s-t``; (-1, -1) where it is none."""
    source, target, digits = -1, 0, 0
    for i in range(start, stop):
        if 48 <= text[i] <= 57:
            target = min(target * 10 + (text[i] - 48), 1 << 40)
            digits += 1
        elif text[i] == 45 and source < 0 and digits > 0:
            source, target, digits = target, 0, 0
        else:
            return -1, -1
    return (source, target) if source >= 0 and digits > 0 else (-1, -1)


@helper
def write_digits(value: Integer, least: Integer, out: Array, at: Integer) -> Integer:
    """Write a number of 0 or more with at least ``least`` digits; returns the place after it."""
    width, rest = 1, value // 10
    while rest > 0:
        width += 1
        rest //= 10
    width = max(width, least)
    for i in range(width):
        out[at + width - 1 - i] = 48 + value % 10
        value //= 10
    return at + width


@helper
def write_float32(value: float, out: Array, at: int) -> int:
    """Write the fewest digits that are read back as the same float32, as KenLM does; returns the place after them."""
    exact = abs(np.float64(value))
    if exact == 0.0:
        out[at] = 48
        return at + 1
    if value < 0.0:
        out[at] = 45
        at += 1
    top = np.int64(math.floor(math.log10(exact))) + 1
    mantissa, places = np.int64(0), np.int64(0)
    for digits in range(1, 10):
        places = digits - top
        if places >= 0:
            mantissa = np.int64(np.rint(exact * POWERS[places - LOWEST_POWER]))
            back = np.float64(mantissa) / POWERS[places - LOWEST_POWER]
        else:
            mantissa = np.int64(np.rint(exact / POWERS[-places - LOWEST_POWER]))
            back = np.float64(mantissa) * POWERS[-places - LOWEST_POWER]
        if np.float32(back) == np.float32(exact):
            break
    if exact >= 1e-6 and places >= 0:
        unit = np.int64(10) ** places
        at = write_digits(mantissa // unit, 1, out, at)
        if places > 0:
            out[at] = 46
            at = write_digits(mantissa % unit, places, out, at + 1)
        return at
    behind = np.int64(0)  # digits behind the point
    while mantissa // np.int64(10) ** behind >= 10:
        behind += 1
    unit = np.int64(10) ** behind
    at = write_digits(mantissa // unit, 1, out, at)
    if behind > 0:
        out[at] = 46
        at = write_digits(mantissa % unit, behind, out, at + 1)
    out[at] = 101
    at += 1
    if places > behind:
        out[at] = 45
        at += 1
    return write_digits(abs(behind - places), 1, out, at)
