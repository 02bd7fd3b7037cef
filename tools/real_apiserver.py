"""Builds etcd and kube-apiserver from their Go modules, once, for the test of publishing against a real API server.

    python tools/real_apiserver.py [FOLDER]

FOLDER (else CONFIGAUDIT_APISERVER, else ~/.cache/configaudit/apiserver) then holds `etcd`, `kube-apiserver` and the CRDs that
deploy/ and the reports need; programs that are there already are not built again. Needs Go as new as KUBERNETES asks, some 5 GB of disk for Go's caches,
and minutes. Exit status 1: a step failed, with Go's own words on standard error.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

KUBERNETES = 'v1.36.3'
ETCD = 'v3.6.16'
CRDS = (
    ('github.com/openreports/reports-api', 'v0.2.1', 'config/crd', ('openreports.io_clusterreports.yaml', 'openreports.io_reports.yaml')),
    (
        'github.com/prometheus-operator/prometheus-operator', 'v0.85.0', 'example/prometheus-operator-crd',
        ('monitoring.coreos.com_podmonitors.yaml', 'monitoring.coreos.com_prometheusrules.yaml'),
    ),
)  # fmt: skip
"""(module, version, folder in it, files)."""
ENVIRONMENT = {'GOFLAGS': '-mod=mod -trimpath -buildvcs=false', 'CGO_ENABLED': '0', 'GOWORK': 'off'}


def folder_of(words: list[str]) -> Path:
    """Where the programs are kept."""
    return Path(words[0] if words else os.environ.get('CONFIGAUDIT_APISERVER') or '~/.cache/configaudit/apiserver').expanduser().resolve()


def go(*words: str, cwd: str) -> str:
    """Run Go at low priority, with its messages on standard error. CalledProcessError when it fails."""
    return subprocess.run(['nice', 'go', *words], cwd=cwd, env={**os.environ, **ENVIRONMENT}, check=True, stdout=subprocess.PIPE, text=True).stdout


def fetch(module: str, version: str, cwd: str) -> dict[str, Any]:
    """Where Go keeps the source of a module."""
    held: dict[str, Any] = json.loads(go('mod', 'download', '-json', f'{module}@{version}', cwd=cwd))
    return held


def staging(source: str, cwd: str) -> list[str]:
    """The modules that Kubernetes develops in its own tree and publishes as v0.MINOR.PATCH."""
    replaced = json.loads(go('mod', 'edit', '-json', str(Path(source) / 'go.mod'), cwd=cwd))['Replace']
    return [item['Old']['Path'] for item in replaced if item['New']['Path'].startswith('./staging/')]


def build(package: str, module: str, version: str, target: Path) -> None:
    """Build a program of a module whose go.mod cannot be built from outside: in a module that requires it."""
    with tempfile.TemporaryDirectory() as cwd:
        go('mod', 'init', 'build', cwd=cwd)
        source = fetch(module, version, cwd)
        edits = [f'-require={module}@{version}']
        if module == 'k8s.io/kubernetes':
            edits += [f'-replace={name}={name}@v0{version.removeprefix("v1")}' for name in staging(source['Dir'], cwd)]
        go('mod', 'edit', *edits, cwd=cwd)
        made = Path(cwd) / target.name
        go('build', '-ldflags=-s -w', '-o', str(made), package, cwd=cwd)
        shutil.move(made, target)


def main(words: list[str]) -> int:
    """Build what is missing."""
    folder = folder_of(words)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for module, version, inside, names in CRDS:
            source = Path(fetch(module, version, str(folder))['Dir']) / inside
            for name in names:
                (folder / name).write_bytes((source / name).read_bytes())
        if not (folder / 'etcd').exists():
            build('go.etcd.io/etcd/server/v3', 'go.etcd.io/etcd/server/v3', ETCD, folder / 'etcd')
        if not (folder / 'kube-apiserver').exists():
            build('k8s.io/kubernetes/cmd/kube-apiserver', 'k8s.io/kubernetes', KUBERNETES, folder / 'kube-apiserver')
    except (OSError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1
    print(folder)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
