"""The gate's language: what it accepts, what it means, and where it points when it is wrong."""

import ast
import math
import operator
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.workflows.expressions import ExpressionError, parse, truth
from surefoot.workflows.gate import compile_conditions

VALUES = {"a": 1.0, "b": 2.0, "u": math.nan}


def holds(text):
    node = parse(text, names=tuple(VALUES), check=lambda q: None)
    return truth(node, lambda q: VALUES[q.name], lambda q: [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a < b", True),
        ("a > b", False),
        ("a == 1 and b == 2", True),
        ("a == 2 or b == 2", True),
        ("not a == 2", True),
        ("not (a == 2 or b == 2)", False),
        ("a + b * 2 == 5", True),
        ("(a + b) * 2 == 6", True),
        ("-b < -a", True),
        ("a - -1 == 2", True),
        ("b / 4 == 50%", True),
        ("b - 1 - 1 == 0", True),
        ("8 / 2 / 2 == 2", True),
        ("a == 2 and b == 2 or a == 1", True),
        ("a == 1 or a == 2 and b == 3", True),
        ("1e-3 < .5", True),
        ("a" + " + a" * 50_000 + " == 50001", True),
        ("a == 2" + " or a == 1" * 20_000, True),
        ("- " * 10_001 + "a == -1", True),
        ("1e308 * 10 > 1e308", True),
        ("1e308 * 10 - 1e308 * 10 > 0", None),
        # undefined numbers
        ("u < 0", None),
        ("not u < 0", None),
        ("u < 0 or a < b", True),
        ("u < 0 and a > b", False),
        ("u < 0 and a < b", None),
        ("a / 0 > 1", None),
    ],
)
def test_meaning(text, expected):
    assert holds(text) is expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the expression is empty"),
        (
            "t_risk(alpha=1 < -2",
            "column 16: expected ',' or ')', found '<': t_risk(alpha=1 ^ < -2",
        ),
        ("t_rsk < -2", "column 1: unknown quantity 't_rsk' (did you mean t_risk"),
        ("t_risk", "column 1: this is a number, not a condition"),
        ("t_risk < ", "expected a number or a quantity, found the end"),
        ("t_risk < -2 u_risk", "column 13: expected an operator or the end, found 'u_risk'"),
        ("t_risk < -2 and 3", "column 17: a condition is needed here, not a number"),
        ("(t_risk < 2) + 1 > 0", "column 1: a number is needed here, not a condition"),
        ("0 < t_risk < 2", "comparisons cannot be chained"),
        ("t_risk = 2", "write == to compare"),
        ("t_risk(alpha=-1) < 0", "alpha must lie between 0"),
        ("t_risk(beta=1) < 0", "t_risk has no argument 'beta'; it takes alpha, r"),
        ("t_risk(alpha=1, alpha=2) < 0", "alpha is given twice"),
        ("t_risk(alpha=1, r=2) < 0", "give alpha or r, not both"),
        ("ci_high(bc) < 0", "ci_high does not take 'bc'; it may be student"),
        ("ci_high(bca, confidence=1) < 0", "confidence must lie between"),
        ("losses > 5", "write 5%, or count_losses for their number"),
        ("any_slice(t_risk < -2)", "need --slices"),
        ("__import__('os').system('true')", "this character has no meaning here"),
        ("t_risk.__class__ < 1", "this character has no meaning here"),
        ("lambda: 1", "this character has no meaning here"),
        ("1e999 < 2", "too large"),
        ("(" * 60 + "1 < 2" + ")" * 60, "nested more than 50 deep"),
        ("not " * 60 + "1 < 2", "nested more than 50 deep"),
    ],
)
def test_errors_point_at_the_place_in_one_line(text, message):
    with pytest.raises(ExpressionError) as caught:
        compile_conditions(text, have_slices=False)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text(alphabet="t_risk()=<>!&|+-*/.,0123456789% andornot", max_size=40))
def test_any_text_is_a_condition_or_an_expression_error(text):
    with suppress(ExpressionError):
        compile_conditions(text, have_slices=False)


QUANTITY = st.sampled_from(["a", "b", "u", "2", ".5", "50%", "0", "1e-3", "1e300"])
NUMBERS = st.recursive(
    QUANTITY,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        inner.map(lambda x: f"-({x})"),
    ),
    max_leaves=12,
)
CONDITIONS = st.recursive(
    st.tuples(NUMBERS, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), NUMBERS).map(" ".join),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(
            lambda t: f"({t[0]}) {t[1]} ({t[2]})"
        ),
        inner.map(lambda x: f"not ({x})"),
    ),
    max_leaves=6,
)


class Number:
    """A number whose comparisons know three values, for Python's own grammar to work on."""

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Number(self.value + other.value)

    def __sub__(self, other):
        return Number(self.value - other.value)

    def __mul__(self, other):
        return Number(self.value * other.value)

    def __truediv__(self, other):
        return Number(self.value / other.value if other.value else math.nan)

    def __neg__(self):
        return Number(-self.value)


def by_python(text):
    """The same condition read by Python's own parser, with Kleene's logic."""
    tree = ast.parse(text.replace("50%", "0.5"), mode="eval").body

    def number(node):
        if isinstance(node, ast.Constant):
            return Number(float(node.value))
        if isinstance(node, ast.Name):
            return Number(VALUES[node.id])
        if isinstance(node, ast.UnaryOp):
            return -number(node.operand)
        act = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv"}
        return getattr(operator, act[type(node.op)])(number(node.left), number(node.right))

    def condition(node):
        if isinstance(node, ast.Compare):
            a, b = number(node.left).value, number(node.comparators[0]).value
            if math.isnan(a) or math.isnan(b):
                return None
            act = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}
            act |= {ast.Eq: "eq", ast.NotEq: "ne"}
            return getattr(operator, act[type(node.ops[0])])(a, b)
        if isinstance(node, ast.UnaryOp):
            inside = condition(node.operand)
            return None if inside is None else not inside
        parts = [condition(value) for value in node.values]
        decisive = isinstance(node.op, ast.Or)
        if decisive in parts:
            return decisive
        return None if None in parts else not decisive

    return condition(tree)


@given(CONDITIONS)
def test_grammar_and_logic_agree_with_pythons_own(text):
    assert holds(text) is by_python(text)


@given(st.text(max_size=60))
def test_arbitrary_unicode_is_an_expression_error_in_one_line(text):
    message = ""
    try:
        compile_conditions(text, have_slices=False)
    except ExpressionError as error:
        message = str(error)
    assert len(message.splitlines()) <= 1


@pytest.mark.parametrize("word", ["(", "not ", "-(", "any_slice(", "t_risk(", "1 < ("])
def test_depth_is_bounded_not_the_stack(word):
    with pytest.raises(ExpressionError) as caught:
        compile_conditions(word * 100_000, have_slices=True)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("text", ["{} < t_risk", "t_risk < {}", "{} < 1"])
def test_length_is_no_matter_for_the_stack(text):
    long = text.format("1 + " * 20_000 + "1")
    if "t_risk" in long:
        assert len(compile_conditions(long, have_slices=False)) == 1
    else:
        with pytest.raises(ExpressionError, match="names no quantity"):
            compile_conditions(long, have_slices=False)
