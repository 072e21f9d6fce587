// What the pages do beyond links and forms: follow the event stream, keep times true, bring in new
// items without moving the reader's place. Everything works without it.

const body = document.body;
const river = document.getElementById("river");
const pill = document.getElementById("pill");
const progress = document.getElementById("progress");

let waiting = new Set(); // ids of items that came since the page was made

function follow() {
  const stream = new EventSource("/api/events?last_event_id=" + body.dataset.event);
  stream.addEventListener("items", (e) => {
    const news = JSON.parse(e.data);
    if (!river || !concerns(news.feed_ids)) return;
    for (const id of news.item_ids) if (!document.getElementById("i" + id)) waiting.add(id);
    announce();
  });
  stream.addEventListener("refresh", (e) => showProgress(JSON.parse(e.data)));
}

// concerns says whether the filter lets any of the feeds through.
function concerns(feeds) {
  const chosen = river.dataset.feeds;
  return !chosen || feeds.some((id) => chosen.split(",").includes(id));
}

function announce() {
  const onlyNewest = !new URLSearchParams(location.search).has("cursor");
  if (!onlyNewest || waiting.size === 0) return;
  pill.firstElementChild.textContent = waiting.size + " new";
  pill.hidden = false;
}

function showProgress(r) {
  if (r.state === "running") {
    progress.textContent = `Refreshing: ${r.done} of ${r.total}` + (r.failed ? `, ${r.failed} failed` : "") + (r.new_items ? `, ${r.new_items} new` : "");
    return;
  }
  const read = r.done - r.failed - r.put_off;
  progress.textContent = `${read} fetched, ${r.failed} failing` + (r.put_off ? `, ${r.put_off} put off` : "") + `, ${r.new_items} new`;
}

// bringIn puts the items that the server has and the page lacks into their days. The browser's
// scroll anchoring, and this correction where it has none, keep what is read where it is.
async function bringIn() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok) return location.reload();
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const source = fresh.getElementById("river");
  if (!source || !river) return location.reload();
  const anchor = [...river.querySelectorAll(".item")].find((el) => el.getBoundingClientRect().bottom > 0);
  const before = anchor?.getBoundingClientRect().top;
  for (const day of [...source.querySelectorAll(".day")].reverse()) merge(day);
  if (anchor && scrollY > 0) scrollBy(0, anchor.getBoundingClientRect().top - before);
  waiting = new Set();
  pill.hidden = true;
  document.querySelector(".empty")?.remove();
}

function merge(day) {
  const own = river.querySelector(`.day[data-day="${day.dataset.day}"]`);
  if (!own) {
    const later = [...river.children].find((d) => d.dataset.day < day.dataset.day);
    river.insertBefore(document.importNode(day, true), later ?? null);
    return;
  }
  let place = null;
  for (const item of [...day.querySelectorAll(".item")].reverse()) {
    const there = document.getElementById(item.id);
    if (!there) own.insertBefore(document.importNode(item, true), place);
    place = document.getElementById(item.id);
  }
}

const units = [[86400, "days"], [3600, "h"], [60, "min"]];

function ago(seconds) {
  if (seconds < 60) return "just now";
  if (seconds >= 86400 && seconds < 172800) return "yesterday";
  const [size, name] = units.find(([s]) => seconds >= s);
  return `${Math.floor(seconds / size)} ${name} ago`;
}

function until(seconds) {
  if (seconds <= 0) return "now";
  const h = Math.floor(seconds / 3600), m = Math.floor(seconds / 60) % 60, s = String(Math.floor(seconds % 60)).padStart(2, "0");
  return h ? `in ${h} h ${m} min` : `in ${m}:${s}`;
}

function tellTime() {
  const now = Date.now();
  for (const el of document.querySelectorAll("time.countdown")) el.textContent = until((Date.parse(el.dateTime) - now) / 1000);
  for (const el of document.querySelectorAll(".meta time:not(.countdown)")) {
    const seconds = (now - Date.parse(el.dateTime)) / 1000;
    if (seconds < 30 * 86400) el.textContent = ago(seconds);
  }
}

// A range that ends before it starts is stopped beside the field; the server says the same.
function checkRange(form) {
  const [start, end] = [form.elements.start_date, form.elements.end_date];
  if (!start || !end) return;
  form.addEventListener("submit", (e) => {
    const wrong = start.value && end.value && end.value < start.value;
    const note = document.getElementById("wrong-end");
    note.hidden = !wrong;
    end.toggleAttribute("aria-invalid", Boolean(wrong));
    if (!wrong) return;
    note.textContent = "The end is before the start.";
    end.setAttribute("aria-describedby", "wrong-end");
    end.focus();
    e.preventDefault();
  });
}

pill?.addEventListener("click", (e) => { e.preventDefault(); bringIn(); });
for (const form of document.querySelectorAll(".filter form")) checkRange(form);
if (body.dataset.event) follow();
tellTime();
setInterval(tellTime, document.querySelector("time.countdown") ? 1000 : 30000);
