// Questions of this visit that have no answer on the page yet, one for each conversation: loading the page anew, or
// looking at another conversation, would lose them. While one is answered it has the place where the answer can be
// taken up.

const KEY = "asked";
const all = () => JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
const keep = (asked) => sessionStorage.setItem(KEY, JSON.stringify(asked));

/** The question of a conversation that has no answer yet: `{thread, text, graphId, at, place}`. */
export const leftIn = (thread) => all()[thread];

/** A conversation's question has no answer yet. */
export const remember = (left) => keep({ ...all(), [left.thread]: left });

/** It has one. */
export function forget(thread) {
  const { [thread]: _, ...others } = all();
  keep(others);
}

/** Those that are being answered, as far as the page knows, the latest first. */
export const underWay = () => Object.values(all()).filter(({ thread, place }) => thread && place).sort((one, other) => other.at - one.at);
