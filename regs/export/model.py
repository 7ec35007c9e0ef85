# SPDX-License-Identifier: Apache-2.0
"""The plain model between the SystemRDL reader and the three writers.

A writer sees only these classes, so that all three agree on what exists, in which order and under which name.
"""
from dataclasses import dataclass, field as dc_field
from typing import List, Optional

WORD_BITS = 64


class ModelError(Exception):
    """The description breaks a rule of this project; the text names the item and the rule."""


class Names:
    """The items of one generated file share a scope: a name made twice is an error of the description."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.seen = set()

    def __call__(self, name: str) -> str:
        if name in self.seen:
            raise ModelError(f"{self.where} would have two items called {name}")
        self.seen.add(name)
        return name


@dataclass
class Member:
    name: str
    value: int
    desc: str


@dataclass
class Enum:
    name: str
    width: int
    members: List[Member]

    @property
    def max_value(self) -> int:
        return max(m.value for m in self.members)


@dataclass
class Const:
    name: str
    value: int
    desc: str


@dataclass
class Field:
    name: str
    lsb: int
    width: int
    desc: str
    encode: Optional[str]
    sw: str
    hw: str
    reset: int
    gap: bool = False

    @property
    def msb(self) -> int:
        return self.lsb + self.width - 1

    @property
    def mask(self) -> int:
        return ((1 << self.width) - 1) << self.lsb

    @property
    def word(self) -> int:
        return self.lsb // WORD_BITS


def _gap(lsb: int, width: int) -> Field:
    return Field(f"rsvd_{lsb}", lsb, width, "Reserved, zero.", None, "na", "na", 0, gap=True)


def with_gaps(fields: List[Field], width: int) -> List[Field]:
    """Fields in ascending order with every hole filled by a reserved field."""
    filled, at = [], 0
    for fld in sorted(fields, key=lambda f: f.lsb):
        if fld.lsb > at:
            filled.append(_gap(at, fld.lsb - at))
        filled.append(fld)
        at = fld.msb + 1
    if at < width:
        filled.append(_gap(at, width - at))
    return filled


@dataclass
class Struct:
    name: str
    width: int
    desc: str
    fields: List[Field]

    @property
    def words(self) -> int:
        return self.width // WORD_BITS

    @property
    def all_fields(self) -> List[Field]:
        return with_gaps(self.fields, self.width)

    @property
    def reserved_mask(self) -> int:
        return sum(f.mask for f in self.all_fields if f.gap)


@dataclass
class Reg:
    name: str
    offset: int
    width: int
    desc: str
    fields: List[Field]
    stride: int = 0
    count: int = 0  # 0: no array

    @property
    def reset(self) -> int:
        return sum(f.reset << f.lsb for f in self.fields)

    @property
    def write_mask(self) -> int:
        return sum(f.mask for f in self.fields if "w" in f.sw)

    @property
    def all_fields(self) -> List[Field]:
        return with_gaps(self.fields, self.width)


@dataclass
class Map:
    name: str
    desc: str
    size: int
    regs: List[Reg]


@dataclass
class Model:
    enums: List[Enum] = dc_field(default_factory=list)
    consts: List[Const] = dc_field(default_factory=list)
    structs: List[Struct] = dc_field(default_factory=list)
    maps: List[Map] = dc_field(default_factory=list)
