// Kernels, their schedules, and the roofline.

let kernel = null;
let result = null;

function showKernel(number) {
  kernel = data.kernels[number];
  current(find("kernel-list"), number);
  markPoint();
  fill(find("kernel-script"), kernel.script);
  find("schedule").value = kernel.edited ?? kernel.schedule;
  find("schedule-status").textContent = "";
  result = kernel.result;
  showResult();
}

function showResult() {
  fill(find("kernel-result"), result ? result[find("result-form").value] : []);
}

/** Mark the point of the shown kernel in the roofline. */
function markPoint() {
  find("roofline").querySelectorAll(".point").forEach((point) => point.classList.toggle("chosen", point.dataset.kernel === kernel?.name));
}

/** A name that may break after underscores. */
function breakable(name) {
  return name.split("_").flatMap((part, i) => (i ? ["_", make("wbr"), part] : [part]));
}

function listKernels() {
  find("kernel-list").replaceChildren(make("ol", {}, ...data.kernels.map((k, i) => make("li", {},
    make("button", { onclick: () => showKernel(i) }, make("span", {}, ...breakable(k.name)),
      make("span", { className: "count" }, k.profile ? `${k.profile.microseconds.toFixed(1)} µs` : ""))))));
  if (data.kernels.length) return showKernel(Math.max(0, data.kernels.indexOf(kernel)));
  find("kernel-script").replaceChildren(make("p", { className: "gap" }, "No kernel has a default schedule."));
  for (const id of ["schedule", "run-schedule", "reset-schedule"]) find(id).disabled = true;
}

find("result-form").onchange = showResult;
find("schedule").oninput = () => { kernel.edited = find("schedule").value; };
find("reset-schedule").onclick = () => { find("schedule").value = kernel.edited = kernel.schedule; };
find("run-schedule").onclick = () => {
  const scheduled = kernel;
  return act("schedule", { kernel: kernel.name, text: find("schedule").value, sizes: sizes() }, "schedule-status", (found) => {
    scheduled.result = found;
    if (kernel !== scheduled) return "";
    result = found;
    showResult();
    if (found.microseconds === undefined) return "Compiled for another processor.";
    const ratio = found.default_microseconds / found.microseconds;
    return `${found.microseconds.toFixed(2)} µs, ${ratio.toFixed(2)} × the speed of the default schedule ` +
      `(${found.default_microseconds.toFixed(2)} µs); results differ by ${found.difference.toExponential(1)}`;
  });
};

/** The roofline of each level of memory, and a point for each kernel, with logarithmic axes. */
function drawRoofline(found) {
  const points = found.kernels.filter((k) => k.operations && k.bytes)
    .map((k) => ({ name: k.name, x: k.operations / k.bytes, y: k.operations / k.microseconds / 1e3 }));
  const peak = found.flops / 1e9;
  const [width, height, left, bottom] = [340, 240, 44, 30];
  const xs = [0.1, 100, ...points.map((p) => p.x)], ys = [peak / 1000, peak, ...points.map((p) => p.y)];
  const x = logScale(xs, left, width - 4), y = logScale(ys, height - bottom, 6);
  const roofs = found.levels.map((level, i) => {
    const bandwidth = level.bandwidth / 1e9, corner = peak / bandwidth;
    const start = Math.max(x.low, y.low / bandwidth);
    return `<polyline fill="none" stroke="currentColor" stroke-opacity="${1 - i * 0.2}" points="${x(start)},${y(start * bandwidth)} ${x(corner)},${y(peak)} ${x(x.high)},${y(peak)}"/>`;
  });
  let lowest = 0;
  const names = found.levels.map((level) => {
    const bandwidth = level.bandwidth / 1e9;
    lowest = Math.max(lowest + 11, y(Math.max(y.low, x.low * bandwidth)) - 3);
    return `<text x="${left + 3}" y="${lowest}">${level.name} ${bandwidth.toFixed(0)} GB/s</text>`;
  });
  const ticks = [
    ...decades(x).map((v) => `<text x="${x(v)}" y="${height - bottom + 11}" text-anchor="middle">${v}</text>`),
    ...decades(y).map((v) => `<text x="${left - 3}" y="${y(v) + 3}" text-anchor="end">${v}</text>`),
  ];
  const dots = points.map((p) => `<circle class="point" data-kernel="${p.name}" cx="${x(p.x)}" cy="${y(p.y)}" r="4"><title>${p.name}: ${p.y.toFixed(1)} GFLOP/s</title></circle>`);
  find("roofline").innerHTML = `<h2>Roofline</h2><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="Roofline plot of the kernels">` +
    `<line x1="${left}" y1="6" x2="${left}" y2="${height - bottom}" stroke="currentColor"/><line x1="${left}" y1="${height - bottom}" x2="${width}" y2="${height - bottom}" stroke="currentColor"/>` +
    `${roofs.join("")}${names.join("")}${ticks.join("")}${dots.join("")}<text x="${width - 4}" y="${y(peak) - 3}" text-anchor="end">${peak.toFixed(0)} GFLOP/s</text>` +
    `<text x="${width / 2}" y="${height - 5}" text-anchor="middle">operations per byte</text>` +
    `<text x="10" y="${height / 2}" text-anchor="middle" transform="rotate(-90 10 ${height / 2})">GFLOP/s</text></svg>`;
  find("roofline").querySelectorAll(".point").forEach((point) => {
    const number = data.kernels.findIndex((k) => k.name === point.dataset.kernel);
    if (number >= 0) point.onclick = () => showKernel(number);
  });
  markPoint();
}

find("profile").onclick = () => act("profile", { sizes: sizes() }, "profile-status", (found) => {
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
  return found.problem ?? `${passed.size} passes leave all results unchanged.`;
});
