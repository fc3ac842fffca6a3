"""The docs say what the programs do: every block runs, every link leads somewhere."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
ERRATUM = re.compile(r"\b(?:TRisk|Active|INST|ZRisk|thesis)-\d+\b")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def script(name):
    """One of the programs beside the pages."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


blocks, generate_reference = script("blocks"), script("generate_reference")
PAGES = sorted(DOCS.rglob("*.md"))
ROOT_PAGES = sorted(ROOT.glob("*.md"))


def name_of(page):
    return str(page.relative_to(ROOT))


def links(page):
    """(target, anchor) of each link of a page that stays in this repository."""
    for target in LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8"))):
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            yield (page.parent / path).resolve() if path else page.resolve(), anchor


def anchors(page):
    """What headings can be linked by, as GitHub names them."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


@pytest.mark.parametrize("page", blocks.pages(), ids=name_of)
def test_every_block_prints_what_the_page_says(page):
    assert blocks.rendered(page) == page.read_text(encoding="utf-8"), "run `make docs`"


@pytest.mark.parametrize("page", generate_reference.PAGES)
def test_the_reference_and_the_index_are_up_to_date(page):
    written = (DOCS / page).read_text(encoding="utf-8")
    assert written == generate_reference.PAGES[page](), "run `make docs`"


@pytest.mark.parametrize("page", [*PAGES, *ROOT_PAGES], ids=name_of)
def test_every_link_leads_somewhere(page):
    for target, anchor in links(page):
        assert target.exists(), f"{target} does not exist"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{target} has no heading #{anchor}"


def test_every_page_is_reachable_from_the_index():
    found, waiting = set(), [DOCS / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in found or page.suffix != ".md":
            continue
        found.add(page)
        waiting += [target for target, _ in links(page) if target.exists()]
    assert {name_of(p) for p in set(PAGES) - found} == set()
    assert DOCS / "README.md" in {target for target, _ in links(ROOT / "README.md")}


def test_every_erratum_that_code_cites_is_on_the_page():
    page = (DOCS / "method" / "errata.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- \*\*([\w-]+)\.\*\*", page, re.MULTILINE)
    assert len(listed) == len(set(listed))
    folders = (ROOT / name for name in ("src", "cpp", "tests", "benchmarks"))
    sources = [p for f in folders for p in f.rglob("*") if p.suffix in (".py", ".cpp", ".hpp")]
    texts = (path.read_text(encoding="utf-8") for path in sources)
    cited = {c for text in texts for c in re.findall(ERRATUM, text)}
    assert cited, "nothing cites an erratum"
    assert cited - set(listed) == set()
