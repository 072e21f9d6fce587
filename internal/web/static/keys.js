// The keyboard. It can be switched off in its help; no key does anything inside a field or with a modifier.
import { bringIn } from "./river.js";
import { toggle } from "./reading.js";

const help = document.getElementById("keys");
const enabled = document.getElementById("keys-on");
let after; // the key pressed before, where two belong together

const items = () => [...document.querySelectorAll(".item, .fold > summary")].filter((item) => item.checkVisibility());
const handle = (item) => item.querySelector("h3 a") ?? item.querySelector("h3") ?? item;

// current is the item with the focus, or the row that a run of items is folded into, else none.
const current = () => document.activeElement?.closest(".item, .fold > summary");

function move(step) {
  const all = items();
  const at = all.indexOf(current());
  const target = at < 0 ? all.find((item) => item.getBoundingClientRect().bottom > 60) : all[at + step];
  if (!target) return;
  handle(target).focus({ preventScroll: true });
  target.scrollIntoView({ block: "nearest" });
}

const keys = {
  j: () => move(1),
  n: () => move(1),
  k: () => move(-1),
  p: () => move(-1),
  o: () => current()?.matches("summary") ? current().click() : toggle(current()),
  v: () => { const link = current()?.querySelector("h3 a"); if (link) open(link.href, "_blank", "noopener,noreferrer"); },
  r: () => document.querySelector("form.refresh")?.requestSubmit(),
  ".": () => bringIn(),
  x: () => { const link = current()?.querySelector(".meta a"); if (link) location.assign(link.href); },
  u: () => unfold(),
  "/": () => find(),
  a: () => document.getElementById("url")?.focus() ?? location.assign("/sources#url"),
  "+": () => keys.a(),
  "?": () => help.showModal(),
  "g h": () => location.assign("/"),
  "g s": () => location.assign("/sources"),
  "g w": () => location.assign("/workflows"),
  Escape: () => document.activeElement?.blur(),
};

// unfold opens or closes the run that the item belongs to, and stays with its row.
function unfold() {
  const fold = current()?.closest(".fold");
  if (!fold) return;
  fold.open = !fold.open;
  if (!fold.open) fold.querySelector("summary").focus();
}

function find() {
  const field = document.querySelector('input[type="search"]');
  if (!field) return location.assign("/?find");
  field.closest("details")?.setAttribute("open", "");
  field.focus();
}

function isTyping(el) {
  return el.matches("input:not([type=checkbox]), select, textarea, [contenteditable]");
}

document.addEventListener("keydown", (e) => {
  if (!help || e.ctrlKey || e.metaKey || e.altKey || help.open) return;
  if (isTyping(e.target)) {
    if (e.key === "Escape") e.target.blur();
    return;
  }
  if (!enabled.checked && e.key !== "?") return;
  const act = keys[after ? `${after} ${e.key}` : e.key];
  after = !after && e.key === "g" ? "g" : undefined;
  if (!act) return;
  e.preventDefault();
  act();
});

if (enabled) {
  enabled.checked = localStorage.getItem("keys") !== "off";
  enabled.addEventListener("change", () => localStorage.setItem("keys", enabled.checked ? "on" : "off"));
  document.getElementById("show-keys").addEventListener("click", () => help.showModal());
}
if (location.search === "?find") find();
