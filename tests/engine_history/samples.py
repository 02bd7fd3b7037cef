"""Small sources in the styles that the engines have had, written for these tests."""

# vLLM up to 0.8.4: calls of add_argument with defaults from a dataclass.
OLD = {
    'vllm/engine/arg_utils.py': '''
import argparse
from dataclasses import dataclass, field
from typing import List, Optional
from vllm.config import LoadFormat

def nullable_str(val):
    return None if not val or val == "None" else val

class StoreBoolean(argparse.Action):
    pass

@dataclass
class EngineArgs:
    model: str = "toy"
    seqs: int = 256
    swap: float = 4
    layers: List[int] = field(default_factory=lambda: [1, 2])
    load_format: str = LoadFormat.AUTO

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--model", type=str, default=EngineArgs.model, help="Name of the model.")
        parser.add_argument("--max-num-seqs", "--seqs", type=int, default=EngineArgs.seqs, help="A batch.")
        parser.add_argument("--swap_space", type=float, default=EngineArgs.swap)
        parser.add_argument("--layers", type=int, nargs="+", default=EngineArgs.layers)
        parser.add_argument("--load-format", default=EngineArgs.load_format, choices=[f.value for f in LoadFormat])
        parser.add_argument("--tokenizer", type=nullable_str)
        parser.add_argument("--chunked", action=StoreBoolean, nargs="?", const="True")
        parser.add_argument("--eager", action="store_true", help="DEPRECATED. Will be removed in v0.9.0.")
        for arg, kind in [("--guided-a", str), ("--guided-b", bool)]:
            parser.add_argument(arg, type=kind, default=None)
        return parser
''',
    'vllm/config.py': '''
import enum

class LoadFormat(str, enum.Enum):
    AUTO = "auto"
    PT = "pt"
''',
    'vllm/entrypoints/openai/cli_args.py': '''
import os
import ssl
from vllm.engine.arg_utils import EngineArgs

def make_arg_parser(parser):
    parser.add_argument("--host", type=nullable_str, default=None)
    parser.add_argument("--cert", type=int, default=int(ssl.CERT_NONE))
    parser.add_argument("--key", type=str, default=os.environ.get("KEY"))
    parser.add_argument("--middleware", type=str, action="append", default=[])
    parser = EngineArgs.add_cli_args(parser)
    return parser
''',
    'vllm/scripts.py': '''
from vllm.entrypoints.openai.cli_args import make_arg_parser

def main():
    parser = FlexibleArgumentParser(description="CLI")
    parser.add_argument("-v", "--version", action="version", version="1")
    subparsers = parser.add_subparsers(required=True)
    serve_parser = subparsers.add_parser("serve", help="serve")
    serve_parser.add_argument("model_tag", type=str)
    serve_parser.add_argument("--config", type=str, default="")
    serve_parser = make_arg_parser(serve_parser)
    chat_parser = subparsers.add_parser("chat")
    chat_parser.add_argument("--system-prompt")
''',
}

# vLLM from 0.8.5: keywords derived from the fields of configuration classes; from 0.10.0 the server's flags as well.
DERIVED = {
    'vllm/config/__init__.py': 'from vllm.config.cache import CacheConfig\nfrom vllm.config.utils import config\n',
    'vllm/config/utils.py': 'def config(cls):\n    return cls\n',
    'vllm/config/cache.py': '''
from typing import Annotated, Literal
from pydantic import Field, SkipValidation
from vllm.config.utils import config
from vllm.config.limits import Limits

Kind = Literal["auto", "fp8"]
DEFAULT = 0.9

@config
class Other:
    depth: int = 1

@config
class CacheConfig:
    share: float = Field(default=DEFAULT + 0.02, gt=0, le=1)
    """Share of memory."""
    kind: Kind = "auto"
    loose: Kind | str = "auto"
    prefix: bool | None = None
    length: int = Field(default=None, ge=-1)
    """Deprecated: will be removed in v0.12."""
    count: int | None = None
    sizes: list[int] | None = None
    modules: list[Literal["b", "a"]] = Field(default_factory=list)
    other: Other = Field(default_factory=Other)
    extra: dict[str, int] = Field(default_factory=dict)
    text_or_table: dict | str | None = None
    bounded: Annotated[int, Field(ge=1)] = 3
    limits: Limits = Field(default_factory=dict)
    skipped: SkipValidation[str] = None
''',
    'vllm/config/limits.py': 'class Limits(dict[str, int]):\n    pass\n',
    'vllm/engine/arg_utils.py': '''
import argparse
import json
from vllm.config import CacheConfig

_PREFIX_DEPRECATION_MESSAGE = "--no-prefix is fine, --prefix is deprecated." " It will be removed in v0.34.0."
_LOOSE_DEPRECATION_MESSAGE = "--loose is deprecated and will be removed in v0.34.0."

def human_readable_int(value):
    return int(value)

def human_readable_int_or_auto(value):
    return int(value)

def _compute_kwargs(cls):
    kwargs = {}
    for field in fields(cls):
        name = field.name
        if contains_type(field.type, int):
            human_readable_ints = {"count"}
            if name == "length":
                kwargs[name]["type"] = human_readable_int_or_auto
            elif name in human_readable_ints:
                kwargs[name]["type"] = human_readable_int
            else:
                kwargs[name]["type"] = int
    return kwargs

def get_kwargs(cls):
    return copy.deepcopy(_compute_kwargs(cls))

class EngineArgs:
    share: float = CacheConfig.share

    @staticmethod
    def add_cli_args(parser):
        kwargs = get_kwargs(CacheConfig)
        group = parser.add_argument_group(title="CacheConfig", description=CacheConfig.__doc__)
        group.add_argument("--share", "--device-share", dest="share", **kwargs["share"])
        group.add_argument("--kind", **kwargs["kind"])
        group.add_argument("--loose", **kwargs["loose"])
        group.add_argument("--prefix", **{**kwargs["prefix"], "default": None})
        group.add_argument("--length", **kwargs["length"])
        group.add_argument("--count", **kwargs["count"])
        group.add_argument("--sizes", **kwargs["sizes"])
        kwargs["modules"]["choices"].remove("b")
        group.add_argument("--modules", **kwargs["modules"])
        group.add_argument("--other", "-o", **kwargs["other"])
        group.add_argument("--extra", **kwargs["extra"])
        group.add_argument("--text-or-table", **kwargs["text_or_table"])
        group.add_argument("--bounded", **kwargs["bounded"])
        group.add_argument("--limits", **kwargs["limits"])
        lowered = kwargs["kind"]
        lowered["type"] = lambda text: text.lower()
        group.add_argument("--lowered", **lowered)
        group.add_argument("--optimization-level", type=int, default=2)
        current_platform.pre_register_and_update(parser)
        return parser
''',
    'vllm/entrypoints/openai/cli_args.py': '''
import vllm.envs as envs
from vllm.config import config
from vllm.engine.arg_utils import EngineArgs, optional_type

@config
class BaseArgs:
    lora_modules: list[str] | None = None
    log: bool = envs.LOG

    @classmethod
    def _customize(cls, kwargs):
        kwargs["lora_modules"]["type"] = optional_type(str)
        return kwargs

    @classmethod
    def add_cli_args(cls, parser):
        from vllm.engine.arg_utils import get_kwargs

        kwargs = cls._customize(get_kwargs(cls))
        for key, value in kwargs.items():
            parser.add_argument(f"--{key.replace('_', '-')}", **value)
        return parser

@config
class FrontendArgs(BaseArgs):
    origins: list[str] = field(default_factory=lambda: ["*"])

    @classmethod
    def _customize(cls, kwargs):
        kwargs = super()._customize(kwargs)
        kwargs["origins"]["type"] = json.loads
        if "nargs" in kwargs["origins"]:
            del kwargs["origins"]["nargs"]
        return kwargs

def make_arg_parser(parser):
    parser.add_argument("--headless", action="store_true", default=False)
    parser = FrontendArgs.add_cli_args(parser)
    return EngineArgs.add_cli_args(parser)
''',
    'vllm/entrypoints/cli/serve.py': '''
from vllm.entrypoints.openai.cli_args import make_arg_parser

class ServeSubcommand(CLISubcommand):
    def subparser_init(self, subparsers):
        serve_parser = subparsers.add_parser("serve")
        serve_parser.add_argument("--config", type=str, default="")
        return make_arg_parser(serve_parser)
''',
    'vllm/envs.py': 'if TYPE_CHECKING:\n    LOG: bool = False\n',
}

# SGLang up to 0.5.13.
SGLANG_OLD = {
    'sglang/srt/server_args.py': '''
import dataclasses

CHOICES = ["lpm", "fcfs"]

@dataclasses.dataclass
class ServerArgs:
    model_path: str
    tp_size: int = 1
    policy: str = "lpm"

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--model-path", "--model", type=str, required=True)
        parser.add_argument("--tensor-parallel-size", "--tp-size", type=int, default=ServerArgs.tp_size)
        parser.add_argument("--schedule-policy", type=str, default=ServerArgs.policy, choices=CHOICES)
'''
}

# SGLang from 0.5.14 (fields that carry their argument) in the split form of 0.5.19.
SGLANG_NEW = {
    'sglang/srt/arg_groups/fields/serving.py': '''
from typing import Dict, List, Literal, Optional
import msgspec
from sglang.srt.arg_groups.arg_utils import A, Arg, Derived

class Serving(msgspec.Struct):
    model_path: A[str, Arg(help="Path.", aliases=["--model"])]
    port: A[int, "The port."] = 30000
    host: A[Optional[str], "The host."] = None
    tp_size: A[int, Arg(cli_name="--tensor-parallel-size", aliases=["--tp-size"])] = 1
    metrics: A[bool, Arg(help="Metrics.", resolvable=True)] = False
    mode: A[Literal["a", "b"], "Mode."] = "a"
    backend: A[Literal[None, "x"], Arg(choices=["none", "x"])] = None
    buckets: A[Optional[List[float]], "Buckets."] = None
    table: A[Optional[Dict[str, int]], Arg(type_parser=json.loads)] = None
    reasoning: A[Optional[str], Arg(no_cli=True)] = "deep"
    old: A[int, Arg(action=DeprecatedAliasStoreAction, action_kwargs={"new_flag": "--port"})] = 7
    _hidden: int = 3
''',
    'sglang/srt/names.py': 'NAMES = ("b", "a")\n',
    'sglang/srt/server_args.py': '''
from sglang.srt.arg_groups.arg_utils import add_cli_args_from_dataclass
from sglang.srt.arg_groups.fields.serving import Serving
from sglang.srt.server_args_types import anything

def _names():
    module = sys.modules.get("sglang.srt.names")
    if module is not None:
        return list(module.names)
    from sglang.srt.names import NAMES

    return list(NAMES)

class ServerArgs:
    @staticmethod
    def add_cli_args(parser):
        add_cli_args_from_dataclass(parser, ServerArgs)
        parser.add_argument("--reasoning", choices=["auto"] + _names(), default=_declared_default("reasoning"))
        parser.add_argument("--off", action=DeprecatedStoreTrueAction, new_flag="--on")

_INPUT_NAMESPACES = [Serving]
ServerArgs = msgspec.defstruct("ServerArgs", [])
''',
    'sglang/srt/arg_groups/arg_utils.py': '''
def add_cli_args_from_dataclass(parser, cls):
    for field in fields(cls):
        parser.add_argument(field.name)
''',
}
# The helper that reads a declared default, as its module defines it.
SGLANG_NEW['sglang/srt/server_args.py'] += '''
def _declared_default(name):
    return None
'''
