// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/demo"
)

func demoAssembly(a *frame.App) *cobra.Command {
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
		RunE: func(c *cobra.Command, _ []string) error { return runDemoAssembly(c.Context(), a) },
	}
}

func runDemoAssembly(ctx context.Context, a *frame.App) error {
	dir, err := a.DemoFolder("demo-assembly")
	if err != nil {
		return err
	}
	var pictures []string
	for _, x := range demo.Experiments() {
		if !a.JSON {
			a.Print("\n== %s\n", x.About)
		}
		file := dir.Path(x.Name + ".yaml")
		if err := frame.WriteFile(file, x.Script()); err != nil {
			return err
		}
		other := *a
		b := &other
		b.Out = dir.Path(x.Name)
		if b.JSON { // one document for all experiments
			b.JSON, b.Stdout = false, io.Discard
		}
		if err := startAssembly(ctx, b, assemblyConfig{File: file}, false); err != nil {
			return err
		}
		pictures = append(pictures, dir.Path(x.Name, "plots", x.Picture+".svg"))
	}
	if a.JSON {
		return a.Document(map[string]any{"demo": "assembly", "folder": string(dir), "pictures": pictures})
	}
	a.Print(`
Look at     %s
            %s
            %s
Try next    euryale sim assembly %s --seed 2 --profile
            euryale plot raster %s
`, pictures[0], pictures[1], pictures[2], dir.Path("project.yaml"), dir.Path("project"))
	return nil
}
