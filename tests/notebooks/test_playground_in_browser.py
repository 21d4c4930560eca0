"""The playground as Voila serves it, driven in a real Chromium. Pictures of it lie in `build/screenshots` afterwards.

One walk through the page is one test: what it costs is the server, a kernel and the browser.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from ctxopt_core import ContextBudget, Shares, fit
from ctxopt_core.formats.request_files import read_request
from ctxopt_playground.live_page import OUTPUT_RESERVE, TARGET, example
from ctxopt_playground.settings import PLAIN_STRATEGIES
from served_page import BROWSER_ARGUMENTS, chromium, served

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "notebooks" / "06_playground.ipynb"
TEMPLATES = ROOT / "notebooks" / "voila"
PICTURES = ROOT / "build" / "screenshots"
PATIENCE = 60_000
WIDTHS = (1_280, 420)
HOSTILE = """User: <img src=x onerror="window.taken=1"><script>window.taken=1</script> Which lantern burns longest?"""
BROKEN = '[{"role": "user", "content": "Which lantern'
LOADED = {
    "messages": [
        {"role": role, "content": f"We spoke of lantern {i} and how many hours it burns in a quiet night. " * 6}
        for i in range(30)
        for role in ("user", "assistant")
    ]
    + [{"role": "user", "content": "Which lantern burns longest?"}],
    "documents": [{"id": f"d{i}", "score": i, "text": f"Lantern {i} burns {i} hours. " * 12} for i in range(12)],
}
# All at once, since the page may be drawn again at any time.
CARDS = """() => [...document.querySelectorAll('.ctxopt-card')].map((card) =>
  [card.querySelector('h4').innerText, card.querySelector('.ctxopt-title, .ctxopt-total').innerText])"""
# Whatever reaches beyond the right edge of the window, but for what its own box cuts off.
SPILLING = """() => [...document.querySelectorAll('#rendered_cells *, .ctxopt-playground *')].filter((element) => {
  const box = element.getBoundingClientRect();
  const cut = element.closest('textarea, .noUi-target, .ctxopt-bar');
  return box.width > 1 && box.right > window.innerWidth + 0.5 && !cut;
}).map((element) => element.className)"""


@pytest.fixture(scope="module")
def browser():
    path = chromium()
    if path is None and os.environ.get("CI"):
        pytest.fail("no Chromium is installed, and this test must run in CI; CTXOPT_CHROMIUM names one elsewhere")
    if path is None:
        pytest.skip("no Chromium is installed; CTXOPT_CHROMIUM names one that is not in the PATH")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=list(BROWSER_ARGUMENTS))
        yield launched
        launched.close()


@pytest.fixture
def page(browser, tmp_path):
    """The page as it stands after loading, with what it asks for and complains of in `asked` and `complaints`."""
    log = tmp_path / "voila.log"
    with served(NOTEBOOK, log, "--template=playground", JUPYTER_PATH=str(TEMPLATES)) as address:
        opened = browser.new_page(viewport={"width": WIDTHS[0], "height": 900}, color_scheme="light")
        opened.set_default_timeout(PATIENCE)
        opened.asked, opened.complaints = [], []
        opened.on("request", lambda request: opened.asked.append(request.url))
        opened.on("websocket", lambda opening: opened.asked.append(opening.url))
        opened.on("console", lambda said: said.type == "error" and opened.complaints.append(said.text))
        opened.on("pageerror", lambda error: opened.complaints.append(str(error)))
        opened.goto(address)
        opened.wait_for_selector(".ctxopt-card")
        yield opened
        opened.close()
    assert "Traceback" not in log.read_text("utf-8", "replace")


def totals(page):
    """Return what the cards say: tokens that are left and the budget, by strategy."""
    found = {name: re.findall(r"[\d,]+", title) for name, title in page.evaluate(CARDS)}
    return {name: tuple(int(number.replace(",", "")) for number in numbers) for name, numbers in found.items()}


def fitted(request, *, model="gpt-4o", target_tokens=TARGET, **shares):
    budget = ContextBudget.for_model(
        model, target_tokens=target_tokens, output_reserve=OUTPUT_RESERVE, shares=Shares(**shares)
    )
    policies = {name: {"strategy": name} for name in PLAIN_STRATEGIES if name != "stable_prefix"}
    policies["stable_prefix"] = {"strategy": "turns", "stable_prefix": True}
    return {
        name: (fit(request, budget, history=policy).report.tokens_after, budget.input_budget)
        for name, policy in policies.items()
    }


def example_request():
    content = {"messages": json.loads(example().history), "documents": json.loads(example().documents)}
    return read_request(json.dumps(content)).request


def wait_until_shown(page, expected):
    """Wait for the numbers; what is shown instead is in the message of a failure."""
    for _ in range(PATIENCE // 250):
        if totals(page) == expected:
            return
        page.wait_for_timeout(250)
    assert totals(page) == expected


def slider(page, label):
    return page.locator(f'.widget-slider:has(.widget-label:text-is("{label}"))')


def value_of(page, label):
    return int(slider(page, label).locator(".widget-readout").inner_text().replace(",", ""))


def pictured(page, name, scheme):
    """Take the whole page at each width, and see that nothing spills over the side."""
    page.emulate_media(color_scheme=scheme)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(300)
        page.screenshot(path=PICTURES / f"{name}_{scheme}_{width}_first.png")
        height = page.evaluate("document.getElementById('rendered_cells').scrollHeight")
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(300)
        page.screenshot(path=PICTURES / f"{name}_{scheme}_{width}.png")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(SPILLING) == []
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})


def box(page, tab):
    page.get_by_role("tab", name=tab).click()
    return page.get_by_role("textbox", name=tab, exact=True)


def load(page, path):
    with page.expect_file_chooser() as opened:
        page.get_by_role("button", name="Load a file").first.click()
    opened.value.set_files(path)


def press(page, label, key, times):
    slider(page, label).locator(".noUi-handle").focus()
    for _ in range(times):
        page.keyboard.press(key)


def drag(page, label, by):
    handle = slider(page, label).locator(".noUi-handle")
    handle.hover()  # it is in sight then, and stands still
    place = handle.bounding_box()
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    page.mouse.down()
    page.mouse.move(x + by, y, steps=20)
    page.mouse.up()


def test_a_file_is_loaded_sliders_are_moved_and_a_broken_paste_is_shown(page, tmp_path):
    assert page.title() == "ctxopt playground"
    wait_until_shown(page, fitted(example_request()))
    pictured(page, "example", "light")
    pictured(page, "example", "dark")

    request = read_request(json.dumps(LOADED)).request
    see_a_file_loaded(page, request, tmp_path / "chat.json")
    see_the_fitted_request_downloaded(page, request)
    see_sliders_moved(page, request)
    see_what_cannot_be_read_shown(page)
    see_markup_taken_for_text(page)

    assert page.complaints == []
    assert {urlsplit(url).hostname for url in page.asked if not url.startswith(("data:", "blob:"))} == {"localhost"}


def see_a_file_loaded(page, request, path):
    path.write_text(json.dumps(LOADED), "utf-8")
    load(page, path)
    wait_until_shown(page, fitted(request))
    page.get_by_text("Read as OpenAI JSON: 61 messages, 12 documents.").wait_for()
    assert box(page, "Documents").input_value() == ""  # those of the example are gone
    page.get_by_label("show the beginnings of texts").check()
    page.locator(".ctxopt-right td", has_text="We spoke of lantern 29").first.wait_for()


def see_the_fitted_request_downloaded(page, request):
    with page.expect_download() as started:
        page.get_by_text("Download the fitted request").click()
    content = json.loads(Path(started.value.path()).read_text("utf-8"))
    budget = ContextBudget.for_model("gpt-4o", target_tokens=TARGET, output_reserve=OUTPUT_RESERVE)
    assert len(content["messages"]) == len(fit(request, budget).messages())


def see_sliders_moved(page, request):
    """Move a share by the keyboard, the window by the mouse, and name another model."""
    before = totals(page)
    press(page, "History", "ArrowRight", 25)
    wait_until_shown(page, fitted(request, history=50))
    assert totals(page) != before

    drag(page, "Window", 20)
    page.wait_for_timeout(500)
    target = value_of(page, "Window") - value_of(page, "For the answer")
    wait_until_shown(page, fitted(request, target_tokens=target, history=50))
    assert target > TARGET

    page.get_by_role("combobox", name="Model").fill("gpt-4")
    page.keyboard.press("Enter")
    page.get_by_text("8,192 tokens; counted with cl100k_base.").wait_for()
    wait_until_shown(page, fitted(request, model="gpt-4", target_tokens=target, history=50))


def see_what_cannot_be_read_shown(page):
    before = totals(page)
    box(page, "Chat history").fill(BROKEN)
    page.locator(".ctxopt-pasted .ctxopt-problem").wait_for()
    page.locator(".ctxopt-right .ctxopt-problem", has_text="What is below is from before.").wait_for()
    assert totals(page) == before
    pictured(page, "problem", "light")


def see_markup_taken_for_text(page):
    box(page, "Chat history").fill(HOSTILE)
    page.locator(".ctxopt-right td", has_text="onerror").first.wait_for()
    assert page.evaluate("window.taken") is None
    assert page.locator(".ctxopt-playground img").count() == 0
    pictured(page, "markup", "dark")
