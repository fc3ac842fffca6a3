"""Every way in which a TREC file is known to be broken, with the one line that says so."""

import bz2
import gzip
import lzma
import zlib

import pytest

from surefoot.errors import InputError
from surefoot.io.join import judge_run
from surefoot.io.trec import read_qrels, read_run

GOOD = b"1 Q0 a 1 3.5 t\n1 Q0 b 2 2.5 t\n"
RUN = "a line of a run has 6 (topic Q0 document rank score tag)"
QRELS = "a line of judgments has 4 (topic iteration document grade)"
COLUMNS = "Hint: the columns are topic Q0 document rank score tag, and ids must not contain blanks"
TWICE = "Hint: remove one, or keep one with duplicates 'first' or 'last'"
FINITE = "Hint: leave the document out or give it a finite number"
COMMA = "Hint: write decimals with a point and thousands without a comma"
CUT = "Hint: the file was cut short; copy or download it again"
AGAIN = "Hint: copy or download the file again"
BINARY = "Hint: the file is binary or damaged"
SWAPPED_RUN = "Hint: these look like judgments; are the judgments and the run swapped?"
SWAPPED_QRELS = "Hint: this looks like a run; are the judgments and the run swapped?"
A_RUN = "Hint: a run has the columns topic Q0 document rank score tag"
JUDGMENTS = "Hint: judgments have the columns topic iteration document grade"


def line(text):
    """A good run with one more line."""
    return GOOD + text + b"\n"


# name: (bytes of the file, message with F for the file's name)
RUNS = {
    "empty": (b"", f"F: the file is empty. {A_RUN}"),
    "a newline": (b"\n", f"F: the file has blank lines only. {A_RUN}"),
    "blanks": (b"  \n\t\n \r\n", f"F: the file has blank lines only. {A_RUN}"),
    "byte order mark only": (b"\xef\xbb\xbf", f"F: the file is empty. {A_RUN}"),
    "one field": (line(b"1"), f"F:3: has 1 field where {RUN}: '1'. Hint: is the line cut short?"),
    "three fields": (
        line(b"1 Q0 c"),
        f"F:3: has 3 fields where {RUN}: '1 Q0 c'. Hint: is the line cut short?",
    ),
    "cut short": (
        GOOD + b"1 Q0 c 3",
        f"F:3: has 4 fields where {RUN}: '1 Q0 c 3'. {SWAPPED_RUN}",
    ),
    "judgments": (b"1 0 a 1\n", f"F:1: has 4 fields where {RUN}: '1 0 a 1'. {SWAPPED_RUN}"),
    "no tag": (
        line(b"1 Q0 c 3 1.5"),
        f"F:3: has 5 fields where {RUN}: '1 Q0 c 3 1.5'. "
        "Hint: is the tag at the end of the line missing?",
    ),
    "blank in an id": (
        line(b"1 Q0 c d 3 1.5 t"),
        f"F:3: has 7 fields where {RUN}: '1 Q0 c d 3 1.5 t'. Hint: ids must not contain blanks",
    ),
    "number in an id": (
        line(b"1 Q0 c 7 3 1.5 t"),
        f"F:3: has 7 fields where {RUN}: '1 Q0 c 7 3 1.5 t'. Hint: ids must not contain blanks",
    ),
    "csv": (
        b"1,Q0,a,1,3.5,t\n",
        f"F:1: has 1 field where {RUN}: '1,Q0,a,1,3.5,t'. "
        "Hint: this looks like CSV; columns of a TREC file are separated by blanks",
    ),
    "semicolons": (
        b"1;Q0;a;1;3.5;t\n",
        f"F:1: has 1 field where {RUN}: '1;Q0;a;1;3.5;t'. "
        "Hint: this looks like CSV; columns of a TREC file are separated by blanks",
    ),
    "json": (
        b'{"1": {"a": 3.5}}\n',
        f'F:1: has 3 fields where {RUN}: \'{{"1": {{"a": 3.5}}}}\'. '
        "Hint: this looks like JSON, not a TREC file",
    ),
    "html": (
        b"<!DOCTYPE html>\n<p>404\n",
        f"F:1: has 2 fields where {RUN}: '<!DOCTYPE html>'. "
        "Hint: this looks like XML or HTML, not a TREC file",
    ),
    "old line ends": (
        b"1 Q0 a 1 3.5 t\r1 Q0 b 2 2.5 t\r",
        f"F:1: has 12 fields where {RUN}: '1 Q0 a 1 3.5 t\\r1 Q0 b 2 2.5 t'. "
        "Hint: the lines end in carriage returns alone; convert them to newlines",
    ),
    "old line ends, cut": (
        b"1 Q0 a 1\r1 Q0 b",
        f"F:1: has 7 fields where {RUN}: '1 Q0 a 1\\r1 Q0 b'. "
        "Hint: the lines end in carriage returns alone; convert them to newlines",
    ),
    "header": (
        b"number Q0 text place similarity tag\n1 Q0 a 1 3.5 t\n",
        "F:1: the score is not a number: 'similarity'. "
        "Hint: this looks like a header; remove the line",
    ),
    "score abc": (line(b"1 Q0 c 3 abc t"), f"F:3: the score is not a number: 'abc'. {COLUMNS}"),
    "score 2_0": (
        line(b"1 Q0 c 3 2_0 t"),
        "F:3: the score is not a number: '2_0'. Hint: digits cannot be grouped with _",
    ),
    "score 2,0": (line(b"1 Q0 c 3 2,0 t"), f"F:3: the score is not a number: '2,0'. {COMMA}"),
    "score 1,234.5": (
        line(b"1 Q0 c 3 1,234.5 t"),
        f"F:3: the score is not a number: '1,234.5'. {COMMA}",
    ),
    "score nan": (
        line(b"1 Q0 c 3 nan t"),
        f"F:3: the score is not a finite number: 'nan'. {FINITE}",
    ),
    "score NaN": (
        line(b"1 Q0 c 3 NaN t"),
        f"F:3: the score is not a finite number: 'NaN'. {FINITE}",
    ),
    "score -nan": (
        line(b"1 Q0 c 3 -nan t"),
        f"F:3: the score is not a finite number: '-nan'. {FINITE}",
    ),
    "score inf": (
        line(b"1 Q0 c 3 inf t"),
        f"F:3: the score is not a finite number: 'inf'. {FINITE}",
    ),
    "score -Infinity": (
        line(b"1 Q0 c 3 -Infinity t"),
        f"F:3: the score is not a finite number: '-Infinity'. {FINITE}",
    ),
    "score 1e400": (
        line(b"1 Q0 c 3 1e400 t"),
        "F:3: the score is too large for a number: '1e400'. Hint: rescale the scores",
    ),
    "score -1e400": (
        line(b"1 Q0 c 3 -1e400 t"),
        "F:3: the score is too large for a number: '-1e400'. Hint: rescale the scores",
    ),
    "score of 400 digits": (
        line(b"1 Q0 c 3 " + b"9" * 400 + b" t"),
        "F:3: the score is too large for a number: '" + "9" * 80 + "...'. Hint: rescale the scores",
    ),
    "score 0x10": (
        line(b"1 Q0 c 3 0x10 t"),
        "F:3: the score is not a number: '0x10'. Hint: write hexadecimal numbers as decimal ones",
    ),
    "score 1.2.3": (
        line(b"1 Q0 c 3 1.2.3 t"),
        f"F:3: the score is not a number: '1.2.3'. {COLUMNS}",
    ),
    "score 1e": (line(b"1 Q0 c 3 1e t"), f"F:3: the score is not a number: '1e'. {COLUMNS}"),
    "score 1e+": (line(b"1 Q0 c 3 1e+ t"), f"F:3: the score is not a number: '1e+'. {COLUMNS}"),
    "score e5": (line(b"1 Q0 c 3 e5 t"), f"F:3: the score is not a number: 'e5'. {COLUMNS}"),
    "score -": (line(b"1 Q0 c 3 - t"), f"F:3: the score is not a number: '-'. {COLUMNS}"),
    "score .": (line(b"1 Q0 c 3 . t"), f"F:3: the score is not a number: '.'. {COLUMNS}"),
    "score --1": (line(b"1 Q0 c 3 --1 t"), f"F:3: the score is not a number: '--1'. {COLUMNS}"),
    "score +-1": (line(b"1 Q0 c 3 +-1 t"), f"F:3: the score is not a number: '+-1'. {COLUMNS}"),
    "score 5%": (line(b"1 Q0 c 3 5% t"), f"F:3: the score is not a number: '5%'. {COLUMNS}"),
    "score 2.5f": (line(b"1 Q0 c 3 2.5f t"), f"F:3: the score is not a number: '2.5f'. {COLUMNS}"),
    "score 1d5": (line(b"1 Q0 c 3 1d5 t"), f"F:3: the score is not a number: '1d5'. {COLUMNS}"),
    "score in quotes": (
        line(b'1 Q0 c 3 "2.5" t'),
        "F:3: the score is not a number: '\"2.5\"'. Hint: remove the quotes",
    ),
    "score in Arabic digits": (
        line("1 Q0 c 3 ٣ t".encode()),
        f"F:3: the score is not a number: '٣'. {COLUMNS}",
    ),
    "score None": (line(b"1 Q0 c 3 None t"), f"F:3: the score is not a number: 'None'. {COLUMNS}"),
    "score tensor(2.5)": (
        line(b"1 Q0 c 3 tensor(2.5) t"),
        f"F:3: the score is not a number: 'tensor(2.5)'. {COLUMNS}",
    ),
    "rank abc": (line(b"1 Q0 c abc 1.5 t"), f"F:3: the rank is not a number: 'abc'. {COLUMNS}"),
    "rank nan": (
        line(b"1 Q0 c nan 1.5 t"),
        f"F:3: the rank is not a finite number: 'nan'. {FINITE}",
    ),
    "NUL": (
        line(b"1 Q0 c\0 3 1.5 t"),
        f"F:3: has the byte 0x00, which no text has: '1 Q0 c\\x00 3 1.5 t'. {BINARY}",
    ),
    "escape": (
        line(b"1 Q0 \x1b[1mc 3 1.5 t"),
        f"F:3: has the byte 0x1b, which no text has: '1 Q0 \\x1b[1mc 3 1.5 t'. {BINARY}",
    ),
    "utf-16": (
        "1 Q0 a 1 3.5 t\n".encode("utf-16"),
        "F: is UTF-16 text, not UTF-8 text. Hint: save it as UTF-8",
    ),
    "utf-16 without mark": (
        "1 Q0 a 1 3.5 t\n".encode("utf-16-le"),
        "F:1: has the byte 0x00, which no text has: '1\\x00 \\x00Q\\x000\\x00 \\x00a\\x00 \\x001"
        "\\x00 \\x003\\x00.\\x005\\x00 \\x00t\\x00'. "
        "Hint: the file looks like UTF-16; save it as UTF-8",
    ),
    "elf": (
        b"\x7fELF\x02\x01\x01\n",
        "F:1: has the byte 0x02, which no text has: '\\x7fELF\\x02\\x01\\x01'. " + BINARY,
    ),
    "zip": (
        b"PK\x03\x04rest",
        "F: is a zip archive, not UTF-8 text. Hint: unpack it to plain text first",
    ),
    "lz4": (
        b"\x04\x22\x4d\x18rest",
        "F: is an lz4 file, not UTF-8 text. Hint: unpack it to plain text first",
    ),
    "twice": (
        line(b"1 Q0 a 3 1.5 t"),
        f"F:3: document 'a' occurs twice for topic '1'. {TWICE}",
    ),
    "twice, next to each other": (
        b"1 Q0 a 1 3.5 t\n1 Q0 a 1 3.5 t\n",
        f"F:2: document 'a' occurs twice for topic '1'. {TWICE}",
    ),
    "twice behind blank lines": (
        GOOD + b"\n\r\n1 Q0 a 3 1.5 t\n",
        f"F:5: document 'a' occurs twice for topic '1'. {TWICE}",
    ),
    "twice in a later topic": (
        GOOD + b"2 Q0 a 1 2 t\n2 Q0 b 2 1 t\n2 Q0 b 3 1 t\n",
        f"F:5: document 'b' occurs twice for topic '2'. {TWICE}",
    ),
    "twice in a scattered topic": (
        GOOD + b"2 Q0 a 1 2 t\n1 Q0 b 3 1 t\n",
        f"F:4: document 'b' occurs twice for topic '1'. {TWICE}",
    ),
    "twice in an unjudged topic": (
        GOOD + b"9 Q0 a 1 2 t\n9 Q0 a 2 1 t\n",
        f"F:4: document 'a' occurs twice for topic '9'. {TWICE}",
    ),
    "gz cut short": (gzip.compress(GOOD)[:-9], f"F: the gz data end too early. {CUT}"),
    "gz damaged": (
        gzip.compress(GOOD)[:-8] + b"\0" * 8,
        f"F: the gz data are damaged (CRC check failed 0x0 != {zlib.crc32(GOOD):#x}). {AGAIN}",
    ),
    "gz with rubbish behind": (
        gzip.compress(GOOD) + b"rubbish",
        f"F: the gz data are damaged (Not a gzipped file (b'ru')). {AGAIN}",
    ),
    "bz2 cut short": (bz2.compress(GOOD)[:-9], f"F: the bz2 data end too early. {CUT}"),
    "bz2 damaged": (b"BZh9rubbish", f"F: the bz2 data are damaged (Invalid data stream). {AGAIN}"),
    "xz cut short": (lzma.compress(GOOD)[:-9], f"F: the xz data end too early. {CUT}"),
    "gz of bad lines": (
        gzip.compress(line(b"1 Q0 c 3 abc t")),
        f"F:3: the score is not a number: 'abc'. {COLUMNS}",
    ),
    "gz of nothing": (gzip.compress(b""), f"F: the file is empty. {A_RUN}"),
    "table without scores": (
        b"qid,docno,rank\n1,a,1\n",
        "F:1: the table has no score column for a run among 'qid', 'docno', 'rank'. "
        "Hint: call it 'score'",
    ),
    "table with text": (
        b"qid,docno,score\n1,a,x\n",
        "F:2: the score is not a finite number: 'x'",
    ),
    "table with a document twice": (
        b"qid,docno,score\n1,a,2\n1,a,1\n",
        f"F:3: document 'a' occurs twice for topic '1'. {TWICE}",
    ),
    "table with a hole": (b"qid,docno,score\n1,a,\n", "F:2: the score is not a finite number: ''"),
    "other topics": (
        b"7 Q0 a 1 3.5 t\n",
        "run 'run' and Q have no topic in common (1 and 1 topics). Hint: the run has topics '7', "
        "the judgments '1'; they look like different collections",
    ),
    "padded topics": (
        b"001 Q0 a 1 3.5 t\n",
        "run 'run' and Q have no topic in common (1 and 1 topics). Hint: the ids differ by leading "
        "zeros: '001' in the run, '1' in the judgments",
    ),
    "prefixed topics": (
        b"wt-1 Q0 a 1 3.5 t\n",
        "run 'run' and Q have no topic in common (1 and 1 topics). Hint: the ids differ by a "
        "prefix: 'wt-1' in the run, '1' in the judgments",
    ),
    "topics of a float frame": (
        b"1.0 Q0 a 1 3.5 t\n",
        "run 'run' and Q have no topic in common (1 and 1 topics). Hint: the ids differ by a "
        "trailing '.0', as a data frame of floats writes them: '1.0' in the run, '1' in the "
        "judgments",
    ),
}

JUDGED = {
    "empty": (b"", f"F: the file is empty. {JUDGMENTS}"),
    "a run": (
        b"1 Q0 a 1 3.5 t\n",
        f"F:1: has 6 fields where {QRELS}: '1 Q0 a 1 3.5 t'. {SWAPPED_QRELS}",
    ),
    "no iteration": (
        b"1 a 1\n",
        f"F:1: has 3 fields where {QRELS}: '1 a 1'. Hint: is the second column (0) missing?",
    ),
    "blank in an id": (
        b"1 0 a b 1\n",
        f"F:1: has 5 fields where {QRELS}: '1 0 a b 1'. Hint: ids must not contain blanks",
    ),
    "grade abc": (
        b"1 0 a 1\n1 0 b abc\n",
        "F:2: the grade is not a number: 'abc'. "
        "Hint: the columns are topic iteration document grade",
    ),
    "grade nan": (b"1 0 a nan\n", f"F:1: the grade is not a finite number: 'nan'. {FINITE}"),
    "grade 1e400": (
        b"1 0 a 1e400\n",
        "F:1: the grade is too large for a number: '1e400'. Hint: rescale the scores",
    ),
    "grade 1_0": (
        b"1 0 a 1_0\n",
        "F:1: the grade is not a number: '1_0'. Hint: digits cannot be grouped with _",
    ),
    "header": (
        b"number iteration text judged\n1 0 a 1\n",
        "F:1: the grade is not a number: 'judged'. Hint: this looks like a header; remove the line",
    ),
    "twice": (
        b"1 0 a 1\n1 0 b 1\n1 0 a 0\n",
        f"F:3: document 'a' occurs twice for topic '1'. {TWICE}",
    ),
    "twice, scattered": (
        b"1 0 a 1\n2 0 b 1\n1 0 a 0\n",
        f"F:3: document 'a' occurs twice for topic '1'. {TWICE}",
    ),
    "NUL": (
        b"1 0 a\0 1\n",
        f"F:1: has the byte 0x00, which no text has: '1 0 a\\x00 1'. {BINARY}",
    ),
    "beir without grades": (
        b"query-id\tcorpus-id\n1\ta\n",
        "F:1: the table has no grade column for judgments among 'query-id', 'corpus-id'. "
        "Hint: call it 'relevance' or 'label' or 'grade'",
    ),
}


def test_the_corpus_is_large():
    assert len(RUNS) + len(JUDGED) >= 60


@pytest.mark.parametrize(("data", "message"), RUNS.values(), ids=RUNS)
def test_each_broken_run_is_explained(tmp_path, data, message):
    path, qrels = tmp_path / "run", tmp_path / "qrels"
    path.write_bytes(data)
    qrels.write_text("1 0 a 1\n1 0 b 0\n")
    with pytest.raises(ValueError) as caught:
        judge_run(qrels, path)
    assert str(caught.value) == message.replace("F", str(path), 1).replace(
        " Q have", f" {qrels} have"
    )
    # the reader that keeps everything finds the same fault
    if "no topic in common" not in message:
        with pytest.raises(InputError) as again:
            read_run(path)
        assert str(again.value) == str(caught.value)


@pytest.mark.parametrize(("data", "message"), JUDGED.values(), ids=JUDGED)
def test_each_broken_qrels_file_is_explained(tmp_path, data, message):
    path = tmp_path / "qrels"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_qrels(path)
    assert str(caught.value) == message.replace("F", str(path), 1)


def test_paths_that_cannot_be_read_are_explained(tmp_path):
    (tmp_path / "results.run").write_bytes(GOOD)
    with pytest.raises(InputError, match=r"is a folder\. Hint: name the files in it"):
        read_run(tmp_path)
    with pytest.raises(
        InputError, match=r"No such file or directory. Hint: did you mean '.*results"
    ):
        read_run(tmp_path / "result.run")
    with pytest.raises(InputError, match=r"Hint: there is no folder '.*nowhere'"):
        read_run(tmp_path / "nowhere" / "a.run")


@pytest.mark.parametrize("threads", [2, 3])
def test_a_bad_line_far_into_a_big_file_has_its_number(tmp_path, monkeypatch, threads):
    monkeypatch.setattr("surefoot.io.join._PART", 1000)
    lines = [b"%d Q0 d%d %d %d t\n" % (i // 50, i, i % 50 + 1, -i) for i in range(2000)]
    lines[1234] = b"\n"
    lines[1500] = lines[1500].replace(b" t", b" t t").replace(b"Q0", b"Q0 x")
    path = tmp_path / "run"
    path.write_bytes(b"".join(lines))
    with pytest.raises(InputError, match=rf"^{path}:1501: has 8 fields"):
        judge_run({"1": {"a": 1}}, path, threads=threads)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_a_line_without_end_is_refused_before_it_fills_the_memory(tmp_path, packed):
    path, qrels = tmp_path / "run", tmp_path / "qrels"
    data = b"a" * (66 << 20)
    path.write_bytes(gzip.compress(data, 1) if packed else data)
    qrels.write_text("1 0 a 1\n")
    with pytest.raises(InputError, match=r"run:1: is longer than 64 MB: 'aaa"):
        judge_run(read_qrels(qrels), str(path), threads=2)
