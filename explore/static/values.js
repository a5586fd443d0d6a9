// Tensors of a stage, and the error of every operation against the graph in float64.

const RUNNABLE = { relax: "relax", tir: "tir", rt: "rt", loops: "loops", asm: "machine code" };
let report = null;
let operation = null;

/** The content of the chosen file in base64, `null` without one. */
async function chosenFile() {
  const [file] = find("inputs").files;
  if (file === undefined) return null;
  const bytes = new Uint8Array(await file.arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

function compareValues(file) {
  const given = { stage: find("value-stage").value, sizes: sizes(), seed: Number(find("seed").value), file };
  return act("values", given, "values-status", (found) => {
    report = found;
    listOperations();
    const stored = found.operations.filter((o) => o.stored.length);
    const chosen = stored.find((o) => o.name === (found.first_bad ?? operation?.name)) ?? stored.at(-1);
    if (chosen) showOperation(chosen);
    return found.summary;
  });
}

/** Operations in order; those inside of a kernel have no tensor in memory. */
function listOperations() {
  const rows = report.operations.map((o) => make("li", {}, make("button", {
    disabled: o.stored.length === 0, title: o.stored.length ? "" : `inside of kernel ${o.kernel}`,
    onclick: () => showOperation(o),
  }, make("span", { className: o.stored.length ? "" : "idle" }, o.name),
  make("span", { className: `count ${o.verdict === "BAD" ? "bad" : ""}` },
    o.relative === null ? "" : `${o.relative.toExponential(1)} ${o.verdict === "BAD" ? "✗" : "✓"}`))));
  find("operation-list").replaceChildren(make("h2", {}, "Relative error"), make("ol", {}, ...rows));
  drawErrors();
}

function showOperation(chosen) {
  operation = chosen;
  const number = report.operations.indexOf(chosen);
  current(find("operation-list"), number);
  find("error-plot").querySelectorAll(".point").forEach((point) => point.classList.toggle("chosen", Number(point.dataset.number) === number));
  find("operation-name").textContent = `${chosen.name} = ${chosen.operator}`;
  const error = chosen.largest === null ? "" : `largest error ${chosen.largest.toExponential(2)}`;
  const kernel = chosen.kernel ? `kernel ${chosen.kernel}` : "";
  const place = placeOf(chosen.source);
  find("operation-note").replaceChildren([chosen.module, kernel, chosen.tensors.join(", "), error].filter(Boolean).join(" · "), " ");
  if (place) find("operation-note").append(make("button", { onclick: () => showPlace(place) }, `line ${place % LINES_PER_FILE}`));
  options(find("tensor-item"), chosen.stored.map((item) => chosen.tensors[item]), 0);
  find("matrix").value = 0;
  showTensor();
}

/** The place of a text `file:line`, 0 for one that is in no file of the page. */
function placeOf(source) {
  const end = source.lastIndexOf(":");
  const index = data.files.findIndex((file) => file.name === source.slice(0, end));
  return index < 0 ? 0 : (index + 1) * LINES_PER_FILE + Number(source.slice(end + 1));
}

/** A line of the program in the view of stages, with what it becomes. */
function showPlace(place) {
  openTab(find("tab-stages"));
  pinned = null;
  pin(place, null);
}

function showTensor() {
  const item = operation.stored[Number(find("tensor-item").value)];
  const given = { operation: operation.name, item, matrix: Number(find("matrix").value) };
  return act("tensor", given, "tensor-status", (found) => {
    find("matrix").max = found.matrices - 1;
    find("tensor").replaceChildren(...found.panels.map((panel) => {
      const content = make("div", { innerHTML: panel.html });
      return make("section", {}, make("h3", {}, panel.title), content);
    }));
    return found.matrices > 1 ? `matrix ${given.matrix} of ${found.matrices}: the last two axes` : "";
  });
}

/** The relative error of each result in order, with a logarithmic axis. */
function drawErrors() {
  const points = report.operations.map((o, i) => ({ ...o, number: i })).filter((o) => o.relative !== null);
  const [width, height, left, bottom] = [340, 150, 46, 18];
  const floor = Math.min(1, ...points.map((p) => p.relative).filter(Boolean)) / 10; // where an error of 0 is drawn
  const errors = points.map((p) => p.relative || floor);
  const y = logScale([floor, 10 * floor, ...errors], height - bottom, 8);
  const x = (number) => left + 8 + (width - left - 16) * number / Math.max(1, report.operations.length - 1);
  const dots = points.map((p, i) => `<circle class="point${p.verdict === "BAD" ? " wrong" : ""}" data-number="${p.number}" cx="${x(p.number)}" cy="${y(errors[i])}" r="4"><title></title></circle>`);
  const ticks = points.length ? [[floor, "0"], [10 * floor, (10 * floor).toExponential(0)], [y.high / 1.3, (y.high / 1.3).toExponential(0)]]
    .map(([value, text]) => `<text x="${left - 4}" y="${y(value) + 3}" text-anchor="end">${text}</text>`) : [];
  find("error-plot").innerHTML = `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="Relative error after each operation">` +
    `<line x1="${left}" y1="4" x2="${left}" y2="${height - bottom}" stroke="currentColor"/><line x1="${left}" y1="${height - bottom}" x2="${width}" y2="${height - bottom}" stroke="currentColor"/>` +
    `<polyline fill="none" stroke="currentColor" stroke-opacity="0.4" points="${points.map((p, i) => `${x(p.number)},${y(errors[i])}`).join(" ")}"/>${dots.join("")}${ticks.join("")}` +
    `<text x="${(width + left) / 2}" y="${height - 4}" text-anchor="middle">operations in order</text></svg>`;
  find("error-plot").querySelectorAll(".point").forEach((point, i) => {
    point.firstChild.textContent = `${points[i].name}: ${points[i].relative.toExponential(2)}`;
    point.onclick = () => showOperation(points[i]);
  });
}

find("value-stage").replaceChildren(...Object.entries(RUNNABLE).map(([value, text]) => make("option", { value, textContent: text })));
find("value-stage").value = "asm";
find("value-stage").onchange = () => { if (report) compareFile(); };
find("tensor-item").onchange = showTensor;
find("matrix").onchange = showTensor;
async function compareFile() { return compareValues(await chosenFile()); }
find("compare").onclick = compareFile;
