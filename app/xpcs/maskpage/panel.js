// The fields beside the picture.
export class Panel {
  constructor($, page) {
    this.$ = $; this.page = page; this.colours = { low: 0.1, high: 1, log: true };
    this.state = null; this.exact = {};
    const on = (id, event, f) => $(id).addEventListener(event, f);
    for (const [slider, field] of [["lowSlider", "low"], ["highSlider", "high"]]) {
      on(slider, "input", () => { $(field).value = this.fromSlider(slider); this.tryThreshold(); });
      on(field, "input", () => this.tryThreshold());
    }
    on("thresholdApply", "click", () => { const t = this.threshold(); if (t) this.apply({ threshold: t }); });
    on("outliersPreview", "click", () => page.preview({ outliers: this.outliers() }));
    on("outliersApply", "click", () => this.apply({ outliers: this.outliers() }));
    on("region", "change", () => { $("regionSize").value = $("region").value === "tile" ? 32 : 100; });
    on("rangeApply", "click", () => this.range());
    on("fileApply", "click", () => this.apply({ file: $("file").value }));
    for (const field of document.querySelectorAll("[data-geometry]")) {
      field.addEventListener("input", () => { const g = this.geometry(); if (g) page.rings(g); });
      field.addEventListener("change", () => this.commit());
    }
    on("find", "click", async () => { $("find").disabled = true; await page.send("center"); $("find").disabled = false; });
    on("showRings", "change", () => { page.view.shown.rings = $("showRings").checked; const g = this.geometry(); if (g) page.rings(g); });
    on("showMask", "change", () => { page.view.shown.mask = $("showMask").checked; page.view.draw(); });
    for (const id of ["cLow", "cHigh", "log"]) on(id, "change", () => this.recolour());
    on("saveMask", "click", () => this.save("mask", false));
    on("saveQMap", "click", () => this.save("qmap", false));
    on("confirmYes", "click", () => { $("confirm").hidden = true; this.save(this.asked, true); });
    on("confirmNo", "click", () => { $("confirm").hidden = true; });
  }
  // show fills the fields from a state of the program.
  show(s) {
    const $ = this.$, first = this.state === null, all = s.height * s.width;
    this.state = s;
    $("name").textContent = s.name; $("size").textContent = `${s.width} × ${s.height} pixels`;
    document.title = `${s.name} – mask`;
    $("kept").textContent = `${all - s.kept} masked, ${(100 * s.kept / all).toFixed(1)} % kept`;
    $("undo").disabled = s.at === 0; $("redo").disabled = s.at === s.len - 1;
    $("steps").replaceChildren(...s.steps.map((text, i) => Object.assign(document.createElement("li"), { textContent: text, className: i === s.at ? "now" : i > s.at ? "undone" : "" })));
    $("steps").querySelector(".now")?.scrollIntoView({ block: "nearest" });
    for (const [id, factor] of [["beamX", 1], ["beamY", 1], ["pixelSize", 1e6], ["distance", 1], ["energy", 1]]) {
      const v = s.geometry[id];
      $(id).value = v === null ? "" : Number((v * factor).toPrecision(10));
      this.exact[id] = [$(id).value, v]; // a field that nobody edits keeps all its digits
    }
    $("bins").value = s.bins;
    $("saveQMap").disabled = s.lacks.length > 0;
    $("saveQMap").title = s.lacks.length ? "The geometry lacks " + s.lacks.join(", ") : "";
    $("saveNames").textContent = `${s.maskName}, ${s.qmapName}; steps in ${s.recipeName}`;
    this.options("map", s.maps); this.options("file", s.files);
    $("filesBox").hidden = s.files.length === 0;
    $("rangeApply").disabled = s.maps.length === 0;
    if (first) {
      const [, low, high] = s.levels;
      this.colours = { low, high, log: true };
      $("cLow").value = Number(low.toPrecision(3)); $("cHigh").value = Number(high.toPrecision(3));
      if (s.maps.length) { $("region").value = "rings"; $("regionSize").value = 100; }
    }
  }
  options(id, names) {
    const e = this.$(id), was = e.value;
    e.replaceChildren(...names.map((n) => new Option(n, n)));
    if (names.includes(was)) e.value = was;
  }
  number(id) {
    const text = this.$(id).value.trim();
    return text === "" ? null : Number(text);
  }
  // fromSlider is a count: sliders are logarithmic, and off at their ends.
  fromSlider(id) {
    const v = Number(this.$(id).value), [least, , , most] = this.state.levels;
    if ((id === "lowSlider" && v === 0) || (id === "highSlider" && v === 1000)) return "";
    const low = Math.log(Math.min(least, most / 10)), high = Math.log(most * 1.01);
    return Number(Math.exp(low + (high - low) * v / 1000).toPrecision(3));
  }
  threshold() {
    const low = this.number("low"), high = this.number("high");
    if (low === null && high === null) return null;
    if (Number.isNaN(low) || Number.isNaN(high)) { this.page.say("Limits are numbers of counts.", true); return null; }
    const t = { low: low ?? 0 };
    if (low === null) t.noLow = true;
    if (high === null) t.noHigh = true; else t.high = high;
    return t;
  }
  tryThreshold() {
    const t = this.threshold();
    this.page.preview(t ? { threshold: t } : undefined);
  }
  previewed(step, kept) {
    const s = this.state;
    this.$("thresholdCount").textContent = step ? `masks ${s.kept - kept} more` : "";
  }
  outliers() {
    const o = { method: this.$("method").value, cutoff: this.number("cutoff") ?? 3 };
    o[this.$("region").value] = Math.round(this.number("regionSize") ?? 0);
    return o;
  }
  range() {
    const begin = this.number("begin"), end = this.number("end"), map = this.$("map").value;
    if (Number.isNaN(begin) || Number.isNaN(end) || (begin === null && end === null)) { this.page.say("Give one end of the range, or both.", true); return; }
    const angle = map === "phi";
    this.apply({ constraints: [{ map, unit: angle ? "deg" : "", logic: "AND", begin: begin ?? (angle ? -180 - 1e-9 : -1e300), end: end ?? (angle ? 180 + 1e-9 : 1e300) }] });
  }
  async apply(step) {
    if (await this.page.send("step", step)) {
      for (const id of ["low", "high"]) this.$(id).value = "";
      this.$("lowSlider").value = 0; this.$("highSlider").value = 1000;
    }
  }
  // geometry returns the numbers of the fields, or null if one is not a number.
  geometry() {
    const g = {};
    for (const [id, factor] of [["beamX", 1], ["beamY", 1], ["pixelSize", 1e6], ["distance", 1], ["energy", 1]]) {
      const v = this.number(id);
      if (Number.isNaN(v)) return null;
      const [text, value] = this.exact[id];
      g[id] = this.$(id).value === text ? value : v === null ? null : v / factor;
    }
    g.bins = this.$("bins").value.trim();
    return /^[0-9]+\s*[x,]\s*[0-9]+$/i.test(g.bins) ? g : null;
  }
  beam([row, col]) { this.$("beamX").value = col; this.$("beamY").value = row; }
  commit() {
    const g = this.geometry();
    if (!g) { this.page.say("The geometry needs numbers, and bins such as 36x1.", true); return; }
    this.page.send("geometry", g);
  }
  recolour() {
    const low = this.number("cLow"), high = this.number("cHigh");
    if (!(low < high)) { this.page.say("Colours go from a smaller to a larger number of counts.", true); return; }
    this.colours = { low, high, log: this.$("log").checked };
    this.page.image();
  }
  async save(what, replace) {
    try { await this.page.send("save", { what, replace }); } catch (e) {
      this.asked = what;
      this.$("confirmText").textContent = `${what === "mask" ? this.state.maskName : this.state.qmapName} exists. Replace it?`;
      this.$("confirm").hidden = false;
    }
  }
}
