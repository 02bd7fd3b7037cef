"""Dockerfiles: the last stage, its image, its command line."""

from collections.abc import Callable

import pytest

from configaudit.model import Component
from configaudit.result import Result

Run = Callable[..., Result]


def one(result: Result, kind: str) -> Component:
    (found,) = [component for component in result.components if component.kind.name == kind]
    return found


@pytest.mark.parametrize(
    ('text', 'image'),
    [
        ('FROM nginx:1.27\n', 'nginx:1.27'),
        ('ARG TAG=v0.10.2\nFROM vllm/vllm-openai:${TAG}\n', 'vllm/vllm-openai:v0.10.2'),
        ('FROM python:3.12 AS build\nFROM debian:12\n', 'debian:12'),
        ('FROM vllm/vllm-openai:v0.9.1 AS base\nFROM base\nENV A=1\n', 'vllm/vllm-openai:v0.9.1'),
    ],
)
def test_image_of_the_last_stage(run: Run, text: str, image: str) -> None:
    assert one(run({'Dockerfile': text}), 'dockerfile')['image'].value == image


def test_an_image_without_a_known_tag_is_unknown(run: Run) -> None:
    assert not one(run({'Dockerfile': 'ARG TAG\nFROM vllm/vllm-openai:${TAG}\n'}), 'dockerfile')['image'].is_known


def test_entry_point_and_command_are_joined(run: Run) -> None:
    engine = one(
        run(
            {
                'Dockerfile': 'FROM vllm/vllm-openai:v0.11.1\nENTRYPOINT ["vllm", "serve"]\nCMD ["acme/m", "--max-num-seqs", "32"]\n'
            }
        ),
        'vllm',
    )
    assert (engine['model'].value, engine['max_num_seqs'].value, str(engine.version)) == ('acme/m', 32, '0.11.1')


def test_a_shell_form_with_continuations_and_variables(run: Run) -> None:
    text = 'FROM vllm/vllm-openai:v0.11.1\nENV SEQS=24 VLLM_USE_V1=1\nENTRYPOINT exec vllm serve acme/m \\\n    --max-num-seqs $SEQS \\\n    --max-model-len 512\nCMD ["ignored"]\n'
    result = run({'Dockerfile': text})
    engine = one(result, 'vllm')
    assert engine['max_num_seqs'].value == 24
    assert engine['max_model_len'].value == 512
    from configaudit.places import locate

    at = locate(engine['max_model_len'].place)
    assert (at.line, at.column) == (5, 21)
    assert engine['environment'].value['VLLM_USE_V1'].value == '1'


def test_a_later_entry_point_resets_the_command_of_its_base(run: Run) -> None:
    text = 'FROM vllm/vllm-openai:v0.11.1 AS base\nCMD ["--max-num-seqs", "5"]\nFROM base\nENTRYPOINT ["vllm", "serve", "acme/m"]\n'
    assert not one(run({'Dockerfile': text}), 'vllm')['max_num_seqs'].is_set
