// The page: the list of files and runs, the item that is looked at, and the commands that were started.
import { Picture, Fields, make, ask, night } from "./picture.js";
import { Table } from "./table.js";

const $ = (id) => document.getElementById(id);
const shown = { id: null, stamp: null, rev: -1, pictures: [], list: "", chosen: new Set() };

function tell(text) { $("message").textContent = text; }

// Lists that are long draw only what can be seen.
const eye = new IntersectionObserver((entries) => {
  for (const e of entries) if (e.isIntersecting && !e.target.picture.shown && !e.target.picture.turn) e.target.picture.draw();
}, { rootMargin: "300px" });

// named is the item that the address names, or nothing.
function named() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return ""; // an address that was cut or typed
  }
}

async function refresh() {
  try {
    const s = await ask("shelf?since=" + shown.rev);
    shown.rev = s.rev;
    if (!s.items) s.items = shown.items;
    else $("opened").textContent = s.opened.join(", ") + (s.note ? ". " + s.note : "");
    shown.items = s.items;
    const text = s.rev + " " + $("search").value;
    if (text !== shown.list) {
      shown.list = text;
      list(s.items);
    }
    if (shown.id === null && s.items.length) open(named() || s.items[0].id, true);
    if (!s.items.length) $("item").replaceChildren(make("p", { className: "soft", textContent: "There is nothing here that Euryale knows how to show: it looks for results of correlators, frames of detectors, q maps, morphologies, scattering patterns, tables, problems, fits and runs." }));
    const now = (shown.id || "").split("\n").map((id) => (s.items.find((i) => i.id === id) || {}).stamp);
    if (now.every(Boolean) && now.join("\n") !== shown.stamp) open(shown.id, false);
    await works();
  } catch (e) {
    tell(e.message);
  }
}

const most = 500; // buttons of a kind that are made at a time

function list(items) {
  const wanted = $("search").value.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const kinds = new Map();
  for (const i of items) {
    if (!wanted.every((w) => (i.name + " " + i.kind).toLowerCase().includes(w))) continue;
    if (!kinds.has(i.kind)) kinds.set(i.kind, []);
    kinds.get(i.kind).push(i);
  }
  const focus = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.id : null;
  for (const id of shown.chosen) if (!items.some((i) => i.id === id)) shown.chosen.delete(id);
  $("files").replaceChildren(...items.map((i) => make("option", { value: i.id })));
  $("list").replaceChildren(...[...kinds].flatMap(([kind, some]) => [
    make("h2", { textContent: kind + " (" + some.length + ")" }),
    ...(some.some((i) => i.many) && some.length > 1 ? [together(some)] : []),
    make("ul", {}, ...some.slice(0, most).map((i) => {
      const b = make("button", { type: "button", textContent: i.name, className: i.busy ? "busy" : "" });
      b.dataset.id = i.id;
      b.setAttribute("aria-current", String(i.id === shown.id));
      b.addEventListener("click", () => { open(i.id, true); $("shelf").classList.remove("open"); $("menu").setAttribute("aria-expanded", "false"); });
      if (!i.many || some.length < 2) return make("li", {}, b);
      const box = make("input", { type: "checkbox", checked: shown.chosen.has(i.id) });
      box.setAttribute("aria-label", "Choose " + i.name);
      box.addEventListener("change", () => { if (box.checked) shown.chosen.add(i.id); else shown.chosen.delete(i.id); for (const k of document.querySelectorAll(".together")) k.tell(); });
      return make("li", {}, box, b);
    }), ...(some.length > most ? [make("li", { className: "soft", textContent: "and " + (some.length - most) + " more: search for them" })] : [])),
  ]));
  if (focus) for (const b of $("list").querySelectorAll("button")) if (b.dataset.id === focus) b.focus();
}

// together is a button that shows the chosen items of a kind in common pictures.
function together(some) {
  const b = make("button", { type: "button", className: "together" });
  const chosen = () => some.filter((i) => shown.chosen.has(i.id)).map((i) => i.id);
  b.tell = () => {
    const n = chosen().length;
    b.disabled = n < 2;
    b.textContent = n < 2 ? "Choose two or more to see them together" : "Show " + n + " together";
  };
  b.tell();
  b.addEventListener("click", () => open(chosen().join("\n"), true));
  return b;
}

// link makes the pictures of a run highlight the draws that are chosen in one of them, and those of bins show the bins that are.
function link(pictures) {
  const bins = new Set();
  for (const p of pictures) p.binChosen = (bin) => {
    if (!bins.delete(bin)) bins.add(bin);
    for (const q of pictures) q.give("bins", [...bins].join(","));
  };
  const scripts = pictures.filter((p) => p.sight.line[1] === "script");
  for (const p of scripts) p.alike = scripts.filter((q) => q !== p);
  for (const p of pictures) p.chosen = (draws) => { for (const q of pictures) q.highlight(draws); };
}

night.addEventListener("change", () => { for (const c of document.querySelectorAll(".card")) if (c.picture && c.picture.shown) c.picture.draw(); });

// open shows an item; if it only changed, its pictures are drawn again where they are.
async function open(id, anew) {
  const before = shown.id;
  shown.id = id;
  let d;
  try {
    d = await ask("item?" + new URLSearchParams({ id }));
  } catch (e) {
    if (anew) { shown.id = before === id ? "" : before || ""; tell(e.message); }
    return;
  }
  if (shown.id !== id) return; // another one was opened meanwhile
  shown.stamp = d.stamp;
  if (anew) { tell(""); history.replaceState(null, "", "#" + encodeURIComponent(id)); document.title = d.name + " - Euryale"; }
  for (const b of $("list").querySelectorAll("button")) b.setAttribute("aria-current", String(b.dataset.id === id));
  const same = !anew && shown.pictures.length === d.pictures.length && before === id;
  if (same) {
    for (const p of shown.pictures) if (p.shown) p.draw();
    texts(d);
    head(d);
    return;
  }
  const binned = d.pictures.some((s) => s.flags.some((f) => f.name === "bins"));
  shown.pictures = d.pictures.map((s) => new Picture({ ...s, binned }, tell));
  link(shown.pictures);
  const cards = shown.pictures.map((p) => { p.element.picture = p; eye.observe(p.element); return p.element; });
  const kept = d.kept.map((name) => {
    const src = "kept?" + new URLSearchParams({ id, name, stamp: d.stamp });
    return make("article", { className: "card" }, make("h3", { textContent: name.replace(/\.\w+$/, "").replaceAll("_", " ") }), make("div", { className: "stage paper" }, make("img", { src, alt: name })));
  });
  $("item").replaceChildren(make("div", { id: "head" }), make("div", { className: "texts", id: "texts" }), make("div", { className: "pictures" }, ...cards, ...kept), ...(d.content ? [content(d)] : []), ...(d.table ? [new Table(d.id, tell, d.rows, (rows, v) => { for (const p of shown.pictures) p.give(rows.flag, v, rows.clears); }).element] : []));
  head(d);
  texts(d);
}

// content is the text of a file.
function content(d) {
  const pre = make("pre", { textContent: d.content, tabIndex: 0 });
  pre.setAttribute("aria-label", "Text of " + d.name);
  return make("section", { className: "file" }, make("h3", { textContent: "The file" }), pre);
}

function head(d) {
  const actions = make("div", { className: "actions" });
  for (const w of d.works) {
    const b = make("button", { type: "button", textContent: w[0].toUpperCase() + w.slice(1) });
    b.addEventListener("click", () => form(w, d));
    actions.append(b);
  }
  if (d.resume) {
    const b = make("button", { type: "button", textContent: "Resume" });
    b.addEventListener("click", () => run({ command: d.resume, item: d.id, flags: [], out: "", resume: true, replace: false }).catch((e) => tell(e.message)));
    actions.append(b);
  }
  if (d.extend) {
    const draws = make("input", { type: "number", min: d.extend + 1, value: 2 * d.extend, id: "extend-draws" });
    const b = make("button", { type: "button", textContent: "Extend" });
    b.addEventListener("click", () => run({ command: d.command, item: d.id, flags: [["draws", draws.value.trim()]], out: "", resume: true, replace: false }).catch((e) => tell(e.message)));
    actions.append(b, make("label", { htmlFor: "extend-draws", textContent: "to this many draws per chain" }), draws);
  }
  if (d.report) {
    const b = make("button", { type: "button", textContent: "Open the report" });
    b.addEventListener("click", () => window.open("report?" + new URLSearchParams({ id: d.id }), "_blank", "noopener"));
    actions.append(b);
  }
  const others = (shown.items || []).filter((i) => i.kind === d.kind && i.id !== d.id && !i.busy);
  if (d.pictures.length && !d.busy && others.length && !d.id.includes("\n")) {
    const choose = make("select", {}, make("option", { value: "", textContent: "Compare with" }), ...others.map((i) => make("option", { value: i.id, textContent: i.name })));
    choose.setAttribute("aria-label", "Compare with another one");
    choose.addEventListener("change", () => { if (choose.value) compare(d, choose.value); });
    actions.append(choose);
  }
  $("head").replaceChildren(make("div", { className: "head" }, make("h2", { textContent: d.name }), make("span", { className: "soft", textContent: [d.kind, d.command && "made by " + d.command, d.busy && "running"].filter(Boolean).join(", ") })), actions, ...(d.note ? [make("p", { className: "soft", textContent: d.note })] : []), ...(d.progress ? [progress(d.progress)] : []));
}

// progress is a table of the chains of a run that goes on.
function progress(p) {
  const time = (s) => s > 5400 ? (s / 3600).toFixed(1) + " h" : s > 90 ? (s / 60).toFixed(1) + " min" : s.toFixed(0) + " s";
  const row = (tag, cells) => make("tr", {}, ...cells.map((c) => make(tag, { textContent: c })));
  return make("div", { className: "progress" }, make("p", { className: "soft", textContent: time(p.elapsed_s) + " so far" + (p.remaining_s ? ", about " + time(p.remaining_s) + " left" : (p.chains || []).every((c) => c.draw >= c.total) ? ": all draws are made, and the model is being judged" : "") }),
    make("table", {}, make("thead", {}, row("th", ["chain", "draws", "", "divergences", "step size", "gradients"])),
      make("tbody", {}, ...(p.chains || []).map((c) => row("td", [c.chain, c.draw + " of " + c.total, c.warmup ? "warm-up" : "sampling", c.divergences, Number(c.step_size.toPrecision(3)), c.gradients])))));
}

async function texts(d) {
  const parts = d.texts.map((s) => ({ s, pre: make("pre", { tabIndex: 0, className: s.line[0] === "diagnose" ? "wraps" : "" }), code: make("code") }));
  const old = $("texts");
  const built = parts.map(({ s, pre, code }) => {
    pre.setAttribute("aria-label", s.title);
    return make("section", {}, make("h3", { textContent: s.title }), pre, make("div", { className: "line" }, code));
  });
  for (const { s, pre, code } of parts) {
    try {
      const t = await ask("text?" + new URLSearchParams({ line: JSON.stringify(s.line) }));
      pre.textContent = (t.text + t.said).trimEnd();
      code.textContent = t.line;
    } catch (e) {
      pre.textContent = e.message;
    }
  }
  if (shown.id === d.id && old.isConnected) old.replaceChildren(...built);
}

// compare shows the pictures of two items of a kind side by side, and ranks runs of the same data.
async function compare(d, other) {
  if ($("comparison")) $("comparison").remove();
  if (d.kind !== "Runs") {
    const section = make("section", { id: "comparison" }, make("h3", { textContent: "Comparison" }));
    $("texts").before(section);
    await beside(section, d.id, other);
    return;
  }
  const one = d.id;
  const pre = make("pre", { textContent: "comparing", tabIndex: 0 }), code = make("code");
  pre.setAttribute("aria-label", "Comparison");
  const section = make("section", { id: "comparison" }, make("h3", { textContent: "Comparison" }), pre, make("div", { className: "line" }, code));
  $("texts").before(section);
  try {
    const t = await ask("text?" + new URLSearchParams({ line: JSON.stringify(["compare", one, other]) }));
    pre.textContent = (t.text + t.said).trimEnd();
    code.textContent = t.line;
  } catch (e) {
    pre.textContent = e.message;
  }
  await beside(section, one, other);
}

// beside shows the pictures that two runs have in common, side by side.
async function beside(section, one, other) {
  let both;
  try {
    both = await Promise.all([one, other].map((id) => ask("item?" + new URLSearchParams({ id }))));
  } catch (e) {
    tell(e.message);
    return;
  }
  const pairs = both[0].pictures.map((s) => [s, both[1].pictures.find((t) => t.title === s.title)]).filter(([, t]) => t);
  const cards = pairs.flat().map((s, i) => {
    const p = new Picture({ ...s, title: both[i % 2].name + ": " + s.title.toLowerCase() }, tell);
    p.element.picture = p;
    eye.observe(p.element);
    return p;
  });
  for (const half of [0, 1]) link(cards.filter((_, i) => i % 2 === half));
  section.append(make("div", { className: "pictures pairs" }, ...cards.map((p) => p.element)));
}

// form lets people choose the settings of a command.
async function form(command, d) {
  let f;
  try {
    f = await ask("form?" + new URLSearchParams({ command, id: d.id }));
  } catch (e) {
    tell(e.message);
    return;
  }
  const fields = new Fields(f.flags, null, d.given);
  const out = make("input", { type: "text", id: "form-out", value: f.out, autocomplete: "off" });
  const replace = make("input", { type: "checkbox", id: "form-replace" });
  $("form-title").textContent = command[0].toUpperCase() + command.slice(1) + ": " + d.name;
  $("form-about").textContent = f.about + ".";
  $("form-error").textContent = "";
  $("form-search").value = "";
  const results = f.folder || f.file ? [make("div", { className: "settings" }, make("div", { className: "setting" }, make("label", { htmlFor: "form-out", textContent: f.file ? "File for the results" : "Folder for the results" }), out), make("div", { className: "setting" }, make("label", { htmlFor: "form-replace", textContent: "Replace what is there" }), replace))] : [];
  $("form-fields").replaceChildren(...results, make("div", { className: "settings" }, ...fields.elements));
  $("form-search").oninput = () => {
    const words = $("form-search").value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const e of fields.elements) e.hidden = !words.every((w) => e.dataset.text.includes(w));
  };
  $("form-cancel").onclick = () => $("form").close();
  $("form-run").onclick = async (e) => {
    e.preventDefault();
    try {
      await run({ command, item: d.id, flags: fields.pairs(), out: f.folder || f.file ? out.value.trim() : "", resume: false, replace: replace.checked });
      $("form").close();
    } catch (err) {
      $("form-error").textContent = err.message;
    }
  };
  $("form").showModal();
}

async function run(request) {
  await ask("work", request);
  await works();
  $("works").scrollIntoView({ block: "nearest" });
}

let last = "";
async function works() {
  const all = await ask("works");
  const text = JSON.stringify(all);
  if (text === last) return;
  last = text;
  $("works").hidden = !all.length;
  const far = new Map([...$("work-list").querySelectorAll("details")].map((e) => [e.dataset.id, e.open]));
  $("work-list").replaceChildren(...all.map((w) => {
    const state = make("span", { textContent: w.state === "failed" ? "failed with exit code " + w.code : w.state, className: { done: "good", failed: "bad" }[w.state] || "soft" });
    const tools = make("div", { className: "tools" }, state);
    if (w.state === "running") {
      const b = make("button", { type: "button", textContent: "Stop" });
      b.setAttribute("aria-label", "Stop " + w.line);
      b.addEventListener("click", () => ask("stop", { ID: w.id }).catch((e) => tell(e.message)));
      tools.append(b);
    }
    if (w.out) {
      const b = make("button", { type: "button", textContent: "Open" });
      b.setAttribute("aria-label", "Open the results of " + w.line);
      b.addEventListener("click", () => open(w.out, true));
      tools.append(b);
    }
    const said = make("details", {}, make("summary", { textContent: w.said.trim().split("\n").pop() || "no output yet" }), make("pre", { textContent: w.said, tabIndex: 0 }));
    said.dataset.id = w.id;
    said.open = far.has(String(w.id)) ? far.get(String(w.id)) : w.state === "failed";
    return make("div", { className: "work" }, make("div", { className: "top" }, make("code", { textContent: w.line }), tools), said);
  }));
}

$("search").addEventListener("input", () => { shown.list = ""; refresh(); });
$("menu").addEventListener("click", () => {
  const open = $("shelf").classList.toggle("open");
  $("menu").setAttribute("aria-expanded", String(open));
});
addEventListener("hashchange", () => { const id = named(); if (id && id !== shown.id) open(id, true); });

async function loop() {
  if (!document.hidden) await refresh();
  setTimeout(loop, 2000);
}
loop();
