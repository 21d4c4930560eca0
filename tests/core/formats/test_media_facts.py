"""What the first bytes of media tell, in every shape in which a part carries them, without decoding the rest."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxopt_core.formats.media import facts_of
from ctxopt_core.messages.message import MediaFacts
from media_files import base64_text, gif, image_url, jpeg, pdf, png, segment, wav, webp

SIDES = st.integers(1, 16_000)
PROFILE = b"".join((segment(0xE1, 65_535), segment(0xE2, 65_535), b"\xff", segment(0xC4, 30)))


@pytest.mark.parametrize(
    "data",
    [
        png(640, 480),
        gif(640, 480),
        jpeg(640, 480),
        jpeg(640, 480, frame=0xC2),
        jpeg(640, 480, before=PROFILE),
        webp(640, 480),
        webp(640, 480, "VP8 "),
        webp(640, 480, "VP8L"),
    ],
    ids=["png", "gif", "jpeg", "progressive", "jpeg after 128 kB", "webp", "webp lossy", "webp lossless"],
)
@pytest.mark.parametrize(
    "part",
    [
        image_url,
        lambda data: {"type": "image_url", "image_url": f"data:image/png;base64,{base64_text(data)}"},
        lambda data: {"type": "input_image", "image_url": f"data:;base64,{base64_text(data)}"},
        lambda data: {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/x", "data": base64_text(data)},
        },
        lambda data: {"type": "image", "base64": base64_text(data), "mime_type": "image/x"},
        lambda data: {"type": "image", "source_type": "base64", "data": base64_text(data)},
        lambda data: {"type": "media", "mime_type": "image/x", "data": data},
        lambda data: {"image": {"format": "png", "source": {"bytes": data}}},
        lambda data: {"inline_data": {"mime_type": "image/x", "data": base64_text(data)}},
    ],
    ids=["url", "plain url", "responses", "anthropic", "langchain", "langchain 0.3", "bytes", "bedrock", "google"],
)
def test_t13_the_size_of_an_image_is_read_from_its_header_in_every_shape_of_a_part(part, data):
    assert facts_of(part(data)).size == (640, 480)


@pytest.mark.parametrize("make", [png, gif, jpeg, webp])
@given(width=SIDES, height=SIDES)
def test_t13_every_size_is_read(make, width, height):
    assert facts_of(image_url(make(width, height))).size == (width, height)


@pytest.mark.parametrize(
    ("part", "facts"),
    [
        ({"type": "input_audio", "input_audio": {"data": base64_text(wav(3)), "format": "wav"}}, (None, 3.0, None)),
        ({"type": "audio", "base64": base64_text(wav(0.5))}, (None, 0.5, None)),
        (
            {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{base64_text(pdf(12))}"}},
            (None, None, 12),
        ),
        ({"type": "document", "source": {"type": "base64", "data": base64_text(pdf(3))}}, (None, None, 3)),
        (image_url(png(8, 8), detail="low"), ("low", None, None)),
        ({"type": "image_url", "image_url": {"url": "https://a.b/c.png", "detail": "high"}}, ("high", None, None)),
        (
            {"type": "media", "data": png(8, 8), "media_resolution": {"level": "MEDIA_RESOLUTION_ULTRA_HIGH"}},
            ("ultra_high", None, None),
        ),
        (image_url(png(8, 8), detail="whatever"), (None, None, None)),
    ],
    ids=["audio", "short audio", "pdf file", "pdf document", "low", "url", "google's resolution", "unknown detail"],
)
def test_t13_length_pages_and_detail_are_read_where_they_are_told(part, facts):
    found = facts_of(part)

    assert (found.detail, found.seconds, found.pages) == facts


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": "https://pictures.invalid/lantern.png"}},
        {"type": "image", "source": {"type": "file", "file_id": "f1"}},
        {"type": "image", "base64": "not base64 at all"},
        {"type": "image", "base64": ""},
        {"type": "image", "base64": "QUJD" * 40},
        {"type": "image", "base64": base64_text(png(640, 480))[:20] + "*" * 40},
        {"type": "image", "data": b""},
        {"type": "image", "data": png(640, 480)[:18]},
        {"type": "image", "data": jpeg(640, 480)[:6]},
        {"type": "image", "data": png(0, 480)},
        {"type": "image", "data": b"\xff\xd8" + b"\xff" * 5_000},
        {"type": "image", "data": webp(640, 480)[:12] + b"????" + bytes(30)},
        {"type": "image"},
    ],
    ids=[
        "url",
        "file id",
        "blanks",
        "empty",
        "other",
        "damaged",
        "no bytes",
        "cut png",
        "cut jpeg",
        "no width",
        "fill",
        "webp",
        "bare",
    ],
)
def test_t13_what_is_not_told_is_not_known(part):
    found = facts_of(part)

    assert found is None or found.size is None


@given(st.binary(max_size=200), st.sampled_from([png, gif, jpeg, webp]), st.integers(0, 60))
def test_t13_no_bytes_make_it_fail(noise, make, kept):
    damaged = make(640, 480)[:kept] + noise

    for part in (
        {"data": damaged},
        {"data": base64_text(damaged)},
        {"url": "data:image/png;base64," + base64_text(damaged)},
    ):
        assert facts_of(part) is None or facts_of(part).size is None or min(facts_of(part).size) > 0


@given(st.text(max_size=300))
def test_t13_no_text_makes_it_fail(text):
    for key in ("data", "url", "detail", "mime_type"):
        facts_of({key: text, "source": {key: text}})


def test_t13_of_a_large_image_only_the_header_is_decoded(monkeypatch):
    decoded = []
    real = base64.b64decode

    def spy(text, **options):
        decoded.append(len(text))
        return real(text, **options)

    part = image_url(jpeg(640, 480, before=PROFILE) + b"x" * 5_000_000)
    monkeypatch.setattr(base64, "b64decode", spy)

    assert facts_of(part).size == (640, 480)
    assert sum(decoded) < 400


@pytest.mark.parametrize("figures", [{"width": 0}, {"seconds": -1}, {"pages": 0}, {"seconds": float("inf")}])
def test_a4_facts_that_cannot_be_are_refused(figures):
    with pytest.raises(ValueError, match=next(iter(figures))):
        MediaFacts(**figures)
