import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.errors import MeasureError
from surefoot.metrics.grammar import MEASURES, parse_measure, parse_measures

CANONICAL = [
    *("P@5", "P(rel=2)@5", "P(rel=1.5)@5", "R@100", "R", "RR", "RR@10", "AP", "AP@100"),
    *("nDCG", "nDCG@10", "nDCG(gain='exp')@20", "nDCG(gain='binary',rel=2)", "DCG@10", "CG@10"),
    *("nDCG(gain={1.0:3.0,2.0:9.0,4.0:4.5})", "DCG(gain='exp',discount='letor')@10"),
    *("ERR@20", "ERR(max_rel=4)@20", "ERR(variant='thesis')", "RBP(p=0.8)", "RBP(p=0.95,rel=1)"),
    *("INST(T=3)", "INST(T=0.75)", "bpref", "bpref(rel=2)", "Rprec", "Success@1", "Judged@10"),
    *("Judged", "kcall(k=3)@10", "R-Loss@20", "GM(AP)", "GM(nDCG@10)", "SetP", "NumQ", "NumRet"),
]


@pytest.mark.parametrize("text", CANONICAL)
def test_a_name_is_its_own_parse(text):
    measure = parse_measure(text)
    assert str(measure) == text
    assert parse_measure(str(measure)) == measure


@given(
    name=st.sampled_from(["RBP", "INST", "P", "kcall", "nDCG", "ERR", "GM"]),
    number=st.floats(0.5, 0.999999),
    cutoff=st.integers(1, 10**6),
    rel=st.one_of(st.none(), st.integers(-2, 9), st.floats(0, 9)),
)
def test_every_number_survives_the_round_trip(name, number, cutoff, rel):
    extra = "" if rel is None else f",rel={rel!r}"
    text = {
        "RBP": f"RBP(p={number!r}{extra})",
        "INST": f"INST(T={number!r}{extra})",
        "P": f"P({extra[1:]})@{cutoff}" if extra else f"P@{cutoff}",
        "kcall": f"kcall(k={max(1, cutoff // 2)}{extra})@{cutoff}",
        "nDCG": f"nDCG(gain={{1:{number!r}}}{extra})@{cutoff}",
        "ERR": f"ERR(max_rel={number!r})@{cutoff}",
        "GM": f"GM(P@{cutoff})",
    }[name]
    measure = parse_measure(text)
    assert parse_measure(str(measure)) == measure


@pytest.mark.parametrize(
    ("trec_eval", "ours"),
    [
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("ndcg", "nDCG"),
        ("map", "AP"),
        ("map_cut_100", "AP@100"),
        ("recip_rank", "RR"),
        ("P_5", "P@5"),
        ("P.5", "P@5"),
        ("recall_100", "R@100"),
        ("success_1", "Success@1"),
        ("set_P", "SetP"),
        ("set_recall", "R"),
        ("bpref", "bpref"),
        ("Rprec", "Rprec"),
        ("rbp.p=0.8", "RBP(p=0.8)"),
        ("rbp_p=0.8", "RBP(p=0.8)"),
        ("rbp", "RBP(p=0.9)"),
        ("gm_map", "GM(AP)"),
        ("gm_bpref", "GM(bpref)"),
        ("ndcg.1=3,2=9,4=4.5", "nDCG(gain={1.0:3.0,2.0:9.0,4.0:4.5})"),
        ("num_rel_ret", "NumRelRet"),
    ],
)
def test_trec_eval_spellings(trec_eval, ours):
    assert str(parse_measure(trec_eval)) == ours


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("nDCG(dcg='exp-log2')@10", "nDCG(gain='exp')@10"),
        ("nDCG(gains={0:0,1:2})@10", "nDCG(gain={0.0:0.0,1.0:2.0})@10"),
        ("ndcg@10", "nDCG@10"),
        ("mrr@10", "RR@10"),
        ("map@100", "AP@100"),
        ("recall@100", "R@100"),
        ('ERR( variant = "thesis" )@20', "ERR(variant='thesis')@20"),
    ],
)
def test_spellings_of_ir_measures_and_ranx(theirs, ours):
    assert str(parse_measure(theirs)) == ours


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        (["nDCG@10,AP"], ["nDCG@10", "AP"]),
        (["nDCG@10", "AP", "AP"], ["nDCG@10", "AP"]),
        (["P.5,10,map"], ["P_5", "P_10", "map"]),
        (["RBP(p=0.8,rel=1), INST(T=3)"], ["RBP(p=0.8,rel=1)", "INST(T=3)"]),
        (["success"], ["success_1", "success_5", "success_10"]),
        (["nDCG(gain={1:3,2:9})@5,RR"], ["nDCG(gain={1.0:3.0,2.0:9.0})@5", "RR"]),
    ],
)
def test_lists_and_families(texts, labels):
    assert [r.label for r in parse_measures(texts)] == labels


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nDGC@10", "there is no measure 'nDGC@10'. Hint: did you mean nDCG@10"),
        ("map_ct_10", "did you mean map_cut_10"),
        ("P@0", "P@k needs k of at least 1, but got 0"),
        ("P@-1", "after @ comes a whole number, not '-1'"),
        ("nDCG@1.5", "after @ comes a whole number, not '1.5'"),
        ("bpref@10", "bpref takes no @k"),
        ("Success", "Success needs the number of ranks to look at. Hint: Success@10"),
        ("INST", "INST needs T, the number of useful documents that the user wants"),
        ("INST(T=0.2)", "INST needs T of at least 1/2, but got T=0.2"),
        ("RBP(p=1)", "RBP needs 0 <= p < 1, but got p=1"),
        ("RBP(p=abc)", "p is a number, not abc"),
        ("RBP(0.8)", "options are written name=value, separated by commas, not '0.8'"),
        ("RBP(p=0.8,p=0.9)", "the option 'p' is given twice"),
        ("AP(k=3)", "AP has no option 'k'; it takes rel"),
        ("AP(", "a bracket is not closed"),
        ("", "a measure's name is empty"),
        ("kcall(k=11)@10", "needs k between 1 and 10, but got 11"),
        ("kcall(k=1.5)@10", "k is a whole number, not 1.5"),
        ("nDCG(gain='log')", "gain must be one of linear, exp, binary or a map"),
        ("nDCG(gain={1:-1})", "the gain of grade 1 must not be negative"),
        ("nDCG(gain={1})", "a gain map is written grade:gain, not '1'"),
        ("DCG(discount='e')", "discount must be one of log2, letor, but got 'e'"),
        ("ERR(variant='x')", "variant must be one of chapelle, thesis, but got 'x'"),
        ("ERR(max_rel=0)", "max_rel must be above 0, but got 0"),
        ("GM(NumRet)", "NumRet has no geometric mean"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(text, message):
    with pytest.raises(MeasureError) as caught:
        parse_measure(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_measure_is_named_once():
    names = [m.NAME.lower() for m in MEASURES]
    assert len(set(names)) == len(names)
