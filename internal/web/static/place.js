// The reader's place and focus outlast a reload and the way back, whatever arrived meanwhile.
import { addOlder } from "./river.js";

const river = document.getElementById("river");
const name = "place " + location.pathname + location.search;
const mostPages = 10;
let restoring = false;

function save() {
  if (restoring) return; // what is kept is where the reader still wants to be
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
  restoring = true;
  history.scrollRestoration = "manual";
  for (let page = 1; !document.getElementById(kept.id) && page < mostPages; page++) if (!await addOlder()) break;
  const item = document.getElementById(kept.id);
  if (item) await approach(item, kept.top);
  if (item && kept.focus) item.querySelector("h3 a, h3[tabindex]").focus({ preventScroll: true });
  restoring = false;
}

// approach brings an item to where it was. Items take their real height only when they come near, so that takes a few
// steps; it is there when it stays.
async function approach(item, top) {
  const fold = item.closest("details");
  if (fold) fold.open = true;
  for (let steps = 0, stays = 0; steps < 30 && stays < 3; steps++) {
    const away = item.getBoundingClientRect().top - top;
    scrollBy({ top: away, behavior: "instant" });
    stays = Math.abs(away) < 1 ? stays + 1 : 0;
    await new Promise(requestAnimationFrame);
  }
}

if (river) {
  addEventListener("pagehide", save);
  restore();
}
