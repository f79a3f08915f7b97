// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/demo"
)

func (a *app) demoAssembly() *cobra.Command {
	return &cobra.Command{
		Use:   "assembly",
		Short: "Form, associate and complete assemblies of neurons",
		Long: `Run three small experiments of the assembly calculus as scripts. A stimulus
forms an assembly, at several plasticities; two assemblies that fire together
come to overlap; and part of an assembly recalls the whole. This needs no
network and takes less than a second.

  euryale demo assembly
  euryale demo assembly --out run --overwrite
`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runDemoAssembly(c.Context()) },
	}
}

func (a *app) runDemoAssembly(ctx context.Context) error {
	if a.out == "" {
		a.out = "demo-assembly"
	}
	dir, err := a.makeRundir(a.out)
	if err != nil {
		return err
	}
	var pictures []string
	for _, x := range demo.Experiments() {
		if !a.json {
			a.print("\n== %s\n", x.About)
		}
		file := dir.Path(x.Name + ".yaml")
		if err := writeFile(file, x.Script()); err != nil {
			return err
		}
		other := *a
		b := &other
		b.out = dir.Path(x.Name)
		if b.json { // one document for all experiments
			b.json, b.stdout = false, io.Discard
		}
		if err := b.startAssembly(ctx, assemblyConfig{File: file}, false); err != nil {
			return err
		}
		pictures = append(pictures, dir.Path(x.Name, "plots", x.Picture+".svg"))
	}
	if a.json {
		return a.document(map[string]any{"demo": "assembly", "folder": string(dir), "pictures": pictures})
	}
	a.print(`
Look at     %s
            %s
            %s
Try next    euryale sim assembly %s --seed 2 --profile
            euryale plot raster %s
`, pictures[0], pictures[1], pictures[2], dir.Path("project.yaml"), dir.Path("project"))
	return nil
}
