package optim

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// batchWorker fits rows in the lanes of one goroutine.
type batchWorker struct {
	b     *Batch
	rows  *Rows
	s     *BatchSettings
	res   *BatchResult
	state *ad.State
	plain *ad.State // the program without the loss; nil for least squares

	params  []float64   // n x lanes
	columns [][]float64 // of rows, element by lane
	weights []float64
	out     [][]float64 // outputs of state
	lane    [lanes]lane
	step    *stepper
	own     [][]float64 // columns of one row
	late    []int       // rows whose errors wait for plain
	after   []lane      // for them
}

func newBatchWorker(b *Batch, prog, plain *ad.Program, rows *Rows, s *BatchSettings, res *BatchResult) *batchWorker {
	c := &batchWorker{b: b, rows: rows, s: s, res: res, state: prog.NewState(), step: newStepper(b.m, b.n, s, rows)}
	c.params, c.columns, c.weights = b.inputs(c.state, rows)
	for i := range prog.Outputs() {
		c.out = append(c.out, c.state.Output(i))
	}
	if plain != nil {
		c.plain = plain.NewState()
	}
	c.own = make([][]float64, len(c.columns))
	mem := linalg.NewArena(2 * lanes * laneFloats(b.n))
	for l := range c.lane {
		c.lane[l] = newLane(b.n, mem)
		c.after = append(c.after, newLane(b.n, mem))
	}
	return c
}

// inputs returns the memory of parameters, columns and weights of a state.
func (b *Batch) inputs(s *ad.State, rows *Rows) (params []float64, columns [][]float64, weights []float64) {
	k := len(b.params)
	params = s.InputSpan(0, k)
	for i := range b.columns {
		columns = append(columns, s.Input(k+i))
	}
	if rows.Weights != nil {
		weights = s.Input(k + len(b.columns))
	}
	return params, columns, weights
}

// work takes rows until there are none, runs all lanes, and lets each lane judge
// its own numbers.
func (c *batchWorker) work(ctx context.Context, next *atomic.Int64, tell func(rows int)) error {
	from, to, finished := 0, 0, 0
	defer func() { tell(finished) }()
	for {
		busy := false
		for l := range c.lane {
			for !c.lane[l].busy {
				if from == to {
					tell(finished)
					finished = 0
					from = int(next.Add(claim)) - claim
					to = min(from+claim, c.rows.Count)
					if from >= to {
						from, to = c.rows.Count, c.rows.Count
						break
					}
				}
				if !c.load(l, from) {
					finished++ // failed before it began
				}
				from++
			}
			busy = busy || c.lane[l].busy
		}
		if !busy {
			c.catchUp()
			return nil
		}
		if ctx.Err() != nil {
			c.catchUp()
			return nil
		}
		if err := c.state.Run(); err != nil {
			return fmt.Errorf("optim: batch: %w", err)
		}
		for l := range c.lane {
			if v := &c.lane[l]; v.busy {
				if c.step.advance(c, l, v); v.busy {
					continue
				}
				finished++
			}
		}
	}
}

// load puts a row into a lane; false if it cannot be fitted.
func (c *batchWorker) load(l, row int) bool {
	v := &c.lane[l]
	points, err := c.fill(l, row, c.columns, c.weights)
	if err == nil {
		err = c.begin(v, row)
	}
	if err != nil {
		c.res.fail(row, v.x, err)
		return false
	}
	v.reset(row, points)
	c.put(l, v.x)
	return true
}

// put makes x the parameters of a lane.
func (c *batchWorker) put(l int, x []float64) {
	for k, p := range x {
		c.params[k*lanes+l] = p
	}
}

// fill copies the data of a row into a lane and returns how many residuals count.
// What is taken out gets the data of a residual that counts.
func (c *batchWorker) fill(l, row int, columns [][]float64, weights []float64) (points int, err error) {
	m, safe := c.b.m, 0
	points = m
	var w []float64
	if weights != nil {
		w = c.rows.Weights[row*m : (row+1)*m]
		points, safe = 0, -1
		for i, v := range w {
			if !(v >= 0) || math.IsInf(v, 1) {
				return 0, fmt.Errorf("weight %d is %g: want a finite number of at least 0", i, v)
			}
			if v > 0 {
				points++
				if safe < 0 {
					safe = i
				}
			}
			weights[i*lanes+l] = v
		}
		if points == 0 {
			return 0, fmt.Errorf("no residual has a weight above 0")
		}
	}
	for k, to := range columns {
		size := len(to) / lanes
		from := c.rows.Columns[k][row*size : (row+1)*size]
		for i, v := range from {
			if w != nil && size == m && w[i] == 0 {
				v = from[safe]
			}
			if !linalg.Finite(v) {
				return 0, fmt.Errorf("%s[%d] is %g: take the point out by a weight of 0", c.b.columns[k].Name(), i, v)
			}
			to[i*lanes+l] = v
		}
	}
	return points, nil
}

// begin sets the start of a row.
func (c *batchWorker) begin(v *lane, row int) error {
	n := c.b.n
	switch r := c.rows; {
	case r.Start == nil:
		for k, col := range r.Columns {
			size := c.b.columns[k].Size()
			c.own[k] = col[row*size : (row+1)*size]
		}
		if err := r.Guess(v.x, c.own); err != nil {
			return fmt.Errorf("no start: %w", err)
		}
	case len(r.Start) == n:
		copy(v.x, r.Start)
	default:
		copy(v.x, r.Start[row*n:])
	}
	for k, x := range v.x {
		if !linalg.Finite(x) {
			return fmt.Errorf("start of %s is %g: want a finite number", c.b.names[k], x)
		}
		if c.rows.Lower != nil && (x < c.rows.Lower[k] || x > c.rows.Upper[k]) {
			return fmt.Errorf("start of %s is %g, outside its bounds %g..%g", c.b.names[k], x, c.rows.Lower[k], c.rows.Upper[k])
		}
	}
	return nil
}
