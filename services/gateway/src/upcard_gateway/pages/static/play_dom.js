// Elements: made without markup, replaced only when what they show has changed.

/** An element with properties (`data-…`, `aria-…` as attributes, `on…` as listeners) and children. */
export function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else if (name in made && !name.includes("-") && name !== "list" && name !== "form") made[name] = value;
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

const shown = new WeakMap();

/**
 * Show what `build` gives in `region`, unless `seen` says that it shows that already.
 * What had the focus has it afterwards, when it has the same `data-k`.
 */
export function paint(region, seen, build) {
  const signature = JSON.stringify(seen);
  if (shown.get(region) === signature) return false;
  shown.set(region, signature);
  const focused = region.contains(document.activeElement) ? document.activeElement.dataset.k : undefined;
  const built = build();
  region.replaceChildren(...(Array.isArray(built) ? built.flat(3) : [built]).filter(Boolean));
  if (focused) region.querySelector(`[data-k="${CSS.escape(focused)}"]:not(:disabled)`)?.focus();
  return true;
}

/** Forget what a region shows, so that it is built anew. */
export function forget(region) {
  shown.delete(region);
}

/** Change a text only when it is another one: nothing is read out twice. */
export function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** The element of an id, which the page always has. */
export function at(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return found;
}
