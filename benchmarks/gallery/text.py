"""Networks that read characters or amino acids."""

import ast
import json
import pathlib
import pickle
from typing import Any

import h5py
import jax
import jax.numpy as jnp
import numpy as np
from exhibit import Exhibit, keras_arrays, keras_lstm, one_hot, run_onnx, SONNETS, with_head

import remanence as rm
from remanence.cells import Stack
from remanence.nets import Recurrent


ARTICLE = {
    "Arabic": "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا وعليهم أن يعامل بعضهم بعضا بروح الإخاء.",
    "Hebrew": "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה עליהם לנהוג איש ברעהו ברוח של אחווה.",
    "Russian": "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и должны поступать в отношении друг друга в духе братства.",
    "Thai": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ",
}
SOURCE = "the first article of the Universal Declaration of Human Rights"
PROTEINS = (  # ubiquitin, preproinsulin, haemoglobin's beta chain
    "MQIFVKTLTGKTITLEVEPSDTIENVKAKIQDKEGIPPDQQRLIFAGKQLEDGRTLSDYNIQKESTLHLVLRLRGG",
    "MALWMRLLPLLALLALWGPDPAAAFVNQHLCGSHLVEALYLVCGERGFFYTPKTRREAEDLQVGQVELGGGPGAGSLQPLALEGSLQKRGIVEQCCTSICSLYQLENYCN",
    "MVHLTPEEKSAVTALWGKVNVDEVGGEALGRLLVVYPWTQRFFESFGDLSTPDAVMGNPKVKAHGKKVLGAFSDGLAHLDNLKGTFATLSELHCDKLHLVGDPENFRLLGNVLVCVLAHHFGKEFTPPVQAAYQKVVAGVANALAHKYH",
)


def g2p_en(folder: pathlib.Path) -> Exhibit:
    """The encoder, a GRU of 256 over letters."""
    file = "g2p_en/checkpoint20.npz"
    known = ["<pad>", "<unk>", "</s>", *"abcdefghijklmnopqrstuvwxyz"]
    text = "".join(c for c in SONNETS.lower()[:1500].replace("\n", " ") if c.isalpha() or c == " ")
    tokens = np.array([known.index("</s>" if c == " " else c) for c in " ".join(text.split())])
    # Importing the package downloads corpora: its cell is taken out of its source.
    tree = ast.parse((folder / "g2p_en/g2p.py").read_text())
    found = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "G2p")
    found.body = [n for n in found.body if getattr(n, "name", "") in {"sigmoid", "grucell", "gru"}]
    scope: dict[str, Any] = {"np": np, "object": object}
    exec(compile(ast.Module([found], []), "g2p.py", "exec"), scope)
    arrays = np.load(folder / file)
    weights = [arrays[f"enc_{n}"] for n in ("w_ih", "w_hh", "b_ih", "b_hh")]
    own = scope["G2p"]().gru(arrays["enc_emb"][tokens][None], len(tokens), *weights)[0]
    return Exhibit(
        net=rm.load(folder / file, prefix="enc", embedding="enc_emb", readout="", quiet=True),
        does="spells English words into sounds (its encoder)",
        file=file,
        inputs=tokens,
        words=f"{len(tokens):,} letters of sonnets with its mark at the end of every word "
        "(in use it starts anew at every word)",
        outputs="its 256 states",
        own=own,
        peer="its own NumPy code",
    )


def chars2vec(folder: pathlib.Path) -> Exhibit:
    """Two LSTMs of 50 over letters, Keras 2.2."""
    file = "chars2vec/trained_models/eng_50/weights.h5"
    places = pickle.loads((folder / file).with_name("model.pkl").read_bytes())[1]
    text = " ".join(SONNETS.lower().split())[:1000]
    x = one_hot([places.get(c, -1) for c in text], len(places))
    nets = [rm.load(folder / file, prefix=f"lstm_{i}", quiet=True) for i in (1, 2)]
    own = x
    for name in ("lstm_1", "lstm_2"):
        own = keras_lstm(own, keras_arrays(folder / file, name), hard=True)
    return Exhibit(
        net=Recurrent(Stack(tuple(net.cell for net in nets))),
        does="makes vectors of words",
        file=file,
        inputs=x,
        words=f"{len(text):,} characters of sonnets, one-hot (in use it starts anew at every word)",
        outputs="the vector of 50 numbers",
        own=own,
        peer="Keras's layers with the arrays and Keras 2's gates",
    )


def mhcnuggets(folder: pathlib.Path) -> Exhibit:
    """LSTM of 64 over amino acids, two dense layers behind it, Keras 2.2."""
    file = "mhcnuggets/saves/production/HLA-DRB101:01_BA.h5"
    parts = [p[i : i + 30] for p in PROTEINS for i in range(0, len(p) - 29, 5)]
    x = np.stack([one_hot(["ACDEFGHIKLMNPQRSTVWYX".index(c) for c in p], 21) for p in parts])
    with h5py.File(folder / file) as stored:
        layers = [
            stored[f"dense_{i}/dense_{i}/{n}:0"][:] for i in (1, 2) for n in ("kernel", "bias")
        ]  # pyright: ignore
    A, a, B, b = layers
    head = lambda y: jax.nn.sigmoid(jnp.tanh(y @ A + a) @ B + b)
    hidden = keras_lstm(x, keras_arrays(folder / file, "lstm_1"), hard=True)
    return Exhibit(
        net=with_head(rm.load(folder / file, quiet=True), head),
        does="predicts which peptides an immune molecule (HLA-DRB1*01:01) binds",
        file=file,
        inputs=x,
        words=f"{len(parts)} peptides of 30 amino acids from three human proteins, one-hot",
        outputs="the predicted affinity, 0 to 1",
        own=1 / (1 + np.exp(-(np.tanh(hidden @ A + a) @ B + b))),
        peer="Keras's layer with the arrays and Keras 2's gates",
        unit="amino acids",
    )


def textgenrnn(folder: pathlib.Path) -> Exhibit:
    """Two CuDNN LSTMs of 128 over 465 characters, Keras 2.1."""
    file = "textgenrnn/textgenrnn_weights.hdf5"
    places = json.loads((folder / "textgenrnn/textgenrnn_vocab.json").read_text())
    tokens = np.array([places[c] for c in SONNETS[:1000] if c in places])
    with h5py.File(folder / file) as stored:
        embedding = np.asarray(stored["embedding/embedding/embeddings:0"])
    nets = [rm.load(folder / file, prefix=f"rnn_{i}", quiet=True) for i in (1, 2)]
    own = embedding[tokens]
    for name in ("rnn_1", "rnn_2"):
        own = keras_lstm(own, from_cudnn(*keras_arrays(folder / file, name)), hard=False)
    return Exhibit(
        net=Recurrent(Stack(tuple(net.cell for net in nets)), embedding=jnp.asarray(embedding)),
        does="writes text, character by character",
        file=file,
        inputs=tokens,
        words=f"{len(tokens):,} characters of sonnets through its own embedding "
        "(in use it is given the last 40)",
        outputs="the 128 outputs of its upper layer",
        own=own,
        peer="Keras's layers with the arrays as Keras 2 turns CuDNN's",
    )


def from_cudnn(kernel: np.ndarray, recurrent: np.ndarray, bias: np.ndarray) -> list[np.ndarray]:
    """CuDNN's arrays as Keras's own LSTM has them: each gate turned, the two biases added."""
    turned = [k.T.reshape(k.shape, order="F") for k in np.split(kernel, 4, axis=1)]
    back = [k.T for k in np.split(recurrent, 4, axis=1)]
    return [np.hstack(turned), np.hstack(back), bias.reshape(2, -1).sum(axis=0)]


def pythainlp(folder: pathlib.Path) -> Exhibit:
    """The encoder, a bidirectional LSTM of 2 x 128: its forward direction."""
    file = "pythainlp/corpus/thai2rom_encoder.onnx"
    stored = (folder / "pythainlp/corpus/thai2rom_loader_onnx.json").read_text()
    places = json.loads(stored)["char_to_ix"]
    tokens = np.array([places.get(c, places["<UNK>"]) for c in ARTICLE["Thai"]] + [places["<end>"]])
    lengths = np.array([len(tokens)], np.int32)
    feeds = {"input_tensor": tokens[None], "input_lengths": lengths}
    (own,) = run_onnx(folder / file, feeds, "encoder_outputs")
    return Exhibit(
        net=rm.load(folder / file, prefix="LSTM_38.forward", quiet=True),
        does="writes Thai in Latin letters (its encoder, forward direction)",
        file=file,
        inputs=tokens,
        words=f"{len(tokens)} characters: {SOURCE} in Thai (in use it is given a word)",
        outputs="its 128 outputs",
        own=own[0][:, :128],
        peer="its graph in onnxruntime",
    )


def shakkala(folder: pathlib.Path) -> Exhibit:
    """The first of three bidirectional LSTMs, 2 x 288, Keras 2.1: its forward direction."""
    file = "shakkala/model/second_model6.h5"
    stored = folder / "shakkala/dictionary/input_vocab_to_int.pickle"
    places = pickle.loads(stored.read_bytes())
    tokens = np.array([places[c] for c in ARTICLE["Arabic"] if c in places])
    net = rm.load(folder / file, prefix="bidirectional_19.forward", quiet=True)
    arrays = keras_arrays(folder / file, "bidirectional_19", "forward")
    return Exhibit(
        net=net,
        does="adds vowels to Arabic (its first layer, forward direction)",
        file=file,
        inputs=tokens,
        words=f"{len(tokens)} characters: {SOURCE} in Arabic",
        outputs="its 288 outputs",
        own=keras_lstm(np.asarray(net.embed(tokens)), arrays, hard=True),
        peer="Keras's layer with the arrays and Keras 2's gates",
    )


def russtress(folder: pathlib.Path) -> Exhibit:
    """A bidirectional LSTM of 2 x 64, Keras 2.0: its forward direction."""
    file = "russtress/weights.96.hdf5"
    known = "'-_абвгдежзийклмнопрстуфхцчшщъыьэюяё"
    text = ARTICLE["Russian"].lower().replace(" ", "_").replace(".", "")
    x = one_hot([known.index(c) for c in text], len(known))
    return Exhibit(
        net=rm.load(folder / file, prefix="bidirectional_1.forward", quiet=True),
        does="finds the stressed syllable of Russian words (forward direction)",
        file=file,
        inputs=x,
        words=f"{len(text)} characters: {SOURCE} in Russian, one-hot (in use it is given 40)",
        outputs="its 64 outputs",
        own=keras_lstm(x, keras_arrays(folder / file, "bidirectional_1", "forward"), hard=True),
        peer="Keras's layer with the arrays and Keras 2's gates",
    )


def nakdimon(folder: pathlib.Path) -> Exhibit:
    """The first of two bidirectional LSTMs, 2 x 400, Keras 2.6: its forward direction."""
    file = "nakdimon/Nakdimon.h5"
    letters = [chr(c) for c in range(0x05D0, 0x05EB)]
    known = ["", "H", "O", "5", *" !\"'(),-.:;?", *letters]
    tokens = np.array([known.index(c) for c in ARTICLE["Hebrew"]])
    net = rm.load(folder / file, prefix="bidirectional.forward", quiet=True)
    arrays = keras_arrays(folder / file, "bidirectional/", "forward")
    return Exhibit(
        net=net,
        does="adds vowels to Hebrew (its first layer, forward direction)",
        file=file,
        inputs=tokens,
        words=f"{len(tokens)} characters: {SOURCE} in Hebrew",
        outputs="its 400 outputs",
        own=keras_lstm(np.asarray(net.embed(tokens)), arrays, hard=False),
        peer="Keras's layer with the arrays",
    )
