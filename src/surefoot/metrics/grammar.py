"""Measures by name: ``nDCG@10``, ``RBP(p=0.8)``, and trec_eval's ``ndcg_cut_10``, ``rbp.p=0.8``."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any

from surefoot.errors import MeasureError
from surefoot.metrics.average_precision import AveragePrecision
from surefoot.metrics.bpref import BinaryPreference
from surefoot.metrics.counts import Relevant, RelevantRetrieved, Retrieved, Topics
from surefoot.metrics.cumulated_gain import CumulatedGain, DiscountedGain
from surefoot.metrics.err import ExpectedReciprocalRank
from surefoot.metrics.gains import GainName
from surefoot.metrics.geometric_mean import GeometricMean
from surefoot.metrics.inst import Inst
from surefoot.metrics.judged import Judged
from surefoot.metrics.k_call import KCall
from surefoot.metrics.measure import Measure
from surefoot.metrics.ndcg import NormalisedGain
from surefoot.metrics.precision import Precision, SetPrecision
from surefoot.metrics.r_precision import RPrecision
from surefoot.metrics.rbp import RankBiasedPrecision
from surefoot.metrics.recall import Recall
from surefoot.metrics.reciprocal_rank import ReciprocalRank
from surefoot.metrics.relevance_loss import RelevanceLoss
from surefoot.metrics.success import Success

MEASURES: tuple[type[Measure], ...] = (
    Precision,
    Recall,
    ReciprocalRank,
    AveragePrecision,
    NormalisedGain,
    DiscountedGain,
    CumulatedGain,
    ExpectedReciprocalRank,
    RankBiasedPrecision,
    Inst,
    BinaryPreference,
    RPrecision,
    Success,
    KCall,
    Judged,
    RelevanceLoss,
    SetPrecision,
    Topics,
    Retrieved,
    Relevant,
    RelevantRetrieved,
)

_BY_NAME = {m.NAME.lower(): m for m in MEASURES}
# further spellings in use, without their options
_BY_NAME |= {
    "precision": Precision,
    "recall": Recall,
    "setr": Recall,
    "mrr": ReciprocalRank,
    "map": AveragePrecision,
    "rloss": RelevanceLoss,
}

# trec_eval's names: without numbers, and with ranks (whose defaults follow)
_TREC_PLAIN = {
    "map": AveragePrecision,
    "recip_rank": ReciprocalRank,
    "ndcg": NormalisedGain,
    "bpref": BinaryPreference,
    "Rprec": RPrecision,
    "set_recall": Recall,
    "set_P": SetPrecision,
    "num_q": Topics,
    "num_ret": Retrieved,
    "num_rel": Relevant,
    "num_rel_ret": RelevantRetrieved,
}
_CUTS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_TREC_CUT: dict[str, tuple[type[Measure], tuple[int, ...]]] = {
    "P": (Precision, _CUTS),
    "recall": (Recall, _CUTS),
    "ndcg_cut": (NormalisedGain, _CUTS),
    "map_cut": (AveragePrecision, _CUTS),
    "success": (Success, (1, 5, 10)),
}
_OFFICIAL = (
    *("num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref"),
    *("recip_rank", "P"),
)

_NAME = re.compile(r"(?P<name>[A-Za-z][A-Za-z-]*)(?:\((?P<options>.*)\))?(?:@(?P<cutoff>.+))?")
_OPTION = re.compile(
    r"\s*(?P<key>[A-Za-z_]+)\s*=\s*(?P<value>\{[^}]*\}|'[^']*'|\"[^\"]*\"|[^,'\"{}]+)"
)


@dataclass(frozen=True, slots=True)
class Requested:
    """A measure and the name it was asked for by, in trec_eval's spelling if that was used."""

    label: str
    measure: Measure


def parse_measure(text: str) -> Measure:
    """The measure of one name.

    Examples
    --------
    >>> str(parse_measure("ndcg_cut_10"))
    'nDCG@10'
    """
    found = parse_measures([text])
    if len(found) != 1:
        raise MeasureError(f"{text!r} names {len(found)} measures, not one")
    return found[0].measure


def parse_measures(texts: Iterable[str | Measure]) -> list[Requested]:
    """All measures of some names, each of which may be a comma list or a trec_eval family."""
    out: dict[str, Requested] = {}
    for text in texts:
        if isinstance(text, Measure):
            out.setdefault(str(text), Requested(str(text), text))
            continue
        for part in _split(text):
            for requested in _one_name(part):
                out.setdefault(requested.label, requested)
    return list(out.values())


def _split(text: str) -> list[str]:
    """Split at commas outside brackets; a bare number belongs to the name before (``P.5,10``)."""
    parts: list[str] = []
    depth = 0
    current = ""
    for character in f"{text},":
        depth += (character in "({") - (character in ")}")
        if character != "," or depth > 0:
            current += character
            continue
        piece = current.strip()
        current = ""
        if parts and re.fullmatch(r"[\d.]+(=[\d.]+)?", piece):
            parts[-1] += f",{piece}"
        elif piece:
            parts.append(piece)
    if depth != 0:
        raise MeasureError(f"{text!r}: a bracket is not closed")
    if not parts:
        raise MeasureError("a measure's name is empty. Hint: nDCG@10, AP, RBP(p=0.8)")
    return parts


def _one_name(text: str) -> list[Requested]:
    trec = _trec_eval(text)
    if trec is not None:
        return trec
    measure = _own(text)
    return [Requested(str(measure), measure)]


def _own(text: str) -> Measure:
    inner = re.fullmatch(r"GM\((.+)\)", text, flags=re.IGNORECASE)
    if inner:
        return GeometricMean(of=_own(inner[1]))
    match = _NAME.fullmatch(text)
    kind = _BY_NAME.get(match["name"].lower()) if match else None
    if match is None or kind is None:
        raise MeasureError(unknown_measure(text))
    options = _options(kind, text, match["options"] or "")
    if match["cutoff"] is not None:
        if "cutoff" not in _fields(kind):
            raise MeasureError(f"{text!r}: {kind.NAME} takes no @k")
        if not re.fullmatch(r"[0-9]{1,18}", match["cutoff"]):
            raise MeasureError(f"{text!r}: after @ comes a whole number, not {match['cutoff']!r}")
        options["cutoff"] = int(match["cutoff"])
    return kind(**options)


def _fields(kind: type[Measure]) -> list[str]:
    return [f.name for f in fields(kind)]


def _options(kind: type[Measure], text: str, options: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    known = [name for name in _fields(kind) if name != "cutoff"]
    position = 0
    while position < len(options.rstrip()):
        match = _OPTION.match(options, position)
        if match is None or (match.end() < len(options) and options[match.end()] not in ", "):
            raise MeasureError(
                f"{text!r}: options are written name=value, separated by commas, "
                f"not {options[position:].strip()!r}"
            )
        key, value = _translate(match["key"], match["value"].strip())
        if key not in known:
            takes = f"takes {', '.join(known)}" if known else "takes no options"
            raise MeasureError(f"{text!r}: {kind.NAME} has no option {match['key']!r}; it {takes}")
        if key in out:
            raise MeasureError(f"{text!r}: the option {key!r} is given twice")
        out[key] = _value(key, value, text)
        position = match.end()
        while position < len(options) and options[position] in ", ":
            position += 1
    return out


def _translate(key: str, value: str) -> tuple[str, str]:
    """ir_measures' words for the same options."""
    if key == "dcg":
        return "gain", {"'log2'": "'linear'", "'exp-log2'": "'exp'"}.get(value, value)
    return ("gain" if key == "gains" else key), value


def _value(key: str, value: str, text: str) -> Any:
    if key == "gain" and value[:1] == "{":
        return _gain_map(value[1:-1], ":", text)
    if key in ("gain", "discount", "variant"):
        return value.strip("'\"")
    number = _number(value)
    if number is None:
        raise MeasureError(f"{text!r}: {key} is a number, not {value}")
    if key == "k":
        if number != int(number):
            raise MeasureError(f"{text!r}: k is a whole number, not {value}")
        return int(number)
    return number


def _number(text: str) -> float | None:
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text):
        return None
    return float(text)


def _gain_map(pairs: str, between: str, text: str) -> GainName:
    out: dict[float, float] = {}
    for pair in pairs.split(","):
        grade, _, value = pair.partition(between)
        numbers = _number(grade.strip()), _number(value.strip())
        if numbers[0] is None or numbers[1] is None:
            raise MeasureError(
                f"{text!r}: a gain map is written grade{between}gain, not {pair.strip()!r}"
            )
        out[numbers[0]] = numbers[1]
    return tuple(sorted(out.items()))


# -- trec_eval's spelling ------------------------------------------------------------------------


def _trec_eval(text: str) -> list[Requested] | None:
    """Measures of a trec_eval name, or None if it is not one."""
    if text == "official":
        return [r for name in _OFFICIAL for r in _trec_eval(name) or []]
    if text.startswith("gm_"):
        inner = _trec_eval(text.removeprefix("gm_"))
        return inner and [Requested(f"gm_{r.label}", GeometricMean(of=r.measure)) for r in inner]
    if text in _TREC_PLAIN:
        return [Requested(text, _TREC_PLAIN[text]())]
    if text == "rbp":
        return [Requested(text, RankBiasedPrecision(p=0.9))]  # trec_eval's default
    match = re.fullmatch(
        r"(?P<name>P|recall|ndcg_cut|map_cut|success)([._](?P<cuts>\d+(,\d+)*))?", text
    )
    if match:
        kind, cuts = _TREC_CUT[match["name"]]
        if match["cuts"] is not None:
            cuts = tuple(int(k) for k in match["cuts"].split(","))
        make: Callable[..., Measure] = kind
        return [Requested(f"{match['name']}_{k}", make(cutoff=k)) for k in cuts]
    match = re.fullmatch(r"rbp[._]p=(?P<p>.+)", text)
    if match:
        p = _number(match["p"])
        if p is None:
            raise MeasureError(f"{text!r}: p is a number, not {match['p']}")
        return [Requested(f"rbp_p={match['p']}", RankBiasedPrecision(p=p))]
    match = re.fullmatch(r"ndcg[._](?P<gains>[\d.]+=.+)", text)
    if match:
        gain = _gain_map(match["gains"], "=", text)
        return [Requested(f"ndcg_{match['gains']}", NormalisedGain(gain=gain))]
    return None


def unknown_measure(text: str) -> str:
    """One line for a name that is none, with the nearest that are."""
    from difflib import get_close_matches

    known = [_example(m) for m in MEASURES]
    known += [*_TREC_PLAIN, *(f"{name}_10" for name in _TREC_CUT), "gm_map", "rbp.p=0.8"]
    by_lower = {name.lower(): name for name in known}
    near = get_close_matches(text.lower(), by_lower, n=3, cutoff=0.5)
    if not near:
        stem = re.split(r"[@(._]", text.lower())[0]
        by_stem = {re.split(r"[@(._]", name.lower())[0]: name for name in known}
        near_stems = get_close_matches(stem, by_stem, n=3, cutoff=0.6)
        names = [by_stem[s] for s in near_stems]
    else:
        names = [by_lower[n] for n in near]
    hint = (
        f"did you mean {' or '.join(names)}?"
        if names
        else f"known are {', '.join(m.NAME for m in MEASURES)}"
    )
    return f"there is no measure {text!r}. Hint: {hint}"


def _example(kind: type[Measure]) -> str:
    options = {"p": "p=0.8", "T": "T=3", "k": "k=3"}
    shown = ",".join(options[name] for name in kind.SHOWN)
    ending = "@10" if "cutoff" in _fields(kind) and kind not in (RankBiasedPrecision, Inst) else ""
    return f"{kind.NAME}({shown}){ending}" if shown else f"{kind.NAME}{ending}"
