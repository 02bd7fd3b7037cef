"""Command lines of an engine, valid and invalid, made from the catalogue of flags: the same ones on every run.

Both the engine's own parser and configaudit judge them; see tests/real/test_engine_parsers.py.
"""

import random
from collections.abc import Iterator
from typing import NamedTuple

from configaudit.knowledge.flag import Flag
from configaudit.knowledge.flags import Catalogue, catalogue
from configaudit.knowledge.versions import Version, parse

SEED = 20
NOT_RECORDED = frozenset((
    '--collect-detailed-traces', '--preemption-mode', '--reasoning-parser', '--mm-processor-device', '--data-parallel-rank', '--data-parallel-rpc-port',
    '--data-parallel-size-local', '--spec-tokens', '--kv-canary-real-data', '--monokernel-backend', '--sampling-backend',
))  # fmt: skip
"""Flags whose choices or limits the catalogue does not hold in every release, or the parser leaves to later code."""
NOT_GENERATED = frozenset(('--help', '-h', '--version', '-v', '--config', '--model', '--model-path', '--model-tag', '--omni'))


class Line(NamedTuple):
    """A command line and what it tries."""

    purpose: str
    words: tuple[str, ...]
    """Behind the program: `serve MODEL ...`; for SGLang `--model-path MODEL ...`."""
    yaml: str = ''
    """The text of the file that `--config engine.yaml` names."""


def command_lines(engine: str, name: str) -> list[Line]:
    """All lines for one release: every flag of it, and those of other releases."""
    version = parse(name)
    assert version is not None
    known, chosen = catalogue(engine), random.Random(f'{SEED} {engine} {name}')
    start = ('serve', 'm') if engine == 'vllm' else ('--model-path', 'm')
    lines: list[Line] = [Line('nothing', start)]
    for option in sorted(known.spellings(None)):
        flag = known.find(option, version).flag
        if option in NOT_GENERATED or (flag is not None and (flag.option in NOT_RECORDED or any('$' in choice for choice in flag.choices))):
            continue
        status = known.status(option, version)
        if status.state == 'known' and flag is not None and not flag.abbreviated:
            lines.extend(Line(purpose, (*start, *words)) for purpose, words in _of_flag(option, flag, known, version, chosen))
        else:
            lines.append(Line(f'flag of another release: {status.state}', (*start, option)))
            lines.append(Line(f'flag of another release with a value: {status.state}', (*start, option, '1')))
    lines.extend(Line('misspelt', (*start, word)) for word in _misspelt(known, version, chosen))
    lines.extend(Line(purpose, (*start, *words.split())) for purpose, words in SHARED)
    lines.extend(VLLM if engine == 'vllm' else SGLANG)
    return lines


def _of_flag(option: str, flag: Flag, known: Catalogue, version: Version, chosen: random.Random) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(what is tried, the words) for one spelling of a flag."""
    value = good_value(flag)
    if not flag.takes_value:
        yield 'switch', (option,)
        yield 'switch with True', (option, 'True')
        yield 'switch with =True', (f'{option}=True',)
    elif value is None:
        yield 'no value', (option,)
    else:
        yield 'value', (option, *value)
        if option != '-O':  # a level, where words behind a space are JSON
            yield 'value after =', (f'{option}={value[0]}',)
        yield 'no value', (option,)
        yield 'no value before another flag', (option, '--port', '8000')
        yield 'stray word behind the value', (option, *value, 'stray')
        yield 'given twice', (option, *value, option, *value)
        yield from (('wrong value', (option, word)) for word in bad_values(flag))
    if option.startswith('--'):
        words = value if flag.takes_value and value else ()
        yield 'underscores', ('--' + option[2:].replace('-', '_'), *words)
        length = chosen.randrange(3, max(4, len(option)))
        if option[:length] not in NOT_GENERATED:
            yield 'abbreviated', (option[:length], *words)
        yield 'one letter short', (option[:-1], *words)
        if flag.type not in ('json', 'custom'):  # which keys the configuration behind a JSON flag has is not recorded
            yield 'dotted key', (f'{option}.some_key', '1')


def good_value(flag: Flag) -> tuple[str, ...] | None:
    """A value that the parser takes, None where the catalogue does not tell."""
    if flag.choices:
        return (flag.choices[0],)
    limits = dict(flag.bounds)
    kind = flag.type.removeprefix('list[').removesuffix(']')
    if kind in ('int', 'human-int', 'human-int-or-auto'):
        return (str(int(max(limits.get('ge', 1), limits.get('gt', 0) + 1))),)
    if kind == 'float':
        return (f'{min(0.5, limits.get("le", 0.5), limits.get("lt", 0.6)):g}',)
    return {'str': ('word',), 'json': ('{}',)}.get(kind)


def bad_values(flag: Flag) -> list[str]:
    """Words that are no value of a flag, by its type, choices and limits; some flags take them all the same."""
    if flag.type == 'json':
        return ['word', '8k', '{"a": 1']
    found = ['word', '-1', '-1k', '0', '1.5', '8k', '1e3', 'None', 'auto', '{"a": 1', '[1, 2]', '']
    found.extend(f'{limit + step:g}' for _, limit in flag.bounds for step in (-1, -0.5, 0, 0.5, 1))
    found.extend(choice.upper() for choice in flag.choices[:1])
    return [word for word in found if not (flag.choices and flag.nullable and word in ('', 'None'))]


def _misspelt(known: Catalogue, version: Version, chosen: random.Random) -> Iterator[str]:
    options = known.spellings(version)
    long = sorted(option for option in options if option.startswith('--') and option not in NOT_GENERATED)
    for option in chosen.sample(long, min(60, len(long))):
        at = chosen.randrange(3, len(option))
        yield option[:at] + option[at + 1 :]
        yield option[:at] + chosen.choice('abcxyz') + option[at:]
        yield option + '-x'
        if option[1:3] not in options:
            yield option.removeprefix('-')


SHARED = (
    ('words after --', '-- --port 8000'),
    ('one stray word', 'stray'),
    ('a single dash', '-'),
    ('an empty key', '--port='),
    ('a number alone', '-1'),
)
VLLM: tuple[Line, ...] = (
    *(
        Line('written out', tuple(words.split()))
        for words in (
            'serve', 'serve m -tp 2', 'serve m -tp=2', 'serve m -tp2', 'serve m -t 2', 'serve m -pp 2 -dp 2', 'serve m -O3', 'serve m -O 3',
            'serve m -O=3', 'serve m -O5', 'serve m -O', 'serve m -O {"level":3}', 'serve m -O.level 3', 'serve m -O.level=3',
            'serve m -cc {"mode":3}', 'serve m -cc.mode 3', 'serve m -cc.mode=3', 'serve m --max-model-len 8k', 'serve m --max-model-len 8K',
            'serve m --max-model-len 1.5k', 'serve m --max-model-len 1.5K', 'serve m --max-model-len 8kb', 'serve m --max-model-len auto',
            'serve m --max-model-len -1', 'serve m --max-num-batched-tokens 2M', 'serve m --max-num-seqs 1k', 'serve m --model x', 'serve --model x',
            'serve --model=x', 'serve m --model=x', 'serve m extra', 'serve --port 8000 m', 'serve --enforce-eager m', 'serve --enforce-eager True',
            'serve --enforce-eager True m', 'serve m --served-model-name a b',
            'serve m --kv-transfer-config.kv_connector X --kv-transfer-config.kv_role kv_both', 'serve m --kv-transfer-config.kv_connector',
            'serve m --kv-transfer-config.kv_role --port 8000', 'serve m --kv_transfer_config.kv_role=kv_both', 'serve m --port.x 1',
            'serve m --hf-overrides {"a":1}', 'serve m --hf-overrides {"a":1', 'serve m --hf-overrides word', 'serve m --hf-overrides.a 1',
            'serve m --speculative-config {"method":"ngram","num_speculative_tokens":2}', 'serve m --speculative-config {bad}',
            'serve m --limit-mm-per-prompt {"image":2}', 'serve m --limit-mm-per-prompt image=2', 'serve m --lora-modules a=b c=d',
            'serve m --lora-modules {"name":"a","path":"b"}', 'serve m --no-enable-prefix-caching', 'serve m --no-enable-prefix-caching=True',
            'serve m --no_enable_prefix_caching', 'serve m --disable-prefix-caching', 'serve m --enable-enforce-eager', 'serve m --no-enforce-eager',
            'serve m --no-port', 'serve m --no-disable-log-stats', 'serve m --enable-log-stats', 'serve m --disable-log-requests',
            'serve m --enable-chunked-prefill=False', 'serve m --enable-chunked-prefill false', 'serve m --gpu-memory-utilization 1.5',
            'serve m --gpu-memory-utilization 0', 'serve m --gpu-memory-utilization=90%', 'serve m --gpu-memory-utilization .9',
            'serve m --tensor-parallel-size 0', 'serve m --tensor-parallel-size two', 'serve m --kv-cache-dtype fp16', 'serve m --dtype FLOAT16',
            'serve m --middleware a --middleware b', 'serve m --api-key a --api-key b', 'serve m --allowed-origins ["*"]',
            'serve m --allowed-origins *', 'serve m --generation-config.x 1', 'serve m --uvicorn-log-level warn',
            '--model m', '--model m extra', '--model m --port 8000', 'm', 'm --port 8000', '--port 8000', '--model m --model x',
            'serve m --config', '--mod m', 'serve m --max-num 5', 'serve m --enable', 'serve m --no',
            'serve m --guided-decoding-backend xgrammar', 'serve m --structured-outputs-config.backend xgrammar', 'serve m --task embed',
            'serve m --swap-space 4', 'serve m --device cuda', 'serve m --rope-scaling {"a":1}', 'serve m --cuda-graph-sizes 1 2 4',
            'serve m --cudagraph-capture-sizes 1 2 4', 'serve m --max-seq-len-to-capture 8192', 'serve m --max-cudagraph-capture-size 512',
        )
    ),
    *(
        Line('a configuration file', tuple(words.split()), yaml)
        for words, yaml in (
            ('serve m --config engine.yaml', 'port: 8000\nmax_num_seqs: 4\n'),
            ('serve m --config engine.yaml', 'no-such-flag: 1\n'),
            ('serve m --config engine.yaml', 'no-such-flag: false\n'),
            ('serve m --config engine.yaml', 'no-such-flag: true\n'),
            ('serve m --config engine.yaml', 'enable-prefix-caching: false\n'),
            ('serve m --config engine.yaml', 'enable-prefix-caching: "false"\n'),
            ('serve m --config engine.yaml', 'enable-prefix-caching: 1\n'),
            ('serve m --config engine.yaml', 'no-enable-prefix-caching: true\n'),
            ('serve m --config engine.yaml', 'max-num-seqs: many\n'),
            ('serve m --config engine.yaml', 'max-num-seqs: true\n'),
            ('serve m --config engine.yaml', 'max-num-seqs: [4, 5]\n'),
            ('serve m --config engine.yaml', 'max-num-seqs:\n'),
            ('serve m --config engine.yaml', 'quantization:\n'),
            ('serve m --config engine.yaml', 'served-model-name: [a, b]\n'),
            ('serve m --config engine.yaml', 'kv-transfer-config: {kv_connector: X, kv_role: kv_both}\n'),
            ('serve m --config engine.yaml', 'max-model-len: 8k\n'),
            ('serve m --config engine.yaml', '- port\n'),
            ('serve --config engine.yaml', 'model: m\nport: 8000\n'),
            ('serve --config engine.yaml', 'port: 8000\n'),
            ('serve m --config engine.yaml', 'model: x\n'),
            ('--config engine.yaml', 'model: m\nport: 8000\n'),
            ('--model m --config engine.yaml', 'enable-prefix-caching: false\n'),
            ('--model m --config engine.yaml --config engine.yaml', 'port: 1\n'),
            ('serve m --config=engine.yaml', 'no-such-flag: 1\n'),
        )
    ),
)  # fmt: skip
SGLANG: tuple[Line, ...] = (
    *(
        Line('written out', ('--model-path', 'm', *words.split()))
        for words in (
            '--tp 2', '--tp=2', '--tp-size 2', '--tensor-parallel-size 2', '--tp_size 2', '--dp 2', '--ep 2', '--pp-size 2', '--max-num-seqs 4',
            '--gpu-memory-utilization 0.9', '--max-model-len 4096', '--mem-fraction-static 0.8', '--mem-fraction-static high', '--context-length 4k',
            '--cuda-graph-bs 1 2 4', '--enable-metrics True', '--enable-metrics=True', '--enable-metrics', '--no-enable-metrics', '--model x',
            '--mem_fraction_static 0.8', '--log-level-http warning', '--schedule-policy none', '--schedule-policy fcfs', '--trust-remote-code true',
            '--json-model-override-args {}', '--json-model-override-args.a 1', '--lora-paths a=b c', '--dist-init-addr h:1 --nnodes 2 --node-rank 0',
        )
    ),
    *(
        Line('a configuration file', ('--model-path', 'm', '--config', 'engine.yaml'), yaml)
        for yaml in (
            'tp-size: 2\n', 'tp_size: 2\n', 'mem-fraction-static: 0.8\n', 'mem_fraction_static: 0.8\n', 'enable-metrics: true\n',
            'enable-metrics: false\n', 'no-such-flag: 1\n', 'no-such-flag: false\n', 'max-running-requests: many\n', '- a\n',
            'max-running-requests:\n', 'enable-metrics: "true"\n', 'cuda-graph-bs: [1, 2]\n',
        )
    ),
    Line('a configuration file that is not read', ('--model-path', 'm', '--config=engine.yaml'), 'no-such-flag: 1\n'),
)  # fmt: skip
