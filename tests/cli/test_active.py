import json

import pytest
from tests.pools import labelled_pool, write_pool

from surefoot.cli.main import main


@pytest.fixture
def surefoot(monkeypatch, capsys, tmp_path):
    """Run `surefoot active ...` in an empty folder; gives the exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["surefoot", "active", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
        said = capsys.readouterr()
        return stop.value.code or 0, said.out, said.err

    return run


@pytest.fixture
def known(tmp_path):
    found = labelled_pool(80, docs=4, seed=21)
    write_pool(found.columns, tmp_path / "pool.csv")
    qrels = [f"{t} 0 {d} {g}\n" for t, by in found.labels.items() for d, g in by.items()]
    (tmp_path / "qrels").write_text("".join(qrels))
    return found


PLAN = ("plan", "pool.csv", "--measure", "ERR", "--compare", "--budget", "20", "-o", "s.db")


def test_from_plan_to_estimate(surefoot, known, tmp_path):
    assert surefoot(*PLAN, "--dump-q", "q.tsv")[0] == 0
    head = (tmp_path / "q.tsv").read_text().splitlines()
    assert head[0] == "topic\tq\tcost\texpected\tsecond_moment"
    assert len(head) == 81
    code, tasks, _ = surefoot("next", "s.db", "--count", "3", "--format", "csv")
    assert (code, tasks.splitlines()[0]) == (0, "topic,doc,draw,cost")
    code, out, _ = surefoot("label", "s.db", "qrels", "--format", "csv")
    assert (code, out.splitlines()[0]) == (0, "stored,corrected,unchanged,elsewhere,completed")
    code, out, _ = surefoot("estimate", "s.db", "--format", "json")
    answer = json.loads(out)
    assert (code, answer["command"]) == (0, "active estimate")
    assert list(answer["rows"][0])[:10] == [
        *("quantity", "estimate", "se", "low", "high", "confidence"),
        *("draws", "labelled", "cost", "method"),
    ]
    assert [r["quantity"] for r in answer["rows"]] == ["ERR[A]-ERR[B]", "ERR[A]", "ERR[B]"]
    code, out, err = surefoot("next", "s.db")
    assert (code, out) == (0, "topic\tdoc\tdraw\tcost\n")
    assert err == "Nothing to label: the budget does not pay for the next query.\n"
    assert "labels by" in surefoot("status", "s.db")[1]
    assert surefoot("export", "s.db")[1].startswith("draw\ttopic\tp\tq\tuniform")


def test_from_runs_to_a_raised_budget(surefoot, tmp_path):
    for name, sign in (("new", 1), ("old", -1)):
        rows = [f"q{q} Q0 d{d} 0 {sign * d} {name}\n" for q in range(20) for d in range(5)]
        (tmp_path / f"{name}.run").write_text("".join(rows))
    code, out, err = surefoot("pool", "new.run", "old.run", "--depth", "3", "-o", "pool.csv")
    assert (code, out, err) == (0, "", "")
    lines = (tmp_path / "pool.csv").read_text().splitlines()
    assert lines[:2] == ["topic,ranking,rank,doc,score", "q0,new,1,d4,1.414214"]
    assert len(lines) == 121
    plan = (*PLAN[:3], "ERR@3", *PLAN[4:6], "5", *PLAN[7:])
    assert surefoot(*plan, "--grades", "2")[0] == 0
    code, out, _ = surefoot("extend", "s.db", "--budget", "2.5")
    assert (code, out) == (0, "added\tbudget\tspent\n2.5\t7.5\t0.0\n")


def test_simulate(surefoot, known):
    code, out, _ = surefoot(
        *("simulate", "pool.csv", "--labels", "qrels", "--compare", "--budget", "5,10"),
        *("--repeats", "50", "--variant", "active", "--format", "csv"),
    )
    assert code == 0
    assert out.splitlines()[0].startswith("variant,method,budget,error,error_se,rmse,bias,coverage")
    assert len(out.splitlines()) == 3


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("estimate", "nothing.db"), 1, "surefoot: nothing.db: cannot be opened"),
        (("plan", "nothing.csv", *PLAN[2:]), 1, "surefoot: cannot read nothing.csv"),
        (("plan", "pool.csv", "--budget", "20", "-o", "t.db"), 2, "--measure"),
        (
            (*PLAN[:3], "MAP", *PLAN[4:]),
            1,
            "active evaluation knows DCG, ERR, nDCG, RBP, INST",
        ),
        ((*PLAN, "--stop", "soon"), 1, "cannot read the stopping rule 'soon'"),
        ((*PLAN, "--cost", "words"), 1, "no numeric column 'words' for the cost"),
        ((*PLAN[:6], "0", *PLAN[7:]), 1, "the budget must be above 0, got 0"),
    ],
)
def test_errors_are_one_line(surefoot, known, arguments, code, message):
    found, out, err = surefoot(*arguments)
    assert (found, out) == (code, "")
    assert message in err
    assert err.count("\n") == 1 or code == 2
