// Chat and tips.

import { at, el, paint } from "./play_dom.js";
import { moment, say } from "./play_words.js";

const NEAR_END_PX = 40;

/** The lines; the newest stays in view for whoever looks at the end. */
export function paintChat(known) {
  const region = at("lines");
  const lines = [...known.chat.values()].sort((a, b) => a.line - b.line);
  const atEnd = region.scrollHeight - region.scrollTop - region.clientHeight < NEAR_END_PX;
  const changed = paint(region, lines, () =>
    lines.length === 0 ? el("li", { class: "empty" }, say("chat_empty")) : lines.map(lineOf),
  );
  if (changed && atEnd) region.scrollTop = region.scrollHeight;
}

function lineOf(line) {
  const who = line.who === "player" ? null : say(line.who === "dealer" ? "chat_dealer" : "chat_house");
  return el(
    "li",
    { class: `line${line.own ? " own" : ""}${line.text === null ? " gone" : ""}` },
    el("span", { class: "who" }, line.nickname, who && el("span", { class: "badge info" }, who)),
    el("time", { datetime: line.said_at }, moment(line.said_at)),
    el("span", { class: "text" }, line.text ?? say("chat_gone")),
  );
}
