// Elements made in one line: `h("p", { class: "note" }, "text")`. Texts are always texts, never markup.

/**
 * @param {string} tag
 * @param {Record<string, any>} [props] attributes; `on…` are listeners, `data` and `style` are objects
 * @param {...any} children elements, texts, lists of them; null, undefined and false are left out
 * @returns {HTMLElement}
 */
export function h(tag, props = {}, ...children) {
  return /** @type {HTMLElement} */ (fill(document.createElement(tag), props, children));
}

/** The same for pictures. @returns {SVGElement} */
export function svg(tag, props = {}, ...children) {
  return /** @type {SVGElement} */ (fill(document.createElementNS("http://www.w3.org/2000/svg", tag), props, children));
}

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2).toLowerCase(), value);
    else if (name === "style") for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else if (name === "data") Object.assign(element.dataset, value);
    else if (["value", "checked", "selected", "disabled", "indeterminate"].includes(name)) element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Puts other children into an element. */
export function put(element, ...children) {
  element.replaceChildren(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Says something to whoever listens instead of looking. */
export function say(text) {
  const talk = document.getElementById("talk");
  if (talk) talk.textContent = text;
}

let nextId = 0;
/** A name that no other element has. */
export const unique = (start) => `${start}-${nextId++}`;

/** A word with its technical term on hover and focus. */
export const term = (word, meaning) => h("abbr", { title: meaning, tabindex: 0 }, word);

/** Waits until nothing has happened for a while. */
export function later(wait, work) {
  let timer = 0;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...args), wait);
  };
}

/** A problem as a box: what, where, and what to do. @param {import("./api.js").Problem | Error} problem */
export function problemBox(problem) {
  return h("div", { class: "problem", role: "alert" },
    h("strong", {}, capital(problem.message)),
    problem.position && h("p", { class: "position" }, problem.position),
    problem.hint && h("p", {}, "Hint: " + problem.hint));
}

/** What is worth knowing beside a result, as one quiet list. @param {{code: string, text: string}[] | undefined} notes */
export const noteList = (notes) => (notes?.length
  ? h("div", { class: "notes", role: "status" }, h("ul", { "aria-label": "Worth knowing" }, notes.map((note) => h("li", { data: { code: note.code } }, `${capital(note.text)}.`))))
  : null);

/** A name with what would turn it around, or what cannot be seen, made visible. */
export const visible = (text) => String(text).replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
  (hidden) => `⟨U+${hidden.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
