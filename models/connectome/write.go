// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"bytes"
	"io"

	"github.com/euryale-dev/euryale/tensor"
)

// WriteNPZ writes the synapses of every fibre with the parameters x as an NPZ file, in
// compressed sparse rows: FIBRE/indptr, FIBRE/indices and FIBRE/data.
func (c *Circuit) WriteNPZ(out io.Writer, x []float64) error {
	trained, err := c.Read(x)
	if err != nil {
		return err
	}
	arrays := map[string]*tensor.Tensor{}
	for _, f := range c.Fibres {
		starts := make([]int64, len(f.Edges.Start))
		for i, s := range f.Edges.Start {
			starts[i] = int64(s)
		}
		for part, data := range map[string]any{"indptr": starts, "indices": f.Edges.To, "data": trained[f.Name()].Weight} {
			if arrays[f.Name()+"/"+part], err = tensor.From(data); err != nil {
				return err
			}
		}
	}
	var b bytes.Buffer // so that nothing is written of what is wrong
	if err := tensor.WriteNPZ(&b, arrays); err != nil {
		return err
	}
	_, err = out.Write(b.Bytes())
	return err
}
