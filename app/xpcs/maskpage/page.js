// The page sends steps and shows what comes back; masks, maps and colours are computed by the program.
import { View } from "./view.js";
import { Panel } from "./panel.js";

const $ = (id) => document.getElementById(id);
const view = new View($("view"));
let state = null, tool = "pan", messageTimer = 0;

const hints = {
  pan: "Drag to move, wheel to zoom", circle: "Drag from the middle outwards", ellipse: "Drag from corner to corner", rectangle: "Drag from corner to corner",
  polygon: "Click corners; Enter, double click or the first corner closes; Esc gives up", line: "Drag from end to end", beam: "Drag or click where the direct beam is",
};

export function say(text, bad) {
  const m = $("message");
  m.textContent = text; m.className = text ? (bad ? "shown bad" : "shown") : "";
  clearTimeout(messageTimer);
  messageTimer = setTimeout(() => { m.className = bad ? "bad" : ""; }, bad ? 8000 : 3500);
}

async function ask(path, body, post) {
  const r = await fetch(path, body === undefined && !post ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body ?? {}) })
    .catch(() => { throw new Error("The program does not answer. It has ended, or was stopped; steps are in the recipe."); });
  if (r.ok) return r;
  const e = await r.json().catch(() => ({ error: r.statusText }));
  throw Object.assign(new Error(e.error), { status: r.status });
}

// send posts a change and shows the new state.
export async function send(path, body) {
  try {
    show(await (await ask(path, body, true)).json());
    return true;
  } catch (e) {
    if (e.status === 409) throw e;
    say(e.message, true);
    return false;
  }
}

export async function bitmap(path, body) {
  const r = await ask(path, body);
  return [await createImageBitmap(await r.blob()), Number(r.headers.get("X-Kept"))];
}

// latest returns a function that runs f for the newest arguments only, one call after another.
export function latest(f) {
  let busy = false, next = null;
  return async function run(...args) {
    if (busy) { next = args; return; }
    busy = true;
    try { await f(...args); } catch (e) { say(e.message, true); }
    busy = false;
    if (next) { const n = next; next = null; run(...n); }
  };
}

const loadImage = latest(async () => {
  [view.layers.image] = await bitmap(`image.png?low=${panel.colours.low}&high=${panel.colours.high}&scale=${panel.colours.log ? "log" : "linear"}`);
  view.draw();
});
const loadMask = latest(async (step) => {
  const [layer, kept] = step ? await bitmap("preview", step) : await bitmap(`mask.png?rev=${state.rev}`);
  view.layers.mask = layer; view.draw();
  panel.previewed(step, kept);
});
const loadRings = latest(async (geometry) => {
  if (!view.shown.rings || geometry.beamX === null || geometry.beamY === null || !geometry.pixelSize || !geometry.distance || !geometry.energy) { view.layers.rings = null; view.draw(); return; }
  [view.layers.rings] = await bitmap("rings", geometry); view.draw();
  if (!moving) readout(lastAt);
});

const panel = new Panel($, { send, image: loadImage, preview: loadMask, rings: loadRings, view, say });

function show(s) {
  const first = state === null, stale = first || s.rev !== state.rev;
  state = s;
  view.size = [s.height, s.width];
  if (s.geometry.beamX !== null && s.geometry.beamY !== null) view.beam = [s.geometry.beamY, s.geometry.beamX]; else view.beam = null;
  panel.show(s);
  if (first) { view.fit(); loadImage(); bitmap("bar.png").then(([b]) => $("bar").getContext("2d").drawImage(b, 0, 0)); }
  if (stale) { loadMask(); loadRings({ ...s.geometry, bins: s.bins }); } else loadMask();
  if (s.note) say(s.note);
  document.body.dataset.rev = s.rev;
}

// The readout under the cursor.
let lastAt = null, moving = false;
const readout = latest(async (at) => {
  lastAt = at;
  if (!at || at[0] < 0 || at[1] < 0 || at[0] >= state.height || at[1] >= state.width) { $("readout").textContent = state.lacks.length ? `q needs ${state.lacks.join(", ")}: fill in the geometry` : ""; return; }
  const p = await (await ask(`at?row=${at[0]}&col=${at[1]}`)).json();
  const parts = [`x ${p.col}`, `y ${p.row}`, `counts ${p.value === null ? "none" : Number(p.value.toPrecision(5))}`];
  if (p.q !== undefined) parts.push(`q ${p.q.toPrecision(4)} Å⁻¹`, `φ ${p.phi.toFixed(1)}°`, `2π/q ${(2 * Math.PI / p.q).toPrecision(3)} Å`);
  if (p.bin) parts.push(`bin ${p.bin}`);
  if (!p.kept) parts.push("masked");
  $("readout").textContent = parts.join("    ");
});

// Drawing with the pointer.
const canvas = $("view");
const here = (e) => { const b = canvas.getBoundingClientRect(); return [e.clientX - b.left, e.clientY - b.top]; };
const inclusive = () => document.querySelector("input[name=inside]:checked").value === "include";
let drag = null;

export function choose(name) {
  tool = name; view.sketch = null; view.draw();
  for (const b of document.querySelectorAll("[data-tool]")) b.classList.toggle("active", b.dataset.tool === name);
  $("hint").textContent = hints[name];
  canvas.style.cursor = name === "pan" ? "grab" : "crosshair";
}

canvas.addEventListener("pointerdown", (e) => {
  if (!state) return;
  canvas.focus(); canvas.setPointerCapture(e.pointerId);
  const [x, y] = here(e), p = view.toPixel(x, y);
  if (tool === "pan" || e.button === 1) { drag = { pan: [x, y] }; return; }
  if (e.button !== 0) return;
  if (tool === "beam") { drag = { beam: true }; moveBeam(p); return; }
  if (tool === "polygon") { corner(p, x, y); return; }
  view.sketch = { kind: tool, from: p, to: p, width: Number($("lineWidth").value) || 1, inclusive: inclusive() };
  drag = { shape: true };
});
canvas.addEventListener("pointermove", (e) => {
  if (!state) return;
  const [x, y] = here(e), p = view.toPixel(x, y);
  if (drag?.pan) { view.pan(x - drag.pan[0], y - drag.pan[1]); drag.pan = [x, y]; }
  else if (drag?.beam) moveBeam(p);
  else if (drag?.shape) { view.sketch.to = p; view.draw(); }
  else if (view.sketch?.kind === "polygon") { view.sketch.cursor = p; view.draw(); }
  readout(p.map(Math.round));
});
canvas.addEventListener("pointerup", (e) => {
  const was = drag;
  drag = null;
  if (was?.shape) { const s = view.sketch; view.sketch = null; view.draw(); finish(s); }
  if (was?.beam) { moving = false; panel.commit(); }
});
canvas.addEventListener("pointerleave", () => readout(null));
canvas.addEventListener("wheel", (e) => { e.preventDefault(); view.zoom(...here(e), Math.exp(-e.deltaY * 0.0015)); }, { passive: false });
canvas.addEventListener("dblclick", () => { if (view.sketch?.kind === "polygon") close(); });

function moveBeam(p) {
  moving = true;
  view.beam = p.map((v) => Math.round(v * 100) / 100);
  panel.beam(view.beam);
  view.draw();
  loadRings(panel.geometry());
}

function corner(p, x, y) {
  const s = view.sketch ??= { kind: "polygon", points: [], inclusive: inclusive() };
  const near = (q, d) => { const [a, b] = view.toScreen(q); return Math.hypot(a - x, b - y) < d; };
  if (s.points.length > 2 && near(s.points[0], 9)) { close(); return; }
  if (s.points.length && near(s.points.at(-1), 3)) return; // the second click of two
  s.points.push(p);
  view.draw();
}

function close() {
  const s = view.sketch;
  view.sketch = null; view.draw();
  if (s.points.length < 3) { say("A polygon needs three corners.", true); return; }
  draw({ kind: "polygon", vertices: s.points, inclusive: s.inclusive });
}

// draw sends a shape; numbers have at most two decimals, so that recipes can be read.
function draw(shape) {
  const round = (v) => (Array.isArray(v) ? v.map(round) : typeof v === "number" ? Math.round(v * 100) / 100 : v);
  send("step", { draw: [Object.fromEntries(Object.entries(shape).map(([k, v]) => [k, round(v)]))] });
}

function finish(s) {
  const [a, b] = [s.from, s.to], size = [Math.abs(b[0] - a[0]), Math.abs(b[1] - a[1])], middle = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
  const length = Math.hypot(...size), common = { kind: s.kind, inclusive: s.inclusive };
  if (length * view.scale < 3 || ((s.kind === "rectangle" || s.kind === "ellipse") && Math.min(...size) === 0)) { say(hints[s.kind] + "."); return; }
  if (s.kind === "circle") draw({ ...common, center: a, radius: length });
  else if (s.kind === "ellipse") draw({ ...common, center: middle, axes: size.map((v) => v / 2) });
  else if (s.kind === "rectangle") draw({ ...common, center: middle, size });
  else draw({ ...common, from: a, to: b, width: s.width });
}

const keys = { v: "pan", c: "circle", e: "ellipse", r: "rectangle", p: "polygon", l: "line", b: "beam" };
document.addEventListener("keydown", (e) => {
  if (/^(INPUT|SELECT)$/.test(e.target.tagName) && e.target.type !== "range") return;
  const k = e.key.toLowerCase();
  if ((e.ctrlKey || e.metaKey) && (k === "z" || k === "y")) { e.preventDefault(); send(k === "y" || e.shiftKey ? "redo" : "undo"); return; }
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (k === "escape") { view.sketch = null; drag = null; view.draw(); }
  else if (k === "enter" && view.sketch?.kind === "polygon") close();
  else if (k === "f") view.fit();
  else if (keys[k]) choose(keys[k]);
});
for (const b of document.querySelectorAll("[data-tool]")) b.addEventListener("click", () => choose(b.dataset.tool));
$("fit").addEventListener("click", () => view.fit());
$("undo").addEventListener("click", () => send("undo"));
$("redo").addEventListener("click", () => send("redo"));
$("reset").addEventListener("click", () => send("reset"));
$("done").addEventListener("click", async () => {
  try { await ask("done", {}); document.body.inert = true; say("The program has ended. Steps are kept in the recipe; this page can be closed."); } catch (e) { say(e.message, true); }
});

choose("pan");
window.page = { view, toScreen: (p) => { const b = canvas.getBoundingClientRect(), [x, y] = view.toScreen(p); return [b.left + x, b.top + y]; } };
ask("state").then((r) => r.json()).then(show).catch((e) => say(e.message, true));
