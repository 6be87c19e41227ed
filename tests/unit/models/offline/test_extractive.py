"""Answers without a chat model: quotations that hold, and a plain word when there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from sextant.domain.errors import ModelUnavailable
from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.extractive import Extraction, ExtractiveAnswerer
from sextant.models.protocols import Vectors
from sextant.testing.hash_embedder import AngleEmbedder
from tests.unit.models.offline.passages import E5, item

SYMPTOMS = "糖尿病患者的主要症状是多饮、多尿、多食和体重下降。"
GUIDELINE = f"糖尿病是一组代谢病。{SYMPTOMS}治疗包括饮食和运动。"
CONTRACT = "Payment is due within 30 days of each milestone. The supplier sends an invoice."


class Gone(AngleEmbedder):
    """An embedder whose model does not answer."""

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        raise ModelUnavailable(f"No vectors for {len(texts)} texts.")


async def test_the_sentence_that_answers_is_quoted_from_its_passage() -> None:
    items = [item(CONTRACT), item(GUIDELINE)]
    found = await ExtractiveAnswerer().extract("糖尿病的主要症状是什么？", items, language="zh")
    assert found.quotations[0].sentence == SYMPTOMS
    assert found.quotations[0].source == 1
    assert found.nearest is None


async def test_a_quotation_is_its_span_of_the_passage() -> None:
    items = [item(GUIDELINE)]
    found = await ExtractiveAnswerer().extract("糖尿病的主要症状是什么？", items, language="zh")
    for quote in found.quotations:
        assert items[quote.source].text[quote.start : quote.end] == quote.sentence


@pytest.mark.parametrize(
    "question", ["台北办公室的地址在哪里？", "臺北辦公室的地址在哪裡？", "台北办公室什么时候启用？"]
)
async def test_simplified_and_traditional_characters_answer_each_other(question: str) -> None:
    """The quotation has the characters of the passage."""
    opened = "臺北辦公室位於內湖區示範路88號，2019年8月啟用。"
    items = [item(GUIDELINE), item(f"操作員課程每班最多十二人。{opened}")]
    found = await ExtractiveAnswerer().extract(question, items, language="zh")
    assert [quote.sentence for quote in found.quotations] == [opened]


async def test_the_caption_of_a_table_is_answered_by_its_rows() -> None:
    rows = ["境内一类 | 北京、上海 | 650 元", "境内二类 | 省会城市 | 480 元"]
    head = "| 类别 | 城市 | 限额 |\n| --- | --- | --- |\n"
    table = f"表 1 住宿费限额（每人每晚）\n\n{head}| {rows[0]} |\n| {rows[1]} |\n"
    found = await ExtractiveAnswerer().extract(
        "住宿费限额是多少？", [item(table), item(GUIDELINE)], language="zh"
    )
    assert [quote.sentence for quote in found.quotations] == rows


async def test_an_english_question_is_answered_in_english() -> None:
    found = await ExtractiveAnswerer().extract(
        "When is payment due?", [item(CONTRACT)], language="en"
    )
    assert found.quotations[0].sentence == "Payment is due within 30 days of each milestone."


async def test_the_language_of_the_question_is_preferred_among_equals() -> None:
    items = [item("Heron 3 weighs 800 kg, 重."), item("苍鹭 Heron 3 重 800 kg，weigh。")]
    chinese = await ExtractiveAnswerer().extract("Heron 3 重多少 kg？", items, language="zh")
    english = await ExtractiveAnswerer().extract(
        "How many kg does the Heron 3 weigh?", items, language="en"
    )
    assert chinese.quotations[0].source == 1
    assert english.quotations[0].source == 0


async def test_what_is_quoted_besides_the_best_of_a_passage_keeps_its_order() -> None:
    summary = item(
        "The price is paid at milestones: at the signing of the contract, at delivery and at acceptance."
    )
    parts = item(
        "At the signing milestone 30 % of the price is paid. Milestones are signed by Ms Shen."
        " At the delivery and acceptance milestones 70 % of the price is paid."
    )
    found = await ExtractiveAnswerer().extract(
        "What share of the price is paid at the delivery milestone?",
        [summary, parts],
        language="en",
    )
    first, *others = found.quotations
    assert first.source == 0
    assert len(others) == 2
    assert others[0].start < others[1].start


async def test_the_same_sentence_in_two_passages_is_quoted_once() -> None:
    items = [item(GUIDELINE), item(GUIDELINE)]
    found = await ExtractiveAnswerer().extract("糖尿病的主要症状是什么？", items, language="zh")
    assert [quote.sentence for quote in found.quotations].count(SYMPTOMS) == 1


async def test_no_more_than_three_sentences_are_quoted() -> None:
    text = "".join(
        f"付款节点第{number}条由甲方{'甲乙丙丁戊己庚'[number]}确认。" for number in range(7)
    )
    found = await ExtractiveAnswerer().extract("付款节点有哪些？", [item(text)], language="zh")
    assert len(found.quotations) == 3


@pytest.mark.parametrize(
    ("question", "language"),
    [("公司食堂几点开门？", "zh"), ("Who won the football match yesterday?", "en")],
)
async def test_weak_evidence_is_no_answer_and_the_nearest_passage_is_named(
    question: str, language: str
) -> None:
    found = await ExtractiveAnswerer().extract(question, [item(GUIDELINE)], language=language)
    assert found == Extraction((), nearest=0)


async def test_without_passages_nothing_is_near() -> None:
    assert await ExtractiveAnswerer().extract("什么？", [], language="zh") == Extraction((), None)


async def test_meaning_decides_among_sentences_that_share_the_words() -> None:
    sentences = ["The belt moves the parcel.", "The belt lifts the parcel."]
    meanings = AngleEmbedder(E5, {sentences[0]: 0.8, sentences[1]: 0.95})
    found = await ExtractiveAnswerer(meanings).extract(
        "What raises the parcel on the belt?", [item(" ".join(sentences))], language="en"
    )
    assert found.quotations[0].sentence == sentences[1]


@pytest.mark.parametrize(("cosine", "answered"), [(0.81, True), (0.77, False)])
async def test_across_languages_the_cosine_says_whether_there_is_an_answer(
    cosine: float, answered: bool
) -> None:
    meanings = AngleEmbedder(E5, {}, otherwise=cosine)
    found = await ExtractiveAnswerer(meanings).extract(
        "付款期限是多久？", [item(CONTRACT)], language="zh"
    )
    assert bool(found.quotations) is answered


async def test_across_languages_an_identifier_bounds_what_may_answer() -> None:
    table = "| Code | Meaning |\n| --- | --- |\n| E42 | Jam |\n| E47 | Belt slips |"
    items = [item("皮带应当每月检查。"), item(table)]
    meanings = AngleEmbedder(E5, {}, otherwise=0.8)
    answerer = ExtractiveAnswerer(meanings)
    found = await answerer.extract("E47 是什么意思？", items, language="zh")
    assert [quote.sentence for quote in found.quotations] == ["E47 | Belt slips"]
    assert not (await answerer.extract("E99 是什么意思？", items, language="zh")).quotations


async def test_passages_in_the_questions_own_language_raise_the_bar_across_languages() -> None:
    meanings = AngleEmbedder(E5, {}, otherwise=0.80)
    answerer = ExtractiveAnswerer(meanings)
    alone = await answerer.extract("付款要等多久？", [item(CONTRACT)], language="zh")
    assert alone.quotations
    both = [item("仓库每月十八日盘点。"), item(CONTRACT)]
    assert not (await answerer.extract("付款要等多久？", both, language="zh")).quotations


async def test_a_misspelt_word_is_read_as_the_passages_have_it() -> None:
    found = await ExtractiveAnswerer().extract(
        "Who sends the invioce?", [item(CONTRACT)], language="en"
    )
    assert found.quotations[0].sentence == "The supplier sends an invoice."


@pytest.mark.parametrize(("cosine", "answered"), [(0.97, True), (0.85, False)])
async def test_few_shared_words_need_a_near_meaning(cosine: float, answered: bool) -> None:
    meanings = AngleEmbedder(E5, {}, otherwise=cosine)
    question = "患者得了糖尿病以后应当怎样安排日常饮食和运动？"
    found = await ExtractiveAnswerer(meanings).extract(question, [item(GUIDELINE)], language="zh")
    assert bool(found.quotations) is answered


async def test_half_of_a_short_question_missing_asks_of_something_else() -> None:
    family = [item("宋祁的妻子是王氏；宋祁的外甥是许拯。")]
    meanings = AngleEmbedder(E5, {}, otherwise=0.93)
    answerer = ExtractiveAnswerer(meanings)
    assert (await answerer.extract("宋祁的外甥是谁？", family, language="zh")).quotations
    assert not (await answerer.extract("宋祁的伯父是谁？", family, language="zh")).quotations


def part(text: str, document: str = "manual", title: str = "Manual") -> RetrievedItem:
    named = {"document_title": title}
    return replace(item(text), document_id=document, metadata=named)


@pytest.mark.parametrize(
    ("question", "title", "answered"),
    [
        ("What is the speed of the belt?", "Manual", True),
        ("What is the speed of light?", "Manual", False),
        ("灯光的速度是多少？", "Manual", False),
        # The title says of what all of the document is.
        ("What is the speed of light?", "Light", True),
    ],
)
async def test_a_property_is_told_only_by_a_passage_on_what_it_is_asked_of(
    question: str, title: str, answered: bool
) -> None:
    """Elsewhere its document speaks of light, too."""
    belt = "The belt has a speed of 0.9 m/s. 皮带的速度是每秒0.9米。"
    parts = [belt, "A green light is on. 灯光为绿色。", "The panel is blue.", "The cover is grey."]
    found = await ExtractiveAnswerer().extract(
        question, [part(text, title=title) for text in parts], language="en"
    )
    assert bool(found.quotations) is answered


async def test_what_most_of_a_document_speaks_of_need_not_be_said_in_each_passage() -> None:
    parts = ["Its speed is 0.9 m/s.", "The belt is black.", "The belt is cleaned weekly."]
    found = await ExtractiveAnswerer().extract(
        "What is the speed of the belt?", [part(text) for text in parts], language="en"
    )
    assert found.quotations[0].sentence == "Its speed is 0.9 m/s."


async def test_words_alone_answer_while_the_embedder_is_gone() -> None:
    found = await ExtractiveAnswerer(Gone(E5, {})).extract(
        "糖尿病的主要症状是什么？", [item(GUIDELINE)], language="zh"
    )
    assert found.quotations[0].sentence == SYMPTOMS


async def test_another_passage_is_quoted_for_what_it_adds_and_not_for_being_near() -> None:
    answer = "Anna repairs the belt of the sorting station."
    near = "The belt of the sorting station is black, and so is its cover."
    other = "Bert repairs the scanner of the sorting station."
    items = [item(answer), item(near), item(other)]
    one = "Who repairs the belt of the sorting station?"
    found = await ExtractiveAnswerer().extract(one, items, language="en")
    assert [quote.sentence for quote in found.quotations] == [answer]
    two = "Who repairs the belt of the sorting station, and who the scanner?"
    found = await ExtractiveAnswerer().extract(two, items, language="en")
    assert {quote.sentence for quote in found.quotations} == {answer, other}


WARRANTY = "The warranty period of the Heron 3 is 24 months. Error E47: the belt slips."


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("How long is the warranty period of the Heron 3?", True),
        ("How long is the warranty period of the Heron 5?", False),
        ("What does error E47 say of the belt?", True),
        ("What does error E48 say of the belt?", False),
    ],
)
async def test_what_is_said_of_one_model_answers_nothing_about_another(
    question: str, answered: bool
) -> None:
    found = await ExtractiveAnswerer().extract(question, [item(WARRANTY)], language="en")
    assert bool(found.quotations) is answered
    assert answered or found.nearest == 0


async def test_documents_that_name_the_asked_thing_are_quoted_before_others() -> None:
    items = [item("The price of a motor rises in July."), item("BM-40: a motor. The price is 627.")]
    found = await ExtractiveAnswerer().extract("What is the price of BM-40?", items, language="en")
    assert {quote.source for quote in found.quotations} == {1}


@pytest.mark.parametrize(
    ("question", "language"), [("What is the price of BM-40?", "en"), ("BM-40 的价格", "zh")]
)
async def test_a_row_is_found_by_its_code_and_the_name_of_a_column_in_either_language(
    question: str, language: str
) -> None:
    table = "| Article | Name | Price (CNY) |\n|---|---|---|\n| SC-110 | Head | 12400 |\n| BM-40 | Motor | 4860 |"
    news = item("BM-40 电机的供应商通知，自 7 月 1 日起涨价 6%。")
    answerer = ExtractiveAnswerer(AngleEmbedder(E5, {}, otherwise=0.9))
    found = await answerer.extract(question, [news, item(table)], language=language)
    assert found.quotations[0].sentence == "BM-40 | Motor | 4860"


async def test_a_stop_without_a_word_is_no_answer_however_near_its_vector_is() -> None:
    meanings = AngleEmbedder(E5, {"。": 0.99}, otherwise=0.5)
    passage = item("今天天气很好。。\n。\n（Vale of Pewsey）。")
    found = await ExtractiveAnswerer(meanings).extract("付款期限多久？", [passage], language="zh")
    assert not found.quotations


async def test_a_row_asked_for_by_its_number_is_not_guessed_without_its_table() -> None:
    items = [item("The second row of seats costs 20. A row of seats costs 30.")]
    found = await ExtractiveAnswerer().extract("and the second row?", items, language="en")
    assert found == Extraction((), nearest=0)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How much does the NW-400 cost?", "The NW-400 is a flow meter. The NW-400 has 2 outputs."),
        ("NX-90 的价格是多少？", "NX-90 是一款温控器。NX-90 于 2022 年上市。"),
    ],
)
async def test_a_question_for_a_price_is_declined_where_no_amount_stands(
    question: str, text: str
) -> None:
    language = "en" if question.isascii() else "zh"
    found = await ExtractiveAnswerer().extract(question, [item(text)], language=language)
    assert not found.quotations
    assert found.nearest == 0


async def test_sentences_that_only_share_the_name_of_the_thing_are_not_added() -> None:
    sheet = item("The NW-400 is manufactured in Utrecht. The NW-400 has a steel housing.")
    found = await ExtractiveAnswerer().extract("Where is the NW-400 made?", [sheet], language="en")
    assert [quote.sentence for quote in found.quotations] == [
        "The NW-400 is manufactured in Utrecht."
    ]


async def test_a_verb_that_says_little_need_not_be_repeated() -> None:
    team = item("| Name | Office |\n| --- | --- |\n| Ben | Vienna |\n| Chloe | Paris |")
    found = await ExtractiveAnswerer().extract("Who works in Paris?", [team], language="en")
    assert [quote.sentence for quote in found.quotations] == ["Chloe | Paris"]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("物业费谁付？", "水电费由承租方支付，物业费由出租方支付。"),
        ("怎么打开童锁？", "长按童锁键三秒可开启或关闭童锁。"),
        ("赵磊为什么没来？", "缺席：赵磊（出差）。"),
        ("How much money was approved?", "Ines Faber approved 12,000 EUR."),
        ("What is the notice period?", "Either party may terminate with a notice of three months."),
        ("What is the maximum liability?", "The liability is limited to 250,000 EUR."),
    ],
)
async def test_an_answer_need_not_repeat_what_asks_or_is_said_otherwise(
    question: str, text: str
) -> None:
    language = "en" if question.isascii() else "zh"
    found = await ExtractiveAnswerer(AngleEmbedder(E5, {}, otherwise=0.9)).extract(
        question, [item(text)], language=language
    )
    assert [quote.sentence for quote in found.quotations] == [text]


async def test_a_sentence_that_disclaims_what_is_asked_is_no_answer() -> None:
    moved = "E0382 表示使用了已经移动的值，与 E42 无关。请改用引用。"
    about = "错误代码 E42 表示电池电压过低。"
    alone = await ExtractiveAnswerer().extract(
        "错误代码 E42 怎么处理？", [item(moved)], language="zh"
    )
    beside = await ExtractiveAnswerer().extract(
        "错误代码 E42 是什么意思？", [item(moved), item(about)], language="zh"
    )
    assert alone == Extraction((), 0)
    assert [one.sentence for one in beside.quotations] == [about]


async def test_of_fields_the_one_that_is_asked_for_is_quoted_without_those_beside_it() -> None:
    fields = "出租方（甲方）：上海恒远公司\n承租方（乙方）：宁波新港公司\n签约地：杭州"
    found = await ExtractiveAnswerer().extract("甲方是哪家公司？", [item(fields)], language="zh")
    assert [one.sentence for one in found.quotations] == ["出租方（甲方）：上海恒远公司"]
