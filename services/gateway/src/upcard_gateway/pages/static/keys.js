// Keyboard, theme, and small helpers of every page. Words come from the page, none stand here.
"use strict";
(() => {
  const words = JSON.parse(document.body.dataset.words || "{}");
  const typing = (at) => at && (at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName));
  const seen = (one) => !one.disabled && one.getClientRects().length > 0;
  let first = "";
  let firstAt = 0;

  // data-key="x" presses a button or link, or focuses a field; data-key="g f" wants two keys.
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.key === "Escape" && typing(event.target)) { event.target.blur(); return; }
    if (typing(event.target) || document.querySelector("dialog[open]")) return;
    const soon = first && event.timeStamp - firstAt < 1500;
    const wanted = soon ? `${first} ${event.key}` : event.key;
    first = "";
    const all = [...document.querySelectorAll("[data-key]")].filter(seen);
    const found = all.find((one) => one.dataset.key === wanted);
    if (found) {
      event.preventDefault();
      if (typing(found)) { found.focus(); if (found.select) found.select(); } else found.click();
    } else if (all.some((one) => one.dataset.key.startsWith(`${event.key} `))) {
      first = event.key;
      firstAt = event.timeStamp;
    }
  });

  const nameOf = (one) => (one.dataset.keyName || one.getAttribute("aria-label")
    || (one.labels && one.labels[0] && one.labels[0].textContent) || one.textContent || "").trim();

  const showKeys = () => {
    const dialog = document.createElement("dialog");
    const heading = document.createElement("h2");
    heading.textContent = words.keys_title || "";
    const list = document.createElement("dl");
    list.className = "key-list";
    for (const one of [...document.querySelectorAll("[data-key]")].filter(seen)) {
      const keys = document.createElement("dt");
      for (const key of one.dataset.key.split(" ")) {
        const shown = document.createElement("kbd");
        shown.textContent = key;
        keys.append(shown, " ");
      }
      const what = document.createElement("dd");
      what.textContent = one.hasAttribute("data-show-keys") ? words.keys_help || "" : nameOf(one);
      list.append(keys, what);
    }
    const close = document.createElement("button");
    close.type = "button";
    close.textContent = words.keys_close || "";
    close.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => dialog.remove());
    dialog.append(heading, list, close);
    document.body.append(dialog);
    dialog.showModal();
  };

  const switchTheme = () => {
    const root = document.documentElement;
    const dark = getComputedStyle(root).colorScheme === "dark";
    root.dataset.theme = dark ? "light" : "dark";
    const secure = location.protocol === "https:" ? "; Secure" : "";
    document.cookie = `upcard-theme=${root.dataset.theme}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
    document.dispatchEvent(new Event("upcard:theme"));
  };

  document.addEventListener("click", (event) => {
    const at = event.target instanceof Element ? event.target : null;
    if (!at) return;
    if (at.closest("[data-show-keys]")) showKeys();
    if (at.closest("[data-theme-switch]")) switchTheme();
    const opener = at.closest("[data-dialog]");
    if (opener) {
      const dialog = document.getElementById(opener.dataset.dialog);
      if (dialog && dialog.showModal) { event.preventDefault(); dialog.showModal(); }
    }
    const closer = at.closest("[data-close]");
    if (closer && closer.closest("dialog")) { event.preventDefault(); closer.closest("dialog").close(); }
  });

  // A form is posted once: its buttons rest until the answer is there.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method !== "post" || form.hasAttribute("data-again")) return;
    if (form.dataset.sent) { event.preventDefault(); return; }
    form.dataset.sent = "yes";
    setTimeout(() => form.querySelectorAll("button").forEach((one) => { one.disabled = true; }), 0);
  });
  window.addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    document.querySelectorAll("form[data-sent]").forEach((form) => {
      delete form.dataset.sent;
      form.querySelectorAll("button").forEach((one) => { one.disabled = false; });
    });
  });

  // Whoever uses the page is there, even where nothing is sent: told at most once in half a minute.
  if (document.body.hasAttribute("data-signed-in")) {
    let told = performance.now();
    const here = () => {
      if (performance.now() - told < 30000) return;
      told = performance.now();
      fetch("/staff/api/here", { method: "POST", headers: { "Upcard-Csrf": document.body.dataset.csrf } })
        .then((answer) => { if (answer.status === 401) location.reload(); })
        .catch(() => {}); // no connection: live.js says so, and the next sign is told again
    };
    for (const kind of ["pointerdown", "keydown", "wheel", "touchstart"]) {
      document.addEventListener(kind, here, { passive: true });
    }
  }
})();
