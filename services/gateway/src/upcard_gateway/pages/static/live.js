// Live regions: <main data-live-from="/staff/…/live"> with <div id="x" data-live>; the server sends what changed.
"use strict";
(() => {
  const words = JSON.parse(document.body.dataset.words || "{}");
  const bar = document.querySelector("[data-lost]");
  const source = document.querySelector("[data-live-from]");
  const SILENT_MS = 15000;
  let heardAt = performance.now();
  let stale = false;

  const show = (text) => {
    if (!bar) return;
    if (bar.textContent !== text) bar.textContent = text;
    bar.hidden = !text;
  };
  // What is dangerous must not be pressed on an old picture.
  const setStale = (now, text) => {
    show(now ? text : "");
    if (now === stale) return;
    stale = now;
    document.documentElement.toggleAttribute("data-stale", now);
    rest();
  };
  const rest = () => {
    for (const one of document.querySelectorAll("button.danger, button[data-needs-live]")) {
      if (stale && !one.disabled) { one.disabled = true; one.dataset.rested = "yes"; }
      if (!stale && one.dataset.rested) { one.disabled = false; delete one.dataset.rested; }
    }
  };

  // What a person has opened, typed, scrolled or focused stays, where it has an id or a name.
  const keep = (region) => {
    const at = document.activeElement;
    const inside = at && region.contains(at) ? at : null;
    const fields = [...region.querySelectorAll("input, select, textarea")]
      .filter((one) => one.type !== "hidden" && (one.id || one.name))
      .filter((one) => one.type === "checkbox" || one.type === "radio"
        ? one.checked !== one.defaultChecked
        : one.tagName === "SELECT" ? [...one.options].some((o) => o.selected !== o.defaultSelected) : one.value !== one.defaultValue)
      .map((one) => ({ at: pathOf(one), value: one.value, checked: one.checked }));
    return {
      focus: inside && pathOf(inside),
      picked: inside && "selectionStart" in inside ? [inside.selectionStart, inside.selectionEnd] : null,
      fields,
      open: [...region.querySelectorAll("details[id]")].map((one) => [one.id, one.open]),
      scrolled: [...region.querySelectorAll("[id].scrolls")].map((one) => [one.id, one.scrollLeft, one.scrollTop]),
    };
  };
  const pathOf = (one) => {
    if (one.id) return `#${CSS.escape(one.id)}`;
    const form = one.closest("form[id]");
    const own = one.name ? `[name="${CSS.escape(one.name)}"]` : one.dataset.key ? `[data-key="${CSS.escape(one.dataset.key)}"]`
      : one.getAttribute("href") ? `[href="${CSS.escape(one.getAttribute("href"))}"]` : null;
    return own && (form ? `#${CSS.escape(form.id)} ${own}` : own);
  };
  const restore = (region, kept) => {
    for (const field of kept.fields) {
      const one = field.at && region.querySelector(field.at);
      if (!one) continue;
      if (one.type === "checkbox" || one.type === "radio") one.checked = field.checked; else one.value = field.value;
    }
    for (const [id, open] of kept.open) { const one = document.getElementById(id); if (one) one.open = open; }
    for (const [id, left, top] of kept.scrolled) {
      const one = document.getElementById(id);
      if (one) { one.scrollLeft = left; one.scrollTop = top; }
    }
    const focus = kept.focus && region.querySelector(kept.focus);
    if (focus) {
      focus.focus({ preventScroll: true });
      if (kept.picked && kept.picked[0] !== null && focus.setSelectionRange) {
        try { focus.setSelectionRange(...kept.picked); } catch { /* not a field of text */ }
      }
    }
  };
  const replace = (id, html) => {
    const region = document.getElementById(id);
    if (!region) return;
    if (region.querySelector("dialog[open], form[data-sent]")) { waiting.set(id, html); return; }
    waiting.delete(id);
    const kept = keep(region);
    region.innerHTML = html;
    restore(region, kept);
    rest();
    region.dispatchEvent(new CustomEvent("upcard:live", { bubbles: true }));
  };
  const waiting = new Map();
  document.addEventListener("close", () => { for (const [id, html] of [...waiting]) replace(id, html); }, true);

  // Nobody asked for it: it is no sign of the person, and must not keep the session from locking itself.
  const reloadUnasked = () => {
    document.cookie = "upcard-reloaded=1; path=/staff; max-age=5; samesite=strict";
    location.reload();
  };

  if (!source) return;
  const stream = new EventSource(source.dataset.liveFrom);
  const heard = () => { heardAt = performance.now(); setStale(false, ""); };
  stream.addEventListener("regions", (event) => {
    const { changed, gone } = JSON.parse(event.data);
    heard();
    for (const [id, html] of Object.entries(changed)) replace(id, html);
    for (const id of gone) replace(id, "");
  });
  stream.addEventListener("beat", heard);
  stream.addEventListener("stale", () => { heardAt = performance.now(); setStale(true, words.stale || ""); });
  stream.addEventListener("ended", () => { stream.close(); reloadUnasked(); });
  stream.addEventListener("error", () => {
    // A refusal closes it for good: the page, asked anew, says why.
    if (stream.readyState === EventSource.CLOSED) {
      setStale(true, words.lost || "");
      setTimeout(reloadUnasked, 5000);
    }
  });
  setInterval(() => {
    if (performance.now() - heardAt > SILENT_MS) setStale(true, words.lost || "");
  }, 1000);
  window.addEventListener("pagehide", () => stream.close());
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
})();
