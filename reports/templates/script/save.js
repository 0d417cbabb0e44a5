// Saves a chart as SVG or PNG and a table as CSV: made here, of what the page holds, without a network.
const SAVED_WIDTH = 640; // pixels of a saved chart
const fileName = (name, ending) => {
  const words = `${document.title} ${name}`.normalize("NFKD").toLowerCase();
  return `${words.replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 100)}.${ending}`;
};
const save = (blob, name) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  announce(`Saved as ${name}.`);
};
// Colour, dash and shape say the same and share one legend.
const legendOfAll = ({ color, shape, strokeDash }) => {
  for (const channel of [shape, strokeDash]) {
    if (channel && color?.legend) { channel.legend = color.legend; }
  }
};
// The chart as it is lit up now, with a title and a legend, on white paper.
const alone = async (place) => {
  const specification = specified(place.id);
  specification.title = document.getElementById(`${place.id}-title`).textContent;
  specification.width = SAVED_WIDTH;
  specification.config = { ...specification.config, background: "#ffffff" };
  for (const { encoding } of specification.layer ?? [specification]) { legendOfAll(encoding ?? {}); }
  const { view } = await window.vegaEmbed(document.createElement("div"), specification, options);
  const shown = views.get(place);
  for (const name of ["lit", "span"]) {
    if (shown && signalled(shown, name) && signalled(view, name)) { view.signal(name, shown.signal(name)); }
  }
  return view.runAsync();
};
const asSvg = async (view) => new Blob([await view.toSVG()], { type: "image/svg+xml" });
const asPng = async (view) => {
  const [, bytes] = (await view.toImageURL("png", 2)).split(",");
  return new Blob([Uint8Array.from(atob(bytes), (each) => each.charCodeAt(0))], { type: "image/png" });
};
const saveChart = async (place, ending, made) => {
  const view = await alone(place);
  save(await made(view), fileName(place.id, ending));
  view.finalize();
};

// A cell is its text, and what stands in small type below it a column of its own. What a spreadsheet
// would take for a formula is quoted.
const shownIn = (cell) => cell.firstChild?.textContent.trim() ?? "";
const noteIn = (cell) => cell.querySelector("small")?.textContent.trim() ?? "";
const quoted = (text) => {
  const plain = /^[=@\t\r]|^[+-](?![\d.])/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
};
const asCsv = (table) => {
  const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent.trim());
  const rows = [...table.tBodies[0].rows].map((row) => [...row.cells]);
  const noted = heads.map((_, column) => rows.some((row) => noteIn(row[column]) !== ""));
  const wide = (one, note) => heads.flatMap((_, column) =>
    noted[column] ? [one(column), note(column)] : [one(column)]);
  const lines = [
    wide((column) => heads[column], (column) => `${heads[column]}, note`),
    ...rows.map((row) => wide((column) => shownIn(row[column]), (column) => noteIn(row[column]))),
  ];
  return `\ufeff${lines.map((line) => `${line.map(quoted).join(",")}\r\n`).join("")}`;
};
const saveTable = (scroll) => {
  const text = asCsv(scroll.querySelector("table"));
  const name = scroll.getAttribute("aria-labelledby");
  save(new Blob([text], { type: "text/csv" }), fileName(name, "csv"));
};
const button = (ending, title, act) => {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = ending.toUpperCase();
  made.setAttribute("aria-label", `Save ${title} as ${ending.toUpperCase()}`);
  made.addEventListener("click", act);
  return made;
};
const saves = (...buttons) => {
  const line = document.createElement("p");
  line.className = "saves";
  line.append("Save as ", ...buttons);
  return line;
};
for (const id of Object.keys(packed.charts)) {
  const place = document.getElementById(id);
  const title = document.getElementById(`${id}-title`).textContent;
  place.closest("figure").append(saves(
    button("svg", title, () => saveChart(place, "svg", asSvg)),
    button("png", title, () => saveChart(place, "png", asPng)),
  ));
}
for (const scroll of document.querySelectorAll(".scroll")) {
  const title = document.getElementById(scroll.getAttribute("aria-labelledby")).textContent;
  scroll.after(saves(button("csv", title, () => saveTable(scroll))));
}
