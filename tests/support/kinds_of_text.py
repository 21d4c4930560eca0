"""Kinds of text that vocabularies differ in, and the tokens that Mistral's own tokenizer has for a text."""

from __future__ import annotations

import base64
import json
import random
import textwrap
import uuid
from functools import cache
from typing import Any

from shape_rows import FAMILY, SCRIPTS, SENTENCE

DICE = random.Random(27)


@cache
def mistral_tokenizer() -> Any:
    """Mistral's own tokenizer with the newest template whose vocabulary is in the wheel."""
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

    return MistralTokenizer.v3(is_tekken=True)


def tekken_tokens(text: str) -> int:
    """Return the tokens of a text by Mistral's own tokenizer."""
    return len(mistral_tokenizer().instruct_tokenizer.tokenizer.encode(text, bos=False, eos=False))


def _lines(make: Any, count: int = 60) -> str:
    return "\n".join(make(number) for number in range(count))


def _price() -> str:
    return f"{DICE.random() * 1000:.2f}"


def _row(number: int) -> dict[str, Any]:
    return {
        "id": number * 7919,
        "name": f"lantern {number}",
        "price": float(_price()),
        "tags": ["a", None],
        "lit": True,
    }


ROWS = [_row(number) for number in range(40)]
PYTHON = '''
@dataclass(frozen=True)
class Lantern:
    """A lamp on a bridge."""

    name: str
    oil_level: float = 0.0

    def is_lit(self, *, minimum: float = 0.05) -> bool:
        return not self.name.startswith("_") and self.oil_level >= minimum or self._wicks[1:]["dry"] is False
'''
C = """
/* LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM THE SOFTWARE */
#define LAMP_MAX_OIL 0x7fffU
static int lamp_fill(struct lamp *lamp, const uint8_t *buf, size_t len) {
\tif (!lamp || len > LAMP_MAX_OIL) { return -EINVAL; }
\tfor (size_t i = 0; i < len; ++i) { lamp->oil[i & 0x0f] ^= buf[i] << 3; }
\treturn lamp->lit ? 0 : fprintf(stderr, "lamp %zu: %s\\n", len, strerror(errno));
}
"""
SQL = """
CREATE TABLE IF NOT EXISTS lamps (id BIGSERIAL PRIMARY KEY, name VARCHAR(64) NOT NULL, oil NUMERIC(10, 2) DEFAULT 0);
SELECT l.name, COUNT(*) AS n FROM lamps l LEFT JOIN wicks w ON w.lamp_id = l.id WHERE l.oil >= 12.50 GROUP BY l.name;
"""
JAVASCRIPT = """
export async function getLanternById(lanternId) {
  const res = await fetch(`/api/lanterns/${lanternId}?t=${Date.now()}`, { headers: { 'X-Trace': trace } });
  return res.ok ? (await res.json())?.items?.[0] ?? null : Promise.reject(new Error(`HTTP_${res.status}`));
}
"""
HTML = '<ul class="lamps"><li id="l-1" style="margin:0 12px"><b>lit</b> &amp; clean&nbsp;&#8217;</li></ul>\n'
KINDS = {
    "prices": _lines(lambda number: f"item {number}: ${_price()}"),
    "prices_alone": _lines(lambda _: _price(), 200),
    "hex": DICE.randbytes(800).hex(),
    "hex_ids": _lines(lambda _: DICE.randbytes(8).hex()),
    "hex_in_capitals": DICE.randbytes(800).hex().upper(),
    "uuids": _lines(lambda _: str(uuid.UUID(int=DICE.getrandbits(128)))),
    "base64": base64.b64encode(DICE.randbytes(1500)).decode(),
    "base64_in_lines": base64.encodebytes(DICE.randbytes(1500)).decode(),
    "digits": "".join(DICE.choices("0123456789", k=1500)),
    "markdown_table": "| lamp | oil | wick |\n|:---|---:|---:|\n"
    + _lines(lambda n: f"| lamp {n} | {_price()} | {DICE.randrange(9999)} |"),
    "csv_table": _lines(lambda _: ",".join(str(DICE.randrange(10**size)) for size in range(1, 9))),
    "aligned_table": _lines(lambda _: "".join(f"{DICE.random() * 10**size:14.2f}" for size in range(1, 6))),
    "tab_table": _lines(lambda _: "\t".join(_price() for _ in range(6))),
    "drawn_table": _lines(lambda n: f"+{'-' * (n % 20 + 3)}+{'-' * 12}+\n|{'x'.ljust(n % 20 + 3)}|{n:>12}|"),
    "json": json.dumps(ROWS),
    "json_compact": json.dumps(ROWS, separators=(",", ":")),
    "json_indented": json.dumps(ROWS, indent=2),
    "json_with_tabs": json.dumps(ROWS, indent="\t"),
    "python": PYTHON * 5,
    "c": C * 5,
    "sql": SQL * 5,
    "javascript": JAVASCRIPT * 5,
    "html": HTML * 10,
    "camel_and_snake": "getLampByIdOrThrow setXMLHttpRequestHeader __init_subclass__ HTTP_STATUS_404 isUTF8Encoded "
    * 8,
    "log": _lines(
        lambda n: f"2026-11-{n % 28 + 1:02}T{n % 24:02}:{n:02}:07.{n:03}Z WARN [lamp-{n}] {n * 977:08x} {n} ms"
    ),
    "access_log": _lines(
        lambda n: f'10.{n}.{n * 7 % 256}.9 - - [12/Nov/2026:10:{n:02}] "GET /i/{n} HTTP/1.1" 200 {n * 83}'
    ),
    "dates": _lines(lambda n: f"{n % 28 + 1}/{n % 12 + 1}/{1950 + n}"),
    "coordinates": _lines(lambda _: f"{DICE.random() * 90:.6f}, {DICE.random() * 180:.6f}"),
    "links": _lines(lambda n: f"https://lamps.example/q/{DICE.getrandbits(64):x}?page={n}&lang=en&utm_source=news"),
    "spaces": "".join("x" + " " * size for size in range(1, 130)),
    "tabs": "".join("x" + "\t" * size for size in range(1, 70)),
    "line_breaks": "".join("x" + "\n" * size for size in range(1, 60)),
    "carriage_returns": "".join("x" + "\r\n" * size for size in range(1, 30)),
    "blank_lines": "x\n \n  \n\t\n" * 40,
    "a_thousand_line_breaks": "\n" * 1000,
    "no_break_spaces": "x\u00a0\u00a0y\u3000z\u2003\u2003 \u00a0" * 40,
    "indented": textwrap.indent(SENTENCE.replace(". ", ".\n") * 20, " " * 24),
    "lines_of_signs": "".join(sign * size + "\n" for sign in "-=*#_.~" for size in (3, 7, 12, 40, 79, 100)),
    "signs": "".join(DICE.choices("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", k=1000)),
    "box_drawing": "├── lamp\n│   ├── oil\n└── wick\n╔════╗║██░░▓║╚════╝\n" * 10,
    "mathematics": "∀x∈ℝ: ∑ᵢ₌₁ⁿ xᵢ² ≥ 0 ⇒ ∫₀^∞ e^{−x²} dx = √π⁄2; α≤β≠γ≈δ ± ∞ ⊂ ∪ ∩ ¬ ∧ → ⇔ ∂ ∇ " * 8,
    "emoji": "🎉🔥😀✨🚀❤️👍🏽☕🧠🦾🫠" * 12,
    "emoji_joined": FAMILY * 8 + "🇯🇵🏳️‍🌈🤷🏻‍♀️" * 8,
    "accents_apart": "a\u0301e\u0301i\u0302o\u0308u\u0303" * 40,
    "english": SENTENCE * 10,
    "capitals": SENTENCE.upper() * 10,
    "german": "Der Laternenanzünder überprüft die Öllampen an der Brücke, bevor der erste Schnee fällt. " * 8,
    "french": "L'été dernier, l'allumeur de réverbères a remplacé les lanternes abîmées près du pont. " * 8,
    "vietnamese": "Người thắp đèn đánh bóng bốn mươi chiếc đèn lồng bằng đồng trước trận tuyết đầu mùa. " * 8,
    **{name: text * 6 for name, text in SCRIPTS.items()},
    "greek": "Λάβαμε το αίτημά σας και θα απαντήσουμε το συντομότερο δυνατόν. " * 8,
    "hebrew": "קיבלנו את בקשתך ונשיב בהקדם האפשרי. נא לא לשתף את הסיסמה. " * 8,
    "bengali": "আমরা আপনার অনুরোধ পেয়েছি এবং শীঘ্রই উত্তর দেব। " * 8,
    "tamil": "உங்கள் கோரிக்கையைப் பெற்றோம், விரைவில் பதிலளிப்போம். " * 8,
    "georgian": "თქვენი მოთხოვნა მივიღეთ და მალე გიპასუხებთ. " * 8,
    "khmer": "យើងបានទទួលសំណើរបស់អ្នក ហើយនឹងឆ្លើយតបឆាប់ៗ។ " * 8,
    "sinhala": "අපට ඔබේ ඉල්ලීම ලැබුණි, ඉක්මනින් පිළිතුරු දෙන්නෙමු. " * 8,
    "amharic": "ጥያቄዎን ተቀብለናል፣ በቅርቡ ምላሽ እንሰጣለን። " * 8,
    "chinese_notice": "我们已经收到您的请求，将尽快回复。请不要与任何人分享您的密码。臺灣的鐵路網絡覆蓋廣闊。" * 6,
    "mixed": (SENTENCE + "第3章 кадр 42 ⇒ 1,234.50 €; id=9f3c07aa\n" + HTML) * 6,
    "license": "THE LANTERNS ARE LENT AS THEY ARE, WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING\n"
    "BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT.\n" * 5,
    "license_in_a_comment": "# Redistributions of the lamp must retain this list and the following disclaimer;\n"
    "# sublicense WITHOUT ANY WARRANTY; without the implied warranty of MERCHANTABILITY or FITNESS FOR A PURPOSE.\n"
    * 5,
    "long_rules": "".join(f"{'=' * 80}\nlamp {n}\n{'/' * 49}\n{'#' * 33}\n{'*' * 16}\n" for n in range(20)),
    "signs_after_words": "".join(f"lamp {'=' * 25} {'-' * 64} {'#' * 18} {'*' * 24} {'/' * 34}\n" for _ in range(20)),
    "pairs_of_signs": "\n".join(pair * 30 for pair in (":^", ">%", "*$", "[/", "|-", "?$", "&(")),
    "glued_words": "lanternoverlaycapacitordevelopcontributorshallowpredicatesnippetsolvingstoresedited" * 6,
    "signs_of_latin_1": "º¯©¶¯¿¿»§¡³±§¨½©¢®¤¾«¨¥¡¾×" * 8,
}
