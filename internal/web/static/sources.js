// What only the pages of the sources do beyond links and forms.
import "./live.js";
import { tellTimes } from "./times.js";

const all = (css, from = document) => [...from.querySelectorAll(css)];

// A check of a list tells how far it is, and shows what it found when it is over.
async function watchCheck() {
  const check = document.getElementById("check");
  if (!check?.hasAttribute("data-running")) return prepare();
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => undefined);
  if (answer && !answer.ok) return location.reload(); // the page says what became of it
  const fresh = answer && new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("check");
  if (fresh && !fresh.hasAttribute("data-running")) {
    check.replaceWith(document.importNode(fresh, true));
    tellTimes();
    return prepare();
  }
  for (const css of ["progress", "[role=status]", ".findings"]) {
    const old = check.querySelector(css), now = fresh?.querySelector(css);
    if (!now) continue;
    if (css === "progress") old.value = now.value;
    else if (old.innerHTML !== now.innerHTML) old.replaceChildren(...document.importNode(now, true).childNodes);
  }
  setTimeout(watchCheck, 700);
}

// A group of a list is chosen, or not, as a whole.
function prepare() {
  for (const group of all(".findinggroup")) {
    const boxes = all("input[type=checkbox]", group);
    if (boxes.length < 2) continue;
    const button = Object.assign(document.createElement("button"), { type: "button", className: "choose" });
    const heading = group.querySelector("h2");
    const tell = () => { button.textContent = boxes.every((b) => b.checked) ? "Choose none" : "Choose all"; };
    button.setAttribute("aria-describedby", heading.id);
    button.addEventListener("click", () => {
      const to = button.textContent === "Choose all";
      for (const box of boxes) box.checked = to;
      tell();
    });
    group.addEventListener("change", tell);
    tell();
    heading.after(button);
  }
}

watchCheck();
