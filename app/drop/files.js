// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Files in memory, with the functions of Node's fs that Go's programs for pages call.
"use strict";

const modes = { file: 0o100000, folder: 0o040000, kind: 0o170000 };

class Files {
	constructor(tell) {
		this.constants = { O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, O_CREAT: 0o100, O_EXCL: 0o200, O_TRUNC: 0o1000, O_APPEND: 0o2000, O_DIRECTORY: 0o200000 };
		this.tell = tell; // is called with 1 or 2 and the bytes that the program writes there
		this.inodes = 1;
		this.root = this.node(modes.folder | 0o755);
		this.open_ = new Map();
		this.next = 3;
		this.cwd = "/work";
		for (const name of ["/work", "/tmp"]) this.place(name, this.node(modes.folder | 0o755));
	}

	node(mode) {
		const now = Date.now();
		return { ino: this.inodes++, mode, data: new Uint8Array(0), size: 0, children: new Map(), mtime: now, ctime: now };
	}

	parts(path) {
		const out = [];
		for (const p of (path.startsWith("/") ? path : this.cwd + "/" + path).split("/")) {
			if (p === "" || p === ".") continue;
			if (p === "..") out.pop();
			else out.push(p);
		}
		return out;
	}

	find(path) {
		let n = this.root;
		for (const p of this.parts(path)) {
			if ((n.mode & modes.kind) !== modes.folder) throw wrong("ENOTDIR", path);
			n = n.children.get(p);
			if (!n) throw wrong("ENOENT", path);
		}
		return n;
	}

	parent(path) {
		const parts = this.parts(path);
		if (parts.length === 0) throw wrong("EEXIST", path);
		const name = parts.pop();
		const folder = this.find("/" + parts.join("/"));
		if ((folder.mode & modes.kind) !== modes.folder) throw wrong("ENOTDIR", path);
		return { folder, name };
	}

	place(path, node) {
		const { folder, name } = this.parent(path);
		folder.children.set(name, node);
		folder.mtime = Date.now();
		return node;
	}

	// add writes a file, as when one is dropped.
	add(path, bytes) {
		const parts = this.parts(path);
		for (let i = 1; i < parts.length; i++) {
			const folder = "/" + parts.slice(0, i).join("/");
			try {
				this.find(folder);
			} catch {
				this.place(folder, this.node(modes.folder | 0o755));
			}
		}
		const n = this.place(path, this.node(modes.file | 0o644));
		n.data = bytes;
		n.size = bytes.length;
	}

	// list returns the names of all files below a folder with their sizes and dates.
	list(path) {
		const out = [];
		const walk = (n, at) => {
			for (const [name, child] of n.children) {
				if ((child.mode & modes.kind) === modes.folder) walk(child, at + name + "/");
				else out.push({ name: at + name, size: child.size, date: child.mtime });
			}
		};
		walk(this.find(path), "");
		return out.sort((a, b) => (a.name < b.name ? -1 : 1));
	}

	// content returns the bytes of a file.
	content(path) {
		const n = this.find(path);
		return n.data.slice(0, n.size);
	}

	info(n) {
		const folder = (n.mode & modes.kind) === modes.folder;
		return {
			dev: 1, ino: n.ino, mode: n.mode, nlink: 1, uid: 0, gid: 0, rdev: 0, size: n.size, blksize: 4096, blocks: Math.ceil(n.size / 512),
			atimeMs: n.mtime, mtimeMs: n.mtime, ctimeMs: n.ctime, isDirectory: () => folder,
		};
	}

	handle(fd) {
		const h = this.open_.get(fd);
		if (!h) throw wrong("EBADF", String(fd));
		return h;
	}

	grow(n, size) {
		if (size > n.data.length) {
			const larger = new Uint8Array(Math.max(size, 2 * n.data.length, 256));
			larger.set(n.data.subarray(0, n.size));
			n.data = larger;
		}
	}

	resize(n, size) {
		this.grow(n, size);
		if (size < n.size) n.data.fill(0, size, n.size);
		n.size = size;
		n.mtime = Date.now();
	}

	writeSync(fd, bytes) {
		this.tell(fd, bytes.slice());
		return bytes.length;
	}

	write(fd, buffer, offset, length, position, callback) {
		this.answer(callback, () => {
			const bytes = buffer.subarray(offset, offset + length);
			if (fd === 1 || fd === 2) return this.writeSync(fd, bytes);
			const h = this.handle(fd);
			const at = position !== null ? position : h.append ? h.node.size : h.at;
			this.grow(h.node, at + length);
			h.node.data.set(bytes, at);
			h.node.size = Math.max(h.node.size, at + length);
			h.node.mtime = Date.now();
			if (position === null) h.at = at + length;
			return length;
		});
	}

	read(fd, buffer, offset, length, position, callback) {
		this.answer(callback, () => {
			if (fd === 0) return 0;
			const h = this.handle(fd);
			if ((h.node.mode & modes.kind) === modes.folder) throw wrong("EISDIR", String(fd));
			const at = position !== null ? position : h.at;
			const n = Math.max(0, Math.min(length, h.node.size - at));
			buffer.set(h.node.data.subarray(at, at + n), offset);
			if (position === null) h.at += n;
			return n;
		});
	}

	open(path, flags, mode, callback) {
		this.answer(callback, () => {
			const c = this.constants;
			let n;
			try {
				n = this.find(path);
				if (flags & c.O_CREAT && flags & c.O_EXCL) throw wrong("EEXIST", path);
				if (flags & c.O_DIRECTORY && (n.mode & modes.kind) !== modes.folder) throw wrong("ENOTDIR", path);
				if ((n.mode & modes.kind) === modes.folder && flags & (c.O_WRONLY | c.O_RDWR)) throw wrong("EISDIR", path);
				if (flags & c.O_TRUNC) this.resize(n, 0);
			} catch (e) {
				if (e.code !== "ENOENT" || !(flags & c.O_CREAT)) throw e;
				n = this.place(path, this.node(modes.file | (mode & 0o777)));
			}
			const fd = this.next++;
			this.open_.set(fd, { node: n, at: 0, append: (flags & c.O_APPEND) !== 0 });
			return fd;
		});
	}

	close(fd, callback) { this.answer(callback, () => { this.handle(fd); this.open_.delete(fd); }); }
	fstat(fd, callback) { this.answer(callback, () => this.info(fd <= 2 ? this.root : this.handle(fd).node)); }
	stat(path, callback) { this.answer(callback, () => this.info(this.find(path))); }
	lstat(path, callback) { this.stat(path, callback); }
	fsync(fd, callback) { callback(null); }
	ftruncate(fd, length, callback) { this.answer(callback, () => this.resize(this.handle(fd).node, length)); }
	truncate(path, length, callback) { this.answer(callback, () => this.resize(this.find(path), length)); }
	chmod(path, mode, callback) { this.answer(callback, () => { const n = this.find(path); n.mode = (n.mode & modes.kind) | (mode & 0o777); }); }
	fchmod(fd, mode, callback) { this.answer(callback, () => { const n = this.handle(fd).node; n.mode = (n.mode & modes.kind) | (mode & 0o777); }); }
	chown(path, uid, gid, callback) { callback(null); }
	fchown(fd, uid, gid, callback) { callback(null); }
	lchown(path, uid, gid, callback) { callback(null); }
	utimes(path, atime, mtime, callback) { this.answer(callback, () => { this.find(path).mtime = mtime * 1000; }); }

	mkdir(path, mode, callback) {
		this.answer(callback, () => {
			const { folder, name } = this.parent(path);
			if (folder.children.has(name)) throw wrong("EEXIST", path);
			this.place(path, this.node(modes.folder | (mode & 0o777)));
		});
	}

	readdir(path, callback) {
		this.answer(callback, () => {
			const n = this.find(path);
			if ((n.mode & modes.kind) !== modes.folder) throw wrong("ENOTDIR", path);
			return [...n.children.keys()].sort();
		});
	}

	remove(path, kind) {
		const { folder, name } = this.parent(path);
		const n = folder.children.get(name);
		if (!n) throw wrong("ENOENT", path);
		const is = n.mode & modes.kind;
		if (is !== kind) throw wrong(is === modes.folder ? "EISDIR" : "ENOTDIR", path);
		if (is === modes.folder && n.children.size > 0) throw wrong("ENOTEMPTY", path);
		folder.children.delete(name);
	}

	unlink(path, callback) { this.answer(callback, () => this.remove(path, modes.file)); }
	rmdir(path, callback) { this.answer(callback, () => this.remove(path, modes.folder)); }

	rename(from, to, callback) {
		this.answer(callback, () => {
			const n = this.find(from);
			const target = this.parent(to);
			const there = target.folder.children.get(target.name);
			if (there && there !== n && there.children.size > 0) throw wrong("ENOTEMPTY", to);
			const source = this.parent(from);
			source.folder.children.delete(source.name);
			target.folder.children.set(target.name, n);
		});
	}

	link(from, to, callback) { this.answer(callback, () => { if (this.parent(to).folder.children.has(this.parent(to).name)) throw wrong("EEXIST", to); this.place(to, this.find(from)); }); }
	symlink(from, to, callback) { callback(wrong("ENOSYS", to)); }
	readlink(path, callback) { callback(wrong("EINVAL", path)); }

	// answer calls back with the value of a function, or with its error.
	answer(callback, f) {
		let value;
		try {
			value = f();
		} catch (e) {
			callback(e.code ? e : wrong("EIO", String(e)));
			return;
		}
		callback(null, value);
	}
}

function wrong(code, path) {
	const e = new Error(code + ": " + path);
	e.code = code;
	return e;
}

// host gives Go's programs files in memory and what else they ask of Node. It calls tell with 1 or 2 and the text that a program writes there.
function host(tell) {
	const decoders = { 1: new TextDecoder(), 2: new TextDecoder() };
	const files = new Files((fd, bytes) => tell(fd, decoders[fd].decode(bytes, { stream: true })));
	globalThis.fs = files;
	globalThis.process = {
		pid: 1, ppid: 0,
		getuid: () => 0, getgid: () => 0, geteuid: () => 0, getegid: () => 0, getgroups: () => [],
		umask: () => 0o022, cwd: () => files.cwd, chdir: (path) => { files.find(path); files.cwd = "/" + files.parts(path).join("/"); },
	};
	globalThis.path = { resolve: (...parts) => "/" + files.parts(parts.join("/")).join("/") };
	return files;
}

// compiledFrom fetches a program that xz packed, and compiles it while it comes.
async function compiledFrom(name) {
	const answer = await fetch(name);
	if (!answer.ok) throw new Error(`${name}: ${answer.status} ${answer.statusText}`);
	const plain = new self["xz-decompress"].XzReadableStream(answer.body);
	return WebAssembly.compileStreaming(new Response(plain, { headers: { "Content-Type": "application/wasm" } }));
}

if (typeof module !== "undefined") module.exports = { Files };
