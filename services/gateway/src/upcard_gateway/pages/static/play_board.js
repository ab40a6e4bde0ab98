// The table as it lies: dealer, switch cards, boxes, course of the round, time of the window.

import { at, el, paint, put } from "./play_dom.js";
import { adding } from "./play_bets.js";
import { cardName, clock, face, money, plain, say, sayOr, signed } from "./play_words.js";

const DEALT = 5;
/** Up to so many boxes have room for bought cards from the beginning: nothing moves when they come. */
const ROOMY = 4;
const SOON_MS = 5_000;
const PLACED = ["ante", "bonus_player", "bonus_dealer"];

/** One card: its face, its back, or the place where it will lie. */
export function cardOf(card, { pick, picked, number, box } = {}) {
  if (pick) {
    return el(
      "button",
      {
        type: "button",
        class: `card-face${face(card).red ? " red" : ""}${picked ? " chosen" : ""}`,
        "aria-pressed": String(picked),
        "aria-label": say("choice.exchange_one", { number: number + 1, card: cardName(card) }),
        "data-k": `card-${box}-${number}`,
        onclick: pick,
      },
      faces(card),
    );
  }
  if (!card) return el("span", { class: "card-face empty", role: "img", "aria-label": say("card.none") });
  if (card === "hidden") return el("span", { class: "card-face back", role: "img", "aria-label": cardName(card) });
  const red = face(card).red ? " red" : "";
  return el("span", { class: `card-face${red}`, role: "img", "aria-label": cardName(card) }, faces(card));
}

function faces(card) {
  const { rank, suit } = face(card);
  return [el("span", { class: "rank" }, rank), el("span", { class: "suit" }, suit)];
}

/** How many boxes the table has, and whether all players play the same. */
export function layoutOf(known, rulesets) {
  const rules = rulesets[known.table?.ruleset];
  const seen = Object.keys(known.view.plays).concat(known.view.dealt, known.own.boxes.map((one) => one.box));
  const boxes = rules?.boxes ?? Math.max(1, ...seen.map(Number));
  return { boxes, shared: rules?.shared ?? false };
}

/** Everything that lies on the felt. */
export function paintBoard(known, ui, doing) {
  course(known);
  dealer(known);
  switchCards(known, ui.layout);
  const boxes = at("boxes");
  boxes.dataset.count = ui.layout.boxes;
  while (boxes.children.length > ui.layout.boxes) boxes.lastChild.remove();
  for (let number = 1; number <= ui.layout.boxes; number += 1) {
    const region = boxes.children[number - 1] ?? boxes.appendChild(el("section", { class: "box" }));
    region.setAttribute("aria-label", say("box", { box: number }));
    box(region, number, known, ui, doing);
  }
}

function course(known) {
  const steps = known.window?.progress ?? [];
  const region = at("progress");
  paint(region, steps, () =>
    steps.map(({ window: name, status }) =>
      el(
        "li",
        { class: status, "aria-current": status === "open" ? "step" : null },
        sayOr(`step.${name}`, name),
        el("span", { class: "only-heard" }, say(`status.${status}`)),
      ),
    ),
  );
}

/** The time that the open window has left; called several times a second. */
export function tick(known, online) {
  const window = known.window;
  const left = window?.kind ? window.closes - performance.now() : 0;
  const bar = at("timer-bar");
  const name = window?.kind ? say(`window.${window.kind}`) : say("window.none");
  put(at("window-name"), window?.box ? say("window.of_box", { window: name, box: window.box }) : name);
  put(at("timer"), window?.kind && online ? clock(left) : "");
  bar.firstElementChild.style.width = window?.kind ? `${Math.min(100, Math.max(0, (100 * left) / window.whole))}%` : "0";
  bar.classList.toggle("ending", left > 0 && left < SOON_MS);
}

function dealer(known) {
  const { cards, dealer: hands } = known.view;
  const lies = places("dealer", DEALT).map((place) => cards[place]);
  const draws = Object.keys(cards).filter((place) => place.startsWith("draw."));
  const now = known.own.dealer ?? hands.final ?? hands.hand;
  const words = now ? (now.words ?? sayOr(`hand.${now.name}`, now.name)) : null;
  paint(at("dealer"), [lies, draws.map((place) => cards[place]), words, now?.game], () => [
    el("h2", {}, say("dealer")),
    el("div", { class: "cards" }, lies.map((card) => cardOf(card))),
    draws.length > 0 &&
      el(
        "div",
        { class: "bought" },
        el("span", {}, say("draws")),
        el("div", { class: "cards" }, draws.map((place) => cardOf(cards[place]))),
      ),
    el(
      "p",
      { class: "words" },
      words ?? "\u00a0",
      now && el("span", { class: `badge ${now.game ? "good" : "warn"}` }, say(now.game ? "game" : "no_game")),
    ),
  ]);
}

function switchCards(known, { shared }) {
  const region = at("switch");
  const found = places("switch", DEALT).map((place) => known.view.cards[place]);
  region.hidden = !shared;
  if (!shared) return;
  paint(region, found, () => [
    el("h2", {}, say("switch")),
    el("div", { class: "cards small" }, found.map((card) => cardOf(card))),
    el("p", { class: "words" }, "\u00a0"),
  ]);
}

function places(name, count) {
  return Array.from({ length: count }, (_, index) => `${name}.${index}`);
}

function box(region, number, known, ui, doing) {
  const mine = known.own.boxes.find((one) => one.box === number);
  const play = mine ?? known.view.plays[number];
  const lies = places(`box.${number}`, DEALT).map(
    (place, index) => mine?.cards[index] ?? known.view.cards[place] ?? null,
  );
  const bought = mine?.bought?.length
    ? mine.bought.map((card) => card ?? "hidden")
    : places(`replacement.${number}`, DEALT).map((place) => known.view.cards[place]).filter(Boolean);
  const asks = known.window?.kind === "betting" && known.own.actions ? known.own.actions : null;
  const place = (asks?.place ?? []).filter((one) => one.boxes.length === 1 && one.boxes[0] === number);
  const withdraw = (asks?.withdraw ?? []).filter((one) => one.box === number);
  const picking = ui.picking?.box === number ? ui.picking : null;
  const turn = known.window?.box === number;
  region.className = `box${mine ? " own" : ""}${turn ? " now" : ""}${play?.folded ? " folded" : ""}`;
  const seen = [mine, play, lies, bought, place, withdraw, ui.chip, ui.funding, picking?.positions, turn, ui.still];
  paint(region, seen, () => [
    heading(number, mine, play, turn, ui),
    el(
      "div",
      { class: "cards" },
      lies.map((card, index) =>
        picking && card && card !== "hidden"
          ? cardOf(card, {
              box: number,
              number: index,
              picked: picking.positions.includes(index),
              pick: () => doing.pick(number, index),
            })
          : cardOf(card),
      ),
    ),
    (bought.length > 0 || ui.layout.boxes <= ROOMY) &&
      el(
        "div",
        { class: "bought" },
        bought.length > 0 && el("span", {}, say("bought")),
        el("div", { class: "cards small" }, bought.map((card) => cardOf(card))),
      ),
    words(mine),
    spots(number, play, place, withdraw, ui, doing),
  ]);
}

function heading(number, mine, play, turn, ui) {
  const badges = [];
  if (turn) badges.push(["info", "box_turn"]);
  if (play?.folded) badges.push(["", "box_folded"]);
  if (play?.blind) badges.push(["", "box_blind"]);
  if (mine) badges.push(["good", "box_yours"]);
  else if (play && !ui.layout.shared) badges.push(["warn", "box_taken"]);
  return el(
    "header",
    {},
    el("h3", {}, say("box", { box: number })),
    badges.map(([kind, key]) => el("span", { class: `badge ${kind}` }, say(key))),
  );
}

/** The hand in words, what it would be paid, what was chosen, what it came to. */
function words(mine) {
  if (!mine) return el("p", { class: "words" }, "\u00a0");
  const parts = [];
  const result = mine.result;
  if (result) {
    const net = result.net ?? 0;
    const kind = net > 0 ? "good" : net < 0 ? "bad" : "";
    parts.push(
      el(
        "span",
        { class: `badge ${kind}` },
        say("result.box", { outcome: say(`outcome.${result.outcome}`), net: signed(net) }),
      ),
    );
  } else if (mine.purchase !== null && mine.purchase !== undefined) {
    parts.push(el("span", { class: "badge" }, say(mine.purchase ? "chosen.purchase" : "chosen.no_purchase")));
  } else if (mine.final ?? mine.option) {
    const text = sayOr(`chosen.${mine.final ?? mine.option}`, mine.final ?? mine.option);
    const by = mine.final && mine.final_by === "platform" ? ` (${say("chosen.by_platform")})` : "";
    parts.push(el("span", { class: "badge" }, text + by));
  }
  const odds = mine.hand?.odds ? ` ${say("odds", { odds: mine.hand.odds })}` : "";
  return el("p", { class: "words" }, mine.hand ? mine.hand.words + odds : "\u00a0", parts);
}

/** What is staked; while bets are taken also where more may be put. */
function spots(number, play, place, withdraw, ui, doing) {
  const wagers = play?.wagers ?? {};
  const names = [...new Set([...PLACED.filter((one) => place.some((a) => a.wager === one)), ...Object.keys(wagers)])];
  const made = names.flatMap((wager) => {
    const actions = place.filter((one) => one.wager === wager);
    const takes = withdraw.some((one) => one.wager === wager);
    const name = say(`wager.${wager}`);
    if (actions.length === 0) return [standing(name, wagers[wager], takes && taker(wager, number, ui, doing))];
    return actions.map((action) => {
      const blind = action.blind.length > 0;
      const amount = adding(action, ui);
      const shown = blind && wager === "ante" ? say("bet.blind") : name;
      const values = { amount: money(amount), wager: name, box: number };
      const button = el(
        "button",
        {
          type: "button",
          class: "spot",
          "aria-label": say(blind && wager === "ante" ? "bet.add_blind" : "bet.add", values),
          title: say(blind && wager === "ante" ? "bet.add_blind" : "bet.add", values),
          "data-k": `spot-${number}-${wager}-${blind}`,
          disabled: ui.still,
          onclick: () => doing.place(action, amount),
        },
        el("span", { class: "spot-name" }, shown),
        el("span", { class: "spot-amount" }, wagers[wager] ? plain(wagers[wager]) : `+${plain(amount)}`),
      );
      if (wagers[wager]) button.classList.add("staked");
      return el("div", { class: "spot-part" }, button, takes && taker(wager, number, ui, doing));
    });
  });
  return el("div", { class: "spots" }, made.length ? made : el("span", { class: "spot empty" }, "\u00a0"));
}

/** A wager to which nothing can be added now. */
function standing(name, amount, take) {
  return el(
    "div",
    { class: "spot-part" },
    el(
      "span",
      { class: "spot staked" },
      el("span", { class: "spot-name" }, name),
      el("span", { class: "spot-amount" }, plain(amount)),
    ),
    take,
  );
}

function taker(wager, number, ui, doing) {
  const label = say("bet.take", { wager: say(`wager.${wager}`), box: number });
  return el(
    "button",
    {
      type: "button",
      class: "take",
      "aria-label": label,
      title: label,
      disabled: ui.still,
      "data-k": `take-${number}-${wager}`,
      onclick: () => doing.withdraw(number, wager),
    },
    "×",
  );
}
