# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0
"""Make the letters that pages carry: a part of Liberation Sans under a name of its own, as its licence asks of changed copies.

    pip install fonttools brotli
    python3 viz/fonts/make.py FOLDER    # the folder of the module codeberg.org/go-fonts/liberation
"""

import pathlib
import sys

from fontTools import subset
from fontTools.ttLib import TTFont

NAME = "Euryale Sans"
RANGES = [(0x20, 0x7E), (0xA0, 0xFF), (0x131, 0x131), (0x2C6, 0x2DC), (0x391, 0x3C9), (0x2010, 0x2026), (0x2030, 0x203A),
          (0x2070, 0x209C), (0x20AC, 0x20AC), (0x2103, 0x2126), (0x212B, 0x212B), (0x2190, 0x2199), (0x2200, 0x2265), (0x25A0, 0x25CF)]


def make(source: pathlib.Path, style: str) -> None:
    font = TTFont(source / f"liberationsans{style.lower()}" / f"LiberationSans-{style}.ttf")
    options = subset.Options(flavor="woff2", layout_features=["kern"], hinting=False, name_IDs=[0, 1, 2, 4, 6, 13, 14])
    part = subset.Subsetter(options)
    part.populate(unicodes=[c for first, last in RANGES for c in range(first, last + 1)])
    part.subset(font)
    for record in font["name"].names:
        if record.nameID in (1, 4):
            record.string = NAME + ("" if style == "Regular" else " " + style) if record.nameID == 4 else NAME
        elif record.nameID == 6:
            record.string = NAME.replace(" ", "") + "-" + style
    font.flavor = "woff2"
    font.save(pathlib.Path(__file__).parent / f"{style.lower()}.woff2")


for weight in ("Regular", "Bold"):
    make(pathlib.Path(sys.argv[1]), weight)
