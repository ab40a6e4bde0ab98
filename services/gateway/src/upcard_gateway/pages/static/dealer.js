// The dealer's console: acts are calls with JSON, the clock is the server's. Words come from the page.
"use strict";
(() => {
  const console_ = document.querySelector("[data-dealer]");
  if (!console_) return;
  const words = JSON.parse(console_.dataset.dealerWords || "{}");
  const told = document.getElementById("dealer-told");
  const ahead = Date.parse(console_.dataset.now) - Date.now();
  const TRIES = 3;
  const WAIT_MS = 15000;
  let correcting = "";
  let working = false;
  let laidAt = ""; // the place whose card was laid last: a second press must not lay the next one too

  let saidUntil = 0;
  const say = (text, kind) => {
    clearTimeout(saidUntil);
    told.textContent = text;
    told.className = `told ${kind || ""}`;
    // What went well need not be read later; what did not stays until the next act.
    if (kind === "good") saidUntil = setTimeout(() => say(""), 4000);
  };
  const fresh = () => {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return [...bytes].map((one) => one.toString(16).padStart(2, "0")).join("");
  };
  const roundNow = () => Number(document.querySelector("[data-round-now]")?.dataset.roundNow || 0);
  const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

  // The same wish keeps its id in every try: it is done once, however often it is sent.
  const post = async (act, fields) => {
    const body = JSON.stringify({ request_id: fresh(), ...fields });
    for (let attempt = 1; ; attempt += 1) {
      let answer = null;
      try {
        answer = await fetch(`${console_.dataset.dealer}/${act}`, {
          method: "POST",
          headers: { "Content-Type": "application/json", "Upcard-Csrf": document.body.dataset.csrf },
          body,
          signal: AbortSignal.timeout(WAIT_MS),
        });
      } catch {
        if (attempt >= TRIES) return { lost: true };
      }
      if (answer && answer.status === 401) { location.reload(); return { lost: true }; }
      if (answer && (answer.status !== 503 || attempt >= TRIES)) {
        const found = await answer.json().catch(() => ({}));
        return answer.ok ? found : { problem: found.detail || words.lost };
      }
      await pause(400 * attempt);
    }
  };

  const act = async (name, fields, from) => {
    const shown = document.querySelector("[data-place-shown]")?.dataset.placeShown || "";
    const at = `${fields.round}.${shown}`;
    if (working || (name === "lay_card" && at === laidAt)) return;
    working = true;
    console_.toggleAttribute("data-working", true);
    say(words.working);
    const dialog = from && from.closest("dialog");
    const answer = await post(name, fields);
    working = false;
    console_.toggleAttribute("data-working", false);
    if (dialog && dialog.open) dialog.close();
    if (answer.lost) { say(words.lost, "bad"); return; }
    if (answer.problem) { say(answer.problem, "bad"); return; }
    if (answer.result === "refused") { say(answer.text, "bad"); point(answer.data && answer.data.place); return; }
    say(words.done, "good");
    if (name === "lay_card") laidAt = at;
    // The form may be another one by now: the region that holds it is replaced as the table goes on.
    if (from && from.tagName === "FORM") ((from.id && document.getElementById(from.id)) || from).reset();
  };

  // The table asks for a card by name: lead to its field.
  const point = (place) => {
    const field = place && document.getElementsByName(`cards.${place}`)[0];
    if (!field) return;
    const details = field.closest("details");
    if (details) details.open = true;
    field.focus();
  };

  const fieldsOf = (element) => {
    const fields = {};
    const { round, deck, card, place } = element.dataset;
    if (round) fields.round = round === "now" ? roundNow() : Number(round);
    if (deck) fields.deck = deck;
    if (card) fields.card = card;
    if (place) fields.place = place === "chosen" ? correcting : place;
    return fields;
  };

  document.addEventListener("click", (event) => {
    const at = event.target instanceof Element ? event.target : null;
    if (!at) return;
    const button = at.closest("button[data-act]");
    if (button && !button.disabled) act(button.dataset.act, fieldsOf(button), button);
    const correct = at.closest("button[data-correct]");
    if (correct) {
      correcting = correct.dataset.correct;
      document.getElementById("correct-dialog").showModal();
    }
    const retire = at.closest("button[data-retire]");
    if (retire) {
      const dialog = document.getElementById("retire-dialog");
      const heading = dialog.querySelector("[data-heading]");
      heading.textContent = heading.dataset.heading.replace("%", retire.dataset.retire);
      dialog.querySelector("input[name=deck]").value = retire.dataset.retire;
      dialog.showModal();
    }
  });

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.dataset.act) return;
    event.preventDefault();
    const fields = fieldsOf(form);
    for (const [name, value] of new FormData(form)) {
      if (!value) continue;
      if (name.startsWith("cards.")) (fields.cards ||= {})[name.slice("cards.".length)] = value;
      else fields[name] = value;
    }
    act(form.dataset.act, fields, form);
  });

  const tick = () => {
    for (const clock of document.querySelectorAll("[data-closes-at]")) {
      const left = Math.max(0, Date.parse(clock.dataset.closesAt) - (Date.now() + ahead));
      const text = `${Math.ceil(left / 1000)} ${words.seconds}`;
      if (clock.textContent !== text) clock.textContent = text;
      clock.classList.toggle("ending", left < 5000);
    }
  };
  setInterval(tick, 100);
  tick();
  document.addEventListener("upcard:live", () => {
    tick();
    // Where a card is to be named, typing begins at once; what somebody else has focused stays.
    const typed = document.getElementById("lay-card");
    if (typed && (document.activeElement === document.body || !document.activeElement)) typed.focus();
  });
})();
