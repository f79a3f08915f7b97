// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// An extension of JupyterLite: Euryale's kernel for Go, which runs in the browser.
"use strict";

(() => {
	const here = document.currentScript.src.replace(/[^/]*$/, "");
	const largest = 32 << 20; // bytes of a file that cells can read
	let scope = null; // modules that JupyterLite shares

	// shared returns a module of JupyterLite, of any version.
	async function shared(name) {
		const versions = scope[name];
		if (!versions) throw new Error(`this JupyterLite has no ${name}: use the version that Euryale's documents name`);
		const module = await Object.values(versions)[0].get();
		return module();
	}

	// copies keeps the files of a notebook's folder and those of the kernel alike.
	class Copies {
		constructor(contents, folder) {
			this.contents = contents;
			this.folder = folder;
			this.dates = new Map();
		}

		path(name) { return this.folder ? this.folder + "/" + name : name; }

		// changed returns the files that the kernel does not have as they are.
		async changed() {
			const out = [];
			const walk = async (at) => {
				const listing = await this.contents.get(this.path(at).replace(/\/$/, ""), { content: true });
				for (const f of listing.content || []) {
					const name = at + f.name;
					if (f.type === "directory") {
						await walk(name + "/");
						continue;
					}
					if (f.type === "notebook" || this.dates.get(name) === f.last_modified || f.size > largest) continue;
					const whole = await this.contents.get(f.path, { content: true, format: "base64", type: "file" });
					out.push({ name, bytes: bytesOf(whole) });
					this.dates.set(name, f.last_modified);
				}
			};
			await walk("");
			return out;
		}

		// keep stores the files that a cell wrote beside the notebook.
		async keep(list) {
			for (const f of list) {
				const parts = f.name.split("/");
				for (let i = 1; i < parts.length; i++) {
					const dir = this.path(parts.slice(0, i).join("/"));
					await this.contents.get(dir, { content: false }).catch(() => this.contents.save(dir, { type: "directory", path: dir, name: parts[i - 1] }));
				}
				const path = this.path(f.name);
				const saved = await this.contents.save(path, { type: "file", format: "base64", content: base64Of(f.bytes), path, name: parts.at(-1), mimetype: "application/octet-stream" });
				this.dates.set(f.name, saved.last_modified);
			}
		}
	}

	function bytesOf(file) {
		if (file.format === "base64") return Uint8Array.from(atob(file.content.replace(/\s/g, "")), (c) => c.charCodeAt(0));
		return new TextEncoder().encode(typeof file.content === "string" ? file.content : JSON.stringify(file.content));
	}

	function base64Of(bytes) {
		let text = "";
		for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
		return btoa(text);
	}

	// kernelOf returns the class of the kernel, which extends one of JupyterLite.
	function kernelOf({ BaseKernel }, contents) {
		return class Kernel extends BaseKernel {
			constructor(options) {
				super(options);
				this.copies = new Copies(contents, (options.location || "").replace(/^\/|\/$/g, ""));
				this.worker = new Worker(here + "worker.js");
				this.turn = Promise.resolve();
			}

			// ask sends a request when those before it are answered.
			ask(request, withFiles) {
				const answer = this.turn.then(async () => {
					const files = withFiles ? await this.copies.changed().catch((e) => this.warn(`The files beside the notebook cannot be read: ${e}\n`)) : [];
					const reply = await new Promise((resolve) => {
						this.worker.onmessage = ({ data }) => (data.kind === "reply" ? resolve(data) : this.show(data));
						this.worker.onerror = (e) => resolve({ content: { status: "error", ename: "ERROR", evalue: e.message, traceback: [e.message] }, files: [] });
						this.worker.postMessage({ request, files });
					});
					await this.copies.keep(reply.files).catch((e) => this.warn(`A file that the cell wrote cannot be kept beside the notebook: ${e}\n`));
					return reply.content;
				});
				this.turn = answer.catch(() => {});
				return answer;
			}

			warn(text) {
				this.stream({ name: "stderr", text });
				return [];
			}

			show({ kind, content }) {
				switch (kind) {
				case "stream": return this.stream(content);
				case "display_data": return this.displayData(content);
				case "update_display_data": return this.updateDisplayData(content);
				case "execute_result": return this.publishExecuteResult(content);
				}
			}

			async kernelInfoRequest() {
				return {
					implementation: "euryale", implementation_version: "1", protocol_version: "5.3", status: "ok", banner: "Go with Euryale, in this browser", help_links: [],
					language_info: { name: "go", version: "1", mimetype: "text/x-go", file_extension: ".go", codemirror_mode: "go", pygments_lexer: "go", nbconvert_exporter: "script" },
				};
			}

			async executeRequest({ code }) {
				const reply = await this.ask({ kind: "execute", code, cursor: 0 }, true);
				if (reply.status === "error") {
					const { ename, evalue, traceback } = reply;
					this.publishExecuteError({ ename, evalue, traceback });
					return { status: "error", execution_count: this.executionCount, ename, evalue, traceback };
				}
				return { status: "ok", execution_count: this.executionCount, user_expressions: {}, payload: [] };
			}

			completeRequest({ code, cursor_pos }) { return this.ask({ kind: "complete", code, cursor: cursor_pos }, false); }
			isCompleteRequest({ code }) { return this.ask({ kind: "whole", code, cursor: 0 }, false); }
			async inspectRequest() { return { status: "ok", found: false, data: {}, metadata: {} }; }
			async commInfoRequest() { return { status: "ok", comms: {} }; }
			inputReply() {}
			async commOpen() {}
			async commMsg() {}
			async commClose() {}

			dispose() {
				this.worker.terminate();
				super.dispose();
			}
		};
	}

	async function plugin() {
		const services = await shared("@jupyterlite/services");
		return {
			id: "euryale-kernel:plugin",
			description: "A kernel for Go with Euryale",
			autoStart: true,
			requires: [services.IKernelSpecs],
			activate: (app, specs) => {
				const logo = here + "logo.svg";
				specs.register({
					spec: { name: "euryale", display_name: "Go (Euryale)", language: "go", argv: [], resources: { "logo-32x32": logo, "logo-64x64": logo } },
					create: async (options) => new (kernelOf(services, app.serviceManager.contents))(options),
				});
			},
		};
	}

	globalThis._JUPYTERLAB = globalThis._JUPYTERLAB || {};
	globalThis._JUPYTERLAB["euryale-kernel"] = {
		init: (modules) => { scope = modules; },
		get: async () => {
			const found = await plugin();
			return () => ({ __esModule: true, default: found });
		},
	};
})();
