// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command shapes trains a convolutional network to tell noisy drawings of discs, squares, crosses and rings apart. It prints the loss
// and the accuracy of each epoch and of drawings that it was not trained on, and writes the weights as safetensors.
//
// After Ctrl-C, or kill -9, the same command goes on from the last epoch, with the same numbers as without.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"math"
	"os"
	"os/signal"
	"path/filepath"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/data/safetensors"
	"github.com/euryale-dev/euryale/models/nn"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

func main() {
	out := flag.String("out", "shapes", "folder for the state of the training and the weights")
	epochs := flag.Int("epochs", 6, "passes over the drawings")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if _, err := train(ctx, os.Stdout, *out, *epochs); err != nil {
		log.Fatal(err)
	}
}

const size, classes = 16, 4

// drawings makes n noisy drawings of the classes, at random places and of random size and contrast.
func drawings(n int, seed uint64) (nn.Source, error) {
	s := tensor.NewStream(seed, 0, 0)
	images, labels := make([]float64, n*size*size), make([]float64, n)
	for k := range n {
		class := s.IntN(classes)
		labels[k] = float64(class)
		radius := 4 + 3*s.Float64()
		row, column := radius+s.Float64()*(size-2*radius), radius+s.Float64()*(size-2*radius)
		contrast := 0.7 + 0.6*s.Float64()
		for i := range size * size {
			y, x := math.Abs(float64(i/size)+0.5-row), math.Abs(float64(i%size)+0.5-column)
			r := math.Hypot(x, y)
			inside := [classes]bool{r < radius, max(x, y) < 0.85*radius, min(x, y) < 0.3*radius && max(x, y) < radius, r < radius && r > 0.6*radius}
			v := 0.25 * s.Normal()
			if inside[class] {
				v += contrast
			}
			images[k*size*size+i] = v
		}
	}
	x, err := tensor.From(images, n, 1, size, size)
	if err != nil {
		return nil, err
	}
	y, err := tensor.From(labels, n)
	if err != nil {
		return nil, err
	}
	return nn.Arrays(x, y)
}

// network has two convolutions and a dense layer.
func network(m *nn.Model, in []*ad.Node) nn.Outputs {
	same := ad.Convolution{Pad: [2]int{1, 1}}
	half := ad.Pooling{Size: [2]int{2, 2}}
	h := ad.MaxPool2D(nn.ReLU(m.BatchNorm("norm1", m.Conv2D("conv1", in[0], 16, 3, same))), half)
	h = ad.MaxPool2D(nn.ReLU(m.BatchNorm("norm2", m.Conv2D("conv2", h, 32, 3, same))), half)
	logits := m.Dense("out", m.Dropout(nn.Flatten(h), 0.25), classes)
	return nn.Outputs{Loss: nn.CrossEntropy(logits, in[1], nn.Labels{}), Values: map[string]*ad.Node{"accuracy": nn.Accuracy(logits, in[1])}}
}

// train trains the network, or goes on, and returns its accuracy on drawings that it has not seen.
func train(ctx context.Context, w io.Writer, dir string, epochs int) (accuracy float64, err error) {
	data, err := drawings(4000, 1)
	if err != nil {
		return 0, err
	}
	unseen, err := drawings(1000, 2)
	if err != nil {
		return 0, err
	}
	net, err := nn.New(network, []nn.Input{{Name: "image", Shape: []int{1, size, size}}, {Name: "label", Ints: true}}, nn.Settings{Seed: 1, Batch: 50})
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(w, "%d parameters\n", net.Size())
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return 0, err
	}
	t := nn.Training{Epochs: epochs, Rule: optim.Adam{}, LR: 2e-3, Schedule: optim.Cosine(80*epochs, 1e-4), Validation: unseen,
		Save: func(s *nn.State) error { return save(filepath.Join(dir, "state"), s) },
		Progress: func(p nn.Progress) {
			if e := p.Ended; e != nil {
				fmt.Fprintf(w, "epoch %d: loss %.4f, accuracy %.3f; unseen drawings: loss %.4f, accuracy %.3f\n", p.Epoch, e.Loss, e.Values["accuracy"], e.Validation, e.ValidationValues["accuracy"])
			}
		}}
	if t.Resume, err = load(filepath.Join(dir, "state")); err != nil {
		return 0, err
	}
	if t.Resume != nil {
		fmt.Fprintf(w, "going on after step %d\n", t.Resume.Step)
	}
	if _, err := net.Train(ctx, data, t); err != nil {
		return 0, err
	}
	e, err := net.Evaluate(ctx, unseen)
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(w, "accuracy on unseen drawings: %.3f\n", e.Values["accuracy"])
	return e.Values["accuracy"], safetensors.Save(filepath.Join(dir, "network.safetensors"), net.Weights(), nil)
}

// save writes the state of a training, and renames the file when it is whole.
func save(name string, s *nn.State) error {
	f, err := os.CreateTemp(filepath.Dir(name), "state-*")
	if err != nil {
		return err
	}
	if err := errors.Join(nn.WriteState(f, s), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), name)
}

// load reads the state of a training; nil if there is none.
func load(name string) (*nn.State, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := nn.ReadState(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}
