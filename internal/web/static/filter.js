// A range that ends before it starts is stopped beside the field; the server says the same.
const form = document.querySelector(".filter form");
const note = document.getElementById("wrong-end");

form?.addEventListener("submit", (e) => {
  const start = form.elements.start_date, end = form.elements.end_date;
  const wrong = Boolean(start.value && end.value && end.value < start.value);
  note.hidden = !wrong;
  if (wrong) {
    note.textContent = "The end is before the start.";
    end.setAttribute("aria-invalid", "true");
    end.setAttribute("aria-describedby", "wrong-end");
    end.focus();
    e.preventDefault();
    return;
  }
  end.removeAttribute("aria-invalid");
});

// Fields that say nothing stay out of the address.
form?.addEventListener("formdata", (e) => {
  for (const [name, value] of [...e.formData]) if (value === "") e.formData.delete(name);
});
