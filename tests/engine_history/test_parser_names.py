"""Names of parsers as the three styles of vLLM's sources register them, and their history."""

import pytest

from tools.engine_history.parser_names import history, registered, spans

DECORATED = '''
@ToolParserManager.register_module(["llama4_json", "llama3_json"])
class Llama: ...

@ToolParserManager.register_module("hermes")
class Hermes: ...

@ReasoningParserManager.register_module(name="qwen3")
class Qwen: ...
'''
TABLE = '''
_TOOL_PARSERS_TO_REGISTER = {
    "xlam": ("xlam_tool_parser", "xLAM"),
    "jamba": ("jamba_tool_parser", "Jamba"),
}
OTHER = {"not": "a parser"}
'''


@pytest.mark.parametrize(
    ('text', 'names'),
    [(DECORATED, {'llama4_json', 'llama3_json', 'hermes', 'qwen3'}), (TABLE, {'xlam', 'jamba'}), ('manager.register_module(name)', set())],
)
def test_registered_names(text: str, names: set[str]) -> None:
    assert registered(text) == names


def test_a_name_that_comes_back_has_two_spans() -> None:
    assert spans(['1.0', '1.1', '1.2', '1.3'], {'1.0', '1.2', '1.3'}) == [['1.0', '1.0'], ['1.2', '1.3']]


def test_each_kind_is_read_from_its_own_folder() -> None:
    old = {'vllm/entrypoints/openai/tool_parsers/hermes.py': DECORATED, 'vllm/reasoning/qwen3.py': 'M.register_module("qwen3")'}
    found = history(['1.0', '1.1'], {'1.0': old, '1.1': {'vllm/tool_parsers/__init__.py': TABLE}})
    assert found['tool'] == {'hermes': [['1.0', '1.0']], 'jamba': [['1.1', '1.1']], 'llama3_json': [['1.0', '1.0']], 'llama4_json': [['1.0', '1.0']], 'qwen3': [['1.0', '1.0']], 'xlam': [['1.1', '1.1']]}
    assert found['reasoning'] == {'qwen3': [['1.0', '1.0']]}
