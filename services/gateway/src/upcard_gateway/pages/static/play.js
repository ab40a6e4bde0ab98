// The players' page: opens the connection, shows what comes, asks for what is pressed.

import { chipOf } from "./play_bets.js";
import { layoutOf, paintBoard, tick } from "./play_board.js";
import { paintChat } from "./play_chat.js";
import { Connection } from "./play_connection.js";
import { desk, saying, standing } from "./play_desk.js";
import { at, forget, put } from "./play_dom.js";
import { openDrawer, paintLobby, roundsOf, rulesOf, statementOf } from "./play_lists.js";
import { beginning, elsewhere, take } from "./play_state.js";
import { clock, money, say, sayOr, typed, useCurrency } from "./play_words.js";

const KEPT = "upcard.play";
const TICK_MS = 200;
const LOBBY_MS = 4_000;
const SURE_MS = 4_000;
const rulesets = JSON.parse(document.body.dataset.rulesets);
const known = beginning();
const ui = {
  chip: null,
  funding: null,
  picking: null,
  armed: null,
  insured: {},
  still: true,
  layout: { boxes: 1, shared: false },
  tables: undefined,
  over: null,
};
let entry = entryOf();
let painting = false;

/** How this page may come in: a launch token of the address, a session of before, or to look on. */
function entryOf() {
  const hash = new URLSearchParams(location.hash.slice(1));
  const token = hash.get("launch_token");
  if (token) {
    // It opens the session once, and has no business in the history of the browser.
    history.replaceState(null, "", location.pathname + location.search);
    sessionStorage.removeItem(KEPT);
    return { launch_token: token };
  }
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
  return kept?.session_token ? { session_token: kept.session_token, table: kept.table } : { view: true };
}

function keep() {
  if (!entry.session_token) return;
  sessionStorage.setItem(KEPT, JSON.stringify({ session_token: entry.session_token, table: line.table }));
}

const line = new Connection("/play/ws", {
  hello: () => ({
    ...(entry.launch_token ? { launch_token: entry.launch_token } : {}),
    ...(entry.session_token ? { session_token: entry.session_token } : {}),
    ...(entry.view ? { view: true } : {}),
  }),
  told,
  changed,
});

function told(message) {
  if (message.type === "welcome") welcomed(message);
  if (message.type === "ended" && !message.resumable) over(message);
  const roundBefore = known.round;
  take(known, message);
  if (known.round !== roundBefore) nextRound();
  if (message.type === "table" && message.events.some((one) => one.type === "DealerSignedIn")) dealerNamed();
  if (message.type === "notice") saying(message.text, "warn");
  if (message.type === "error" && (!message.id || message.id === "hello")) saying(message.text, "bad");
  if (message.type === "error" && message.id === "hello") lobby();
  if (message.type === "window" || message.type === "own") ui.armed = null;
  later();
}

/** Events name nobody: what the new dealer is called is in the list of tables, a moment later. */
function dealerNamed() {
  clearTimeout(dealerNamed.timer);
  dealerNamed.timer = setTimeout(async () => {
    const { table } = line;
    const answer = await line.ask({ type: "lobby" });
    const found = answer.data?.tables.find((one) => one.table === table);
    if (found && known.table?.table === table && known.table.dealer) known.table.dealer_name = found.dealer;
    later();
  }, LOBBY_MS / 2);
}

function welcomed(message) {
  if (message.session_token) entry = { session_token: message.session_token };
  useCurrency(message.currency);
  const cashier = at("cashier");
  cashier.hidden = !message.cashier_url;
  if (message.cashier_url) cashier.href = message.cashier_url;
  // A session for one table alone is taken there by the gateway.
  if (message.table) line.table = message.table;
  const wanted = entry.table ?? document.body.dataset.table;
  if (!line.table && wanted) join(wanted);
  else if (!line.table) lobby();
  keep();
}

function changed(state) {
  const lost = state === "lost";
  at("lost").hidden = !lost;
  if (state === "open" && at("lost").dataset.was === "lost") saying(say("said.resumed"), "good");
  at("lost").dataset.was = state;
  ui.still = state !== "open";
  later();
}

function nextRound() {
  Object.assign(ui, { picking: null, armed: null, insured: {} });
}

function over(message) {
  ui.over = message.text;
  const taken = message.reason === "taken_over";
  at("over-here").hidden = !taken;
  // Whoever has looked on for as long as one may is not invited to do so at once again.
  at("over-again").hidden = message.reason.startsWith("viewing_");
  if (!taken) sessionStorage.removeItem(KEPT);
  later();
}

// ------------------------------------------------------------------------------------------- what is asked

async function ask(message, accepted) {
  const answer = await line.ask(message);
  if (answer.accepted) {
    if (accepted) saying(accepted(answer), "good");
    return answer;
  }
  const text = answer.text ?? sayOr(`said.${answer.reason}`, say("said.unknown", { reason: answer.reason }));
  saying(answer.money === "unknown" ? text : say("said.not_accepted", { text }), "bad");
  return answer;
}

const sum = (staked) => (staked ?? []).reduce((total, one) => total + one.amount, 0);
const staked = (answer) => say("said.bet", { amount: money(sum(answer.staked)) });
const accepted = () => say("said.accepted");

async function join(table) {
  elsewhere(known);
  nextRound();
  ui.tables = undefined;
  show("waiting");
  later();
  const answer = await line.join(table);
  if (answer.accepted) keep();
  else {
    line.table = null;
    saying(answer.text ?? "", "bad");
    lobby();
  }
}

function lobby() {
  line.table = null;
  keep();
  refreshLobby();
}

async function refreshLobby() {
  clearTimeout(refreshLobby.timer);
  if (line.table || ui.over) return;
  refreshLobby.timer = setTimeout(refreshLobby, LOBBY_MS);
  if (document.hidden || line.state !== "open") return;
  const answer = await line.ask({ type: "lobby" });
  if (line.table) return;
  ui.tables = answer.accepted ? answer.data.tables : (ui.tables ?? null);
  later();
}

const round = () => known.round;
const doing = {
  chip(chip) {
    Object.assign(ui, { chip, funding: null });
    later();
  },
  free(offer) {
    ui.funding = offer;
    later();
  },
  place(action, amount) {
    const funding = ui.funding?.wager === action.wager ? ui.funding.funding : null;
    const placements = action.boxes.map((box) => ({
      box,
      wager: action.wager,
      amount,
      blind: action.blind.includes(box) && action.wager === "ante",
      ...(funding ? { funding } : {}),
    }));
    if (funding) ui.funding = null;
    return ask({ type: "bet", round: round(), placements }, staked);
  },
  withdraw: (box, wager) =>
    ask({ type: "withdraw", round: round(), box, wager }, (answer) =>
      say("said.taken", { amount: money(sum(answer.taken_back)) }),
    ),
  whole: (type) =>
    ask({ type, round: round() }, (answer) =>
      answer.taken_back?.length
        ? say("said.taken", { amount: money(sum(answer.taken_back)) })
        : answer.staked?.length
          ? staked(answer)
          : accepted(),
    ),
  pickFrom(box) {
    ui.picking = box === null ? null : { box, positions: [] };
    later();
  },
  pick(box, index) {
    const { positions } = ui.picking;
    const there = positions.indexOf(index);
    if (there >= 0) positions.splice(there, 1);
    else positions.push(index);
    later();
  },
  arm(name) {
    ui.armed = name;
    clearTimeout(doing.timer);
    doing.timer = setTimeout(() => {
      ui.armed = null;
      later();
    }, SURE_MS);
    later();
  },
  async option(box, kind, positions = []) {
    ui.armed = null;
    const answer = await ask({ type: "option", round: round(), box, kind, positions }, accepted);
    if (answer.accepted) doing.pickFrom(null);
  },
  insure(box, amount) {
    ui.insured[box] = amount;
    later();
  },
  final(box, choice, insurance) {
    ui.armed = null;
    return ask({ type: "final", round: round(), box, choice, insurance }, accepted);
  },
  purchase: (box, buy) => ask({ type: "purchase", round: round(), box, buy }, accepted),
};

// ------------------------------------------------------------------------------------------ what is shown

/** Show it all once, soon: many messages may come at a time. */
function later() {
  if (painting) return;
  painting = true;
  queueMicrotask(() => {
    painting = false;
    render();
  });
}

function show(name) {
  for (const one of ["waiting", "lobby", "table", "over"]) at(one).hidden = one !== name;
}

function render() {
  const { welcome, table } = known;
  if (ui.over) {
    line.end();
    put(at("over-text"), ui.over);
    show("over");
  } else if (!welcome) {
    show("waiting");
  } else if (!line.table) {
    show(ui.tables === undefined ? "waiting" : "lobby");
    if (ui.tables !== undefined) {
      paintLobby(ui.tables, { viewing: welcome.viewing, currency: welcome.currency, join });
    }
  } else if (table) {
    show("table");
    ui.layout = layoutOf(known, rulesets);
    ui.chip = chipOf(ui, known.own.actions);
    paintBoard(known, ui, doing);
    desk(known, ui, doing);
    paintChat(known);
  }
  standing(known, { joined: line.table, over: ui.over });
}

// ------------------------------------------------------------------------------------------- what is pressed

at("to-lobby").addEventListener("click", async () => {
  await line.leave();
  elsewhere(known);
  forget(at("tables"));
  lobby();
});
at("to-history").addEventListener("click", () => openDrawer(say("history"), (after) => listed("history", after, roundsOf)));
at("to-statement").addEventListener("click", () =>
  openDrawer(say("statement"), (after) => listed("statement", after, statementOf)),
);
at("to-rules").addEventListener("click", () =>
  openDrawer(known.table.name, async () => {
    const currency = known.welcome.currency ? `?currency=${encodeURIComponent(known.welcome.currency)}` : "";
    const answer = await fetch(`/play/tables/${encodeURIComponent(line.table)}/rules${currency}`).catch(() => null);
    return answer?.ok ? { head: rulesOf(await answer.json()), next: null } : null;
  }),
);
at("to-chat").addEventListener("click", () => {
  const hidden = at("table").classList.toggle("no-side");
  at("to-chat").setAttribute("aria-expanded", String(!hidden));
});
at("say").addEventListener("submit", async (event) => {
  event.preventDefault();
  const field = at("say-text");
  const text = field.value.trim();
  if (!text) return;
  field.value = "";
  const answer = await ask({ type: "chat", text });
  if (!answer.accepted && !field.value) field.value = text;
});
at("tip").addEventListener("submit", async (event) => {
  event.preventDefault();
  const field = at("tip-amount");
  const amount = typed(field.value);
  if (!amount) {
    saying(say("tip_wrong"), "bad");
    return;
  }
  const answer = await ask({ type: "tip", amount }, () => say("tip_given", { amount: money(amount) }));
  if (answer.accepted) field.value = "";
});
at("over-here").addEventListener("click", () => location.reload());
at("leave").addEventListener("click", async () => {
  const button = at("leave");
  if (!button.dataset.sure) {
    button.dataset.sure = button.textContent;
    button.textContent = say("leave_sure");
    setTimeout(() => {
      button.textContent = button.dataset.sure;
      delete button.dataset.sure;
    }, SURE_MS);
    return;
  }
  await ask({ type: "end" });
});

async function listed(type, after, shown) {
  const answer = await line.ask({ type, ...(after ? { after } : {}) });
  return answer.accepted ? shown(answer.data) : null;
}

setInterval(() => {
  if (known.welcome && line.table) tick(known, line.state === "open");
  const until = known.welcome?.viewing_until;
  at("viewing").hidden = !known.welcome?.viewing || Boolean(ui.over);
  if (known.welcome?.viewing) {
    const left = until ? Date.parse(until) - Date.parse(known.welcome.at) - (performance.now() - known.welcomedAt) : null;
    put(at("viewing-text"), left === null ? say("viewing") : say("viewing_left", { left: clock(left) }));
  }
}, TICK_MS);

line.open();
