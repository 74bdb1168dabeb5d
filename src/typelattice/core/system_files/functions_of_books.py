"""The operations of a system: those that its file defines, and the functions of its library's book."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from typelattice.base.objects.frozen_classes import replace
from typelattice.core.system_files.system_definition import SystemDefinition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typelattice.core.operations.operations import Operation
else:
    Operation = object



class CustomOperations(Mapping[str, Operation]):
    """The operations that a system's file defines, and functions of books with one of these as dtype rule.

    Most questions are about other operations, so the books are read when one of their functions is looked up.

    >>> from typelattice import system
    >>> system("torch").custom_operations["elu"].also_like
    ('float_maps',)
    """

    def __init__(self, defined: Mapping[str, Operation], libraries: Sequence[str]) -> None:
        self._defined, self._libraries = defined, libraries
        self._rule_by_function: Mapping[str, str] | None = None
        self._functions: dict[str, Operation] = {}

    @property
    def rule_by_function(self) -> Mapping[str, str]:
        """The functions of the books with a rule that the file defines, each with the name of its rule.

        The book of the library itself counts before that of a library whose file is extended.
        """
        if self._rule_by_function is None:
            from typelattice.core.books.read_book import find_rules, functions_by_rule

            rules: dict[str, str] = {}
            for library in reversed(self._libraries):
                known = functions_by_rule(library)
                rules |= {function: known.get(function, "") for function in find_rules(library)}
            self._rule_by_function = {
                function: rule
                for function, rule in rules.items()
                if rule in self._defined and function not in self._defined
            }
        return self._rule_by_function

    def __contains__(self, name: object) -> bool:
        if name in self._defined:
            return True
        if name in _known_operations() or not isinstance(name, str):
            return False
        return _rule_of_part(name) in self._defined or bool(self._defined and name in self.rule_by_function)

    def __getitem__(self, name: str) -> Operation:
        if name in self._functions:
            return self._functions[name]
        rule = name if name in self._defined else _rule_of_part(name) or self.rule_by_function[name]
        made = self._defined[rule]
        if name != rule:
            also_like = (rule, *made.also_like)
            made = replace(made, name=name, function=name, also_like=also_like)
        elif name in self.rule_by_function.values():
            made = replace(made, is_class=True)
        return self._functions.setdefault(name, made)

    def __iter__(self) -> Iterator[str]:
        yield from self._defined
        yield from self.rule_by_function

    def __len__(self) -> int:
        return len(self._defined) + len(self.rule_by_function)


@cache  # an import in each question takes longer than the question
def _known_operations() -> Mapping[str, Operation]:
    """Return all operations that need no system, by each of their names."""
    from typelattice.core.operations.operations import OPERATION_BY_NAME

    return OPERATION_BY_NAME


def _rule_of_part(name: str) -> str:
    """Return the rule in the name of a part of a function, or an empty text for any other name."""
    from typelattice.core.books.read_book import PART_SEPARATOR

    return name.partition(PART_SEPARATOR)[2]


def libraries_of_definition(definition: SystemDefinition) -> Sequence[str]:
    """Return the libraries of a file and of those that it extends, its own first.

    >>> from typelattice import system
    >>> libraries_of_definition(system("torch-autocast").origin.definition)
    ('torch',)
    """
    found: list[str] = []
    base: SystemDefinition | None = definition
    while base is not None:
        stated = base.values.get("library")
        found += [stated.partition(" ")[0]] if isinstance(stated, str) else []
        base = base.base
    return tuple(dict.fromkeys(filter(None, found)))
