// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Finds pages that have all words that were typed, those in a title and guides first.
"use strict";

(() => {
	const { index, root } = document.currentScript.dataset;
	const box = document.getElementById("search"), list = document.getElementById("found");
	let pages = null;

	const load = () => (pages ??= fetch(index).then((r) => r.json()));

	const around = (text, word) => {
		const at = text.toLowerCase().indexOf(word);
		return at < 0 ? "" : "… " + text.slice(Math.max(0, at - 60), at + 100).replace(/\s+/g, " ") + " …";
	};

	async function find() {
		const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
		list.hidden = words.length === 0;
		if (list.hidden) return;
		const hits = [];
		for (const p of await load()) {
			const title = p.title.toLowerCase(), text = p.text.toLowerCase();
			if (!words.every((w) => title.includes(w) || text.includes(w))) continue;
			const count = words.reduce((n, w) => n + 50 * title.includes(w) + Math.min(20, text.split(w).length - 1), 25 * p.path.startsWith("guide/"));
			hits.push([count, p]);
		}
		hits.sort((a, b) => b[0] - a[0]);
		list.replaceChildren(...hits.slice(0, 12).map(([, p]) => {
			const item = document.createElement("li"), link = document.createElement("a"), part = document.createElement("small");
			link.href = root + (p.path && p.path + "/");
			link.textContent = p.title;
			part.textContent = around(p.text, words[0]);
			item.append(link, part);
			return item;
		}));
		if (hits.length === 0) list.innerHTML = "<li>No page has these words.</li>";
	}

	box.addEventListener("focus", load);
	box.addEventListener("input", find);
	box.addEventListener("keydown", (e) => { if (e.key === "Escape") { box.value = ""; find(); } });
})();
