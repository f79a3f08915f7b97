// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package scatter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/data/maskfile"
	"github.com/euryale-dev/euryale/internal/delimited"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
)

func init() {
	register("TIFF folder of SST-1", form{rank: 3, fits: func(name string, head []byte, folder bool) bool {
		return folder && (len(primaries(name)) > 0 || len(scans(name)) == 1)
	}, open: openSST1})
}

// pedestalSST1 is what the loader of SST-1 takes off every pixel.
const pedestalSST1 = 100

// primaries lists the images of a scan.
func primaries(folder string) []string {
	a, _ := filepath.Glob(filepath.Join(folder, "*primary*.tiff"))
	b, _ := filepath.Glob(filepath.Join(folder, "*primary*.tif"))
	return append(a, b...)
}

// scans lists the folders in a folder that hold the images of a scan.
func scans(folder string) (out []string) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if sub := filepath.Join(folder, e.Name()); e.IsDir() && len(primaries(sub)) > 0 {
			out = append(out, sub)
		}
	}
	return out
}

// sst1Columns are the columns of the table of a scan by what they give, the best first.
var sst1Columns = map[string][]string{
	"energy":       {"en_energy_setpoint", "en_energy", "en_monoen_setpoint", "en_monoen_readback"},
	"polarization": {"en_polarization_setpoint", "en_polarization"},
	"exposure":     {"RSoXS Shutter Opening Time (ms)", "Shutter Toggle"},
}

// openSST1 reads the folder of a scan: images whose names end in their row of the table, which is beside the folder or in it.
func openSST1(name string, s Settings) (*content, error) {
	files := primaries(name)
	if len(files) == 0 {
		name = scans(name)[0]
		files = primaries(name)
	}
	table, place, err := sst1Table(name)
	if err != nil {
		return nil, err
	}
	c := &content{attrs: map[string]string{}, units: map[string]string{}, pedestal: pedestalSST1}
	if err := c.sst1Header(name); err != nil {
		return nil, err
	}
	levels := map[string][]float64{}
	images, rows := make([]string, 0, len(files)), make([]int, 0, len(files))
	byNumber := map[int]string{}
	for _, f := range files {
		n, ok := lastNumber(filepath.Base(f))
		if !ok {
			return nil, defect(f, "keep the names that the beamline gives", "the name of the image has no number, which is its row in %s", place)
		}
		byNumber[n] = f
		rows = append(rows, n)
	}
	slices.Sort(rows)
	for _, n := range rows {
		images = append(images, byNumber[n])
		for what, columns := range sst1Columns {
			for _, column := range columns {
				x, ok := table[column]
				if !ok {
					continue
				}
				if n >= len(x) {
					return nil, defect(place, "copy the table again", "the image %s is that of row %d, and the table has %d rows", filepath.Base(byNumber[n]), n, len(x))
				}
				levels[what] = append(levels[what], x[n])
				if what == "exposure" && strings.HasSuffix(column, "(ms)") {
					c.units["exposure"] = "ms"
				}
				break
			}
		}
	}
	for what, x := range levels {
		v := inMemory(what, []string{"system"}, []int{len(x)}, false, x)
		if what == "exposure" {
			v.attrs["units"] = c.units["exposure"]
		}
		c.vars = append(c.vars, v)
	}
	c.notes = append(c.notes, lacking(rows, table, place)...)
	v, err := pictures("I", images)
	if err != nil {
		return nil, err
	}
	c.vars = append(c.vars, v)
	return c, nil
}

// lacking tells the rows of the table that have no image.
func lacking(rows []int, table map[string][]float64, place string) []string {
	n := 0
	for _, column := range table {
		n = max(n, len(column))
	}
	var without []string
	for i := range n {
		if !slices.Contains(rows, i) {
			without = append(without, strconv.Itoa(i))
		}
	}
	if without == nil || slices.Max(rows) >= n {
		return nil
	}
	return []string{fmt.Sprintf("%s has %s, and there is no image of row %s: were all images copied?", filepath.Base(place), count(n, "row"), errtext.Few(without, 6))}
}

var numbers = regexp.MustCompile(`\d+`)

func lastNumber(name string) (int, bool) {
	all := numbers.FindAllString(strings.TrimSuffix(name, filepath.Ext(name)), -1)
	if all == nil {
		return 0, false
	}
	n, err := strconv.Atoi(all[len(all)-1])
	return n, err == nil
}

// sst1Table reads the table of the images of a scan.
func sst1Table(folder string) (map[string][]float64, string, error) {
	id := filepath.Base(folder)
	var found []string
	for _, pattern := range []string{filepath.Join(filepath.Dir(folder), id+"*primary.csv"), filepath.Join(folder, "*primary.csv")} {
		m, _ := filepath.Glob(pattern)
		found = append(found, m...)
	}
	if len(found) == 0 {
		return nil, "", defect(folder, "copy it with the images", "there is no table %s*primary.csv beside the folder or in it, which has the energies and exposures", id)
	}
	f, err := foreign.Open(found[0])
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	out := map[string][]float64{}
	var names []string
	_, fault := delimited.Read(f, delimited.Table{Known: func(string) bool { return true }, Example: ",en_energy_setpoint",
		Header: func(line int, cells []string) bool { names = slices.Clone(cells); return true },
		Row: func(line int, cells []string) bool {
			for i, cell := range cells {
				x, err := delimited.Number(cell)
				if err == nil && i < len(names) {
					out[names[i]] = append(out[names[i]], x)
				}
			}
			return true
		}})
	if fault != nil {
		return nil, "", &FormatError{Format: "scatter", File: found[0], Line: fault.Line, What: fault.What, Try: fault.Try}
	}
	return out, found[0], nil
}

// sst1Header reads the JSON of a scan: one object, or a list whose second item it is.
func (c *content) sst1Header(folder string) error {
	a, _ := filepath.Glob(filepath.Join(folder, "*.json"))
	b, _ := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	for _, name := range append(a, b...) {
		text, err := foreign.ReadFile(name)
		if err != nil {
			return err
		}
		var any map[string]json.RawMessage
		var list []json.RawMessage
		if err := json.NewDecoder(bytes.NewReader(text)).Decode(&any); err != nil {
			if json.NewDecoder(bytes.NewReader(text)).Decode(&list) != nil || len(list) < 2 || json.Unmarshal(list[1], &any) != nil {
				return defect(name, "copy it again", "it is neither an object of JSON nor a list whose second item is one")
			}
		}
		for k, v := range any {
			c.attrs[k] = strings.Trim(string(v), `"`)
		}
	}
	detector := "SAXS"
	if strings.Contains(strings.ToUpper(c.attrs["RSoXS_Main_DET"]), "WAXS") {
		detector = "WAXS"
	}
	for _, d := range []string{"SAXS", "WAXS"} { // the other detector is not the one that took these images
		if d != detector {
			delete(c.attrs, "RSoXS_"+d+"_BCX")
			delete(c.attrs, "RSoXS_"+d+"_BCY")
			delete(c.attrs, "RSoXS_"+d+"_SDD")
		}
	}
	c.attrs["pixel1"], c.attrs["pixel2"] = "6e-05", "6e-05" // m, the cameras of the beamline
	return nil
}

// pictures is a variable of one image for each file, of which one at a time is in memory.
func pictures(name string, files []string) (*variable, error) {
	first, err := maskfile.ReadImage(files[0], maskfile.Settings{})
	if err != nil {
		return nil, err
	}
	v := &variable{name: name, dims: []string{"system", "pix_y", "pix_x"}, shape: []int{len(files), first.Height, first.Width}, attrs: map[string]string{}, whole: true}
	v.blocks = func(need func(offset, shape []int) bool, visit func(offset, shape []int, x []float64) error) error {
		for i, file := range files {
			offset, shape := []int{i, 0, 0}, []int{1, first.Height, first.Width}
			if !need(offset, shape) {
				continue
			}
			im, err := maskfile.ReadImage(file, maskfile.Settings{})
			if err != nil {
				return fmt.Errorf("scatter: %w", err)
			}
			if im.Height != first.Height || im.Width != first.Width {
				return defect(file, "keep the images of other detectors in another folder", "it has %d x %d pixels, and %s %d x %d", im.Height, im.Width, filepath.Base(files[0]), first.Height, first.Width)
			}
			if err := visit(offset, shape, im.Values); err != nil {
				return err
			}
		}
		return nil
	}
	return v, nil
}
