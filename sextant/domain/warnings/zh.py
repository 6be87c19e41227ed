"""The catalogue of warnings in Chinese: a sentence for each code, and how its parameters are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sextant.domain.warnings.codes import WarningCode

BETWEEN: str = "、"
BETWEEN_SENTENCES: str = ""
SAME_REASON: str = "原因同上。"

# Why text of a document was left out; these are counted in characters.
_REASONS = {
    "struck through": "划去",
    "hidden": "隐藏",
    "not chosen in a list": "下拉列表中未选",
    "deleted under review": "修订中删除",
    "in short sentences beside the main part": "正文之外短句中",
    "in menus and feet of the page": "菜单和页脚中",
    "out of sight": "不显示",
    "in a table of contents": "目录中",
    "in page numbers": "页码中",
    "in heads and feet that are repeated": "重复的页眉页脚中",
    "in running heads and feet": "页眉页脚中",
    "in fonts without meaning": "字体未说明含义",
}
_NOUNS = {
    "image": "张图像",
    "page": "页",
    "damaged page": "个损坏的页面",
    "damaged line": "个损坏的行",
    "passage": "个段落",
    "row": "行",
    "slide": "张幻灯片",
    "damaged slide": "张损坏的幻灯片",
    "layout": "个版式",
    "comment thread": "组批注",
    "comment": "条批注",
    "picture": "张图片",
    "notes page": "页备注",
    "note": "条脚注或尾注",
    "embedded document": "个嵌入文档",
    "page header or footer": "处页眉或页脚",
    "EQ formula": "个 EQ 公式",
    "sheet": "张工作表",
    "damaged sheet": "张损坏的工作表",
    "shared text": "处共享文本",
    "drawing": "个图形",
    "chart": "个图表",
    "diagram": "个示意图",
    "video": "段视频",
    "sound": "段音频",
    "entity": "个实体",
    "report": "篇报告",
    "description": "条描述",
    "reference": "处对文件外内容的引用",
}


def quote(name: str) -> str:
    """Return a name in quotation marks."""
    return f"“{name}”"


def word_others(number: int) -> str:
    """Return how many further ones there are than are listed."""
    return f"等另外 {number} 项"


def word_aside(text: str) -> str:
    """Return a remark in brackets."""
    return f"（{text}）"


def word_count(things: Mapping[str, Any]) -> str:
    """Return a number of things, and where some of them are."""
    number, noun = things["number"], things["noun"]
    if noun in _REASONS:
        return f"{_REASONS[noun]}的文字 {number:,} 字"
    unit = "行" if noun == "damaged line" else "页"
    at = [f"第 {one} {unit}" if isinstance(one, int) else one for one in things["at"]]
    where = f"（{'、'.join([*at, *(['…'] if things['more'] else [])])}）" if at else ""
    return f"{number} {_NOUNS.get(noun, f'处 {noun}')}{where}"


_READ_THEM = "请安装扩展 `ocr`（docs/multimodal.md），再删除此文档并重新添加。"

WORDINGS: Mapping[str, str] = {
    WarningCode.CAUSE: "{reason}",
    WarningCode.UNREADABLE_CHARACTERS: "有 {number} 个字符无法识别。",
    WarningCode.ENCODING_GUESSED: "文字编码按 {encoding} 读取，可能有误。如显示有误，请另存为 UTF-8 后重新添加。",
    WarningCode.PAGES_OF_IMAGES: "共 {pages} 页，其中 {blank} 页只有图像，未读取（第 {at} 页）。"
    + _READ_THEM,
    WarningCode.PAGES_UNREADABLE: "共 {pages} 页，其中 {unmapped} 页的字体没有说明所画的是哪些字，未读取（第 {at} 页）。"
    + _READ_THEM,
    WarningCode.RUNNING_HEADS: "页眉页脚已略去：{heads}{others}。",
    WarningCode.ATTACHMENTS_NOT_READ: "{number} 个附件未读取：{names}。请另存后单独添加。",
    WarningCode.FORMULAS_NOT_COMPUTED: "{number} 个单元格的公式没有保存结果，此处为空。请用表格软件打开并保存后重新添加。",
    WarningCode.PARTS_NOT_READ: "未能读取：{parts}。",
    WarningCode.PARTS_DAMAGED: "文件内有部分已损坏或缺失，只读取了能读的内容：{parts}。",
    WarningCode.TEXT_LEFT_OUT: "未收入被删去、隐藏或置于一旁的文字：{characters}。",
    WarningCode.FURNITURE_LEFT_OUT: "正文周围的文字（占 {percent}%）未收入：{characters}。",
    WarningCode.TEXT_MISSING: "文件中 {percent}% 的文字（{number} 个字符）未能读取。请与原文件核对；"
    "用原程序重新保存或另存为其他格式后再添加，也许可以解决。",
    WarningCode.PARTS_MISSING: "文件中 {percent}% 的文字（{number} 个字符）未能读取，主要在：{parts}。请与原文件核对；"
    "用原程序重新保存或另存为其他格式后再添加，也许可以解决。",
    WarningCode.QUOTES_NOT_CLOSED: "{rows}的引号没有结束（行号 {lines}）。每行都按单独一行读取，请检查。",
    WarningCode.LINES_NOT_IMPORTED: "这些是导入文件的行，却被当作文本读取：其中的文档、实体和关系没有进入图谱。"
    "请删除此文档，再用 `sextant import`（POST /api/graphs/…/import）导入。",
    WarningCode.IMAGES_NOT_LOOKED_AT: "{images}未读取：没有配置视觉模型。请把 SEXTANT_VISION_MODEL 设为能读图像的模型，"
    "再删除此文档并重新添加。",
    WarningCode.METAFILES_NOT_READ: "{images}未读取：不支持 EMF 和 WMF。请在文档中改存为 PNG，再重新添加此文档。",
    WarningCode.IMAGES_NOT_DESCRIBED: "{images} 张图像中有 {failed} 张未能描述：{reason}",
    WarningCode.IMAGES_OVER_LIMIT: "{images}未读取：每份文档最多读 {most} 张。如需更多，请调高 "
    "SEXTANT_MULTIMODAL__DOCUMENT_IMAGES 或 SEXTANT_OCR__IMAGES，再删除此文档并重新添加。",
    WarningCode.OCR_OVER_LIMIT: "OCR 没有识别{things}：每份文档最多识别 {most} 页。请拆分文件，或调高 SEXTANT_OCR__PAGES。",
    WarningCode.OCR_FAILED: "OCR 未能识别{things}：{reason}",
    WarningCode.OCR_UNSURE: "OCR 对{things}的识别没有把握，引用其中内容时请核对原件。",
    WarningCode.PASSAGES_NOT_READ: "聊天模型没有读完{passages}中的 {missing} 个{why}。它们可以检索到；"
    "`sextant entities extract` 会读取它们。",
    WarningCode.GRAPH_NOT_REFRESHED: "知识图谱未能更新。{reason}然后请运行 `sextant communities build`。",
    WarningCode.GRAPH_NOT_PROJECTED: "知识图谱已更新，但 Neo4j 尚未同步。{reason}",
    WarningCode.NAMES_NOT_COMPARED: "聊天模型没有比较相近的名称：{reason}",
    WarningCode.ENTITIES_WITHOUT_VECTOR: "{entities}没有向量，只能按字词检索：一个知识库最多嵌入 {most} 个。"
    "如需更多，请调高 SEXTANT_COMMUNITIES__ENTITY_VECTORS。",
    WarningCode.REPORTS_WITHOUT_MODEL: "{reports}由原文句子拼成，不是聊天模型所写。{reason}"
    "`sextant communities build --full` 会重试。",
    WarningCode.DESCRIPTIONS_INCOMPLETE: "聊天模型没有描述全部内容。{reason}`sextant chunks describe` 会继续。",
    WarningCode.DESCRIPTIONS_FAILED: "聊天模型有{descriptions}未能写出，保留抽取的描述。`sextant chunks describe` 会重试。",
    WarningCode.DESCRIPTIONS_OVER_BUDGET: "预算已用完，还有 {left} 个段落和章节没有描述。"
    "请调高预算，再运行 `sextant chunks describe` 继续。",
    WarningCode.EXTRACTION_OVER_BUDGET: "预算已用完，还有{passages}未读。请调高预算，再运行 `sextant entities extract` 继续。",
    WarningCode.EXTRACTION_STOPPED: "聊天模型没有响应，已停止，还有{passages}未读。`sextant entities extract` 会继续。",
    WarningCode.FACTS_NOT_STORED: "图谱中关于{entity}的内容未能存为段落。{reason}",
    WarningCode.FACTS_CHANGING: "图谱中关于{entity}的内容在写成段落时不断变化。请重新导入关于它的一行。",
    WarningCode.VECTOR_LANE_FAILED: "向量检索失败，使用关键词检索降级",
    WarningCode.KEYWORD_LANE_FAILED: "关键词检索失败，仅使用向量检索结果",
    WarningCode.LANE_FAILED: "检索通道 {lane} 失败，其余通道继续。",
    WarningCode.LANE_TIMED_OUT: "检索通道 {lane} 未能及时完成。请调高 SEXTANT_RETRIEVAL__LANE_TIMEOUT，"
    "或检查数据库和嵌入模型的负载。",
    WarningCode.EMBEDDING_FAILED: "向量检索失败，使用关键词与图谱检索降级",
    WarningCode.GRAPH_STORE_FAILED: "图数据库暂不可用，结果不含实体与关系",
    WarningCode.NEO4J_UNAVAILABLE: "Neo4j 不可用，图检索改用 PostgreSQL。请启动 Neo4j 或检查 SEXTANT_NEO4J_URI；"
    "`sextant graph status` 显示其状态。",
    WarningCode.NEO4J_BEHIND: "Neo4j 尚未同步最新图谱，图检索改用 PostgreSQL。`sextant graph sync` 会同步 Neo4j。",
    WarningCode.INDEX_BEHIND: "索引正在更新，本次结果基于更新前的内容；稍后再问即可",
    WarningCode.INDEX_BUILDING: "索引正在首次建立，本次结果不含它；稍后再问即可",
    WarningCode.ENTITY_VECTOR_LANE_FAILED: "实体向量检索失败，仅使用全文检索结果",
    WarningCode.ENTITY_TEXT_LANE_FAILED: "实体全文检索失败，使用向量与图检索结果",
    WarningCode.ENTITY_GRAPH_LANE_FAILED: "图遍历失败，使用向量与全文检索结果",
    WarningCode.VECTORS_MISSING: "部分段落尚无向量（重新嵌入尚未完成），按语义检索可能漏掉它们；"
    "worker 会继续，也可运行 `sextant reembed`。",
    WarningCode.KEYWORDS_MISSING: "未提取到关键词，仅使用向量检索",
    WarningCode.PASSAGES_MISSING: "知识库里还没有段落，而问题检索的是段落；请导入文档，或用 --facts-as-passages"
    "（HTTP 为 factsAsPassages）重新导入图谱，使其事实成为段落",
    WarningCode.USER_WITHOUT_DOCUMENTS: "向量库中没有该用户的文档，请检查 user_id 与 user_field",
    WarningCode.ENTITIES_NOT_NAMED: "问题没有提到知识图谱中的实体，结果按相似度与图谱排序",
    WarningCode.REPORTS_MISSING: "知识库还没有社区报告，全局检索按关键词与相似度返回原文；"
    "图谱中有相互关联的实体时，运行 `sextant communities build` 生成",
    WarningCode.REPORTS_NOT_FILTERED: "社区报告概括全库，无法按条件筛选，本次结果不含社区报告",
    WarningCode.FILTERS_UNKNOWN: "知识库里没有筛选条件所指的文档或章节：{ids}；文档列表给出其 ID 和来源",
    WarningCode.TYPES_MISSPELT: "知识库里没有筛选条件所指的实体类型：{types}；是否指 {near}？",
    WarningCode.TYPES_UNKNOWN: "知识库里没有筛选条件所指的实体类型：{types}；已有类型：{known}",
    WarningCode.TYPES_MISSING: "知识库里没有筛选条件所指的实体类型：{types}；它没有任何实体",
    WarningCode.BM25_BUILDING: "BM25 索引正在建立，本次未按 BM25 重排；稍后再问即可",
    WarningCode.BM25_FAILED: "BM25 重排序失败，本次未使用；原因见日志",
    WarningCode.RERANKER_MISSING: "未配置重排序模型，保持融合排序",
    WarningCode.RERANKING_FAILED: "重排序失败，保持原有顺序：{reason}",
    WarningCode.RERANKING_INCOMPLETE: "重排序失败，保持原有顺序：{model} 没有给每个段落打分",
    WarningCode.RERANKING_TIMED_OUT: "重排序超时，保持原有顺序（{seconds} s）。如需更久，请调高 "
    "SEXTANT_RETRIEVAL__RERANK_TIMEOUT。",
    WarningCode.CALLS_USED_UP: "回答达到了 {most} 次模型调用的上限（limits.model_calls），只能用已有的内容作答。"
    "如需更多，请调高 SEXTANT_LIMITS__MODEL_CALLS。",
    WarningCode.TOKENS_USED_UP: "回答达到了 {most} 个提示词元的上限（limits.prompt_tokens），只能用已有的内容作答。"
    "如需更多，请调高 SEXTANT_LIMITS__PROMPT_TOKENS。",
    WarningCode.TIME_USED_UP: "回答达到了 {most} 秒的上限（limits.answer_seconds），只能用已有的内容作答。"
    "如需更多，请调高 SEXTANT_LIMITS__ANSWER_SECONDS。",
    WarningCode.JUDGED_BY_RULE: "未用聊天模型，改按规则判断：{reason}",
    WarningCode.TOO_SLOW_TO_JUDGE: "已改按规则判断：聊天模型判断约需 {seconds} 秒，而回答应在 {most} 秒内开始。"
    "可调高 SEXTANT_LIMITS__FIRST_WORDS_SECONDS，或设置 SEXTANT_ANSWERS__JUDGEMENTS=always。",
    WarningCode.TOO_SLOW_TO_ANSWER: "回答直接引自文档：聊天模型作答约需 {seconds} 秒。"
    "请把 SEXTANT_LIMITS__ANSWER_SECONDS 调到此数以上，或换用更快的模型。",
    WarningCode.NO_DOCUMENTS_USED: "未查阅任何文档即作答。",
    WarningCode.EFFORT_UNUSED: "没有生成报告：effort 为 high 时要检索文档，而 bypass 模式不使用文档。如需报告，请选择其他模式。",
    WarningCode.QUOTED_WITHOUT_MODEL: "聊天模型出错，因此回答直接引自文档：{reason}",
    WarningCode.MODEL_DECLINED: "由于未批准撰写回答的费用，回答直接引自文档。",
    WarningCode.TABLES_NOT_COMPUTED: "没有对文档中的表格进行计算：{reason}",
    WarningCode.ROWS_FILLED_UP: "{label}：长度不一的行已补足到 {width} 列（第 {rows} 行）。",
    WarningCode.VISION_MODEL_MISSING: "{labels}：没有配置视觉模型，因此未查看图片，仅根据文字作答。"
    "请把 SEXTANT_VISION_MODEL 设为能读图的模型。",
    WarningCode.IMAGE_NOT_DESCRIBED: "{label}：视觉模型没有描述图片，因此未使用它：{reason}",
    WarningCode.IMAGE_CALLS_USED_UP: "{label}：模型调用次数已达上限（limits.model_calls），因此未使用这张图片。"
    "请调高 SEXTANT_LIMITS__MODEL_CALLS。",
    WarningCode.IMAGE_TIMED_OUT: "{label}：视觉模型未能及时回答，因此未使用这张图片。"
    "请调高 SEXTANT_MULTIMODAL__SECONDS，或检查其负载。",
    WarningCode.CONTEXT_SHORTENED: "上下文超出聊天模型能读的长度，因此只给了它一部分。"
    "请调低 SEXTANT_LIMITS__CONTEXT_TOKENS，或换用上下文更长的模型。",
    WarningCode.CONTEXT_SHORTENED_FOR_TIME: "聊天模型每秒约读 {rate} 个词元，为及时回答，只给了它较少的段落。"
    "如需更多，请调高 SEXTANT_LIMITS__{limit}。",
    WarningCode.CONTEXT_CUT: "聊天模型最多读 {tokens} 个词元，更长的提示会被悄悄截断，因此只给了它较少的段落。"
    "请在模型服务处调大上下文（Ollama：OLLAMA_CONTEXT_LENGTH），再运行 `sextant doctor`。",
    WarningCode.ANSWER_CUT_OFF: "回答达到长度上限（limits.answer_tokens）而被截断。"
    "如需更长，请调高 SEXTANT_LIMITS__ANSWER_TOKENS。",
    WarningCode.ANSWER_OUT_OF_TIME: "回答达到时间上限（limits.answer_seconds）而被截断。"
    "如需更久，请调高 SEXTANT_LIMITS__ANSWER_SECONDS。",
    WarningCode.ANSWER_BROKEN_OFF: "聊天模型出错，回答到此中断：{reason}",
    WarningCode.THOUGHT_WITHDRAWN: "以上是聊天模型的思考过程，不是回答。",
    WarningCode.REPORTS_NOT_READ: "聊天模型未能读取 {unread}/{reports} 的主题报告：{reasons}",
    WarningCode.PASSAGES_OUTDATED: "有{passages}在检索后被修改或删除，因此未引用。",
    WarningCode.CITATIONS_NOT_COMPARED: "无法将引文与库中文档核对：{reason}",
    WarningCode.JUDGE_FAILED: "核查引文的模型出错，因此改按规则核查：{reason}",
    WarningCode.JUDGE_TIMED_OUT: "核查引文的模型未能及时回答，因此改按规则核查。请检查其负载，"
    "或另设 SEXTANT_ANSWERS__JUDGE。",
    WarningCode.SENTENCES_REVISED: "回答中有 {number} 句没有段落支持，已改写或删去。",
    WarningCode.REVISION_FAILED: "没有段落支持的句子未能改写：{reason}",
    WarningCode.REVISION_OVER_LIMIT: "没有段落支持的句子未能改写：已达上限 limits.{limit}。"
    "请调高 SEXTANT_LIMITS__{setting}。",
    WarningCode.CITED_DOCUMENT_CHANGED: "引用的文档在此期间被修改或删除，仅由它支持的内容已删去。",
    WarningCode.CITATIONS_REMOVED: "不能支持其句子的引文已去掉。",
    WarningCode.ANSWER_REPLACED: "聊天模型所写的内容没有文档支持，因此改为直接引用文档。",
    WarningCode.ANSWER_NOT_CONFIRMED: "没有文档说明聊天模型所写的内容，因此已加标记，并在其下引用文档。",
    WarningCode.ANSWER_IN_OTHER_LANGUAGE: "聊天模型没有用提问的语言回答。",
    WarningCode.LINE_IS_NO_LINE: "不是有效的行：请给出字典，或字节、文本形式的 JSON。",
    WarningCode.LINE_NOT_JSON: "不是 JSON，第 {place} 个字符处出错（{fault}）。请检查引号、逗号和括号。",
    WarningCode.LINE_NOT_UTF8: "不是 JSON：第 {place} 个字节处不是 UTF-8 文本。请把文件另存为 UTF-8。",
    WarningCode.LINE_TOO_DEEP: "JSON 无法读取：列表或对象嵌套过深。请减少嵌套层数。",
    WarningCode.LINE_NUMBER_TOO_LONG: "JSON 无法读取：有一个数超过 {most} 位。请把它写成文本。",
    WarningCode.LINE_NO_OBJECT: "不是 JSON 对象。每行应为一个 {{…}}。",
    WarningCode.LINE_FAULT: "{where}{fault}。",
    WarningCode.LINE_JOINS_ITSELF: "这条 {type} 把 {entity} 与其自身相连。请给出两个不同的实体。",
    WarningCode.LINE_SECTION_ENDS_BEFORE: "sections[{index}].start：{start} 位于其结尾 {end} 之后。两者都应是在文档文本中的字符位置，小的在前。",
    WarningCode.LINE_SECTION_BEYOND_TEXT: "sections[{index}].end：{end} 超出文档文本，文本共 {length} 个字符。请按字符而不是字节计数，最多到 {length}。",
    WarningCode.LINE_KEY_MISSPELT: "{where}没有 {key} 这个键，已略过。是否指 {meant}？",
    WarningCode.LINE_KEY_UNKNOWN: "{where}没有 {key} 这个键，已略过。可用的键：{keys}。",
    WarningCode.LINE_PASSAGE_TOO_LONG: "text：一个段落有 {length} 个字符，过长，按语义检索只能覆盖其前约 {most} 个词元。请切成几个 chunk。",
    WarningCode.LINE_TRIPLE_JOINS_ITSELF: "三元组 {triple} 把一个实体与其自身相连，已略过。",
    WarningCode.LINE_REPLACES: "它取代了 id 相同的第 {before} 行。若应是两项，请给出不同的 id。",
    WarningCode.LINE_WITHOUT_DOCUMENT: "没有哪一行描述它的文档 {document}。请加上这样一行 document，或去掉 documentId。",
    WarningCode.LINE_ID_TAKEN: "id {id} 属于 {owner}。请把 {entity} 作为它的别名，或另给一个 id。",
    WarningCode.LINE_ALIAS_SHARED: "有几个实体都以 {entity} 为别名；请给出所指实体的 id。",
    WarningCode.LINE_ENTITY_UNKNOWN: "没有实体 {entity}。请检查写法，或加上一行 entity。",
    WarningCode.LINE_ONE_ENTITY: "{source} 和 {target} 是同一个实体。请给出两个不同的实体。",
    WarningCode.LINE_CHUNK_UNKNOWN: "没有 chunk {chunk}。请检查它的 id。",
    WarningCode.LINE_DOCUMENT_EMPTY: "这个文档既没有文本，也没有 chunk。请至少给出其一。",
    WarningCode.LINE_CHUNK_ELSEWHERE: "它的 chunk {chunk} 并不在 `start` 所说的第 {said} 个字符处，已放在 {start}。请按字符而不是字节计数。",
    WarningCode.LINE_SECTION_UNKNOWN: "它的 chunk {chunk} 指向第 {section} 个章节，而章节共 {sections} 个（从 0 数起），因此未归入任何章节。",
    WarningCode.LINE_KEYS_UNUSED: "没有 chunk 时，文本按文本文件切分；{keys} 已略过。若要保留，请同时给出各个 chunk。",
    WarningCode.LINE_REJECTED: "{reason}",
    WarningCode.LINE_OVERTAKEN: "在存入期间，这个文档被他人替换、删除，或其导入被取消。若内容确应如此，请再次导入。",
}
