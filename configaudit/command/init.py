"""`configaudit init`: a configuration file to start from."""

import os

import click

from configaudit.command.streams import say
from configaudit.errors import UsageError

TEMPLATE = '''\
# What configaudit cannot read in your files, and how strict it is. Every key: docs/configuration.md
# (or let your editor complete it with the JSON Schema, docs/configaudit.schema.json).
# A line that starts with # and no space is a key to take over.

# The service's own numbers. Grace periods, timeouts and batching windows are judged by them.
service:
  longest_generation_s: 120
#  max_ttft_s: 2
#  target_rps: 50

# Where image tags do not say which engine release runs, and where no file names the GPU.
#engine_version:
#  vllm: 0.10.2
#gpu: H100

# The files are all there is: what is not among them does not exist. Turns "not assessed" into answers.
#complete: true

# Who connects to whom, where the files do not show it.
#links:
#  - client: gateway
#    server: orders-db

# What the service is tuned for: latency, throughput or dev.
#profile: latency

# What makes the exit status 1 (error, warning, advice, never), and the least confidence that is shown.
#fail-on: warning
#min-confidence: low

# What is not read.
#exclude:
#  - examples/

# Severities (or off) and options by rule: `configaudit rules`, `configaudit explain RULE`.
#severity:
#  vllm-batch-too-wide: warning
#rules:
#  vllm-batch-too-wide:
#    limit: 256

# Findings that are accepted for now, each with its reason.
#ignores:
#  - rule: vllm-batch-too-wide
#    path: deploy/batch/
#    object: Deployment/nightly
#    reason: throughput job, nobody waits for it
#    expires: 2027-12-31
'''


@click.command(short_help='Write a commented configaudit.yaml.')
@click.option('-o', '--output', default='configaudit.yaml', show_default=True, metavar='FILE', help='The file to write.')
def command(output: str) -> int:
    """Write a commented configaudit.yaml to start from. A file that exists is left alone."""
    if os.path.exists(output):
        raise UsageError(f'{output} exists already')
    try:
        with open(output, 'x', encoding='utf-8', newline='\n') as file:
            file.write(TEMPLATE)
    except OSError as error:
        raise UsageError(f'{output}: {error.strerror or error}') from None
    say(f'wrote {output}')
    return 0
