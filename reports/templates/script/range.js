// One range of time for all charts over time within `.linked`: dragged across one of them, or set with
// the two sliders. Escape, a double click or the button show all of it again.
const LEAST_DRAG = 6; // pixels: less is a click
const overTime = (section) =>
  [...views].filter(([place, view]) => section.contains(place) && signalled(view, "span"));
const rangeOf = (form) => [...form.querySelectorAll("input")].map((input) => Number(input.value));
const wholeOf = (form) => {
  const { min, max } = form.querySelector("input");
  return [Number(min), Number(max)];
};
const written = (form, range) => {
  const format = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
  const [from, to] = range.map((end) => format.format(end));
  return `${from} to ${to} ${form.dataset.unit}`;
};
const setRange = (section, range) => {
  const form = section.querySelector(".range");
  const whole = wholeOf(form);
  const all = range === null || (range[0] <= whole[0] && range[1] >= whole[1]);
  const shown = all ? whole : range;
  form.querySelectorAll("input").forEach((input, end) => {
    input.value = shown[end];
    input.setAttribute("aria-valuetext", `${input.value} ${form.dataset.unit}`);
  });
  form.dataset.whole = all ? "yes" : "no";
  form.querySelector("button").disabled = all;
  form.querySelector("output").textContent = all ? "all of it" : written(form, shown);
  for (const [, view] of overTime(section)) { view.signal("span", all ? null : shown).runAsync(); }
};
const announceRange = (section) => {
  const form = section.querySelector(".range");
  announce(form.dataset.whole === "yes"
    ? "The charts over time show all of it."
    : `The charts over time show ${form.querySelector("output").textContent}.`);
};

// Dragging: positions are pixels from the left end of the plot.
const brush = (section, place, view) => {
  const band = document.createElement("div");
  band.className = "brush";
  place.append(band);
  const svg = () => place.querySelector("svg").getBoundingClientRect();
  const inside = (event) => {
    const x = event.clientX - svg().left - view.origin()[0];
    return Math.min(Math.max(x, 0), view.signal("width"));
  };
  let from = null;
  const shade = (to) => {
    const left = svg().left - place.getBoundingClientRect().left + view.origin()[0];
    band.style.left = `${left + Math.min(from, to)}px`;
    band.style.width = `${Math.abs(to - from)}px`;
    band.classList.toggle("drawn", Math.abs(to - from) >= LEAST_DRAG);
  };
  const ended = () => { from = null; band.classList.remove("drawn"); };
  place.classList.add("brushable");
  place.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) { return; }
    from = inside(event);
  });
  place.addEventListener("pointermove", (event) => {
    if (from === null) { return; }
    const to = inside(event);
    shade(to);
    // Only now: with the pointer captured, a click does not reach the marks.
    if (Math.abs(to - from) >= LEAST_DRAG) { place.setPointerCapture(event.pointerId); }
  });
  place.addEventListener("pointercancel", ended);
  place.addEventListener("pointerup", (event) => {
    if (from === null) { return; }
    const ends = [from, inside(event)].sort((a, b) => a - b);
    ended();
    if (ends[1] - ends[0] < LEAST_DRAG) { return; }
    setRange(section, ends.map((x) => view.scale("x").invert(x)));
    announceRange(section);
  });
  place.addEventListener("dblclick", () => { setRange(section, null); announceRange(section); });
};

for (const form of document.querySelectorAll(".range")) {
  const section = form.closest(".linked");
  const [first, last] = form.querySelectorAll("input");
  const least = Number(first.step);
  first.addEventListener("input", () => {
    if (last.value - first.value < least) { first.value = last.value - least; }
    setRange(section, rangeOf(form));
  });
  last.addEventListener("input", () => {
    if (last.value - first.value < least) { last.value = Number(first.value) + least; }
    setRange(section, rangeOf(form));
  });
  form.addEventListener("change", () => announceRange(section));
  form.querySelector("button").addEventListener("click", () => {
    setRange(section, null);
    first.focus();
    announceRange(section);
  });
  form.hidden = false;
}
whenDrawn.push((place, view) => {
  const section = place.closest(".linked");
  const form = section?.querySelector(".range");
  if (!form || !signalled(view, "span")) { return; }
  brush(section, place, view);
  if (form.dataset.whole === "no") { view.signal("span", rangeOf(form)).runAsync(); }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") { return; }
  for (const form of document.querySelectorAll('.range[data-whole="no"]')) {
    setRange(form.closest(".linked"), null);
  }
});
