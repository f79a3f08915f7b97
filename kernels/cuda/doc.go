// Package cuda computes on NVIDIA GPUs.
package cuda
