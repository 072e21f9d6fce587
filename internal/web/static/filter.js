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

async function fetchChoices() {
  const q = new URLSearchParams({ source: look.value });
  for (const box of choices.querySelectorAll(":checked")) q.append("feed_ids", box.value);
  const answer = await fetch("/choices?" + q);
  if (answer.ok) choices.replaceChildren(...new DOMParser().parseFromString(await answer.text(), "text/html").body.childNodes);
}
look?.nextElementSibling?.remove(); // its button is for pages without script
