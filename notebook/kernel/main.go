// Command kernel builds a Jupyter kernel for Go that has this module compiled in: the released
// gophernotes, with a few lines changed so that it runs on today's Go and asks our files in
// overlay to evaluate cells, and with bindings of all public packages.
//
//	go run ./notebook/kernel -o bin/euryale-kernel
//	go run ./notebook/kernel -o bin/euryale-kernel -install run/jupyter
//
// It needs no Jupyter. The modules that it takes and their checksums stand in overlay/go.mod
// and overlay/go.sum.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
)

func main() {
	log.SetFlags(0)
	out := flag.String("o", "bin/euryale-kernel", "the kernel to write")
	install := flag.String("install", "", "a Jupyter data folder to install the kernel's description in, such as ~/.local/share/jupyter")
	keep := flag.Bool("keep", false, "keep the folder in which the kernel was built, and say where it is")
	flag.Parse()
	if err := run(*out, *install, *keep); err != nil {
		log.Fatalf("kernel: %v", err)
	}
}

func run(out, install string, keep bool) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "euryale-kernel-")
	if err != nil {
		return err
	}
	if keep {
		fmt.Println("built in", dir)
	} else {
		defer os.RemoveAll(dir)
	}
	if err := assemble(dir, root); err != nil {
		return err
	}
	packages, err := loadPackages(dir, "github.com/euryale-dev/euryale/...", "gorgonia.org/gorgonia", "gorgonia.org/tensor")
	if err != nil {
		return err
	}
	names, err := writeBindings(dir, packages)
	if err != nil {
		return err
	}
	if err := goCommand(dir, "build", "-ldflags=-s -w", "-o", out, "."); err != nil {
		return err
	}
	size, err := os.Stat(out)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d names of %d packages, %.0f MB\n", out, names, len(packages), float64(size.Size())/1e6)
	if install != "" {
		return installSpec(install, out)
	}
	return nil
}
