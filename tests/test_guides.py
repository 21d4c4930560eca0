"""The pages of the site: their links lead somewhere, guides are short, the API pages name what is public."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
import yaml

from ctxopt_core import adapters
from page_links import anchors_of, links_of

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
SHORT = [page for page in PAGES if page.parent.name in ("guides", "symptoms")]
PACKAGES = ("ctxopt_core", "ctxopt_playground", "langchain_ctxopt", "llamaindex_ctxopt")


def _name(page: Path) -> str:
    return str(page.relative_to(DOCS))


def _pages_in(nav: object) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    parts = nav.values() if isinstance(nav, dict) else nav
    return [page for part in parts for page in _pages_in(part)]


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_link_of_a_page_leads_to_a_page_and_a_heading(page):
    for path, anchor in links_of(page):
        target = page if not path else (page.parent / path).resolve()

        assert target.is_file(), f"{path} is no file"
        assert not anchor or anchor in anchors_of(target), f"{path or _name(page)} has no heading #{anchor}"


def test_the_navigation_names_every_page_once():
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"]

    assert sorted(_pages_in(nav)) == [_name(page) for page in PAGES]


def test_the_list_of_error_messages_leads_to_every_page_of_them():
    index = DOCS / "symptoms" / "index.md"
    listed = {path for path, _ in links_of(index)}

    assert {page.name for page in index.parent.glob("*.md") if page != index} <= listed


@pytest.mark.parametrize("package", PACKAGES)
def test_the_api_page_of_a_package_shows_every_public_name(package):
    shown = re.findall(r"^::: (\S+)$", (DOCS / "api" / f"{package}.md").read_text("utf-8"), re.MULTILINE)

    assert shown == [f"{package}.{name}" for name in importlib.import_module(package).__all__]


def test_the_api_page_of_the_seam_for_adapters_shows_every_name():
    shown = re.findall(r"^::: (\S+)$", (DOCS / "api" / "adapters.md").read_text("utf-8"), re.MULTILINE)

    assert shown == [f"ctxopt_core.adapters.{name}" for name in adapters.__all__]


@pytest.mark.parametrize("page", SHORT, ids=_name)
def test_a_guide_is_short(page):
    assert len(page.read_text("utf-8").splitlines()) < 120
