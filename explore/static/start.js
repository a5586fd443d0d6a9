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
