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
  for (const part of document.querySelectorAll("[data-live]")) replace(part, page.getElementById(part.id));
  tellTimes();
}

// replace keeps the focus on the control that had it.
function replace(part, fresh) {
  if (!fresh || part.innerHTML === fresh.innerHTML) return;
  const controls = (in_) => [...in_.querySelectorAll("a, button, input, select, summary")];
  const focused = controls(part).indexOf(document.activeElement);
  part.replaceChildren(...document.importNode(fresh, true).childNodes);
  if (focused >= 0) controls(part)[focused]?.focus({ preventScroll: true });
}

on("feed", plan);
on("refresh", (r) => { if (r.state === "done") plan(); });
