"""Speech and music made on the spot, and the spectra that networks are given of them."""

import io
import shutil
import subprocess

import numpy as np
import scipy.io.wavfile
import scipy.signal


RATE = 16_000
VOWELS = ((730, 1090, 2440), (270, 2290, 3010), (300, 870, 2240), (530, 1840, 2480))


def speech(text: str) -> tuple[np.ndarray, str]:
    """Speech at 16 kHz with the words for it: by espeak-ng, or vowels and noise."""
    if not shutil.which("espeak-ng"):
        return vowels(30.0), "30 s of synthetic vowels, noise and pauses"
    command = ["espeak-ng", "--stdin", "--stdout", "-v", "en"]
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=True)
    rate, wave = scipy.io.wavfile.read(io.BytesIO(done.stdout))
    wave = scipy.signal.resample_poly(wave / 32768, RATE, rate)
    wave = wave + 1e-4 * np.random.default_rng(0).normal(size=wave.shape)
    return wave, f"{len(wave) / RATE:.0f} s of speech by espeak-ng (English, a sonnet)"


def vowels(seconds: float) -> np.ndarray:
    """Syllables of about 150 ms: a pulse train or noise through three resonances."""
    rng, parts, total = np.random.default_rng(0), [], 0
    while total < seconds * RATE:
        size = int(rng.uniform(0.08, 0.25) * RATE)
        source = 0.05 * rng.normal(size=size)
        if rng.random() < 0.8:
            source[:: int(RATE / rng.uniform(90, 180))] += 1
        for formant in VOWELS[rng.integers(4)]:
            pole = 0.98 * np.exp(2j * np.pi * formant / RATE)
            source = scipy.signal.lfilter([0.1], [1, -2 * pole.real, abs(pole) ** 2], source)
        parts.append(source * np.hanning(size) * (rng.random() > 0.15))
        total += size
    wave = np.concatenate(parts)
    return 0.5 * wave / np.abs(wave).max()


def music(seconds: float, rate: int) -> np.ndarray:
    """Four chords in turn at 120 beats a minute with a drum on every beat."""
    rng, t = np.random.default_rng(1), np.arange(int(seconds * rate)) / rate
    since, beat = t % 0.5, (t / 0.5).astype(int)
    roots = 110 * 2 ** (np.array([0, 9, 5, 7])[(beat // 4) % 4] / 12)
    phase = 2 * np.pi * np.cumsum(roots) / rate
    chord = sum(np.sin(phase * ratio) for ratio in (1, 1.26, 1.5, 2)) * np.exp(-2 * since)
    drum = rng.normal(size=t.shape) * np.exp(-40 * since) * np.where(beat % 4 == 0, 2.0, 1.0)
    return 0.1 * chord + 0.2 * drum


def power(wave: np.ndarray, window: np.ndarray, hop: int) -> np.ndarray:
    """The power spectrum of every windowed frame, `frames x bins`."""
    frames = np.lib.stride_tricks.sliding_window_view(wave, len(window))[::hop]
    return np.abs(np.fft.rfft(frames * window)) ** 2


def log_bands(wave: np.ndarray, rate: int, size: int, hop: int, bands: int) -> np.ndarray:
    """Logarithmic magnitudes in triangular bands from 30 Hz up, then their rises."""
    spectrum = np.sqrt(power(wave, np.hanning(size), hop))
    edges = np.geomspace(30, rate / 2, bands + 2)
    bins = np.fft.rfftfreq(size, 1 / rate)
    shapes = [np.interp(bins, edges[i : i + 3], [0, 1, 0]) for i in range(bands)]
    nearest = [np.abs(bins - edge).argmin() for edge in edges[1:-1]]
    for shape, place in zip(shapes, nearest, strict=True):
        shape[place] = shape[place] or 1.0
    filters = np.stack([shape / shape.sum() for shape in shapes])
    levels = np.log10(1 + spectrum @ filters.T)
    return np.hstack([levels, np.maximum(np.diff(levels, axis=0, prepend=levels[:1]), 0)])
