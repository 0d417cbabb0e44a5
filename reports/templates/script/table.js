// Sorts tables by a heading, and shows the rows of one capacity.
const keyOf = (cell) => cell.dataset.key ?? cell.firstChild?.textContent ?? ""; // given if it differs
const sortKey = (row, column) => {
  const text = keyOf(row.cells[column]);
  return text === "" || Number.isNaN(Number(text)) ? text : Number(text);
};
const inOrder = (a, b) => {
  if (a === "" || b === "") { return (a === "") - (b === ""); } // what is missing goes last
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
};
for (const button of document.querySelectorAll("thead button")) {
  button.addEventListener("click", () => {
    const heading = button.parentElement;
    const column = heading.cellIndex;
    const body = heading.closest("table").tBodies[0];
    const down = heading.getAttribute("aria-sort") === "ascending";
    for (const other of heading.parentElement.children) { other.removeAttribute("aria-sort"); }
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...body.rows].map((row) => [sortKey(row, column), row]);
    rows.sort(([a], [b]) => (down && a !== "" && b !== "" ? inOrder(b, a) : inOrder(a, b)));
    body.append(...rows.map(([, row]) => row));
  });
}
for (const filter of document.querySelectorAll(".filter")) {
  const choice = filter.querySelector("select");
  const body = filter.parentElement.querySelector("tbody");
  const show = () => {
    for (const row of body.rows) {
      row.hidden = choice.value !== "" && keyOf(row.cells[1]) !== choice.value;
    }
  };
  const tell = () => {
    const shown = [...body.rows].filter((row) => !row.hidden).length;
    announce(`The table shows ${shown} of ${body.rows.length} rows.`);
  };
  choice.addEventListener("change", () => { show(); tell(); });
  filter.hidden = false;
  show();
}
