// New items wait behind a pill until the reader wants them; older ones are added at the end. What is
// read stays where it is.
import { on } from "./events.js";
import { tellTimes } from "./times.js";

const river = document.getElementById("river");
const pill = document.getElementById("pill");
const mostPages = 10; // of new items that are fetched before the page is made anew
const atOnce = 8; // parts that are put in before the browser may do something else
const noAnswer = "No answer. Try again";
const filling = new URLSearchParams(location.search).get("notice") === "packed"; // first polls run, and one watches
let waiting = new Set(); // ids of items that are new and not shown
let bringing = false;
let asking;

on("items", (news) => {
  if (!river || "older" in river.dataset) return;
  if (river.dataset.asks) return planAsk();
  for (const id of news.item_ids) if (!shown(id)) waiting.add(id);
  announce();
});
on("texts", () => { if (river?.dataset.asks && !("older" in river.dataset)) planAsk(); }); // words are found a while after their items came
on("reset", () => { if (river) offer("New items"); });

const shown = (id) => document.getElementById("i" + id);
const isEmpty = () => !river.querySelector(".item");

function planAsk() { asking ??= setTimeout(ask, 500); }

// ask finds what is new under a filter, of which the event says nothing. What is older than all that is shown is not,
// as long as there are older items to load.
async function ask() {
  asking = undefined;
  const answer = await fetch(`/api/items?${river.dataset.asks}&limit=100`);
  if (!answer.ok) return;
  const { items } = await answer.json();
  const last = document.getElementById("more") ? items.findLastIndex(({ id }) => shown(id)) : -1;
  waiting = new Set(items.slice(0, last < 0 ? items.length : last).map(({ id }) => id).filter((id) => !shown(id)));
  announce();
}

function announce() {
  if (bringing || waiting.size === 0) return;
  if (isEmpty() || filling && scrollY === 0 && !river.contains(document.activeElement)) return bring(); // nobody reads anything yet
  offer(`${waiting.size} new`);
}

function offer(words) {
  pill.firstElementChild.textContent = words;
  pill.hidden = false;
}

async function pageAt(address) {
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  if (!answer.ok) throw new Error(answer.statusText);
  const text = await answer.text();
  await rest();
  const page = new DOMParser().parseFromString(text, "text/html");
  await rest();
  return page;
}

// rest lets the browser do what waits: long work is cut into pieces, or scrolling and typing would stutter.
const rest = () => new Promise((done) => setTimeout(done));

const knows = (page) => [...page.querySelectorAll(".item")].some((item) => document.getElementById(item.id));
const nextOf = (page) => page.getElementById("more")?.getAttribute("href");

// bringIn puts in what is new, when there is something.
export async function bringIn() {
  if (river && !pill.hidden) await bring();
}

// bring puts in what is new. What arrives meanwhile is announced afterwards.
async function bring() {
  if (bringing) return;
  bringing = true;
  const wanted = waiting;
  waiting = new Set();
  try {
    const pages = await newPages();
    if (!pages) return location.reload();
    pill.hidden = true;
    if (pill.contains(document.activeElement)) handle(readNow())?.focus({ preventScroll: true });
    await putPages(pages);
  } catch {
    waiting = new Set([...wanted, ...waiting]);
    return offer(noAnswer);
  } finally {
    bringing = false;
  }
  for (const id of waiting) if (shown(id)) waiting.delete(id);
  announce();
}

// newPages are as many pages as it takes to meet what is shown, undefined when that is too many.
async function newPages() {
  let page = await pageAt(pill.firstElementChild.href);
  const pages = [page];
  if (isEmpty()) return pages;
  while (!knows(page) && nextOf(page) && pages.length < mostPages) pages.push(page = await pageAt(nextOf(page)));
  return knows(page) ? pages : undefined;
}

async function putPages(pages) {
  const here = pages.map((p) => p.querySelector(".here + *")).find(Boolean);
  const id = here && (here.id || here.querySelector(".item").id);
  const wasAtTop = scrollY === 0;
  const end = isEmpty() && pages[0].querySelector(".more, .end");
  for (const page of pages.reverse()) await putIn(page);
  if (end) endWith(document.querySelector(".empty"), end);
  if (id) keepPlace(() => hereBefore(document.getElementById(id)));
  if (wasAtTop) scrollTo({ top: 0, behavior: "instant" }); // who reads the newest goes on with them
  tellTimes();
}

const handle = (part) => part?.querySelector("summary, h3 a, h3[tabindex]");
const readNow = () => [...river.querySelectorAll(".item")].find((item) => item.getBoundingClientRect().bottom > 60);

let owed = 0; // the part of a pixel that scrolling left out, lest many changes add up to a jump

// keepPlace changes the page and leaves what is read, and the focus, where they are.
function keepPlace(change) {
  const read = readNow();
  const away = () => read.getBoundingClientRect().top - before;
  const before = read?.getBoundingClientRect().top - owed;
  const root = document.documentElement;
  root.classList.add("still"); // or the browser corrects the same again
  change();
  if (read) scrollBy({ top: away(), behavior: "instant" });
  owed = read && Math.abs(away()) < 1 ? away() : 0;
  root.classList.remove("still"); // what takes its real height only now, the browser corrects
}

// putIn adds what a page has and ours lacks, in its order, the oldest first.
async function putIn(page) {
  const parts = [...page.querySelectorAll(".day > :is(.item, .fold)")];
  let next = null;
  while (parts.length) {
    keepPlace(() => { for (const part of parts.splice(-atOnce).reverse()) next = putPart(part, next); });
    await rest();
  }
}

// putPart puts in an item, or a fold of items that are all new, before the one that follows it, and returns it.
function putPart(part, next) {
  const there = part.id && document.getElementById(part.id);
  if (there) return there.closest(".fold") ?? there;
  const own = dayOf(part.closest(".day"));
  const items = part.matches(".fold") ? [...part.querySelectorAll(".item")] : [];
  if (!items.some((item) => document.getElementById(item.id))) return own.insertBefore(document.adoptNode(part), next?.parentElement === own ? next : null);
  for (const item of items.reverse()) next = putPart(item, next);
  return next;
}

// dayOf is our section of another page's day.
function dayOf(day) {
  const own = river.querySelector(`.day[data-day="${day.dataset.day}"]`);
  if (own) return own;
  const fresh = document.importNode(day, false);
  fresh.append(document.importNode(day.querySelector("h2"), true));
  return river.insertBefore(fresh, [...river.children].find((d) => d.dataset.day < day.dataset.day) ?? null);
}

// hereBefore moves the line that says where the reader was.
function hereBefore(item) {
  const line = river.querySelector(".here") ?? Object.assign(document.createElement("p"), { className: "here", textContent: "You were here" });
  (item?.closest(".fold") ?? item)?.before(line);
}

function older(e) {
  e.preventDefault();
  addOlder(true);
}

// addOlder adds the next page and says whether there was one. If asked for, the focus goes on from the link to the first
// of what is added.
export async function addOlder(goOn = false) {
  const link = document.getElementById("more");
  if (!link || link.getAttribute("aria-busy")) return false;
  link.setAttribute("aria-busy", "true");
  const page = await pageAt(link.href).catch(() => undefined);
  if (!page) {
    link.removeAttribute("aria-busy");
    link.textContent = noAnswer;
    return false;
  }
  const end = page.querySelector(".more, .end");
  if (!end) return location.assign(link.href); // something else than the river answers
  goOn &&= [link, document.body].includes(document.activeElement);
  const first = handle(page.querySelector(".day > :is(.item, .fold)"));
  const parts = [...page.querySelectorAll(".day > :is(.here, .item, .fold)")];
  while (parts.length) {
    for (const part of parts.splice(0, atOnce)) dayOf(part.closest(".day")).append(document.adoptNode(part));
    if (goOn) first.focus({ preventScroll: true });
    goOn = false;
    await rest();
  }
  endWith(link.closest(".more"), end);
  tellTimes();
  return true;
}

// endWith puts the end of another page, which leads on or says that there is no more, in the place of ours.
function endWith(ours, end) {
  ours.replaceWith(document.adoptNode(end));
  watchMore();
}

function watchMore() {
  document.getElementById("more")?.addEventListener("click", older);
}

// What was seen is told when the reader leaves, for the line at the next visit, on whatever device.
function tellPlace() {
  const newest = river.querySelector(".item")?.id.slice(1);
  const { name, asks, older } = river.dataset;
  if (!newest || older !== undefined || asks && !name) return;
  fetch("/api/place", { method: "POST", keepalive: true, headers: { "Content-Type": "application/json" }, body: JSON.stringify({ river: name, item_id: newest }) }).catch(() => {});
}

pill?.addEventListener("mousedown", (e) => e.preventDefault()); // the focus stays with what is read
pill?.addEventListener("click", (e) => { e.preventDefault(); bringIn(); });
if (river) document.addEventListener("visibilitychange", () => { if (document.hidden) tellPlace(); });
watchMore();
