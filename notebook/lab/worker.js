// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Runs the kernel of a notebook. A message is a request with the files that the notebook's folder has anew; the answers are the outputs, and at last
// the reply with the files that the cell wrote.
"use strict";

importScripts("files.js", "xz.js");

const files = host((fd, text) => postMessage({ kind: "stream", content: { name: fd === 1 ? "stdout" : "stderr", text } }));

importScripts("wasm_exec.js");

const folder = "/work/";
let known = new Map(); // names of files with the dates that the notebook's folder knows

// kernel starts the interpreter once. Its promise is kept when cells can be asked for.
let started = null;
function kernel() {
	started ??= (async () => {
		const module = await compiledFrom("kernel.wasm.xz");
		const go = new Go();
		go.argv = ["kernel", "page"];
		go.env = { TMPDIR: "/tmp", HOME: "/work", NO_COLOR: "1", GOMEMLIMIT: "3GiB" };
		const ready = new Promise((resolve) => { globalThis.euryaleReady = resolve; });
		const ended = go.run(await WebAssembly.instantiate(module, go.importObject)).then(() => { throw new Error("the kernel has ended: restart it"); });
		await Promise.race([ready, ended]);
		return { ended };
	})();
	return started;
}

// written lists the files that are new or changed since the notebook's folder was told.
function written() {
	const out = [];
	for (const f of files.list(folder)) {
		if (known.get(f.name) === f.date) continue;
		known.set(f.name, f.date);
		out.push({ name: f.name, bytes: files.content(folder + f.name) });
	}
	return out;
}

onmessage = async ({ data }) => {
	try {
		for (const f of data.files || []) {
			files.add(folder + f.name, f.bytes);
			known.set(f.name, files.find(folder + f.name).mtime);
		}
		const { ended } = await kernel();
		const reply = new Promise((resolve) => {
			globalThis.euryaleAsk(JSON.stringify(data.request), (kind, text) => {
				const content = JSON.parse(text);
				if (kind === "reply") resolve(content);
				else postMessage({ kind, content });
			});
		});
		postMessage({ kind: "reply", content: await Promise.race([reply, ended]), files: written() });
	} catch (e) {
		postMessage({ kind: "reply", content: { status: "error", ename: "ERROR", evalue: String(e), traceback: [String(e)] }, files: [] });
	}
};
