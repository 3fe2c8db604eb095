"""The package as it is installed: complete lists, pins for everything, a wheel that works elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def project(repository: Path) -> dict[str, Any]:
    return tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))


def packages_on_disk(repository: Path) -> set[str]:
    """Dotted names of all folders with Python files below gpusearch/ and kernels/."""
    names = set()
    for folder, root in (("gpusearch", "gpusearch"), ("kernels", "gpusearch.kernels")):
        for file in (repository / folder).rglob("*.py"):
            inside = file.parent.relative_to(repository / folder).parts
            names.add(".".join((root, *inside)))
    return names


def test_every_package_is_listed(project: dict[str, Any], repository: Path) -> None:
    """A new folder that is not in pyproject.toml would be missing from the wheel."""
    setuptools = project["tool"]["setuptools"]
    assert setuptools["packages"] == sorted(packages_on_disk(repository))
    assert setuptools["package-dir"] == {"gpusearch": "gpusearch", "gpusearch.kernels": "kernels"}


def test_every_target_of_make_begins_from_a_clone(repository: Path, tmp_path: Path) -> None:
    """What needs the installation asks for it, and folders are made before something is written into them."""
    for target in ("constraints", "types", "demo"):
        command = ["make", "--dry-run", f"VENV={tmp_path / 'venv'}", target]
        done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True)
        assert done.stdout.index("-m venv") < done.stdout.index("install --quiet")
        if "> build/" in done.stdout:
            assert done.stdout.index("mkdir -p build") < done.stdout.index("> build/")


def canonical(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[\[=<>!~; ]", requirement)[0]).lower()


def test_every_requirement_is_pinned(project: dict[str, Any], repository: Path) -> None:
    """constraints.txt has one version of all that the package and its tests need, directly or not."""
    lines = (repository / "constraints.txt").read_text(encoding="utf-8").split("\n")
    pins = {}
    for line in lines:
        if line and not line.startswith("#"):
            assert re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", line), line
            pins[canonical(line)] = line.partition("==")[2]
    extras = project["project"]["optional-dependencies"]
    pending = [
        *project["project"]["dependencies"],
        *extras["dev"],
        *extras["cuda"],
        *extras["kenlm"],
        *extras["figures"],
    ]
    seen = set()
    while pending:
        name = canonical(pending.pop())
        if name in seen:
            continue
        seen.add(name)
        assert name in pins, name
        try:
            needs = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            assert name == "kenlm", f"{name} is not installed"
            continue
        pending.extend(need for need in needs if ";" not in need)


def run(*command: str | Path, folder: Path, **environment: str) -> str:
    """Standard output of a command that sees nothing of this checkout."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "COV_"))}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy of the files that git knows or would add, by way of the source distribution."""
    copy = tmp_path_factory.mktemp("copy")
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", folder=repository)
    wanted = ("gpusearch/", "kernels/", "pyproject.toml", "README.md", "LICENSE")
    for name in listed.split("\0"):
        if name.startswith(wanted) and (repository / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((repository / name).read_bytes())
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", copy / "dist", folder=copy)
    (built,) = (copy / "dist").glob("*.whl")
    return built


CHECK = """
import pathlib, sys
import gpusearch, gpusearch.kernels, gpusearch.config, gpusearch.cli.main
for module in (gpusearch, gpusearch.kernels):
    assert pathlib.Path(module.__file__).is_relative_to(sys.prefix), module.__file__
assert pathlib.Path(gpusearch.kernels.__file__).parent == pathlib.Path(gpusearch.__file__).parent / "kernels"
print(gpusearch.__version__)
"""


def test_wheel_holds_every_file(wheel: Path, repository: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder, root in (("gpusearch", "gpusearch"), ("kernels", "gpusearch/kernels")):
        for file in (repository / folder).rglob("*.py"):
            assert f"{root}/{file.relative_to(repository / folder).as_posix()}" in names
    assert "gpusearch/py.typed" in names
    assert not [name for name in names if name.split("/")[0] in ("kernels", "tests", "stubs", "build")]


def test_wheel_works_elsewhere(wheel: Path, tmp_path: Path) -> None:
    """In a new environment, from an empty folder: the wheel's files are used, and the script trains and translates.

    The libraries are borrowed from this environment by a .pth file. Python does not follow the .pth files
    that it finds there, so the checkout stays out of sight. `test_wheel_with_its_own_libraries` installs them.
    """
    import gpusearch

    venv.create(tmp_path / "new", with_pip=False)
    python = tmp_path / "new" / "bin" / "python"
    purelib = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=tmp_path).strip())
    (purelib / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    install = ("-m", "pip", "--python", python, "install", "--no-deps", "--no-index", "--quiet", wheel)
    run(sys.executable, *install, folder=tmp_path)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert run(python, "-c", CHECK, folder=empty).strip() == gpusearch.__version__
    script = tmp_path / "new" / "bin" / "gpusearch"
    assert run(script, "--version", folder=empty) == f"gpusearch {gpusearch.__version__}\n"
    assert "doctor" in run(script, "--help", folder=empty)
    for name, text in (("s.fr", "la maison\nla mer\n"), ("s.en", "the house\nthe sea\n")):
        (empty / name).write_text(20 * text, encoding="utf-8")
    run(script, "train", "s.fr", "s.en", "-o", "model", "-q", folder=empty)
    output = run(script, "decode", "-c", "model/model.toml", "--chains", "2", "-q", "s.fr", folder=empty)
    assert output.count("\n") == 40


@pytest.mark.slow
def test_wheel_with_its_own_libraries(wheel: Path, tmp_path: Path, repository: Path) -> None:
    """The same with every library installed anew: nothing is needed that the wheel does not ask for."""
    venv.create(tmp_path / "new", with_pip=True)
    python = tmp_path / "new" / "bin" / "python"
    constraints = repository / "constraints.txt"
    run(python, "-m", "pip", "install", "--quiet", "-c", constraints, wheel, folder=tmp_path)
    empty = tmp_path / "empty"
    empty.mkdir()
    run(python, "-c", CHECK, folder=empty)
    report = run(tmp_path / "new" / "bin" / "gpusearch", "doctor", folder=empty)
    assert "missing" not in report
