// Pictures of a report: what is under the cursor, and zoom. Without scripts they are as they are.
for (const figure of document.querySelectorAll("figure[data-frames]")) {
  const frames = JSON.parse(figure.dataset.frames), stage = figure.firstElementChild, picture = stage.firstElementChild;
  if (!frames.length || !picture) continue;
  const told = figure.querySelector(".cursor"), svg = picture.tagName.toLowerCase() === "svg";
  const whole = svg ? picture.getAttribute("viewBox").split(" ").map(Number) : null;
  let view = svg ? [...whole] : null, from = null;
  // at returns the place of an event as shares of the whole picture.
  const at = (e) => {
    const r = picture.getBoundingClientRect(), u = (e.clientX - r.left) / r.width, v = (e.clientY - r.top) / r.height;
    return svg ? [(view[0] - whole[0] + u * view[2]) / whole[2], (view[1] - whole[1] + v * view[3]) / whole[3]] : [u, v];
  };
  const number = (label, t, range, log) => {
    const v = log ? range[0] * Math.pow(range[1] / range[0], t) : range[0] + t * (range[1] - range[0]);
    const m = label.match(/^(.*) \((.*)\)$/);
    return (m ? m[1] : label || "value") + " " + Number(v.toPrecision(5)) + (m ? " " + m[2] : "");
  };
  const show = (box) => { view = box; picture.setAttribute("viewBox", box.join(" ")); };
  const zoom = (by, p) => {
    const size = Math.min(1, Math.max(0.02, (view[2] / whole[2]) * by)), w = whole[2] * size, h = whole[3] * size;
    const keep = (x, least, most) => Math.min(Math.max(x, least), most);
    show([keep(whole[0] + p[0] * whole[2] - w / 2, whole[0], whole[0] + whole[2] - w), keep(whole[1] + p[1] * whole[3] - h / 2, whole[1], whole[1] + whole[3] - h), w, h]);
  };
  const middle = () => [(view[0] - whole[0] + view[2] / 2) / whole[2], (view[1] - whole[1] + view[3] / 2) / whole[3]];
  stage.addEventListener("pointermove", (e) => {
    const [u, v] = at(e);
    const f = frames.find((f) => u >= f.f[0] && u <= f.f[2] && v >= f.f[1] && v <= f.f[3]);
    told.textContent = f ? (f.t ? f.t + ": " : "") + number(f.x, (u - f.f[0]) / (f.f[2] - f.f[0]), f.w.slice(0, 2), f.lx) + ", " + number(f.y, (f.f[3] - v) / (f.f[3] - f.f[1]), f.d ? [-f.w[2], -f.w[3]] : f.w.slice(2), f.ly) : "";
  });
  stage.addEventListener("pointerleave", () => { told.textContent = ""; });
  if (!svg) continue;
  picture.setAttribute("tabindex", "0");
  picture.setAttribute("aria-label", (picture.getAttribute("aria-label") || "") + " Zoom with plus and minus; 0 shows everything.");
  picture.addEventListener("pointerdown", (e) => { from = e.button ? null : at(e); });
  picture.addEventListener("pointerup", (e) => {
    const to = from && at(e);
    if (to && Math.abs(to[0] - from[0]) > 0.02 && Math.abs(to[1] - from[1]) > 0.02) {
      const size = Math.max(Math.abs(to[0] - from[0]), Math.abs(to[1] - from[1]));
      show([...whole]);
      zoom(size, [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2]);
    }
    from = null;
  });
  picture.addEventListener("dblclick", () => show([...whole]));
  picture.addEventListener("keydown", (e) => {
    const act = { "+": () => zoom(0.5, middle()), "=": () => zoom(0.5, middle()), "-": () => zoom(2, middle()), 0: () => show([...whole]) }[e.key];
    if (act && !e.ctrlKey && !e.metaKey) { e.preventDefault(); act(); }
  });
}
