"""A witness: it stands at one operation of a program, is told of each time it runs, and counts what it saw.

This is what a traced program runs most. Where the same was seen before, a witness looks up the operands'
steps, counts, and links the result to its step; everything else is the recorder's.
"""

from __future__ import annotations

from typing import Any
from weakref import ref

from typelattice.tracing.call_witness import CallWitness
from typelattice.tracing.keys import bounds
from typelattice.tracing.links import MANY


class Witness(CallWitness):
    """What stands at one operation, of whatever sort."""

    __slots__ = ()

    # -- what the rewritten program calls

    def binary(self, a: Any, b: Any, result: Any) -> Any:
        """An operator of two operands."""
        kind = self.kinds[type(result)]
        if kind is None:
            return result
        live = self.live
        found = live.get(id(a))
        left = found[1] if found is not None and found[0]() is a else self.unlinked(a, 0)
        found = live.get(id(b))
        right = found[1] if found is not None and found[0]() is b else self.unlinked(b, 1)
        key = left, right, kind.mark(result)
        note = self.known.get(key) or self.recorder.operator(self, key, result)
        if note is not None:
            size = kind.size(result)
            note.count += 1
            note.bytes += size
            if kind.direct and len(live) < MANY:
                live[id(result)] = ref(result), note.number
            else:
                self.recorder.link(result, kind, note.number)
        return result

    def unary(self, a: Any, result: Any) -> Any:
        """An operator of one operand."""
        kind = self.kinds[type(result)]
        if kind is not None:
            key = self.part(a, 0), kind.mark(result)
            note = self.known.get(key) or self.recorder.operator(self, key, result)
            self.link(note, kind, result)
        return result

    def in_place(self, a: Any, b: Any, result: Any) -> Any:
        """An operator such as `+=`, which may write into its left operand."""
        kind = self.kinds[type(result)]
        if kind is not None:
            key = self.part(a, 0), self.part(b, 1), kind.mark(result), result is a
            note = self.known.get(key) or self.recorder.in_place(self, key, result)
            self.link(note, kind, result)
        return result

    def item(self, a: Any, index: Any, result: Any) -> Any:
        """Elements of an array; or what an object such as `np.r_` makes of an index."""
        kind = self.kinds[type(result)]
        if kind is None:
            return result
        if self.kinds[type(a)] is not None:
            arrays = () if type(index) is int or type(index) is slice else self.index(index)
            key = self.part(a, 0), kind.mark(result), arrays
            note = self.known.get(key) or self.recorder.item(self, key, result)
            self.link(note, kind, result)
        elif name := self.recorder.joining[type(a)]:
            entries = index if type(index) is tuple else (index,)
            key = ("", name), self.tokens(map(bounds, entries)), kind.mark(result)
            note = self.known.get(key) or self.recorder.joined(self, key, entries, result)
            self.link(note, kind, result)
        return result

    def attribute(self, a: Any, result: Any) -> Any:
        """An attribute that computes an array, such as `x.T`."""
        kind = self.kinds[type(result)]
        if kind is not None and result is not a and self.kinds[type(a)] is not None:
            key = self.part(a, 0), kind.mark(result)
            note = self.known.get(key) or self.recorder.attribute(self, key, result)
            self.link(note, kind, result)
        return result

    def put(self, value: Any, a: Any) -> Any:
        """A value that is about to be assigned to elements of `a`."""
        if self.kinds[type(a)] is not None and type(value) is not int and type(value) is not bool:
            key = self.part(a, 0), self.part(value, 1)
            if None not in key:
                note = self.known.get(key) or self.recorder.put(self, key, a)
                if note is not None:
                    note.count += 1
        return value

    def forgotten(self, a: Any) -> Any:
        """An array that is about to be resized, which NumPy does only where nothing else refers to it."""
        self.live.pop(id(a), None)
        return a
