// Times stay true while the page is open: how long ago, and how long to the next try.
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

function tell(el, text) {
  if (el.textContent !== text) el.textContent = text;
}

export function tellTimes() {
  const now = Date.now();
  for (const el of document.querySelectorAll("time.countdown")) tell(el, until((Date.parse(el.dateTime) - now) / 1000));
  for (const el of document.querySelectorAll("time.ago")) {
    const seconds = (now - Date.parse(el.dateTime)) / 1000;
    if (seconds < 30 * 86400) tell(el, ago(seconds));
  }
}

let ticks = 0;
setInterval(() => {
  if (!document.hidden && (ticks++ % 30 === 0 || document.querySelector("time.countdown"))) tellTimes();
}, 1000);
tellTimes();
