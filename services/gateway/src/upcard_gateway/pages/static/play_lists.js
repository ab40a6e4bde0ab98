// Drawers: the player's rounds, the account's statement, the rules of the table; and the list of tables.

import { at, el, paint } from "./play_dom.js";
import { moment, money, plain, say, sayOr, signed } from "./play_words.js";

let turn = 0;

/** Open a drawer and show what `load(after)` gives: {parts, next}. What was opened before is forgotten. */
export async function openDrawer(title, load) {
  const mine = ++turn;
  const drawer = at("drawer");
  const body = at("drawer-body");
  at("drawer-title").textContent = title;
  at("drawer-foot").replaceChildren();
  body.replaceChildren(el("p", { class: "empty" }, say("list.loading")));
  if (!drawer.open) drawer.showModal();
  const found = await load(null);
  if (mine !== turn) return;
  if (!found) {
    body.replaceChildren(el("p", { class: "notice bad" }, say("list.failed")));
    return;
  }
  body.replaceChildren(found.head ?? el("p", { class: "empty" }, say("list.none")));
  body.scrollTop = 0;
  older(found, load, mine);
}

function older(found, load, mine) {
  const foot = at("drawer-foot");
  foot.replaceChildren();
  if (!found.next) return;
  const more = el("button", { type: "button" }, say("list.more"));
  more.addEventListener("click", async () => {
    more.disabled = true;
    const following = await load(found.next);
    if (mine !== turn) return;
    if (!following) {
      more.disabled = false;
      return;
    }
    at("drawer-body").querySelector("tbody").append(...(following.rows ?? []));
    older(following, load, mine);
  });
  foot.append(more);
}

function listed(columns, rows, next) {
  if (rows.length === 0) return { head: null, rows, next };
  const heads = columns.map(([name, kind]) => el("th", { scope: "col", class: kind ?? "" }, say(`list.${name}`)));
  return {
    head: el("table", {}, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, rows)),
    rows,
    next,
  };
}

/** The player's own rounds. */
export function roundsOf(data) {
  const rows = (data.rounds ?? []).map((one) =>
    el(
      "tr",
      {},
      el("td", { class: "number" }, String(one.number)),
      el("td", {}, one.table),
      el("td", {}, moment(one.opened_at, true)),
      el("td", {}, sayOr(`round_state.${one.state}`, one.state)),
      el("td", { class: "number" }, plain(one.staked ?? 0)),
      el("td", { class: "number" }, one.returned === null || one.returned === undefined ? "" : plain(one.returned)),
      el("td", { class: `number ${tone(one.net)}` }, one.net === null || one.net === undefined ? "" : signed(one.net)),
    ),
  );
  const columns = [
    ["round", "number"],
    ["table"],
    ["when"],
    ["state"],
    ["staked", "number"],
    ["returned", "number"],
    ["net", "number"],
  ];
  return listed(columns, rows, data.next);
}

function tone(net) {
  return net > 0 ? "good-text" : net < 0 ? "bad-text" : "";
}

/** What moved on the account. */
export function statementOf(data) {
  const rows = (data.lines ?? []).map((one) =>
    el(
      "tr",
      {},
      el("td", {}, moment(one.at, true)),
      el("td", {}, sayOr(`kind.${one.kind}`, one.kind), one.round && el("span", { class: "dim" }, ` ${one.round}`)),
      el("td", { class: `number ${tone(one.cash)}` }, signed(one.cash)),
      el("td", { class: "number" }, one.balance === null || one.balance === undefined ? "" : plain(one.balance)),
    ),
  );
  return listed([["when"], ["what"], ["amount", "number"], ["balance", "number"]], rows, data.next);
}

/** The rules of a table, its limits and pay-outs, as the house publishes them. */
export function rulesOf(rules) {
  return el(
    "article",
    { class: "rules" },
    el("p", { class: "dim" }, rules.title),
    rules.sections.map((section) =>
      el(
        "section",
        {},
        el("h3", {}, section.title),
        section.sentences.length > 0 && el("ul", {}, section.sentences.map((one) => el("li", {}, one.text))),
        section.tables.map((one) =>
          el(
            "div",
            { class: "scrolls" },
            el(
              "table",
              {},
              el("caption", {}, one.title),
              el("thead", {}, el("tr", {}, one.columns.map((name) => el("th", { scope: "col" }, name)))),
              el(
                "tbody",
                {},
                one.rows.map(([first, ...others]) =>
                  el("tr", {}, el("th", { scope: "row" }, first), others.map((cell) => el("td", {}, cell))),
                ),
              ),
            ),
          ),
        ),
      ),
    ),
  );
}

/** The tables that may be joined. */
export function paintLobby(tables, { viewing, currency, join }) {
  paint(at("tables"), [tables, viewing], () => {
    if (!tables) return el("p", { class: "notice warn" }, say("lobby_unknown"));
    const open = tables.filter((one) => one.state !== "closed");
    if (open.length === 0) return el("p", { class: "empty" }, say("lobby_none"));
    return el("ul", { class: "tables" }, open.map((one) => tableOf(one, viewing, currency, join)));
  });
}

function tableOf(one, viewing, currency, join) {
  const limits = (one.limits ?? []).find((each) => each.currency === currency) ?? one.limits?.[0];
  const seats = one.seats;
  const range = limits && `${plain(limits.ante_min, limits.currency)} – ${money(limits.ante_max, limits.currency)}`;
  const facts = [
    [say("dealer"), one.dealer],
    [say("lobby_ante"), range],
    [say("lobby_seats"), seats && (seats.shared ? say("lobby_shared") : `${seats.free.length} / ${seats.boxes}`)],
  ].filter(([, value]) => value);
  return el(
    "li",
    { class: "panel" },
    el(
      "header",
      {},
      el("h2", {}, one.name),
      el("span", { class: `badge ${one.state === "betting" ? "good" : ""}` }, sayOr(`state.${one.state}`, one.state)),
    ),
    el("p", { class: "dim" }, one.title),
    el("dl", { class: "facts" }, facts.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
    one.last_results?.length > 0 &&
      el(
        "p",
        { class: "results" },
        el("span", { class: "dim" }, say("lobby_results")),
        one.last_results.map((each) =>
          el(
            "span",
            { class: "badge" },
            each.dealer ? sayOr(`hand.${each.dealer}`, each.dealer) : say("round_state.cancelled"),
          ),
        ),
      ),
    el(
      "button",
      { type: "button", class: "primary", "data-k": `join-${one.table}`, onclick: () => join(one.table) },
      say(viewing ? "lobby_view" : "lobby_join"),
    ),
  );
}
