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

function current(list, number) {
  list.querySelectorAll("button").forEach((button, i) => button.setAttribute("aria-current", i === number));
}

/** A logarithmic axis: from values, all above 0, to pixels. */
function logScale(values, from, to) {
  const [low, high] = [Math.log10(Math.min(...values)), Math.log10(Math.max(...values) * 1.3)];
  return Object.assign((v) => from + (to - from) * (Math.log10(v) - low) / (high - low), { low: 10 ** low, high: 10 ** high });
}

/** The powers of ten on a logarithmic axis. */
function decades(axis) {
  const [first, last] = [Math.ceil(Math.log10(axis.low)), Math.floor(Math.log10(axis.high))];
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => Number((10 ** (first + i)).toPrecision(1)));
}

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
    const response = await fetch(`/actions/${name}`, { method: "POST", body: JSON.stringify(given), headers: { "X-Token": data.token } });
    if (!response.ok) throw new Error(await response.text());
    const found = await response.json();
    if (found.error !== undefined) throw new Error((found.line ? `line ${found.line}: ` : "") + found.error);
    field.textContent = show(found);
  } catch (error) {
    field.className = "bad";
    field.textContent = error.message.trim();
  }
}
