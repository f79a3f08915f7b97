// The picture of the detector: layers, zoom, and the shapes that are being drawn. Points are [row, column] in pixels
// of the detector; the middle of the first pixel is [0, 0].
export class View {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.layers = { image: null, mask: null, rings: null };
    this.shown = { image: true, mask: true, rings: true };
    this.scale = 1; this.left = 0; this.top = 0; // screen = left + scale * (column + 0.5)
    this.size = [1, 1];
    this.beam = null;
    this.sketch = null;
    new ResizeObserver(() => { this.resize(); }).observe(canvas);
    this.resize();
  }
  resize() {
    const r = window.devicePixelRatio || 1, box = this.canvas.getBoundingClientRect();
    const first = !this.box || this.box.width === 0;
    this.box = box;
    this.canvas.width = Math.round(box.width * r); this.canvas.height = Math.round(box.height * r);
    if (first || this.fitted) this.fit(); else this.draw();
  }
  // fit shows the whole detector.
  fit() {
    const [h, w] = this.size, room = 34;
    this.scale = Math.max(0.01, Math.min((this.box.width - 20) / w, (this.box.height - room - 20) / h));
    this.left = (this.box.width - w * this.scale) / 2; this.top = (this.box.height - room - h * this.scale) / 2;
    this.fitted = true;
    this.draw();
  }
  toScreen([row, col]) { return [this.left + this.scale * (col + 0.5), this.top + this.scale * (row + 0.5)]; }
  toPixel(x, y) { return [(y - this.top) / this.scale - 0.5, (x - this.left) / this.scale - 0.5]; }
  zoom(x, y, factor) {
    const s = Math.min(80, Math.max(0.02, this.scale * factor));
    this.left = x - (x - this.left) * s / this.scale; this.top = y - (y - this.top) * s / this.scale;
    this.scale = s; this.fitted = false; this.draw();
  }
  pan(dx, dy) { this.left += dx; this.top += dy; this.fitted = false; this.draw(); }
  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.paint(); });
  }
  paint() {
    const c = this.context, r = window.devicePixelRatio || 1, [h, w] = this.size;
    c.setTransform(r, 0, 0, r, 0, 0);
    c.clearRect(0, 0, this.box.width, this.box.height);
    c.imageSmoothingEnabled = this.scale < 1;
    for (const name of ["image", "rings", "mask"]) {
      if (this.layers[name] && this.shown[name]) c.drawImage(this.layers[name], this.left, this.top, w * this.scale, h * this.scale);
    }
    if (this.beam) this.cross(c, this.toScreen(this.beam));
    if (this.sketch) this.outline(c, this.sketch);
  }
  cross(c, [x, y]) {
    for (const [width, colour] of [[4, "rgba(0,0,0,0.7)"], [1.6, "#fff"]]) {
      c.lineWidth = width; c.strokeStyle = colour; c.beginPath();
      c.arc(x, y, 7, 0, 2 * Math.PI);
      for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) { c.moveTo(x + 4 * dx, y + 4 * dy); c.lineTo(x + 14 * dx, y + 14 * dy); }
      c.stroke();
    }
  }
  outline(c, s) {
    const [a, b] = [s.from, s.to].map((p) => p && this.toScreen(p));
    c.beginPath();
    if (s.kind === "circle") c.arc(a[0], a[1], Math.hypot(b[0] - a[0], b[1] - a[1]), 0, 2 * Math.PI);
    else if (s.kind === "ellipse") c.ellipse((a[0] + b[0]) / 2, (a[1] + b[1]) / 2, Math.abs(b[0] - a[0]) / 2, Math.abs(b[1] - a[1]) / 2, 0, 0, 2 * Math.PI);
    else if (s.kind === "rectangle") c.rect(Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.abs(b[0] - a[0]), Math.abs(b[1] - a[1]));
    else if (s.kind === "line") { c.moveTo(...a); c.lineTo(...b); }
    else for (const [i, p] of [...s.points, s.cursor].entries()) if (p) c[i ? "lineTo" : "moveTo"](...this.toScreen(p));
    if (s.kind === "line") { c.lineCap = "butt"; c.lineWidth = s.width * this.scale; c.strokeStyle = "rgba(86,180,233,0.55)"; c.stroke(); return; }
    c.fillStyle = "rgba(86,180,233,0.25)"; c.fill();
    c.setLineDash(s.inclusive ? [6, 4] : []); c.lineWidth = 1.8; c.strokeStyle = "#7fd0ff"; c.stroke(); c.setLineDash([]);
    if (s.kind === "polygon") for (const p of s.points) { const [x, y] = this.toScreen(p); c.fillStyle = "#fff"; c.fillRect(x - 2.5, y - 2.5, 5, 5); }
  }
}
