"use strict";
(() => {
  const specifications = JSON.parse(document.getElementById("specifications").textContent);
  // ast: expressions are interpreted, never compiled, so the content security policy stands.
  const options = {
    actions: false, ast: true, defaultStyle: false, renderer: "svg",
    tooltip: { disableDefaultStyle: true },
  };
  const views = new Map();
  for (const [id, specification] of Object.entries(specifications)) {
    const place = document.getElementById(id);
    window.vegaEmbed(place, specification, options).then(
      ({ view }) => { views.set(place, view); place.dataset.drawn = "yes"; },
      (error) => {
        place.dataset.drawn = "no";
        place.textContent = `This chart could not be drawn: ${error.message}`;
        console.error(error);
      },
    );
  }

  const light = (world, series) => {
    for (const [place, view] of views) {
      if (place.closest(`#${world}`) && "lit" in view.getState().signals) {
        view.signal("lit", series).runAsync();
      }
    }
  };
  const pressed = (world) =>
    document.querySelector(`.key[data-world="${world}"][aria-pressed="true"]`)?.dataset.series ?? "";
  for (const key of document.querySelectorAll(".key")) {
    const { world, series } = key.dataset;
    key.addEventListener("click", () => {
      const on = key.getAttribute("aria-pressed") !== "true";
      for (const other of document.querySelectorAll(`.key[data-world="${world}"]`)) {
        other.setAttribute("aria-pressed", String(on && other === key));
      }
      light(world, pressed(world));
    });
    key.addEventListener("pointerenter", () => light(world, series));
    key.addEventListener("pointerleave", () => light(world, pressed(world)));
  }

  const sortKey = (row, column) => {
    const text = row.children[column].dataset.key;
    return text === "" || Number.isNaN(Number(text)) ? text : Number(text);
  };
  const compare = (a, b) => {
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
      rows.sort(([a], [b]) => (down && a !== "" && b !== "" ? compare(b, a) : compare(a, b)));
      body.append(...rows.map(([, row]) => row));
    });
  }
})();
