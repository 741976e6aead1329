import numpy as np
import pytest

from remanence import tasks
from remanence.subjects import fading_memory
from remanence.tasks import download


def test_digits_are_whole_and_in_range():
    task = tasks.pixels()
    assert task.train_x.shape == (2500, 64, 1)
    assert task.test_x.shape == (500, 64, 1)
    assert task.side == 8
    assert task.train_x.min() == 0
    assert task.train_x.max() == 1
    assert set(task.test_y) == set(range(10))


def test_drawn_digits_are_recognisable_and_are_the_seed_s_own():
    images, digits = tasks.drawn_digits(600, 8, seed=1)
    np.testing.assert_array_equal(images, tasks.drawn_digits(600, 8, seed=1)[0])
    assert not np.array_equal(images, tasks.drawn_digits(600, 8, seed=2)[0])
    known, asked = images[:500].reshape(500, -1), images[500:].reshape(100, -1)
    nearest = ((asked[:, None] - known) ** 2).sum(-1).argmin(1)
    assert 0.8 < (digits[nearest] == digits[500:]).mean() < 1  # neither noise nor ten images
    large = tasks.drawn_digits(600, 16, seed=1)[0].reshape(600, 8, 2, 8, 2).mean((2, 4))
    assert np.corrcoef(large.ravel(), images.ravel())[0, 1] > 0.9  # one drawing, two sizes


def test_a_permutation_only_reorders():
    plain, permuted = tasks.pixels(), tasks.pixels(permuted=3)
    np.testing.assert_array_equal(np.sort(plain.train_x, axis=1), np.sort(permuted.train_x, axis=1))
    assert not np.array_equal(plain.train_x, permuted.train_x)
    np.testing.assert_array_equal(permuted.train_x, tasks.pixels(permuted=3).train_x)
    other = tasks.pixels(permuted=4)
    assert not np.array_equal(other.train_x, permuted.train_x)


def test_the_period_is_a_row_and_permuting_takes_it_away():
    strongest = lambda task: fading_memory.power_spectrum(task.train_x)
    plain, permuted = (strongest(tasks.pixels(permuted=p)) for p in (None, 0))
    assert plain.angles[plain.power.argmax()] == pytest.approx(2 * np.pi / 8)
    contrast = lambda s: s.power.max() / np.median(s.power[1:])
    assert contrast(plain) > 10 > 5 > contrast(permuted)


def test_missing_mnist_says_where_it_is_looked_for(monkeypatch, tmp_path):
    def offline(name, home, digest):
        raise OSError("no route")

    monkeypatch.setattr(download, "_download", offline)
    monkeypatch.setenv("REMANENCE_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="8 x 8 digits need no download") as why:
        tasks.pixels("mnist")
    assert str(tmp_path) in str(why.value)
    assert "mnist/train-images-idx3-ubyte.gz" in str(why.value)
    monkeypatch.delenv("REMANENCE_DATA")
    with pytest.raises(FileNotFoundError, match=r"REMANENCE_DATA \(not set\)"):
        tasks.pixels("mnist")


def test_a_file_of_another_content_is_refused(monkeypatch, tmp_path):
    (tmp_path / "mnist").mkdir()
    (tmp_path / "mnist" / "train-images-idx3-ubyte.gz").write_bytes(b"not it")
    monkeypatch.setenv("REMANENCE_DATA", str(tmp_path))
    with pytest.raises(ValueError, match="SHA-256 should start with 440fcabf73cc"):
        tasks.pixels("mnist")
    with pytest.raises(ValueError, match="no data file is called 'cifar'"):
        tasks.data_file("cifar")


@pytest.mark.paper
def test_mnist_peaks_at_its_row():
    try:
        task = tasks.pixels("mnist")
    except FileNotFoundError as error:
        pytest.skip(str(error))
    assert task.test_x.shape == (10_000, 784, 1)
    spectrum = fading_memory.power_spectrum(task.train_x[:2000])
    assert spectrum.angles[spectrum.power.argmax()] == pytest.approx(2 * np.pi / 28)
