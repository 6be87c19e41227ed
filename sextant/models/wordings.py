"""What errors about a model's endpoint say, in English and Chinese, with the next step of each.

The endpoint's name stands before each message. Filled in are its settings, `{model}`, `{key}`, `{url}` and
`{timeout}`, and what the error knows besides.
"""

from __future__ import annotations

from sextant.domain.errors import Wording

Wordings = dict[str, Wording]

_RUNNING = "Check {url} and that the server is running."
_RUNNING_ZH = "请检查 {url}，并确认模型服务正在运行。"

UNREACHABLE: Wordings = {
    "en": Wording("cannot be reached.", _RUNNING),
    "zh": Wording("无法连接。", _RUNNING_ZH),
}
REDIRECTED_IN_CLEAR: Wordings = {
    "en": Wording(
        "redirects from https to http, where keys and prompts could be read on the way.",
        "Set {url} to the address that it serves by https, or to http on a network that you trust.",
    ),
    "zh": Wording(
        "从 https 重定向到 http，密钥和提示词可能在途中被读取。",
        "请把 {url} 设为其 https 地址；若网络可信，也可直接设为 http 地址。",
    ),
}
REDIRECTED_IN_CIRCLES: Wordings = {
    "en": Wording(
        "redirects again and again.", "Set {url} to the address that it redirects to last."
    ),
    "zh": Wording("不断重定向。", "请把 {url} 设为最终的地址。"),
}
BROKE_OFF: Wordings = {
    "en": Wording("broke off its answer.", _RUNNING),
    "zh": Wording("中途断开了回答。", _RUNNING_ZH),
}
SILENT: Wordings = {
    "en": Wording("did not answer in time.", "Raise {timeout}, or check the load of the endpoint."),
    "zh": Wording("未能及时回答。", "请调高 {timeout}，或检查模型服务的负载。"),
}
FAILED: Wordings = {
    "en": Wording(
        "failed: {detail}.",
        "Try again; if it stays, look into that server's log, and check {url}.",
    ),
    "zh": Wording(
        "调用失败（{detail}）。", "请重试；若仍然如此，请查看该服务的日志，并检查 {url}。"
    ),
}
UNREADABLE: Wordings = {
    "en": Wording(
        "answered with something that is not of its API.",
        "Check that {url} is the base URL of a compatible API, and that no proxy answers in its place.",
    ),
    "zh": Wording(
        "返回的内容不符合接口格式。",
        "请检查 {url} 是否为兼容接口的地址，以及是否有代理代为回应。",
    ),
}
UNUSABLE: Wordings = {
    "en": Wording(
        "gave an unusable answer: {reason}.",
        "Check that {url} names the right kind of endpoint.",
    ),
    "zh": Wording("的回答无法使用（{reason}）。", "请检查 {url} 的接口类型是否正确。"),
}

NO_QUOTA: Wordings = {
    "en": Wording(
        "reports that the account has no quota left.",
        "Check the plan and billing of that account.",
    ),
    "zh": Wording("报告账户额度已用完。", "请检查该账户的套餐与账单。"),
}
TOO_OFTEN: Wordings = {
    "en": Wording("is limiting our rate (429): {detail}.", "Try again later."),
    "zh": Wording("限制了请求频率（429）：{detail}。", "请稍后重试。"),
}
TOO_OFTEN_UNTIL: Wordings = {
    "en": Wording("is limiting our rate (429).", "Try again in {seconds} s."),
    "zh": Wording("限制了请求频率（429）。", "请在 {seconds} 秒后重试。"),
}
OUT_OF_ORDER: Wordings = {
    "en": Wording(
        "failed with status {status}: {detail}.",
        "Try again; if it stays, look into that server's log.",
    ),
    "zh": Wording("出错，状态码 {status}：{detail}。", "请重试；若仍然如此，请查看该服务的日志。"),
}
TOO_LONG: Wordings = {
    "en": Wording(
        "was sent a prompt longer than its context ({status}).",
        "Lower {length} or choose a model with more context.",
    ),
    "zh": Wording(
        "读不完这么长的请求（{status}）。",
        "请调低 {length}，或换用上下文更长的模型。",
    ),
}
REFUSED: dict[int, Wordings] = {
    401: {
        "en": Wording("refused the key (401).", "Set {key} to a key that this endpoint accepts."),
        "zh": Wording("拒绝了密钥（401）。", "请把 {key} 设为该服务接受的密钥。"),
    },
    403: {
        "en": Wording(
            "forbids this key to use the model (403): {detail}.",
            "Check what the key in {key} may use.",
        ),
        "zh": Wording("不允许此密钥使用该模型（403）：{detail}。", "请检查 {key} 中密钥的权限。"),
    },
    404: {
        "en": Wording(
            "does not know that model or path (404): {detail}.",
            "Check the model name in {model} and that {url} ends as the API wants (often /v1).",
        ),
        "zh": Wording(
            "没有该模型或路径（404）：{detail}。",
            "请检查 {model} 中的模型名，以及 {url} 的结尾是否符合接口要求（通常是 /v1）。",
        ),
    },
}
REFUSED_OTHERWISE: Wordings = {
    "en": Wording(
        "refused the request ({status}): {detail}.", "Check that {model} and {url} belong together."
    ),
    "zh": Wording("拒绝了请求（{status}）：{detail}。", "请检查 {model} 与 {url} 是否匹配。"),
}

_DIFFERENTLY = "Ask differently."
_DIFFERENTLY_ZH = "请换一种问法。"

WITHHELD: Wordings = {
    "en": Wording("withheld its answer: it declined, or a content filter did.", _DIFFERENTLY),
    "zh": Wording("没有作答：模型拒绝回答，或被内容过滤器拦截。", _DIFFERENTLY_ZH),
}
USED_UP: Wordings = {
    "en": Wording("used up its tokens before it answered.", "Raise SEXTANT_LIMITS__ANSWER_TOKENS."),
    "zh": Wording("在回答之前用完了长度上限。", "请调高 SEXTANT_LIMITS__ANSWER_TOKENS。"),
}
EMPTY: Wordings = {
    "en": Wording("answered nothing.", "Try again, or choose another chat model."),
    "zh": Wording("没有给出任何回答。", "请重试，或换用其他聊天模型。"),
}
UNFIT: Wordings = {
    "en": Wording(
        "did not give the asked structure: {problem}", "Try again, or choose a larger chat model."
    ),
    "zh": Wording("没有按要求的结构回答。", "请重试，或换用更大的聊天模型。"),
}
UNFIT_TRUNCATED: Wordings = {
    "en": Wording(
        UNFIT["en"].message, "Raise SEXTANT_LIMITS__ANSWER_TOKENS, which cut the answer off."
    ),
    "zh": Wording(UNFIT["zh"].message, "请调高截断了回答的 SEXTANT_LIMITS__ANSWER_TOKENS。"),
}
