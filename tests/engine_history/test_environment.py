import pytest

from tools.engine_history.environment import variables

VLLM = {
    'vllm/envs.py': '''
import os
if TYPE_CHECKING:
    VLLM_A: str = "a"

environment_variables = {
    "VLLM_A": lambda: os.getenv("VLLM_A", "a"),
    "VLLM_B": lambda: bool(int(os.environ.get("VLLM_B", "0"))),
    "VLLM_C": lambda: os.environ.get("VLLM_C"),
    "VLLM_D": env_with_choices("VLLM_D", None, ["y", "x"]),
    "VLLM_E": lambda: compute(),
    "VLLM_F": lambda: os.path.join(os.getenv("HOME", "/root"), os.getenv("VLLM_F", "cache")),
}
'''
}
SGLANG = {
    'sglang/srt/environ.py': '''
class Envs:
    SGLANG_A = EnvBool(False)
    SGLANG_B = EnvStr(None)
    SGLANG_C = EnvInt(4)
    SGLANG_D = EnvStr(lambda: folder())
''',
    'sglang/srt/layers/x.py': '''
import os
FLAG = get_bool_env_var("SGLANG_E", "false")
DEEP = int(os.environ.get("SGLANG_F", 3))
if "SGL_G" in os.environ:
    text = os.environ["SGLANG_H"]
other = os.environ.get("CUDA_HOME")
envs.SGLANG_A.get()
''',
    'sglang/test/y.py': 'import os\nos.environ.get("SGLANG_TESTS")\n',
}


def test_the_table_of_vllm() -> None:
    assert variables('vllm', VLLM) == {
        'VLLM_A': {'default': 'a'},
        'VLLM_B': {'default': '0'},
        'VLLM_C': {},
        'VLLM_D': {'choices': ['x', 'y']},
        'VLLM_E': {},
        'VLLM_F': {'default': 'cache'},
    }


def test_declared_and_read_variables_of_sglang() -> None:
    assert variables('sglang', SGLANG) == {
        'SGLANG_A': {'default': 'False'},
        'SGLANG_B': {},
        'SGLANG_C': {'default': '4'},
        'SGLANG_D': {},
        'SGLANG_E': {'default': 'false'},
        'SGLANG_F': {'default': '3'},
        'SGL_G': {},
        'SGLANG_H': {},
    }


@pytest.mark.parametrize('engine', ['vllm', 'sglang'])
def test_a_release_without_variables(engine: str) -> None:
    assert variables(engine, {'vllm/config.py': '', 'sglang/srt/x.py': ''}) == {}
