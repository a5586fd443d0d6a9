"use strict";
// The explorer's page: draws what `exploration.py` has collected, and asks `actions.py` for more.

const data = JSON.parse(document.getElementById("data").textContent);
const LINES_PER_FILE = 1000000;
const find = (id) => document.getElementById(id);

/** An element with properties and children; strings become text. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** One line of code; its HTML was escaped where it was highlighted. */
function makeLine(html, number, place, kind = "") {
  const line = make("div", { className: `line ${kind}` });
  line.append(make("span", { className: "number", ariaHidden: "true" }, String(number)));
  line.append(make("span", { innerHTML: html || " " }));
  if (place) {
    line.dataset.place = place;
    line.classList.add("has-place");
  }
  return line;
}

function fill(container, html) {
  container.replaceChildren(...html.map((text, i) => makeLine(text, i + 1, 0)));
}

function options(select, names, chosen) {
  select.replaceChildren(...names.map((name, i) => make("option", { value: i, textContent: name })));
  select.value = chosen;
}

// Lines that belong together.

let pinned = null;

function mark(place, className) {
  for (const line of document.querySelectorAll(`#stages .line.${className}`)) line.classList.remove(className);
  if (!place) return;
  for (const line of document.querySelectorAll(`#stages .line[data-place="${place}"]`)) line.classList.add(className);
}

function pin(place, from) {
  pinned = pinned === place ? null : place;
  mark(pinned, "pinned");
  if (pinned === null) return;
  if (Math.floor(place / LINES_PER_FILE) - 1 !== Number(find("file").value)) {
    find("file").value = Math.floor(place / LINES_PER_FILE) - 1;
    showFile();
    mark(pinned, "pinned");
  }
  for (const code of document.querySelectorAll("#stages .code")) {
    if (code === from) continue;
    for (const fold of code.querySelectorAll("details")) {
      if (fold.holds.has(pinned)) fold.open = true;
    }
    mark(pinned, "pinned");
    code.querySelector(".line.pinned")?.scrollIntoView({ block: "center" });
  }
}

find("stages").addEventListener("mouseover", (event) => {
  mark(event.target.closest(".line")?.dataset.place, "same");
});
find("stages").addEventListener("click", (event) => {
  const line = event.target.closest(".line");
  if (line?.dataset.place) pin(Number(line.dataset.place), line.closest(".code"));
});

// Stages.

function showFile() {
  const index = Number(find("file").value);
  const file = data.files[index];
  const used = new Set(data.stages.flatMap((s) => s.sections.flatMap((f) => f.places)));
  const lines = (file ? file.html : []).map((html, i) => {
    const place = (index + 1) * LINES_PER_FILE + i + 1;
    const line = makeLine(html, i + 1, used.has(place) ? place : 0);
    if (used.has(place)) {
      const label = `Show what line ${i + 1} becomes`;
      line.firstChild.replaceWith(make("button", { className: "number", ariaLabel: label }, String(i + 1)));
    }
    return line;
  });
  find("source").replaceChildren(...lines);
}

function showStage(pane) {
  const stage = data.stages[find(`stage-${pane}`).value];
  const total = stage.sections.reduce((sum, section) => sum + section.html.length, 0);
  const folds = stage.sections.map((section) => {
    const fold = make("details", {}, make("summary", {}, `${section.name} (${section.html.length} lines)`));
    fold.holds = new Set(section.places);
    fold.fill = () => {
      if (fold.children.length > 1) return;
      fold.append(...section.html.map((html, i) => makeLine(html, i + 1, section.places[i])));
      mark(pinned, "pinned");
    };
    Object.defineProperty(fold, "open", {
      get: () => fold.hasAttribute("open"),
      set: (value) => { if (value) fold.fill(); fold.toggleAttribute("open", value); },
    });
    fold.addEventListener("toggle", () => { if (fold.open) fold.fill(); });
    return fold;
  });
  find(`code-${pane}`).replaceChildren(...folds);
  folds.forEach((fold, i) => { if (i === 0 || total < 1500) fold.open = true; });
  mark(pinned, "pinned");
}

options(find("file"), data.files.map((f) => f.name.split("/").pop()), 0);
find("file").onchange = showFile;
for (const [pane, name] of [[0, "tir"], [1, "asm"]]) {
  options(find(`stage-${pane}`), data.stages.map((s) => s.name), data.stages.findIndex((s) => s.name === name));
  find(`stage-${pane}`).onchange = () => showStage(pane);
}

// Passes.

const DIFF = { "-": "removed", "+": "added", " ": "" };

function showPass(number) {
  current(find("pass-list"), number);
  const shown = data.passes[number].sections.map((section) => make("details", { open: true },
    make("summary", {}, section.name),
    ...section.rows.map(([kind, html]) =>
      kind === "@" ? make("div", { className: "gap" }, "⋯") : makeLine(html, kind, 0, DIFF[kind]))));
  find("diff").replaceChildren(...(shown.length ? shown : [make("p", { className: "gap" }, "This pass changes nothing here.")]));
}

function current(list, number) {
  list.querySelectorAll("button").forEach((button, i) => button.setAttribute("aria-current", i === number));
}

function listPasses() {
  let stage = null;
  data.passes.forEach((pass, i) => {
    if (pass.stage !== stage) {
      stage = pass.stage;
      find("pass-list").append(make("h2", {}, stage), make("ol"));
    }
    const count = pass.sections.length;
    const button = make("button", { onclick: () => showPass(i) },
      make("span", { className: count ? "" : "idle" }, pass.name), make("span", { className: "count" }, count ? String(count) : ""));
    find("pass-list").lastChild.append(make("li", {}, button));
  });
  showPass(Math.max(0, data.passes.findIndex((pass) => pass.sections.length)));
}

// Kernels.

let kernel = null;
let result = null;

function showKernel(number) {
  kernel = data.kernels[number];
  current(find("kernel-list"), number);
  fill(find("kernel-script"), kernel.script);
  find("schedule").value = kernel.edited ?? kernel.schedule;
  find("schedule-status").textContent = "";
  result = kernel.result;
  showResult();
}

function showResult() {
  fill(find("kernel-result"), result ? result[find("result-form").value] : []);
}

function listKernels() {
  find("kernel-list").replaceChildren(make("ol", {}, ...data.kernels.map((k, i) => make("li", {},
    make("button", { onclick: () => showKernel(i) }, make("span", {}, k.name),
      make("span", { className: "count" }, k.profile ? `${k.profile.microseconds.toFixed(1)} µs` : ""))))));
  if (data.kernels.length) showKernel(0);
  else find("kernel-script").replaceChildren(make("p", { className: "gap" }, "No kernel has a default schedule."));
}

find("result-form").onchange = showResult;
find("reset-schedule").onclick = () => { find("schedule").value = kernel.schedule; };
find("run-schedule").onclick = () => act("schedule", { kernel: kernel.name, text: find("schedule").value }, "schedule-status", (found) => {
  kernel.edited = find("schedule").value;
  kernel.result = result = found;
  showResult();
  if (found.microseconds === undefined) return "Compiled for another processor.";
  const ratio = found.default_microseconds / found.microseconds;
  return `${found.microseconds.toFixed(2)} µs, ${ratio.toFixed(2)} × the speed of the default schedule ` +
    `(${found.default_microseconds.toFixed(2)} µs); results differ by ${found.difference.toExponential(1)}`;
});

/** The roofline of each level of memory, and a point for each kernel, with logarithmic axes. */
function drawRoofline(found) {
  const points = found.kernels.filter((k) => k.operations && k.bytes)
    .map((k) => ({ name: k.name, x: k.operations / k.bytes, y: k.operations / k.microseconds / 1e3 }));
  const peak = found.flops / 1e9;
  const [width, height, left, bottom] = [340, 240, 40, 28];
  const xs = [0.1, 100, ...points.map((p) => p.x)], ys = [peak / 1000, peak, ...points.map((p) => p.y)];
  const scale = (values, from, to) => {
    const [low, high] = [Math.log10(Math.min(...values)), Math.log10(Math.max(...values) * 1.3)];
    return Object.assign((v) => from + (to - from) * (Math.log10(v) - low) / (high - low), { low: 10 ** low, high: 10 ** high });
  };
  const x = scale(xs, left, width - 4), y = scale(ys, height - bottom, 6);
  const roofs = found.levels.map((level, i) => {
    const bandwidth = level.bandwidth / 1e9, corner = peak / bandwidth;
    const start = Math.max(x.low, y.low / bandwidth);
    return `<polyline fill="none" stroke="currentColor" stroke-opacity="${1 - i * 0.2}" points="${x(start)},${y(start * bandwidth)} ${x(corner)},${y(peak)} ${x(x.high)},${y(peak)}"/>` +
      `<text x="${x(start) + 3}" y="${y(start * bandwidth) - 3}">${level.name} ${bandwidth.toFixed(0)} GB/s</text>`;
  });
  const dots = points.map((p) => `<circle cx="${x(p.x)}" cy="${y(p.y)}" r="4" fill="var(--accent)"><title>${p.name}: ${p.y.toFixed(1)} GFLOP/s</title></circle>`);
  find("roofline").innerHTML = `<h2>Roofline</h2><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="Roofline plot of the kernels">` +
    `<line x1="${left}" y1="6" x2="${left}" y2="${height - bottom}" stroke="currentColor"/><line x1="${left}" y1="${height - bottom}" x2="${width}" y2="${height - bottom}" stroke="currentColor"/>` +
    `${roofs.join("")}${dots.join("")}<text x="${width - 4}" y="${y(peak) - 3}" text-anchor="end">${peak.toFixed(0)} GFLOP/s</text>` +
    `<text x="${width / 2}" y="${height - 8}" text-anchor="middle">operations per byte</text>` +
    `<text x="10" y="${height / 2}" text-anchor="middle" transform="rotate(-90 10 ${height / 2})">GFLOP/s</text></svg>`;
}

find("profile").onclick = () => act("profile", {}, "profile-status", (found) => {
  for (const profile of found.kernels) {
    const known = data.kernels.find((k) => k.name === profile.name);
    if (known) known.profile = profile;
  }
  listKernels();
  if (found.flops) drawRoofline(found);
  return `${found.function}: ${found.microseconds.toFixed(1)} µs`;
});

find("check").onclick = () => act("check", {}, "check-status", (found) => {
  const passed = new Set(found.passed);
  find("pass-list").querySelectorAll("button").forEach((button, i) => {
    const good = passed.has(data.passes[i].name), bad = !good && found.problem?.includes(`'${data.passes[i].name}'`);
    button.lastChild.className = `count ${good ? "good" : "bad"}`;
    button.lastChild.textContent = good ? "✓" : bad ? "✗" : "";
  });
  return found.problem ?? `${passed.size} passes leave all results as they are.`;
});

// Actions of the server.

function sizes() {
  const found = {};
  for (const part of find("sizes").value.split(",")) {
    const [name, value] = part.split("=").map((s) => s.trim());
    if (name && /^\d+$/.test(value ?? "")) found[name] = Number(value);
  }
  return found;
}

/** Run an action; `show` draws what it found, and returns what the status says. */
async function act(name, given, status, show) {
  const field = find(status);
  field.className = "";
  field.textContent = "running …";
  try {
    const body = JSON.stringify(name === "check" ? given : { ...given, sizes: sizes() });
    const response = await fetch(`/actions/${name}`, { method: "POST", body, headers: { "X-Token": data.token } });
    if (!response.ok) throw new Error(await response.text());
    const found = await response.json();
    if (found.error !== undefined) throw new Error((found.line ? `line ${found.line}: ` : "") + found.error);
    field.textContent = show(found);
  } catch (error) {
    field.className = "bad";
    field.textContent = error.message.trim();
  }
}

// Tabs, theme, start.

const tabs = [...document.querySelectorAll("[role=tab]")];

function openTab(chosen) {
  for (const tab of tabs) {
    tab.setAttribute("aria-selected", tab === chosen);
    tab.tabIndex = tab === chosen ? 0 : -1;
    find(tab.getAttribute("aria-controls")).hidden = tab !== chosen;
  }
}
tabs.forEach((tab, i) => {
  tab.onclick = () => openTab(tab);
  tab.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(i + step + tabs.length) % tabs.length];
    openTab(next);
    next.focus();
  };
});
find("theme").onchange = () => {
  const theme = find("theme").value;
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
};

document.body.classList.toggle("is-live", data.token !== null);
find("schedule").readOnly = data.token === null;
find("title").textContent = data.title;
find("target").textContent = data.target;
showFile();
showStage(0);
showStage(1);
listPasses();
listKernels();
