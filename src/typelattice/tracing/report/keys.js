document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !["n", "p"].includes(event.key)) return;
  const lines = [...document.querySelectorAll("details.flagged")];
  const number = (line) => Number(line.id.slice(1));
  const here = Number(location.hash.slice(2));
  const next = event.key === "n"
    ? lines.find((line) => number(line) > here)
    : lines.findLast((line) => number(line) < here);
  if (!next) return;
  location.hash = next.id;
  next.firstElementChild.focus();
});
