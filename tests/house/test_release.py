"""What a release is built of: addresses in the package, the conda recipe, the version stated once."""
from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

import typelattice

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import project_urls

ROOT = Path(__file__).parents[2]
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_addresses_of_the_place_that_builds_a_release_are_written_into_it() -> None:
    written = project_urls.with_urls(PROJECT, "https://example.org/us/tl", "https://us.example.org/tl")
    urls = tomllib.loads(written)["project"]["urls"]
    assert urls["Documentation"] == "https://us.example.org/tl"
    assert urls["Repository"] == "https://example.org/us/tl"
    without = {key: value for key, value in tomllib.loads(written)["project"].items() if key != "urls"}
    assert without == tomllib.loads(PROJECT)["project"]


@pytest.mark.parametrize("address", ["http://example.org", "https://a b", 'https://a"\nx = 1', ""])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(SystemExit, match="no address"):
        project_urls.with_urls(PROJECT, "https://example.org/us/tl", address)


def test_the_conda_recipe_is_of_this_version_and_this_project() -> None:
    recipe = (ROOT / "tools" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    project = tomllib.loads(PROJECT)["project"]
    assert f'version: "{typelattice.__version__}"' in recipe
    assert f"summary: \"{project['description']}\"" in recipe and project["license"] in recipe
    least = project["requires-python"].removeprefix(">=")
    assert f'- "{least}"' in (ROOT / "tools" / "conda" / "variants.yaml").read_text(encoding="utf-8")
    for name, entry in project["scripts"].items():
        assert f"- {name} = {entry}\n" in recipe
    for each in project["optional-dependencies"]["numpy"]:
        assert f"- {each.replace('>=', ' >=')}\n" in recipe
