"""Words that carry no content of their own, in the two languages the offline rules read.

Chosen by us for questions: function words, question words and politeness, simplified and
traditional. Words of a subject ("year", "年") stay out, since documents are about them.
"""

from __future__ import annotations

_CHINESE = """
的 地 得 了 着 过 吗 呢 吧 啊 么 呀 嘛 是 在 有 和 与 及 或 等 被 把 对 为 以 于 从 到 由 向 给 让 使
就 都 也 而 又 还 并 但 却 则 将 会 能 可 要 应 该 其 这 那 此 它 他 她 我 你 您 们 之 所 个 几 谁 何
什么 哪 哪些 哪个 哪里 哪儿 哪年 哪位 哪种 多少 怎么 怎样 怎么样 如何 为什么 为何 何时 何地 何人 何种
是否 有没有 是不是 能否 可以 请 请问 告诉 介绍 一下 时候 什么时候 多久 多大 多长 多高 关于 以及 因为
所以 如果 的话 这个 那个 这些 那些 一个 一种 没有 不是 进行 其中 哪一 哪一个 哪一年 是谁
個 這 來 對 與 於 麼 甚 們 過 嗎 誰 幾 為 會 將 讓 給 還 從 並 應 該 卻 則 裡
什麼 甚麼 怎麼 怎樣 怎麼樣 為什麼 為何 何時 哪裡 哪種 哪個 哪一種 哪一個 是誰 請 請問 告訴 時候
什麼時候 關於 因為 這個 那個 這些 沒有 進行 一個 一種 可以 多長
"""

_ENGLISH = """
a about after all also am an and any are as at be because been before being between both but by
can could did do does doing done during each either else every for from had has have having he
her here hers him his how however i if in into is it its itself just many may me might more most
much must my name no nor not of on once only or other our out over own please same shall she
should so some such tell than that the their them themselves then there these they this those
through to too under until up us very was we were what when where whether which while who whom
whose why will with within without would yes you your
"""

CHINESE_STOP_WORDS = frozenset(_CHINESE.split())
ENGLISH_STOP_WORDS = frozenset(_ENGLISH.split())
