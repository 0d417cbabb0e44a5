// Lights up one policy in every chart and in the table of its section: from the keys, a mark of a
// chart, or a row of the table. Escape puts the light out.
const keysOf = (section) => [...section.querySelectorAll(".key")];
const chosenIn = (section) => section.dataset.lit ?? "";
const light = (section, series) => {
  for (const [place, view] of views) {
    if (section.contains(place) && signalled(view, "lit")) { view.signal("lit", series).runAsync(); }
  }
  for (const row of section.querySelectorAll("tbody tr")) {
    row.classList.toggle("lit", series !== "" && keyOf(row.cells[0]) === series);
  }
  for (const name of section.querySelectorAll("[data-follows]")) {
    const drawn = series !== "" && keysOf(section).some((key) => key.dataset.series === series);
    name.textContent = drawn ? series : name.dataset.follows;
  }
};
const choose = (section, series) => {
  section.dataset.lit = series;
  for (const key of keysOf(section)) {
    key.setAttribute("aria-pressed", String(key.dataset.series === series));
  }
  light(section, series);
  const rows = section.querySelectorAll("tbody tr.lit").length;
  const drawn = keysOf(section).some((key) => key.dataset.series === series);
  if (series === "") { announce("All policies are shown alike."); }
  else if (drawn) { announce(`${series} is lit up in the charts and in ${rows} rows of the table.`); }
  else { announce(`${series} is lit up in ${rows} rows of the table; the charts do not show it.`); }
};
const toggle = (section, series) => choose(section, chosenIn(section) === series ? "" : series);

for (const section of document.querySelectorAll(".world")) {
  for (const key of keysOf(section)) {
    const { series } = key.dataset;
    key.addEventListener("click", () => toggle(section, series));
    key.addEventListener("pointerenter", () => light(section, series));
    key.addEventListener("pointerleave", () => light(section, chosenIn(section)));
  }
  section.querySelector("tbody").addEventListener("click", (event) => {
    const name = event.target.closest("tbody th");
    if (name && window.getSelection().isCollapsed) { toggle(section, keyOf(name)); }
  });
}
whenDrawn.push((place, view) => {
  const section = place.closest(".world");
  if (!section || !signalled(view, "lit")) { return; }
  if (chosenIn(section) !== "") { view.signal("lit", chosenIn(section)).runAsync(); }
  view.addEventListener("click", (event, item) => {
    const series = item?.datum?.series;
    if (series !== undefined) { toggle(section, series); }
  });
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") { return; }
  for (const section of document.querySelectorAll(".world")) {
    if (chosenIn(section) !== "") { choose(section, ""); }
  }
});
