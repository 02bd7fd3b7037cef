"""What reading source code adds to a run: 2,000 files of six languages (20 MB), 20 of which set up what is judged.

Prints seconds of CPU (user and system, median) of `configaudit check` over one manifest alone and with the source files beside it,
and of each language by itself.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

FILES = 2000
RELEVANT = 20
SIZE = 10 * 1024
RUNS = 7

MANIFEST = 'apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 1}]}\n'


class Language(NamedTuple):
    """How a file of one language is written: what stands first, what sets up something that is judged, and what fills it."""

    extension: str
    head: str
    imports: str
    relevant: str
    body: str


LANGUAGES = (
    Language(
        'go', 'package a\n\n',
        'import (\n\t"net/http"\n\t"time"\n\n\t"google.golang.org/grpc"\n\t"google.golang.org/grpc/keepalive"\n)\n\n',
        'func dial(address string) (*grpc.ClientConn, error) {\n'
        '\treturn grpc.NewClient(address, grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 5 * time.Minute}))\n}\n\n',
        '// Step {n} of the work.\nfunc (s *Service) step{n}(ctx context.Context, items []Item) (map[string]int, error) {{\n'
        '\tfound := make(map[string]int, len(items))\n\tfor i, item := range items {{\n\t\tif item.Name == "" || i > {n} {{\n'
        '\t\t\treturn nil, fmt.Errorf("item %d has no name: %w", i, ErrEmpty)\n\t\t}}\n\t\tfound[item.Name] += item.Count * (i + 1)\n\t}}\n\treturn found, nil\n}}\n\n',
    ),
    Language(
        'py', 'import os\n\n', 'from sqlalchemy import create_engine\n\n\n', 'engine = create_engine(os.environ["DATABASE_URL"], pool_size=5)\n\n\n',
        'def step_{n}(items):\n    """Step {n} of the work."""\n    found = {{}}\n    for i, item in enumerate(items):\n        if not item.name or i > {n}:\n'
        "            raise ValueError(f'item {{i}} has no name')\n        found[item.name] = found.get(item.name, 0) + item.count * (i + 1)\n    return found\n\n\n",
    ),
    Language(
        'ts', "import { Item } from './item';\n\n", "import { Pool } from 'pg';\n\n", 'export const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 20 });\n\n',
        'export async function step{n}(items: Item[]): Promise<Map<string, number>> {{\n  const found = new Map<string, number>();\n  for (const [i, item] of items.entries()) {{\n'
        '    if (!item.name || i > {n}) {{\n      throw new Error(`item ${{i}} has no name`);\n    }}\n    found.set(item.name, (found.get(item.name) ?? 0) + item.count * (i + 1));\n  }}\n'
        '  return found;\n}}\n\n',
    ),
    Language(
        'js', "const { check } = require('./check');\n\n", "const express = require('express');\n\n", 'const server = express().listen(8080);\nserver.keepAliveTimeout = 65 * 1000;\n\n',
        'function step{n}(items) {{\n  const found = {{}};\n  items.forEach((item, i) => {{\n    if (!item.name || i > {n}) {{\n      throw new Error(`item ${{i}} has no name`);\n    }}\n'
        '    found[item.name] = (found[item.name] || 0) + item.count * (i + 1);\n  }});\n  return found;\n}}\n\n',
    ),
    Language(
        'java', 'package a;\n\n', 'import io.grpc.ManagedChannel;\nimport io.grpc.ManagedChannelBuilder;\n\n',
        'class Dial {\n    ManagedChannel open(String target) {\n        return ManagedChannelBuilder.forTarget(target).keepAliveTime(300, java.util.concurrent.TimeUnit.SECONDS).build();\n    }\n}\n\n',
        'class Step{n} {{\n    Map<String, Integer> run(List<Item> items) {{\n        Map<String, Integer> found = new HashMap<>();\n        for (int i = 0; i < items.size(); i++) {{\n'
        '            if (items.get(i).name().isEmpty() || i > {n}) {{\n                throw new IllegalArgumentException("item " + i + " has no name");\n            }}\n'
        '            found.merge(items.get(i).name(), items.get(i).count() * (i + 1), Integer::sum);\n        }}\n        return found;\n    }}\n}}\n\n',
    ),
    Language(
        'rs', 'use crate::item::Item;\n\n', 'use sqlx::postgres::PgPoolOptions;\n\n',
        'pub async fn open(url: &str) -> Result<sqlx::PgPool, sqlx::Error> {\n    PgPoolOptions::new().max_connections(20).connect(url).await\n}\n\n',
        'pub fn step{n}(items: &[Item]) -> Result<HashMap<String, u32>, Empty> {{\n    let mut found = HashMap::new();\n    for (i, item) in items.iter().enumerate() {{\n'
        '        if item.name.is_empty() || i > {n} {{\n            return Err(Empty(i));\n        }}\n        *found.entry(item.name.clone()).or_insert(0) += item.count * (i as u32 + 1);\n    }}\n'
        '    Ok(found)\n}}\n\n',
    ),
)  # fmt: skip


def write(folder: Path, languages: tuple[Language, ...]) -> int:
    """The source files; how many bytes they have."""
    total = 0
    for number in range(FILES):
        language = languages[number % len(languages)]
        text = language.head + (language.imports + language.relevant if number < RELEVANT else '')
        step = 0
        while len(text) < SIZE:
            text += language.body.format(n=step)
            step += 1
        path = folder / f'part{number // 100}' / f'file{number}.{language.extension}'
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        total += len(text)
    return total


def seconds(folder: Path) -> float:
    """CPU seconds of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, '-m', 'configaudit', 'check', '.', '--no-config', '--format', 'json']
    subprocess.run(command, cwd=folder, env={**os.environ, 'NO_COLOR': '1'}, stdout=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(languages: tuple[Language, ...]) -> None:
    """Measure alternately and print the medians and what the source files add."""
    with tempfile.TemporaryDirectory() as place:
        alone, beside = Path(place, 'alone'), Path(place, 'beside')
        for folder in (alone, beside):
            folder.mkdir()
            (folder / 'service.yaml').write_text(MANIFEST)
        size = write(beside, languages)
        pairs = [(seconds(alone), seconds(beside)) for _ in range(RUNS)]
    without, with_code = (statistics.median(column) for column in zip(*pairs))
    names = ', '.join(language.extension for language in languages)
    print(f'{names}: {FILES} files, {size / 1e6:.1f} MB, {RELEVANT} relevant: {without:.2f} s alone, {with_code:.2f} s with code, {with_code - without:+.2f} s')


def main() -> None:
    """All languages together, then each by itself."""
    measure(LANGUAGES)
    for language in LANGUAGES:
        measure((language,))


if __name__ == '__main__':
    main()
