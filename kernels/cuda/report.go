// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"slices"
)

// timing collects the times of one kind of work, in ms.
type timing struct {
	n                int
	sum, least, most float64
	host             float64   // of the callers
	bytes            int       // of copies
	sample           []float64 // the last 1024, for quantiles
}

func timingOf(m map[string]*timing, name string) *timing {
	if m[name] == nil {
		m[name] = &timing{}
	}
	return m[name]
}

func (t *timing) add(ms float64, bytes int, host float64) {
	const keep = 1024
	if t.n == 0 || ms < t.least {
		t.least = ms
	}
	t.most = max(t.most, ms)
	if len(t.sample) < keep {
		t.sample = append(t.sample, ms)
	} else {
		t.sample[t.n%keep] = ms
	}
	t.n++
	t.sum += ms
	t.host += host
	t.bytes += bytes
}

func (t *timing) quantile(q float64) float64 {
	s := slices.Sorted(slices.Values(t.sample))
	return s[min(len(s)-1, int(q*float64(len(s))))]
}

// transferKey names transfers by direction and bytes. Once 64 sizes are known, further ones are
// counted under the next power of two.
func transferKey(direction string, bytes int, known map[string]*timing) string {
	key := fmt.Sprintf("%s_%d", direction, bytes)
	if known[key] != nil || len(known) < 64 || bytes == 0 {
		return key
	}
	return fmt.Sprintf("%s_%d", direction, uint64(1)<<bits.Len64(uint64(bytes)-1))
}

// KernelTime holds the times of the launches of one kernel, or of the transfers of one size.
type KernelTime struct {
	Average    float64 `json:"average_ms"`
	Min        float64 `json:"min_ms"`
	Max        float64 `json:"max_ms"`
	Executions int     `json:"total_executions,omitempty"`
	Transfers  int     `json:"total_transfers,omitempty"`
}

// Detail holds further numbers about a kernel or a transfer.
type Detail struct {
	Median      float64 `json:"p50_ms"`
	P95         float64 `json:"p95_ms"`
	Total       float64 `json:"total_ms"`
	Host        float64 `json:"host_ms"` // time that callers spent per call, in ms, on average
	Bytes       int     `json:"bytes,omitempty"`
	GBPerSecond float64 `json:"gb_per_s,omitempty"`
}

// Extended is the part of a report that older readers do not know.
type Extended struct {
	Kernels      map[string]Detail `json:"kernels"`
	Transfers    map[string]Detail `json:"transfers"`
	CacheHits    int64             `json:"compile_cache_hits"`
	Compiled     int64             `json:"compiled_programs"`
	CompileTime  float64           `json:"compile_s"`
	Compiler     string            `json:"compiler"`
	Driver       string            `json:"driver"`
	TraceDropped int               `json:"trace_events_dropped"`
}

// Report says what a device has done since it was opened: how its memory was used and, if it was
// opened with Profile, how long launches and transfers took.
type Report struct {
	Available bool                  `json:"cuda_available"`
	Devices   int                   `json:"devices"`
	Current   int                   `json:"current_device"`
	Kernels   map[string]KernelTime `json:"kernel_execution_times"`
	Transfers map[string]KernelTime `json:"memory_transfer_times"`
	Compiles  map[string]float64    `json:"compilation_times"` // time of the last compilation of each program, in ms
	Memory    map[string]Stats      `json:"memory_pool_stats"`
	Info      []Info                `json:"device_info"`
	Version   int                   `json:"version"` // version of this format
	Extended  Extended              `json:"extended"`
}

// Report returns what the device has done so far. Work that has not finished is not included; call
// Synchronize before.
func (d *Device) Report() (*Report, error) {
	infos, err := d.sys.devices()
	if err != nil {
		return nil, err
	}
	r := &Report{Available: true, Devices: len(infos), Current: d.ordinal, Kernels: map[string]KernelTime{}, Transfers: map[string]KernelTime{},
		Compiles: map[string]float64{}, Info: infos, Version: 1}
	r.Memory = map[string]Stats{fmt.Sprint(d.ordinal): d.Stats()}
	r.Extended = Extended{Kernels: map[string]Detail{}, Transfers: map[string]Detail{}, Driver: d.drv.Path()}
	if c, err := d.Compiler(); err == nil {
		st := c.Stats()
		r.Extended.CacheHits, r.Extended.Compiled, r.Extended.CompileTime, r.Extended.Compiler = st.CacheHits, st.Compiled, st.CompileTime, c.Path()
	}
	p := d.profile
	if p == nil {
		return r, nil
	}
	return r, d.do(func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.resolve()
		for name, t := range p.kernels {
			r.Kernels[name] = KernelTime{Average: t.sum / float64(t.n), Min: t.least, Max: t.most, Executions: t.n}
			r.Extended.Kernels[name] = t.detail()
		}
		for name, t := range p.copies {
			r.Transfers[name] = KernelTime{Average: t.sum / float64(t.n), Min: t.least, Max: t.most, Transfers: t.n}
			r.Extended.Transfers[name] = t.detail()
		}
		for name, t := range p.compiles {
			r.Compiles[name] = t.sample[(t.n-1)%len(t.sample)]
		}
		r.Extended.TraceDropped = p.dropped
		return nil
	})
}

func (t *timing) detail() Detail {
	d := Detail{Median: t.quantile(0.5), P95: t.quantile(0.95), Total: t.sum, Host: t.host / float64(t.n), Bytes: t.bytes}
	if t.sum > 0 {
		d.GBPerSecond = float64(t.bytes) / t.sum / 1e6
	}
	return d
}

// WriteTo writes the report as indented JSON.
func (r *Report) WriteTo(w io.Writer) (int64, error) {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return 0, err
	}
	n, err := w.Write(append(b, '\n'))
	return int64(n), err
}

// traceEvent is a piece of work on a line of a trace.
type traceEvent struct {
	Name, Category string
	Begin, Took    float64 // us
	Thread         string
	Bytes          int
}

// WriteTrace writes the work that was timed as a trace that Chrome's about:tracing and Perfetto
// show: one row for each stream, with times in us. Compilations have a row of their own, on the
// clock of the host.
func (d *Device) WriteTrace(w io.Writer) error {
	type event struct {
		Name     string         `json:"name"`
		Category string         `json:"cat"`
		Phase    string         `json:"ph"`
		Begin    float64        `json:"ts"`
		Took     float64        `json:"dur"`
		Process  int            `json:"pid"`
		Thread   string         `json:"tid"`
		Args     map[string]int `json:"args,omitempty"`
	}
	out := struct {
		Events []event `json:"traceEvents"`
		Unit   string  `json:"displayTimeUnit"`
	}{Events: []event{}, Unit: "ms"}
	if p := d.profile; p != nil {
		err := d.do(func() error {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.resolve()
			for _, e := range p.trace {
				v := event{Name: e.Name, Category: e.Category, Phase: "X", Begin: e.Begin, Took: e.Took, Process: d.ordinal, Thread: e.Thread}
				if e.Bytes > 0 {
					v.Args = map[string]int{"bytes": e.Bytes}
				}
				out.Events = append(out.Events, v)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return json.NewEncoder(w).Encode(out)
}
