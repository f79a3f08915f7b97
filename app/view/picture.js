// A picture: it asks the program to draw, and lets people zoom, point, scale, save, and see the command line.

const size = 96; // pixels to an inch

// night is whether the surroundings are dark; pictures then are, too.
export const night = matchMedia("(prefers-color-scheme: dark)");

export class Picture {
  // sight is {title, line, flags}; tell shows an error to the person.
  constructor(sight, tell) {
    this.sight = sight;
    this.tell = tell;
    this.line = sight.line;
    this.view = null; // the panel and window that are zoomed to: {panel, window, logX, logY}
    this.past = [];
    this.turn = 0;
    this.element = this.build();
  }

  build() {
    const card = make("article", { className: "card" });
    this.heading = make("h3", { textContent: this.sight.title });
    const top = make("div", { className: "top" }, this.heading);
    const tools = make("div", { className: "tools" });
    tools.setAttribute("role", "toolbar");
    tools.setAttribute("aria-label", "Tools of the picture " + this.sight.title);
    const tool = (text, title, act) => {
      const b = make("button", { type: "button", textContent: text, title });
      b.setAttribute("aria-label", title);
      b.addEventListener("click", act);
      tools.append(b);
      return b;
    };
    if (this.sight.flags.some((f) => f.name === "highlight")) {
      this.choose = tool("Choose", "Choose draws: drag over some, and all pictures highlight them", () => this.choose.setAttribute("aria-pressed", String(this.choose.getAttribute("aria-pressed") !== "true")));
      this.choose.setAttribute("aria-pressed", "false");
    }
    else if (this.sight.binned) {
      this.choose = tool("Choose", "Choose bins: click on some, and the other pictures show them", () => this.choose.setAttribute("aria-pressed", String(this.choose.getAttribute("aria-pressed") !== "true")));
      this.choose.setAttribute("aria-pressed", "false");
    }
    tool("+", "Zoom in", () => this.scaleAbout(0.5));
    tool("−", "Zoom out", () => this.scaleAbout(2));
    this.back = tool("Reset", "Show the whole picture", () => this.reset());
    this.logX = tool("log x", "Logarithmic axis x", () => this.toggle("logX"));
    this.logY = tool("log y", "Logarithmic axis y", () => this.toggle("logY"));
    tool("Wide", "Use the whole width", () => { card.classList.toggle("wide"); this.draw(); });
    const slides = this.sight.flags.some((f) => f.range);
    if (this.sight.flags.length) {
      const gear = tool("Settings", "Settings of the picture", () => {
        const open = gear.getAttribute("aria-expanded") !== "true";
        gear.setAttribute("aria-expanded", String(open));
        this.settings.classList.toggle("slid", !open); // sliders stay
        this.settings.hidden = !open && !slides;
      });
      gear.setAttribute("aria-expanded", "false");
    }
    const save = make("select", { title: "Save" }, make("option", { textContent: "Save as", value: "" }));
    save.setAttribute("aria-label", "Save the picture " + this.sight.title);
    for (const f of ["svg", "png", "pdf", "csv"]) save.append(make("option", { value: f, textContent: f === "csv" ? "CSV (data)" : f.toUpperCase() }));
    save.addEventListener("change", () => { if (save.value) this.save(save.value); save.value = ""; });
    tools.append(save);
    top.append(tools);
    this.settings = make("div", { className: "settings slid", hidden: !slides });
    this.fields = new Fields(this.sight.flags, () => this.redraw(), this.sight.line);
    this.settings.append(...this.fields.elements);
    this.stage = make("div", { className: "stage waiting", tabIndex: 0 });
    this.stage.setAttribute("role", "group");
    this.stage.setAttribute("aria-label", this.sight.title + ". Zoom with plus and minus, move with the arrows, 0 shows everything.");
    this.image = make("img", { alt: "", draggable: false });
    this.stage.append(this.image);
    this.cursor = make("p", { className: "cursor" });
    this.note = make("p", { className: "note", hidden: true });
    this.code = make("code", { textContent: "" });
    const copy = make("button", { type: "button", textContent: "Copy" });
    copy.setAttribute("aria-label", "Copy the command line");
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(this.code.textContent);
        copy.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(this.code);
        copy.textContent = "Press Ctrl-C";
      }
      setTimeout(() => { copy.textContent = "Copy"; }, 1500);
    });
    card.append(top, this.settings, this.stage, this.cursor, this.note, make("div", { className: "line" }, this.code, copy));
    this.listen();
    return card;
  }

  // args is the command line with the settings that were chosen.
  args() { return this.sight.line.filter((a) => !this.fields.has(a)).concat(this.fields.args()); }

  query(extra = {}) {
    const q = new URLSearchParams({ line: JSON.stringify(this.args()), ...extra });
    if (this.view) {
      q.set("panel", this.view.panel);
      if (this.view.window) ["x0", "x1", "y0", "y1"].forEach((k, i) => q.set(k, this.view.window[i]));
      for (const k of ["logX", "logY"]) if (this.view[k] !== undefined) q.set(k.toLowerCase(), this.view[k]);
    }
    return q;
  }

  // width is that of the picture in inches, at which its letters have the size of those around it, if there is room for that.
  width() { return Math.min(Math.max(this.stage.clientWidth / size, 4.2), 13).toFixed(2); }

  redraw() {
    for (const q of this.alike || []) q.follow(this.fields);
    const draws = this.fields.value("highlight");
    if (this.chosen && draws !== this.highlit) { this.chosen(draws); return; }
    this.view = null;
    this.past = [];
    this.draw();
  }

  // follow takes over what was slid in another picture of the same thing.
  follow(fields) {
    const moved = fields.inputs.filter((i) => i.slider && this.fields.value(i.flag.name) !== i.input.value.trim());
    for (const i of moved) this.fields.set(i.flag.name, i.input.value.trim());
    if (moved.length && this.shown) this.draw();
  }

  // highlight shows draws that were chosen in this picture or in another one.
  highlight(draws) {
    if (!this.choose || this.sight.binned) return;
    this.highlit = draws;
    this.fields.set("highlight", draws);
    if (this.shown) this.draw();
  }

  // give sets a flag of the picture, and clears another one, if it has the flag.
  give(name, value, clears) {
    if (this.fields.value(name) === undefined) return;
    this.fields.set(name, value);
    if (clears) this.fields.set(clears, "");
    this.redraw();
  }

  // chooseBin chooses the bin at a point: that of the panel, or that of the pixel of an image.
  async chooseBin(at) {
    let m = at.frame.title.match(/^bin (\d+)\b/);
    if (!m && at.frame.image) {
      try {
        m = (await ask("value?" + new URLSearchParams({ line: JSON.stringify(this.args()), panel: at.panel, x: at.x, y: at.y }))).value.match(/\bbin (\d+)/);
      } catch { /* there is no bin */ }
    }
    if (m) this.binChosen(m[1]);
  }

  // choice returns the ranges of the quantities of draws that a rectangle covers.
  choice(from, to) {
    return [["x", 0], ["y", 1]].filter(([, i]) => from.frame.of[i]).map(([k, i]) => from.frame.of[i] + "=" + [from[k], to[k]].sort((a, b) => a - b).map((v) => Number(v.toPrecision(6))).join(":")).join(",");
  }

  // draw asks for the picture; of several requests the last one counts.
  async draw() {
    const turn = ++this.turn;
    this.stage.classList.add("waiting");
    const q = this.query();
    q.set("width", this.width());
    if (!this.element.classList.contains("wide")) q.set("tallest", (0.85 * innerHeight / size).toFixed(2));
    if (night.matches) q.set("dark", "true");
    try {
      const p = await ask("picture?" + q);
      if (turn !== this.turn) return;
      this.element.classList.toggle("none", Boolean(p.none));
      if (p.none) {
        this.code.textContent = p.line;
        this.note.textContent = this.note.title = this.args().reduce((text, a) => text.replace(a + ": ", ""), p.none);
        this.note.hidden = false;
        this.shown = true;
        return;
      }
      this.show(p);
    } catch (e) {
      if (turn !== this.turn) return;
      if (this.past.length) { // what cannot be shown is left
        this.view = this.past.pop();
        this.tell(e.message);
      } else {
        this.note.textContent = e.message;
        this.note.hidden = false;
        this.image.hidden = true;
      }
    } finally {
      if (turn === this.turn) this.stage.classList.remove("waiting");
    }
  }

  show(p) {
    if (this.url) URL.revokeObjectURL(this.url);
    this.svg = p.svg;
    this.url = URL.createObjectURL(new Blob([p.svg], { type: "image/svg+xml" }));
    this.image.src = this.url;
    this.image.hidden = false;
    if (this.sight.line[1] === "figure" && p.title) this.heading.textContent = p.title;
    this.image.alt = [p.title, p.note].filter(Boolean).join(". ") || this.sight.title;
    this.drawn = p.width.toFixed(2);
    this.image.style.maxWidth = p.width < this.width() - 0.02 ? p.width * size + "px" : "";
    this.image.width = Math.round(p.width * size);
    this.image.height = Math.round(p.height * size);
    this.frames = p.frames;
    if (this.choose) this.choose.hidden = !p.frames.some((f) => (this.sight.binned ? f.image || /^bin \d/.test(f.title) : f.of[0] || f.of[1]));
    this.code.textContent = p.line;
    this.note.textContent = p.said;
    this.note.title = "";
    this.note.hidden = !p.said;
    const f = p.frames[this.view ? this.view.panel : 0];
    for (const [b, on] of [[this.logX, f && f.logX], [this.logY, f && f.logY]]) {
      b.setAttribute("aria-pressed", String(Boolean(on)));
      b.hidden = !f;
    }
    this.shown = true;
  }

  // at returns the panel at a point of the window, with the point as data: {panel, frame, x, y}.
  at(event) {
    const r = this.image.getBoundingClientRect();
    const u = (event.clientX - r.left) / r.width, v = (event.clientY - r.top) / r.height;
    const panel = (this.frames || []).findIndex((f) => u >= f.frame[0] && u <= f.frame[2] && v >= f.frame[1] && v <= f.frame[3]);
    if (panel < 0) return null;
    const frame = this.frames[panel];
    return { panel, frame, x: along(frame, "x", (u - frame.frame[0]) / (frame.frame[2] - frame.frame[0])), y: along(frame, "y", (frame.frame[3] - v) / (frame.frame[3] - frame.frame[1])), u, v };
  }

  zoom(panel, window) {
    this.past.push(this.view);
    if (this.past.length > 100) this.past.shift();
    this.view = { ...(this.view && this.view.panel === panel ? this.view : {}), panel, window };
    this.draw();
  }

  reset() { if (this.view) this.past.push(this.view); this.view = null; this.draw(); }

  toggle(key) {
    const panel = this.view ? this.view.panel : 0, f = (this.frames || [])[panel];
    if (!f) return;
    this.past.push(this.view);
    this.view = { ...(this.view || {}), panel, window: undefined, [key]: !f[key] };
    this.draw();
  }

  // scaleAbout makes the window of a panel larger or smaller about a point of it, by default its middle.
  scaleAbout(by, at) {
    const panel = at ? at.panel : this.view ? this.view.panel : 0, f = (this.frames || [])[panel];
    if (!f) return;
    const place = at ? [share(f, "x", at.x), share(f, "y", at.y)] : [0.5, 0.5];
    const w = ["x", "y"].flatMap((k, i) => [along(f, k, place[i] * (1 - by)), along(f, k, place[i] * (1 - by) + by)]);
    this.zoom(panel, w);
  }

  shift(dx, dy) {
    const panel = this.view ? this.view.panel : 0, f = (this.frames || [])[panel];
    if (f) this.zoom(panel, [along(f, "x", dx), along(f, "x", 1 + dx), along(f, "y", dy), along(f, "y", 1 + dy)]);
  }

  listen() {
    const s = this.stage;
    let from = null, box = null;
    s.addEventListener("pointerdown", (e) => {
      if (e.button) return;
      from = this.at(e);
      if (!from) return;
      s.setPointerCapture(e.pointerId);
      from.moving = e.shiftKey;
    });
    s.addEventListener("pointermove", (e) => {
      const to = this.at(e);
      if (!from) { this.point(to); return; }
      if (!to || to.panel !== from.panel || from.moving) return;
      if (!box) s.append(box = make("div", { className: "box" }));
      const r = this.image.getBoundingClientRect(), whole = s.getBoundingClientRect();
      box.style.left = Math.min(from.u, to.u) * r.width + r.left - whole.left + "px";
      box.style.top = Math.min(from.v, to.v) * r.height + r.top - whole.top + "px";
      box.style.width = Math.abs(to.u - from.u) * r.width + "px";
      box.style.height = Math.abs(to.v - from.v) * r.height + "px";
    });
    const end = (e) => {
      const to = from && this.at(e);
      if (box) box.remove();
      box = null;
      const choosing = from && to && to.panel === from.panel && this.choose && this.choose.getAttribute("aria-pressed") === "true" && !from.moving;
      if (choosing && this.sight.binned) {
        this.chooseBin(to);
      } else if (choosing) {
        const far = Math.abs(to.u - from.u) > 0.01 || Math.abs(to.v - from.v) > 0.01;
        this.chosen(far ? this.choice(from, to) : "");
      } else if (from && to && to.panel === from.panel) {
        if (from.moving) {
          const f = from.frame, dx = share(f, "x", from.x) - share(f, "x", to.x), dy = share(f, "y", from.y) - share(f, "y", to.y);
          if (dx || dy) this.zoom(from.panel, [along(f, "x", dx), along(f, "x", 1 + dx), along(f, "y", dy), along(f, "y", 1 + dy)]);
        } else if (Math.abs(to.u - from.u) > 0.01 && Math.abs(to.v - from.v) > 0.01) {
          this.zoom(from.panel, [Math.min(from.x, to.x), Math.max(from.x, to.x), Math.min(from.y, to.y), Math.max(from.y, to.y)]);
        }
      }
      from = null;
    };
    s.addEventListener("pointerup", end);
    s.addEventListener("pointercancel", () => { if (box) box.remove(); box = from = null; });
    s.addEventListener("pointerleave", () => { this.cursor.textContent = ""; });
    s.addEventListener("dblclick", () => this.reset());
    s.addEventListener("wheel", (e) => {
      const at = this.at(e);
      if (!at || !e.ctrlKey && document.activeElement !== s) return; // otherwise the page scrolls
      e.preventDefault();
      this.scaleAbout(e.deltaY > 0 ? 1.25 : 0.8, at);
    }, { passive: false });
    s.addEventListener("keydown", (e) => {
      const act = { "+": () => this.scaleAbout(0.5), "=": () => this.scaleAbout(0.5), "-": () => this.scaleAbout(2), 0: () => this.reset(),
        ArrowLeft: () => this.shift(-0.2, 0), ArrowRight: () => this.shift(0.2, 0), ArrowUp: () => this.shift(0, 0.2), ArrowDown: () => this.shift(0, -0.2),
        Backspace: () => { if (this.past.length) { this.view = this.past.pop(); this.draw(); } } }[e.key];
      if (act && !e.ctrlKey && !e.metaKey && !e.altKey) { e.preventDefault(); act(); }
    });
  }

  // point says what is under the cursor.
  point(at) {
    if (!at) { this.cursor.textContent = ""; return; }
    const f = at.frame, y = f.down ? -at.y : at.y;
    const text = (f.title ? f.title + ": " : "") + said(f.x || "x", at.x) + ", " + said(f.y || "y", y);
    this.cursor.textContent = text;
    if (!f.image) return;
    clearTimeout(this.asking);
    this.asking = setTimeout(async () => {
      try {
        const q = new URLSearchParams({ line: JSON.stringify(this.args()), panel: at.panel, x: at.x, y: at.y });
        const v = await ask("value?" + q);
        if (this.cursor.textContent === text && v.value) this.cursor.textContent = text + ", " + v.value;
      } catch { /* the next movement asks again */ }
    }, 60);
  }

  save(format) {
    const a = make("a", { href: "save?" + this.query({ format, width: this.drawn }), download: this.args()[1] + "." + format });
    document.body.append(a);
    a.click();
    a.remove();
  }
}

// Fields are the settings of a command as a form. Those that a line has already keep their values there.
export class Fields {
  constructor(flags, changed, line = []) {
    this.inputs = [];
    this.own = new Set(flags.map((f) => f.name));
    this.elements = flags.map((f) => {
      const id = "setting" + (Fields.count = (Fields.count || 0) + 1);
      const given = line.findIndex((a) => a === "--" + f.name || a.startsWith("--" + f.name + "="));
      let input, slider;
      if (f.type === "bool") {
        input = make("input", { type: "checkbox", checked: given >= 0 || f.default === "true" });
      } else if (f.choices) {
        input = make("select", {}, ...["", ...f.choices].map((c) => make("option", { value: c, textContent: c || "default" + (f.default ? " (" + f.default + ")" : "") })));
      } else {
        input = make("input", { type: "text", placeholder: f.default && f.default !== "[]" ? f.default : "", autocomplete: "off", spellcheck: false });
        if (given >= 0) input.value = line[given].includes("=") ? line[given].split("=").slice(1).join("=") : line[given + 1] || "";
      }
      if (f.range) {
        input.type = "number";
        input.step = "any";
        const step = f.type === "int" ? 1 : (f.range[1] - f.range[0]) / 200;
        slider = make("input", { type: "range", min: f.range[0], max: f.range[1], step, value: input.value || f.default });
        slider.setAttribute("aria-label", f.name);
        slider.addEventListener("input", () => { input.value = f.type === "int" ? slider.value : String(Number(Number(slider.value).toPrecision(4))); clearTimeout(this.sliding); this.sliding = setTimeout(() => changed && changed(), 120); });
        input.addEventListener("change", () => { slider.value = input.value || f.default; });
      }
      input.id = id;
      if (input.type === "text" && /\b(file|folder|q[ -]map|library)\b/i.test(f.about)) input.setAttribute("list", "files");
      this.inputs.push({ flag: f, input, slider, initial: input.type === "checkbox" ? f.default === "true" : "" });
      if (changed) input.addEventListener("change", changed);
      const about = make("small", { textContent: f.about, id: id + "about" });
      input.setAttribute("aria-describedby", about.id);
      const e = make("div", { className: slider ? "setting slider" : "setting" }, make("label", { htmlFor: id, textContent: f.name }), ...(slider ? [slider] : []), input, about);
      e.dataset.text = (f.name + " " + f.about).toLowerCase();
      return e;
    });
  }

  // has reports whether a word of a line is one of the settings.
  has(word) { return word.startsWith("--") && this.own.has(word.slice(2).split("=")[0]); }

  value(name) { const x = this.inputs.find((i) => i.flag.name === name); return x && x.input.value.trim(); }

  set(name, value) { const x = this.inputs.find((i) => i.flag.name === name); if (!x) return; x.input.value = value; if (x.slider) x.slider.value = value || x.flag.default; }

  // pairs are the settings that differ from their defaults, as [name, value].
  pairs() {
    return this.inputs.flatMap(({ flag, input, initial }) => {
      const v = input.type === "checkbox" ? input.checked : input.value.trim();
      return v === initial ? [] : [[flag.name, String(v)]];
    });
  }

  args() { return this.pairs().map(([n, v]) => (v === "true" ? "--" + n : "--" + n + "=" + v)); }
}

// along returns the number at a share of an axis, and share the share of a number.
function along(f, axis, t) {
  const [a, b] = axis === "x" ? f.window.slice(0, 2) : f.window.slice(2);
  return (axis === "x" ? f.logX : f.logY) ? a * Math.pow(b / a, t) : a + t * (b - a);
}
function share(f, axis, v) {
  const [a, b] = axis === "x" ? f.window.slice(0, 2) : f.window.slice(2);
  return (axis === "x" ? f.logX : f.logY) ? Math.log(v / a) / Math.log(b / a) : (v - a) / (b - a);
}

// said writes a number with the name and the unit of a label such as "q (1/nm)".
function said(label, v) {
  const m = label.match(/^(.*) \((.*)\)$/);
  return (m ? m[1] : label) + " " + Number(v.toPrecision(5)) + (m ? " " + m[2] : "");
}

// make makes an element with properties and children.
export function make(tag, properties = {}, ...children) {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...children);
  return e;
}

// ask sends a request and returns the document of the answer, or throws what the program says is wrong.
export async function ask(path, body) {
  let r;
  try {
    r = await fetch(path, body === undefined ? {} : { method: "POST", body: JSON.stringify(body) });
  } catch {
    throw new Error("The program does not answer: it has ended, or the connection is lost. Start euryale view again.");
  }
  const doc = await r.json().catch(() => ({ error: "The program refused the request (" + r.status + "): open the address that it prints." }));
  if (!r.ok) throw new Error(doc.error || String(r.status));
  return doc;
}
