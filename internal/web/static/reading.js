// An item's stored text opens in place; without script the same link leads to its own page.
export async function toggle(item) {
  const link = item?.querySelector("a.read");
  if (!link) return;
  const open = item.querySelector(".text");
  if (open) {
    open.remove();
    link.setAttribute("aria-expanded", "false");
    return;
  }
  const answer = await fetch(link.href, { headers: { Accept: "text/html" } });
  const text = answer.ok && new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(".text");
  if (!text) return location.assign(link.href);
  if (item.querySelector(".text")) return;
  item.append(document.importNode(text, true));
  link.setAttribute("aria-expanded", "true");
}

document.addEventListener("click", (e) => {
  const link = e.target.closest("a.read");
  if (!link || e.ctrlKey || e.metaKey || e.shiftKey || e.button !== 0) return;
  e.preventDefault();
  toggle(link.closest(".item"));
});
for (const link of document.querySelectorAll("a.read")) link.setAttribute("aria-expanded", "false");
