"""What is to be remembered."""

from .adding import adding
from .download import data_file
from .music import Music, music
from .pixels import drawn_digits, Pixels, pixels
from .series import sunspots
from .text import characters, columns, Text, wikitext
