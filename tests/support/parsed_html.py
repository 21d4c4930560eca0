"""HTML as the standard library's parser sees it: elements with their attributes and texts, and whether tags balance."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

PLAIN_TAGS = frozenset(
    {"div", "style", "p", "span", "bdi", "table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td"}
)
VOID = frozenset({"meta", "br", "img", "input", "link", "hr"})


@dataclass
class Element:
    """An element: its tag, its attributes, the text directly in it, and what is in it."""

    tag: str
    attributes: dict[str, str | None]
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> list[Element]:
        """Return the elements of a tag inside this one, in order."""
        return [element for element in elements(self) if element.tag == tag]

    @property
    def whole_text(self) -> str:
        """The text of the element and of everything in it."""
        return self.text + "".join(child.whole_text for child in self.children)

    @property
    def classes(self) -> list[str]:
        """Its classes."""
        return (self.attributes.get("class") or "").split()


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("root", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"an attribute of <{tag}> stands twice"
        element = Element(tag, dict(attrs))
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].text += data


def parsed_html(text: str) -> Element:
    """Return the root of a document, or of a part of one; unbalanced tags are an AssertionError."""
    parser = _Parser()
    parser.feed(text)
    parser.close()
    assert len(parser.open) == 1, f"<{parser.open[-1].tag}> is not closed"
    return parser.root


def elements(root: Element) -> list[Element]:
    """Return all elements inside one."""
    return [each for child in root.children for each in (child, *elements(child))]
