"""The names, inputs and output fields that outside scripts rely on, called as they would call them.

One generated collection feeds every command; a table gives each call and the columns that must come
first. Options stand before and after the arguments, repeated and by commas.
"""

import bz2
import copy
import csv
import gzip
import io
import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.calling import run

import surefoot as sf
from surefoot.cli.inst_eval import command as inst_eval
from surefoot.cli.main import COMMANDS

SYSTEMS = ("champion", "better", "worse")
TOPICS = tuple(f"q{j}" for j in range(1, 13))

EVALUATE = "system measure topic value lower upper"
RISK = (
    "system champion form alpha f_risk f_reward u_gain u_risk se_parametric se_jackknife t_risk df "
    "p_value p_adjusted wins losses ties loss_over_20 z_risk geo_risk"
)
TOPIC_ROWS = "system topic champion_score score delta x t_r t_j flagged"
CI = "system method confidence low high estimate"
TEST = "system other test statistic p_value p_adjusted effect_size mean_difference low high"
FIT = "parameter mean sd q2.5 q50 q97.5 ess rhat method"
PPD = "system r median low high p_risky significant"
BRISK = "system r mean low high overlaps_champion"
ESTIMATE = "quantity estimate se low high confidence draws labelled cost method"


def values() -> dict[str, dict[str, float]]:
    rng = np.random.default_rng(7)
    level = rng.uniform(0.2, 0.8, len(TOPICS))
    shift = {"champion": 0.0, "better": 0.05, "worse": -0.15}
    return {
        s: dict(
            zip(
                TOPICS,
                np.clip(level + shift[s] + rng.normal(0, 0.06, len(TOPICS)), 0.01, 0.99).tolist(),
                strict=True,
            )
        )
        for s in SYSTEMS
    }


SCORES = values()
LONG = [(s, t, SCORES[s][t]) for s in SYSTEMS for t in TOPICS]


def delimited(header, rows, delimiter=","):
    lines = [header, *rows]
    return "".join(delimiter.join(str(c) for c in line) + "\n" for line in lines)


def long(delimiter=",", measure=False, header=("system", "topic", "score")):
    rows = [(*row, "nDCG@10") if measure else row for row in LONG]
    return delimited((*header, "measure") if measure else header, rows, delimiter)


def wide(delimiter=",", topic=True):
    rows = [((t,) if topic else ()) + tuple(SCORES[s][t] for s in SYSTEMS) for t in TOPICS]
    return delimited((("topic",) if topic else ()) + SYSTEMS, rows, delimiter)


def pyterrier():
    rows = [(s, t, "ndcg_cut_10", v) for s, t, v in LONG]
    return delimited(("name", "qid", "measure", "value"), rows)


def trec_eval_q():
    text = ""
    for s in SYSTEMS:
        text += "".join(f"ndcg_cut_10           \t{t}\t{SCORES[s][t]!r}\n" for t in TOPICS)
        text += f"runid                 \tall\t{s}\nndcg_cut_10           \tall\t0.5\n"
    return text


def json_lines():
    return "".join(json.dumps({"system": s, "topic": t, "score": v}) + "\n" for s, t, v in LONG)


def wide_json_lines():
    return "".join(json.dumps({s: SCORES[s][t] for s in SYSTEMS}) + "\n" for t in TOPICS)


def parquet(frame):
    arrow = pytest.importorskip("pyarrow", reason="Parquet needs surefoot[frames]")
    out = io.BytesIO()
    __import__("pyarrow.parquet").parquet.write_table(arrow.table(frame), out)
    return out.getvalue()


def long_columns():
    system, topic, score = zip(*LONG, strict=True)
    return {"system": system, "topic": topic, "score": score}


def wide_columns():
    return {s: [SCORES[s][t] for t in TOPICS] for s in SYSTEMS}


# file name -> text or bytes of one and the same table
TABLES = {
    "long.csv": long,
    "long.tsv": lambda: long("\t"),
    "long.txt": lambda: long(" "),
    "long_measure.csv": lambda: long(measure=True),
    "long.jsonl": json_lines,
    "long.parquet": lambda: parquet(long_columns()),
    "wide.csv": wide,
    "wide.tsv": lambda: wide("\t"),
    "wide_unnamed.csv": lambda: wide(topic=False),
    "wide_unnamed.tsv": lambda: wide("\t", topic=False),
    "wide_unnamed.jsonl": wide_json_lines,
    "wide_unnamed.parquet": lambda: parquet(wide_columns()),
    "trec_eval.txt": trec_eval_q,
    "pyterrier.csv": pyterrier,
    "evaluated.csv": lambda: delimited(
        EVALUATE.split(), [(s, "nDCG@10", t, v, v, v) for s, t, v in LONG]
    ),
}


def content(name: str) -> bytes:
    made = TABLES[name]()
    return made if isinstance(made, bytes) else made.encode()


def rows(*arguments, **options):
    """The rows of the JSON object of one call."""
    result = run(*arguments, "--format", "json", **options)
    assert result.exit_code in (0, 3), result.output
    answer = json.loads(result.stdout)
    assert list(answer) == ["command", "version", "settings", "rows"]
    assert answer["version"] == sf.__version__
    return answer["rows"]


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("contract")
    assert (
        run("sample", folder / "shop", "--topics", 12, "--systems", 7, "--seed", 3).exit_code == 0
    )
    for name in ("long.csv", "wide.csv"):
        (folder / name).write_bytes(content(name))
    (folder / "slices.csv").write_text(
        delimited(
            ("topic", "slice"), [(t, "odd" if j % 2 else "even") for j, t in enumerate(TOPICS)]
        )
    )
    (folder / "groups.csv").write_text("system,group\nchampion,a\nbetter,b\nworse,c\n")
    rng = np.random.default_rng(0)
    pool = [
        (t, ranking, rank + 1, f"{t}_{d}")
        for t in TOPICS
        for ranking in ("old", "new")
        for rank, d in enumerate(rng.permutation(6)[:4])
    ]
    (folder / "pool.csv").write_text(delimited(("topic", "ranking", "rank", "doc"), pool))
    labels = [f"{t} 0 {t}_{d} {rng.integers(0, 3)}\n" for t in TOPICS for d in range(6)]
    (folder / "labels.qrels").write_text("".join(labels))
    return folder


@pytest.fixture(scope="module")
def fit(home) -> Path:
    path = home / "fit.nc"
    pytest.importorskip("h5py", reason="fit files need surefoot[bayes]")
    result = run("fit", home / "long.csv", "--family", "gaussian", "--draws", 500, "-o", path)
    assert result.exit_code == 0, result.output
    return path


# -- score tables ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def expected_u_risk():
    return [r["u_risk"] for r in sf.risk(SCORES, champion="champion", alpha=1).to_dict()["rows"]]


def u_risks(result_rows):
    return pytest.approx([r["u_risk"] for r in result_rows], abs=1e-12)


PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}


@pytest.mark.parametrize("packed", PACKERS)
@pytest.mark.parametrize("name", TABLES)
def test_every_form_of_a_score_table_says_the_same(tmp_path, expected_u_risk, name, packed):
    path = tmp_path / (name + packed)
    path.write_bytes(PACKERS[packed](content(name)))
    assert u_risks(rows("risk", path, "--champion", "champion", "--alpha", "1")) == expected_u_risk


@pytest.mark.parametrize("name", TABLES)
def test_standard_input_is_a_score_table(expected_u_risk, name):
    made = rows("risk", "--champion", "champion", "-", stdin=content(name))
    assert u_risks(made) == expected_u_risk


@pytest.mark.parametrize("name", [n for n in TABLES if n.startswith("wide_unnamed")])
def test_a_wide_table_without_topics_names_them_in_row_order(tmp_path, name):
    (tmp_path / name).write_bytes(content(name))
    made = rows("topics", tmp_path / name, "--champion", "champion", "--system", "better")
    assert sorted(r["topic"] for r in made) == [f"t{j:03d}" for j in range(12)]
    assert next(r["score"] for r in made if r["topic"] == "t002") == SCORES["better"]["q3"]


def test_a_table_of_several_measures_wants_one(tmp_path):
    path = tmp_path / "two.csv"
    text = long(measure=True)
    path.write_text(text + "".join(text.replace("nDCG@10", "AP").splitlines(True)[1:]))
    unclear = run("risk", path, "--champion", "champion")
    assert unclear.exit_code == 1
    made = rows("risk", path, "--champion", "champion", "-m", "AP")
    assert len(made) == 2


@pytest.mark.parametrize(
    "options",
    [
        ["--champion", "champion"],
        ["--champion", "champion", "--system", "challenger1"],
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        ["risk"],
        ["topics"],
        ["ci", "--method", "student"],
        ["test"],
        ["gate", "--fail-if", "losses > 2000%"],
        ["ppd-risk", "--family", "gaussian", "--draws", "200", "--r", "2"],
    ],
    ids=lambda c: c[0],
)
def test_scores_may_be_evaluated_on_the_way(home, command, options):
    runs = [home / "shop" / "runs" / f"{n}.run" for n in ("champion", "challenger1", "challenger2")]
    asked = ["--qrels", home / "shop" / "qrels.txt", "-m", "nDCG@10"]
    if command[0] == "gate":
        command = ["gate", "--fail-if", "losses > 99%"]
    greedy = rows(*command, *options, *asked, "--run", *runs)
    apart = rows(*command, *[x for r in runs for x in ("--run", r)], *asked, *options)
    assert greedy == apart
    assert greedy[0]["system"] == "challenger1"


@pytest.mark.parametrize("command", ["brisk", "fit", "power", "normality", "orders", "stability"])
def test_the_other_commands_evaluate_on_the_way_too(home, command):
    runs = [home / "shop" / "runs" / f"{n}.run" for n in ("champion", "challenger1", "challenger2")]
    extra = {
        "brisk": ["--champion", "champion", "--family", "gaussian", "--draws", "200"],
        "fit": ["--draws", "200"],
        "power": ["--champion", "champion", "--simulations", "100", "--resamples", "100"],
        "stability": ["--trials", "5"],
    }
    asked = ["--qrels", home / "shop" / "qrels.txt", "--run", *runs, "-m", "AP"]
    assert rows(command, *asked, *extra.get(command, []))


# -- columns --------------------------------------------------------------------------------------

TESTS = ("t", "wilcoxon", "sign", "bootstrap", "randomization", "anova", "tukey", "maxt")
CALLS = {
    "evaluate": ("evaluate {shop}/qrels.txt {shop}/runs/champion.run -m AP -m P@5", EVALUATE),
    "evaluate -q": (
        "evaluate -q -m RBP(p=0.8) {shop}/qrels.txt {shop}/runs/champion.run",
        EVALUATE,
    ),
    "risk": ("risk {scores} --champion champion --alpha 0,1,5", RISK),
    "risk --r": ("risk --champion champion,worse --r 1 --r 2 {scores}", RISK),
    "risk mean": ("risk {scores} --champion mean --population {wide}", RISK),
    "topics": ("topics {scores} --champion champion --alpha 1 --system worse", TOPIC_ROWS),
    "ci": ("ci {scores} --champion champion --alpha 1 --method bca --resamples 999", CI),
    "ci two": (
        "ci {scores} --champion champion --alpha 1 --method student --method basic "
        "--method studentized --method percentile --method bca --confidence 0.9 "
        "--correction bonferroni --resamples 999",
        CI,
    ),
    "fit": ("fit {scores} --family gaussian --draws 200", FIT),
    "ppd-risk": (
        "ppd-risk {scores} --champion champion --r 1,2 --family gaussian --draws 200",
        PPD,
    ),
    "ppd-risk --fit": ("ppd-risk --fit {fit} --champion champion --r 2", PPD),
    "brisk": ("brisk {scores} --champion champion --r 2 --family gaussian --draws 200", BRISK),
    **{
        f"test {kind}": (f"test {{scores}} --champion champion --test {kind} --resamples 999", TEST)
        for kind in (
            "t",
            "wilcoxon",
            "sign",
            "bootstrap",
            "randomization",
            "anova",
            "tukey",
            "maxt",
        )
    },
    **{
        f"test all {kind}": (f"test {{scores}} --test {kind} --resamples 999", TEST)
        for kind in (
            "t",
            "wilcoxon",
            "sign",
            "bootstrap",
            "randomization",
            "anova",
            "tukey",
            "maxt",
        )
    },
    **{
        f"test {kind}": (f"test {{scores}} --champion champion --correction {kind}", TEST)
        for kind in ("none", "bonferroni", "holm", "bh")
    },
}


@pytest.fixture(scope="module")
def places(home):
    return {
        "shop": str(home / "shop"),
        "scores": str(home / "long.csv"),
        "wide": str(home / "wide.csv"),
        "fit": str(home / "fit.nc"),
    }


def arguments(call: str, places) -> list[str]:
    return [part.format(**places) for part in call.split()]


@pytest.mark.parametrize("call", CALLS)
def test_columns_come_first_and_in_order_in_every_format(call, places, fit, tmp_path):
    words, columns = arguments(CALLS[call][0], places), CALLS[call][1].split()
    made = rows(*words)
    assert made
    assert list(made[0])[: len(columns)] == columns
    count = len(columns)
    piped = run(*words, "-q" if words[0] != "evaluate" else "--quiet")
    assert piped.stdout.splitlines()[0].split("\t")[:count] == columns
    for style, suffix in (("csv", ","), ("tsv", "\t")):
        table = list(
            csv.DictReader(io.StringIO(run(*words, "--format", style).stdout), delimiter=suffix)
        )
        assert len(table) == len(made)
        assert list(table[0])[:count] == columns
    lines = run(*words, "--format", "jsonl").stdout.splitlines()
    assert [list(json.loads(x)) for x in lines] == [list(r) for r in made]
    # files: nothing on stdout, the format by --format or by the name
    if words[0] != "fit":  # its -o is the fit
        target = tmp_path / "out.json"
        assert run(*words, "-o", target).stdout == ""
        assert list(json.loads(target.read_text())["rows"][0])[:count] == columns
        target = tmp_path / "out"
        assert run(*words, "--format", "csv", "-o", target).stdout == ""
        assert target.read_text().splitlines()[0].split(",")[:count] == columns
        assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "out.json"]
    assert run(*words, "--format", "latex").stdout.startswith("\\begin{tabular}")
    assert run(*words, "--format", "table").exit_code == 0


@pytest.mark.parametrize("call", ["evaluate", "risk", "topics", "ci", "test t", "ppd-risk"])
def test_parquet_carries_the_same_rows(call, places, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="Parquet needs surefoot[frames]")
    words = arguments(CALLS[call][0], places)
    assert run(*words, "-o", tmp_path / "a.parquet").exit_code == 0
    assert run(*words, "--format", "parquet", "-o", tmp_path / "b").exit_code == 0
    piped = run(*words, "--format", "parquet").stdout_bytes
    expected = rows(*words)
    for source in (tmp_path / "a.parquet", tmp_path / "b", io.BytesIO(piped)):
        table = parquet.read_table(source)
        assert table.column_names == list(expected[0])
        assert len(table) == len(expected)


def test_numbers_are_not_rounded(places):
    words = arguments(CALLS["risk"][0], places)
    as_json = rows(*words)
    as_csv = list(csv.DictReader(io.StringIO(run(*words, "--format", "csv").stdout)))
    exact = sf.risk(SCORES, champion="champion", alpha=[0, 1, 5])
    for a, b, c in zip(as_json, as_csv, exact.rows(), strict=True):
        assert a["u_risk"] == float(b["u_risk"]) == pytest.approx(c["u_risk"], abs=1e-15)


def test_what_is_undefined_is_null_in_json_and_empty_in_csv(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("topic,a,b\nq1,0.5,0.4\n")
    row = rows("risk", path, "--champion", "a")[0]
    assert row["t_risk"] is None
    table = run("risk", path, "--champion", "a", "--format", "csv").stdout
    assert next(csv.DictReader(io.StringIO(table)))["t_risk"] == ""


# -- alpha, r and their form ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "form", "alphas"),
    [
        (["--alpha", "0,1,5"], "alpha", [0, 1, 5]),
        (["--alpha", "0", "--alpha", "1", "--alpha", "5"], "alpha", [0, 1, 5]),
        (["--alpha=0,1", "--alpha=5"], "alpha", [0, 1, 5]),
        (["--alpha", "1,1"], "alpha", [1]),
        (["--r", "1,2,6"], "minus", [0, 1, 5]),
        (["--r", "1", "--r", "2", "--r", "6"], "minus", [0, 1, 5]),
        ([], "alpha", [1]),
    ],
)
@pytest.mark.parametrize("command", ["risk", "ci"])
def test_values_by_commas_or_repeated(places, command, options, form, alphas):
    made = rows(command, places["scores"], "--champion", "champion", "--system", "worse", *options)
    assert [(r["form"], r["alpha"]) for r in made] == [(form, a) for a in alphas]


@pytest.mark.parametrize("command", ["risk", "topics", "ci", "test"])
def test_the_minus_form_is_the_negative_of_the_alpha_form(places, command):
    field = {"risk": "u_risk", "topics": "x", "ci": "estimate", "test": "mean_difference"}[command]
    asked = [command, places["scores"], "--champion", "champion", "--system", "worse"]
    plus, minus = rows(*asked, "--alpha", "1"), rows(*asked, "--r", "2")
    assert {r["form"] for r in plus} == {"alpha"}
    assert {r["form"] for r in minus} == {"minus"}
    assert [r[field] for r in minus] == pytest.approx([-r[field] for r in plus])


@pytest.mark.parametrize("command", ["ppd-risk", "brisk"])
def test_bayesian_risk_names_the_minus_form(places, command):
    made = rows(
        *[command, places["scores"], "--champion", "champion", "--r", "2"],
        *["--family", "gaussian", "--draws", "200"],
    )
    assert {r["form"] for r in made} == {"minus"}
    assert {r["r"] for r in made} == {2.0}


@pytest.mark.parametrize(
    ("options", "champions"),
    [
        (["--champion", "champion,worse"], ["champion", "worse"]),
        (["--champion", "champion", "--champion", "worse"], ["champion", "worse"]),
        (["--champion", "mean"], ["mean"] * 3),
        (["--champion", "median"], ["median"] * 3),
        (["--champion", "max"], ["max"] * 3),
    ],
)
def test_champions(places, options, champions):
    made = rows("risk", places["scores"], *options)
    assert [r["champion"] for r in made] == champions


def test_a_population_from_another_file_changes_z_risk_and_geo_risk(places, tmp_path):
    path = tmp_path / "more.csv"
    rng = np.random.default_rng(1)
    more = [(f"s{i}", t, float(rng.uniform())) for i in range(5) for t in TOPICS]
    path.write_text(delimited(("system", "topic", "score"), more))
    asked = ["risk", places["scores"], "--champion", "champion"]
    alone, wide_ = rows(*asked), rows(*asked, "--population", path)
    assert alone[0]["u_risk"] == wide_[0]["u_risk"]
    assert alone[0]["z_risk"] != wide_[0]["z_risk"]
    assert alone[0]["geo_risk"] != wide_[0]["geo_risk"]


# -- exit codes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("t_risk(alpha=1) < -2", 3),
        ("ci_high(bca, alpha=1) < 0", 3),
        ("losses_over_20 > 0.1", 3),
        ("mean_difference < -0.9", 0),
        ("mean_difference <", 2),
        ("no_such_quantity > 1", 2),
    ],
)
def test_exit_codes_of_the_gate(places, expression, code):
    asked = ["gate", places["scores"], "--champion", "champion", "--fail-if", expression]
    assert run(*asked).exit_code == code


def test_the_gate_takes_several_conditions_and_slices(places, home):
    made = rows(
        *["gate", "--fail-if", "t_risk(alpha=1) < -2", "--fail-if", "losses_over_20 > 0.1"],
        *["--slices", home / "slices.csv", places["scores"], "--champion", "champion"],
    )
    assert {r["slice"] for r in made} == {"all", "odd", "even"}
    assert {r["expression"] for r in made} == {"t_risk(alpha=1) < -2", "losses_over_20 > 0.1"}


# -- evaluation -----------------------------------------------------------------------------------

OWN = [
    *("P@5", "R@5", "RR", "RR@5", "AP", "AP@5", "nDCG", "nDCG@5", "DCG@5", "ERR@5", "RBP(p=0.8)"),
    *("INST(T=3)", "bpref", "Rprec", "Success@5", "Judged@5", "CG@5", "kcall(k=3)@10"),
    *("P(rel=2)@5", "nDCG(gain='exp')@5", "DCG(gain='exp',discount='letor')@5"),
    *("RBP(p=0.8,gain='binary')", "RBP(p=0.8,max_rel=4)", "ERR(max_rel=4)@5"),
    *("nDCG(discount='letor')@5", "ERR(variant='thesis')@5"),
]
TREC = {
    "ndcg_cut_10": "nDCG@10",
    "map": "AP",
    "recip_rank": "RR",
    "rbp.p=0.8": "RBP(p=0.8)",
    "P_5": "P@5",
    "recall_100": "R@100",
    "success_1": "Success@1",
    "map_cut_10": "AP@10",
    "ndcg": "nDCG",
}


TIES = ("trec", "file", "rank", "docid", "average", "expected", "best", "worst")


@pytest.fixture(scope="module")
def judged(home):
    return [home / "shop" / "qrels.txt", home / "shop" / "runs" / "champion.run"]


def test_all_measures_in_one_call(judged):
    asked = [x for m in OWN for x in ("-m", m)]
    made = rows("evaluate", *judged, *asked)
    assert [r["measure"] for r in made] == OWN
    assert {r["topic"] for r in made} == {"all"}
    assert all(r["lower"] <= r["value"] <= r["upper"] for r in made)
    bounded = {r["measure"] for r in made if r["upper"] > r["lower"]}
    assert {"RBP(p=0.8)", "INST(T=3)"} <= bounded
    assert not bounded & {"AP", "nDCG@5", "R@5", "bpref", "Rprec"}


@pytest.mark.parametrize("name", TREC)
def test_spellings_of_trec_eval(judged, name):
    assert rows("evaluate", *judged, "-m", name) == rows("evaluate", *judged, "-m", TREC[name])


def test_one_row_a_topic_and_the_mean(judged):
    made = rows("evaluate", "-q", *judged, "-m", "AP")
    each = [r["value"] for r in made if r["topic"] != "all"]
    assert len(each) == 12
    assert made[-1]["topic"] == "all"
    assert made[-1]["value"] == pytest.approx(np.mean(each))
    assert made == rows("evaluate", *judged, "-m", "AP", "--per-topic")


def test_the_format_of_trec_eval(judged):
    shown = run("evaluate", *judged, "-m", "map", "-q", "--format", "trec_eval").stdout
    lines = [line.split("\t") for line in shown.splitlines()]
    assert {len(line) for line in lines} == {3}
    assert [line[1] for line in lines if line[0] == "map"][-1] == "all"
    assert all(len(line[2].partition(".")[2]) == 4 for line in lines if line[0] == "map")


@pytest.mark.parametrize(
    "option",
    [
        *(
            ["--ties", t]
            for t in ["trec", "file", "rank", "docid", "average", "expected", "best", "worst"]
        ),
        *(["-c"], ["-l", "2"], ["-M", "5"], ["-J"], ["--threads", "1"], ["--seed", "1"]),
        *(["--quiet"], ["--no-progress"], ["--progress"]),
    ],
    ids=" ".join,
)
def test_options_of_evaluate_stand_anywhere(judged, option):
    before, after = ["evaluate", *option, *judged], ["evaluate", *judged, *option]
    assert rows(*before, "-m", "AP") == rows(*after, "-m", "AP")


def test_inst_eval_prints_what_the_reference_program_prints(judged):
    lines = run(*judged, "-T", "3", "-q", program=inst_eval).stdout.splitlines()
    names = ["num_ret", "num_rel", "num_rel_ret", "inst_min", "inst_max", "inst_res"]
    fields = [line.split() for line in lines]
    assert [f[0] for f in fields[:6]] == names
    assert {f[1] for f in fields[:6]} == {"q001"}
    assert [f[0] for f in fields if f[1] == "all"] == ["num_q", *names]
    deep = run("-n", "10", "-c", "--ties", "trec", "-T", "2.5", *judged, program=inst_eval)
    assert deep.exit_code == 0
    assert run(*judged, program=inst_eval).exit_code == 2


def test_a_t_for_each_topic(judged, tmp_path):
    path = tmp_path / "T"
    path.write_text("".join(f"q{j:03d} {1 + j / 2}\n" for j in range(1, 13)))
    shown = run(*judged, "-tpq", path, program=inst_eval)
    assert shown.stderr == ""
    assert shown.stdout.splitlines()[0].split() == ["num_q", "all", "12"]


def test_lint_and_sample(home, tmp_path):
    files = sorted((home / "shop" / "runs").glob("*.run"))
    assert {f.stem for f in files} >= {"champion", *(f"challenger{i}" for i in range(1, 5))}
    assert any(f.stem.startswith("artifact") for f in files)
    topics = (home / "shop" / "topics.tsv").read_text().splitlines()
    assert topics[0] == "topic\ttext"
    assert len(topics) == 13
    assert rows("lint", home / "shop" / "qrels.txt", *files)
    again = tmp_path / "again"
    run("sample", again, "--seed", "3", "--systems", "7", "--topics", "12")
    for file in (home / "shop").rglob("*.*"):
        assert (again / file.relative_to(home / "shop")).read_bytes() == file.read_bytes()


# -- models ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["gaussian", "skew_normal", "zoib", "student"])
def test_fit_writes_a_file_and_a_summary(places, family, tmp_path):
    path = tmp_path / "a.fit"
    pytest.importorskip("h5py", reason="fit files need surefoot[bayes]")
    result = run(
        *["fit", places["scores"], "--family", family, "--draws", "200", "-o", path],
        *["--format", "json", "--quiet"],
    )
    answer = json.loads(result.stdout)
    assert {"waic", "loo", "method", "khat", "efficiency", "seconds"} <= set(answer["settings"])
    names = [r["parameter"] for r in answer["rows"]]
    assert {"b", "sd_system", "sd_topic", "system[champion]", "topic[q1]"} <= set(names)
    own = {"gaussian": {"sigma"}, "skew_normal": {"sigma", "lambda"}, "student": {"sigma"}}
    assert own.get(family, {"phi", "zoi", "coi"}) <= set(names)
    assert path.read_bytes()[:4] == b"\x89HDF"


def test_fit_of_gains_by_rank(home, tmp_path):
    path = tmp_path / "ranks.csv"
    rng = np.random.default_rng(2)
    table = [
        (s, t, k, float(rng.choice([0, 0.25, 0.5, 0.9]) / k))
        for s in SYSTEMS
        for t in TOPICS[:6]
        for k in range(1, 5)
    ]
    path.write_text(delimited(("system", "topic", "rank", "score"), table))
    made = rows("fit", path, "--family", "zoib_rank", "--draws", "200", "--quiet")
    assert "k" in {r["parameter"] for r in made}


# -- learning -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def letor(tmp_path_factory):
    pytest.importorskip("lightgbm", reason="training needs surefoot[learn]")
    folder = tmp_path_factory.mktemp("letor")
    rng = np.random.default_rng(1)
    for name, queries in (
        ("train", range(1, 21)),
        ("valid", range(21, 29)),
        ("test", range(29, 35)),
    ):
        lines = []
        for q in queries:
            for d in range(12):
                x = rng.normal(size=3)
                grade = int(np.clip(np.round(x[0] + rng.normal() * 0.5), 0, 4))
                features = " ".join(f"{i + 1}:{v:.4f}" for i, v in enumerate(x))
                lines.append(f"{grade} qid:{q} {features} # d{q}_{d}\n")
        (folder / f"{name}.svm").write_text("".join(lines))
    everyone = [(q, 0.6 + 0.01 * (q % 7), 0.5) for q in range(1, 29)]
    (folder / "one.csv").write_text(delimited(("topic", "score"), [r[:2] for r in everyone]))
    (folder / "two.csv").write_text(delimited(("topic", "bm25", "old"), everyone))
    return folder


@pytest.mark.parametrize("baseline", ["one.csv", "two.csv"])
@pytest.mark.parametrize("objective", ["ndcg", "u-cro", "saro", "faro", "georisk"])
def test_train_and_rank(letor, tmp_path, objective, baseline):
    model, ranked = tmp_path / "model", tmp_path / "out.run"
    trained = run(
        *["train", letor / "train.svm", "--valid", letor / "valid.svm", "--objective", objective],
        *["--alpha", "1", "--baseline", letor / baseline, "-o", model, "--rounds", "5"],
    )
    assert trained.exit_code == 0, trained.output
    assert run("rank", model, letor / "test.svm", "-o", ranked).exit_code == 0
    fields = [line.split() for line in ranked.read_text().splitlines()]
    assert {len(f) for f in fields} == {6}
    assert len(fields) == 6 * 12


# -- active ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["DCG", "ERR"])
def test_a_study_from_plan_to_estimate(home, tmp_path, measure):
    pytest.importorskip("sqlalchemy", reason="studies need surefoot[active]")
    study, q = tmp_path / "study", tmp_path / "q.csv"
    planned = run(
        *["active", "plan", home / "pool.csv", "--measure", measure, "--compare", "--grades", "2"],
        *["--budget", "8", "-o", study, "--dump-q", q],
    )
    assert planned.exit_code == 0, planned.output
    header = q.read_text().splitlines()[0]
    assert header.replace("\t", ",").split(",") == [
        "topic",
        "q",
        "cost",
        "expected",
        "second_moment",
    ]
    tasks = rows("active", "next", study)
    assert {"topic", "doc"} <= set(tasks[0])
    assert run("active", "label", study, home / "labels.qrels").exit_code == 0
    made = rows("active", "estimate", study)
    assert list(made[0])[:10] == ESTIMATE.split()
    assert made[0]["low"] <= made[0]["estimate"] <= made[0]["high"]


def test_labels_as_a_table(home, tmp_path):
    pytest.importorskip("sqlalchemy", reason="studies need surefoot[active]")
    study = tmp_path / "study"
    run(
        *["active", "plan", home / "pool.csv", "--measure", "DCG", "--compare", "--grades", "2"],
        *["--budget", "4", "-o", study],
    )
    tasks = rows("active", "next", study)
    table = delimited(
        ("topic", "doc", "grade", "labeller"), [(t["topic"], t["doc"], 1, "ann") for t in tasks]
    )
    (tmp_path / "labels.csv").write_text(table)
    assert run("active", "label", study, tmp_path / "labels.csv").exit_code == 0


def test_simulate_takes_a_labelled_pool(home):
    pytest.importorskip("sqlalchemy", reason="studies need surefoot[active]")
    assert rows(
        *["active", "simulate", home / "pool.csv", "--labels", home / "labels.qrels"],
        *["--measure", "DCG", "--compare", "--grades", "2", "--budget", "8", "--repeats", "20"],
    )


# -- Python ---------------------------------------------------------------------------------------

VERBS = [
    *("read_qrels", "read_run", "read_scores", "evaluate", "risk", "topics", "intervals", "test"),
    *("power", "fit", "ppd_risk", "brisk", "active", "learn"),
]


@pytest.mark.parametrize("name", VERBS)
def test_the_verb_is_public(name):
    assert name in sf.__all__
    assert getattr(sf, name)


def frames():
    pandas = pytest.importorskip("pandas", reason="frames need surefoot[frames]")
    polars = pytest.importorskip("polars", reason="frames need surefoot[frames]")
    arrow = pytest.importorskip("pyarrow", reason="frames need surefoot[frames]")
    table = pandas.DataFrame(long_columns())
    by_topic = table.pivot(index="topic", columns="system", values="score")
    return {
        "pandas": table,
        "pandas wide": by_topic,
        "pandas wide, topic a column": by_topic.reset_index(),
        "PyTerrier": table.set_axis(["name", "qid", "value"], axis=1).assign(measure="AP"),
        "polars": polars.from_pandas(table),
        "polars lazy": polars.from_pandas(table).lazy(),
        "polars wide": polars.from_pandas(by_topic.reset_index()),
        "Arrow": arrow.Table.from_pandas(table),
        "Arrow batch": arrow.RecordBatch.from_pandas(table),
    }


@pytest.mark.parametrize(
    "name",
    [
        *("pandas", "pandas wide", "pandas wide, topic a column", "PyTerrier", "polars"),
        *("polars lazy", "polars wide", "Arrow", "Arrow batch"),
    ],
)
def test_frames_are_score_tables(name):
    expected = {r["system"]: r["u_risk"] for r in sf.risk(SCORES, champion="champion").rows()}
    made = {r["system"]: r["u_risk"] for r in sf.risk(frames()[name], champion="champion").rows()}
    assert made == pytest.approx(expected)


DIALECTS = {
    "ir_measures": (("query_id", "doc_id", "relevance"), ("query_id", "doc_id", "score")),
    "PyTerrier": (("qid", "docno", "label"), ("qid", "docno", "score")),
    "ranx": (("q_id", "doc_id", "score"), ("q_id", "doc_id", "score")),
}
QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
RUN = {"q1": {"a": 0.5, "b": 2.0}, "q2": {"c": 1.0, "d": 0.5}}


def nested(columns, table):
    rows_ = [(t, d, v) for t, by_document in table.items() for d, v in by_document.items()]
    return dict(zip(columns, zip(*rows_, strict=True), strict=True))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_three_column_dialects(dialect, library):
    module = pytest.importorskip(library, reason="frames need surefoot[frames]")
    make = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}[library]
    names, run_names = DIALECTS[dialect]
    qrels = getattr(module, make)(nested(names, QRELS))
    ranked = getattr(module, make)(nested(run_names, RUN))
    expected = sf.evaluate(QRELS, RUN, ["AP", "nDCG@10"]).value
    assert sf.evaluate(qrels, ranked, ["AP", "nDCG@10"]).value.tolist() == expected.tolist()


def test_an_evaluation_is_a_score_table():
    other = {"q1": {"a": 3.0, "b": 2.0}, "q2": {"c": 0.1, "d": 0.5}}
    scores = sf.evaluate(QRELS, {"old": RUN, "new": other}, "AP", per_topic=True)
    assert sf.risk(scores, champion="old").system == ("new",)


def results():
    chosen = {"champion": "champion"}
    few = {"family": "gaussian", "draws": 200}
    yield sf.evaluate(QRELS, RUN, ["AP"])
    yield sf.risk(SCORES, alpha=[0, 1], **chosen)
    yield sf.topics(SCORES, alpha=1, **chosen)
    yield sf.intervals(SCORES, alpha=1, method=["student", "bca"], resamples=999, **chosen)
    yield sf.test(SCORES, test="t")
    yield sf.power(effect=0.4)
    posterior = sf.fit(SCORES, **few)
    yield posterior
    yield sf.ppd_risk(posterior, r=[1, 2], **chosen)
    yield sf.brisk(SCORES, r=2, **chosen, **few)


@pytest.mark.parametrize(
    ("verb", "wrong"),
    [
        ("risk", {"alpha": "much"}),
        ("risk", {"alpha": [1, None]}),
        ("risk", {"level": 2}),
        ("risk", {"tolerance": -1}),
        ("topics", {"level": 0}),
        ("intervals", {"seed": -1}),
        ("intervals", {"seed": 2**63}),
        ("intervals", {"seed": 0.5}),
        ("test", {"resamples": 0}),
        ("power", {"simulations": 0}),
        ("stability", {"trials": 0}),
        ("normality", {"pairs": 0}),
        ("gate", {"seed": -1, "fail_if": "losses > 0"}),
    ],
)
def test_wrong_options_are_refused_in_words(verb, wrong):
    with pytest.raises(sf.SurefootError, match=r"must be|must lie"):
        getattr(sf, verb)(SCORES, champion="champion", **wrong)


@pytest.mark.parametrize("champion", [3, None, []])
def test_a_champion_is_a_name(champion):
    with pytest.raises(sf.SurefootError, match="name a champion"):
        sf.risk(SCORES, champion=champion)


def test_every_column_is_an_attribute():
    for result in results():
        assert all(hasattr(result, name) for name in result.columns())
        assert not any(hasattr(result, name) for name in ("no_such_column", "__array__", "_one"))
    found = sf.risk(SCORES, champion="champion", r=[1, 2])
    assert found.loss_over_20.tolist() == found.loss_over.tolist()
    assert found.r.tolist() == [1, 2, 1, 2]


def test_every_result_that_knows_alpha_names_its_form():
    risky = [r for r in results() if {"alpha", "r"} & {*r.columns(), *r.settings}]
    risky += [sf.orders(SCORES), sf.stability(SCORES, champion="champion", trials=5)]
    assert len(risky) > 5
    for result in risky:
        assert {*result.to_dict()["rows"][0].items()} & {("form", "alpha"), ("form", "minus")}


def test_results_can_be_copied_and_pickled():
    for result in results():
        again = pickle.loads(pickle.dumps(result))
        assert again.to_dict() == copy.deepcopy(result).to_dict() == result.to_dict()


def test_results_are_frozen_records_that_become_frames():
    for result in results():
        table = result.to_dict()
        assert list(table) == ["command", "version", "settings", "rows"]
        json.dumps(table, allow_nan=False)
        with pytest.raises(AttributeError):
            result.settings = {}
        pytest.importorskip("pandas", reason="frames need surefoot[frames]")
        assert list(result.to_pandas().columns) == list(table["rows"][0])
        assert len(result.to_polars()) == len(table["rows"])


# -- the program as a process ---------------------------------------------------------------------


@pytest.mark.parametrize("name", [*COMMANDS, None])
def test_every_command_explains_itself(name):
    for flag in ("--help", "-h"):
        shown = run(*([name] if name else []), flag)
        assert shown.exit_code == 0
        assert shown.stdout.startswith("Usage: ")


def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads(places):
    asked = ["ci", places["scores"], "--champion", "champion", "--method", "bca", "--seed", "5"]
    one, many = (run(*asked, "--threads", n, "--format", "csv").stdout for n in (1, 3))
    assert one == many
    assert one != run(*asked[:-1], "6", "--format", "csv").stdout


def test_a_reader_that_goes_away_is_no_failure(places):
    call = f"{sys.executable} -m surefoot risk '{places['scores']}' --champion champion | head -1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {call}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1
