// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Runs the program beside the page: a message is a command line with new files, the answers are what it prints and the files it wrote.
"use strict";

importScripts("files.js");

const decoders = { 1: new TextDecoder(), 2: new TextDecoder() };
const files = new Files((fd, bytes) => postMessage({ kind: fd === 1 ? "out" : "note", text: decoders[fd].decode(bytes, { stream: true }) }));
globalThis.fs = files;
globalThis.process = {
	pid: 1, ppid: 0,
	getuid: () => 0, getgid: () => 0, geteuid: () => 0, getegid: () => 0, getgroups: () => [],
	umask: () => 0o022, cwd: () => files.cwd, chdir: (path) => { files.find(path); files.cwd = "/" + files.parts(path).join("/"); },
};
globalThis.path = { resolve: (...parts) => "/" + files.parts(parts.join("/")).join("/") };

importScripts("wasm_exec.js");

let compiled = null;

// program fetches and compiles the program once.
function program() {
	compiled ??= (async () => {
		const answer = await fetch("euryale.wasm.gz");
		if (!answer.ok) throw new Error(`euryale.wasm.gz: ${answer.status} ${answer.statusText}`);
		const bytes = new Uint8Array(await answer.arrayBuffer());
		const packed = bytes[0] === 0x1f && bytes[1] === 0x8b; // some servers unpack it
		const body = packed ? new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")) : bytes;
		return WebAssembly.compileStreaming(new Response(body, { headers: { "Content-Type": "application/wasm" } }));
	})();
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
		go.env = { TMPDIR: "/tmp", HOME: "/work", NO_COLOR: "1" };
		let code = 0;
		go.exit = (c) => { code = c; };
		await go.run(await WebAssembly.instantiate(module, go.importObject));
		for (const timer of go._scheduledTimeouts.values()) clearTimeout(timer); // of goroutines that the program leaves behind
		postMessage({ kind: "done", code, files: files.list("/work") });
	} catch (e) {
		postMessage({ kind: "failed", text: String(e) });
	}
};
