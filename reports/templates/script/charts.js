// Draws the charts: unpacks their data (reports/page/tables.py) and embeds each in its element.
const packed = JSON.parse(document.getElementById("specifications").textContent);
const unpacked = ([rows, names]) => {
  const readers = Object.entries(names).map(([name, number]) => {
    const column = packed.columns[number];
    if (Array.isArray(column)) { return [name, (row) => column[row]]; }
    if ("at" in column) { return [name, (row) => column.of[column.at[row]]]; }
    return [name, () => column.all];
  });
  return Array.from({ length: rows }, (_, row) =>
    Object.fromEntries(readers.map(([name, read]) => [name, read(row)])));
};
// ast: expressions are interpreted, never compiled, so the content security policy stands.
const options = {
  actions: false, ast: true, defaultStyle: false, renderer: "svg",
  tooltip: { disableDefaultStyle: true },
};
const views = new Map(); // element of a chart -> its Vega view
const whenDrawn = []; // called with (element, view) for each chart that is drawn
const ofSignals = { data: () => false, signals: () => true, recurse: false };
const signalled = (view, name) => name in view.getState(ofSignals).signals;
const whole = (node) => {
  if (node === null || typeof node !== "object") { return node; }
  if (Array.isArray(node)) { return node.map(whole); }
  if ("=" in node) { return whole(packed.parts[node["="]]); }
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, whole(value)]));
};
const specified = (id) => {
  const specification = whole(packed.charts[id]);
  const datasets = Object.entries(specification.datasets ?? {});
  specification.datasets = Object.fromEntries(datasets.map(([name, table]) => [name, unpacked(table)]));
  // Screen readers are told the caption.
  specification.description = document.getElementById(id).closest("figure")?.querySelector("figcaption")?.textContent;
  return specification;
};
// The page has legends of its own; a chart that is saved keeps that of its colours.
const withoutLegends = (specification) => {
  for (const { encoding } of specification.layer ?? [specification]) {
    if (encoding?.color?.legend) { encoding.color.legend = null; }
  }
  return specification;
};
const draw = (id) => {
  const place = document.getElementById(id);
  const specification = withoutLegends(specified(id));
  return window.vegaEmbed(place, specification, options).then(
    ({ view }) => {
      views.set(place, view);
      for (const tell of whenDrawn) { tell(place, view); }
      place.dataset.drawn = "yes";
    },
    (error) => {
      place.dataset.drawn = "no";
      place.textContent = `This chart could not be drawn: ${error.message}`;
      console.error(error);
    },
  );
};
const status = document.getElementById("status");
const announce = (text) => { status.textContent = text; };
// What is in sight first, then the rest one by one, so that a page of many charts answers at once.
const waiting = new Set(Object.keys(packed.charts));
const drawNext = (id) => (waiting.delete(id) ? draw(id) : Promise.resolve());
const inSight = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting) { inSight.unobserve(target); drawNext(target.id); }
  }
}, { rootMargin: "50%" });
const drawRest = () => {
  const [id] = waiting;
  if (id !== undefined) { drawNext(id).then(() => setTimeout(drawRest)); }
};
for (const id of waiting) { inSight.observe(document.getElementById(id)); }
window.addEventListener("beforeprint", () => { for (const id of [...waiting]) { drawNext(id); } });
setTimeout(drawRest);
