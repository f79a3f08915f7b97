// A table: rows that the program searches and sorts, some hundred at a time.
import { make, ask } from "./picture.js";

export class Table {
  // rows says which column of a row chooses what pictures show, and choose does it with its text; without rows, nothing is chosen.
  constructor(id, tell, rows, choose) {
    this.id = id;
    this.rows = rows;
    this.choose = choose;
    this.tell = tell;
    this.sort = null;
    this.down = false;
    this.from = 0;
    this.find = make("input", { type: "search", placeholder: "text in a row", autocomplete: "off" });
    this.find.setAttribute("aria-label", "Find rows");
    this.find.addEventListener("input", () => { this.from = 0; this.load(); });
    this.count = make("span", { className: "soft" });
    this.before = make("button", { type: "button", textContent: "Before" });
    this.after = make("button", { type: "button", textContent: "Next" });
    this.before.addEventListener("click", () => { this.from = Math.max(0, this.from - this.shown); this.load(); });
    this.after.addEventListener("click", () => { this.from += this.shown; this.load(); });
    this.body = make("div", { className: "scroll", tabIndex: 0 });
    this.element = make("section", { className: "table" }, make("div", { className: "tools" }, this.find, this.before, this.after, this.count), this.body);
    this.shown = 200;
    this.load();
  }

  async load() {
    const turn = (this.turn = (this.turn || 0) + 1);
    const q = new URLSearchParams({ id: this.id, from: this.from, find: this.find.value });
    if (this.sort !== null) { q.set("sort", this.sort); q.set("down", this.down); }
    try {
      const d = await ask("rows?" + q);
      if (turn === this.turn) this.show(d);
    } catch (e) {
      if (turn === this.turn) this.count.textContent = e.message;
    }
  }

  show(d) {
    const last = d.from + d.rows.length;
    this.count.textContent = (d.found ? "rows " + (d.from + 1) + " to " + last + " of " + d.found : "no row has this text") + (d.found < d.total ? " (of " + d.total + ")" : "");
    this.before.hidden = d.from === 0;
    this.after.hidden = last >= d.found;
    const focus = document.activeElement && this.body.contains(document.activeElement) ? document.activeElement.textContent : null;
    const of = this.rows ? d.columns.findIndex((name) => name.split(" (")[0] === this.rows.column) : -1;
    const order = d.columns.map((_, k) => k).sort((a, b) => (b === of) - (a === of)); // the column that chooses comes first
    const head = make("tr", {}, ...order.map((k) => {
      const name = d.columns[k];
      const b = make("button", { type: "button", textContent: name });
      const th = make("th", { className: d.numbers[k] ? "" : "text", scope: "col" }, b);
      th.setAttribute("aria-sort", this.sort === k ? (this.down ? "descending" : "ascending") : "none");
      if (this.sort === k) th.append(this.down ? " ▼" : " ▲");
      b.addEventListener("click", () => { this.down = this.sort === k && !this.down; this.sort = k; this.from = 0; this.load(); });
      return th;
    }));
    const rows = d.rows.map((r) => {
      const row = make("tr", {}, ...order.map((k) => make("td", { textContent: k === of ? "" : r[k], className: d.numbers[k] ? "" : "text" })));
      if (of >= 0) {
        const b = make("button", { type: "button", textContent: r[of], title: "Show this one in the pictures" });
        b.setAttribute("aria-pressed", String(r[of] === this.chosen));
        b.addEventListener("click", () => {
          this.chosen = r[of];
          for (const o of this.body.querySelectorAll("td button")) o.setAttribute("aria-pressed", String(o === b));
          this.choose(this.rows, r[of]);
        });
        row.firstChild.append(b);
      }
      return row;
    });
    this.body.replaceChildren(make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
    if (focus) for (const b of this.body.querySelectorAll("th button")) if (b.textContent === focus) b.focus();
  }
}
