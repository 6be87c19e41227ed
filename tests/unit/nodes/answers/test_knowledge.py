"""What a prompt says beside its passages."""

from __future__ import annotations

from langchain_core.messages import AIMessage

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.nodes.answers.answer_generator import AnswerGenerator
from sextant.nodes.answers.passages import knowledge_of
from sextant.nodes.prompt_lines import KNOWLEDGE_TOKENS, format_reports
from sextant.text.characters import estimate_tokens
from tests.unit.nodes.conftest import ListeningModel


def passage(text: str) -> RetrievedItem:
    return RetrievedItem(ItemKind.CHUNK, text, text, 0.5)


def relation(source: str, kind: str, target: str) -> RetrievedItem:
    text = f"{source} → {kind} → {target}"
    return RetrievedItem(ItemKind.RELATION, text, text, 0.5, metadata={"type": kind})


def entity(name: str, kind: str = "TERM") -> RetrievedItem:
    return RetrievedItem(ItemKind.ENTITY, name, name, 0.5, metadata={"name": name, "type": kind})


def report(title: str, *findings: str) -> RetrievedItem:
    summary = "".join(findings[:2])
    told = [{"text": text, "chunk_ids": []} for text in findings]
    return RetrievedItem(
        ItemKind.COMMUNITY, title, f"{title}\n{summary}", 0.5, metadata={"findings": told}
    )


def test_relations_with_a_type_are_told_and_neither_terms_nor_what_stands_together() -> None:
    found = [
        entity("糖尿病"),
        entity("二甲双胍", "DRUG"),
        relation("血糖", "CO_OCCURS", "糖尿病"),
        relation("二甲双胍", "TREATS", "糖尿病"),
        relation("二甲双胍", "TREATS", "糖尿病"),
    ]
    assert knowledge_of("糖尿病怎么治疗？", found, []) == "- 二甲双胍 → TREATS → 糖尿病"


def test_of_relations_only_those_of_what_the_question_names_are_told() -> None:
    found = [
        relation("逾期付款", "HAS_PENALTY", "违约金"),
        relation("二甲双胍", "TREATS", "糖尿病"),
        relation("metformin", "TREATS", "diabetes"),
    ]
    assert knowledge_of("糖尿病怎么治疗？", found, []) == (
        "- 二甲双胍 → TREATS → 糖尿病\n- metformin → TREATS → diabetes"
    )
    assert knowledge_of("How is diabetes treated?", found[1:], []).count("→") == 4
    assert knowledge_of("How long is the notice period?", found[2:], []) == ""
    assert knowledge_of("这些文档主要讲了什么？", found, []).count("TREATS") == 2


def test_no_sentence_is_told_that_a_passage_or_another_line_tells() -> None:
    shown = passage("糖尿病患者的主要症状是多饮、多尿。\n胰岛素由胰岛分泌。")
    found = [
        report("症状", "糖尿病患者的主要症状是多饮、多尿。", "糖尿病起病隐匿。"),
        report("起病", "糖尿病起病隐匿。", "糖尿病应定期复查。糖尿病患者的主要症状是 多饮、多尿！"),
        report("胰岛", "胰岛素由胰岛分泌。"),
    ]
    assert knowledge_of("糖尿病有哪些症状？", found, [shown]) == (
        "- 症状: 糖尿病起病隐匿。\n- 起病: 糖尿病应定期复查。"
    )


def test_of_reports_only_what_has_a_word_of_the_question_is_told() -> None:
    found = [report("糖尿病与合同", "糖尿病起病隐匿。", "合同总价为一百万元。")]
    assert knowledge_of("糖尿病有什么特点？", found, []) == "- 糖尿病与合同: 糖尿病起病隐匿。"
    whole = knowledge_of("这些文档主要讲了什么？", found, [])
    assert whole == "- 糖尿病与合同: 糖尿病起病隐匿。 合同总价为一百万元。"


def test_knowledge_is_short_however_much_is_known() -> None:
    relations = [relation(f"苍鹭{number}", "REPORTED_BY", f"网关{number}") for number in range(99)]
    reports = [report("苍鹭", *(f"苍鹭{number}已停机。" for number in range(99)))]
    for found in (relations, reports, [*relations[:9], *reports]):
        knowledge = knowledge_of("哪些苍鹭停机？", found, [])
        assert KNOWLEDGE_TOKENS * 0.8 < estimate_tokens(knowledge) <= KNOWLEDGE_TOKENS
    assert knowledge_of("哪些苍鹭停机？", relations, [], tokens=0) == ""


def test_reports_that_are_read_say_their_sentences_once() -> None:
    found = [report("症状", "糖尿病起病隐匿。", "多饮、多尿。"), report("起病", "糖尿病起病隐匿。")]
    assert format_reports(found) == "- 症状: 糖尿病起病隐匿。 多饮、多尿。"


def test_the_prompt_shows_passages_and_only_what_the_graph_adds_to_them() -> None:
    model = ListeningModel(messages=iter([AIMessage("糖尿病患者的主要症状是多饮、多尿[1]。")]))
    found = [
        passage("糖尿病患者的主要症状是多饮、多尿。"),
        entity("糖尿病"),
        relation("糖尿病", "CO_OCCURS", "多饮"),
        relation("二甲双胍", "TREATS", "糖尿病"),
        report("糖尿病", "糖尿病患者的主要症状是多饮、多尿。", "糖尿病应定期复查。"),
    ]
    AnswerGenerator(model).generate("糖尿病患者的主要症状是什么？", found)
    knowledge = model.heard[0].partition("<knowledge>\n")[2].partition("\n</knowledge>")[0]
    assert knowledge == "- 二甲双胍 → TREATS → 糖尿病\n- 糖尿病: 糖尿病应定期复查。"
    assert model.heard[0].count("主要症状是多饮、多尿。") == 1
