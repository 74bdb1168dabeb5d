"""The keys of a system file, together with the keys of the files that it extends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from os import PathLike, path

from typelattice.base.errors.error_texts import spelling_hint
from typelattice.base.objects.frozen_classes import field, frozen, replace
from typelattice.core.system_files.system_text import (
    OPERATION_SETS_KEY,
    SYSTEMS_FOLDER,
    FormatError,
    OrderRow,
    SystemText,
    UnknownSystemError,
    WordChain,
    is_name,
    join_errors,
    list_operations,
    read_text,
    split_names,
    systems,
    toml_type_name,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typelattice.core.system_files.release_files import Release

TYPE_BY_KEY: dict[str, type] = {
    **dict.fromkeys(("name", "title", "source", "library", "extends", "order", "combine", "weak-join"), str),
    **dict.fromkeys(("dtypes", "sets", OPERATION_SETS_KEY, "ties", "overrides", "refusals"), dict),
    **dict.fromkeys(("defaults", "before", "after"), dict),
    "requested": dict, "foreign": dict, "limits": dict, "fit": dict, "ops": dict, "casts": dict,
    "stand-in": dict,
    "tiers": list, "both-ways": list, "first-is-array": bool,
}  # fmt: skip
MAX_EXTENDED_FILES = 8  # files of which each extends the next
# Keys that say which words and nodes an entry of `ops` may name.
KEYS_NEEDED_BY_OPERATIONS = ("dtypes", "sets", OPERATION_SETS_KEY, "order")
INHERITED_MARK = "..."  # means the inherited value, in an order and among the entries of a table


@frozen()
class SystemDefinition:
    """The keys of a file and of those that it extends, the text that gave each, the order by its statements.

    `main_values` are the keys that the main text gives, in addition to the keys of `base`. `checked_entries`
    are entries of `ops` that have no mistakes, so that they need not be read before their first use.
    """

    values: Mapping[str, object]
    texts: Mapping[str, SystemText]
    order: Sequence[tuple[OrderRow, WordChain]]
    main: SystemText
    main_values: Mapping[str, object] = field(default_factory=dict)
    base: SystemDefinition | None = None
    is_whole: bool = True  # false if lines of its files were removed
    checked_entries: Mapping[str, object] = field(default_factory=dict)
    mistakes: Sequence[FormatError] = ()  # mistakes in keys of the texts
    broken: frozenset[str] = frozenset()  # keys that were dropped because of a mistake

    def override_keys(self, checked_keys: CheckedKeys, text: SystemText) -> SystemDefinition:
        """Return a definition with other values for some keys. `...` means the inherited value."""
        order, keys = self.order, checked_keys.values
        mistakes, broken = (
            [*self.mistakes, *checked_keys.mistakes],
            {*(self.broken - keys.keys()), *checked_keys.broken},
        )
        values = {}
        for key, value in keys.items():
            try:
                values[key] = self._merge_entries(key, value, text)
            except FormatError as e:
                mistakes.append(e)
                broken.add(key)
        if "order" in keys:
            order = []
            try:
                for row, chain in text.parse_statements(str(keys["order"])):
                    dots = chain == [[INHERITED_MARK]]
                    if dots and (not self.order or self.order[0] in order):
                        cause = "`...` stands, once, for the order of the file that `extends` names"
                        raise text.error_in_order(row[1], cause)
                    order += self.order if dots else [(row, chain)]
            except FormatError as e:
                mistakes.append(e)
                broken.add("order")
        return SystemDefinition(
            {**self.values, **values},
            {**self.texts, **dict.fromkeys(keys, text)},
            order,
            text,
            keys,
            self,
            mistakes=mistakes,
            broken=frozenset(broken),
        )

    def _merge_entries(self, key: str, value: object, text: SystemText) -> object:
        """Return the value of a key. A table with `"..." = true` adds its entries to the inherited ones.

        An empty entry removes the inherited one.
        """
        if not isinstance(value, dict) or INHERITED_MARK not in value:
            return value
        if value[INHERITED_MARK] is not True or not self.entries_of_key(key):
            cause = f'`"{INHERITED_MARK}" = true` stands for the entries of the file that `extends` names'
            raise text.error_at(cause, key, INHERITED_MARK)
        before, given = (
            self.entries_of_key(key),
            {entry: said for entry, said in value.items() if entry != INHERITED_MARK},
        )
        return {
            entry: said for entry, said in {**before, **given}.items() if said != {} or entry not in before
        }

    def text_of_entry(self, key: str, entry: str | int | None) -> SystemText:
        """Return the text that gives a key or an entry of it: a table may inherit some of another file."""
        definition: SystemDefinition | None = self
        while definition is not None:
            value = definition.main_values.get(key)
            is_inherited = (
                isinstance(value, dict)
                and INHERITED_MARK in value
                and entry is not None
                and entry not in value
            )
            if value is not None and not is_inherited:
                return definition.main
            definition = definition.base
        return self.main

    def main_text_states(self, key: str, entry: str | None = None) -> bool:
        """Return True if the main text itself gives a key or an entry, and no line was removed."""
        return self.is_whole and key in self.texts and self.text_of_entry(key, entry) is self.main

    def entries_of_key(self, key: str) -> Mapping[str, object]:
        found = self.values.get(key)
        return found if isinstance(found, dict) else {}

    def replace_keys(self, keys: Mapping[str, object]) -> SystemDefinition:
        """Return the definition with other values for some keys. A table changes entry by entry.

        They mean the same as in a file that extends this one: an empty table empties the inherited one, an
        empty entry removes the inherited one. Raises FormatError for values that no file could have, and for
        `extends`, which is read from files only.
        """
        text = SystemText(
            f"{self.main.file} with {', '.join(keys)} replaced", str(keys.get("order", "")), is_toml=False
        )
        if "extends" in keys:
            cause = "is read from files only; replace other keys, or write a file that extends this one"
            raise text.error_at(cause, "extends")
        given = _check_keys({key: _copy_plain(value, key, text) for key, value in keys.items()}, text)
        values = dict(given.values)
        for key, value in values.items():
            if isinstance(value, dict) and value and self.entries_of_key(key):
                values[key] = {INHERITED_MARK: True, **value}
        return self.override_keys(replace(given, values=values), text)

    def text_of(self, file: str) -> SystemText | None:
        """Return the text of one of the files with the keys."""
        if self.main.file == file:
            return self.main
        return self.base.text_of(file) if self.base else None

    def drop_lines(self, file: str, lines: Sequence[int]) -> SystemDefinition:
        """Return the definition without some lines of one file.

        Raises FormatError if the rest is not TOML.
        """
        if self.base is None:
            return self
        base, text, own = self.base.drop_lines(file, lines), self.main, self.main_values
        if text.file == file:
            kept = [line for n, line in enumerate(text.lines, 1) if n not in lines]
            text = SystemText(file, "\n".join(kept), text.path)
            own = {key: value for key, value in _read_values(text).values.items() if key != "extends"}
        return replace(base.override_keys(CheckedKeys(own), text), is_whole=False)

    def mark_checked(self, valid: SystemDefinition) -> SystemDefinition:
        """Return the definition with the entries of `ops` that it shares with a valid one as checked.

        Entries depend on a few other keys, and on operations that entries define, so these must be the same.
        """
        ops, valid_ops = self.entries_of_key("ops"), valid.entries_of_key("ops")
        if any(self.values.get(key) != valid.values.get(key) for key in KEYS_NEEDED_BY_OPERATIONS):
            return self
        if _entries_that_define(ops) != _entries_that_define(valid_ops):
            return self
        same = {entry: said for entry, said in ops.items() if valid_ops.get(entry) == said}
        return replace(self, checked_entries=same)

    def drop_replaced(self, file: str, key: str, entry: str | None) -> SystemDefinition:
        """Return the definition without a key that a program has replaced, or without one entry of it."""
        if self.base is None:
            return self
        base, own = self.base.drop_replaced(file, key, entry), dict(self.main_values)
        said = own.get(key)
        if self.main.file == file and isinstance(said, dict) and said and entry is not None:
            own[key] = {word: value for word, value in said.items() if word != entry}
        elif self.main.file == file:
            own.pop(key, None)
        return replace(base.override_keys(CheckedKeys(own), self.main), is_whole=False)


def _entries_that_define(ops: Mapping[str, object]) -> Mapping[str, object]:
    """Return the entries that define an operation: they say which known one it is like."""
    return {entry: said for entry, said in ops.items() if isinstance(said, dict) and "like" in said}


def read_definition(
    file_path: str | PathLike[str], extending_paths: tuple[str, ...] = (), release: Release | None = None
) -> SystemDefinition:
    """Read the keys of a file that the files at `extending_paths` extend, maybe in an older `release`.

    Raises UnknownSystemError if it cannot be read, FormatError if it is not a system file.
    """
    return parse_definition(read_text(file_path), extending_paths, release)


def parse_definition(
    text: SystemText, extending_paths: tuple[str, ...] = (), release: Release | None = None
) -> SystemDefinition:
    """Return the keys of a text, added to the keys of the file that it extends. Raises FormatError."""
    given, base = _read_values(text), SystemDefinition({}, {}, (), text)
    keys = {key: value for key, value in given.values.items() if key != "extends"}
    if "extends" in given.values:
        paths_so_far = (*extending_paths, text.path) if text.path else extending_paths
        try:
            base = _read_base(str(given.values["extends"]), text, paths_so_far, release)
        except FormatError as e:  # without the other file, nothing else can be checked
            raise join_errors([*given.mistakes, e]) from None
    elif "extends" in given.broken:
        raise join_errors(given.mistakes)
    return base.override_keys(replace(given, values=keys), text)


@frozen()
class CheckedKeys:
    """The known keys with values of the right types, the mistakes in others, and the broken keys."""

    values: Mapping[str, object]
    mistakes: Sequence[FormatError] = ()
    broken: frozenset[str] = frozenset()


def _read_values(text: SystemText) -> CheckedKeys:
    """Return the keys that a text gives."""
    return _check_keys(text.values(), text)


def _check_keys(values: Mapping[str, object], text: SystemText) -> CheckedKeys:
    """Return the known keys with values of the right types. Split entries for lists of operations."""
    kept: dict[str, object] = {}
    mistakes: list[FormatError] = []
    broken: set[str] = set()
    for key, value in values.items():
        if key not in TYPE_BY_KEY:
            near = spelling_hint(key, TYPE_BY_KEY) or f"; the keys are {', '.join(TYPE_BY_KEY)}"
            mistakes.append(text.error_at(f"unknown key{near}", key))
            broken |= {each for each in TYPE_BY_KEY if spelling_hint(key, [each])}
        elif not isinstance(value, TYPE_BY_KEY[key]):
            cause = f"should be {toml_type_name(TYPE_BY_KEY[key])}, not {toml_type_name(type(value))}"
            mistakes.append(text.error_at(cause, key))
            broken.add(key)
        else:
            kept[key] = value
    operation_sets: Mapping[str, list[str]] = {}
    if OPERATION_SETS_KEY in kept:
        operation_sets = _read_operation_sets(kept[OPERATION_SETS_KEY], text, mistakes)
        kept[OPERATION_SETS_KEY] = {**operation_sets}
    ops = kept.get("ops")
    if isinstance(ops, dict):
        kept["ops"] = _split_entries(ops, operation_sets, text, mistakes)
    return CheckedKeys(kept, mistakes, frozenset(broken - kept.keys()))


def _read_operation_sets(
    table: object, text: SystemText, mistakes: list[FormatError]
) -> dict[str, list[str]]:
    """Return the lists of operations that a text names, and note mistakes."""
    found: dict[str, list[str]] = {}
    assert isinstance(table, dict)
    for name, members in table.items():
        if name == INHERITED_MARK:
            cause = "lists of operations are not inherited; write those that this file uses"
        elif not isinstance(members, str):
            cause = f"should list operations in a string, not be {toml_type_name(type(members))}"
        elif not is_name(name, 60, "_-"):
            cause = f"{name[:60]!r} is no name for a list of operations; take letters, digits, _ and -"
        elif not text.is_shipped and _is_operation_or_class(name):
            cause = f"{name} is an operation or a class of them; give the list another name"
        else:
            found[name] = split_names(members)
            continue
        mistakes.append(text.error_at(cause, OPERATION_SETS_KEY, name))
    return found


def _is_operation_or_class(name: str) -> bool:
    from typelattice.core.system_files.entry_names import ENTRY_NAMES  # only files of users are checked

    return name in ENTRY_NAMES


def _split_entries(
    table: Mapping[str, object],
    operation_sets: Mapping[str, list[str]],
    text: SystemText,
    mistakes: list[FormatError],
) -> dict[str, object]:
    """Give each operation of `"mean, divide" = {…}` its own entry, and note mistakes.

    An operation in two entries follows both.
    """
    found: dict[str, object] = {}
    for entry, given in table.items():
        for op in list_operations(entry, operation_sets):
            if op not in found:
                found[op] = given
                continue
            earlier = found[op]
            if not isinstance(earlier, dict) or not isinstance(given, dict):
                cause = f"{op} stands in two entries, of which one is no table; write one entry"
                mistakes.append(text.error_at(cause, "ops", entry, word=op))
                continue
            twice = [key for key in given if key in earlier]
            for key in twice:
                cause = f"{op} stands in two entries, and both have {key}; leave it out of one"
                mistakes.append(text.error_at(cause, "ops", entry, word=op))
            if not twice:
                found[op] = {**earlier, **given}
    return found


def _copy_plain(value: object, key: str, text: SystemText, depth: int = 0) -> object:
    """Copy a value with all lists and tables in it.

    Raises FormatError for a value that TOML cannot express.
    """
    from typelattice.core.system_files.positions import MAX_NESTING

    if depth > MAX_NESTING:
        raise text.error_at(f"nested too deep: more than {MAX_NESTING} lists and tables", key)
    if isinstance(value, dict):
        for word in value:
            if not isinstance(word, str):
                raise text.error_at(
                    f"the entries of a table are strings, not {toml_type_name(type(word))}", key
                )
        return {word: _copy_plain(inner, key, text, depth + 1) for word, inner in value.items()}
    return [_copy_plain(inner, key, text, depth + 1) for inner in value] if isinstance(value, list) else value


def _read_base(
    name: str, text: SystemText, extending_paths: tuple[str, ...], release: Release | None
) -> SystemDefinition:
    """Return the file that another extends: one in the same folder, or a shipped one."""
    make_error = partial(text.error_at, key="extends")
    if not is_name(name, 100, ".@-"):
        raise make_error(f"{name[:60]!r} is out of the folder; name a system, or a file beside this one")
    name = name.removesuffix(".toml")
    folders = [path.dirname(text.path), SYSTEMS_FOLDER] if text.path else [SYSTEMS_FOLDER]
    found = _list_files(name, folders)
    if "@" in name and not found:
        from typelattice.core.system_files.release_files import (
            read_release,  # most files do not extend an older release
        )

        try:
            release = read_release(name)
        except UnknownSystemError as e:
            raise make_error(str(e)) from None
        name = name.partition("@")[0]
        found = _list_files(name, folders)
    elif not found:
        raise make_error(
            f"no system {name!r}{spelling_hint(name, systems())}; name a system, or a file beside this one"
        )
    older_than_it = text.path is not None and path.basename(text.path).startswith(f"{name}@")
    if release is not None and not older_than_it:
        found = _list_files(release.stem(name), folders)
    other_files = [choice for choice in found if choice != text.path]
    if not other_files or other_files[0] in extending_paths:
        circle = " -> ".join(path.basename(p)[:-5] for p in (*extending_paths, (other_files or found)[0]))
        raise make_error(f"a circle: {circle}; remove one `extends`")
    if len(extending_paths) > MAX_EXTENDED_FILES:
        raise make_error(f"more than {MAX_EXTENDED_FILES} files deep; extend a nearer one")
    return (
        read_shipped_definition(other_files[0], release)
        if path.dirname(other_files[0]) == SYSTEMS_FOLDER
        else read_definition(other_files[0], extending_paths, release)
    )


@cache
def read_shipped_definition(file_path: str, release: Release | None) -> SystemDefinition:
    """Return the keys of a shipped file. It is read once, since several files extend it."""
    return read_definition(file_path, release=release)


def _list_files(name: str, folders: Sequence[str]) -> list[str]:
    """Return the system files of a name in some folders."""
    choices = [path.join(folder, f"{name}.toml") for folder in folders]
    return [path.realpath(choice) for choice in choices if path.isfile(choice)]
