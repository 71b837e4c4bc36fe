"""The manual as web pages: from the Markdown in `manual/` to HTML that a browser shows without a network.

Owns the small part of Markdown that the manual uses: headings, paragraphs, lists, tables, fenced code, pictures,
links, bold, and code. Must not know Blender.
"""

from __future__ import annotations

import html
import re
from pathlib import Path

PAGES = Path(__file__).resolve().parents[1] / "manual"
# Every page, in reading order: file and title in the list beside the text.
CONTENTS = (
    ("index", "Heft"),
    ("start", "Start"),
    ("follow", "Follow"),
    ("on_time", "On Time"),
    ("limp", "Limp"),
    ("bones", "Bones"),
    ("contacts", "Contacts"),
    ("result", "Result"),
    ("overlays", "Overlays"),
    ("posing", "Posing"),
    ("troubleshooting", "Troubleshooting"),
    ("scripting", "Scripting"),
)
STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 64rem; margin: 0 auto; padding: 1rem; display: flex; gap: 2rem;
  flex-wrap: wrap; }
nav { flex: 0 0 9rem; } nav a { display: block; padding: .15rem 0; } nav a.here { font-weight: bold; }
main { flex: 1 1 30rem; min-width: 0; }
img { max-width: 100%; border-radius: 6px; }
table { border-collapse: collapse; } td, th { padding: .3rem .7rem; border-bottom: 1px solid #8884; text-align: left;
  vertical-align: top; }
code { font-family: ui-monospace, monospace; font-size: .9em; background: #8882; border-radius: 3px; padding: 0 .2em; }
pre { background: #8882; border-radius: 6px; padding: .7rem 1rem; overflow-x: auto; } pre code { background: none; }
"""
FENCE, RULE = "```", re.compile(r"^\|[\s:|-]+\|$")
BULLET, NUMBER, HEADING = re.compile(r"^- +"), re.compile(r"^\d+\. +"), re.compile(r"^(#{1,4}) +(.*)$")


def write(folder: Path, pages: Path = PAGES) -> Path:
    """Write every page as HTML into the folder. Returns the first page."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, _ in CONTENTS:
        text = (pages / f"{name}.md").read_text(encoding="utf-8")
        (folder / f"{name}.html").write_text(page(name, text, pages), encoding="utf-8")
    return folder / f"{CONTENTS[0][0]}.html"


def page(name: str, text: str, pages: Path = PAGES) -> str:
    """A whole page. Its pictures are linked next to the Markdown files."""
    title = dict(CONTENTS)[name]
    links = "".join(
        f'<a href="{other}.html"{" class=here" if other == name else ""}>{label}</a>' for other, label in CONTENTS
    )
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title} – Heft</title>'
    body = f"<nav>{links}</nav><main>{body_html(text, pages)}</main>"
    return f"<!doctype html><html lang=en><head>{head}<style>{STYLE}</style></head><body>{body}</body></html>"


def body_html(text: str, pages: Path = PAGES) -> str:
    """The blocks of a page, one after the other."""
    lines, out, at = text.splitlines(), [], 0
    while at < len(lines):
        line = lines[at]
        heading = HEADING.match(line)
        if not line.strip():
            at += 1
        elif line.startswith(FENCE):
            end = next(i for i in range(at + 1, len(lines)) if lines[i].startswith(FENCE))
            out.append(f"<pre><code>{html.escape(chr(10).join(lines[at + 1 : end]))}</code></pre>")
            at = end + 1
        elif heading:
            depth, words = len(heading[1]), heading[2]
            out.append(f'<h{depth} id="{anchor(words)}">{inline(words, pages)}</h{depth}>')
            at += 1
        else:
            block, at = _block(lines, at)
            out.append(_block_html(block, pages))
    return "\n".join(out)


def anchor(heading: str) -> str:
    """The anchor of a heading, by GitHub's rules."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def inline(text: str, pages: Path = PAGES) -> str:
    """Pictures, links, code and bold within a line."""
    parts = re.split(r"(`[^`]+`)", text)
    for i, part in enumerate(parts):
        if part.startswith("`") and len(part) > 1:
            parts[i] = f"<code>{html.escape(part[1:-1])}</code>"
            continue
        part = html.escape(part, quote=False)
        part = re.sub(r"!\[([^\]]*)\]\(([^)]+)\)", lambda m: _picture(m[1], m[2], pages), part)
        part = re.sub(r"\[([^\]]+)\]\(([^)]+)\)", lambda m: f'<a href="{_target(m[2])}">{m[1]}</a>', part)
        parts[i] = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", part)
    return "".join(parts)


def _block(lines: list[str], at: int) -> tuple[list[str], int]:
    """The lines up to the next empty one, heading or fence."""
    end = at
    while end < len(lines) and lines[end].strip() and not lines[end].startswith(FENCE):
        if end > at and HEADING.match(lines[end]):
            break
        end += 1
    return lines[at:end], end


def _block_html(block: list[str], pages: Path) -> str:
    if block[0].startswith("|"):
        rows = [line.strip().strip("|").split("|") for line in block if not RULE.match(line)]
        headed = len(block) > 1 and bool(RULE.match(block[1])) and any(cell.strip() for cell in rows[0])
        cells = [
            "".join(f"<{tag}>{inline(cell.strip(), pages)}</{tag}>" for cell in row)
            for row, tag in zip(rows, ["th" if headed else "td"] + ["td"] * len(rows), strict=False)
        ]
        return "<table>" + "".join(f"<tr>{row}</tr>" for row in cells if row != "<td></td>" * len(rows[0])) + "</table>"
    for kind, mark in (("ul", BULLET), ("ol", NUMBER)):
        if mark.match(block[0]):
            items: list[str] = []
            for line in block:
                if mark.match(line):
                    items.append(mark.sub("", line))
                else:
                    items[-1] += " " + line.strip()
            return f"<{kind}>" + "".join(f"<li>{inline(item, pages)}</li>" for item in items) + f"</{kind}>"
    return f"<p>{inline(' '.join(block), pages)}</p>"


def _picture(words: str, source: str, pages: Path) -> str:
    return f'<img alt="{html.escape(words)}" src="{(pages / source).resolve().as_uri()}">'


def _target(link: str) -> str:
    """The target of a link: another page as HTML, anything else unchanged."""
    file, mark, place = link.partition("#")
    return (file[:-3] + ".html" if file.endswith(".md") and "/" not in file else file) + mark + place
