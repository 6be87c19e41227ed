import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.text.sentences import end_sentence, find_undecided, sentence_end, sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("多饮、多尿。体重下降！为什么？", ["多饮、多尿。", "体重下降！", "为什么？"]),
        ("他说：“不行。”然后走了。", ["他说：“不行。”", "然后走了。"]),
        ("Pi is 3.14. It is not 22/7.", ["Pi is 3.14.", "It is not 22/7."]),
        ("Use v1.2.3 now! Why? Because.", ["Use v1.2.3 now!", "Why?", "Because."]),
        ("See Dr. Li, e.g. on Fig. 3. Then go.", ["See Dr. Li, e.g. on Fig. 3.", "Then go."]),
        ("1. First point.\n2. Second point.", ["1. First point.", "2. Second point."]),
        ("# Heading\n\nBody text", ["# Heading", "Body text"]),
        ("真的?是的", ["真的?", "是的"]),
        ("« Une pièce. » Il rit.", ["« Une pièce. »", "Il rit."]),
        ("Er sagte: »Nein.« Dann ging er.", ["Er sagte: »Nein.«", "Dann ging er."]),
        ("« Vraiment ? » demanda-t-il. Oui.", ["« Vraiment ? » demanda-t-il.", "Oui."]),
        ("HbA1c 应低于 7.0%。Rust 的所有权。", ["HbA1c 应低于 7.0%。", "Rust 的所有权。"]),
        ("  \n ", []),
        ("Es kostet z. B. 12 Euro. Es gilt.", ["Es kostet z. B. 12 Euro.", "Es gilt."]),
        ("Vgl. Abs. 2. Cf. Poe.", ["Vgl. Abs. 2.", "Cf. Poe."]),
        ("La Sra. Ruiz vino a las 5 p.m. ¿Y?", ["La Sra. Ruiz vino a las 5 p.m.", "¿Y?"]),
        ("El libro de J. G. Vega. Es de EE. UU.", ["El libro de J. G. Vega.", "Es de EE. UU."]),
        ("Il Sig. Rossi, via Po n. 5. Poi partì.", ["Il Sig. Rossi, via Po n. 5.", "Poi partì."]),
        (
            "Er kommt i. d. R. am Montag. Das gilt u. U. Sonntags nicht.",
            ["Er kommt i. d. R. am Montag.", "Das gilt u. U. Sonntags nicht."],
        ),
        (
            "It carries max. 8 people, min. 1. The price is 5 EUR incl. VAT. See Sec. IV there.",
            [
                "It carries max. 8 people, min. 1.",
                "The price is 5 EUR incl. VAT.",
                "See Sec. IV there.",
            ],
        ),
        ("Take option A. B. Smith disagrees.", ["Take option A.", "B. Smith disagrees."]),
        (
            "It opens at 9 a.m. on weekdays and at 11 a.m. on Sundays. It closes at 5 p.m. Come early.",
            [
                "It opens at 9 a.m. on weekdays and at 11 a.m. on Sundays.",
                "It closes at 5 p.m.",
                "Come early.",
            ],
        ),
        (
            "It pauses from 2 to 4 a.m. UTC on Sundays. It ends at 5 p.m. CET. We rest at 9 p.m. Utah sleeps.",
            [
                "It pauses from 2 to 4 a.m. UTC on Sundays.",
                "It ends at 5 p.m. CET.",
                "We rest at 9 p.m.",
                "Utah sleeps.",
            ],
        ),
        (
            "Come at 8 a.m. Friday and 3 p.m. Sunday. We close at 6 p.m. Friday is a day off.",
            [
                "Come at 8 a.m. Friday and 3 p.m. Sunday.",
                "We close at 6 p.m.",
                "Friday is a day off.",
            ],
        ),
        (
            "Call from 9 a.m. Jan. 5 to noon. Then at 7 p.m. Lima time, at 8 p.m. Labour Day. Guests stay.",
            [
                "Call from 9 a.m. Jan. 5 to noon.",
                "Then at 7 p.m. Lima time, at 8 p.m. Labour Day.",
                "Guests stay.",
            ],
        ),
        (
            "We shut at 5 p.m. Guests and staff leave at 9 p.m. However, bars stay.",
            ["We shut at 5 p.m.", "Guests and staff leave at 9 p.m.", "However, bars stay."],
        ),
        (
            "Elm Ltd. 的租金是 5 元。No. 14有窗。每天 9 a.m. 开门。It ends. 完了。",
            [
                "Elm Ltd. 的租金是 5 元。",
                "No. 14有窗。",
                "每天 9 a.m. 开门。",
                "It ends.",
                "完了。",
            ],
        ),
        (
            "In Roe v. Wade it was so ... or not. Yes.",
            ["In Roe v. Wade it was so ... or not.", "Yes."],
        ),
        (
            "Due Jan. 15 for clubs, Feb. 20 for schools.",
            ["Due Jan. 15 for clubs, Feb. 20 for schools."],
        ),
        (
            'Let by Elm Ltd. ("the Landlord") to J. Poe. It is paid.',
            ['Let by Elm Ltd. ("the Landlord") to J. Poe.', "It is paid."],
        ),
        (
            "Elm Inc. pays 5 and Oak Ltd. pays 7. Fir Corp. pays.",
            ["Elm Inc. pays 5 and Oak Ltd. pays 7.", "Fir Corp. pays."],
        ),
        (
            "Signed by J. R. Poe Jr. in Leeds. Then sent.",
            ["Signed by J. R. Poe Jr. in Leeds.", "Then sent."],
        ),
        (
            "As Smith et al. found, it rests. Call ext. 4711 now.",
            ["As Smith et al. found, it rests.", "Call ext. 4711 now."],
        ),
        (
            "Sold by Norbolt Co. Ltd. of Oslo, No. 5 Quay St. in Hull.",
            ["Sold by Norbolt Co. Ltd. of Oslo, No. 5 Quay St. in Hull."],
        ),
        (
            "Pets may live in flat A. Pets may not in flat B.",
            ["Pets may live in flat A.", "Pets may not in flat B."],
        ),
        (
            "The answer is no. We left for the U.S. Senate.",
            ["The answer is no.", "We left for the U.S. Senate."],
        ),
        (
            "Die Frist endet am 5. September. Danach gilt Art. 7.",
            ["Die Frist endet am 5. September.", "Danach gilt Art. 7."],
        ),
        (
            "Document no. QP-0042 of May. See sec. B4. The answer is no. QP is none.",
            ["Document no. QP-0042 of May.", "See sec. B4.", "The answer is no.", "QP is none."],
        ),
        ("Document no. | QP-0042 | Rev. C", ["Document no. | QP-0042 | Rev. C"]),
        (
            "| Taxi | Allowed. Only late. | 9 |\n| 公交 | 允许。仅白天。 | 3 |\nFin. End.",
            ["| Taxi | Allowed. Only late. | 9 |", "| 公交 | 允许。仅白天。 | 3 |", "Fin.", "End."],
        ),
        ("“Stop!” he said. We did.", ["“Stop!” he said.", "We did."]),
        (
            "It was sold in 1805.[19] He left.[2, 3] Fin.",
            ["It was sold in 1805.[19]", "He left.[2, 3]", "Fin."],
        ),
        (
            "It runs at 0.9 m/s. The window is 5 ms. It is 3 m. Then",
            ["It runs at 0.9 m/s.", "The window is 5 ms.", "It is 3 m.", "Then"],
        ),
        ("他走了。Mr. Li 来了。", ["他走了。", "Mr. Li 来了。"]),
        ("i saw him go. then i left.", ["i saw him go.", "then i left."]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(alphabet="ab 1.。！?\n”中文,", max_size=200))
def test_spans_are_ordered_and_leave_out_only_white_space(text: str) -> None:
    spans = sentence_spans(text)
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    assert edges == sorted(edges)
    gaps = zip(edges[0::2], edges[1::2], strict=True)
    assert all(not text[start:end].strip() for start, end in gaps)


@given(st.lists(st.text(alphabet="ab 1.。！?!\n”)中文,eNo[]|-", max_size=6), max_size=12))
def test_a_growing_text_need_not_be_searched_again(pieces: list[str]) -> None:
    text, since = "", 0
    for piece in pieces:
        text += piece
        assert sentence_end(text, since=since) == sentence_end(text)
        if sentence_end(text) is None:
            since = find_undecided(text)


@pytest.mark.parametrize(
    "behind", ["Monday is off.", "Monday and 3 p.m. Sunday.", "New Year's Day.", "Ann left."]
)
def test_a_text_that_grows_behind_a_time_need_not_be_searched_again(behind: str) -> None:
    whole, since = "We open at 8 a.m. " + behind, 0
    for length in range(len(whole) + 1):
        text = whole[:length]
        assert sentence_end(text, since=since) == sentence_end(text)
        if sentence_end(text) is None:
            since = find_undecided(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("It is so", "It is so."),
        ("It is so.", "It is so."),
        ('"Is it so?"', '"Is it so?"'),
        ("**It is so.**", "**It is so.**"),
        ("是这样", "是这样。"),
        ("是这样（见下文。）", "是这样（见下文。）"),
        ("Version 3.1", "Version 3.1."),
    ],
)
def test_a_stop_is_set_behind_what_has_none(text: str, told: str) -> None:
    assert end_sentence(text) == told


def test_the_stop_may_be_of_another_language_than_the_words() -> None:
    assert end_sentence("张三毕业于 MIT", chinese=True) == "张三毕业于 MIT。"
    assert end_sentence("Insulin", chinese=True) == "Insulin。"
