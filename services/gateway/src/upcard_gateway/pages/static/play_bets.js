// Betting: chips, and what takes whole bets back or again. All bounds are the server's.

import { el } from "./play_dom.js";
import { money, onChip, plain, say } from "./play_words.js";

/** What the chosen chip adds to a wager: within the action's bounds and in its steps. */
export function adding(action, ui) {
  if (ui.funding && ui.funding.wager === action.wager) return Math.min(ui.funding.amount, action.max);
  const wanted = Math.floor((ui.chip ?? 0) / action.step) * action.step;
  return Math.min(action.max, Math.max(action.min, wanted));
}

/** The chip that counts: the chosen one while it is offered, else the smallest. */
export function chipOf(ui, actions) {
  const chips = actions?.chips ?? [];
  if (chips.includes(ui.chip)) return ui.chip;
  return chips[0] ?? null;
}

/** The bettor's desk. */
export function bettingDesk(known, ui, doing) {
  const { actions } = known.own;
  const chips = actions.chips.map((chip, index) =>
    el(
      "button",
      {
        type: "button",
        class: `chip chip-${index % 10}`,
        role: "radio",
        "aria-checked": String(!ui.funding && chip === ui.chip),
        "aria-label": say("bet.chip", { amount: money(chip) }),
        "data-key": String((index + 1) % 10),
        "data-k": `chip-${chip}`,
        onclick: () => doing.chip(chip),
      },
      onChip(chip),
    ),
  );
  const free = actions.free_bets.map((offer) =>
    el(
      "button",
      {
        type: "button",
        class: "chip free",
        role: "radio",
        "aria-checked": String(ui.funding?.funding === offer.funding && ui.funding?.wager === offer.wager),
        "data-k": `free-${offer.funding}-${offer.wager}`,
        onclick: () => doing.free(offer),
      },
      say("bet.free", { wager: say(`wager.${offer.wager}`), amount: plain(offer.amount) }),
    ),
  );
  // With bets on the table rebet has become double.
  const bets = known.own.boxes.length > 0;
  const together = actions.place.filter((one) => one.boxes.length > 1);
  return [
    el("div", { class: "chips", role: "radiogroup", "aria-label": say("bet.chips") }, chips, free),
    el("p", { class: "hint" }, hint(known, actions)),
    el(
      "div",
      { class: "actions" },
      together.map((action) => {
        const amount = adding(action, ui);
        return button(say("bet.together", { amount: plain(amount) }), "a", "together", ui, () =>
          doing.place(action, amount),
        );
      }),
      button(say("bet.undo"), "u", "undo", ui, () => doing.whole("undo"), !actions.undo),
      button(say("bet.clear"), "c", "clear", ui, () => doing.whole("clear"), !actions.clear),
      bets
        ? button(
            actions.double ? say("bet.double", { amount: plain(actions.double) }) : say("bet.double_plain"),
            "d",
            "double",
            ui,
            () => doing.whole("double"),
            !actions.double,
          )
        : button(say("bet.rebet"), "r", "rebet", ui, () => doing.whole("rebet"), !actions.rebet),
    ),
  ];
}

function hint(known, actions) {
  if (known.balance && known.balance.amount === null) return say("bet.no_money");
  return actions.chips.length ? say("bet.choose") : say("bet.no_chips");
}

function button(text, key, name, ui, act, off = false) {
  return el(
    "button",
    { type: "button", class: "big", "data-key": key, "data-k": name, disabled: off || ui.still, onclick: act },
    text,
  );
}
