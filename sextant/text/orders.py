"""Recognise orders to whoever answers, planted in documents: "ignore all previous instructions"."""

from __future__ import annotations

import re

_MACHINE = (
    r"(?:ais?|(?:ai |virtual )?assistants?|(?:chat ?)?bots?|(?:ai |large |language )*models?|llms?)"
)
_ANSWERED = r"(?:asked?|asks|inquires?|summari[sz]e|answer|read)"
_SAY = r"(?:say|reply|respond|answer|write|claim|output|repeat)"
_OF_HOW_TO_ANSWER = r"(?:instructions?|prompts?|passages?|(?:rules|sources|documents|context)\b)"
_FORMS = (
    # Markup of prompts.
    r"^\W*(?:assistant|human|助手)\s?[:：]|\[/?inst\]|<</?sys>>|<\|\w{1,20}\|>|<\s*/?\s*passages?\s*>",
    r"<!--\s*(?:answer|reply|say|system|instructions?|答案|回答|回复|系统|指令)|#{2,}\s*(?:instructions?|指令|系统提示)\s*#{2,}|(?:user|human|用户)\s?[:：].{0,200}(?:assistant|\bai|助手)\s?[:：]",
    # Addressing a model.
    (
        rf"\b(?:dear|hello|hey|attention|(?:note|message|instructions?|said|--) (?:to|for)),? "
        rf"(?:the |any |all |every |this )?{_MACHINE}\b"
    ),
    (
        rf"\b(?:the|any|every|this) {_MACHINE}\b.{{0,20}}\b(?:must|shall|should)\b(?: not| only)? "
        rf"(?:quote|cite|mention|reveal|say|claim)\b"
    ),
    (
        rf"\byou are (?:now|from now on) (?:in \w+ mode\b|(?:an? |the |my )?{_MACHINE}\b)"
        rf"|\bfrom now on,? you (?:must |will |only |always )*(?:are|{_SAY})\b"
    ),
    (
        rf"\bif you are (?:an? |the )?{_MACHINE}\b|\b(?:automated|automatic|machine) readers?\b"
        rf"|\b(?:policy|rules?) for the {_MACHINE}\b"
    ),
    r"如果你是[^，。；]{0,12}(?:人工智能|助手|模型|机器人|ai)|自动(?:阅读|处理)程序|(?:助手|机器人)新规定",
    # Roles, and instructions to ignore others.
    r"\b(?:act|answer) as (?:a|an|the|another) (?:different |other )?(?:bot|ai|model|assistant|persona)\b"
    r"|\bpretend that\b"
    r"|\byour (?:task|role|job) (?:has|is now) changed?\b|\bstop (?:following|obeying)\b|\bi authori[sz]e you\b",
    r"你现在扮演|(?:请|都要|必须)假装|你的任务[^，。；]{0,4}改变|(?:停止|不再)遵守|授权你",
    # What to do with the other passages.
    rf"\b(?:ignore|disregard|forget|override|bypass|discard)\b.{{0,30}}\b(?:previous|prior|above|other|all|any|your|these|earlier)\b.{{0,20}}\b{_OF_HOW_TO_ANSWER}",
    r"\bsystem prompt\b|\bi (?:order|command|instruct) you\b|\brepeat\b.{0,30}\bword for word\b",
    (
        r"\b(?:repeat|reveal|print|translate|list|output|show)\b.{0,20}\b(?:your|system|hidden) "
        r"(?:instructions|prompts?|rules)\b"
    ),
    r"\b(?:overrule|override)s? (?:all |any )?(?:the )?other\b|覆盖(?:其[他它]|所有|一切)(?:文件|文档|说法)"
    r"|\bas the only (?:valid|true|correct) (?:fact|answer|source)\b|唯一的?(?:事实|答案|依据)",
    # How to answer.
    (
        r"\b(?:begin|start|end|finish) (?:your|every|each|all) (?:answers?|repl(?:y|ies)|responses?)\b"
        r"|\binto (?:the|your|every) answer\b"
    ),
    (
        rf"\b(?:when(?:ever)?|if)(?: (?:you|some(?:one|body)|any(?:one|body)|users?|the user|a user|people)"
        rf"| you are| you['’]re)? {_ANSWERED}\b"
        rf".{{0,80}}\b(?:must |only |always |just )?{_SAY}\b(?: only| just| with| that)"
    ),
    rf"\byou (?:must|shall|will) (?:now |only |always )*{_SAY}\b",
    rf"\b{_SAY} (?:only|just|nothing but) with\b",
    rf"\b(?:summari[sz]|process|read)(?:es?|ing) this (?:file|text|document|page)\b.{{0,30}}\b(?:state|{_SAY})\b"
    r"|\bin (?:every|each|any) (?:response|answer|reply)\b|\bquestions? about\b.{0,60}\btell the user\b"
    r"|\bthe correct (?:reply|response|answer) to (?:every |any |all )?questions?\b"
    r"|\brequired to (?:conclude|say|answer)\b",
    r"(?:总结|概括|处理|阅读)(?:本|这[份篇个]?)(?:文件|文档|文)[^。；]{0,12}(?:写明|输出|声称)|每次(?:回应|回答|回复)(?:里|中|时)",
    r"(?:有人|谁|用户)[询]?问[^。；]{1,30}(?:告诉用户|就说|回答是|都听到|一律)|标准(?:答复|回答)[^。；]{0,4}(?:永远|一律)"
    r"|一律(?:说成|答|回答|回复)|必须(?:报告为|说成|写成|得出结论)",
    r"\bwithout (?:any )?citations?\b|\b(?:do not|don['’]t|never) cite\b",
    r"\bfor the question\b.{0,160}\b(?:answer|reply|say)\b",
    r"(?:亲爱的|致(?![力使病谢电])|尊敬的|你好|各位)[^。：；]{0,16}(?:助手|模型|机器人|ai)(?:[：:，,！!]|请)",
    r"模型(?:必须|不得|只能|应当?)[^，。；]{0,4}(?:引用|回答|回复|说|改写|输出)",
    r"你(?:现在|从现在起|从此)(?:是|处于)[^，。；]{0,12}(?:模式|助手|机器人|ai)|从现在(?:起|开始)[^，。；]{0,12}(?:只|都|必须)[^，。；]{0,4}(?:说|回答|回复)",
    r"(?:忽略|无视|忽视|忘[记掉]|不要理会|抛开|作废)[^。；]{0,16}(?:指令|指示|提示词?|命令|段落|系统消息)",
    r"(?<!别)(?:只|仅)(?:能|许|可|需|要)?(?:回复|回答)(?![了简])|请(?:你)?(?:回答|回复|输出)[：:“\"]",
    r"你(?:必须|只能|应当)[^，。；]{0,4}(?:说|回答|回复|声称|输出)|请把[^，。；]{1,30}说成",
    r"系统提示词|命令你|逐字(?:重复|复述)|你的(?:指令|提示词)|(?:每个|你的|所有)(?:回答|答案)(?:前|的?开头|的?结尾|末尾|都)|照抄进(?:答案|回答)",
    r"(?:不要|不得|无需|不必|请勿)(?:添加|给出)?引用(?:来源|出处|文档|其他|[，。；！]|$)",
)
_ORDER = re.compile("|".join(f"(?:{form})" for form in _FORMS), re.IGNORECASE)
# Words of questions that may ask about such instructions.
_ABOUT_ORDERS = re.compile(
    rf"\b(?:prompts?|instructions?|injections?|cite|citations?|say|reply|respond|asks|{_MACHINE})\b"
    r"|助手|模型|机器人|指令|提示词|回答|回复|引用",
    re.IGNORECASE,
)


def orders_answerer(text: str) -> bool:
    """Return whether `text` instructs the answerer what to say or to leave out."""
    return _ORDER.search(text) is not None


def asks_of_orders(question: str) -> bool:
    """Return whether a question may ask about such instructions, so that one of them may answer it."""
    return _ABOUT_ORDERS.search(question) is not None
