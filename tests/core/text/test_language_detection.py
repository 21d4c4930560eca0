"""The guess that picks sentence rules: by script, by telling letters, by function words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxopt_core.text.language_detection import guess_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        pytest.param("The keeper of the lights walks along the pier.", "en", id="english"),
        pytest.param("Der Wärter geht am Abend über die Brücke und zündet das Licht an.", "de", id="german"),
        pytest.param("El farero camina por el muelle y enciende las luces de la noche.", "es", id="spanish"),
        pytest.param("Le gardien marche sur le quai et il allume les lampes du port.", "fr", id="french"),
        pytest.param("Il guardiano cammina sul molo e accende le luci della città.", "it", id="italian"),
        pytest.param("De wachter loopt over de kade en hij steekt het licht van de haven aan.", "nl", id="dutch"),
        pytest.param("O faroleiro caminha pelo cais e não acende as luzes da cidade.", "pt", id="portuguese"),
        pytest.param("Strażnik idzie po molo i zapala światła, ale nie jest sam.", "pl", id="polish"),
        pytest.param("Strážnik ide po móle a zapáli svetlo, ale nie je sám.", "sk", id="slovak"),
        pytest.param("Vartija kävelee laiturilla ja sytyttää valot, mutta hän ei ole yksin.", "fi", id="finnish"),
        pytest.param("Bekçi akşam iskelede yürür, ışıkları yakar.", "en", id="unlisted-falls-back"),
        pytest.param("Смотритель зажигает огни.", "ru", id="russian"),
        pytest.param("Доглядач іде по молу.", "uk", id="ukrainian"),
        pytest.param("Пазачът върви по кея.", "bg", id="bulgarian"),
        pytest.param("Күзетші кемежайда жүреді.", "kk", id="kazakh"),
        pytest.param("Ο φύλακας ανάβει τα φώτα.", "el", id="greek"),
        pytest.param("Պահակը վառում է լույսերը։", "hy", id="armenian"),
        pytest.param("الحارس يضيء المصابيح", "ar", id="arabic"),
        pytest.param("محافظ بتیاں جلاتا ہے اور گھر جاتا ہے۔", "ur", id="urdu"),
        pytest.param("نگهبان چراغ‌ها را روشن می‌کند", "fa", id="persian"),
        pytest.param("रखवाला बत्तियाँ जलाता है।", "hi", id="hindi"),
        pytest.param("灯守は明かりを灯す。", "ja", id="japanese"),
        pytest.param("守灯人点亮了灯。", "zh", id="chinese"),
        pytest.param("The word 灯 stands for a lamp in the text.", "en", id="one-foreign-word"),
        pytest.param("", "en", id="empty"),
        pytest.param("12 + 34 = 46", "en", id="no-letters"),
    ],
)
def test_the_language_of(text, language):
    assert guess_language(text) == language


@settings(deadline=None)
@given(st.text(st.characters(codec=None)))
def test_any_text_gets_a_language(text):
    assert 2 <= len(guess_language(text)) <= 3


def test_only_the_start_of_a_long_text_is_looked_at():
    english = "The keeper of the lights walks along the pier. " * 30

    assert guess_language(english + "守灯人点亮了灯。" * 10_000) == "en"
