// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/euryale-dev/euryale/internal/atomicfile"
)

// tags are the names by which pip knows the systems of the program, which needs no C library: Linux of any kind, macOS from the
// oldest version that Go supports, Windows.
var tags = map[string]string{
	"linux/amd64":   "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
	"linux/arm64":   "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
	"darwin/amd64":  "macosx_12_0_x86_64",
	"darwin/arm64":  "macosx_12_0_arm64",
	"windows/amd64": "win_amd64",
	"windows/arm64": "win_arm64",
}

// wheels writes a package into a folder for each system, or for this one.
func wheels(dir string, systems []string) error {
	if len(systems) == 0 {
		systems = []string{runtime.GOOS + "/" + runtime.GOARCH}
	}
	version, err := versionOf("CITATION.cff")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, system := range systems {
		tag, ok := tags[system]
		if !ok {
			return fmt.Errorf("%s: there are no packages of Python for this system", system)
		}
		name := filepath.Join(dir, fmt.Sprintf("euryale-%s-py3-none-%s.whl", version, tag))
		if err := build(name, version, system, tag); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Println(name)
	}
	return nil
}

// versionOf reads the version of the release from a file that names it.
func versionOf(file string) (string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	m := regexp.MustCompile(`(?m)^version: *"?([0-9][0-9a-z.]*)"?$`).FindSubmatch(b)
	if m == nil {
		return "", fmt.Errorf("%s names no version", file)
	}
	return string(m[1]), nil
}

// build compiles the program for a system and packs it with the module.
func build(name, version, system, tag string) error {
	dir, err := os.MkdirTemp("", "euryale-wheel")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "euryale")
	goos, goarch, _ := strings.Cut(system, "/")
	if goos == "windows" {
		program += ".exe"
	}
	compile := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./cmd/euryale")
	compile.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	if out, err := compile.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return atomicfile.Write(name, true, func(w io.Writer) error { return write(w, program, version, tag) })
}

// write packs the modules below python with a program, in the form of
// https://packaging.python.org/en/latest/specifications/binary-distribution-format/.
func write(w io.Writer, program, version, tag string) error {
	modules, err := filepath.Glob(filepath.Join("python", "euryale", "*.*"))
	if err != nil {
		return err
	}
	p := &pack{zip: zip.NewWriter(w), info: "euryale-" + version + ".dist-info"}
	for _, file := range modules {
		if err := p.file("euryale/"+filepath.Base(file), file, 0o644); err != nil {
			return err
		}
	}
	if err := p.file("euryale/bin/"+filepath.Base(program), program, 0o755); err != nil {
		return err
	}
	return p.finish(version, tag)
}

// pack is a package while it is written.
type pack struct {
	zip    *zip.Writer
	info   string // its folder of descriptions
	record strings.Builder
}

// file adds a file.
func (p *pack) file(name, from string, mode os.FileMode) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return p.bytes(name, b, mode)
}

// bytes adds a file with this content. All files have one date, so that the same commit makes the same package.
func (p *pack) bytes(name string, b []byte, mode os.FileMode) error {
	h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
	h.SetMode(mode)
	w, err := p.zip.CreateHeader(h)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(b)
	fmt.Fprintf(&p.record, "%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(b))
	_, err = w.Write(b)
	return err
}

// finish adds the descriptions and the list of files.
func (p *pack) finish(version, tag string) error {
	about, err := os.ReadFile(filepath.Join("python", "README.md"))
	if err != nil {
		return err
	}
	var kind strings.Builder
	kind.WriteString("Wheel-Version: 1.0\nGenerator: euryale\nRoot-Is-Purelib: false\n")
	for t := range strings.SplitSeq(tag, ".") {
		kind.WriteString("Tag: py3-none-" + t + "\n")
	}
	for _, f := range [][2]string{
		{"METADATA", fmt.Sprintf(metadata, version) + string(about)},
		{"WHEEL", kind.String()},
		{"entry_points.txt", "[console_scripts]\neuryale = euryale.program:main\n"},
	} {
		if err := p.bytes(path.Join(p.info, f[0]), []byte(f[1]), 0o644); err != nil {
			return err
		}
	}
	for _, licence := range []string{"LICENSE", "NOTICE"} {
		if err := p.file(path.Join(p.info, "licenses", licence), licence, 0o644); err != nil {
			return err
		}
	}
	w, err := p.zip.Create(path.Join(p.info, "RECORD"))
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, p.record.String()+path.Join(p.info, "RECORD")+",,\n"); err != nil {
		return err
	}
	return p.zip.Close()
}

// metadata describes the package, before its README.
const metadata = `Metadata-Version: 2.4
Name: euryale
Version: %s
Summary: Fits and posteriors with exact gradients: X-ray scattering and photon correlation, stellar spectra, neural assemblies, Stan programs, formulas
License-Expression: Apache-2.0
License-File: LICENSE
License-File: NOTICE
Project-URL: Homepage, https://github.com/euryale-dev/euryale
Project-URL: Documentation, https://github.com/euryale-dev/euryale/tree/main/docs
Classifier: Development Status :: 4 - Beta
Classifier: Intended Audience :: Science/Research
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Scientific/Engineering :: Physics
Classifier: Typing :: Typed
Requires-Python: >=3.10
Requires-Dist: numpy>=1.23
Provides-Extra: xarray
Requires-Dist: xarray>=2024.10; extra == "xarray"
Requires-Dist: zarr>=2.18; extra == "xarray"
Provides-Extra: rsoxs
Requires-Dist: h5py>=3; extra == "rsoxs"
Requires-Dist: xarray>=2024.10; extra == "rsoxs"
Provides-Extra: arviz
Requires-Dist: arviz>=0.18; extra == "arviz"
Requires-Dist: xarray>=2024.10; extra == "arviz"
Requires-Dist: zarr>=2.18; extra == "arviz"
Description-Content-Type: text/markdown

`
