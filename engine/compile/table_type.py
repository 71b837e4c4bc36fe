"""Tables: named tuples of arrays, passed to kernels as one pointer.

Owns the numba type, through its public extension interface. Must not know the engine.

numba unpacks a tuple of arrays at every call into nine words an array: a function of the engine would have 200 to 600
arguments, and most compile time would go into passing them. Of a table only one address is passed, where its arrays'
addresses and sizes are stored.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numba.misc.special import typeof
from numba.np import arrayobj

from ..errors import LibraryError

WORD = ir.IntType(64)
BYTES = 8


class TableType(types.Type):
    """The type of a table: its fields' names and types, arrays or tables again."""

    def __init__(self, name: str, fields: tuple) -> None:
        self.fields = dict(fields)
        # part of the names of all functions that take the table, so it is short
        digest = hashlib.sha256(repr(fields).encode()).hexdigest()[:8]
        super().__init__(f"{name}_{digest}")

    @property
    def words(self) -> int:
        return sum(map(_words, self.fields.values()))


@register_model(TableType)
class TableModel(models.PrimitiveModel):
    """For the compiler a table is a pointer."""

    def __init__(self, manager, table: TableType) -> None:
        super().__init__(manager, table, cgutils.voidptr_t)


def _words(kind: types.Type) -> int:
    """The number of words of a field: an array has its address and its sizes."""
    return kind.words if isinstance(kind, TableType) else 1 + kind.ndim


def register(kind: type[NamedTuple]) -> type:
    """Register named tuples of this class as tables. A table's arrays never move, so what numba asks at every call is
    cached."""

    class Table(kind):
        @cached_property
        def _type(self) -> TableType:
            return TableType(kind.__name__, tuple((name, _type_of(self, name)) for name in kind._fields))

        @cached_property
        def _written(self) -> bytes:
            """The addresses and sizes of the arrays, field by field, as kernels read them."""
            return np.array(_numbers(self), dtype=np.int64).tobytes()

        def __reduce__(self) -> tuple:
            return type(self), tuple(self)  # the arrays of a copy have other addresses

    Table.__name__, Table.__qualname__, Table.__doc__ = kind.__name__, kind.__qualname__, kind.__doc__
    Table.__module__ = kind.__module__
    typeof_impl.register(Table)(lambda table, _context: table._type)
    return Table


def _type_of(table: tuple, name: str) -> types.Type:
    found = typeof(getattr(table, name))
    if not isinstance(found, TableType) and getattr(found, "layout", "") != "C":
        raise LibraryError(f"'{name}' of the table '{type(table).__name__}' is {found}: use an array without gaps.")
    return found


def _numbers(table: tuple) -> list[int]:
    out = []
    for each in table:
        if isinstance(each, tuple):
            out += _numbers(each)
        else:
            out += (each.__array_interface__["data"][0], *each.shape)
    return out


@unbox(TableType)
def unbox_table(table, value, c):
    """A table that comes from Python is the address of that description."""
    written = c.pyapi.object_getattr_string(value, "_written")
    failed = cgutils.is_null(c.builder, written)
    place = cgutils.alloca_once_value(c.builder, cgutils.get_null_value(cgutils.voidptr_t))
    with c.builder.if_then(c.builder.not_(failed)):
        c.builder.store(c.pyapi.bytes_as_string(written), place)
    return NativeValue(c.builder.load(place), is_error=failed, cleanup=lambda: c.pyapi.decref(written))


@infer_getattr
class TableFields(AttributeTemplate):
    key = TableType

    def generic_resolve(self, table: TableType, name: str):
        return table.fields.get(name)


@lower_getattr_generic(TableType)
def get_field(context, builder, table, place, name):
    """A field of a table: the address of a table inside it, or an array."""
    before = 0
    for other, kind in table.fields.items():
        if other == name:
            break
        before += _words(kind)
    here = builder.gep(place, [ir.Constant(WORD, before * BYTES)], inbounds=True, source_etype=ir.IntType(8))
    if isinstance(kind, TableType):
        return here
    return builder.call(_reader(context, builder.module, kind), [here])


def _reader(context, module, kind: types.Array) -> ir.Function:
    """A function that reads one array's address and sizes.

    The compiler is told that they never change, and merges the function into its callers: writing to an array cannot
    move another, so they are read once and not in every loop.
    """
    array = context.get_value_type(kind)
    name = f"heft_read_{kind.dtype}_{kind.ndim}"
    function = cgutils.get_or_insert_function(module, ir.FunctionType(array, [cgutils.voidptr_t]), name)
    if not function.is_declaration:
        return function
    function.linkage = "linkonce_odr"
    for word in ("alwaysinline", "nounwind"):
        function.attributes.add(word)
    builder = ir.IRBuilder(function.append_basic_block())
    never_changes = module.add_metadata([])

    def read(k: int, word):
        at = builder.gep(function.args[0], [ir.Constant(WORD, k * BYTES)], inbounds=True, source_etype=ir.IntType(8))
        out = builder.load(builder.bitcast(at, word.as_pointer()))
        out.set_metadata("invariant.load", never_changes)
        return out

    out = arrayobj.make_array(kind)(context, builder)
    size = ir.Constant(WORD, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    shape = [read(1 + k, WORD) for k in range(kind.ndim)]
    strides, stride = [], size
    for extent in reversed(shape):
        strides.insert(0, stride)
        stride = builder.mul(stride, extent)
    items = ir.Constant(WORD, 1)
    for extent in shape:
        items = builder.mul(items, extent)
    arrayobj.populate_array(
        out,
        data=read(0, context.get_data_type(kind.dtype).as_pointer()),
        shape=cgutils.pack_array(builder, shape),
        strides=cgutils.pack_array(builder, strides),
        itemsize=size,
        meminfo=None,
        parent=None,
    )
    builder.ret(out._getvalue())
    return function
