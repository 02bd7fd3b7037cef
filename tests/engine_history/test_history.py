from typing import Any

from tools.engine_history.history import Snapshot, collapse, expand, in_order, keys_of, rekey
from tools.engine_history.review import changes


def release(*specs: dict[str, Any], env: dict[str, Any] | None = None, metrics: dict[str, dict[str, bool]] | None = None) -> Snapshot:
    return Snapshot({spec['names'][0]: spec for spec in specs}, env or {}, metrics or {}, {'m': 'gauge'} if metrics else {})


SEQS = {'names': ['--seqs', '-s'], 'type': 'int', 'default': 256}
MORE = {**SEQS, 'default': 1024}
RELEASES = {
    '0.9.0': release(SEQS, env={'X': {'default': '0'}}, metrics={'m': {'V0': False}}),
    '0.10.0': release(MORE, env={'X': {'default': '0'}}, metrics={'m': {'V0': False, 'V1': True}}),
    '0.9.0.post1': release(SEQS, {'names': ['--new'], 'type': 'str'}),
    '0.11.0': release(MORE, env={'X': {'default': '1'}}, metrics={'m': {'V1': False}}),
}


def test_ranges_follow_the_order_of_versions() -> None:
    found = collapse('e', rekey(RELEASES))
    assert found['versions'] == ['0.9.0', '0.9.0.post1', '0.10.0', '0.11.0']
    assert found['flags']['--seqs'] == [
        {'first': '0.9.0', 'last': '0.9.0.post1', 'type': 'int', 'default': 256, 'aliases': ['-s']},
        {'first': '0.10.0', 'last': '0.11.0', 'type': 'int', 'default': 1024, 'aliases': ['-s']},
    ]
    assert found['flags']['--new'] == [{'first': '0.9.0.post1', 'last': '0.9.0.post1', 'type': 'str'}]
    assert found['env']['X'] == [
        {'first': '0.9.0', 'last': '0.9.0', 'default': '0'},
        {'first': '0.10.0', 'last': '0.10.0', 'default': '0'},
        {'first': '0.11.0', 'last': '0.11.0', 'default': '1'},
    ]
    assert found['metrics'] == {'m': {'V0': [['0.9.0', '0.9.0'], ['0.10.0', '0.10.0']], 'V1': [['0.10.0', '0.11.0']]}}
    assert found['hidden_metrics'] == {'m': {'V1': [['0.10.0', '0.10.0']]}}
    assert found['metric_kinds'] == {'m': 'gauge'}


def test_the_shipped_form_holds_all_that_it_was_made_of() -> None:
    shipped = collapse('e', rekey(RELEASES))
    assert collapse('e', rekey(expand(shipped), keys_of(shipped))) == shipped


def test_one_key_through_all_releases_that_every_release_takes() -> None:
    renamed = {
        '1.0.0': release({'names': ['--long-name', '--short'], 'type': 'int'}),
        '1.1.0': release({'names': ['--long-name'], 'type': 'int'}),
        '1.2.0': release({'names': ['--short', '--long-name'], 'type': 'int'}),
    }
    keys = {name: list(rekey(renamed)[name].flags) for name in renamed}
    assert keys == {'1.0.0': ['--short'], '1.1.0': ['--long-name'], '1.2.0': ['--short']}
    kept = {name: list(rekey(renamed, ['--long-name'])[name].flags) for name in renamed}
    assert set(map(tuple, kept.values())) == {('--long-name',)}


def test_what_a_reviewer_reads() -> None:
    order = in_order(RELEASES)
    assert changes(None, RELEASES[order[0]]) == ['1 flags, 1 variables, 1 metrics']
    assert changes(RELEASES[order[1]], RELEASES[order[2]]) == [
        '- flag --new',
        '~ flag --seqs: default 256 -> 1024',
        '+ env X',
        '+ metric m V0',
        '+ metric m V1 (hidden)',
    ]
    assert changes(RELEASES[order[2]], RELEASES[order[3]]) == [
        "~ env X: default '0' -> '1'",
        '+ metric m V1',
        '- metric m V0',
        '- metric m V1 (hidden)',
    ]
