"""What every output has to be: well-formed HTML that refers to nothing outside of it."""

from __future__ import annotations

from html.parser import HTMLParser

ALONE = {"input", "br", "hr", "img"}
"""Elements without an end."""


class Checker(HTMLParser):
    """The text of a document, whose elements have to be closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "link", "iframe", "img"), tag
        for name, value in attrs:
            assert name not in ("src", "href", "xlink:href") and not name.startswith("on")
            if name == "id" and value is not None:
                self.ids.append(value)
        if tag not in ALONE:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in ALONE:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text.append(data)


def text_of(html: str) -> str:
    """The text that a document shows; the document is well-formed and self-contained."""
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert checker.open == []
    assert len(set(checker.ids)) == len(checker.ids)
    assert not any(word in html for word in ("url(", "@import", "<script"))
    return "".join(checker.text)
