// Parts that tell of sources are made anew when something happens to a source.
import { on } from "./events.js";
import { tellTimes } from "./times.js";

let planned;

function plan() {
  if (!document.querySelector("[data-live]")) return;
  planned ??= setTimeout(renew, 300);
}

async function renew() {
  planned = undefined;
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (document.querySelector("[data-live]:active")) return plan(); // a press would be lost
  for (const part of document.querySelectorAll("[data-live]")) replace(part, page.getElementById(part.id));
  tellTimes();
}

const controls = (part) => [...part.querySelectorAll("a, button, input, select, summary")];
const named = (c) => `${c.closest("[id]").id} ${c.getAttribute("aria-label") ?? c.textContent}`;

// replace keeps the focus on the control that had it, wherever it is now; else on the one in its place.
function replace(part, fresh) {
  if (!fresh || part.innerHTML === fresh.innerHTML) return;
  const at = controls(part).indexOf(document.activeElement);
  const name = at >= 0 && named(document.activeElement);
  part.replaceChildren(...document.importNode(fresh, true).childNodes);
  if (at >= 0) (controls(part).find((c) => named(c) === name) ?? controls(part)[at])?.focus({ preventScroll: true });
}

on("feed", plan);
on("refresh", (r) => { if (r.state === "done") plan(); });
