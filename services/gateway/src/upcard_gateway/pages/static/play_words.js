// Texts, money and cards as people read them. Every word comes from the page (english/play.json).

const words = JSON.parse(document.body.dataset.words);
const digits = JSON.parse(document.body.dataset.digits);
const LANGUAGE = document.documentElement.lang || "en";
let own = "";
const SUITS = { c: "♣", d: "♦", h: "♥", s: "♠" };

/** The text of a key with its {places} filled. A key without a text is shown itself: a defect that is seen. */
export function say(key, values = {}) {
  const text = words[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/** The text of a key, or `otherwise` where there is none. */
export function sayOr(key, otherwise, values) {
  return key in words ? say(key, values) : otherwise;
}

/** The currency of amounts that are shown without naming one. */
export function useCurrency(currency) {
  own = currency ?? "";
}

/** Minor units as people write them, without the currency's name. */
export function plain(amount, currency = own) {
  const places = digits[currency] ?? 2;
  const negative = amount < 0;
  const figures = String(Math.abs(amount)).padStart(places + 1, "0");
  const whole = figures.slice(0, figures.length - places).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  const text = places ? `${whole}.${figures.slice(-places)}` : whole;
  return negative ? `−${text}` : text;
}

/** Minor units with the currency's name. */
export function money(amount, currency = own) {
  return currency ? `${plain(amount, currency)} ${currency}` : plain(amount, currency);
}

/** A gain or a loss. */
export function signed(amount, currency = own) {
  return amount > 0 ? `+${plain(amount, currency)}` : plain(amount, currency);
}

/** A chip's face: no zeros that say nothing. */
export function onChip(amount, currency = own) {
  const places = digits[currency] ?? 2;
  const unit = 10 ** places;
  if (amount % unit) return plain(amount, currency);
  const whole = amount / unit;
  return whole >= 10_000 && whole % 1000 === 0 ? `${whole / 1000}k` : plain(amount, currency).split(".")[0];
}

/** Minor units of what somebody typed; null: it is no amount. */
export function typed(text, currency = own) {
  const places = digits[currency] ?? 2;
  const found = /^\s*(\d{1,12})(?:[.,](\d+))?\s*$/.exec(text);
  if (!found || (found[2] ?? "").length > places) return null;
  return Number(found[1] + (found[2] ?? "").padEnd(places, "0"));
}

/** The rank and the suit of a card as its face has them. */
export function face(card) {
  return { rank: card[0] === "T" ? "10" : card[0], suit: SUITS[card[1]] ?? "", red: "dh".includes(card[1]) };
}

/** A card's name, for who hears the page. */
export function cardName(card) {
  return card && card !== "hidden"
    ? say("card.name", { rank: say(`rank.${card[0]}`), suit: say(`suit.${card[1]}`) })
    : say("card.hidden");
}

/** A moment as a time of day, or with its date when that is another one. */
export function moment(text, withDate = false) {
  const at = new Date(text);
  const time = at.toLocaleTimeString(LANGUAGE, { hour: "2-digit", minute: "2-digit", hour12: false });
  return withDate ? `${at.toLocaleDateString(LANGUAGE, { day: "numeric", month: "short" })}, ${time}` : time;
}

/** A span of time as m:ss. */
export function clock(milliseconds) {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
