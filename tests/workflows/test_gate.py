"""The gate finds what it is told to look for, and says where."""

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.data.scores import ScoreMatrix
from surefoot.errors import InputError, SurefootError
from surefoot.render.gate import junit_xml, markdown
from surefoot.workflows.expressions import ExpressionError
from surefoot.workflows.quantities import QUANTITIES

RNG = np.random.default_rng(7)
OLD = RNG.random(40)
TOPICS = tuple(f"q{j}" for j in range(40))
WORSE = np.clip(OLD - 0.2 + RNG.normal(0, 0.05, 40), 0, 1)
BETTER = np.clip(OLD + 0.1 + RNG.normal(0, 0.05, 40), 0, 1)
# better overall, worse on the first ten queries
MIXED = np.where(np.arange(40) < 10, WORSE, BETTER)
SCORES = ScoreMatrix(
    ("old", "worse", "better", "mixed"), TOPICS, np.stack([OLD, WORSE, BETTER, MIXED])
)
SLICES = {t: "head" if j < 10 else "tail" for j, t in enumerate(TOPICS)}


def check(condition, system, **options):
    return sf.gate(SCORES, champion="old", fail_if=condition, systems=system, **options)


@pytest.mark.parametrize(
    ("condition", "system", "found"),
    [
        ("t_risk(alpha=1) < -2", "worse", True),
        ("t_risk(alpha=1) < -2", "better", False),
        ("t_risk(r=2) > 2", "worse", True),
        ("ci_high(bca, alpha=1) < 0", "worse", True),
        ("ci_high(bca, alpha=1) < 0", "better", False),
        ("ci_low(student, alpha=0) > 0", "better", True),
        ("losses_over_20 > 0.1", "worse", True),
        ("losses_over_20 > 10%", "better", False),
        ("count_losses > 5 and mean_difference < 0", "worse", True),
        ("worst_delta < -0.1", "mixed", True),
        ("p_value < 0.05 and u_risk < 0", "worse", True),
        ("p_value(wilcoxon, alpha=0) < 0.05", "worse", True),
        ("p_value(sign) < 0.05 and p_value(randomization) < 0.05", "worse", True),
        ("p_value(bootstrap) > 0.5", "worse", False),
        ("geo_risk < champion_geo_risk", "worse", True),
        ("geo_risk < champion_geo_risk", "better", False),
        ("score < champion_score - 0.01", "worse", True),
        ("topics < 50", "better", True),
        ("missing > 0", "better", False),
        ("delta_quantile(q=0.1) < -0.1", "mixed", True),
    ],
)
def test_conditions(condition, system, found):
    assert check(condition, system).passed is not found


def test_a_finding_names_the_worst_queries():
    result = check("worst_delta < 0", "worse")
    worst = TOPICS[int(np.argmin(WORSE - OLD))]
    assert result.topics[0][0].startswith(f"{worst} (")
    assert result.headline[0] == "Gate failed: worse should not replace old."
    assert worst in result.headline[1]


def test_slices_find_what_the_mean_hides():
    assert check("t_risk(alpha=0) < -2", "mixed").passed
    result = check("t_risk(alpha=0) < -2", "mixed", slices=SLICES)
    assert [r["slice"] for r in result.rows() if r["failed"]] == ["head"]
    assert not check("any_slice(mean_difference < 0)", "mixed", slices=SLICES).passed
    assert check("all_slices(mean_difference < 0)", "mixed", slices=SLICES).passed


def test_p_and_t_are_adjusted_over_the_slices():
    one = sf.risk(SCORES, champion="old", systems="mixed", slices=SLICES, correction="none")
    raw = dict(zip(one.slice, one.p_value, strict=True))
    result = check("p_value < 0", "mixed", slices=SLICES)
    shown = {r["slice"]: float(r["values"].split("= ")[1]) for r in result.rows()}
    assert shown["all"] == pytest.approx(raw["all"], rel=1e-3)
    small, large = sorted([raw["head"], raw["tail"]])
    adjusted = sorted([shown["head"], shown["tail"]])
    assert adjusted == pytest.approx([2 * small, max(2 * small, large)], rel=1e-3)


def test_an_identical_challenger_passes():
    table = {"old": {"a": 0.5, "b": 0.2}, "same": {"a": 0.5, "b": 0.2}}
    for condition in ("t_risk < -2", "p_value < 0.05", "losses > 0", "u_risk < 0"):
        assert sf.gate(table, champion="old", fail_if=condition).passed


def test_what_cannot_be_computed_fails_unless_told_otherwise():
    table = {"old": {"a": 0.5}, "new": {"a": 0.2}}
    assert not sf.gate(table, champion="old", fail_if="t_risk < -2").passed
    assert sf.gate(table, champion="old", fail_if="t_risk < -2", undefined="pass").passed


def test_the_same_loss_everywhere_is_infinitely_significant():
    table = {"old": {"a": 0.5, "b": 0.5}, "new": {"a": 0.25, "b": 0.25}}
    assert not sf.gate(table, champion="old", fail_if="t_risk < -2").passed
    table = {"old": {"a": 0.25, "b": 0.25}, "new": {"a": 0.5, "b": 0.5}}
    assert sf.gate(table, champion="old", fail_if="t_risk < -2", undefined="fail").passed


def test_one_champion_and_some_condition_are_needed():
    with pytest.raises(InputError, match="single champion"):
        sf.gate(SCORES, champion="old,better", fail_if="t_risk < 0")
    with pytest.raises(InputError, match="at least one condition"):
        sf.gate(SCORES, champion="old", fail_if=[])


def test_junit_and_markdown_hold_hostile_names():
    name = 'new<&"|\x01`*'
    scores = ScoreMatrix(
        ("old", name), ("q|<1>", "q2", "q3"), np.array([[0.9, 0.8, 0.7], [0.1, 0.2, 0.1]])
    )
    result = sf.gate(scores, champion="old", fail_if=["t_risk < -2", "losses > 0"])
    tree = ET.fromstring(junit_xml(result))
    cases = tree.findall(".//testcase")
    assert len(cases) == 2
    assert tree.find("testsuite").get("failures") == "2"
    assert "q|<1> (0.9 -> 0.1)" in tree.find(".//failure").text
    text = markdown(result)
    assert "<1>" not in text
    table = [line for line in text.splitlines() if line.startswith("| fails |")]
    assert len(table) == 2
    assert all(line.replace("\\|", "").count("|") == 6 for line in table)


def test_the_reference_lists_every_quantity():
    page = Path(__file__).parents[2] / "docs" / "reference" / "gate.md"
    text = page.read_text(encoding="utf-8")
    for name, entry in QUANTITIES.items():
        row = next(line for line in text.splitlines() if line.startswith(f"| `{name}` |"))
        assert entry.explanation in row
        assert all(f"`{option}=`" in row for option in entry.options)


def test_ids_of_any_characters_stay_whole_and_harmless():
    old = {"semi; colon": 0.5, "<b>&|": 0.4, "=cmd()": 0.6}
    table = {"old": old, "n<e>w|": {t: v / 2 for t, v in old.items()}}
    result = sf.gate(table, champion="old", fail_if="losses > 0")
    assert [t.rsplit(" (", 1)[0] for t in result.topics[0]] == ["=cmd()", "semi; colon", "<b>&|"]
    case = ET.fromstring(junit_xml(result)).find(".//failure")
    assert case.text.splitlines()[2] == "semi; colon (0.5 -> 0.25)"
    page = markdown(result)
    assert "- &lt;b&gt;&amp;\\| (0.4 -&gt; 0.2)" in page
    assert "<" not in page


@pytest.mark.parametrize("condition", ["1 > 2", "1/0 > 1", "not (2 > 1 or 3 > 2)"])
def test_a_condition_without_a_quantity_is_refused(condition):
    with pytest.raises(ExpressionError, match="names no quantity"):
        sf.gate({"a": {"x": 1}, "b": {"x": 0}}, champion="a", fail_if=condition)


def test_a_condition_over_several_lines_is_told_in_one():
    result = sf.gate(
        {"a": {"x": 1}, "b": {"x": 0}}, champion="a", fail_if="losses\n   > 0\n  and wins < 1"
    )
    assert result.expression == ("losses > 0 and wins < 1",)
    assert all("\n" not in sentence for sentence in result.headline)


def test_slices_say_what_they_leave_out():
    table = {"a": dict.fromkeys("xyz", 0.5), "b": dict.fromkeys("xyz", 0.4)}
    slices = {"one": ["x", "q9"], "none": ["q8"]}
    for result in (
        sf.gate(table, champion="a", fail_if="losses > 2%", slices=slices),
        sf.risk(table, champion="a", slices=slices),
    ):
        said = " ".join(result.headline)
        assert "In no slice: 2 of 3 queries." in said
        assert "Not among the scores: 2 queries of the slices, for example 'q8'." in said
        assert "slice none" in said
    with pytest.raises(SurefootError, match="a slice cannot be called 'all'"):
        sf.risk(table, champion="a", slices={"all": ["x"]})


def test_an_interval_without_a_method_is_the_default_of_ci():
    found = sf.intervals(SCORES, champion="old", alpha=1, systems="worse")
    result = check("ci_high < -1 or ci_low < -1", "worse")
    assert result.values == (f"ci_high = {found.high[0]:.4g}; ci_low = {found.low[0]:.4g}",)
