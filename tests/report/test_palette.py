"""The palette is measured, not believed: contrast, and colour-blind readers."""

import itertools

import matplotlib
import numpy as np
import pytest

from remanence.report.style import MARKS, PALETTES, style


# Machado, Oliveira and Fernandes (2009), full severity, on linear RGB.
BLIND = {
    "none": np.eye(3),
    "protan": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deutan": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}


def linear(colour):
    rgb = np.array([int(colour[n : n + 2], 16) for n in (1, 3, 5)]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast(first, second):
    low, high = sorted(linear(c) @ [0.2126, 0.7152, 0.0722] for c in (first, second))
    return (high + 0.05) / (low + 0.05)


def lab(rgb):
    xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    ) @ np.clip(rgb, 0, 1)
    f = np.cbrt(xyz / [0.9505, 1.0, 1.089])
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("theme", PALETTES)
def test_lines_stand_out_and_words_can_be_read(theme):
    palette = PALETTES[theme]
    assert len(palette.cycle) == 8
    assert min(contrast(c, palette.raised) for c in palette.cycle) >= 3
    words = [palette.ink, palette.soft, *(getattr(palette, v) for v in MARKS), palette.cycle[0]]
    for ground in (palette.paper, palette.raised):
        assert min(contrast(c, ground) for c in words) >= 4.5


@pytest.mark.parametrize("theme", PALETTES)
@pytest.mark.parametrize("eye", BLIND)
def test_the_first_five_colours_differ_for_every_eye(theme, eye):
    seen = [lab(BLIND[eye] @ linear(c)) for c in PALETTES[theme].cycle[:5]]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 11


def test_the_style_leaves_the_users_own_settings_alone():
    before = dict(matplotlib.rcParams)
    with style("dark"):
        assert matplotlib.rcParams["text.color"] == PALETTES["dark"].ink
    assert dict(matplotlib.rcParams) == before
