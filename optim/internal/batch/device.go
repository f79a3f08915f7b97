// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
	"github.com/euryale-dev/euryale/optim/internal/marquardt"
)

//go:embed lanes.cu
var lanesText string

const (
	// ill is the status of a row whose normal equations have lost the digits that a step needs, or that takes more than
	// mostOnDevice evaluations. The processor fits it from its start.
	ill          = -50
	mostOnDevice = 40
	// leastOnDevice is the least pivot of scaled normal equations with which parameters and covariances of a device
	// agree with the processor's to 1e-8: rounding grows by its inverse.
	leastOnDevice = 1e-6
	// between is the number of steps after which the processor asks how many rows have ended.
	between = 4
)

// Device fits rows in the lanes of a program on a device, where data, steps and results stay until a row has ended.
type Device struct {
	model    *Model
	rows     *Rows
	settings *Settings
	d        *cuda.Device
	s        *cuda.Stream
	lanes    int
	size     int // numbers of the data of a row
	chunk    int // rows that are on the device at a time
	robust   bool

	state            *ad.State
	gram, step, fill *cuda.Function
	outputs          *cuda.Buffer // addresses of the program's outputs
	data, params     *cuda.Buffer // what lanes hold
	sums             *cuda.Buffer // Gram matrices
	memory, counts   *cuda.Buffer // states of lanes
	limits, counters *cuda.Buffer
	source, starts   *cuda.Buffer // rows of a chunk
	records          *cuda.Buffer

	// processor has the workers that check rows and finish fits, one for each thread.
	processor []*Worker
	packed    []float64 // data of a chunk
	begun     []float64 // starts of a chunk
	left      int       // rows that the processor has fitted
	places    []int     // rows of a chunk
	points    []int     // of these
	results   []float64
}

// Plan says how many lanes and rows of a problem a device has room for.
type Plan struct {
	Lanes, Chunk int
	// Bytes is what they take.
	Bytes int
}

// PlanFor plans the fits of rows of a model within so many bytes; 0 sets no bound.
func PlanFor(b *Model, rows int, weighted, robust bool, room int) Plan {
	size, n := b.dataSize(weighted), b.N
	lane := 8 * (size + (n+1)*b.M*3 + 6*n + 2*n*n + 40) // three times what the program puts out, for what lies between
	if robust {
		lane += 8 * 4 * b.M
	}
	row := 8 * (size + n + recordSize(n))
	p := Plan{Lanes: mostLanes}
	for p.Lanes > 32 && p.Lanes/2 >= rows {
		p.Lanes /= 2
	}
	for p.Lanes > 32 && room > 0 && p.Lanes*lane > room/2 {
		p.Lanes /= 2
	}
	p.Chunk = max(1, min(rows, 1<<17))
	if room > 0 {
		p.Chunk = max(1, min(p.Chunk, (room-min(room, p.Lanes*lane))/row))
	}
	p.Bytes = p.Lanes*lane + p.Chunk*row
	return p
}

// mostLanes is the most lanes of a program on a device: 64 points of each make a million numbers, which is several times what runs at
// once on a large one.
const mostLanes = 1 << 14

// dataSize is the number of numbers in the data of a row.
func (b *Model) dataSize(weighted bool) (n int) {
	for _, c := range b.Columns {
		n += c.Size()
	}
	if weighted {
		n += b.M
	}
	return n
}

// recordSize is the number of numbers that a row comes to, as lanes.cu has them.
func recordSize(n int) int { return 3*n + n*(n+1)/2 + 4 }

// NewDevice returns what fits rows on a device by a program of as many lanes as the plan has. plain is the program of
// the processor without the loss, whose workers finish the fits; refit is that with it.
func NewDevice(d *cuda.Device, b *Model, prog, refit, plain *ad.Program, rows *Rows, s *Settings, res *Fits, p Plan, threads int) (*Device, error) {
	v := &Device{model: b, rows: rows, settings: s, d: d, s: d.Default(), lanes: p.Lanes, chunk: p.Chunk, size: b.dataSize(rows.Weights != nil), robust: plain != nil}
	for range threads {
		v.processor = append(v.processor, NewWorker(b, refit, plain, rows, s, res))
	}
	if err := v.compile(); err != nil {
		return nil, err
	}
	if err := v.allocate(); err != nil {
		v.Close()
		return nil, err
	}
	if err := v.bind(prog.NewState()); err != nil {
		v.Close()
		return nil, err
	}
	return v, nil
}

// compile makes the kernels.
func (v *Device) compile() error {
	robust, bounded := 0, 0
	if v.robust {
		robust = 1
	}
	if v.rows.Lower != nil {
		bounded = 1
	}
	head := fmt.Sprintf("#define N %d\n#define M %d\n#define L %d\n#define S %d\n#define ROBUST %d\n#define BOUNDED %d\n", v.model.N, v.model.M, v.lanes, v.size, robust, bounded)
	m, err := v.d.Compile(rtc.Source{Name: "lanes.cu", Text: head + lanesText})
	if err != nil {
		return fmt.Errorf("optim: batch: %w", err)
	}
	for name, to := range map[string]**cuda.Function{"fit_gram": &v.gram, "fit_step": &v.step, "fit_fill": &v.fill} {
		if *to, err = m.Function(name); err != nil {
			return fmt.Errorf("optim: batch: %w", err)
		}
	}
	return nil
}

// allocate takes the memory of the device.
func (v *Device) allocate() error {
	n, l := v.model.N, v.lanes
	outputs := n + 1
	products := (n + 1) * (n + 2) / 2
	if v.robust {
		outputs, products = outputs+1, products+1
	}
	for _, a := range []struct {
		to     **cuda.Buffer
		number int
	}{{&v.outputs, outputs}, {&v.data, v.size * l}, {&v.params, n * l}, {&v.sums, products * l}, {&v.memory, (4*n + n*(n+1)/2 + 9) * l}, {&v.counts, 3 * l},
		{&v.limits, 9 + 2*n}, {&v.counters, 1}, {&v.source, v.size * v.chunk}, {&v.starts, n * v.chunk}, {&v.records, recordSize(n) * v.chunk}} {
		var err error
		if *a.to, err = v.s.AllocTagged(8*a.number, "fits"); err != nil {
			return fmt.Errorf("optim: batch: %d rows in %d lanes: %w", v.chunk, v.lanes, err)
		}
	}
	ctx := context.Background()
	return errors.Join(v.s.CopyIn(ctx, v.limits, 0, v.limitsBytes()), v.s.Fill(v.data, 0, 8*v.size*l, 0), v.s.Fill(v.params, 0, 8*n*l, 0), v.s.Fill(v.memory, 0, v.memory.Size(), 0))
}

// limitsBytes are the settings in the layout of lanes.cu.
func (v *Device) limitsBytes() []byte {
	s := v.settings
	var out []byte
	number := func(list ...float64) {
		for _, x := range list {
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(x))
		}
	}
	whole := func(list ...int) {
		for _, x := range list {
			out = binary.LittleEndian.AppendUint32(out, uint32(int32(x)))
		}
	}
	number(s.LossScale, s.FTol, s.XTol, s.GTol, s.FirstStep)
	polish := 0
	if s.NoPolish {
		polish = 1
	}
	whole(min(s.MaxEvaluations, mostOnDevice), polish, s.MaxEvaluations, 0)
	for k := range v.model.N {
		if v.rows.Lower == nil {
			number(math.Inf(-1))
		} else {
			number(v.rows.Lower[k])
		}
	}
	for k := range v.model.N {
		if v.rows.Upper == nil {
			number(math.Inf(1))
		} else {
			number(v.rows.Upper[k])
		}
	}
	return out
}

// bind lets the program read what lanes hold, and tells the kernels where it writes.
func (v *Device) bind(state *ad.State) error {
	v.state = state
	input := 0
	bind := func(b *cuda.Buffer, at *int, size int) error {
		err := state.BindDevice(input, b.At(*at))
		*at += 8 * size * v.lanes
		input++
		return err
	}
	at := 0
	for _, x := range v.model.Params {
		if err := bind(v.params, &at, x.Size()); err != nil {
			return fmt.Errorf("optim: batch: %w", err)
		}
	}
	at = 0
	for _, x := range v.model.Columns {
		if err := bind(v.data, &at, x.Size()); err != nil {
			return fmt.Errorf("optim: batch: %w", err)
		}
	}
	if v.rows.Weights != nil {
		if err := bind(v.data, &at, v.model.M); err != nil {
			return fmt.Errorf("optim: batch: %w", err)
		}
	}
	var addresses []uint64
	for i := range v.outputs.Size() / 8 {
		to, err := state.OutputDevice(i)
		if err != nil {
			return fmt.Errorf("optim: batch: %w", err)
		}
		addresses = append(addresses, uint64(to.Buffer.Uintptr())+uint64(to.Offset))
	}
	return v.s.CopyIn(context.Background(), v.outputs, 0, addresses)
}

// Left returns the number of rows that were left to the processor.
func (v *Device) Left() int { return v.left }

// Close gives the memory of the device back.
func (v *Device) Close() {
	for _, b := range []*cuda.Buffer{v.outputs, v.data, v.params, v.sums, v.memory, v.counts, v.limits, v.counters, v.source, v.starts, v.records} {
		if b != nil {
			b.Free()
		}
	}
}

// Work fits chunks of rows until next, which counts the rows taken, has passed all of them. It calls tell with the
// number of rows finished since the last call, and returns early, without an error, where ctx ends it.
func (v *Device) Work(ctx context.Context, next *atomic.Int64, tell func(rows int)) error {
	for ctx.Err() == nil {
		from := int(next.Add(int64(v.chunk))) - v.chunk
		if from >= v.rows.Count {
			return nil
		}
		to := min(from+v.chunk, v.rows.Count)
		v.pack(from, to)
		if len(v.places) > 0 {
			if err := v.fit(ctx); err != nil {
				return fmt.Errorf("optim: batch: rows %d to %d: %w", from, to-1, err)
			}
		}
		again := v.store()
		v.left += len(again)
		if err := v.refit(ctx, again); err != nil {
			return err
		}
		tell(to - from)
	}
	return nil
}

// pack collects the data and the starts of the rows that can be fitted.
func (v *Device) pack(from, to int) {
	n, count := v.model.N, to-from
	if len(v.packed) < v.size*count {
		v.packed, v.begun = make([]float64, v.size*count), make([]float64, n*count)
		v.results = make([]float64, recordSize(n)*count)
	}
	points := make([]int, count)
	parallel.Do(len(v.processor), (count+Claim-1)/Claim, func(t, part int) {
		w := v.processor[t]
		columns := make([][]float64, len(v.model.Columns))
		for i := part * Claim; i < min((part+1)*Claim, count); i++ {
			row, data := from+i, v.packed[i*v.size:(i+1)*v.size]
			for k, c := range v.model.Columns {
				columns[k], data = data[:c.Size()], data[c.Size():]
			}
			var weights []float64
			if v.rows.Weights != nil {
				weights = data
			}
			lane := &w.lanes[0]
			var err error
			if points[i], err = v.rows.fill(v.model, row, 0, 1, columns, weights); err == nil {
				err = w.begin(lane, row)
			}
			if err != nil {
				points[i] = -1
				w.fits.Fail(row, lane.x, err)
				continue
			}
			copy(v.begun[i*n:(i+1)*n], lane.x)
		}
	})
	v.places, v.points = v.places[:0], v.points[:0]
	for i, p := range points {
		if p < 0 {
			continue
		}
		k := len(v.places)
		if k < i {
			copy(v.packed[k*v.size:(k+1)*v.size], v.packed[i*v.size:])
			copy(v.begun[k*n:(k+1)*n], v.begun[i*n:(i+1)*n])
		}
		v.places, v.points = append(v.places, from+i), append(v.points, p)
	}
}

// fit fits the rows of a chunk and fetches what they come to.
func (v *Device) fit(ctx context.Context) error {
	always, count := context.Background(), len(v.places)
	fresh := make([]int32, v.lanes)
	for l := range fresh {
		if fresh[l] = int32(l); l >= count {
			fresh[l] = -2 - int32(l%count)
		}
	}
	phases := make([]int32, 6*v.lanes)
	copy(phases[5*v.lanes:], fresh)
	err := errors.Join(v.s.CopyIn(always, v.source, 0, v.packed[:v.size*count]), v.s.CopyIn(always, v.starts, 0, v.begun[:v.model.N*count]),
		v.s.CopyIn(always, v.counts, 0, phases), v.s.CopyIn(always, v.counters, 0, []int32{int32(min(v.lanes, count)), 0}),
		v.s.CopyIn(always, v.limits, 8*5+2*4, []int32{int32(count)}),
		v.s.Fill(v.records, 0, 8*recordSize(v.model.N)*count, 0xff)) // NaN
	if err != nil {
		return err
	}
	ended := make([]int32, 2)
	for {
		if err := v.fill.Launch(v.s, cuda.Dim{X: (v.lanes + 7) / 8}, cuda.Dim{X: 32, Y: 8}, 0, v.counts, v.data, v.params, v.source, v.starts); err != nil {
			return err
		}
		for range between {
			if err := v.advance(); err != nil {
				return err
			}
		}
		if err := v.s.CopyOut(always, ended, v.counters, 0); err != nil {
			return err
		}
		if int(ended[1]) >= count || ctx.Err() != nil {
			break
		}
	}
	return v.s.CopyOut(always, v.results[:recordSize(v.model.N)*count], v.records, 0)
}

// advance makes one step of all lanes.
func (v *Device) advance() error {
	if err := v.state.Run(); err != nil {
		return err
	}
	grid := cuda.Dim{X: v.lanes / 32}
	if n := v.model.N; n > 6 { // a block for each row of the triangle
		if grid.Y = n + 1; v.robust {
			grid.Y++
		}
	}
	return errors.Join(v.gram.Launch(v.s, grid, cuda.Dim{X: 32, Y: 8}, 0, v.outputs, v.sums),
		v.step.Launch(v.s, cuda.Blocks(v.lanes, 64), cuda.Dim{X: 64}, 0, v.memory, v.counts, v.params, v.sums, v.limits, v.records, v.counters),
		v.fill.Launch(v.s, cuda.Dim{X: (v.lanes + 7) / 8}, cuda.Dim{X: 32, Y: 8}, 0, v.counts, v.data, v.params, v.source, v.starts))
}

// store writes the fits of a chunk and returns the rows that the processor has to fit. Rows that have not ended keep
// their status.
func (v *Device) store() (again []int) {
	bad := make([]bool, len(v.places))
	parallel.Do(len(v.processor), (len(v.places)+Claim-1)/Claim, func(t, part int) {
		w := v.processor[t]
		for i := part * Claim; i < min((part+1)*Claim, len(v.places)); i++ {
			bad[i] = !w.take(v.places[i], v.points[i], v.results[i*recordSize(v.model.N):])
		}
		w.finishPending()
	})
	for i, b := range bad {
		if b {
			again = append(again, v.places[i])
		}
	}
	return again
}

// take stores a row from its record, and reports false for one that the processor has to fit.
func (c *Worker) take(row, points int, record []float64) bool {
	n := c.model.N
	v := &c.lanes[0]
	v.reset(row, points)
	v.busy = false
	rest := record[3*n+n*(n+1)/2:]
	switch status := rest[2]; {
	case math.IsNaN(status): // interrupted
		return true
	case status == ill:
		return false
	case status == float64(marquardt.Failed):
		copy(v.x, record[:n])
		return false // for the processor to say why
	default:
		v.status = marquardt.Status(status)
	}
	copy(v.x, record)
	copy(v.g, record[n:])
	copy(v.scale, record[2*n:])
	at := 3 * n
	for i := range n {
		for j := range i + 1 {
			v.h[i*n+j], v.h[j*n+i] = record[at], record[at]
			at++
		}
	}
	v.cost, v.size, v.nfev = rest[0], rest[1], int(rest[3])
	if v.status == marquardt.MaxEvaluations && c.settings.MaxEvaluations > v.nfev {
		return false
	}
	for k := range n {
		v.free[k] = true
	}
	if c.solver.factor(v, 0); c.solver.smallestPivot < leastOnDevice {
		return false
	}
	for k := range n {
		v.column[k] = math.Sqrt(v.h[k*n+k])
	}
	if v.status.Converged() && c.solver.ahead(v) > 10*c.settings.FTol {
		return false // for the processor to begin again from there
	}
	c.store(v)
	return true
}

// refit fits some rows on the processor.
func (v *Device) refit(ctx context.Context, rows []int) error {
	if len(rows) == 0 {
		return nil
	}
	var next atomic.Int64
	faults := make([]error, len(v.processor))
	parallel.Do(len(v.processor), len(v.processor), func(_, t int) {
		w := v.processor[t]
		w.Only(rows)
		faults[t] = w.Work(ctx, &next, func(int) {})
	})
	return errors.Join(faults...)
}
