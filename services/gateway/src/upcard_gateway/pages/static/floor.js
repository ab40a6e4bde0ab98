// Windows are counted down by the server's clock, in seconds; what is over counts up, and says so in colour.
"use strict";
(() => {
  const root = document.querySelector("[data-server-now]");
  if (!root) return;
  const ahead = Number(root.dataset.serverNow) - Date.now();
  const ENDING_S = 5;
  const show = () => {
    const now = Date.now() + ahead;
    for (const one of document.querySelectorAll("[data-closes-at]")) {
      const left = Math.ceil((Number(one.dataset.closesAt) - now) / 1000);
      const text = left >= 0 ? String(left) : `+${-left}`;
      if (one.textContent !== text) one.textContent = text;
      one.classList.toggle("ending", left >= 0 && left <= ENDING_S);
      one.classList.toggle("over", left < 0);
    }
  };
  show();
  setInterval(show, 250);
  document.addEventListener("upcard:live", show);
})();
