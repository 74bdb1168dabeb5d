"""Consequences of the choices at places: groups that must agree, sensitivities, and estimated bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

from typelattice.repair.tune.libraries import tuned_library
from typelattice.repair.tune.operation_sites import NarrowLoss, OperationSite
from typelattice.repair.tune.place_edits import width_of
from typelattice.repair.tune.places import NUMBER, PARAMETER, STORED, Place

Choices = Mapping[Place, str]  # the chosen dtype of places; a place that follows may have none
SENSITIVITY_DECAY = 0.5  # of each step between a place and an operation that depends on it


@dataclass(frozen=True, slots=True)
class FoundLoss:
    """The loss of an operation, and how many steps lie between it and a place."""

    site: OperationSite
    loss: NarrowLoss
    distance: int


@dataclass(frozen=True, eq=False)
class SiteGraph:
    """The operations of a run, with the operations that use their results, and the places among them."""

    sites: Sequence[OperationSite]
    places: Sequence[Place]

    @cached_property
    def place_by_site(self) -> dict[int, Place]:
        """The place at which a site's dtype is decided."""
        return {
            number: place for place in self.places for number in place.sites
            if place.sort not in (PARAMETER, NUMBER, STORED)
        }  # fmt: skip

    @cached_property
    def stored_by_site(self) -> dict[int, Place]:
        """The place at which the result of a site can be cast when it is stored."""
        return {number: place for place in self.places for number in place.sites if place.sort == STORED}

    @cached_property
    def users(self) -> list[set[int]]:
        """The sites that take the result of each site."""
        found: list[set[int]] = [set() for _ in self.sites]
        for number, site in enumerate(self.sites):
            for maker in site.inputs:
                found[maker].add(number)
        return found

    @cached_property
    def groups(self) -> list[tuple[Place, ...]]:
        """The places in groups that must have the same dtype, as some operation refuses anything else."""
        leader = {place: place for place in self.places}

        def find(place: Place) -> Place:
            while leader[place] is not place:
                place = leader[place]
            return place

        for number, site in enumerate(self.sites):
            if site.modules:
                agreeing = [p for i in sorted(site.modules) if (p := self.place_by_site.get(i)) is not None]
                for place in agreeing[1:]:
                    leader[find(place)] = find(agreeing[0])
            elif self._must_agree(site):
                agreeing = [p for p in self._find_deciding_places(number) if not p.follows]
                for place in agreeing[1:]:
                    leader[find(place)] = find(agreeing[0])
        found: dict[Place, list[Place]] = {}
        for place in self.places:
            if not place.follows:
                found.setdefault(find(place), []).append(place)
        return [tuple(group) for group in found.values()]

    def find_place_of_parameter(self, number: int) -> Place | None:
        """Return the place that decides the dtype of a parameter, also if it was made of one other array."""
        seen: set[int] = set()
        while number not in self.place_by_site and number not in seen:
            seen.add(number)
            if len(self.sites[number].inputs) != 1:
                return None
            (number,) = self.sites[number].inputs
        return self.place_by_site.get(number)

    def _must_agree(self, site: OperationSite) -> bool:
        """Return True if a site's operation refuses operands of different dtypes."""
        library = tuned_library(site.library)
        return library is not None and site.name in library.agreeing_operations

    def _find_deciding_places(self, number: int) -> list[Place]:
        """Return the places whose dtypes reach the operands of a site as they are.

        They pass through operations of one operand, and through those whose operands must agree.
        """
        found: dict[Place, None] = {}
        seen, todo = {number}, [*self.sites[number].inputs]
        while todo:
            each = todo.pop()
            if each in seen:
                continue
            seen.add(each)
            if self.sites[each].modules:  # its result has the dtype of its parameters
                todo += self.sites[each].modules
                continue
            place = self.place_by_site.get(each)
            if place is not None and not place.follows:
                found[place] = None
            elif len(self.sites[each].inputs) == 1 or self._must_agree(self.sites[each]):
                todo += self.sites[each].inputs
        return [*found]

    def find_losses(self, place: Place, dtype: str) -> list[FoundLoss]:
        """Return the losses of a place's own operations, and of those that depend on them, in a dtype."""
        distance_by_site: dict[int, int] = {}
        todo = [(number, 0) for number in place.sites]
        for number, distance in todo:
            if number not in distance_by_site:
                distance_by_site[number] = distance
                todo += [(user, distance + 1) for user in sorted(self.users[number])]
        found = []
        for number, distance in distance_by_site.items():
            loss = self.sites[number].losses.get(dtype)
            if loss is not None:
                found.append(FoundLoss(self.sites[number], loss, distance))
        return found

    def sensitivity(self, group: Sequence[Place], dtype: str) -> float:
        """Return the largest loss of what depends on a group, less for what is farther away."""
        found = (each for place in group for each in self.find_losses(place, dtype))
        return max((x.loss.error * SENSITIVITY_DECAY**x.distance for x in found), default=0.0)

    def estimate_bytes(self, choices: Choices) -> float:
        """Estimate the bytes of all float arrays under some choices: the widest operand wins.

        An expression that is cast afterwards makes two arrays.
        """
        total = 0.0
        for number, (site, width) in enumerate(zip(self.sites, self.estimate_widths(choices), strict=True)):
            own = width_of(site.dtype) or 1
            total += site.bytes * width / own
            for place in (self.stored_by_site.get(number), self.place_by_site.get(number)):
                if (
                    place is not None
                    and place.is_cast_afterwards
                    and width_of(choices.get(place, "")) not in (0, own)
                ):
                    total += site.bytes
        return total

    def estimate_widths(self, choices: Choices) -> list[int]:
        """Estimate the width of each site's result. Loops are followed at most 8 times."""
        parameters: dict[int, int] = {}
        for place in self.places:
            if place.sort == PARAMETER or (place.sort == NUMBER and place in choices):
                for number in place.sites:
                    width = width_of(choices.get(place, place.dtype))
                    parameters[number] = max(parameters.get(number, 0), width)
        widths = [0] * len(self.sites)
        for _ in range(8):
            before = [*widths]
            for number, site in enumerate(self.sites):
                widths[number] = self._estimate_width(number, site, widths, parameters, choices)
            if widths == before:
                break
        return widths

    def find_argument_casts(self, choices: Choices) -> Iterator[tuple[OperationSite, int | str, str]]:
        """Yield the arguments of objects with parameters that have another dtype than those, and that dtype.

        What has another dtype in the program itself stays so: the object takes it.
        """
        dtypes = self.estimate_dtypes(choices)
        for site in self.sites:
            own = {self.sites[i].dtype for i in site.modules}
            chosen = {dtypes[i] for i in site.modules}
            if len(chosen) != 1:
                continue
            (dtype,) = chosen
            for key, operands in site.operands.items():
                for operand in operands:
                    now = dtypes[operand.maker] if operand.maker is not None else operand.dtype
                    if now != dtype and (operand.dtype in own or chosen != own or now != operand.dtype):
                        yield site, key, dtype

    def estimate_dtypes(self, choices: Choices) -> list[str]:
        """Estimate the dtype of each site's result, of equally wide ones that of the ladder."""
        names = {width_of(d): d for d in (*(s.dtype for s in self.sites), *choices.values())}
        return [
            site.dtype if width == width_of(site.dtype) else names.get(width, site.dtype)
            for site, width in zip(self.sites, self.estimate_widths(choices), strict=True)
        ]

    def _estimate_width(
        self,
        number: int,
        site: OperationSite,
        widths: Sequence[int],
        parameters: Mapping[int, int],
        choices: Choices,
    ) -> int:
        stored = self.stored_by_site.get(number)
        if stored is not None and stored in choices:
            return width_of(choices[stored])
        place = self.place_by_site.get(number)
        if place is not None and place in choices:
            return width_of(choices[place])
        if site.modules:
            return max(widths[i] for i in site.modules)
        if place is not None and not place.follows:
            return width_of(place.dtype)
        if site.target is not None and widths[site.target]:
            return widths[site.target]
        library = tuned_library(site.library)
        scalars = library is None or library.scalars_widen or not site.dimensions
        makers = [
            i for i in site.inputs if (scalars or self.sites[i].dimensions) and not self.sites[i].is_weak
        ]
        found = max((widths[i] for i in makers), default=0)
        return max(found, parameters.get(number, 0)) or width_of(site.dtype)


def severity(found: FoundLoss) -> float:
    """Order losses: the larger comes first, and of equal ones the nearer."""
    return found.loss.error * SENSITIVITY_DECAY ** min(found.distance, 40) if found.loss.error != inf else inf
