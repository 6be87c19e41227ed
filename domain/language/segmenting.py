"""Chinese text cut into words, by jieba's dictionary and model (`rjieba`)."""

from __future__ import annotations

# What the model joins with the word behind it: 能装, 要交; and verbs of any object: 还书, 退证.
_PREFIXES = frozenset("能要会會可应應该該想须須得还還退办辦交订訂换換修借买買租领領填没")


def known_words_of(text: str) -> list[str]:
    """The words of `text`; one that the dictionary lacks and that begins with a verb of any word is two."""
    import rjieba

    found: list[str] = []
    for word in words_of(text):
        joined = len(word) > 1 and word[0] in _PREFIXES and not rjieba.has_word(word)
        found += [word[0], word[1:]] if joined else [word]
    return found


def words_of(text: str) -> list[str]:
    """The words of `text`, which make it up together."""
    # Imported with the first Chinese text, since it builds its dictionary then: 0.15 s of CPU.
    import rjieba

    words: list[str] = rjieba.cut(text)
    return words
