"""Env files: variables for whoever names the file (compose, docker run, systemd)."""

from configaudit.extract.carriers.interpolation import interpolate
from configaudit.extract.process import Data, Reading, nothing
from configaudit.extract.words import Word
from configaudit.parse.dotenv import read_env
from configaudit.places import Document, Place
from configaudit.units import HOLE


def read(document: Document) -> Reading:
    """The variables of one env file, stored under its path."""
    reading = nothing()
    values: dict[str, Word] = {}
    body = document.text
    for entry in read_env(body).entries:
        place = Place(document, entry.start, entry.end)
        if entry.value == HOLE:
            word = Word(HOLE, place, False, f'${entry.key} is passed on from the environment of whoever starts it')
        else:
            word = Word(entry.value, place, body[entry.start : entry.end] == entry.value)
            if body[entry.start - 1 : entry.start] != "'":
                word = interpolate(word, values)
        values[entry.key] = word
    reading.data.append(Data('envfile', '', document.path, values))
    return reading
