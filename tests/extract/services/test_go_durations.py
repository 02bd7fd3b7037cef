"""Durations in Go source without a unit, and idle connections of database/sql."""

from pathlib import Path

import pytest

from configaudit.audit import audit
from configaudit.config import Config

pytest.importorskip('tree_sitter_go')
_HEAD = 'package a\n\nimport (\n\t"database/sql"\n\t"net/http"\n\t"strconv"\n\t"time"\n\n\t"google.golang.org/grpc/keepalive"\n)\n\n'


@pytest.fixture
def ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    def of(text: str) -> set[str]:
        (tmp_path / 'a.go').write_text(_HEAD + text)
        monkeypatch.chdir(tmp_path)
        return {finding.rule.id for finding in audit(['.'], Config()).findings}

    return of


_SETS = 'type C struct {\n\tLife int\n\tWait time.Duration\n\tNanos int64\n}\n\nfunc f(db *sql.DB, c C, seconds int, d time.Duration) {\n\tdb.SetConnMaxLifetime(%s)\n}\n'


@pytest.mark.parametrize(
    ('argument', 'found'),
    [
        ('300', True), ('time.Duration(300)', True), ('300 * time.Second', False), ('0', False), ('-1', False), ('90_000_000_000', False), ('time.Microsecond', False),
        ('time.Duration(c.Life)', True), ('time.Duration(c.Life) * time.Second', False), ('time.Duration(c.Wait)', False), ('time.Duration(c.Nanos)', False),
        ('time.Duration(seconds)', True), ('time.Duration(d)', False), ('time.Duration(other.Life2)', False), ('time.Second * time.Duration(c.Life)', False), ('c.Wait', False),
    ],
)  # fmt: skip
def test_lifetimes(ids, argument: str, found: bool) -> None:  # type: ignore[no-untyped-def]
    assert ('go-duration-without-unit' in ids(_SETS % argument)) is found


@pytest.mark.parametrize(
    ('text', 'found'),
    [
        ('var c = http.Client{Timeout: 30}', True), ('const wait = 30\n\nvar c = http.Client{Timeout: wait}', True), ('const wait = 30 * time.Second\n\nvar c = http.Client{Timeout: wait}', False),
        ('func f(s string) {\n\tn, _ := strconv.Atoi(s)\n\tc := http.Client{Timeout: time.Duration(n)}\n}', True), ('var p = keepalive.ServerParameters{MaxConnectionAge: 600}', True),
        ('var p = other.Parameters{Timeout: 600}\nvar c = http.Client{Timeout: time.Minute}', False),
    ],
)  # fmt: skip
def test_timeouts(ids, text: str, found: bool) -> None:  # type: ignore[no-untyped-def]
    assert ('go-duration-without-unit' in ids(text)) is found


@pytest.mark.parametrize(
    ('lines', 'found'),
    [
        ('db.SetMaxOpenConns(40)', True), ('db.SetMaxOpenConns(40)\n\tdb.SetMaxIdleConns(2)', True), ('db.SetMaxOpenConns(40)\n\tdb.SetMaxIdleConns(10)', False), ('db.SetMaxOpenConns(5)', False),
        ('db.SetMaxOpenConns(10)\n\tdb.SetMaxIdleConns(11)', True), ('db.SetMaxOpenConns(n)', False), ('db.SetMaxOpenConns(40)\n\tdb.SetMaxIdleConns(n)', False), ('', False),
    ],
)  # fmt: skip
def test_idle_connections(ids, lines: str, found: bool) -> None:  # type: ignore[no-untyped-def]
    assert ('db-idle-connections-few' in ids(f'func f(n int) {{\n\tdb, _ := sql.Open("mysql", dsn)\n\t{lines}\n}}')) is found
