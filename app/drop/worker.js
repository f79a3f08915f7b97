// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Runs the program beside the page: a message is a command line with new files, the answers are what it prints and the files it wrote.
"use strict";

importScripts("files.js", "xz.js");

const files = host((fd, text) => postMessage({ kind: fd === 1 ? "out" : "note", text }));

importScripts("wasm_exec.js");

let compiled = null;

// program fetches and compiles the program once.
function program() {
	compiled ??= compiledFrom("euryale.wasm.xz");
	return compiled;
}

onmessage = async ({ data }) => {
	try {
		for (const f of data.files || []) files.add("/work/" + f.name, f.bytes);
		if (data.kind === "read") {
			postMessage({ kind: "file", name: data.name, bytes: files.content("/work/" + data.name) });
			return;
		}
		const module = await program();
		if (data.kind === "load") {
			postMessage({ kind: "loaded" });
			return;
		}
		files.cwd = "/work";
		const go = new Go();
		go.argv = ["euryale", ...data.args];
		go.env = { TMPDIR: "/tmp", HOME: "/work", NO_COLOR: "1", GOMEMLIMIT: "3GiB" };
		let code = 0;
		go.exit = (c) => { code = c; };
		await go.run(await WebAssembly.instantiate(module, go.importObject));
		for (const timer of go._scheduledTimeouts.values()) clearTimeout(timer); // of goroutines that the program leaves behind
		postMessage({ kind: "done", code, files: files.list("/work") });
	} catch (e) {
		postMessage({ kind: "failed", text: String(e) });
	}
};
