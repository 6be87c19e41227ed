"""Whether a question is about a knowledge base as a whole, by its words.

Such a question ("What are the main themes?", 总结一下这些文档的主要内容) has no passage that answers it;
reports on communities of entities do (Edge et al. 2024, arXiv 2404.16130, call it global sensemaking). A
question is broad when it asks for what a whole has (themes, an overview, a summary, a comparison
throughout) and either names the documents as a whole or names nothing else. All others are particular:
passages answer them better, so when in doubt a question is one of them.

The words were chosen by hand; docs/experiments/loop.md has what they do on the public evaluation sets.
"""

from __future__ import annotations

import re

from sextant.text.characters import IDEOGRAPHS, has_cjk, normalise, plain_of

_KIND = (
    r"(?:main|major|key|central|core|common|recurring|overall|overarching|principal|important|dominant"
    r"|general|big|different|broad)"
)
_PART = (
    r"(?:themes?|topics?|subjects?|ideas?|takeaways?|trends?|threads?|issues?|messages?|points?|findings"
    r"|insights?|conclusions?|areas?|patterns?|subject matters?)"
)
_DOCUMENTS = (
    r"(?:documents?|docs|files?|texts?|papers|articles|reports|materials?|sources|notes|records|logs"
    r"|passages|pages|contents?)"
)
_STORE = r"(?:knowledge ?base|collection|corpus|data ?set|library|repository|archive)"
# "the documents", "all of my files", "this knowledge base"; one "document" alone is a part of the whole.
_WHOLE = (
    rf"(?:(?:all|these|those|the|this|my|our|your|uploaded|given|provided|available|stored|whole|entire|every)\s+"
    rf"(?:of\s+)?(?:(?:these|those|the|this|my|our|your|different|various|uploaded|given|whole|entire)\s+)*"
    rf"(?:{_DOCUMENTS}|{_STORE})|everything(?: here| in here| you (?:have|know))?)"
)
_THEMES = rf"(?:{_KIND}\s+(?:\w+\s+and\s+)?{_PART}|(?:themes|topics|takeaways))"
_ASKS = (
    rf"{_THEMES}|(?:summar(?:y|ies|i[sz]e)|overview|gist|big picture|outline)\b|\bsum up\b"
    rf"|what\s+(?:is|are|do|does)\s+{_WHOLE}\s+(?:all\s+)?(?:mainly\s+|mostly\s+)?"
    rf"(?:about|cover|discuss|deal with|talk about|have in common|contain)"
    rf"|what\s+(?:is|are)\s+(?:all\s+)?in\s+{_WHOLE}"
    r"|what\s+(?:is|are)\s+(?:this|these|those|that|it)\s+(?:all\s+)?about"
    r"|compar(?:e|ison)|differ(?:s|ences?)?\b|in common"
)
_ENGLISH_ASK = re.compile(rf"\b(?:{_ASKS})")
_ENGLISH_WHOLE = re.compile(rf"\b{_WHOLE}\b")
# A comparison is of particular things unless it goes through all documents.
_COMPARES = re.compile(r"\b(?:compar(?:e|ison)|differ(?:s|ences?)?)\b")
_THROUGHOUT = re.compile(
    rf"\b(?:across|throughout|between|among)\s+(?:all\s+)?(?:of\s+)?(?:(?:the|these|those|my|our|different|various)\s+)*"
    rf"(?:{_DOCUMENTS}|{_STORE})\b"
)
_ENGLISH_FILLER = re.compile(
    r"\b(?:what|which|who|how|is|are|was|were|do|does|did|can|could|would|will|you|we|i|me|us|please|give|tell|show"
    r"|list|name|describe|identify|explain|provide|write|make|create|find|need|want|see|know|have|has|get|a|an|the"
    r"|of|in|on|from|for|to|about|and|or|with|by|at|as|that|there|here|this|these|those|it|its|them|all|any|some"
    r"|most|more|top|short|brief|quick|concise|detailed|full|complete|general|high|level|one|two|three|five|ten|\d+"
    r"|sentences?|words?|paragraphs?|bullet|bullets|points?|list|covered|discussed|mentioned|found|included"
    r"|addressed|present|presented|emerge|across|throughout|everything|content|contents|summary|main|key)\b"
)

_CHINESE_DOCUMENTS = r"(?:文档|文件|资料|材料|文章|文本|报告|内容|笔记|记录|知识库|库|语料|数据集)"
_CHINESE_WHOLE = re.compile(
    r"(?:(?:这|那)(?:些|几?[个篇份本])|(?:所有|全部|全体|各|每[个篇份]|整个|以上|上述|上传)的?|(?:我们?|你们?)的(?:所有|全部)?)"
    rf"[个篇份种]?(?:{_CHINESE_DOCUMENTS})+|(?:这个|该|本|整个)?(?:知识库|语料库?|数据集)(?:的?内容)?"
    # What tells something is a document, whatever it is called: 这些规范, 这份合同.
    rf"|(?:这|那)(?:些|几?[个篇份本])[{IDEOGRAPHS}]{{1,4}}?(?=(?:都|主要)*[讲说谈写](?:的|了|到)?(?:都?是)?些?(?:什么|哪些))"
)
_CHINESE_ASK = re.compile(
    r"(?:主要|核心|关键|重要|共同|整体|总体|大致|基本|中心)(?:的|讲的|讲了|说的|谈的|涉及的?|包含的?)?(?:内容|主题|议题|话题|观点|要点|思想|结论|趋势|方面|信息|发现|领域|问题|什么|哪些)"
    r"|主题|话题|议题|要点|大意|梗概|概要|概述|概览|综述|概括|总结|归纳|梳理|摘要|总览|全貌"
    r"|(?:讲|说|谈|写|涉及|包含|涵盖|包括)(?:的|了|到了?)?(?:是|都是|都有|有)?(?:些)?(?:什么|哪些)"
    r"|这?(?:都|主要)?是?关于些?什么的?"
    r"|[里中内]面?(?:都|主要)?有些?(?:什么|哪些)(?=[\W_]*$)"
    r"|都?有些?(?:什么|哪些)(?:内容|东西|信息|资料)|(?:比较|对比)|异同|共同点|共性|有(?:什么|哪些|何)(?:不同|区别|差异|共同)"
)
_CHINESE_COMPARES = re.compile(r"比较|对比|异同|不同|区别|差异")
_CHINESE_THROUGHOUT = re.compile(
    r"(?:各|所有|全部|不同|多[个篇份]|几[个篇份]|这些|这几[个篇份]|每[个篇份])的?(?:文档|文件|资料|材料|文章|报告)(?:之间|中|里|间)?"
)
_CHINESE_FILLER = re.compile(
    r"来看|来说|看看|总的|大家|请问|请你?|帮我?|给我|我想|我要|我们?|知道|了解|一下|一个|一段|一份|简单|简要|简短|详细|整体|总体|全部|所有|整个|这里|这儿|里面|其中|当中"
    r"|有哪些|哪些|哪几|有什么|什么|怎么|如何|是|的|了|和|与|及|以及|或|在|里|中|都|吗|呢|吧|啊|些|有|关于|对|把|从|来|进行|做|写|列出|列举|说说|讲讲|谈谈"
    r"|介绍|说明|回答|用|[一二两三四五六七八九十几]句话|\d+|[一二三五十]点|主要|核心|关键|重要|共同|文档|文件|资料|材料|内容|知识库|涉及|包含|涵盖|包括|讨论|提到|提及"
    r"|[\W_]"
)
# Words for what was put into the store, whatever it is; "reports" may be some that were spoken of.
_ALL_THERE_IS = re.compile(
    rf"\b(?:documents|docs|files|everything.*|{_STORE})$|^(?!以上|上述|那).*(?:文档|文件|资料|材料|库|语料|数据集)"
)
# What a question that is not broad may say of documents all the same, where reports were asked for it.
_ABOUT_THE_WHOLE = re.compile(
    r"\b(?:about|collection|contents?|cover(?:s|ed)?|describe[sd]?|discuss(?:es|ed)?|documents?|explain|files?|ideas?"
    r"|important|issues?|key|knowledge base|main|major|overall|overview|points?|said|say|subjects?|summari[sz]e"
    r"|summary|tell|texts?|themes?|topics?)\b"
    r"|知识库|文档|文件|资料|材料|内容|主题|话题|要点|重点|主要|重要|关键|概述|概括|总结|摘要|介绍|描述|说明|解释|涉及|包括|讨论|整体"
    r"|讲|说|谈",
    re.IGNORECASE,
)
_TALK = r"(?:chats|conversations|messages|e-?mails|letters|interviews|meetings)"
# What asks for an account of a subject rather than for a fact: "summarize", "what do the documents say about".
_ENGLISH_ACCOUNT = re.compile(
    rf"\b(?:summar(?:y|ies|i[sz]e)|overview|gist|big picture|outline|sum up)\b|\b{_THEMES}"
    rf"|\bwhat (?:do|does|did) (?:{_WHOLE}|(?:all |the |these |those |my |our )+{_TALK})[\w ]*"
    r" (?:say|tell|cover|discuss|mention|describe|contain|report)"
    r"|\bwhat (?:is|are|was|were|has been) (?:all )?(?:said|told|written|known|reported|discussed) (?:here |there )?"
    r"(?:about|of|on)\b"
)
_CHINESE_ACCOUNT = re.compile(
    rf"总结|概述|概括|归纳|综述|梳理|概览|总览|{_CHINESE_DOCUMENTS}[里中内]?都?(?:对|就|关于|有关|说|讲|谈|提到|涉及|有哪些)"
    r".{0,20}(?:说|讲|谈|提到|介绍|涉及|内容|哪些|什么)"
)
_HOW = re.compile(
    r"怎样|怎么(?!收费|算|走|写|称呼)|如何"
    r"|\bhow\b(?! (?:many|much|long|old|far|tall|high|often|large|big|fast|soon|heavy|wide|deep|hot|late)\b)"
)
_SEVERAL = re.compile(
    r"[哪那]些(?!人|[个位])"
    r"|\b(?:what|which) (?:\w+ ){0,2}?\w{2,}(?<!s)s (?:are|were|do|does|did|has|have|can|must|should|will)\b"
)
# What makes a sentence a question: its words and particles, and in English the order of a verb and its subject.
_POINTED = re.compile(
    r"\b(?:what|which|who|whom|whose|when|where|why|how)\b|\?\s*$"
    r"|^\W*(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)\b"
    r"|什么|谁|哪|几|多少|多[久长大高远重快深宽]|何|吗|为啥|是否|是不是|有没有|怎"
)
_MENTIONED_ALONE = 1  # words left over that a question without the whole may have


def is_broad(question: str) -> bool:
    """Return whether `question` asks about the documents as a whole; linear in its length."""
    if has_cjk(question):
        return _is_broad_chinese(plain_of(question))
    return _is_broad_english(normalise(question))


def asks_account(question: str) -> bool:
    """Return whether `question` is broad, or asks for an account of one subject: "What do the documents say about leave?".

    Many passages answer such a question together, and reports that sum them up do better than any one. Of
    5,900 questions of the public sets, which ask for facts, eleven are taken for one.
    """
    if is_broad(question):
        return True
    if has_cjk(question):
        return _CHINESE_ACCOUNT.search(plain_of(question)) is not None
    return _ENGLISH_ACCOUNT.search(normalise(question)) is not None


def may_ask_account(question: str) -> bool:
    """Return whether several passages together may be the answer of `question`, rather than a fact of one sentence.

    It asks for an account, how something is done, or for several things (哪些, "what rules apply"), or it asks nothing, as a
    request does ("Tell me about the depot", 介绍一下…). Of a request nobody can tell by its words what it is about.
    """
    if asks_account(question):
        return True
    plain = plain_of(question)
    return bool(_HOW.search(plain) or _SEVERAL.search(plain)) or is_request(question)


def is_request(question: str) -> bool:
    """Return whether `question` asks nothing: it is a request, or the names of things."""
    return _POINTED.search(plain_of(question)) is None


def find_other_subjects(question: str) -> str:
    """Return what a question names besides the documents and what a whole has: "leave" of all documents.

    Of a broad question mostly nothing; of any other all but the words for documents and what they say.
    """
    if not is_broad(question):
        return _ABOUT_THE_WHOLE.sub(" ", question)
    if has_cjk(question):
        return _rest_of_chinese(plain_of(question))
    return " ".join(_rest_of_english(normalise(question)))


def is_of_all(question: str) -> bool:
    """Return whether `question` is broad and names all there is: "these documents", 整个知识库.

    "What are these documents about?" means the same whatever was spoken of before; "What is it about?",
    "this report" and 上述内容 do not.
    """
    folded = plain_of(question)
    if not is_broad(question):
        return False
    whole = (_CHINESE_WHOLE if has_cjk(question) else _ENGLISH_WHOLE).search(folded)
    return whole is not None and _ALL_THERE_IS.search(whole[0]) is not None


def _is_broad_english(folded: str) -> bool:
    if not _ENGLISH_ASK.search(folded):
        return False
    if _COMPARES.search(folded):
        return _THROUGHOUT.search(folded) is not None
    left = _rest_of_english(folded)
    return not left or (bool(_ENGLISH_WHOLE.search(folded)) and len(left) <= _MENTIONED_ALONE)


def _rest_of_english(folded: str) -> list[str]:
    rest = _ENGLISH_ASK.sub(" ", _ENGLISH_WHOLE.sub(" ", folded))
    return re.findall(r"\w+", _ENGLISH_FILLER.sub(" ", rest))


def _is_broad_chinese(folded: str) -> bool:
    if not _CHINESE_ASK.search(folded):
        return False
    if _CHINESE_COMPARES.search(folded):
        return bool(_CHINESE_THROUGHOUT.search(folded))
    whole = _CHINESE_WHOLE.search(folded)
    rest = _rest_of_chinese(folded)
    return not rest or (whole is not None and len(rest) <= 2 * _MENTIONED_ALONE)


def _rest_of_chinese(folded: str) -> str:
    return _CHINESE_FILLER.sub("", _CHINESE_ASK.sub("", _CHINESE_WHOLE.sub("", folded)))
