"""Each cell once more, as a plain NumPy loop in float64: nothing shared with the package."""

import numpy as np


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def linear(p, h, x):
    return p["W_h"] @ h + p["W_x"] @ x


def elman(p, h, x):
    return np.tanh(p["W_h"] @ h + p["W_x"] @ x + p["b"])


def relu(p, h, x):
    return np.maximum(p["W_h"] @ h + p["W_x"] @ x + p["b"], 0)


def residual(p, h, x):
    z = p["W_h"] @ h + p["W_x"] @ x + p["b"]
    return p["R"] @ h + p["coupling"] * np.tanh(z)


def diagonal(p, h, x):
    return p["a"] * h + p["B"] @ x


def lstm(p, h, x):
    n = p["W_h"].shape[1]
    hidden, c = h[:n], h[n:]
    new_h, new_c = np.empty(n), np.empty(n)
    for u in range(n):
        z = [
            p["W_h"][g * n + u] @ hidden + p["W_x"][g * n + u] @ x + p["b"][g * n + u]
            for g in range(4)
        ]
        new_c[u] = sigmoid(z[1]) * c[u] + sigmoid(z[0]) * np.tanh(z[2])
        new_h[u] = sigmoid(z[3]) * np.tanh(new_c[u])
    return np.concatenate([new_h, new_c])


def gru(p, h, x):
    n = p["W_h"].shape[1]
    new = np.empty(n)
    for u in range(n):
        r = sigmoid(p["W_h"][u] @ h + p["W_x"][u] @ x + p["b"][u])
        z = sigmoid(p["W_h"][n + u] @ h + p["W_x"][n + u] @ x + p["b"][n + u])
        inner = p["W_h"][2 * n + u] @ h + p["b_n"][u]
        c = np.tanh(p["W_x"][2 * n + u] @ x + p["b"][2 * n + u] + r * inner)
        new[u] = (1 - z) * c + z * h[u]
    return new
