"""The gate's expressions: a small language that is parsed and interpreted, never run as Python.

    condition   := and-part ("or" and-part)*
    and-part    := not-part ("and" not-part)*
    not-part    := "not" not-part | comparison
    comparison  := sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
    sum         := product (("+" | "-") product)*
    product     := sign (("*" | "/") sign)*
    sign        := "-" sign | atom
    atom        := number ["%"] | name ["(" arguments ")"] | "(" condition ")"
    arguments   := [argument ("," argument)*];  argument := name "=" number | name | number
                 | condition, for any_slice and all_slices

A number that cannot be computed is undefined, and so is a comparison with it; `and`, `or` and `not`
follow three-valued logic.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches

from surefoot.errors import InputError

QUANTIFIERS = ("any_slice", "all_slices")
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?%?)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign><=|>=|==|!=|&&|\|\||[-+*/(),=<>!]))",
    re.ASCII,
)
_DEEPEST = 50
_SHOWN = 80  # characters on either side of the place of an error
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


class ExpressionError(InputError):
    """An expression of the gate cannot be understood; the message points at the place."""


@dataclass(frozen=True, slots=True)
class Number:
    """A literal."""

    value: float


@dataclass(frozen=True, slots=True)
class Quantity:
    """A named quantity with its arguments, e.g. ``ci_high(bca, alpha=1)``."""

    name: str
    words: tuple[str, ...]
    options: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        inside = [*self.words, *(f"{k}={v:g}" for k, v in self.options)]
        return f"{self.name}({', '.join(inside)})" if inside else self.name


@dataclass(frozen=True, slots=True)
class Operation:
    """Arithmetic: one or two operands."""

    sign: str
    operands: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two numbers compared."""

    sign: str
    left: "Node"
    right: "Node"


@dataclass(frozen=True, slots=True)
class Logic:
    """``and``, ``or`` or ``not``."""

    word: str
    operands: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Quantifier:
    """A condition over the slices: ``any_slice(...)``."""

    name: str
    condition: "Node"


Node = Number | Quantity | Operation | Comparison | Logic | Quantifier
# checks a quantity's name and arguments; raises ValueError with the reason
Check = Callable[[Quantity], None]


def parse(text: str, *, names: tuple[str, ...], check: Check) -> Node:
    """Parse a condition.

    Parameters
    ----------
    text : str
        For example ``t_risk(alpha=1) < -2 or losses_over_20 > 10%``.
    names : tuple of str
        The quantities that exist.
    check : callable
        Raises ValueError where a quantity's arguments are wrong.
    """
    return _Parser(text, names, check).condition_alone()


def is_condition(node: Node) -> bool:
    """Whether a node is true or false rather than a number."""
    return isinstance(node, (Comparison, Logic, Quantifier))


def uses_slices(node: Node) -> bool:
    """Whether a condition speaks of slices itself."""
    if isinstance(node, Quantifier):
        return True
    if isinstance(node, Logic):
        return any(uses_slices(n) for n in node.operands)
    # a quantifier is true or false: no comparison and no arithmetic can hold one
    return False


def uses_quantities(node: Node) -> bool:
    """Whether the scores can make a difference to a condition."""
    rest = [node]  # a long sum is a deep tree: no recursion
    while rest:
        node = rest.pop()
        if isinstance(node, Quantity):
            return True
        if isinstance(node, Comparison):
            rest += [node.left, node.right]
        elif isinstance(node, Quantifier):
            rest.append(node.condition)
        elif isinstance(node, (Operation, Logic)):
            rest += node.operands
    return False


class _Parser:
    def __init__(self, text: str, names: tuple[str, ...], check: Check) -> None:
        self.text, self.names, self.check = text, names, check
        self.tokens: list[tuple[str, str, int]] = []
        self.at = 0
        self.depth = 0
        position = 0
        end = len(text.rstrip())
        while position < end:
            match = _TOKEN.match(text, position)
            if match is None:
                start = position + len(text[position:]) - len(text[position:].lstrip())
                raise self.error("this character has no meaning here", start)
            kind = str(match.lastgroup)
            self.tokens.append((kind, match.group(kind), match.start(kind)))
            position = match.end()
        self.tokens.append(("end", "", len(text)))

    def error(self, what: str, position: int | None = None) -> ExpressionError:
        if position is None:
            position = self.tokens[self.at][2]
        # one line: the place is marked in the text itself
        before, after = self.text[:position].rstrip(), self.text[position:]
        before = before if len(before) <= _SHOWN else f"...{before[-_SHOWN:]}"
        after = after if len(after) <= _SHOWN else f"{after[:_SHOWN]}..."
        marked = " ".join(f"{before} ^ {after}".split())
        return ExpressionError(f"column {position + 1}: {what}: {marked}")

    def peek(self, *words: str) -> bool:
        return self.tokens[self.at][1] in words and self.tokens[self.at][0] != "end"

    def take(self, *words: str) -> str | None:
        if not self.peek(*words):
            return None
        self.at += 1
        return self.tokens[self.at - 1][1]

    def expect(self, word: str) -> None:
        if self.take(word) is None:
            raise self.error(f"expected {word!r}, found {self.found()}")

    def found(self) -> str:
        kind, word, _ = self.tokens[self.at]
        return "the end" if kind == "end" else repr(word)

    def condition_alone(self) -> Node:
        if self.tokens[0][0] == "end":
            raise ExpressionError("the expression is empty. Hint: for example t_risk < -2")
        node = self.condition()
        if self.tokens[self.at][0] != "end":
            raise self.error(f"expected an operator or the end, found {self.tokens[self.at][1]!r}")
        if not is_condition(node):
            raise self.error(
                "this is a number, not a condition; compare it with another, as in t_risk < -2",
                0,
            )
        return node

    def condition(self) -> Node:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.error(f"nested more than {_DEEPEST} deep")
        node = self.chain(("or", "||"), "or", lambda: self.chain(("and", "&&"), "and", self.no))
        self.depth -= 1
        return node

    def chain(self, signs: tuple[str, ...], word: str, part: Callable[[], Node]) -> Node:
        start = self.tokens[self.at][2]
        operands = [part()]
        while self.peek(*signs):
            self.truth(operands[-1], start)
            self.at += 1
            start = self.tokens[self.at][2]
            operands.append(part())
        if len(operands) == 1:
            return operands[0]
        self.truth(operands[-1], start)
        return Logic(word, tuple(operands))

    def no(self) -> Node:
        if self.take("not", "!"):
            self.depth += 1
            if self.depth > _DEEPEST:
                raise self.error(f"nested more than {_DEEPEST} deep")
            start = self.tokens[self.at][2]
            node = self.no()
            self.depth -= 1
            self.truth(node, start)
            return Logic("not", (node,))
        return self.comparison()

    def truth(self, node: Node, start: int) -> None:
        if not is_condition(node):
            raise self.error("a condition is needed here, not a number", start)

    def number(self, node: Node, start: int) -> None:
        if is_condition(node):
            raise self.error("a number is needed here, not a condition", start)

    def comparison(self) -> Node:
        start = self.tokens[self.at][2]
        left = self.arithmetic(("+", "-"), lambda: self.arithmetic(("*", "/"), self.signed))
        if not self.peek(*_COMPARISONS):
            if self.peek("="):
                raise self.error("write == to compare")
            return left
        self.number(left, start)
        sign = self.tokens[self.at][1]
        self.at += 1
        start = self.tokens[self.at][2]
        right = self.arithmetic(("+", "-"), lambda: self.arithmetic(("*", "/"), self.signed))
        self.number(right, start)
        if self.peek(*_COMPARISONS):
            raise self.error("comparisons cannot be chained; join two with 'and'")
        return Comparison(sign, left, right)

    def arithmetic(self, signs: tuple[str, ...], part: Callable[[], Node]) -> Node:
        start = self.tokens[self.at][2]
        node = part()
        while self.peek(*signs):
            self.number(node, start)
            sign = self.tokens[self.at][1]
            self.at += 1
            begin = self.tokens[self.at][2]
            other = part()
            self.number(other, begin)
            node = Operation(sign, (node, other))
        return node

    def signed(self) -> Node:
        negative = False
        start = self.tokens[self.at][2]
        while self.peek("-", "+"):
            negative ^= self.tokens[self.at][1] == "-"
            self.at += 1
        node = self.atom()
        if not negative:
            return node
        self.number(node, start)
        return Number(-node.value) if isinstance(node, Number) else Operation("-", (node,))

    def literal(self, word: str) -> float:
        value = float(word.rstrip("%"))
        if not math.isfinite(value):
            self.at -= 1
            raise self.error("this number is too large")
        return value / 100 if word.endswith("%") else value

    def atom(self) -> Node:
        kind, word, position = self.tokens[self.at]
        if kind == "number":
            self.at += 1
            return Number(self.literal(word))
        if kind == "name" and word not in ("and", "or", "not"):
            self.at += 1
            return self.named(word, position)
        if self.take("("):
            node = self.condition()
            self.expect(")")
            return node
        raise self.error(f"expected a number or a quantity, found {self.found()}")

    def named(self, word: str, position: int) -> Node:
        if word in QUANTIFIERS:
            self.expect("(")
            start = self.tokens[self.at][2]
            inside = self.condition()
            self.truth(inside, start)
            if uses_slices(inside):
                raise self.error(f"{word} cannot hold another slice condition", position)
            self.expect(")")
            return Quantifier(word, inside)
        if word not in self.names:
            near = get_close_matches(word.lower(), (*self.names, *QUANTIFIERS), n=3, cutoff=0.5)
            hint = (
                f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(self.names)}"
            )
            raise self.error(f"unknown quantity {word!r} ({hint})", position)
        words: list[str] = []
        options: dict[str, float] = {}
        if self.take("("):
            while not self.peek(")"):
                self.argument(words, options)
                if not self.peek(",", ")"):
                    raise self.error(f"expected ',' or ')', found {self.found()}")
                self.take(",")
            self.expect(")")
        found = Quantity(word, tuple(words), tuple(sorted(options.items())))
        try:
            self.check(found)
        except ValueError as problem:
            raise self.error(str(problem), position) from None
        return found

    def argument(self, words: list[str], options: dict[str, float]) -> None:
        kind, word, _ = self.tokens[self.at]
        if kind != "name":
            raise self.error("arguments are written name=number, or a method's name")
        self.at += 1
        if not self.take("="):
            words.append(word)
            return
        negative = self.take("-") is not None
        kind, literal, _ = self.tokens[self.at]
        if kind != "number":
            raise self.error(f"{word} needs a number")
        if word in options:
            raise self.error(f"{word} is given twice")
        self.at += 1
        options[word] = (-1 if negative else 1) * self.literal(literal)


Value = Callable[[Quantity], float]
Slices = Callable[[Quantifier], list["bool | None"]]


def truth(node: Node, value: Value, slices: Slices) -> bool | None:
    """Whether a condition holds; None where that cannot be known.

    Parameters
    ----------
    value : callable
        The number of a quantity, NaN where it is undefined.
    slices : callable
        The truth of a quantifier's condition on each slice.
    """
    if isinstance(node, Comparison):
        left, right = number(node.left, value), number(node.right, value)
        if math.isnan(left) or math.isnan(right):
            return None
        return _COMPARISONS[node.sign](left, right)
    if isinstance(node, Quantifier):
        found = slices(node)
        return _any(found) if node.name == "any_slice" else _all(found)
    assert isinstance(node, Logic)
    found = [truth(n, value, slices) for n in node.operands]
    if node.word == "not":
        return None if found[0] is None else not found[0]
    return _any(found) if node.word == "or" else _all(found)


def _any(found: list[bool | None]) -> bool | None:
    return True if True in found else (None if None in found else False)


def _all(found: list[bool | None]) -> bool | None:
    return False if False in found else (None if None in found else True)


def number(node: Node, value: Value) -> float:
    """The value of an arithmetic expression; NaN where it is undefined."""
    # a long sum leans to the left: walk down it rather than recurse
    rest: list[tuple[str, Node]] = []
    while isinstance(node, Operation) and len(node.operands) == 2:
        rest.append((node.sign, node.operands[1]))
        node = node.operands[0]
    if isinstance(node, Operation):
        total = -number(node.operands[0], value)
    else:
        assert isinstance(node, (Number, Quantity))
        total = node.value if isinstance(node, Number) else value(node)
    for sign, operand in reversed(rest):
        total = _combined(sign, total, number(operand, value))
    return total


def _combined(sign: str, a: float, b: float) -> float:
    if sign == "+":
        return a + b
    if sign == "-":
        return a - b
    if sign == "*":
        return a * b
    return a / b if b else math.nan
