// Lights up one policy in every chart and table of the page: from the keys, a mark of a chart, or a row
// of a table; only in the section of a key while the pointer is on it. Escape puts the light out.
const worlds = [...document.querySelectorAll(".world")];
const keysOf = (section) => [...section.querySelectorAll(".key")];
const rowsOf = (section, series) =>
  [...section.querySelectorAll("tbody tr")].filter((row) => keyOf(row.cells[0]) === series);
const chosen = () => document.body.dataset.lit ?? "";
// Where no chart of a section shows a policy, all of them stay as they are.
const drawnIn = (section, series) => {
  const keys = keysOf(section);
  const names = keys.map((key) => key.dataset.series);
  return keys.length ? names.includes(series) : rowsOf(section, series).length > 0;
};
const light = (section, series) => {
  const drawn = drawnIn(section, series);
  for (const [place, view] of views) {
    if (section.contains(place) && signalled(view, "lit")) {
      view.signal("lit", drawn ? series : "").runAsync();
    }
  }
  for (const row of section.querySelectorAll("tbody tr.lit")) { row.classList.remove("lit"); }
  if (series !== "") { rowsOf(section, series).forEach((row) => row.classList.add("lit")); }
  for (const name of section.querySelectorAll("[data-follows]")) {
    name.textContent = drawn ? series : name.dataset.follows;
  }
};
// The rows of what is chosen come to the top of their table, and go back when the light goes out.
const raise = (section) => {
  for (const body of section.querySelectorAll("tbody")) {
    arrange(body);
    if (chosen() !== "") { body.closest(".scroll").scrollTop = 0; }
  }
};
// One section after another, so that the first answers at once on a page of many.
const lightAll = ([section, ...rest]) => {
  light(section, chosen());
  raise(section);
  if (rest.length) { setTimeout(() => lightAll(rest)); }
};
const choose = (series, first) => {
  document.body.dataset.lit = series;
  for (const key of worlds.flatMap(keysOf)) {
    key.setAttribute("aria-pressed", String(key.dataset.series === series));
  }
  lightAll([first, ...worlds.filter((section) => section !== first)]);
  const rows = worlds.flatMap((section) => rowsOf(section, series)).length;
  const tables = worlds.flatMap((section) => [...section.querySelectorAll("table")]).length;
  const lines = `${rows} rows of the ${tables > 1 ? "tables" : "table"}`;
  if (series === "") { announce("All policies are shown alike."); }
  else if (worlds.some((section) => drawnIn(section, series))) {
    announce(`${series} is lit up in the charts and in ${lines}.`);
  } else { announce(`${series} is lit up in ${lines}; the charts do not show it.`); }
};
const toggle = (series, section) => choose(chosen() === series ? "" : series, section);

for (const section of worlds) {
  for (const key of keysOf(section)) {
    const { series } = key.dataset;
    key.addEventListener("click", () => toggle(series, section));
    key.addEventListener("pointerenter", () => light(section, series));
    key.addEventListener("pointerleave", () => light(section, chosen()));
  }
  for (const body of section.querySelectorAll("tbody")) {
    body.addEventListener("click", (event) => {
      const name = event.target.closest("tbody th");
      if (name && window.getSelection().isCollapsed) { toggle(keyOf(name), section); }
    });
  }
}
whenDrawn.push((place, view) => {
  const section = place.closest(".world");
  if (!section || !signalled(view, "lit")) { return; }
  if (drawnIn(section, chosen())) { view.signal("lit", chosen()).runAsync(); }
  view.addEventListener("click", (event, item) => {
    const series = item?.datum?.series;
    if (series !== undefined) { toggle(series, section); }
  });
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && chosen() !== "") { choose("", worlds[0]); }
});
