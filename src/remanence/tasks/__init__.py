"""What is to be remembered."""

from .adding import adding as adding
from .download import data_file as data_file
from .music import Music as Music, music as music
from .pixels import drawn_digits as drawn_digits, Pixels as Pixels, pixels as pixels
from .series import sunspots as sunspots
from .text import characters as characters, columns as columns, Text as Text, wikitext as wikitext
