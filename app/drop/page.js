// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// The page on which files are dropped: what they are, which command suits them, and what it answers.
"use strict";

const $ = (id) => document.getElementById(id);
const given = new Map(); // name to bytes
let worker = null, running = null, started = 0;

// demos are the demonstrations of the program with their command lines.
const demos = [
	["photon correlation", "demo g2 --out demo-g2"],
	["two-time correlation", "demo twotime --out demo-twotime"],
	["scattering", "demo rsoxs --out demo-rsoxs"],
	["stars", "demo spectrum --out demo-spectrum"],
	["neural assemblies", "demo assembly --out demo-assembly"],
];

// text reads the beginning of a file.
const text = (bytes, most = 65536) => new TextDecoder().decode(bytes.subarray(0, most));

// offers lists the commands that suit a file, the usual one first.
function offers(name, bytes) {
	const quoted = /[\s"'\\]/.test(name) ? JSON.stringify(name) : name;
	const ending = name.toLowerCase().replace(/^.*\./, "");
	if (["hdf", "hdf5", "h5"].includes(ending)) return ["fit g2 " + quoted, "sample g2 " + quoted + " --bin 1", "fit twotime " + quoted];
	if (["yaml", "yml"].includes(ending) && /^run\s*:/m.test(text(bytes))) return ["sim assembly " + quoted];
	if (ending === "json") {
		try {
			const problem = JSON.parse(text(bytes, bytes.length));
			if ("expr" in problem) return ["fit nlsq " + quoted, "sample expr " + quoted];
			if ("constants" in problem) return ["invert rsoxs " + quoted];
			return ["sample assembly --problem " + quoted];
		} catch {
			return [];
		}
	}
	if (["fits", "fit"].includes(ending)) return [given.has("config.yaml") ? "fit spectra " + quoted + " --config config.yaml" : "fit spectra " + quoted + " --library library.h5"];
	if (["csv", "tsv", "txt", "dat"].includes(ending)) {
		const names = text(bytes).split(/\r?\n/, 1)[0].split(/[,;\t ]+/).map((n) => n.replace(/["']/g, "").trim());
		if (names.includes("tau") && names.includes("g2")) return ["fit g2 " + quoted, "sample g2 " + quoted];
		if (names.some((n) => /^(wave|lambda|lam)/i.test(n)) && names.some((n) => /flux/i.test(n))) return ["fit spectra " + quoted + " --library library.h5"];
		const x = /^[A-Za-z_]\w*$/.test(names[0]) ? names[0] : "x";
		return [`fit curve ${quoted} "a + b*${x}"`, `fit curve ${quoted} "a*exp(-${x}/tau) + c"`, `sample curve ${quoted} "a*exp(-${x}/tau) + c"`];
	}
	return [];
}

// words splits a command line as a shell does.
function words(line) {
	const out = [];
	for (const m of line.matchAll(/(?:[^\s"']|"(?:[^"\\]|\\.)*"|'[^']*')+/g)) {
		out.push(m[0].replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'/g, (_, d, s) => (s !== undefined ? s : d.replace(/\\(.)/g, "$1"))));
	}
	return out;
}

function state(line, bad = false) {
	$("state").textContent = line;
	$("state").className = bad ? "bad" : "";
}

// offer shows the commands for the files that were given last.
function offer(names) {
	const lines = names.flatMap((n) => offers(n, given.get(n)));
	$("offers").replaceChildren(...lines.map((l) => button(l, () => { $("command").value = l; start(); })));
	$("work").hidden = false;
	if (lines.length > 0) {
		$("command").value = lines[0];
		state("");
		load();
	} else {
		state("No command is known for " + names.join(", ") + ": type one, such as fit curve FILE \"a + b*x\".", true);
	}
}

function button(label, act) {
	const b = document.createElement("button");
	b.type = "button";
	b.textContent = label;
	b.onclick = act;
	return b;
}

async function take(list) {
	const names = [];
	for (const f of list) {
		const bytes = new Uint8Array(await f.arrayBuffer());
		given.set(f.name, bytes);
		names.push(f.name);
		const item = document.createElement("li");
		item.textContent = `${f.name}, ${size(bytes.length)}`;
		$("given").append(item);
	}
	if (names.length > 0) offer(names);
}

const size = (n) => (n < 1e4 ? n + " bytes" : n < 1e7 ? Math.round(n / 1e3) + " kB" : Math.round(n / 1e6) + " MB");

// fresh starts the worker, with all files.
function fresh() {
	worker = new Worker("worker.js");
	worker.sent = new Set();
	worker.onmessage = hear;
	worker.onerror = (e) => { state("The program could not be started: " + (e.message || "your browser may be too old for WebAssembly in workers"), true); ended(); };
}

// unsent are the files that the worker has not had yet.
function unsent() {
	const files = [...given].filter(([name, bytes]) => worker.sent.get?.(name) !== bytes).map(([name, bytes]) => ({ name, bytes }));
	worker.sent = new Map(given);
	return files;
}

// load fetches the program before it is needed.
function load() {
	if (!worker) fresh();
	worker.postMessage({ kind: "load" });
}

function start() {
	const args = words($("command").value.replace(/^\s*euryale\s+/, ""));
	if (args.length === 0 || running) return;
	if (["fit", "sample", "invert", "sim", "train"].includes(args[0]) && !args.some((a) => a.startsWith("--out")) && !args.includes("--json")) args.push("--out", "results", "--overwrite");
	if (!worker) fresh();
	running = args;
	started = performance.now();
	$("text").textContent = $("said").textContent = "";
	$("answer").hidden = false;
	$("report").hidden = true;
	$("files").replaceChildren();
	$("run").disabled = true;
	$("stop").hidden = false;
	state("Working …");
	worker.postMessage({ kind: "run", args, files: unsent() });
}

function ended() {
	running = null;
	$("run").disabled = false;
	$("stop").hidden = true;
}

function hear({ data }) {
	if (data.kind === "out") $("text").textContent += data.text;
	if (data.kind === "note") {
		$("said").textContent = ($("said").textContent + data.text).slice(-20000);
		if (running) state(data.text.trim().split("\n").pop() || "Working …");
	}
	if (data.kind === "failed") {
		state(data.text, true);
		ended();
	}
	if (data.kind === "file") show(data.name, data.bytes);
	if (data.kind === "done") {
		wrapSentences($("text"));
		const seconds = ((performance.now() - started) / 1000).toFixed(1);
		const wrong = $("said").textContent.match(/^Error: [^]*/m);
		if (data.code !== 0) state(wrong ? wrong[0].slice(7).trim() : `The program ended with ${data.code}.`, true);
		else state(`Done in ${seconds} s.`);
		const made = data.files.filter((f) => !given.has(f.name) && !f.name.includes("draws.zarr/"));
		$("files").replaceChildren(...made.map((f) => {
			const item = document.createElement("li");
			item.append(button(f.name, () => worker.postMessage({ kind: "read", name: f.name })), " " + size(f.size));
			return item;
		}));
		const reports = made.filter((f) => f.name.endsWith("report.html")).sort((a, b) => b.date - a.date);
		if (data.code === 0 && reports.length > 0) worker.postMessage({ kind: "read", name: reports[0].name });
		ended();
	}
}

// wrapSentences lets the sentences of an output wrap, but not its tables.
function wrapSentences(output) {
	output.replaceChildren(...output.textContent.split(/(?<=\n)/).map((line) => {
		const span = document.createElement("span");
		span.textContent = line;
		if (/[.:]\s*$/.test(line) || line.startsWith("- ")) span.className = "sentence";
		return span;
	}));
}

// show puts a report into the page, and offers other files as a download.
function show(name, bytes) {
	if (name.endsWith("report.html") && $("report").hidden) {
		$("report").srcdoc = text(bytes, bytes.length);
		$("report").hidden = false;
		return;
	}
	const link = document.createElement("a");
	link.href = URL.createObjectURL(new Blob([bytes]));
	link.download = name.replace(/^.*\//, "");
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

$("choose").onchange = (e) => take(e.target.files);
$("run").onclick = start;
$("command").onkeydown = (e) => { if (e.key === "Enter") start(); };
$("stop").onclick = () => {
	worker.terminate();
	worker = null;
	state("Stopped. What it had written is gone, your files are still here.");
	ended();
};
for (const kind of ["dragover", "dragleave", "drop"]) {
	document.addEventListener(kind, (e) => {
		e.preventDefault();
		$("drop").classList.toggle("over", kind === "dragover");
		if (kind === "drop") take(e.dataTransfer.files);
	});
}
$("demos").append(...demos.flatMap(([label, line]) => [button(label, () => { $("work").hidden = false; $("command").value = line; start(); }), " "]));
