import hashlib
from pathlib import Path

import numpy as np
import pytest

from surefoot.errors import InputError
from surefoot.workflows.sample import SLICES, write_sample


def digest(home: Path) -> dict[str, str]:
    files = sorted(p for p in home.rglob("*") if p.is_file())
    return {str(p.relative_to(home)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def ndcg10(home: Path, system: str) -> dict[str, float]:
    """An independent nDCG@10, linear gain, for what the collection promises."""
    grades: dict[str, dict[str, int]] = {}
    for line in (home / "qrels.txt").read_text().splitlines():
        topic, _, document, grade = line.split()
        grades.setdefault(topic, {})[document] = int(grade)
    ranked: dict[str, list[int]] = {}
    for line in (home / "runs" / f"{system}.run").read_text().splitlines():
        topic, _, document, _, _, _ = line.split()
        ranked.setdefault(topic, []).append(grades[topic].get(document, 0))
    discount = 1 / np.log2(np.arange(2, 12))
    out = {}
    for topic, gains in ranked.items():
        ideal = sorted(grades[topic].values(), reverse=True)[:10]
        out[topic] = float(gains[:10] @ discount) / float(ideal @ discount[: len(ideal)])
    return out


def test_same_seed_writes_the_same_bytes_and_another_seed_does_not(tmp_path):
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        write_sample(tmp_path / name, topics=6, systems=8, seed=seed)
    assert digest(tmp_path / "a") == digest(tmp_path / "b")
    assert digest(tmp_path / "a") != digest(tmp_path / "c")


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_challenger_2_is_better_on_the_mean_and_worse_on_product_codes(tmp_path, seed):
    write_sample(tmp_path, topics=60, systems=10, seed=seed)
    champion, challenger = (ndcg10(tmp_path, s) for s in ("champion", "challenger2"))
    lines = (tmp_path / "slices.csv").read_text().splitlines()[1:]
    kind = dict(line.split(",") for line in lines)
    delta = {t: challenger[t] - champion[t] for t in champion}
    codes = [d for t, d in delta.items() if kind[t] == "product code"]
    assert np.mean(list(delta.values())) > 0.01
    assert np.mean(codes) < -0.1


def test_some_of_what_challengers_return_is_unjudged_and_all_of_it_is_in_the_complete_file(
    tmp_path,
):
    write_sample(tmp_path, topics=6, systems=8)

    def pairs(name):
        lines = (tmp_path / name).read_text().splitlines()
        return {(f[0], f[2]) for f in map(str.split, lines)}

    judged, complete = pairs("qrels.txt"), pairs("qrels.complete.txt")
    returned = pairs("runs/challenger2.run")
    assert judged < complete
    assert returned <= complete
    assert returned - judged


def test_every_topic_has_a_text_of_its_own_and_a_slice(tmp_path):
    write_sample(tmp_path, topics=40, systems=7)
    rows = [line.split("\t") for line in (tmp_path / "topics.tsv").read_text().splitlines()[1:]]
    slices = [line.split(",") for line in (tmp_path / "slices.csv").read_text().splitlines()[1:]]
    assert len({text for _, text in rows}) == 40
    assert [t for t, _ in rows] == [t for t, _ in slices]
    assert {s for _, s in slices} == set(SLICES)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"topics": 3}, "topics must be"), ({"systems": 6}, "systems must be")],
)
def test_too_small_a_collection_is_refused(tmp_path, options, message):
    with pytest.raises(InputError, match=message):
        write_sample(tmp_path, **options)
