// The reader's place and focus outlast a reload and the way back, whatever arrived meanwhile.
import { addOlder } from "./river.js";

const river = document.getElementById("river");
const name = "place " + location.pathname + location.search;
const mostPages = 10;

function save() {
  const focused = document.activeElement?.closest(".item");
  const seen = (item) => { const r = item.getBoundingClientRect(); return r.bottom > 60 && r.top < innerHeight; };
  const item = focused && seen(focused) ? focused : [...river.querySelectorAll(".item")].find(seen);
  if (!item || scrollY === 0) return sessionStorage.removeItem(name);
  sessionStorage.setItem(name, JSON.stringify({ id: item.id, top: item.getBoundingClientRect().top, focus: item === focused }));
}

async function restore() {
  const kept = JSON.parse(sessionStorage.getItem(name));
  const [{ type }] = performance.getEntriesByType("navigation");
  if (!kept || (type !== "reload" && type !== "back_forward")) return;
  history.scrollRestoration = "manual";
  for (let page = 1; !document.getElementById(kept.id) && page < mostPages; page++) if (!await addOlder()) break;
  const item = document.getElementById(kept.id);
  if (!item) return;
  const fold = item.closest("details");
  if (fold) fold.open = true;
  // Items take their real height only when they come near, so the place is found in a few steps.
  let steps = 4;
  (function approach() {
    scrollBy({ top: item.getBoundingClientRect().top - kept.top, behavior: "instant" });
    if (steps-- > 0) return requestAnimationFrame(approach);
    if (kept.focus) item.querySelector("h3 a, h3[tabindex]").focus({ preventScroll: true });
  })();
}

if (river) {
  addEventListener("pagehide", save);
  restore();
}
