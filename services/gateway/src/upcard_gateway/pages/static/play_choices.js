// Decisions: options, final options with insurance, the dealer purchase. All bounds are the server's.

import { el } from "./play_dom.js";
import { money, plain, say, typed } from "./play_words.js";

/** Whether anything is asked now. */
export function asks(actions) {
  return Boolean(actions && (actions.options.length || actions.finals.length || actions.purchases.length));
}

/** The decider's desk: a part for each box that is asked. */
export function choiceDesk(known, ui, doing) {
  const { actions } = known.own;
  let first = true;
  const parts = [];
  const add = (action, build) => {
    parts.push(
      el(
        "div",
        { class: "choice" },
        el("h3", {}, titleOf(known, action.box)),
        build(action, known, ui, doing, first),
      ),
    );
    first = false;
  };
  for (const action of actions.options) add(action, option);
  for (const action of actions.finals) add(action, finally_);
  for (const action of actions.purchases) add(action, purchase);
  return parts;
}

function titleOf(known, box) {
  const hand = known.own.boxes.find((one) => one.box === box)?.hand;
  return hand ? say("choice.title", { box, hand: hand.words }) : say("choice.title_plain", { box });
}

/** Keys work on the first box alone: `key` is left out elsewhere. */
function act(text, { name, kind = "", key, first, off, onclick }, ui) {
  return el(
    "button",
    {
      type: "button",
      class: `big ${kind}`,
      "data-k": name,
      "data-key": first ? key : null,
      disabled: Boolean(off) || ui.still,
      onclick,
    },
    text,
  );
}

function option(action, known, ui, doing, first) {
  const { box } = action;
  if (ui.picking?.box === box) {
    const count = ui.picking.positions.length;
    return [
      el("p", { class: "hint" }, say("choice.exchange_none", { box, most: action.exchange_max })),
      el(
        "div",
        { class: "actions" },
        act(
          say("choice.exchange_do", { count, amount: money(action.fee) }),
          {
            name: `exchange-do-${box}`,
            kind: "primary",
            key: "e",
            first,
            off: count === 0 || count > action.exchange_max,
            onclick: () => doing.option(box, "exchange", [...ui.picking.positions]),
          },
          ui,
        ),
        act(say("choice.exchange_back"), { name: `keep-${box}`, key: "k", first, onclick: () => doing.pickFrom(null) }, ui),
      ),
    ];
  }
  return el(
    "div",
    { class: "actions" },
    action.bet > 0 &&
      act(
        say("choice.bet", { amount: money(action.bet) }),
        { name: `bet-${box}`, kind: "primary", key: "b", first, onclick: () => doing.option(box, "bet") },
        ui,
      ),
    action.sixth_card &&
      act(
        say("choice.sixth", { amount: money(action.fee) }),
        { name: `sixth-${box}`, key: "s", first, onclick: () => doing.option(box, "sixth") },
        ui,
      ),
    action.exchange_max > 0 &&
      act(say("choice.exchange"), { name: `exchange-${box}`, key: "e", first, onclick: () => doing.pickFrom(box) }, ui),
    fold(box, ui, doing, first, () => doing.option(box, "fold")),
  );
}

/** Folding gives the ante away: it is asked twice. */
function fold(box, ui, doing, first, done) {
  const armed = ui.armed === `fold-${box}`;
  return act(
    say(armed ? "choice.fold_sure" : "choice.fold"),
    { name: `fold-${box}`, kind: "danger", key: "f", first, onclick: () => (armed ? done() : doing.arm(`fold-${box}`)) },
    ui,
  );
}

function finally_(action, known, ui, doing, first) {
  const { box, insurance } = action;
  const insured = insurance ? (ui.insured[box] ?? 0) : 0;
  const made = [];
  if (insurance) made.push(slider(box, insurance, insured, ui, doing));
  made.push(
    el("p", { class: "hint" }, say("choice.win_max", { amount: money(action.win_max) })),
    el(
      "div",
      { class: "actions" },
      action.choices.includes("bet") &&
        act(
          insured
            ? say("choice.bet_insured", { amount: plain(action.bet), insurance: money(insured) })
            : say("choice.bet", { amount: money(action.bet) }),
          { name: `final-bet-${box}`, kind: "primary", key: "b", first, onclick: () => doing.final(box, "bet", insured) },
          ui,
        ),
      action.choices.includes("stand") &&
        act(
          insured ? say("choice.stand_insured", { insurance: money(insured) }) : say("choice.stand"),
          { name: `stand-${box}`, kind: "primary", key: "b", first, onclick: () => doing.final(box, "stand", insured) },
          ui,
        ),
      action.choices.includes("fold") && fold(box, ui, doing, first, () => doing.final(box, "fold", 0)),
    ),
  );
  return made;
}

/** The insurance: off, or an amount within the server's bounds, by slider or typed. */
function slider(box, bounds, insured, ui, doing) {
  const range = el("input", {
    type: "range",
    min: String(bounds.min),
    max: String(bounds.max),
    step: String(bounds.step || 1),
    "aria-label": say("choice.insurance_amount"),
    "data-k": `slide-${box}`,
    disabled: ui.still || !insured,
  });
  range.value = String(insured || bounds.min);
  range.setAttribute("aria-valuetext", money(Number(range.value)));
  const field = el("input", {
    class: "number",
    inputmode: "decimal",
    "aria-label": say("choice.insurance_amount"),
    "data-k": `insured-${box}`,
    disabled: ui.still || !insured,
  });
  field.value = plain(insured || bounds.min).replaceAll(",", "");
  range.addEventListener("input", () => {
    field.value = plain(Number(range.value)).replaceAll(",", "");
  });
  range.addEventListener("change", () => doing.insure(box, Number(range.value)));
  field.addEventListener("change", () => {
    const amount = typed(field.value) ?? bounds.min;
    doing.insure(box, Math.min(bounds.max, Math.max(bounds.min, amount)));
  });
  const tick = el("input", {
    type: "checkbox",
    "data-k": `insure-${box}`,
    "data-key": "n",
    "data-key-name": say("choice.insure"),
    disabled: ui.still,
    onchange: (event) => doing.insure(box, event.target.checked ? bounds.min : 0),
  });
  tick.checked = insured > 0;
  return el(
    "div",
    { class: "insurance" },
    el(
      "label",
      { class: "check" },
      tick,
      say("choice.insurance", { min: plain(bounds.min), max: money(bounds.max) }),
    ),
    range,
    field,
  );
}

function purchase(action, known, ui, doing, first) {
  const { box } = action;
  return el(
    "div",
    { class: "actions" },
    action.fee > 0 &&
      act(
        say("choice.buy", { amount: money(action.fee) }),
        { name: `buy-${box}`, kind: "primary", key: "b", first, onclick: () => doing.purchase(box, true) },
        ui,
      ),
    act(say("choice.no_buy"), { name: `no-buy-${box}`, key: "x", first, onclick: () => doing.purchase(box, false) }, ui),
  );
}
