// The desk: what can be done now; and what stands in the top line.

import { bettingDesk } from "./play_bets.js";
import { asks, choiceDesk } from "./play_choices.js";
import { at, el, paint, put } from "./play_dom.js";
import { money, plain, say, signed } from "./play_words.js";

const SAID_MS = 6_000;

/** The line on top: where, what round, who deals, what there is to play with. */
export function standing(known, { joined, over }) {
  const { welcome, table, balance, bets } = known;
  const playing = Boolean(welcome && !welcome.viewing) && !over;
  const sitting = Boolean(joined && table) && !over;
  fact("round", sitting && known.round ? String(known.round) : null);
  fact("dealer-name", sitting ? table.dealer_name : null, "dealer-part");
  fact("last-win", playing && bets.last_win !== null ? plain(bets.last_win) : null, "last-part");
  fact("staked", playing && sitting ? plain(bets.total ?? 0) : null);
  const amount = balance && (balance.amount === null ? say("balance_unknown") : money(balance.amount, balance.currency));
  fact("balance", playing ? amount : null);
  put(at("place"), sitting ? table.name : document.title);
  put(at("table-heading"), sitting ? table.name : "");
  for (const [id, there] of [
    ["to-lobby", sitting && !welcome.table],
    ["to-rules", sitting],
    ["to-history", playing],
    ["to-statement", playing],
    ["to-chat", sitting && playing],
    ["side", playing],
    ["leave", playing],
    ["tip", playing && welcome.tips && Boolean(table?.dealer)],
    ["say", playing],
  ]) {
    at(id).hidden = !there;
  }
}

function fact(id, text, part = `${id}-part`) {
  at(part).hidden = text === null || text === undefined;
  if (text) put(at(id), text);
}

/** What can be done now, or what is awaited. */
export function desk(known, ui, doing) {
  const { own, view, table, welcome, window } = known;
  const betting = window?.kind === "betting" && own.actions?.place.length + own.actions?.withdraw.length > 0;
  const choosing = asks(own.actions);
  const status = () => [
    el("p", { class: `now ${own.settled ? tone(own.settled.net) : ""}` }, statusText()),
    own.settled &&
      view.step === "settled" &&
      el(
        "p",
        { class: "dim" },
        say("result.detail", { staked: money(own.settled.staked), returned: money(own.settled.returned) }),
      ),
  ];
  const statusText = () => {
    if (welcome.viewing) return say("viewing_desk");
    if (!table.open) return say("table_closed");
    if (view.step === "cancelled") return say("cancelled");
    if (view.step === "settled" && own.settled) return resultOf(own.settled.net);
    if (view.step === "settled") return say("between");
    if (!view.step || view.step === "new") return say("no_round");
    if (window?.kind) return say(own.boxes.length && window.kind !== "betting" ? "waiting_others" : "wait");
    return say(view.step === "betting" ? "wait" : "dealing");
  };
  const seen = [
    choosing || betting ? own.actions : null,
    betting || choosing ? null : [statusText(), own.settled],
    ui.chip,
    ui.funding,
    ui.picking,
    ui.armed,
    ui.insured,
    ui.still,
    own.boxes.map((one) => one.hand?.words),
    known.balance?.amount === null,
  ];
  paint(at("act"), seen, () => {
    if (choosing) return choiceDesk(known, ui, doing);
    return betting ? bettingDesk(known, ui, doing) : status();
  });
}

function resultOf(net) {
  if (net > 0) return say("result.won", { net: signed(net) });
  return net < 0 ? say("result.lost", { net: plain(-net) }) : say("result.even");
}

function tone(net) {
  return net > 0 ? "good-text" : net < 0 ? "bad-text" : "";
}

/** Tell what became of something, for a while. */
export function saying(text, kind) {
  const region = at("said");
  region.className = `said ${kind}`;
  region.textContent = text;
  clearTimeout(saying.timer);
  saying.timer = setTimeout(() => {
    region.className = "said";
    region.textContent = "";
  }, SAID_MS);
}
