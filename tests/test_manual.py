"""README and manual: what they link to exists, what they show is made by one command, and they open offline."""

from __future__ import annotations

import ast
import importlib.util
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

import dev

MANUAL = dev.ROOT / "addon" / "manual"
TEXTS = (dev.ROOT / "README.md", dev.ROOT / "CHANGELOG.md", *sorted(MANUAL.glob("*.md")))
LINK = re.compile(r"!?\[(?:[^\[\]]|!\[[^\]]*\]\([^)]*\))*\]\(([^)\s]+)\)")
ZIP_GROWTH = 2_000_000  # bytes that the manual may add to a zip

# By its file: `addon` itself cannot be imported without Blender.
spec = importlib.util.spec_from_file_location("manual_pages", dev.ROOT / "addon" / "ui" / "manual_pages.py")
manual_pages = importlib.util.module_from_spec(spec)
spec.loader.exec_module(manual_pages)


def without_code(text: str) -> str:
    return re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)


def links(path: Path) -> list[str]:
    """All that a text links to and shows, also a picture within a link."""
    text = without_code(path.read_text(encoding="utf-8"))
    return [*LINK.findall(text), *re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", text)]


def headings(path: Path) -> set[str]:
    lines = without_code(path.read_text(encoding="utf-8")).splitlines()
    return {manual_pages.anchor(line.lstrip("#").strip()) for line in lines if line.startswith("#")}


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_every_link_and_picture_is_there(path):
    for link in links(path):
        if link.startswith(("http:", "https:")):
            continue
        file, _, place = link.partition("#")
        target = path.parent / file if file else path
        assert target.is_file(), f"{path.name} links to {link}"
        if place:
            assert place in headings(target), f"{path.name} links to {link}"


def test_a_missing_link_would_be_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("[![shown](a.png)](b.gif) and [page](c.md#there), `[no](link.md)`\n")
    assert sorted(set(links(page))) == ["a.png", "b.gif", "c.md#there"]


def test_every_page_is_in_the_contents_and_linked_from_the_first():
    names = [name for name, _ in manual_pages.CONTENTS]
    assert sorted(names) == sorted(path.stem for path in MANUAL.glob("*.md"))
    first = set(links(MANUAL / "index.md"))
    assert {f"{name}.md" for name in names[1:]} <= first


def test_no_picture_lies_about_unseen():
    shown = {(path.parent / link).resolve() for path in TEXTS for link in links(path) if "://" not in link}
    for folder in (MANUAL / "pictures", dev.ROOT / "sample_scenes" / "pictures"):
        for path in folder.iterdir():
            assert path.resolve() in shown, f"no page shows {path.name}"


def test_every_picture_of_the_manual_is_made_by_the_command():
    """By reading figures.py, which needs Blender to be run."""
    tree = ast.parse((dev.ROOT / "sample_scenes" / "figures.py").read_text(encoding="utf-8"))
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Figure", "Screenshots")
    ]
    made = {f"{call.args[0].value}.webp" for call in calls}
    assert len(made) == len(calls) > 20
    assert {path.name for path in (MANUAL / "pictures").glob("*.webp")} == made
    assert "pictures" in dev.COMMANDS


def test_the_manual_is_small():
    assert sum(path.stat().st_size for path in MANUAL.rglob("*") if path.is_file()) < ZIP_GROWTH


class Page(HTMLParser):
    """What a page refers to, and whether its tags are closed in order."""

    ALONE = ("meta", "img", "br")

    def __init__(self, text: str):
        super().__init__()
        self.targets, self.ids, self.open, self.text = [], set(), [], ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.targets += [found[key] for key in ("href", "src") if key in found]
        self.ids |= {found["id"]} if "id" in found else set()
        if tag not in self.ALONE:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_the_pages_open_offline(tmp_path):
    first = manual_pages.write(tmp_path)
    assert first == tmp_path / "index.html"
    pages = {path.name: Page(path.read_text(encoding="utf-8")) for path in tmp_path.glob("*.html")}
    assert len(pages) == len(manual_pages.CONTENTS)
    for page in pages.values():
        for target in page.targets:
            url = urlparse(target)
            assert url.scheme in ("", "file")
            if url.scheme == "file":
                assert Path(unquote(url.path)).is_file()
            else:
                assert not url.path or url.path in pages
                assert not url.fragment or url.fragment in pages[url.path].ids
        assert "**" not in page.text and "](" not in page.text and "|--" not in page.text


def test_what_the_converter_makes_of_markdown():
    def made(text):
        return manual_pages.body_html(text, MANUAL)

    assert made("# A & *b*\n") == '<h1 id="a--b">A &amp; *b*</h1>'
    assert made("one\ntwo **three** `<x>`\n\nfour") == "<p>one two <b>three</b> <code>&lt;x&gt;</code></p>\n<p>four</p>"
    assert made("- a\n  b\n- c") == "<ul><li>a b</li><li>c</li></ul>"
    assert made("1. a\n2. b") == "<ol><li>a</li><li>b</li></ol>"
    assert (
        made("| a | b |\n|---|---|\n| 1 | 2 |")
        == "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
    )
    assert made("```\n**x** < 1\n\n# y\n```") == "<pre><code>**x** &lt; 1\n\n# y</code></pre>"
    assert (
        made("[p](limp.md#a) [w](https://b.org/c.md)")
        == '<p><a href="limp.html#a">p</a> <a href="https://b.org/c.md">w</a></p>'
    )


def test_the_example_of_the_engine_runs():
    text = (MANUAL / "scripting.md").read_text(encoding="utf-8")
    (code,) = [block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "import engine" in block]
    names: dict = {}
    exec(compile(code, "scripting.md", "exec"), names)
    assert abs(names["sag"][0]) < 0.999  # it sags by more than 5°
    assert names["result"].motion.rotations.shape == (49, 2, 4)
