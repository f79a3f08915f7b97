// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// The page on which files are dropped: what they are, which command suits them, and what it answers.
"use strict";

const $ = (id) => document.getElementById(id);
const given = new Map(); // name to bytes
const most = 1e9; // bytes that are given at once
let worker = null, running = null, started = 0, since = 0;

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

// hdf5 lists commands for an HDF5 file by the names that are in it, which lie at its beginning or at its end.
function hdf5(file, bytes) {
	const names = new TextDecoder("latin1").decode(bytes.subarray(0, 4e6)) + new TextDecoder("latin1").decode(bytes.subarray(-4e6));
	if (/euryale-template-library/.test(names)) return [];
	if (/Euler_Angles|Vector_Morphology/.test(names)) return ["sim rsoxs " + file];
	const g2 = ["fit g2 " + file, "sample g2 " + file + " --bin 1"], two = "fit twotime " + file;
	if (!/correlation_map|C2T_all/.test(names)) return g2;
	return /normalized_g2|norm-0-g2/.test(names) ? [...g2, two] : [two];
}

// columns reads the names of the columns of a table, without their units.
function columns(bytes) {
	const line = text(bytes).replace(/^\uFEFF/, "").split(/\r?\n/, 1)[0].replace(/^\s*#+\s*/, "");
	const between = [",", ";", "\t"].find((c) => line.includes(c)) ?? /\s+/;
	return line.split(between).map((n) => n.replace(/["']/g, "").replace(/\s*[([].*$/, "").trim().replace(/\W/g, "_"));
}

// problem lists commands for a problem in JSON.
function problem(file, bytes) {
	try {
		const keys = JSON.parse(text(bytes, bytes.length));
		if ("expr" in keys) return ["fit nlsq " + file, "sample expr " + file];
		if ("constants" in keys) return ["invert rsoxs " + file];
		if ("fit" in keys) return ["sample assembly --problem " + file];
	} catch { /* no command suits what is no JSON */ }
	return [];
}

// last is the name of the file that was given last of those that suit.
const last = (suits) => [...given.keys()].reverse().find(suits);

// program lists commands for a program of the Stan language, with the data that were given last.
function program(file, bytes) {
	const data = last((n) => /\.(csv|tsv|r)$/i.test(n) || (/\.json$/i.test(n) && problem(n, given.get(n)).length === 0));
	const line = file + (/\bdata\s*\{/.test(text(bytes)) ? " --data " + quote(data ?? "data.json") : "");
	return ["sample stan " + line, "fit stan " + line];
}

const quote = (name) => (/[\s"'\\]/.test(name) ? JSON.stringify(name) : name);

// offers lists the commands that suit a file, the usual one first.
function offers(name, bytes) {
	const file = quote(name);
	const ending = name.toLowerCase().replace(/^.*\./, "");
	const templates = " --library " + quote(last((n) => n.endsWith("library.h5")) ?? "library.h5");
	if (["hdf", "hdf5", "h5"].includes(ending)) return hdf5(file, bytes);
	if (ending === "stan") return program(file, bytes);
	if (["yaml", "yml"].includes(ending) && /^run\s*:/m.test(text(bytes))) return ["sim assembly " + file];
	if (ending === "json") {
		const lines = problem(file, bytes), stan = last((n) => /\.stan$/i.test(n));
		return lines.length === 0 && stan ? program(quote(stan), given.get(stan)) : lines;
	}
	if (["fits", "fit"].includes(ending)) {
		const config = last((n) => n.endsWith("config.yaml"));
		return ["fit spectra " + file + (config ? " --config " + quote(config) : templates)];
	}
	if (["csv", "tsv", "txt", "dat"].includes(ending)) {
		if (/^\s*(\w+\s*=|EnergyData\d)/.test(text(bytes))) return []; // settings and constants of CyRSoXS
		const names = columns(bytes);
		if (names.some((n) => ["tau", "delay", "t_el"].includes(n)) && names.includes("g2")) return ["fit g2 " + file, "sample g2 " + file];
		if (names.some((n) => /^(wave|lambda|lam)/i.test(n)) && names.some((n) => /flux/i.test(n))) return ["fit spectra " + file + templates + " --arm desi_b"];
		const x = /^[A-Za-z_]\w*$/.test(names[0]) ? names[0] : "x";
		return [`fit curve ${file} "a + b*${x}"`, `fit curve ${file} "a*exp(-${x}/tau) + c"`, `sample curve ${file} "a*exp(-${x}/tau) + c"`];
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

// offer shows the commands for the files that were given last. Where there is a problem, a script or a program, other files belong to it.
function offer(names) {
	const main = names.filter((n) => /\.(json|ya?ml|stan)$/i.test(n) && offers(n, given.get(n)).length > 0);
	main.sort((a, b) => samples(a) - samples(b));
	const lines = [...new Set((main.length > 0 ? main : names).flatMap((n) => offers(n, given.get(n))))].slice(0, 12);
	$("offers").replaceChildren(...lines.map((l) => button(l, () => { $("command").value = l; start(); })));
	idle(running === null);
	$("work").hidden = false;
	if (running) return;
	$("command").value = lines[0] ?? "";
	if (lines.length > 0) {
		state("");
		load();
	} else {
		state("No command is known for " + names.join(", ") + " alone: add the problem, the script or the data that it belongs to, or type a command, such as fit curve FILE \"a + b*x\".", true);
	}
}

// samples is whether a problem asks for a posterior, which takes longer than a fit.
const samples = (name) => /"method"\s*:\s*"nuts"/.test(text(given.get(name)));

// idle says whether commands may be started.
function idle(yes) {
	for (const b of [$("run"), ...document.querySelectorAll("#offers button, #demos button")]) b.disabled = !yes;
	$("stop").hidden = yes;
}

function button(label, act) {
	const b = document.createElement("button");
	b.type = "button";
	b.textContent = label;
	b.onclick = act;
	return b;
}

// take reads files, each a File or [name, File].
async function take(list) {
	const names = [], files = [...list].map((f) => (Array.isArray(f) ? f : [f.name, f]));
	const total = files.reduce((sum, [, f]) => sum + f.size, 0);
	if (total > most) {
		state(`These ${files.length} files have ${size(total)}, and a page can hold ${size(most)}: give only those that the command needs, or install the program.`, true);
		$("work").hidden = false;
		return;
	}
	for (const [name, f] of files) {
		let bytes;
		try {
			bytes = new Uint8Array(await f.arrayBuffer());
		} catch (e) {
			state(`${name} could not be read: ${e.message}`, true);
			continue;
		}
		given.delete(name); // so that it becomes the last
		given.set(name, bytes);
		names.push(name);
	}
	$("given").replaceChildren(...[...given].map(([name, bytes]) => {
		const item = document.createElement("li");
		item.textContent = `${name}, ${size(bytes.length)}`;
		return item;
	}));
	if (names.length > 0) offer(names);
}

// walk lists the files of what was dropped, those of folders under their paths within it.
async function walk(entry, at = "") {
	if (entry.isFile) return [[at + entry.name, await new Promise((yes, no) => entry.file(yes, no))]];
	const reader = entry.createReader(), out = [];
	for (;;) { // a reader gives a hundred entries at a time
		const some = await new Promise((yes, no) => reader.readEntries(yes, no));
		if (some.length === 0) return out;
		for (const e of some) out.push(...await walk(e, at + entry.name + "/"));
	}
}

// dropped lists the files of a drop.
async function dropped(data) {
	const entries = [...data.items].map((i) => i.webkitGetAsEntry?.()); // before the first await, after which they are gone
	if (!entries.some((e) => e?.isDirectory)) return data.files;
	return (await Promise.all(entries.filter(Boolean).map((e) => walk(e)))).flat();
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
	if (args[0] === "demo" && !args.includes("--overwrite")) args.push("--overwrite");
	if (["fit", "sample", "invert", "sim", "train"].includes(args[0]) && !args.some((a) => a.startsWith("--out")) && !args.includes("--json")) args.push("--out", "results", "--overwrite");
	if (!worker) fresh();
	running = args;
	started = performance.now();
	since = Date.now();
	$("text").textContent = $("said").textContent = "";
	$("answer").hidden = false;
	$("report").hidden = true;
	$("files").replaceChildren();
	idle(false);
	state("Working …");
	worker.postMessage({ kind: "run", args, files: unsent() });
}

function ended() {
	running = null;
	idle(true);
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
		$("notes").open = data.code === 0 && $("text").textContent.trim() === ""; // all that the command says
		wrapSentences($("text"));
		const seconds = ((performance.now() - started) / 1000).toFixed(1);
		const wrong = $("said").textContent.match(/^Error: [^]*/m);
		if (data.code !== 0) state(wrong ? wrong[0].slice(7).trim() : `The program ended with ${data.code}.`, true);
		else state(`Done in ${seconds} s.`);
		const made = data.files.filter((f) => !given.has(f.name) && f.date >= since && !f.name.includes("draws.zarr/"));
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

$("guides").hidden = !/\/try\/(index\.html)?$/.test(location.pathname); // beside the site
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
		if (kind === "drop") dropped(e.dataTransfer).then(take, (wrong) => state("What was dropped could not be read: " + wrong.message, true));
	});
}
$("demos").append(...demos.flatMap(([label, line]) => [button(label, () => { $("work").hidden = false; $("command").value = line; start(); }), " "]));
