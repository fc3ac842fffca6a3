"""The script for the real MSLR-WEB10K, on a small folder of the same layout."""

from pathlib import Path

import pytest
from benchmarks.mslr_web10k import PRINTED, main

from surefoot.workflows.sample_ltr import generate_ltr

pytest.importorskip("lightgbm")


@pytest.fixture(scope="module")
def layout(tmp_path_factory) -> Path:
    home = tmp_path_factory.mktemp("mslr")
    for fold in (1, 2):
        folder = home / f"Fold{fold}"
        folder.mkdir()
        for k, part in enumerate(("train", "vali", "test")):
            data = generate_ltr(
                queries=60 if part == "train" else 6,
                documents=10,
                features=112,
                first=1000 * fold + 100 * k,
            )
            lines = []
            for q, query in enumerate(data.queries):
                for row in range(data.offsets[q], data.offsets[q + 1]):
                    cells = " ".join(f"{i + 1}:{v:.4g}" for i, v in enumerate(data.features[row]))
                    lines.append(f"{data.labels[row]:g} qid:{query} {cells}\n")
            (folder / f"{part}.txt").write_text("".join(lines))
    return home


def test_it_runs_resumes_and_prints_beside_the_papers_table(layout, tmp_path, capsys) -> None:
    page = tmp_path / "page.md"
    options = ["--work", str(tmp_path / "work"), "--page", str(page), "--rounds", "3"]
    options += ["--min-documents", "2", "--leaves", "4", "--alpha", "5", "--threads", "1"]
    options += ["--learned-baselines"]
    assert main([str(layout), *options]) == 0
    text = page.read_text()
    assert "12 test queries of 2 folds" in text
    rows = [line for line in text.splitlines() if line.startswith("| u-cro | 5 ")]
    assert len(rows) == 2  # against BM25, and against the learned baselines
    for figure in PRINTED["u-cro", 5]:
        assert f"{figure:.3f}" in rows[0] if figure < 1 else str(figure) in rows[0]
    assert str(layout) not in text
    assert "10 of 10 models" in capsys.readouterr().out
    assert main([str(layout), *options]) == 0
    assert capsys.readouterr().out.startswith("5 of 10 models")  # nothing is trained again


def test_a_wrong_folder_is_one_line(tmp_path, capsys) -> None:
    assert main([str(tmp_path), "--work", str(tmp_path / "w")]) == 1
    assert "neither folders Fold1" in capsys.readouterr().err
