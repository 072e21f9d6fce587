// What the form of a workflow does beyond being sent: it says beside a field what is wrong with it while it is filled in.
const form = document.getElementById("workflow");
const touched = new Set();

async function check() {
  const answer = await fetch(form.dataset.check, { method: "POST", body: new URLSearchParams(new FormData(form)) }).catch(() => undefined);
  if (!answer?.ok) return;
  const { wrong, warnings } = await answer.json();
  for (const name of touched) show(name, wrong[name]);
  document.getElementById("checked").textContent = Object.keys(wrong).length ? "" : warnings.join(" ");
}

// show puts a sentence beside a field, or takes it away.
function show(name, sentence) {
  const field = form.elements[name];
  const input = field instanceof RadioNodeList ? field[0] : field;
  if (!input) return;
  const id = "wrong-" + name;
  let says = document.getElementById(id);
  input.toggleAttribute("aria-invalid", Boolean(sentence));
  if (!sentence) {
    input.removeAttribute("aria-describedby");
    return says?.remove();
  }
  if (!says) {
    says = Object.assign(document.createElement("span"), { className: "wrong", id });
    (input.closest(".choices") ?? input.closest("label")).append(says);
  }
  if (says.textContent !== sentence) says.textContent = sentence;
  input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-describedby", id);
}

let waiting;
form?.addEventListener("change", (e) => {
  touched.add(e.target.name);
  clearTimeout(waiting);
  waiting = setTimeout(check, 150);
});
form?.addEventListener("input", (e) => {
  if (!e.target.hasAttribute("aria-invalid")) return;
  clearTimeout(waiting);
  waiting = setTimeout(check, 400);
});

// After the form was sent, what it says first is read first.
(document.getElementById("rehearsal") ?? form?.querySelector("[aria-invalid]"))?.focus();
