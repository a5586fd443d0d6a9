// What each pass changes, and the verdict of the reference evaluator.

const DIFF = { "-": "removed", "+": "added", " ": "" };

function showPass(number) {
  current(find("pass-list"), number);
  const shown = data.passes[number].sections.map((section) => make("details", { open: true },
    make("summary", {}, section.name),
    ...section.rows.map(([kind, html]) =>
      kind === "@" ? make("div", { className: "gap" }, "⋯") : makeLine(html, kind, 0, DIFF[kind]))));
  find("diff").replaceChildren(...(shown.length ? shown : [make("p", { className: "gap" }, "This pass changes nothing here.")]));
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
