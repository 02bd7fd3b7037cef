"""Go runtimes and managed heaps: versions, limits, and the go.mod that a container is built from."""

from collections.abc import Callable

import pytest

from configaudit.result import Result

Found = Callable[..., list[str]]
Run = Callable[..., Result]


def pod(env: str = '', limits: str = '{cpu: "2", memory: 2Gi}', image: str = 'example.com/router:1', name: str = 'router', more: str = '') -> str:
    return (
        f'apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  template:\n    spec:\n      containers:\n'
        f'        - name: {name}\n          image: {image}\n          resources: {{limits: {limits}}}\n' + (f'          env:\n{env}' if env else '') + more
    )


def variable(name: str, value: str) -> str:
    return f'            - {{name: {name}, value: "{value}"}}\n'


def module(go: str, path: str = 'example.com/router', more: str = '') -> str:
    return f'module {path}\n\ngo {go}\n{more}'


@pytest.mark.parametrize(
    ('gomod', 'env', 'limits', 'is_found'),
    [
        (module('1.24'), '', '{cpu: "2"}', True),
        (module('1.24', 'example.com/x/router/v3'), '', '{cpu: 500m}', True),
        (module('1.25'), '', '{cpu: "2"}', False),
        (module('1.25.3'), '', '{cpu: "2"}', False),
        (module('1.25', more='godebug containermaxprocs=0\n'), '', '{cpu: "2"}', True),
        (module('1.24', more='godebug default=go1.25\n'), '', '{cpu: "2"}', False),
        (module('1.24', more='godebug (\n\tcontainermaxprocs=1\n)\n'), '', '{cpu: "2"}', False),
        (module('1.22', more='require (\n\tgo.uber.org/automaxprocs v1.5.3\n)\n'), '', '{cpu: "2"}', False),
        (module('1.22', more='require go.uber.org/automaxprocs v1.6.0 // indirect\n'), '', '{cpu: "2"}', False),
        (module('1.22'), variable('GOMAXPROCS', '2'), '{cpu: "2"}', False),
        (module('1.22'), '', '{memory: 1Gi}', False),
        (module('1.22', 'example.com/other'), '', '{cpu: "2"}', True),
    ],
)
def test_gomaxprocs_unset(found: Found, gomod: str, env: str, limits: str, is_found: bool) -> None:
    assert bool(found({'go.mod': gomod, 'deploy.yaml': pod(env, limits)}, 'gomaxprocs-unset')) is is_found


@pytest.mark.parametrize(
    'files',
    [
        {'go.mod': module('1.22', 'example.com/other'), 'deploy/app.yaml': pod()},
        {'go.mod': module('1.22', 'example.com/other'), 'app.yaml': pod(image='redis:7')},
        {'go.mod': module('1.22', 'example.com/other'), 'app.yaml': pod(more='        - {name: b, image: example.com/b:1}\n')},
        {'a/go.mod': module('1.22'), 'b/app.yaml': pod()},
        {'app.yaml': pod()},
    ],
)
def test_a_module_of_something_else_says_nothing(found: Found, files: dict[str, str]) -> None:
    assert found(files, 'gomaxprocs-unset') == []


def test_evidence_by_folder_alone_is_of_medium_confidence(run: Run) -> None:
    result = run({'go.mod': module('1.22', 'example.com/other'), 'app.yaml': pod()})
    assert [item.confidence for item in result.findings if item.rule.id == 'gomaxprocs-unset'] == ['medium']


def test_an_unknown_go_version_is_not_assessed(run: Run) -> None:
    result = run({'app.yaml': pod(variable('GOMEMLIMIT', '1GiB'))})
    assert 'gomaxprocs-unset' in {item.rule.id for item in result.not_assessed}


@pytest.mark.parametrize(
    ('env', 'rules'),
    [
        (variable('GOMEMLIMIT', '1GiB'), []),
        (variable('GOMEMLIMIT', '2000000000'), []),
        (variable('GOMEMLIMIT', 'off'), []),
        (variable('GOMEMLIMIT', '1950MiB'), ['gomemlimit-above-memory-limit']),
        (variable('GOMEMLIMIT', '1G'), ['gomemlimit-without-unit']),
        (variable('GOGC', 'off') + variable('GOMEMLIMIT', '1GiB'), []),
        (variable('GOGC', 'off'), ['gogc-off-without-memory-limit']),
        (variable('GOGC', '200'), []),
        (variable('GOMAXPROCS', '3'), ['gomaxprocs-above-cpu-limit']),
        (variable('GOMAXPROCS', '2'), []),
        (variable('GOMAXPROCS', '$(CORES)'), []),
    ],
)
def test_environment(found: Found, env: str, rules: list[str]) -> None:
    names = ('gomemlimit-above-memory-limit', 'gomemlimit-without-unit', 'gogc-off-without-memory-limit', 'gomaxprocs-above-cpu-limit')
    assert [item.rpartition(' ')[2] for item in found({'app.yaml': pod(env)}, *names)] == rules


@pytest.mark.parametrize(
    ('env', 'is_found'),
    [
        (variable('JAVA_OPTS', '-Xms1g -Xmx2g'), True),
        (variable('JAVA_OPTS', '-Xmx1536m'), False),
        (variable('JAVA_OPTS', '-Xmx4g -Xmx1g'), False),
        (variable('JAVA_OPTS', '-XX:MaxRAMPercentage=75'), False),
        (variable('NODE_OPTIONS', '--max-old-space-size=2048'), True),
        (variable('NODE_OPTIONS', '--max_old_space_size=1024'), False),
    ],
)
def test_heaps(found: Found, env: str, is_found: bool) -> None:
    assert bool(found({'app.yaml': pod(env)}, 'heap-above-memory-limit')) is is_found


def test_a_heap_on_the_command_line(found: Found) -> None:
    text = 'services:\n  app:\n    image: example.com/a:1\n    command: java -Xmx3g -jar /app.jar\n    mem_limit: 2g\n'
    assert found({'compose.yaml': text}, 'heap-above-memory-limit') == ['compose.yaml:4:23 heap-above-memory-limit']


def test_an_indirect_automaxprocs_leaves_it_open(run: Run) -> None:
    gomod = module('1.22', more='require (\n\tgo.uber.org/automaxprocs v1.6.0 // indirect\n)\n')
    result = run({'go.mod': gomod, 'deploy.yaml': pod()})
    assert 'indirect dependency' in next(item.reason for item in result.not_assessed if item.rule.id == 'gomaxprocs-unset')


_MAIN = 'package main\n\nimport (\n\t"runtime"\n\t"runtime/debug"\n\t{}\n)\n\nfunc main() {{\n\t{}\n}}\n'


@pytest.mark.parametrize(
    ('source', 'is_found'),
    [
        (_MAIN.format('_ "go.uber.org/automaxprocs"', ''), False), (_MAIN.format('"go.uber.org/automaxprocs/maxprocs"', 'maxprocs.Set()'), False),
        (_MAIN.format('', 'runtime.GOMAXPROCS(2)'), False), (_MAIN.format('', 'runtime.GOMAXPROCS(0)'), True), (_MAIN.format('', 'runtime.GOMAXPROCS(threads)'), False),
        (_MAIN.format('', '// runtime.GOMAXPROCS(2)'), True),
    ],
)  # fmt: skip
def test_what_the_source_sets_is_known(found: Found, source: str, is_found: bool) -> None:
    pytest.importorskip('tree_sitter_go')
    assert bool(found({'go.mod': module('1.22'), 'cmd/router/main.go': source, 'deploy.yaml': pod()}, 'gomaxprocs-unset')) is is_found


@pytest.mark.parametrize(('path', 'is_found'), [('cmd/main.go', True), ('tools/a/main.go', False), ('sub/main.go', False)])
def test_a_call_belongs_to_its_own_module(found: Found, path: str, is_found: bool) -> None:
    pytest.importorskip('tree_sitter_go')
    files = {'go.mod': module('1.25'), 'sub/go.mod': module('1.25', 'example.com/sub'), path: _MAIN.format('', 'runtime.GOMAXPROCS(runtime.NumCPU())'), 'deploy.yaml': pod()}
    assert bool(found(files, 'gomaxprocs-from-node-cores')) is is_found


@pytest.mark.parametrize(('source', 'is_found'), [('', True), (_MAIN.format('', 'debug.SetMemoryLimit(1 << 30)'), False), (_MAIN.format('_ "github.com/KimMachineGun/automemlimit"', ''), False)])
def test_a_limit_that_the_source_sets(found: Found, source: str, is_found: bool) -> None:
    pytest.importorskip('tree_sitter_go')
    files = {'go.mod': module('1.25'), 'cmd/main.go': source or 'package main\n', 'deploy.yaml': pod(variable('GOGC', 'off'))}
    assert bool(found(files, 'gogc-off-without-memory-limit')) is is_found
