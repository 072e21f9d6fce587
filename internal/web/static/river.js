// New items wait behind a pill until the reader wants them; older ones are added at the end. What is
// read stays where it is.
import { on } from "./events.js";
import { tellTimes } from "./times.js";

const river = document.getElementById("river");
const pill = document.getElementById("pill");
const mostPages = 10; // of new items that are fetched before the page is made anew
let waiting = new Set();

function concerns(feeds) {
  const chosen = river.dataset.feeds;
  return !chosen || feeds.some((id) => chosen.split(",").includes(id));
}

on("items", (news) => {
  if (!river || "older" in river.dataset || !concerns(news.feed_ids)) return;
  for (const id of news.item_ids) if (!document.getElementById("i" + id)) waiting.add(id);
  announce();
});
on("reset", () => { if (river) { pill.firstElementChild.textContent = "New items"; pill.hidden = false; } });

function announce() {
  if (waiting.size === 0) return;
  if (!river.querySelector(".item")) return bringIn(); // nobody reads anything yet
  pill.firstElementChild.textContent = `${waiting.size} new`;
  pill.hidden = false;
}

async function pageAt(address) {
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  if (!answer.ok) throw new Error(answer.statusText);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

const knows = (page) => [...page.querySelectorAll(".item")].some((item) => document.getElementById(item.id));
const nextOf = (page) => page.getElementById("more")?.getAttribute("href");

// bringIn puts in what is new, from as many pages as it takes to meet what is there.
export async function bringIn() {
  if (!river || pill.hidden && river.querySelector(".item")) return;
  try {
    let page = await pageAt(location.href);
    const pages = [page];
    while (!knows(page) && nextOf(page) && pages.length < mostPages) pages.push(page = await pageAt(nextOf(page)));
    if (!river.querySelector(".item") || !knows(page)) return location.reload();
    keepPlace(() => {
      for (const part of pages.reverse()) for (const day of [...part.querySelectorAll(".day")].reverse()) putIn(day);
    });
    waiting = new Set();
    pill.hidden = true;
  } catch {
    location.reload();
  }
}

// keepPlace changes the page and leaves what is read, and the focus, where they are.
function keepPlace(change) {
  const items = [...river.querySelectorAll(".item")];
  const read = items.find((item) => item.getBoundingClientRect().bottom > 60);
  const before = read?.getBoundingClientRect().top;
  const wasAtTop = scrollY === 0;
  const root = document.documentElement;
  root.classList.add("still"); // or the browser corrects the same again
  change();
  tellTimes();
  if (pill.contains(document.activeElement)) read?.querySelector("h3 a, h3[tabindex]")?.focus({ preventScroll: true });
  if (read && !wasAtTop) scrollBy({ top: read.getBoundingClientRect().top - before, behavior: "instant" });
  root.classList.remove("still"); // what takes its real height only now, the browser corrects
}

// putIn adds what a day of another page has and ours lacks, in its order.
function putIn(day) {
  const own = river.querySelector(`.day[data-day="${day.dataset.day}"]`);
  if (!own) {
    const earlier = [...river.children].find((d) => d.dataset.day < day.dataset.day);
    river.insertBefore(document.importNode(day, true), earlier ?? null);
    return;
  }
  let place = null;
  for (const part of [...day.children].reverse()) place = putPart(own, part, place) ?? place;
}

// putPart adds an item or a fold of items before a place, and returns where the one before it goes.
function putPart(own, part, place) {
  if (part.matches(".item")) {
    const there = document.getElementById(part.id);
    if (there) return there.closest(".fold") ?? there;
    return own.insertBefore(document.importNode(part, true), place);
  }
  if (!part.matches(".fold")) return place;
  const items = [...part.querySelectorAll(".item")];
  if (!items.some((item) => document.getElementById(item.id))) return own.insertBefore(document.importNode(part, true), place);
  for (const item of items.reverse()) place = putPart(own, item, place);
  return place;
}

async function older(e) {
  e.preventDefault();
  const first = await addOlder();
  document.querySelector(`#${first} :is(h3 a, h3[tabindex])`)?.focus({ preventScroll: true });
}

// addOlder adds the next page and returns the id of its first item, undefined at the end of the river.
export async function addOlder() {
  const link = document.getElementById("more");
  if (!link || link.getAttribute("aria-busy")) return;
  link.setAttribute("aria-busy", "true");
  try {
    const page = await pageAt(link.href);
    for (const day of page.querySelectorAll(".day")) addAtEnd(day);
    link.closest(".more").replaceWith(document.importNode(page.querySelector(".more, .end"), true));
    watchMore();
    tellTimes();
    return page.querySelector(".item")?.id;
  } catch {
    location.href = link.href;
  }
}

function addAtEnd(day) {
  const own = river.querySelector(`.day[data-day="${day.dataset.day}"]`);
  if (!own) return river.append(document.importNode(day, true));
  for (const part of day.children) if (part.matches(".item, .fold")) own.append(document.importNode(part, true));
}

function watchMore() {
  document.getElementById("more")?.addEventListener("click", older);
}

pill?.addEventListener("mousedown", (e) => e.preventDefault()); // the focus stays with what is read
pill?.addEventListener("click", (e) => { e.preventDefault(); bringIn(); });
watchMore();
