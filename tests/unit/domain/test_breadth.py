"""Which questions are about a knowledge base as a whole: a table of labelled ones."""

from __future__ import annotations

import re
import time

import pytest

from sextant.domain.breadth import (
    asks_account,
    find_other_subjects,
    is_broad,
    may_ask_account,
)


@pytest.mark.parametrize(
    "question",
    [
        "What are the main themes of these documents?",
        "What are the main themes?",
        "What topics are covered?",
        "Which topics does this knowledge base cover?",
        "Give me an overview of everything.",
        "Summarise the documents.",
        "Please summarize all of the files in three sentences.",
        "What are the key takeaways from the collection?",
        "What are these documents about?",
        "What is this about?",
        "What is this knowledge base about?",
        "Compare the leave policies across the documents.",
        "How do the approaches to safety differ across documents?",
        "What do the documents have in common?",
        "Give me a short summary of the knowledge base",
        "What are the recurring issues in these logs?",
        "List the most important topics.",
        "What are the overall trends in the data set?",
        "Identify the main ideas and themes of the corpus.",
        "What does the collection discuss?",
        "Can you give me the big picture?",
        "What is in this knowledge base?",
        "总结一下这些文档的主要内容",
        "有哪些主题",
        "这些文档讲了什么？",
        "这是关于什么的？",
        "这份文档讲了什么？",
        "这些规范主要讲了什么？",
        "这份合同写的是什么？",
        "文档里有哪些内容？",
        "请概括知识库的内容。",
        "这个知识库主要涉及哪些方面？",
        "所有文件的核心观点是什么？",
        "帮我梳理一下全部资料的要点",
        "比较各文档之间的异同",
        "这几篇文章有什么共同点？",
        "主要讨论了哪些话题？",
        "给我一个整体概述",
        "这些资料主要讲的是什么",
        "对比不同文档中的休假规定",
        "知识库里都有些什么内容？",
        "这个知识库里有什么？",
        "整体来看，这些文档的主要内容是什么？",
        "请用三句话总结所有文档。",
        "文档的主题有哪些？",
        "總結一下這些文檔的主要內容",
        "有哪些主題？",
    ],
)
def test_questions_about_the_whole_are_broad(question: str) -> None:
    assert is_broad(question)


@pytest.mark.parametrize(
    "question",
    [
        "What is this rule about?",
        "休假制度是关于什么的？",
        "How many days of leave do employees have?",
        "What is the main theme of Hamlet?",
        "Summarise the Heron 3 manual.",
        "What are the main side effects of insulin?",
        "Which document describes the leave policy?",
        "Compare insulin and metformin.",
        "What is the difference between E47 and E51?",
        "What topics did Adam discuss with Li Hua?",
        "Who directed the film Captain Apache?",
        "What is the overview page of GW-20?",
        "What are the key steps of calibration?",
        "Give me a summary of the incident INC-2025-017.",
        "Which company owns both papers?",
        "What are the main exports of Norway?",
        "What is the subject of the painting?",
        "What are the main points of the contract about late delivery?",
        "Are both documents signed by the same person?",
        "What is the capital of France?",
        "《红楼梦》的主题是什么？",
        "总结一下差旅报销制度",
        "糖尿病的主要症状有哪些？",
        "苍鹭3和苍鹭2有什么区别？",
        "合同的付款节点有哪些？",
        "这份合同的总价是多少？",
        "比较胰岛素和二甲双胍的副作用",
        "蓄电池组由什么供电？",
        "INC-2025-017的主要原因是什么",
        "谁主持了产品周会？",
        "第三章的主要内容是什么？",
        "这首歌的主题曲是谁唱的？",
        "李华主要和谁讨论了话题？",
        "该文件由谁签署？",
        "这些药物主要有哪些副作用？",
        "这份合同对违约金写了什么？",
        "哪份文件规定了试用期？",
        "热控系统的主要功能",
        "知识库管理员是谁？",
        "知识库里有什么安全规定？",
        "合同里有哪些付款节点？",
        "总结华为的发展历程",
        "???",
    ],
)
def test_questions_about_something_are_particular(question: str) -> None:
    assert not is_broad(question)


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What are the main themes of these documents?", []),
        ("Summarize all documents on leave", ["leave"]),
        ("What do the documents say about Norway?", ["What", "do", "the", "Norway"]),
        ("Who signed the contract?", ["Who", "signed", "the", "contract"]),
        ("总结一下这些文档的主要内容", []),
        ("文档讲了挪威的什么？", ["挪威的什么"]),
        ("…… what do the ﬁles say about Norway?", ["what", "do", "the", "norway"]),
    ],
)
def test_what_is_asked_besides_the_documents_and_what_they_say_is_told_apart(
    question: str, named: list[str]
) -> None:
    assert re.findall(r"\w+", find_other_subjects(question)) == named


@pytest.mark.parametrize(
    "part",
    ["main ", "all of the ", "summarize all of the ", "across the different ", "各", "主要的"],
)
def test_a_long_question_takes_no_longer_than_its_length(part: str) -> None:
    started = time.process_time()
    is_broad(part * (20_000 // len(part)))
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "question",
    [
        "What are the main themes of these documents?",
        "What do the documents say about parental leave?",
        "What do the chats say about fitness?",
        "Summarize what is said about music and concerts.",
        "Give an overview of the wars in these texts.",
        "What is known about the harbour?",
        "总结糖尿病的治疗方法",
        "概述促泌剂的作用机制",
        "文档对低血糖说了什么？",
        "資料裡關於宗教有哪些內容？",
    ],
)
def test_an_account_is_asked_for_of_all_or_of_one_subject(question: str) -> None:
    assert asks_account(question)


@pytest.mark.parametrize(
    "question",
    [
        "Who signed the contract?",
        "When was the bridge of Arta rebuilt?",
        "What does Sova plan to do to keep their cardio interesting?",
        "How many days of leave does the handbook give?",
        "糖尿病患者的主要症状是什么？",
        "终验合格后付多少？",
        "谁写了这份报告？",
    ],
)
def test_a_fact_is_no_account(question: str) -> None:
    assert not asks_account(question)


@pytest.mark.parametrize(
    "question",
    [
        "Give an account of the harbour master",
        "Describe the depot",
        "Background on the supplier",
        "How are parcels sorted?",
        "What lessons were learned?",
        "Which safety rules must visitors follow?",
        "What do the documents say about leave?",
        "总结一下年假的规定",
        "出差要注意哪些方面？",
        "介绍一下年假",
        "如何保养扫描头？",
    ],
)
def test_several_passages_may_answer_a_request_how_and_what_all(question: str) -> None:
    assert may_ask_account(question)


@pytest.mark.parametrize(
    "question",
    [
        "What movie did they watch?",
        "Which boss did they meet?",
        "Is the depot open?",
        "How many days of leave are there?",
        "The depot opens at nine?",
        "试用期是多久？",
        "谁签了合同？",
        "年假有几天",
        "哪些人签了合同？",
        "可以带宠物吗",
    ],
)
def test_a_question_for_one_fact_asks_for_no_account(question: str) -> None:
    assert not may_ask_account(question)
