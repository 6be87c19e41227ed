"""Questions of Chinese and English words, and texts in a language that is neither."""

from __future__ import annotations

import pytest

from sextant.text.analysis import language_of_question
from sextant.text.stopwords import is_of_others


@pytest.mark.parametrize(
    "text",
    [
        "Quelle est la capitale de la France ?",
        "Le tri est effectué par la station, et les colis sont pesés.",
        "Die Station sortiert die Pakete, und der Motor ist neu.",
        "¿Cuál es la capital del país?",
        "La stazione non è in funzione.",
        "A estação não está em funcionamento.",
        "Столица Франции — Париж.",
        "首都はどこですか。",
        "수도는 어디입니까?",
    ],
)
def test_another_language_is_told_by_its_commonest_words_or_its_letters(text: str) -> None:
    assert is_of_others(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Paris.",
        "The Rue de la Paix is a street in Paris.",
        "Vincent van Gogh was born in Zundert.",
        "The résumé of Die Zeit and El País is here.",
        "皮带的速度是每秒 0.9 米。",
        "The angle θ is 3 µm.",
    ],
)
def test_names_and_terms_make_no_other_language(text: str) -> None:
    assert not is_of_others(text)


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("React Native 怎么用 Vue？", "zh"),
        ("Kubernetes Pod CrashLoopBackOff 是什么原因", "zh"),
        ("Suspense 稳定吗", "zh"),
        ("What does 借用规则 mean?", "en"),
        ("Who is 张伟?", "en"),
        ("胰岛素", "zh"),
        ("insulin", "en"),
    ],
)
def test_a_question_is_in_the_language_of_its_function_words(question: str, language: str) -> None:
    assert language_of_question(question) == language
