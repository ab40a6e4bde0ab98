// What the page knows, from the messages alone. Nothing here touches the page.

/** Nothing is known yet. */
export function beginning() {
  return {
    welcome: null,
    welcomedAt: 0,
    table: null,
    round: 0,
    ownRound: 0,
    view: emptyRound(),
    window: null,
    own: noOwn(),
    bets: { placed: [], total: 0, last_win: null, last_round: null },
    balance: null,
    chat: new Map(),
    notice: null,
  };
}

export function emptyRound() {
  return { step: null, cards: {}, dealer: { hand: null, final: null }, plays: {}, dealt: [], cancelled: null };
}

function noOwn() {
  return { boxes: [], dealer: null, total: 0, settled: null, actions: null };
}

const MOST_LINES = 200;

/** Take a message in. */
export function take(known, message) {
  switch (message.type) {
    case "welcome":
      known.welcome = { ...message, session_token: undefined };
      known.welcomedAt = performance.now();
      break;
    case "snapshot":
      known.table = message.table;
      known.round = message.view?.round ?? message.round;
      known.view = viewOf(message.view);
      if (!message.view) known.window = null;
      if (message.because !== "update") known.chat = message.because === "joined" ? new Map() : known.chat;
      break;
    case "table":
      for (const event of message.events) happened(known, event);
      break;
    case "window":
      known.window = windowOf(message);
      break;
    case "own":
      own(known, message);
      break;
    case "bets":
      known.bets = { ...message };
      break;
    case "balance":
      known.balance = { currency: message.currency, amount: message.amount };
      break;
    case "chat":
      for (const line of message.lines) known.chat.set(line.line, line);
      while (known.chat.size > MOST_LINES) known.chat.delete(known.chat.keys().next().value);
      break;
    case "notice":
      known.notice = { code: message.code, text: message.text, at: performance.now() };
      break;
    default:
  }
}

/** Another table: what was known of the former one is gone. */
export function elsewhere(known) {
  Object.assign(known, { ...beginning(), welcome: known.welcome, welcomedAt: known.welcomedAt, balance: known.balance });
}

function viewOf(view) {
  const made = emptyRound();
  if (!view) return made;
  made.step = view.step;
  made.cards = { ...view.cards };
  made.dealer = { hand: view.dealer?.hand ?? null, final: view.dealer?.final ?? null };
  for (const box of view.boxes ?? []) {
    if (box.dealt) made.dealt.push(box.box);
    if (box.play) made.plays[box.box] = { ...box.play, wagers: { ...box.play.wagers } };
  }
  return made;
}

function windowOf(message) {
  const now = performance.now();
  const closes = message.kind ? now + message.remaining_ms : null;
  const whole =
    message.opened_at && message.closes_at
      ? Date.parse(message.closes_at) - Date.parse(message.opened_at)
      : message.remaining_ms;
  return { kind: message.kind, box: message.box, closes, whole: Math.max(1, whole), progress: message.progress };
}

function own(known, message) {
  const mine = known.own;
  if (message.boxes) known.ownRound = Math.max(known.ownRound, message.round);
  if (message.boxes) mine.boxes = message.boxes;
  if (message.dealer !== undefined && message.boxes) mine.dealer = message.dealer;
  if (message.total !== null && message.total !== undefined) mine.total = message.total;
  if (message.boxes || message.settled) mine.settled = message.settled ?? null;
  if (message.actions) mine.actions = message.actions;
}

function happened(known, event) {
  const { view } = known;
  const { payload } = event;
  // A correction of an earlier round changes nothing that lies here.
  if (event.round && event.round < known.round) return;
  switch (event.type) {
    case "RoundOpened":
      known.view = { ...emptyRound(), step: "betting" };
      // What is the player's own may have come before what everybody sees.
      if (known.ownRound < event.round) known.own = { ...noOwn(), actions: known.own.actions };
      known.round = event.round;
      break;
    case "BettingClosed":
      view.step = "deal";
      view.dealt = payload.boxes;
      break;
    case "CardScanned":
    case "CardRescanned":
      view.cards[payload.place] = payload.card ?? "hidden";
      break;
    case "CardsRevealed":
    case "DealerRevealed":
      for (const opening of payload.openings) {
        if (!opening.superseded) view.cards[opening.place] = opening.card;
      }
      if (event.type === "DealerRevealed") {
        view.dealer.hand = { name: payload.hand, game: payload.qualified };
      }
      break;
    case "DealerRequalified":
      view.dealer.final = { name: payload.hand, game: payload.qualified };
      break;
    case "OptionsOpened":
      view.step = "options";
      break;
    case "OptionsClosed":
      view.step = "replace";
      break;
    case "FinalOptionsOpened":
      view.step = "final_options";
      break;
    case "FinalOptionsClosed":
      view.step = "showdown";
      break;
    case "PurchaseOffered":
      view.step = "purchase";
      break;
    case "PurchaseClosed":
      view.step = "decided";
      break;
    case "RoundSettled":
      view.step = "settled";
      view.dealer.final = payload.dealer.purchased
        ? { name: payload.dealer.final, game: payload.dealer.qualified }
        : view.dealer.final;
      break;
    case "RoundCancelled":
      view.step = "cancelled";
      view.cancelled = payload.reason;
      break;
    case "BetPlaced":
      for (const stake of payload.stakes) stakeOn(view, stake, payload.player, 1);
      break;
    case "BetWithdrawn":
      for (const stake of payload.stakes) stakeOn(view, stake, payload.player, -1);
      break;
    case "OptionChosen":
      chosen(view, payload.box, { option: payload.kind, folded: payload.kind === "fold" });
      break;
    case "FinalOptionChosen":
      chosen(view, payload.box, { final: payload.choice, folded: payload.choice === "fold" });
      break;
    case "DealerSignedIn":
    case "DealerSignedOut":
      if (known.table) {
        const there = event.type === "DealerSignedIn";
        known.table = { ...known.table, dealer: there ? payload.dealer : null, dealer_name: null };
      }
      break;
    case "TableClosed":
      if (known.table) known.table = { ...known.table, open: false };
      break;
    default:
  }
}

/** Exclusive tables: others' stakes show at once. */
function stakeOn(view, stake, player, sign) {
  const play = (view.plays[stake.box] ??= { player, blind: Boolean(stake.blind), wagers: {} });
  const total = (play.wagers[stake.wager] ?? 0) + sign * stake.amount;
  if (total > 0) play.wagers[stake.wager] = total;
  else delete play.wagers[stake.wager];
  if (Object.keys(play.wagers).length === 0) delete view.plays[stake.box];
}

function chosen(view, box, more) {
  if (view.plays[box]) Object.assign(view.plays[box], more);
}
