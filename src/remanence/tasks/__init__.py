"""What is to be remembered."""

from .adding import adding as adding
from .copying import copying as copying
from .download import data_file as data_file
from .language_pairs import (
    circulant_pairs as circulant_pairs,
    nested_pairs as nested_pairs,
    published_pairs as published_pairs,
    word_permutations as word_permutations,
)
from .modular import Modular as Modular
from .music import Music as Music, music as music
from .pixels import Pixels as Pixels, pixels as pixels
from .series import sunspots as sunspots, windows as windows
from .text import (
    characters as characters,
    columns as columns,
    encoded as encoded,
    Text as Text,
    wikitext as wikitext,
)
from .words import (
    END as END,
    necklaces as necklaces,
    START as START,
    Word as Word,
    word as word,
)
