"""Tell whether a chat model took a phrase from the texts that it was given.

A model that is asked for names, keywords or parts of a question may give back the prompt's own words, or
something that it knows from elsewhere. Searching for that finds what nobody asked for.
"""

from __future__ import annotations

from functools import cached_property

from sextant.text.analysis import Tokenizer
from sextant.text.characters import plain_of
from sextant.text.segmenter import words_of
from sextant.text.stopwords import ENGLISH_STOP_WORDS, is_stop_word
from sextant.text.word_forms import stem

_TOKENIZER = Tokenizer(words_of)
# A phrase is taken from a text that has as much of it; a part of a question may word the rest anew.
_LEAST_SHARE = 1 / 3


class Vocabulary:
    """The words of some texts.

    Args:
        texts: what the model was given to read.
    """

    def __init__(self, *texts: str) -> None:
        self._text = plain_of("\n".join(texts))

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(map(stem, _TOKENIZER.words(self._text)))

    def share(self, phrase: str) -> float:
        """Return the share of a phrase's content words that the texts have (0..1); 0 for a phrase without any."""
        plain = plain_of(phrase)
        # No function words, and no letter alone.
        words = {word for word in _TOKENIZER.words(plain) if len(word) > 1 or word.isdigit()}
        known = [stem(word) in self._stems for word in words - ENGLISH_STOP_WORDS]
        chinese = {word for run, _ in _TOKENIZER.runs(plain) for word in words_of(run)}
        known += [word in self._text for word in chinese if not is_stop_word(word)]
        return sum(known) / len(known) if known else 0.0

    def has(self, phrase: str) -> bool:
        """Return whether the texts have every content word of a phrase."""
        return self.share(phrase) == 1

    def gives(self, phrase: str) -> bool:
        """Return whether a phrase may be taken from the texts: at least a third of it, and every name in it."""
        words = _TOKENIZER.words(phrase)[1:]
        names = (word for word in words if word[0].isupper() or any(map(str.isdigit, word)))
        return self.share(phrase) >= _LEAST_SHARE and all(
            stem(plain_of(name)) in self._stems for name in names
        )
