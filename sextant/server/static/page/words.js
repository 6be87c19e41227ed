// The page's texts, in English and Chinese.

const many = (count, one, several = `${one}s`) => `${count} ${count === 1 ? one : several}`;

export const WORDS = {
  en: {
    skip: "Skip to the content", views: "Views", base: "Knowledge base", key: "API key or token", enter: "Sign in",
    leave: "Sign out", keyHint: "This server needs to know who you are. Its administrator creates keys: sextant keys create.",
    badKey: "The server does not accept this key.", ask: "Ask", documents: "Documents", graph: "Graph",
    threads: "Conversations", fresh: "New conversation", noThreads: "None yet.", forget: "Delete", rename: "Rename", title: "Title of the conversation", download: "Save as Markdown",
    sureThread: (title) => `Delete the conversation “${title}”?`, threadGone: "This conversation no longer exists.",
    welcome: "Ask your documents", welcomeText: "Answers cite the passages they are based on. Click a number to read the original.",
    examples: "Examples (from your headings):", noDocuments: "This knowledge base has no documents yet.", addSome: "Add documents",
    question: "Your question", hint: "Ask a question; paste or drop an image or a table",
    attach: "Attach…", attachHint: "An image or a table to ask about", attached: "Attached to the question", detach: (name) => `Remove ${name}`,
    image: "image", table: "table", pasted: "Pasted table",
    notAttached: (name) => `${name} is neither an image (PNG, JPEG, WebP, GIF) nor a table (CSV, TSV, Markdown, HTML). To ask about it, add it under Documents.`,
    tooMuch: (megabytes) => `The images and tables of a question may total ${megabytes} MB. Attach fewer or smaller ones.`,
    mode: "Mode", modeHint: "How passages are found", send: "Ask", stop: "Stop", steps: "Steps of the answer",
    modes: {
      auto: "auto: by question", mix: "mix: all together", hybrid: "hybrid: entities and topics",
      local: "local: entities", global: "global: topics", naive: "naive: similar passages",
      bypass: "bypass: no documents", compare: "compare: modes side by side",
    },
    approve: "Choose sources", approveHint: "Before each answer, choose which of the passages found it may use",
    effort: "Effort", effortHint: "How much work goes into the answer", efforts: { low: "low: one search", medium: "medium: as needed", high: "high: a researched report" },
    reportSteps: { plan: "Plan", confirm: "Confirm", search: "Search further", find_gaps: "Find gaps", outline: "Outline", write: "Write", compose: "Assemble" },
    planIs: "A report on these questions.", noCost: "Quotations without a chat model, at no cost.", goOn: "Resume",
    cost: (calls, tokens, seconds) => `About ${many(calls, "model call")}, ${tokens} tokens${seconds == null ? "" : `, ${Math.round(seconds)} s`}.`,
    section: (done, total, title) => `Section ${done} of ${total}${title ? `: ${title}` : ""}`,
    analyze: "Understand", route: "Route", retrieve: "Search", grade: "Check", refine: "Search again", generate: "Answer",
    queue: "Waiting in the queue", working: "Working…", stopped: "Stopped.", again: "The connection broke. Resuming the answer…",
    stepFound: (step, passages) => `${step}: ${passages}`, found: (count) => `${count} passages found.`, answered: (seconds, mode) => `Answered in ${seconds} s, mode ${mode}.`,
    supported: "Every statement is supported by a citation.", partial: "Not every statement is supported by a citation.", unsupported: "No statement is supported by a citation.",
    declined: "The documents do not say; the quotation is only the closest passage.",
    quoted: "Quoted word for word from the documents.",
    sameAs: (mode) => `The same answer as ${mode}`, compared: (modes, answers) => `${many(modes, "mode")} compared: ${answers === 1 ? "all give the same answer" : `${answers} different answers`}.`,
    yourDecision: "Your decision is needed.", proceed: "Continue", whichMeaning: (name) => `“${name}” may mean several things. Which one do you mean?`, allMeanings: "All of them", allPassages: "All passages",
    answerCost: (tokens) => `This answer takes up to ${tokens} tokens of the chat model.`, reportPlan: (tokens) => `The report answers these questions, with about ${tokens} tokens of the chat model.`,
    fromPassages: "The answer is written from these passages.", withoutModel: "Quote without the model", noneOfThem: "Use none of them",
    retry: "Try again", sources: (count) => `Sources (${count})`, page: (number) => `page ${number}`, ocr: "read by OCR",
    cite: (marker) => `Citation ${marker}: open the passage`, opening: "Opening…", noText: "The document no longer exists.",
    around: (count) => `Entities around this answer (${count})`, trace: "Timeline", milliseconds: (ms) => `${ms} ms`,
    picture: (nodes, edges) => `${nodes} entities, ${edges} relations`,
    pictureHint: "Choose an entity to see its neighbours. Arrow keys move, Enter opens.", asList: "As a list",
    entityIs: (name, type, degree) => `${name}, ${type}, ${degree} relations here`,
    entity: "Entity", look: "Search", whole: "Best connected", cut: "Not all neighbours are drawn.",
    noGraph: "There are no entities yet. They are extracted from documents.", noEntity: "No entity matches.", nearEntities: "No entity has this name. These are the closest in meaning.", relations: "Relations", mentions: "Mentioned in", first: (title, number) => `${title} (the first ${number})`,
    stated: (number, name) => `${name}: supporting passage ${number}`, steps1: "1 step", steps2: "2 steps", stepsAround: "Neighbourhood", drawn: "Maximum entities drawn",
    aliases: (names) => `Also: ${names}`, foundHere: "Entities found",
    readTitle: (characters) => `What was read: ${characters.toLocaleString("en")} characters`,
    readKinds: { heading: "headings", text: "text", table: "tables", note: "notes and comments", field: "filled fields", margin: "headers and footers", caption: "picture descriptions" },
    leftOut: "left out with a reason", notRead: "parts that could not be read", notFound: "not found in the stored document",
    files: "Drop files or folders here, or choose files", folder: "Choose a folder", findDocument: "Find a document by its name", noneNamed: "No document has this in its name.", foundDocuments: (count) => (count === 1 ? "this document" : `these ${count} documents`), dropFound: (count) => `Delete these (${count})`,
    left: (count) => `${many(count, "document")} still being ingested.`, kinds: "Text, Markdown, HTML, PDF, Word, PowerPoint, Excel, OpenDocument, RTF, EPUB, CSV, JSON, XML, notebooks, images and scans, e-mail and mailboxes (.eml, .msg, .mbox); a graph or an export as JSON Lines",
    importing: "Importing…", brought: (documents, passages, entities, relations) => `Imported: ${many(documents, "document")}, ${many(passages, "passage")}, ${many(entities, "entity", "entities")}, ${many(relations, "relation")}.`,
    importStages: { lines: "Reading lines", facts: "Facts", documents: "Documents", graph: "Entities and relations", storing: "Storing", names: "Comparing names", merges: "Joining names", entities: "Embedding names", communities: "Communities", reports: "Reports", "report vectors": "Embedding reports", projection: "Copying to Neo4j" },
    follows: "Everything can be searched now. Names, communities and reports follow in the background.", badLines: (count) => `${many(count, "line")} with a problem`, badLine: (line, reason) => `Line ${line}: ${reason}`, seeGraph: "Show the graph",
    graphAlone: "Questions search passages, and a graph alone has none.", factsAsPassages: "Turn its facts into passages",
    shelf: "All documents", wholeDocument: "Read in the document", passageViews: "Views of the passage", asPage: "Original page", asText: "Text", pageOf: (number, filename) => `Page ${number} of ${filename}; the quote is framed`, original: "Download the original", outline: "Contents", earlier: "What comes before", further: "Read on",
    askOf: "Ask about this document", only: "Where answers are searched", onlyIn: (name) => `Only in ${name}`, everywhere: "Ask all documents again",
    missed: (count) => (count === 1 ? "A document was still being ingested when this was asked; the answer may lack its content." : `${count} documents were still being ingested when this was asked; the answer may lack their content.`),
    pages: (count) => many(count, "page"), copy: "Copy", copied: "Copied", attachedTo: (mail) => `Attached to ${mail}`,
    empty: "No documents yet.", uploading: (percent) => `Uploading: ${percent} %`, remove: "Delete", more: "More", close: "Close",
    cancel: "Cancel", keep: "Keep", create: "Create", naming: "Name of the new knowledge base", newBase: "New knowledge base…",
    baseIs: (name, documents) => `${name} (${documents})`, dropBase: "Delete this knowledge base",
    older: (why) => `A newer version could not be ingested; this is the previous one. ${why}`, sure: (name) => `Delete ${name} and everything derived from it?`, passages: (count) => many(count, "passage"),
    stages: { queued: "Waiting", parse: "Reading", ocr: "Reading pages by OCR", embed: "Embedding", publish: "Publishing", graph: "Knowledge graph", done: "Done", failed: "Failed", pending: "Waiting", ingesting: "Ingesting", ready: "Ready" },
    unattended: "Waiting: no worker is running. The server's administrator starts one: sextant worker.", graphFollows: "The graph of these documents is still being built. Look again in a moment.",
    counted: (stage, done, total) => `${stage}: ${done} of ${total}`, sameName: (name) => `Another document is called ${name}. Both are kept; delete the older one if the new one replaces it.`, unchanged: (name, other) => `${name} is here already${other ? `, as ${other}` : ""}.`,
    tooLarge: "The request is larger than this server accepts.",
    lost: "The server cannot be reached. Check that it runs, then try again.", broke: "The answer was interrupted. Ask again.",
    cutOff: "The upload was interrupted: the server is down, or the file is larger than it accepts.",
    later: (seconds) => `Try again in ${seconds} seconds.`, forbidden: "",
    kindsOf: { TERM: "term", PERSON: "person", ORGANIZATION: "organisation", LOCATION: "place", EVENT: "event", PRODUCT: "product", WORK: "work", DISEASE: "disease", SUBSTANCE: "substance", CONCEPT: "concept", DATE: "date", AMOUNT: "amount", CODE: "code", GROUP: "group" },
    relationsOf: { CO_OCCURS: "appears with", IS_A: "is a", PART_OF: "is part of", ABBREVIATES: "is short for" },
    lanes: { keyword: "words", vector: "meaning", walk: "graph", reports: "reports", local: "entities", global: "topics", mix: "words, meaning, graph", rerank: "rerank", restating: "restated" },
    rank: (lane, place) => `${lane} #${place}`, rankHint: "Found by this lane, at this rank",
    help: "Help", helpHint: "What modes, citations and the notes below an answer mean",
    helpTexts: [
      ["Ask", [
        ["Knowledge base", "The documents that are searched together. Choose one at the top."],
        ["Conversation", "A question may build on earlier ones: “And for XL?” New conversation starts over."],
        ["Attach", "An image or a table that belongs to the question. To search a document, add it under Documents."],
      ]],
      ["Modes", [
        ["auto", "Uses mix, or global if the question is about the documents as a whole. The best choice for nearly all questions."],
        ["mix", "Words, meaning and the knowledge graph in one ranking. Finds answers that need several passages."],
        ["hybrid", "Passages about the entities in the question, with reports on their topics."],
        ["local", "Passages about the entities in the question and about what is related to them."],
        ["global", "Reports on groups of related entities. For questions about all documents: “What are the main topics?”"],
        ["naive", "The passages closest in meaning to the question."],
        ["bypass", "No search: the chat model answers alone, without citations."],
        ["compare", "Asks several modes at once and shows their answers side by side."],
      ]],
      ["Efforts", [
        ["low", "One search, then the answer."],
        ["medium", "Searches again in other words until enough is found."],
        ["high", "A report: it plans questions, searches each and writes a section for each. Its cost is shown first. It can be stopped and resumed."],
      ]],
      ["Citations", [
        ["[1]", "The number opens the passage behind the sentence, with the quote highlighted in the document's text. Every quote was found in the stored document, character by character."],
        ["words #2, graph #1", "How a source was found: second by its words, first by the knowledge graph."],
      ]],
      ["The notes below an answer", [
        ["Quoted word for word", "The sentences are copied from the documents; no chat model wrote or changed them. Judge for yourself whether they answer the question."],
        ["Every statement is supported", "A chat model wrote the answer, and each sentence was checked against the passages that it cites. Read the quote where it matters."],
        ["Not every statement is supported", "No passage supports at least one of the sentences. “No statement” means that none is supported."],
        ["The documents do not say", "Nothing found answers the question. The quotation is only the closest passage."],
      ]],
    ],
  },
  zh: {
    skip: "跳到正文", views: "视图", base: "知识库", key: "API 密钥或令牌", enter: "登录",
    leave: "退出", keyHint: "此服务器需要知道你是谁。密钥由管理者生成：sextant keys create。",
    badKey: "服务器不接受这个密钥。", ask: "提问", documents: "文档", graph: "图谱",
    threads: "对话", fresh: "新对话", noThreads: "还没有对话。", forget: "删除", rename: "重命名", title: "对话的标题", download: "保存为 Markdown",
    sureThread: (title) => `删除对话“${title}”？`, threadGone: "这个对话已经不在了。",
    welcome: "向你的文档提问", welcomeText: "回答会引用所依据的段落。点开编号即可阅读原文。",
    examples: "例如（取自文档中的标题）：", noDocuments: "这个知识库还没有文档。", addSome: "添加文档",
    question: "你的问题", hint: "请提问，可粘贴或拖入图片、表格",
    attach: "附件…", attachHint: "就图片或表格提问", attached: "随问题附上", detach: (name) => `移除 ${name}`,
    image: "图片", table: "表格", pasted: "粘贴的表格",
    notAttached: (name) => `${name} 既不是图片（PNG、JPEG、WebP、GIF），也不是表格（CSV、TSV、Markdown、HTML）。要就它提问，请把它添加到“文档”。`,
    tooMuch: (megabytes) => `一个问题的图片和表格合计最多 ${megabytes} MB。请减少附件或换小一些的。`,
    mode: "模式", modeHint: "如何检索段落", send: "提问", stop: "停止", steps: "回答的步骤",
    modes: {
      auto: "auto：按问题选择", mix: "mix：全部结合", hybrid: "hybrid：实体与主题",
      local: "local：实体", global: "global：主题", naive: "naive：相似段落",
      bypass: "bypass：不查文档", compare: "compare：并排比较各模式",
    },
    approve: "选择来源", approveHint: "每次回答之前，先选择可以使用找到的哪些段落",
    effort: "力度", effortHint: "为回答做多少工作", efforts: { low: "low：检索一次", medium: "medium：找够为止", high: "high：研究报告" },
    reportSteps: { plan: "计划", confirm: "确认", search: "深入检索", find_gaps: "找缺口", outline: "列提纲", write: "撰写", compose: "汇总" },
    planIs: "报告将回答这些问题。", noCost: "不使用聊天模型，只引用原文，没有费用。", goOn: "继续",
    cost: (calls, tokens, seconds) => `大约 ${calls} 次模型调用、${tokens} 个 token${seconds == null ? "" : `、${Math.round(seconds)} 秒`}。`,
    section: (done, total, title) => `第 ${done} 节，共 ${total} 节${title ? `：${title}` : ""}`,
    analyze: "理解", route: "路由", retrieve: "检索", grade: "评估", refine: "再检索", generate: "回答",
    queue: "排队", working: "正在处理…", stopped: "已停止。", again: "连接中断，正在接续回答…",
    stepFound: (step, passages) => `${step}：${passages}`, found: (count) => `找到 ${count} 个段落。`, answered: (seconds, mode) => `用时 ${seconds} 秒，模式 ${mode}。`,
    supported: "每个陈述都有引用支持。", partial: "并非每个陈述都有引用支持。", unsupported: "没有一个陈述有引用支持。",
    declined: "文档中没有提到，所引只是最接近的段落。",
    quoted: "逐字引用文档原文。",
    sameAs: (mode) => `与 ${mode} 的回答相同`, compared: (modes, answers) => `问了 ${modes} 种模式，${answers === 1 ? "回答都相同" : `得到 ${answers} 种不同的回答`}。`,
    yourDecision: "需要你来决定。", proceed: "继续", whichMeaning: (name) => `“${name}”可能指多个对象，指哪一个？`, allMeanings: "全部", allPassages: "所有段落",
    answerCost: (tokens) => `这个回答最多需要聊天模型 ${tokens} 个 token。`, reportPlan: (tokens) => `报告将回答这些问题，大约需要聊天模型 ${tokens} 个 token。`,
    fromPassages: "回答将依据这些段落。", withoutModel: "不用模型，直接引用", noneOfThem: "一个也不用",
    retry: "重试", sources: (count) => `来源（${count}）`, page: (number) => `第 ${number} 页`, ocr: "由 OCR 识别",
    cite: (marker) => `引用 ${marker}：打开原文`, opening: "正在打开…", noText: "这个文档已经不在了。",
    around: (count) => `与回答相关的实体（${count}）`, trace: "各步骤用时", milliseconds: (ms) => `${ms} 毫秒`,
    picture: (nodes, edges) => `${nodes} 个实体，${edges} 个关系`,
    pictureHint: "选择一个实体，查看它周围的内容。方向键移动，回车打开。", asList: "以列表显示",
    entityIs: (name, type, degree) => `${name}，${type}，此处有 ${degree} 个关系`,
    entity: "实体", look: "搜索", whole: "关系最多的", cut: "周围还有更多，未全部画出。",
    noGraph: "这里还没有实体，它们随文档而来。", noEntity: "没有类似的实体。", nearEntities: "没有这样名称的实体。以上是意思最接近的。", relations: "关系", mentions: "出现于", first: (title, number) => `${title}（前 ${number} 个）`,
    stated: (number, name) => `${name}：依据的第 ${number} 个段落`, steps1: "1 步", steps2: "2 步", stepsAround: "向外", drawn: "最多画出的实体",
    aliases: (names) => `又名：${names}`, foundHere: "找到的实体",
    files: "把文件或文件夹拖到这里，或选择文件", folder: "选择文件夹", findDocument: "按名称查找文档", noneNamed: "没有名称含此内容的文档。", foundDocuments: (count) => `这 ${count} 个文档`, dropFound: (count) => `删除这些（${count}）`,
    left: (count) => `还有 ${count} 个文档正在处理。`, kinds: "文本、Markdown、HTML、PDF、Word、PowerPoint、Excel、OpenDocument、RTF、EPUB、CSV、JSON、XML、Jupyter 笔记本、图片和扫描件、邮件和邮箱（.eml、.msg、.mbox），以及 JSON Lines 格式的自有图谱或导出文件",
    importing: "正在导入…", brought: (documents, passages, entities, relations) => `已导入 ${documents} 个文档、${passages} 个段落、${entities} 个实体、${relations} 个关系。`,
    readTitle: (characters) => `读取情况：${characters.toLocaleString("zh")} 个字符`,
    readKinds: { heading: "标题", text: "正文", table: "表格", note: "注释和批注", field: "填写的字段", margin: "页眉页脚", caption: "图片说明" },
    leftOut: "有原因而未收入", notRead: "未能读取的部分", notFound: "文档中找不到",
    importStages: { lines: "读取各行", facts: "事实", documents: "文档", graph: "实体与关系", storing: "存储", names: "比较名称", merges: "合并名称", entities: "名称向量化", communities: "社区", reports: "报告", "report vectors": "报告向量化", projection: "复制到 Neo4j" },
    follows: "内容已全部可以检索，名称、社区与报告会自行补上。", badLines: (count) => `${count} 行有问题`, badLine: (line, reason) => `第 ${line} 行：${reason}`, seeGraph: "查看图谱",
    graphAlone: "问题检索的是段落，而单独的图谱没有段落。", factsAsPassages: "把事实变成段落",
    shelf: "全部文档", wholeDocument: "在文档中阅读", passageViews: "段落的视图", asPage: "原始页面", asText: "文字", pageOf: (number, filename) => `${filename} 第 ${number} 页，引文已框出`, original: "下载原文件", outline: "目录", earlier: "前面的内容", further: "继续阅读",
    askOf: "就这个文档提问", only: "在哪里找答案", onlyIn: (name) => `只在 ${name} 中`, everywhere: "重新向全部文档提问",
    missed: (count) => `提问时还有 ${count} 个文档正在处理，回答可能缺少其中的内容。`,
    pages: (count) => `${count} 页`, copy: "复制", copied: "已复制", attachedTo: (mail) => `${mail} 的附件`,
    empty: "还没有文档。", uploading: (percent) => `正在上传：${percent}%`, remove: "删除", more: "更多", close: "关闭",
    cancel: "取消", keep: "保留", create: "新建", naming: "新知识库的名称", newBase: "新建知识库…",
    baseIs: (name, documents) => `${name}（${documents}）`, dropBase: "删除这个知识库",
    older: (why) => `新版本未能收入，这里仍是原来的版本。${why}`, sure: (name) => `删除 ${name} 以及由它得到的一切？`, passages: (count) => `${count} 个段落`,
    stages: { queued: "等待中", parse: "读取", ocr: "OCR 识别页面", embed: "向量化", publish: "发布", graph: "知识图谱", done: "完成", failed: "失败", pending: "等待中", ingesting: "处理中", ready: "就绪" },
    unattended: "等待中：没有处理程序在运行。请服务器的管理者启动一个：sextant worker。", graphFollows: "这些文档的图谱还在生成，请稍后再看。",
    counted: (stage, done, total) => `${stage}：${done}/${total}`, sameName: (name) => `已有另一份名为 ${name} 的文档，两份都保留；如果新的取代旧的，请删除旧的那份。`, unchanged: (name, other) => `${name} 已经存在${other ? `，名为 ${other}` : ""}。`,
    tooLarge: "发送的内容超过了此服务器的上限。",
    lost: "无法连接服务器。请确认它在运行，然后重试。", broke: "回答中断了。请重新提问。",
    cutOff: "上传中断：服务器已断开，或文件超过上限。",
    later: (seconds) => `请在 ${seconds} 秒后重试。`, forbidden: "请向服务器的管理者索取有此权限的密钥。",
    kindsOf: { TERM: "术语", PERSON: "人物", ORGANIZATION: "组织", LOCATION: "地点", EVENT: "事件", PRODUCT: "产品", WORK: "作品", DISEASE: "疾病", SUBSTANCE: "物质", CONCEPT: "概念", DATE: "日期", AMOUNT: "数量", CODE: "编号", GROUP: "群体" },
    relationsOf: { CO_OCCURS: "同时出现于", IS_A: "是一种", PART_OF: "属于", ABBREVIATES: "缩写自" },
    lanes: { keyword: "词语", vector: "语义", walk: "图谱", reports: "报告", local: "实体", global: "主题", mix: "词语、语义、图谱", rerank: "重排", restating: "复述" },
    rank: (lane, place) => `${lane} #${place}`, rankHint: "由此通道找到，及其名次",
    help: "帮助", helpHint: "模式、引用以及回答下方说明的含义",
    helpTexts: [
      ["提问", [
        ["知识库", "一起检索的一组文档，在页面上方选择。"],
        ["对话", "后面的问题可以承接前面的内容，例如“那 XL 型呢？”。“新对话”则从头开始。"],
        ["附件", "属于这个问题的图片或表格。要检索一份文档，请到“文档”中添加。"],
      ]],
      ["模式", [
        ["auto", "采用 mix；问题针对全部文档时采用 global。几乎所有问题都适合用它。"],
        ["mix", "把词语、语义和知识图谱合成一个排序，能找到需要几个段落才能回答的内容。"],
        ["hybrid", "关于所提实体的段落，加上相关主题的报告。"],
        ["local", "关于问题所提实体、以及与之相关的事物的段落。"],
        ["global", "关于各组相关实体的报告，适合关于整体的问题，例如“主要讲了哪些主题？”"],
        ["naive", "与问题意思最接近的段落。"],
        ["bypass", "不检索，由聊天模型单独回答，没有引用。"],
        ["compare", "同时用几种模式提问，并排显示各自的回答。"],
      ]],
      ["力度", [
        ["low", "检索一次，然后回答。"],
        ["medium", "换个说法再检索，直到找够为止。"],
        ["high", "研究报告：先计划若干问题，分别检索，再为每个问题写一节。费用会先显示出来。可以停下，之后继续。"],
      ]],
      ["引用", [
        ["[1]", "编号指向句子所依据的段落。点开后，引文在文档原文中高亮显示。每段引文都已在存储的文档中逐字找到。"],
        ["词语 #2、图谱 #1", "来源是怎样找到的：按词语排第二，按知识图谱排第一。"],
      ]],
      ["回答下方的说明", [
        ["逐字引用文档原文", "句子照抄自文档，没有经过聊天模型撰写或改动。是否回答了问题，请自行判断。"],
        ["每个陈述都有引用支持", "回答由聊天模型撰写，每句话都与所引段落核对过，背后有原文的词句。重要之处请点开引文。"],
        ["并非每个陈述都有引用支持", "至少有一句话没有找到支持它的段落。“没有一个陈述”表示全部没有找到。"],
        ["文档中没有提到", "找到的内容都不能回答问题，所引只是最接近的段落。"],
      ]],
    ],
  },
};

// Errors by their code; the server adds the details in English.
export const PROBLEMS = {
  file_empty: "文件里没有可读的文字。", file_encrypted: "文件有密码保护，请另存一份没有密码的。",
  file_type_unknown: "不支持这种文件，请另存为支持的格式。", file_broken: "文件已损坏或不完整，请打开后重新保存再试。",
  file_unsafe: "处理这个文件会超出服务器的限度，请拆分或简化。", file_too_large: "文件太大。", cancelled: "已被取消。",
  file_rejected: "这个文件不能处理。", question_invalid: "问题为空或过长。", input_invalid: "请求有误。", option_invalid: "有一个选项不对。", settings_invalid: "服务器的设置有误。",
  not_found: "没有找到。", graph_not_found: "没有这个知识库。", document_not_found: "没有这个文档，可能已被删除。", page_not_found: "没有可以显示的这一页。", chunk_not_found: "没有这个段落，可能已被删除。",
  entity_not_found: "没有这个实体，可能已被合并或删除。", conversation_not_found: "没有这个对话，可能已被删除。", run_not_found: "这次回答已经不在了，请重新提问。",
  unauthorised: "需要密钥，或密钥无效。", forbidden: "这个密钥没有此权限。", conflict: "与正在进行的操作冲突。", superseded: "其间已有更新的版本。", mode_not_available: "现在不能使用这种模式。", conversation_busy: "这个对话的上一个问题还在回答。", decision_needed: "这次回答需要先由人作出决定。",
  conversation_unreadable: "这个对话的存档无法读取，请删除它或另开一个。",
  embedding_model_changed: "已有的向量来自另一个模型，请管理者运行 sextant reembed。",
  overloaded: "服务器现在太忙。", limited: "请求过多，或额度已用完。", timed_out: "等待过久，已放弃。",
  database_unavailable: "数据库无法连接。", graph_store_unavailable: "图数据库无法连接。", retrieval_failed: "检索失败。",
  dependency_unavailable: "有一项依赖不可用。", model_output_invalid: "模型没有给出可用的回答。", context_too_long: "内容超过了模型能读的长度。",
  model_unavailable: "模型没有响应。", model_rejected: "模型拒绝了请求。", internal_error: "服务器内部出错。",
};

const language = localStorage.getItem("language") ?? (navigator.language.startsWith("zh") ? "zh" : "en");

/** Return the text called `name`, filled with the arguments. @returns {any} */
export function say(name, ...filling) {
  const words = WORDS[language][name];
  return typeof words === "function" ? words(...filling) : words;
}

/** Return the server's message about a problem; a Chinese page puts its own summary first. */
export const told = (code, detail) => (language === "zh" && PROBLEMS[code] ? `${PROBLEMS[code]}（${detail}）` : detail);

/** Return the name of a step of an answer or a report, by its node. */
export const nameOf = (node) => say("reportSteps")[node] ?? say(node) ?? node;

/** Return the name of an entity type; custom types keep theirs, but not in capitals. */
export const kind = (type) => say("kindsOf")[type] ?? (type === type.toUpperCase() ? type.replaceAll("_", " ").toLowerCase() : type);

/** Return whether a relation of this type is symmetric. */
export const mutual = (type) => type === "CO_OCCURS";

/** Return the name of a relation type. */
export const relation = (type) => say("relationsOf")[type] ?? type.replaceAll("_", " ").toLowerCase();

/** Return a document's facts in a line: pages, passages, size, and when it was last ingested. */
export function facts({ pageCount, chunkCount, sizeBytes, updatedAt }) {
  const kilobytes = Math.max(1, Math.round((sizeBytes ?? 0) / 1000));
  const [size, unit] = kilobytes < 1000 ? [kilobytes, "kilobyte"] : [kilobytes / 1000, "megabyte"];
  return [
    pageCount && say("pages", pageCount), say("passages", chunkCount),
    sizeBytes && new Intl.NumberFormat(language, { style: "unit", unit, maximumFractionDigits: 1 }).format(size),
    updatedAt && new Date(updatedAt).toLocaleDateString([...navigator.languages.filter((one) => one.startsWith(language)), language], { dateStyle: "medium" }),
  ].filter(Boolean).join(" · ");
}

/** Return how much of a file was read: a title, and the characters of each kind of text; null where it was not counted. */
export function coverage({ coverage: read }) {
  if (!read) return null;
  const sum = (counts) => Object.values(counts).reduce((all, one) => all + one, 0);
  const kinds = Object.entries(say("readKinds")).map(([name, words]) => [words, read.stored[name]]);
  const others = [[say("leftOut"), sum(read.leftOut)], [say("notRead"), sum(read.notRead)], [say("notFound"), read.missing]];
  return { title: say("readTitle", sum(read.stored)), counts: [...kinds, ...others].filter(([, count]) => count) };
}

/** Set the page's texts in the chosen language. */
export function speak() {
  document.documentElement.lang = language;
  const all = (attribute) => /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(`[data-${attribute}]`));
  for (const one of all("say")) one.textContent = say(one.dataset.say);
  for (const one of all("name")) one.setAttribute("aria-label", say(one.dataset.name));
  for (const one of all("hint")) one.setAttribute("placeholder", say(one.dataset.hint));
  for (const one of all("describe")) one.title = say(one.dataset.describe);
  const other = document.getElementById("language");
  [other.textContent, other.lang] = language === "zh" ? ["English", "en"] : ["中文", "zh"];
}

/** Change to the other language by reloading the page; the address keeps the view. */
export function switchLanguage() {
  localStorage.setItem("language", language === "zh" ? "en" : "zh");
  location.reload();
}
