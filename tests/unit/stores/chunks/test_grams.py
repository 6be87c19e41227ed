"""The keyword lane's index never loses a chunk: grams of a keyword are grams of what contains it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sextant.stores.chunks.grams import salt_grams
from sextant.text.characters import is_cjk, lowercase

MIXED = st.text(
    st.one_of(
        st.sampled_from("糖尿病机器学习𠀀GPUabcİΣß %_\\-，。\n1"),
        st.characters(codec="utf-8"),
    ),
    max_size=40,
)

COMMON = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年"
)


def distinct(text: str) -> set[str]:
    """Return the definition, character by character."""
    found = set()
    for at in range(len(text)):
        for length in (2, 3):
            window = text[at : at + length]
            ideographs = sum(map(is_cjk, window))
            fits = ideographs > 0 if length == 2 else ideographs == 0
            if len(window) == length and fits and all(map(str.isalnum, window)):
                found.add(window)
    return found


@given(st.lists(MIXED, min_size=1, max_size=5))
def test_a_text_has_the_grams_of_the_windows_that_the_definition_names(texts: list[str]) -> None:
    for text, grams in zip(texts, salt_grams(texts, 1), strict=True):
        windows = sorted(distinct(text))
        cut = salt_grams(windows, 1) if windows else []
        assert all(len(own) == 1 for own in cut)
        assert grams.tolist() == sorted({int(own[0]) for own in cut})


def test_few_grams_fall_together() -> None:
    windows = [first + second for first in COMMON for second in COMMON]
    (grams,) = salt_grams(["\n".join(windows)], 1)
    assert len(grams) > 0.9 * 2**15 * (1 - (1 - 2**-15) ** len(windows))  # as random hashes would


@given(MIXED, MIXED, MIXED)
def test_the_grams_of_a_part_are_grams_of_the_whole(before: str, part: str, after: str) -> None:
    inner, outer = salt_grams([lowercase(part), lowercase(before + part + after)], 7)
    assert set(inner.tolist()) <= set(outer.tolist())


@given(MIXED)
def test_scopes_share_no_gram_and_the_batch_does_not_matter(text: str) -> None:
    (alone,) = salt_grams([text], 1)
    (other,) = salt_grams([text], 2)
    assert not set(alone.tolist()) & set(other.tolist())
    assert salt_grams(["机器", text, ""], 1)[1].tolist() == alone.tolist()
    assert all(gram >> 15 == 1 for gram in alone.tolist())


def test_scopes_of_any_number_have_grams_that_fit() -> None:
    for scope_id in (2**16 - 1, 2**16, 2**17 - 1, 2**17 + 5, 2**31 - 1):
        (grams,) = salt_grams(["机器学习"], scope_id)
        assert {gram >> 15 & 0x1FFFF for gram in grams.tolist()} == {scope_id % 2**17}


def test_more_texts_than_fit_beside_a_hash_are_cut_all_the_same() -> None:
    many = salt_grams(["", "机器学习", *[""] * 2**17, "机器学习"], 1)
    assert [len(many[1]), len(many[2]), len(many[-1])] == [3, 0, 3]


@given(MIXED, MIXED)
def test_folding_keeps_every_character_and_commutes_with_cutting(left: str, right: str) -> None:
    assert lowercase(left + right) == lowercase(left) + lowercase(right)
    assert len(lowercase(left)) == len(left)
