"""A generated collection to try everything on: a shop's search, its judgments and its rankers."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.data.seed import check_seed
from surefoot.errors import InputError
from surefoot.io.atomic import atomic_open
from surefoot.results.record import Column, Result

FloatArray = npt.NDArray[np.float64]

CANDIDATES = 400  # documents a topic that any ranker could return
DEPTH = 100  # documents a run lists for a topic
POOL_DEPTH = 20  # ranks of the pooled runs that were judged
FAMILIES = 4  # rankers of one family make the same mistakes

# Share of topics in each slice. Challenger 2 matches meaning and misses exact codes.
SLICES = {"keyword": 0.5, "question": 0.3, "product code": 0.2}

_ITEMS = (
    *("hiking boots", "rain jacket", "tent", "sleeping bag", "headlamp", "trekking poles"),
    *("water filter", "camp stove", "climbing rope", "backpack", "down vest", "dry bag"),
    *("trail shoes", "hammock", "cooking pot", "snowshoes", "bike rack", "kayak paddle"),
    *("fleece gloves", "sun hat", "first aid kit", "camping chair", "insulated bottle"),
)
_TRAITS = (
    *("waterproof", "lightweight", "women's", "kids", "wide fit", "insulated", "compact"),
    *("four season", "recycled", "vegan", "breathable", "two person", "ultralight", "winter"),
)
_PLACES = ("the Alps", "wet weather", "desert hikes", "a first trip", "winter camping")
_QUESTIONS = (
    "how do I clean a {item}",
    "which {item} is best for {place}",
    "can I wash a {trait} {item} at home",
    "how long does a {trait} {item} last",
    "what size of {item} do I need for {place}",
)


@dataclass(frozen=True, slots=True)
class Sample(Result):
    """What was written, one file a row."""

    command: ClassVar[str] = "sample"

    files: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()
    contents: tuple[str, ...] = ()

    def columns(self) -> dict[str, Column]:
        """File, number of lines and what it holds."""
        return {"file": self.files, "lines": self.lines, "contents": self.contents}


def write_sample(
    directory: str | os.PathLike[str], *, topics: int = 50, systems: int = 20, seed: int = 0
) -> Sample:
    """Write a collection: judgments, a champion, four challengers, artifact systems, topic texts.

    Challenger 1 is better throughout. Challenger 2 is better on the mean and worse on a tail of
    topics (the product codes). Challenger 3 is a near copy of the champion. Challenger 4 is worse.
    Judgments come from pooling the champion and the artifacts, so that some of what the
    challengers return is unjudged.

    Parameters
    ----------
    directory : path
        Made if it does not exist; files of the same names are replaced.
    topics, systems : int
        Number of topics, and of runs in all (at least the champion, four challengers and two
        artifacts, which are pooled).
    seed : int
        The same seed writes the same bytes.
    """
    if topics < 4:
        raise InputError(f"topics must be an integer not less than 4, but got {topics}")
    if systems < 7:
        raise InputError(
            f"systems must be an integer not less than 7 (a champion, four challengers, two "
            f"artifacts), but got {systems}"
        )
    check_seed(seed)
    home = Path(directory)
    try:
        (home / "runs").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {home / 'runs'}: {error.strerror}") from None

    world = _World(topics, systems, seed)
    runs: dict[str, list[str]] = {name: [] for name in world.names}
    qrels: list[str] = []
    complete: list[str] = []
    for t in range(topics):
        name = world.topics[t]
        topic = world.topic(t)
        for i in np.argsort(topic.documents):
            line = f"{name} 0 {topic.documents[i]} {topic.grades[i]}"
            complete.append(line)
            if topic.judged[i]:
                qrels.append(line)
        for s, system in enumerate(world.names):
            for rank, i in enumerate(topic.ranked[s], start=1):
                score = f"{topic.scores[s, i]:.5f}"
                runs[system].append(f"{name} Q0 {topic.documents[i]} {rank} {score} {system}")

    written: list[tuple[str, int, str]] = []

    def write(name: str, lines: list[str], contents: str) -> None:
        with atomic_open(home / name) as file:
            file.writelines(line + "\n" for line in lines)
        written.append((name, len(lines), contents))

    write("qrels.txt", qrels, f"judgments, grades 0 to 3, pooled to depth {POOL_DEPTH}")
    write("qrels.complete.txt", complete, "what judging every document would have found")
    write(
        "topics.tsv",
        ["topic\ttext", *(f"{t}\t{x}" for t, x in zip(world.topics, world.texts, strict=True))],
        "topic texts",
    )
    write(
        "slices.csv",
        ["topic,slice", *(f"{t},{s}" for t, s in zip(world.topics, world.slices, strict=True))],
        "the kind of each topic",
    )
    for name in world.names:
        write(f"runs/{name}.run", runs[name], world.story(name))
    return Sample(
        files=tuple(name for name, _, _ in written),
        lines=tuple(count for _, count, _ in written),
        contents=tuple(contents for _, _, contents in written),
        settings={"directory": str(home), "topics": topics, "systems": systems, "seed": seed},
        headline=(
            f"Wrote {topics} topics and {systems} runs to {home}.",
            f"Try: surefoot risk --qrels {home}/qrels.txt --run {home}/runs/c*.run "
            "-m nDCG@10 --champion champion",
        ),
    )


@dataclass(frozen=True, slots=True)
class _Topic:
    """One topic's candidates: names, grades, what was judged, systems x candidates scores."""

    documents: list[str]
    grades: npt.NDArray[np.int_]
    judged: npt.NDArray[np.bool_]
    scores: FloatArray
    ranked: npt.NDArray[np.intp]


class _World:
    """All random choices of a collection, drawn topic by topic from streams of their own."""

    def __init__(self, topics: int, systems: int, seed: int) -> None:
        self._seed = seed
        rng = self._stream(0)
        self.topics = tuple(f"q{t + 1:0{max(3, len(str(topics)))}d}" for t in range(topics))
        counts = np.floor(np.array(list(SLICES.values())) * topics).astype(int)
        counts[2] = max(counts[2], 1)
        counts[0] += topics - counts.sum()
        kinds = np.repeat(np.array(list(SLICES)), counts)
        self.slices = tuple(str(k) for k in rng.permutation(kinds))
        self.texts = tuple(_texts(self.slices, rng))
        artifacts = systems - 5
        width = len(str(artifacts))
        self.names = (
            "champion",
            *(f"challenger{i}" for i in range(1, 5)),
            *(f"artifact{i + 1:0{width}d}" for i in range(artifacts)),
        )
        # mean skill of each ranker, and the family whose mistakes it shares
        self._skill = np.concatenate(
            [[1.0, 1.13, 1.55, 1.0, 0.8], rng.normal(0.75, 0.22, artifacts)]
        )
        self._family = np.concatenate(
            [[0, 0, 1, 0, 0], 1 + rng.integers(0, FAMILIES - 1, artifacts)]
        )
        self._pooled = np.ones(systems, dtype=bool)
        self._pooled[1:5] = False

    def _stream(self, index: int) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(key=self._seed, counter=[0, 0, 0, index]))

    def story(self, name: str) -> str:
        """What a ranker is, for the listing."""
        return {
            "champion": "the ranker in production",
            "challenger1": "better throughout",
            "challenger2": "better on the mean, worse on product codes",
            "challenger3": "a near copy of the champion",
            "challenger4": "worse",
        }.get(name, "an older or other ranker")

    def topic(self, t: int) -> "_Topic":
        """The candidates of one topic, what they are worth and how each system ranks them."""
        rng = self._stream(t + 1)
        difficulty = rng.normal(0.0, 0.35)
        relevance = rng.normal(size=CANDIDATES)
        # between a few and some dozens of relevant documents, graded 1 to 3
        share = np.clip(np.exp(rng.normal(-3.0, 0.6)), 4 / CANDIDATES, 0.2)
        order = np.argsort(-relevance)
        grade = np.zeros(CANDIDATES, dtype=int)
        relevant = round(float(share) * CANDIDATES)
        grade[order[:relevant]] = 1
        grade[order[: max(1, relevant // 2)]] = 2
        grade[order[: max(1, relevant // 6)]] = 3

        scores = self._scores(t, relevance, difficulty, rng)
        documents = [f"d{t + 1:03d}-{i:04d}" for i in rng.permutation(CANDIDATES)]
        ranked = np.argsort(-scores, axis=1, kind="stable")[:, :DEPTH]
        judged = np.zeros(CANDIDATES, dtype=bool)
        judged[ranked[self._pooled, :POOL_DEPTH]] = True
        return _Topic(documents, grade, judged, scores, ranked)

    def _scores(
        self, t: int, relevance: FloatArray, difficulty: float, rng: np.random.Generator
    ) -> FloatArray:
        """Systems x candidates scores: skill times relevance plus shared and own mistakes."""
        n = len(self.names)
        interaction = rng.normal(0.0, 0.10, n)
        interaction[[1, 3, 4]] = interaction[0]
        skill = self._skill + difficulty + interaction
        shared = rng.normal(size=(FAMILIES, CANDIDATES))
        common = rng.normal(size=CANDIDATES)
        own = rng.normal(size=(n, CANDIDATES))
        # challengers 1, 3 and 4 descend from the champion and repeat much of what it does
        for child, likeness in ((1, 0.85), (3, 0.995), (4, 0.85)):
            own[child] = likeness * own[0] + np.sqrt(1 - likeness**2) * own[child]
        if self.slices[t] == "product code":
            skill[2] -= 1.15
        noise = 0.45 * common + 0.45 * shared[self._family] + 0.55 * own
        scores: FloatArray = np.maximum(skill, 0.05)[:, None] * relevance + noise
        return 10.0 + 2.0 * scores


def _texts(slices: tuple[str, ...], rng: np.random.Generator) -> Iterator[str]:
    """A readable query for each topic, all different."""
    seen: set[str] = set()
    for kind in slices:
        while True:
            item, other = (_ITEMS[i] for i in rng.choice(len(_ITEMS), 2, replace=False))
            trait = _TRAITS[rng.integers(len(_TRAITS))]
            place = _PLACES[rng.integers(len(_PLACES))]
            if kind == "product code":
                letters = "".join("ABCDEFGHKLMNPRSTVX"[i] for i in rng.integers(0, 18, 2))
                text = f"{item} {letters}-{rng.integers(100, 9999)}"
            elif kind == "question":
                pattern = _QUESTIONS[rng.integers(len(_QUESTIONS))]
                text = pattern.format(item=item, trait=trait, place=place)
            else:
                text = (f"{trait} {item}", f"{item} {other}", f"{trait} {item} for {place}")[
                    rng.integers(3)
                ]
            if text not in seen or len(seen) > 2000:
                seen.add(text)
                yield text
                break
