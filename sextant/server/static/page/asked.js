// Remembers this visit's questions without an answer, one per conversation, since reloading the page or opening another
// conversation would lose them. While one is being answered, its `place` is the address at which the answer can be resumed.

const KEY = "asked";
const all = () => JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
const keep = (asked) => sessionStorage.setItem(KEY, JSON.stringify(asked));

/** Return the unanswered question of a conversation: `{thread, text, graphId, at, place}`. */
export const leftIn = (thread) => all()[thread];

/** Remember a question that has no answer yet. */
export const remember = (left) => keep({ ...all(), [left.thread]: left });

/** Forget the question of a conversation, since it has an answer. */
export function forget(thread) {
  const { [thread]: _, ...others } = all();
  keep(others);
}

/** Return the questions that are being answered, as far as the page knows, latest first. */
export const underWay = () => Object.values(all()).filter(({ thread, place }) => thread && place).sort((one, other) => other.at - one.at);
