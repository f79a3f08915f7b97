// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package plummer adds an operation with GPU kernels of its own: the gravitational potential of points, in which every
// point acts on every other. Written with the operations of package autodiff it would fill arrays of n x n distances;
// here both the CPU and the GPU go through the pairs and store none.
//
//	phi := plummer.Potential(x, y, z, soft) // at each of n points of unit mass
//
// Its command, in cmd, is euryale with this function in formulas:
//
//	plummer fit nlsq --problem cluster.json    # with "expr": "mass*plummer(x, y, z, soft)"
package plummer

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/formula"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
	"github.com/euryale-dev/euryale/tensor"
)

func init() {
	formula.Register("plummer", 4, func(in []*ad.Node) *ad.Node { return Potential(in[0], in[1], in[2], in[3]) })
}

// Potential returns the softened potential at each of n points of unit mass, for G = 1:
//
//	phi[i] = -sum over j other than i of 1/sqrt(|r[i] - r[j]|^2 + soft^2)
//
// The coordinates x, y and z have the shape [n], and soft is a number. The source is Plummer, MNRAS 71, 460 (1911),
// doi:10.1093/mnras/71.5.460.
//
// Gradient: with respect to all inputs, and along directions; there are no second derivatives.
func Potential(x, y, z, soft *ad.Node) *ad.Node { return ad.Call(&operation, x, y, z, soft) }

var operation = ad.Custom{
	Name: "plummer",
	Shape: func(in ...tensor.Shape) (tensor.Shape, error) {
		n := in[0]
		if len(n) != 1 || !n.Equal(in[1]) || !n.Equal(in[2]) || in[3].Size() != 1 {
			return nil, fmt.Errorf("the coordinates have shapes %v, %v and %v and the softening length has %v: want [n] for each coordinate and a number", in[0], in[1], in[2], in[3])
		}
		return n, nil
	},
	Forward: func(out []float64, in ...[]float64) error {
		clear(out)
		pairs(in, func(i, j int, _, _, _, inverse float64) { out[i] -= inverse })
		return nil
	},
	Adjoint: func(dIn [][]float64, g, _ []float64, in ...[]float64) error {
		for _, d := range dIn {
			clear(d)
		}
		pairs(in, func(i, j int, dx, dy, dz, inverse float64) {
			cube := inverse * inverse * inverse
			both := (g[i] + g[j]) * cube // the point i moves its own potential and that of j
			dIn[0][i] += both * dx
			dIn[1][i] += both * dy
			dIn[2][i] += both * dz
			dIn[3][0] += g[i] * cube * in[3][0]
		})
		return nil
	},
	Tangent: func(dOut []float64, dIn [][]float64, _ []float64, in ...[]float64) error { // least squares needs it
		clear(dOut)
		pairs(in, func(i, j int, dx, dy, dz, inverse float64) {
			along := dx*(dIn[0][i]-dIn[0][j]) + dy*(dIn[1][i]-dIn[1][j]) + dz*(dIn[2][i]-dIn[2][j]) + in[3][0]*dIn[3][0]
			dOut[i] += along * inverse * inverse * inverse
		})
		return nil
	},
	OnDevice: func(d *cuda.Device, bits int, in []tensor.Shape) (ad.DeviceStep, error) {
		real := map[int]string{32: "float", 64: "double"}[bits]
		m, err := d.Compile(rtc.Source{Name: "plummer.cu", Text: "typedef " + real + " R;\n" + text})
		if err != nil {
			return nil, err
		}
		return &step{module: m, n: in[0].Size()}, nil
	},
}

// pairs calls f for every ordered pair of different points with their distance along each axis and the inverse of their
// softened distance.
func pairs(in [][]float64, f func(i, j int, dx, dy, dz, inverse float64)) {
	x, y, z, soft := in[0], in[1], in[2], in[3][0]
	for i := range x {
		for j := range x {
			if j != i {
				dx, dy, dz := x[i]-x[j], y[i]-y[j], z[i]-z[j]
				f(i, j, dx, dy, dz, 1/math.Sqrt(dx*dx+dy*dy+dz*dz+soft*soft))
			}
		}
	}
}

// text is CUDA C without headers, as the run-time compiler takes it. Each thread computes one point, and sums are taken in
// double and in a fixed order, so that every run gives the same bits.
const text = `
__device__ double inverse_distance(const R *x, const R *y, const R *z, double soft, int i, int j, double d[3]) {
	d[0] = (double)x[i] - x[j], d[1] = (double)y[i] - y[j], d[2] = (double)z[i] - z[j];
	return 1.0 / sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + soft * soft);
}

extern "C" __global__ void potential(const R *x, const R *y, const R *z, const R *soft, R *phi, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	double d[3], sum = 0.0;
	for (int j = 0; j < n; j++)
		if (j != i) sum += inverse_distance(x, y, z, *soft, i, j, d);
	phi[i] = (R)-sum;
}

// gradient leaves the derivative by the softening length, which is a sum over points, in parts.
extern "C" __global__ void gradient(const R *x, const R *y, const R *z, const R *soft, const R *g, R *dx, R *dy, R *dz, double *parts, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	double d[3], sum[3] = {0.0, 0.0, 0.0}, own = 0.0;
	for (int j = 0; j < n; j++) {
		if (j == i) continue;
		double r = inverse_distance(x, y, z, *soft, i, j, d), cube = r * r * r;
		for (int k = 0; k < 3; k++) sum[k] += ((double)g[i] + g[j]) * cube * d[k];
		own += cube;
	}
	dx[i] = (R)sum[0], dy[i] = (R)sum[1], dz[i] = (R)sum[2];
	parts[i] = g[i] * own * *soft;
}

extern "C" __global__ void total(const double *parts, R *dsoft, int n) {
	__shared__ double sums[256];
	double sum = 0.0;
	for (int i = threadIdx.x; i < n; i += 256) sum += parts[i];
	sums[threadIdx.x] = sum;
	__syncthreads();
	for (int half = 128; half > 0; half /= 2) {
		if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
		__syncthreads();
	}
	if (threadIdx.x == 0) *dsoft = (R)sums[0];
}
`

// step is the operation in one place of one program on a GPU.
type step struct {
	module *cuda.Module
	n      int
	parts  *cuda.Buffer // made when the first gradient is computed
}

// launch puts a kernel on the stream, in blocks of 256 threads.
func (p *step) launch(s *cuda.Stream, kernel string, grid cuda.Dim, args ...any) error {
	return p.module.Launch(s, kernel, grid, cuda.Dim{X: 256}, append(args, int32(p.n))...)
}

func (p *step) Forward(s *cuda.Stream, out cuda.Part, in []cuda.Part) error {
	return p.launch(s, "potential", cuda.Blocks(p.n, 256), in[0], in[1], in[2], in[3], out)
}

func (p *step) Adjoint(s *cuda.Stream, dIn []cuda.Part, g, _ cuda.Part, in []cuda.Part) error {
	if p.parts == nil {
		var err error
		if p.parts, err = s.AllocTagged(8*p.n, "plummer"); err != nil {
			return err
		}
	}
	if err := p.launch(s, "gradient", cuda.Blocks(p.n, 256), in[0], in[1], in[2], in[3], g, dIn[0], dIn[1], dIn[2], p.parts); err != nil {
		return err
	}
	return p.launch(s, "total", cuda.Dim{X: 1}, p.parts, dIn[3])
}
