// The filter's form: a range that ends before it starts is stopped beside the field, as the server does too, and
// sources are found while their name is typed.
const form = document.querySelector(".filter form");
const note = document.getElementById("wrong-end");

form?.addEventListener("submit", (e) => {
  const start = form.elements.start_date, end = form.elements.end_date;
  const wrong = Boolean(start.value && end.value && end.value < start.value);
  note.hidden = !wrong;
  if (wrong) {
    note.textContent = "The end of the range is before the start.";
    end.setAttribute("aria-invalid", "true");
    end.setAttribute("aria-describedby", "wrong-end");
    end.focus();
    e.preventDefault();
    return;
  }
  end.removeAttribute("aria-invalid");
});

// Fields that say nothing stay out of the address, and so does what only finds sources.
form?.addEventListener("formdata", (e) => {
  e.formData.delete("source");
  for (const [name, value] of [...e.formData]) if (value === "") e.formData.delete(name);
});

// A stretch of time and dates exclude each other.
form?.addEventListener("input", (e) => {
  const { start_date, end_date, days } = form.elements;
  if (e.target.name === "days") start_date.value = end_date.value = "";
  if (e.target.type === "date" && e.target.value) days[0].checked = true; // any time
});

const look = form?.elements.source;
const choices = document.getElementById("choices");
let planned;

look?.addEventListener("keydown", (e) => { if (e.key === "Enter") e.preventDefault(); });
look?.addEventListener("input", () => {
  if ("all" in look.dataset) return narrow();
  clearTimeout(planned);
  planned = setTimeout(fetchChoices, 150);
});

// narrow hides the sources whose name does not hold what was typed, except the chosen ones.
function narrow() {
  const part = look.value.trim().toLowerCase();
  for (const label of choices.children) label.hidden = !label.textContent.toLowerCase().includes(part) && !label.control?.checked;
}

const chosen = () => [...choices.querySelectorAll(":checked")];

// fetchChoices shows the sources that are found, and those that are chosen, be it while the answer is on its way.
async function fetchChoices() {
  const asked = look.value;
  const q = new URLSearchParams({ source: asked });
  for (const box of chosen()) q.append("feed_ids", box.value);
  const answer = await fetch("/choices?" + q);
  const text = answer.ok && await answer.text();
  if (!text || look.value !== asked) return; // more was typed, and is asked for next
  const kept = new Map(chosen().map((box) => [box.value, box.closest("label")]));
  const focused = choices.contains(document.activeElement) && document.activeElement.value;
  choices.replaceChildren(...new DOMParser().parseFromString(text, "text/html").body.childNodes);
  for (const box of choices.querySelectorAll("input")) {
    box.checked = kept.has(box.value);
    kept.delete(box.value);
    if (box.value === focused) box.focus();
  }
  choices.prepend(...kept.values());
}
look?.nextElementSibling?.remove(); // its button is for pages without script
