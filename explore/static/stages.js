// The program and two stages: lines that belong together.

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
