// What the page says, in English and Chinese.

const WORDS = {
  en: {
    skip: "Skip to the question", base: "Knowledge base", key: "API key or token", enter: "Sign in",
    keyHint: "This server asks who you are. A key is made by `sextant keys create`.",
    ask: "Ask", question: "Your question", mode: "Mode", send: "Ask", stop: "Stop",
    forget: "New conversation", documents: "Documents", add: "Add", more: "More", close: "Close",
    files: "Files to add (text, Markdown, HTML, PDF, Word, PowerPoint, Excel, CSV, JSON)",
    analyze: "analyze", route: "route", retrieve: "retrieve", grade: "grade", refine: "refine", generate: "generate",
    working: "Working…", stopped: "Stopped.", found: (count) => `${count} passages found.`,
    answered: (seconds, mode) => `Answered in ${seconds} s, mode ${mode}.`,
    grounded: "Every statement is supported by a citation.", ungrounded: "Not every statement is supported by a citation.",
    sources: "Sources", page: (number) => `page ${number}`, cite: (marker) => `Citation ${marker}: open the passage`,
    empty: "No documents yet.", uploading: "Uploading…", remove: "Delete", retry: "Try again", cancel: "Cancel",
    sure: (name) => `Delete ${name} with everything that came from it?`, chunks: (count) => `${count} passages`,
    stage: (stage, done, total) => (total ? `${stage}: ${done} of ${total}` : stage), unchanged: "is here already",
    lost: "The server cannot be reached.", broke: "The answer broke off.",
  },
  zh: {
    skip: "跳到提问", base: "知识库", key: "API 密钥或令牌", enter: "登录",
    keyHint: "此服务器需要知道你是谁。密钥由 `sextant keys create` 生成。",
    ask: "提问", question: "你的问题", mode: "模式", send: "提问", stop: "停止",
    forget: "新对话", documents: "文档", add: "添加", more: "更多", close: "关闭",
    files: "要添加的文件（文本、Markdown、HTML、PDF、Word、PowerPoint、Excel、CSV、JSON）",
    analyze: "分析", route: "路由", retrieve: "检索", grade: "评估", refine: "改写", generate: "生成",
    working: "正在处理…", stopped: "已停止。", found: (count) => `找到 ${count} 个段落。`,
    answered: (seconds, mode) => `用时 ${seconds} 秒，模式 ${mode}。`,
    grounded: "每个陈述都有引用支持。", ungrounded: "并非每个陈述都有引用支持。",
    sources: "来源", page: (number) => `第 ${number} 页`, cite: (marker) => `引用 ${marker}：打开原文`,
    empty: "还没有文档。", uploading: "正在上传…", remove: "删除", retry: "重试", cancel: "取消",
    sure: (name) => `删除 ${name} 以及由它得到的一切？`, chunks: (count) => `${count} 个段落`,
    stage: (stage, done, total) => (total ? `${stage}：${done}/${total}` : stage), unchanged: "已经存在",
    lost: "无法连接服务器。", broke: "回答中断了。",
  },
};

let language = localStorage.getItem("language") ?? (navigator.language.startsWith("zh") ? "zh" : "en");

/** The words for `name`; those with gaps take what fills them. */
export function say(name, ...filling) {
  const words = WORDS[language][name];
  return typeof words === "function" ? words(...filling) : words;
}

/** Put the page's own words into the language chosen. */
export function speak() {
  document.documentElement.lang = language;
  for (const element of document.querySelectorAll("[data-say]")) element.textContent = say(element.dataset.say);
  const other = document.getElementById("language");
  [other.textContent, other.lang] = language === "zh" ? ["English", "en"] : ["中文", "zh"];
}

/** Change to the other language. */
export function switchLanguage() {
  language = language === "zh" ? "en" : "zh";
  localStorage.setItem("language", language);
  speak();
}
