// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// Fit is the result of least squares, in the form in which it is written to files. Errors that are not
// known are NaN.
type Fit struct {
	Model   Model
	Q       float64   // value of q in 1/angstrom
	Phi     []float64 // azimuths in degrees
	Times   []float64 // times of the frames in s
	Names   []string  // names of the parameters of the motion
	Values  []float64
	Errors  []float64 // standard deviations
	Scaling Scaling

	// Contrast and Offset are given for each angle, with their standard deviations, which may be nil.
	Contrast, ContrastErrors, Offset, OffsetErrors []float64

	ChiSquared float64
	Points     int // number of pairs of frames, each counted once
	Free       int // number of fitted parameters, including those of contrast and offset
	Status     string
	Converged  bool
	Iterations int
	Seconds    float64
	Quality    string // rating of the fit: good, acceptable or poor; "" if it was not judged
	// Window reports whether times count from the first frame that was used.
	Window bool
	// Customary reports whether the numbers follow the convention of homodyne, including shear rates.
	Customary bool
	Notes     []string
	Software  string // name and version of the program
	When      time.Time
	Device    string // device that did the sums over the pairs: cpu, or a GPU; default cpu

	// Data holds a map of the data for each angle, (frames, frames) and row-major; Shape, Curve and
	// Sigma do so for g from 0 to 1, for the model offset + contrast g, and for the standard deviations
	// of the data. If Sigma is nil, those of the residuals are used.
	Data, Shape, Curve, Sigma [][]float64
}

// Write writes a folder with parameters.json, analysis_results_nlsq.json, convergence_metrics.json and,
// if there are maps, fitted_data.npz, under the keys that homodyne uses. An existing folder is an error
// that wraps fs.ErrExist, unless overwrite is set and the folder holds such results.
func (f *Fit) Write(folder string, overwrite bool) error {
	if err := f.check(); err != nil {
		return err
	}
	return writeFolder(folder, overwrite, func(dir string) error {
		for name, doc := range map[string]any{"parameters.json": f.parameters(), "analysis_results_nlsq.json": f.analysis(), "convergence_metrics.json": f.convergence()} {
			if err := writeJSON(filepath.Join(dir, name), doc); err != nil {
				return err
			}
		}
		if f.Data == nil {
			return nil
		}
		return f.maps(filepath.Join(dir, "fitted_data.npz"))
	})
}

// writeFolder makes a folder of results, and those above it.
func writeFolder(folder string, overwrite bool, f func(dir string) error) error {
	if err := os.MkdirAll(filepath.Dir(folder), 0o777); err != nil {
		return err
	}
	return atomicfile.Folder(folder, overwrite, ours, f)
}

// ours reports whether a folder has results.
func ours(name string) bool {
	_, err := os.Stat(filepath.Join(name, "parameters.json"))
	return err == nil
}

func (f *Fit) check() error {
	n, angles := len(f.Times), len(f.Phi)
	for _, l := range []struct {
		name   string
		got    int
		want   int
		absent bool
	}{{"values", len(f.Values), len(f.Names), false}, {"errors", len(f.Errors), len(f.Names), false}, {"contrasts", len(f.Contrast), angles, false},
		{"offsets", len(f.Offset), angles, false}, {"errors of contrast", len(f.ContrastErrors), angles, true}, {"errors of offset", len(f.OffsetErrors), angles, true},
		{"maps of data", len(f.Data), angles, true}, {"maps of g", len(f.Shape), len(f.Data), false}, {"maps of the model", len(f.Curve), len(f.Data), false},
		{"maps of sigma", len(f.Sigma), len(f.Data), true}} {
		if l.got != l.want && !(l.absent && l.got == 0) {
			return fmt.Errorf("homodyne: the result has %d %s: want %d", l.got, l.name, l.want)
		}
	}
	for _, maps := range [][][]float64{f.Data, f.Shape, f.Curve, f.Sigma} {
		for _, m := range maps {
			if len(m) != n*n {
				return fmt.Errorf("homodyne: the result has a map of %d numbers: want %d x %d", len(m), n, n)
			}
		}
	}
	return nil
}

// number is a number in JSON: null where it is none.
func number(v float64) any {
	switch {
	case math.IsNaN(v):
		return nil
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	return v
}

// at returns an element, or NaN if there is none.
func at(v []float64, i int) float64 {
	if i < len(v) {
		return v[i]
	}
	return math.NaN()
}

type object = map[string]any

// value is a number with its standard deviation if that is known: homodyne does not read a null.
func value(v, sd float64) object {
	if !linalg.Finite(sd) {
		return object{"value": number(v)}
	}
	return object{"value": number(v), "uncertainty": sd}
}

// mean returns the mean of numbers and the standard deviation of that mean, if they are independent.
func mean(v, sd []float64) (m, s float64) {
	for i := range v {
		m += v[i] / float64(len(v))
		e := at(sd, i) / float64(len(v))
		s += e * e
	}
	return m, math.Sqrt(s)
}

func (f *Fit) reduced() float64 { return f.ChiSquared / float64(f.Points-f.Free) }

func (f *Fit) when() string {
	t := f.When
	if t.IsZero() {
		t = time.Now()
	}
	return t.Format("2006-01-02T15:04:05.000000")
}

func (f *Fit) status() string {
	if f.Converged {
		return "converged"
	}
	return f.Status
}

func (f *Fit) shear() string {
	if f.Customary {
		return "homodyne"
	}
	return "physical"
}

// origin says what times count from, as the key time_origin of configurations does.
func origin(window bool) string {
	if window {
		return "window"
	}
	return "experiment"
}

func (f *Fit) parameters() object {
	all := object{"contrast": value(mean(f.Contrast, f.ContrastErrors)), "offset": value(mean(f.Offset, f.OffsetErrors))}
	for i, n := range f.Names {
		all[n] = value(f.Values[i], f.Errors[i])
	}
	angles := []object{}
	for i, phi := range f.Phi {
		angles = append(angles, object{"phi": number(phi), "contrast": value(f.Contrast[i], at(f.ContrastErrors, i)), "offset": value(f.Offset[i], at(f.OffsetErrors, i))})
	}
	return object{"timestamp": f.when(), "analysis_mode": f.Model, "chi_squared": number(f.ChiSquared), "reduced_chi_squared": number(f.reduced()),
		"convergence_status": f.status(), "parameters": all, "per_angle": angles, "per_angle_mode": f.Scaling, "parameter_order": f.Names,
		"shear_convention": f.shear(), "time_origin": origin(f.Window), "D0_convention": "transport coefficient: twice the diffusion coefficient of Stokes and Einstein", "software": f.Software}
}

func (f *Fit) analysis() object {
	return object{"method": "nlsq", "timestamp": f.when(), "analysis_mode": f.Model, "software": f.Software,
		"fit_quality": object{"chi_squared": number(f.ChiSquared), "reduced_chi_squared": number(f.reduced()), "degrees_of_freedom": f.Points - f.Free, "quality_flag": f.Quality},
		"dataset_info": object{"n_angles": len(f.Phi), "n_time_points": len(f.Times) * len(f.Times), "n_frames": len(f.Times), "total_data_points": f.Points,
			"pairs_counted": "once, without the diagonal", "q_value": number(f.Q)},
		"optimization_summary": object{"convergence_status": f.status(), "iterations": f.Iterations, "execution_time": number(f.Seconds)}, "notes": notes(f.Notes)}
}

func (f *Fit) convergence() object {
	return object{"convergence": object{"status": f.status(), "message": f.Status, "iterations": f.Iterations, "execution_time": number(f.Seconds), "final_chi_squared": number(f.ChiSquared)},
		"recovery_actions": []string{}, "quality_flag": f.Quality, "device_info": object{"device": cmp.Or(f.Device, "cpu")}}
}

// notes is never null in JSON.
func notes(list []string) []string { return append([]string{}, list...) }

// maps writes the maps.
func (f *Fit) maps(name string) error {
	z, err := createNPZ(name)
	if err != nil {
		return err
	}
	defer z.discard()
	n, angles := len(f.Times), len(f.Phi)
	scaling := make([]float64, 0, 2*angles)
	for i := range f.Phi {
		scaling = append(scaling, f.Contrast[i], f.Offset[i])
	}
	z.floats("phi_angles", f.Phi, angles)
	z.cube("c2_exp", f.Data, n)
	z.cube("c2_theoretical_raw", f.Shape, n)
	z.cube("c2_theoretical_scaled", f.Curve, n)
	z.floats("per_angle_scaling", scaling, angles, 2)
	z.floats("per_angle_scaling_solver", scaling, angles, 2)
	z.residuals("residuals", f.Data, f.Curve, n, nil)
	z.residuals("residuals_normalized", f.Data, f.Curve, n, f.sigma)
	z.floats("t1", f.Times, n)
	z.floats("t2", f.Times, n)
	z.floats("q", []float64{f.Q}, 1)
	return z.close()
}

// sigma divides residuals of an angle by the standard deviations of the data, or by their own.
func (f *Fit) sigma(k int, residuals []float64) {
	if f.Sigma != nil {
		for i := range residuals {
			residuals[i] /= f.Sigma[k][i]
		}
		return
	}
	sum, count, n := 0.0, 0.0, len(f.Times)
	for i := range n {
		for _, v := range residuals[i*n+i+1 : (i+1)*n] {
			if linalg.Finite(v) {
				sum += v * v
				count++
			}
		}
	}
	for i := range residuals {
		residuals[i] /= math.Sqrt(sum / count)
	}
}

// residuals writes data minus curves, after a change of each matrix.
func (z *npzWriter) residuals(name string, data, curves [][]float64, n int, change func(k int, residuals []float64)) {
	w := z.array(name, "<f8", []int{len(data), n, n})
	r := make([]float64, n*n)
	for k := range data {
		for i := range r {
			r[i] = data[k][i] - curves[k][i]
		}
		if change != nil {
			change(k, r)
		}
		z.put(w, r)
	}
}

func writeJSON(name string, doc any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(doc); err != nil {
		return err
	}
	return atomicfile.WriteBytes(name, b.Bytes())
}
