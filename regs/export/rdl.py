# SPDX-License-Identifier: Apache-2.0
"""Reads the SystemRDL description into the plain model and refuses what the project does not allow."""
import re
from typing import List, Tuple

from systemrdl import RDLCompiler
from systemrdl.node import AddrmapNode, FieldNode, RegfileNode, RegNode

from model import WORD_BITS, Const, Enum, Field, Map, Member, Model, ModelError, Reg, Struct

CONST_MAP = "constants"  # each register is a constant: the reset value of its one field
STRUCT_MAP = "layouts"
REG_MAPS = (("bar", 64), ("mcu", 32))
RESERVED = set(
    # Words that cannot name a struct member in SystemVerilog.
    "alias always and assert assign assume automatic before begin bind bins bit break buf byte case cell chandle "
    "checker class clocking config const constraint context continue cover cross deassign default defparam design "
    "covergroup coverpoint disable dist do edge else end endcase endchecker endclass endclocking endconfig endfunction "
    "endgenerate endgroup endinterface endmodule endpackage endprimitive endprogram endproperty endsequence endspecify "
    "endtable endtask enum event expect export extends extern final first_match for force "
    "forever fork function generate genvar global highz0 highz1 if iff ifnone implies import include initial inout "
    "input inside instance int integer interface intersect join large let liblist library local localparam logic "
    "longint macromodule matches medium modport module nand negedge new nexttime nor not null or output package "
    "packed parameter pmos posedge primitive priority program property protected pull0 pull1 pure rand randc ref "
    "real realtime reg reject_on release repeat restrict return rtran scalared sequence shortint shortreal signed "
    "small soft solve specify static string strong struct super supply0 supply1 table tagged task this throughout "
    "time timeprecision timeunit tran tri type typedef union unique unsigned until use uwire var vectored virtual "
    "void wait wait_order wand weak while wildcard wire with within wor xnor xor".split())


def _text(value) -> str:
    """A description as one line."""
    return " ".join(value.split()) if value else ""


def _blank_strings_and_comments(text: str) -> str:
    pattern = r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/'
    return re.sub(pattern, lambda m: '""' if m.group(0)[0] == '"' else " ", text, flags=re.S)


def _root_enum_literals(text: str) -> List[Tuple[str, dict]]:
    """(enum name, {member: literal width or None}) for each enum at root scope, in the order of the text.

    The compiler keeps only a member's value; the width of an enum is the width its literals were written with.
    """
    text = _blank_strings_and_comments(text)
    found, depth = [], 0
    for token in re.finditer(r"\benum\s+(\w+)\s*\{|[{}]", text):
        if token.group(0) == "}":
            depth -= 1
            continue
        depth += 1
        if token.group(1) and depth == 1:
            body = _braced(text, token.end())
            members = re.findall(r"(\w+)\s*=\s*(?:(\d+)\s*')?", body)
            found.append((token.group(1), {n: int(w) if w else None for n, w in members}))
    return found


def _braced(text: str, start: int) -> str:
    """The text from start to the brace that closes the block, with inner blocks left out."""
    out, depth = [], 1
    for char in text[start:]:
        depth += {"{": 1, "}": -1}.get(char, 0)
        if depth == 0:
            break
        if depth == 1:
            out.append(char)
    return "".join(out)


def _enum(compiler: RDLCompiler, name: str, widths: dict) -> Enum:
    members = [Member(m.name, m.value, _text(m.rdl_desc)) for m in compiler.namespace.lookup_type(name)]
    seen = {widths.get(m.name) for m in members}
    if len(seen) != 1 or None in seen:
        raise ModelError(f"enum {name}: all members need literals of one width, like 8'h01")
    enum = Enum(name, seen.pop(), members)
    if enum.width > 31 or enum.max_value >> enum.width:
        raise ModelError(f"enum {name}: width {enum.width} is over 31 bits or too small for its largest value")
    return enum


def _const(node: RegNode) -> Const:
    value = [f.get_property("reset") for f in node.fields()]
    if len(value) != 1 or not isinstance(value[0], int):
        raise ModelError(f"constant {node.inst_name}: needs one field with a reset value")
    return Const(node.inst_name, value[0], _text(node.get_property("desc", default="")))


def _field(node: FieldNode, where: str) -> Field:
    encode = node.get_property("encode")
    name = node.inst_name
    if name in RESERVED or name.startswith("rsvd"):
        raise ModelError(f"{where}.{name}: the name is a SystemVerilog word or kept for reserved fields")
    if node.lsb // WORD_BITS != node.msb // WORD_BITS:
        raise ModelError(f"{where}.{name}: crosses a {WORD_BITS}-bit word boundary")
    reset = node.get_property("reset")
    return Field(name, node.lsb, node.width, _text(node.get_property("desc", default="")),
                 encode.type_name if encode else None, node.get_property("sw").name, node.get_property("hw").name,
                 reset if isinstance(reset, int) else 0)


def _struct(node: RegNode) -> Struct:
    name = node.get_property("bdy_struct", default=None) or node.inst_name
    width = node.get_property("regwidth")
    if width % WORD_BITS:
        raise ModelError(f"struct {name}: width {width} is no multiple of {WORD_BITS}")
    return Struct(name, width, _text(node.get_property("desc", default="")), [_field(f, name) for f in node.fields()])


def _array_of(node) -> Tuple[int, int]:
    """(stride, count) of the innermost array that holds the register; (0, 0) without one."""
    at = node
    while isinstance(at, (RegNode, RegfileNode)):
        if at.is_array:
            if len(at.array_dimensions) != 1:
                raise ModelError(f"{at.inst_name}: only one array dimension is exported")
            return at.array_stride, at.array_dimensions[0]
        at = at.parent
    return 0, 0


def _first_address(node) -> int:
    """Offset in its map of the register's first element, whatever arrays enclose it."""
    address, at = 0, node
    while isinstance(at, (RegNode, RegfileNode)):
        address += at.raw_address_offset
        at = at.parent
    return address


def _regs(parent, prefix: str, width: int) -> List[Reg]:
    regs = []
    for child in parent.children(unroll=False):
        name = prefix + child.inst_name
        if isinstance(child, RegfileNode):
            regs += _regs(child, name + "_", width)
        elif isinstance(child, RegNode):
            if child.get_property("regwidth") != width:
                raise ModelError(f"register {name}: must be {width} bits wide in this map")
            stride, count = _array_of(child)
            regs.append(Reg(name, _first_address(child), width, _text(child.get_property("desc", default="")),
                            [_field(f, name) for f in child.fields()], stride, count))
        else:
            raise ModelError(f"{name}: only registers and register files are exported")
    return regs


def _top(compiler: RDLCompiler, name: str) -> AddrmapNode:
    return compiler.elaborate(top_def_name=name).top


def load(path: str) -> Tuple[Model, List[str]]:
    """The model of one description and the names of the files it includes. Raises ModelError or RDLCompileError."""
    compiler = RDLCompiler()
    info = compiler.preprocess_file(path)
    compiler.compile_file(path)
    model = Model()
    for name, widths in _root_enum_literals(info.preprocessed_text):
        model.enums.append(_enum(compiler, name, widths))
    model.consts = [_const(reg) for reg in _top(compiler, CONST_MAP).registers(unroll=False)]
    model.structs = [_struct(reg) for reg in _top(compiler, STRUCT_MAP).registers(unroll=False)]
    for name, width in REG_MAPS:
        top = _top(compiler, name)
        model.maps.append(Map(name, _text(top.get_property("desc", default="")), top.size, _regs(top, "", width)))
    known = {e.name for e in model.enums}
    for owner in [*model.structs, *(r for m in model.maps for r in m.regs)]:
        for fld in owner.fields:
            if fld.encode and fld.encode not in known:
                raise ModelError(f"{owner.name}.{fld.name}: enum {fld.encode} is not declared at root scope")
    return model, list(info.included_files)
