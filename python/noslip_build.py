"""Builds wheels of noslip: the backend that pyproject.toml names (PEP 517, PEP 660).

It compiles the C library with CMake and Ninja and packs it beside the Python files. Nothing is
downloaded. NOSLIP_LIBRARY=FILE packs a library that is already built.
"""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sysconfig
import tarfile
import tempfile
import zipfile

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _field(name):
    with open(os.path.join(HOME, "pyproject.toml"), encoding="utf-8") as file:
        return re.search(rf'^{name} = "(.*)"$', file.read(), re.M).group(1)


VERSION = _field("version")
DIST_INFO = f"noslip-{VERSION}.dist-info"


def _tag():
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"py3-none-{platform}"


def _metadata():
    with open(os.path.join(HOME, "README.md"), encoding="utf-8") as file:
        readme = file.read()
    head = [
        "Metadata-Version: 2.1",
        "Name: noslip",
        f"Version: {VERSION}",
        f"Summary: {_field('description')}",
        "License: MIT",
        "Requires-Python: >=3.9",
        "Requires-Dist: numpy",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(head) + "\n\n" + readme


def _wheel_facts():
    return (
        f"Wheel-Version: 1.0\nGenerator: noslip_build\nRoot-Is-Purelib: false\nTag: {_tag()}\n"
    )


def _build_library(folder):
    """The path of the shared library, built in `folder` unless there is one already."""
    ready = os.environ.get("NOSLIP_LIBRARY")
    if ready:
        return ready
    options = ["TESTS", "BENCH", "MPI"]
    subprocess.check_call(
        ["cmake", "-S", HOME, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
        + [f"-DNOSLIP_{option}=OFF" for option in options]
    )
    subprocess.check_call(["cmake", "--build", folder, "--target", "noslip_shared"])
    return os.path.join(folder, "libnoslip.so")


class _Wheel:
    """A wheel while it is written: files with their checksums for RECORD."""

    def __init__(self, folder):
        self.name = f"noslip-{VERSION}-{_tag()}.whl"
        self.zip = zipfile.ZipFile(
            os.path.join(folder, self.name), "w", compression=zipfile.ZIP_DEFLATED
        )
        self.record = []

    def add(self, name, data, mode=0o644):
        info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
        info.external_attr = (0o100000 | mode) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}")

    def close(self):
        self.add(f"{DIST_INFO}/METADATA", _metadata().encode())
        self.add(f"{DIST_INFO}/WHEEL", _wheel_facts().encode())
        self.record.append(f"{DIST_INFO}/RECORD,,")
        self.zip.writestr(f"{DIST_INFO}/RECORD", "\n".join(self.record) + "\n")
        self.zip.close()
        return self.name


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    wheel = _Wheel(wheel_directory)
    package = os.path.join(HOME, "python", "noslip")
    for name in sorted(os.listdir(package)):
        if name.endswith((".py", ".typed")):
            wheel.add(f"noslip/{name}", _read(os.path.join(package, name)))
    folder = tempfile.mkdtemp(prefix="noslip-build-")
    try:
        wheel.add("noslip/libnoslip.so", _read(_build_library(folder)), 0o755)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return wheel.close()


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The package stays where it is; the library is looked for in build/."""
    wheel = _Wheel(wheel_directory)
    wheel.add("noslip.pth", (os.path.join(HOME, "python") + "\n").encode())
    return wheel.close()


def build_sdist(sdist_directory, config_settings=None):
    name = f"noslip-{VERSION}"
    files = subprocess.check_output(["git", "ls-files"], cwd=HOME, text=True).splitlines()
    with tarfile.open(os.path.join(sdist_directory, name + ".tar.gz"), "w:gz") as archive:
        for file in files:
            archive.add(os.path.join(HOME, file), f"{name}/{file}", recursive=False)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as facts:
            facts.write(_metadata())
            facts.flush()
            archive.add(facts.name, f"{name}/PKG-INFO")
    return name + ".tar.gz"


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_sdist = get_requires_for_build_editable = get_requires_for_build_wheel
