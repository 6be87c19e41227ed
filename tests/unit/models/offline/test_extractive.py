"""Answers without a chat model: quotations that hold, and a plain word when there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from sextant.domain.errors import ModelUnavailable
from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.extractive import Extraction, ExtractiveAnswerer
from sextant.models.protocols import Vectors
from tests.embedders import AngleEmbedder
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
    assert [quote.sentence for quote in found.quotations][1:] == rows


async def test_an_english_question_is_answered_in_english() -> None:
    found = await ExtractiveAnswerer().extract(
        "When is payment due?", [item(CONTRACT)], language="en"
    )
    assert found.quotations[0].sentence == "Payment is due within 30 days of each milestone."


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
    assert found.quotations[1].start < found.quotations[2].start


@pytest.mark.parametrize(
    ("question", "language"),
    [("公司食堂几点开门？", "zh"), ("Who won the football match yesterday?", "en")],
)
async def test_weak_evidence_is_no_answer_and_the_nearest_sentence_is_named(
    question: str, language: str
) -> None:
    found = await ExtractiveAnswerer().extract(question, [item(GUIDELINE)], language=language)
    assert not found.quotations
    assert found.nearest is not None
    assert found.nearest.sentence in GUIDELINE


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


def part(text: str, document: str = "manual", title: str = "Manual") -> RetrievedItem:
    named = {"document_title": title}
    return replace(item(text), document_id=document, metadata=named)


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


async def test_what_only_shares_words_with_the_best_is_not_quoted_beside_it() -> None:
    answer = "Anna repairs the belt of the sorting station."
    near = "The belt of the sorting station is black, and so is its cover."
    other = "Bert repairs the scanner of the sorting station."
    items = [item(answer), item(near), item(other)]
    one = "Who repairs the belt of the sorting station?"
    found = await ExtractiveAnswerer().extract(one, items, language="en")
    assert [quote.sentence for quote in found.quotations] == [answer]


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
    assert answered or found.nearest is not None


async def test_documents_that_name_the_asked_thing_are_quoted_before_others() -> None:
    items = [item("The price of a motor rises in July."), item("BM-40: a motor. The price is 627.")]
    found = await ExtractiveAnswerer().extract("What is the price of BM-40?", items, language="en")
    assert {quote.source for quote in found.quotations} == {1}


async def test_characters_of_a_question_word_are_no_words_that_a_short_question_lacks() -> None:
    delivery = "第二条 乙方应于2025年4月30日前交货。"
    prices = item("合同总价为160000元。甲方在收到货物后15日内验收。")
    found = await ExtractiveAnswerer().extract(
        "什么时候交货？", [prices, item(delivery)], language="zh"
    )
    assert [quote.sentence for quote in found.quotations][:1] == [delivery]


async def test_a_row_is_found_by_its_code_and_the_name_of_a_column() -> None:
    table = "| Article | Name | Price (CNY) |\n|---|---|---|\n| SC-110 | Head | 12400 |\n| BM-40 | Motor | 4860 |"
    news = item("BM-40 电机的供应商通知，自 7 月 1 日起涨价 6%。")
    answerer = ExtractiveAnswerer(AngleEmbedder(E5, {}, otherwise=0.9))
    question = "What is the price of BM-40?"
    found = await answerer.extract(question, [news, item(table)], language="en")
    assert found.quotations[0].sentence == "BM-40 | Motor | 4860"


async def test_a_stop_without_a_word_is_no_answer_however_near_its_vector_is() -> None:
    meanings = AngleEmbedder(E5, {"。": 0.99}, otherwise=0.5)
    passage = item("今天天气很好。。\n。\n（Vale of Pewsey）。")
    found = await ExtractiveAnswerer(meanings).extract("付款期限多久？", [passage], language="zh")
    assert not found.quotations


async def test_sentences_that_only_share_the_name_of_the_thing_are_not_added() -> None:
    sheet = item("The NW-400 is manufactured in Utrecht. The NW-400 has a steel housing.")
    found = await ExtractiveAnswerer().extract("Where is the NW-400 made?", [sheet], language="en")
    assert [quote.sentence for quote in found.quotations] == [
        "The NW-400 is manufactured in Utrecht."
    ]


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("专业版多少钱？", "此插件为专业版专享插件。"),
        ("What is the phone number of the library team?", "The library team answers on port 5244."),
        ("What salary does a library clerk get?", "A library clerk gets a locker and a key."),
    ],
)
async def test_what_lacks_the_value_that_is_asked_for_is_no_answer(
    question: str, passage: str
) -> None:
    language = "zh" if question.startswith("专") else "en"
    found = await ExtractiveAnswerer().extract(question, [item(passage)], language=language)
    assert not found.quotations
    assert found.nearest is not None
    assert found.nearest.sentence == passage


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("What is the price of the starter kit?", "The price of the starter kit is on request."),
        ("入会费多少钱？", "入会费全免，只需填写登记表。"),
        ("客服热线是多少？", "如有疑问请致电客服热线95588。"),
    ],
)
async def test_what_says_all_that_is_asked_answers_in_whatever_form(
    question: str, passage: str
) -> None:
    language = "en" if question.isascii() else "zh"
    found = await ExtractiveAnswerer().extract(question, [item(passage)], language=language)
    assert [one.sentence for one in found.quotations] == [passage]


async def test_a_label_is_quoted_with_the_value_on_the_next_line() -> None:
    bill = item("Bill B-118\n\nBilling Date:\n\n03/20/2031\n\nDue Date:\n\n04/04/2031")
    found = await ExtractiveAnswerer().extract("When is bill B-118 due?", [bill], language="en")
    told = [one.sentence for one in found.quotations]
    assert told[told.index("Due Date:") + 1] == "04/04/2031"


@pytest.mark.parametrize(
    ("question", "before", "sentence"),
    [
        ("其他人员能进机房吗？", "机房实行双人管理。", "其他人员未经批准不得进入机房。"),
        ("Who pays for smoke?", "The hall is old.", "Those who smoke in the hall pay a fine."),
    ],
)
async def test_what_only_seems_to_refer_back_is_quoted_first(
    question: str, before: str, sentence: str
) -> None:
    language = "en" if question.isascii() else "zh"
    passage = item(f"{before} {sentence}")
    found = await ExtractiveAnswerer().extract(question, [passage], language=language)
    assert found.quotations[0].sentence == sentence


async def test_what_is_fixed_for_a_day_takes_place_then() -> None:
    event = "大家好，今年年会定在杭州西湖国宾馆，时间是 2026 年 1 月 17 日。"
    passages = [item(event), item("北京办公室的门禁密码每季度更换一次，由行政部刘洋负责。")]
    for question in ("年会什么时候举行？", "年会在哪里举办？"):
        found = await ExtractiveAnswerer().extract(question, passages, language="zh")
        assert [one.sentence for one in found.quotations] == [event]


@pytest.mark.parametrize("mark", ["Q", "问"])
async def test_of_a_question_without_a_question_mark_its_answer_is_quoted(mark: str) -> None:
    passage = item(
        f"{mark}：上传时提示 413\n\nA：把 body_size 改大即可。\n\n{mark}：登录时提示 61\n\nA：换一个浏览器。"
    )
    found = await ExtractiveAnswerer().extract("上传时提示 413 怎么办？", [passage], language="zh")
    assert found.quotations[0].sentence == "把 body_size 改大即可。"
