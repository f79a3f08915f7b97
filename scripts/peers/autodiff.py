"""Values and gradients by JAX, compiled once.

    autodiff.py regression POINTS    straight line with an unknown standard deviation, float64
    autodiff.py student POINTS       the same with Student's distribution with 4 degrees of freedom and no weights
    autodiff.py network              three layers of 4, 256, 256 and 4000, 128 rows, float32
"""

import os
import sys

from serve import THREADS, serve

if THREADS == 1:
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


def wave(step, *shape, dtype=jnp.float64):
    n = 1
    for s in shape:
        n *= s
    return jnp.cos(step * jnp.arange(n, dtype=jnp.float64)).reshape(shape).astype(dtype)


def regression(points):
    x, y, weight = wave(0.7, int(points)), wave(0.3, int(points)), 2 + wave(0.9, int(points))

    def density(p):
        z = (y - (p[0] + p[1] * x)) / weight / p[2]
        return jnp.sum(-0.5 * z * z - jnp.log(p[2]))

    at = jnp.array([0.5, 0.7, 1.1])
    race(jax.jit(jax.value_and_grad(density)), at)


def student(points):
    x, y = wave(0.7, int(points)), 3 * wave(0.3, int(points))

    def density(p):
        z = (y - (p[0] + p[1] * x)) / p[2]
        return -jnp.sum(2.5 * jnp.log1p(z * z / 4) + jnp.log(p[2]))

    race(jax.jit(jax.value_and_grad(density)), jnp.array([0.5, 0.7, 1.1]))


def network():
    x, y = wave(0.7, 128, 4, dtype=jnp.float32), wave(0.3, 128, 4000, dtype=jnp.float32)
    shapes = [(4, 256), (1, 256), (256, 256), (1, 256), (256, 4000), (1, 4000)]
    weights = [jnp.float32(0.06) * wave(0.1 * (i + 1), *s, dtype=jnp.float32) for i, s in enumerate(shapes)]

    def loss(w):
        h = jnp.tanh(x @ w[0] + w[1])
        h = jnp.tanh(h @ w[2] + w[3])
        return jnp.mean((h @ w[4] + w[5] - y) ** 2)

    race(jax.jit(jax.value_and_grad(loss)), weights)


def race(f, at):
    def work():
        value, gradient = f(at)
        jax.block_until_ready(gradient)
        return None, float(value)

    serve(f"JAX {jax.__version__}", work)


{"regression": regression, "student": student, "network": network}[sys.argv[1]](*sys.argv[2:])
