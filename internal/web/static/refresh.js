// A refresh is asked for without leaving the page; its progress and its end are told beside the button.
import { on } from "./events.js";

const progress = document.getElementById("progress");
const plural = (n, one, many) => `${n} ${n === 1 ? one : many}`;

function words(r) {
  if (r.state === "running") {
    return `Refreshing: ${r.done} of ${r.total}` + (r.failed ? `, ${r.failed} failed` : "") + (r.new_items ? `, ${r.new_items} new` : "");
  }
  const read = r.done - r.failed - r.put_off;
  return `${read} fetched, ${r.failed} failing` + (r.put_off ? `, ${r.put_off} put off` : "") + `, ${r.new_items} new`;
}

function started(r) {
  if (r.total > 0) return words(r);
  const asked = r.put_off_feeds;
  if (asked.length === 0) return "There is nothing to refresh";
  const until = new Date(Math.max(...asked.map((f) => Date.parse(f.until)))).toTimeString().slice(0, 5);
  return `${plural(asked.length, "source is", "sources are")} left alone until ${until}: the server asked for a pause`;
}

on("refresh", (r) => {
  if (r.kind === "refresh" && r.total > 0) progress.textContent = words(r);
});

document.addEventListener("submit", async (e) => {
  const address = e.target.dataset.refresh;
  if (!address) return;
  e.preventDefault();
  progress.textContent = "Refreshing…";
  const answer = await fetch(address, { method: "POST" });
  const r = await answer.json();
  // The stream of events may have told more already.
  if (!answer.ok) progress.textContent = r.detail;
  else if (r.total === 0 || progress.textContent === "Refreshing…") progress.textContent = started(r);
});
