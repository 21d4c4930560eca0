"""Message shapes with pictures, sound and files: in the history, in a result, beside the question."""

from __future__ import annotations

from typing import Any

from shape_rows import (
    MARK,
    MessageShape,
    Row,
    assistant,
    call,
    calling,
    data_uri,
    filler,
    question,
    result,
    system,
    text_part,
    turns,
    user,
)


def picture(characters: int = 40_000) -> Row:
    return {"type": "image_url", "image_url": {"url": data_uri("image/png", characters)}}


def flat_picture(characters: int = 400_000) -> Row:
    return {"type": "input_image", "image_url": data_uri("image/png", characters)}


def sound(characters: int = 200_000) -> Row:
    return {"type": "input_audio", "input_audio": {"data": "UklGRg" * (characters // 6), "format": "wav"}}


def document(characters: int = 100_000) -> Row:
    return {"type": "file", "file": {"filename": "plan.pdf", "file_data": data_uri("application/pdf", characters)}}


def _beside_the_question(*parts: Any) -> list[Row]:
    return [system(), *turns(6), user([*parts, text_part(f"{MARK} what is this?")])]


def _in_history(*parts: Any) -> list[Row]:
    return [system([text_part("Be terse.")]), user([text_part(filler(20)), *parts]), assistant("I see."), *turns(4)]


def _question_parts() -> Row:
    return user([text_part(f"{MARK} and now?")])


MEDIA_SHAPES = (
    MessageShape(name="picture_in_history", build=lambda: [*_in_history(picture()), _question_parts()]),
    MessageShape(
        name="picture_by_link_in_history",
        build=lambda: [
            *_in_history({"type": "image_url", "image_url": {"url": "https://pictures.invalid/lantern.png"}}),
            _question_parts(),
        ],
    ),
    MessageShape(name="sound_in_history", build=lambda: [*_in_history(sound()), question()]),
    MessageShape(name="file_in_history", build=lambda: [*_in_history(document()), question()]),
    MessageShape(
        name="unknown_part_in_history",
        build=lambda: [*_in_history({"type": "hologram", "data": "UklN" * 9_000}), question()],
    ),
    MessageShape(name="picture_beside_the_question", build=lambda: _beside_the_question(flat_picture())),
    MessageShape(
        name="picture_beside_the_question_that_fits",
        build=lambda: _beside_the_question(picture()),
        max_tokens=1200,
    ),
    MessageShape(name="sound_beside_the_question", build=lambda: _beside_the_question(sound())),
    MessageShape(name="file_beside_the_question", build=lambda: _beside_the_question(document()), max_tokens=1100),
    MessageShape(
        name="several_texts_and_a_picture",
        build=lambda: [
            *_in_history(text_part(filler(9)), picture(), text_part(filler(9)), flat_picture(9_000)),
            user([text_part("Look."), picture(), text_part(f"{MARK} is it"), text_part(" lit?")]),
        ],
        max_tokens=1200,
    ),
    MessageShape(
        name="picture_in_an_old_result",
        build=lambda: [
            *(system(), user("Show."), calling(call("p")), result("p", [text_part(filler(9)), picture()])),
            *(assistant("Shown."), *turns(2), question()),
        ],
    ),
    MessageShape(
        name="picture_in_an_unread_result",
        build=lambda: [
            *(system(), *turns(4), question(), calling(call("p"))),
            result("p", [text_part(filler(60)), picture()]),
        ],
        max_tokens=1100,
    ),
    MessageShape(
        name="pictures_in_every_turn",
        build=lambda: [
            *(row for n in range(6) for row in (user([picture(), text_part(f"Picture {n}.")]), assistant(f"Lit {n}."))),
            *turns(2),
            question(),
        ],
        max_tokens=1000,
    ),
    MessageShape(
        name="text_parts_as_bare_strings",
        build=lambda: [system(), user([filler(20), "and", filler(20)]), assistant(["Yes."]), question()],
    ),
)
