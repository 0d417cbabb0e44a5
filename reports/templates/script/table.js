// Sorts tables by a heading, shows the rows of one capacity and those that are lit up first, and says
// where a table is wider than the page.
const keyOf = (cell) => cell.dataset.key ?? cell.firstChild?.textContent ?? ""; // given if it differs
const sortKey = (row, column) => {
  const text = keyOf(row.cells[column]);
  return text === "" || Number.isNaN(Number(text)) ? text : Number(text);
};
const inOrder = (a, b) => {
  if (a === "" || b === "") { return (a === "") - (b === ""); } // what is missing goes last
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
};
const orders = new Map(); // body of a table -> its rows in their own order
const orderOf = (body) => {
  if (!orders.has(body)) { orders.set(body, [...body.rows]); }
  return orders.get(body);
};
const arrange = (body) => {
  const isLit = (row) => row.classList.contains("lit");
  const rows = orderOf(body);
  body.append(...rows.filter(isLit), ...rows.filter((row) => !isLit(row)));
};
for (const button of document.querySelectorAll("thead button")) {
  button.addEventListener("click", () => {
    const heading = button.parentElement;
    const column = heading.cellIndex;
    const body = heading.closest("table").tBodies[0];
    const down = heading.getAttribute("aria-sort") === "ascending";
    for (const other of heading.parentElement.children) { other.removeAttribute("aria-sort"); }
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = orderOf(body).map((row) => [sortKey(row, column), row]);
    rows.sort(([a], [b]) => (down && a !== "" && b !== "" ? inOrder(b, a) : inOrder(a, b)));
    orders.set(body, rows.map(([, row]) => row));
    arrange(body);
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

const hidden = (scroll) => {
  const edge = scroll.getBoundingClientRect().right;
  const heads = [...scroll.querySelectorAll("thead th")];
  return heads.filter((head) => head.getBoundingClientRect().right > edge + 2).length;
};
for (const scroll of document.querySelectorAll(".scroll")) {
  const cue = document.createElement("p");
  cue.className = "cue";
  scroll.after(cue);
  const tell = () => {
    const more = hidden(scroll);
    cue.hidden = scroll.scrollWidth <= scroll.clientWidth + 1;
    const columns = more === 1 ? "column" : "columns";
    cue.textContent = more ? `${more} more ${columns} to the right: scroll the table` : "the last columns";
  };
  scroll.addEventListener("scroll", tell, { passive: true });
  new ResizeObserver(tell).observe(scroll);
  tell();
}
