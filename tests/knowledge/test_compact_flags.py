import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).parents[2] / 'tools' / 'compact_flags.py'
HISTORY = {
    'engine': 'tiny',
    'versions': ['1.0', '1.1', '1.2'],
    'flags': {
        '--old_name': [
            {
                'first': '1.0',
                'last': '1.0',
                'spec': {'type': 'int', 'default': 4, 'flags': ['--old_name', '-o'], 'help': 'prose'},
            }
        ],
        '--old-name': [
            {'first': '1.1', 'last': '1.2', 'spec': {'type': 'int', 'default': 4, 'flags': ['--old-name', '-o']}}
        ],
        '--lazy': [
            {'first': '1.1', 'last': '1.1', 'spec': {'type': 'str', 'default': {'$dyn': 'code()'}, 'flags': ['--lazy']}}
        ],
        '--switch': [
            {
                'first': '1.0',
                'last': '1.2',
                'spec': {'type': 'bool', 'default': False, 'flags': ['--switch'], 'action': 'BooleanOptionalAction'},
            }
        ],
        '--moved': [
            {
                'first': '1.2',
                'last': '1.2',
                'spec': {
                    'type': 'list[int]',
                    'default': None,
                    'flags': ['--moved'],
                    'deprecated': True,
                    'dest': 'new_place',
                    'choices': ['b', 'a', 'a'],
                },
            }
        ],
    },
    'env': {'X': [{'first': '1.0', 'last': '1.2', 'spec': {'default': '0'}}]},
}


@pytest.fixture(scope='module')
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location('compact_flags', TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def written(tool: ModuleType, tmp_path: Path) -> dict[str, dict[str, list[dict[str, object]]]]:
    source, output = tmp_path / 'history.json', tmp_path / 'out.json'
    source.write_text(json.dumps(HISTORY))
    assert tool.main([str(source), str(output)]) == 0
    found: dict[str, dict[str, list[dict[str, object]]]] = json.loads(output.read_text())
    return found


def test_spellings_are_one_option_and_equal_neighbours_one_range(
    written: dict[str, dict[str, list[dict[str, object]]]],
) -> None:
    assert written['flags']['--old-name'] == [
        {'first': '1.0', 'last': '1.2', 'type': 'int', 'default': 4, 'aliases': ['-o']}
    ]


def test_code_does_not_get_in(written: dict[str, dict[str, list[dict[str, object]]]]) -> None:
    assert written['flags']['--lazy'] == [{'first': '1.1', 'last': '1.1', 'type': 'str', 'computed': True}]
    assert 'code()' not in json.dumps(written)
    assert 'prose' not in json.dumps(written)


def test_actions_lists_and_targets(written: dict[str, dict[str, list[dict[str, object]]]]) -> None:
    assert written['flags']['--switch'][0]['boolean'] == 'bool_optional'
    moved = written['flags']['--moved'][0]
    assert (moved['nargs'], moved['target'], moved['choices']) == ('+', '--new-place', ['a', 'b'])


def test_output_does_not_depend_on_the_order_of_the_input(tool: ModuleType) -> None:
    turned = {**HISTORY, 'flags': dict(reversed(list(HISTORY['flags'].items())))}  # type: ignore[attr-defined]
    assert tool.lines(tool.catalogue(turned, None)) == tool.lines(tool.catalogue(HISTORY, None))


def test_others_keep_the_source(tool: ModuleType) -> None:
    row = {'setting': 'a', 'default': 1, 'where': 'flag', 'note': '', 'extra': 'x'}
    found = tool.others({'e': {'image': 'i', 'source': 's', 'settings': [row]}})
    assert found == {
        'e': {'image': 'i', 'source': 's', 'settings': [{'setting': 'a', 'default': 1, 'where': 'flag', 'note': ''}]}
    }
