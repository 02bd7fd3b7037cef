"""Terraform modules: where values come from, what becomes a database, a route or a group of targets."""

from pathlib import Path

import pytest

from configaudit.audit import audit
from configaudit.config import Config
from configaudit.model import Component
from configaudit.result import Result

pytest.importorskip('tree_sitter_hcl')
_GROUP = 'resource "aws_db_parameter_group" "main" {\n  family = "postgres15"\n  parameter {\n    name = "max_connections"\n    value = %s\n  }\n}\n'


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    def audited(**files: str) -> Result:
        for name, content in files.items():
            path = tmp_path / name.replace('__', '/').replace('_tfvars', '.tfvars').replace('_auto', '.auto')
            path = path if path.suffix else path.with_suffix('.tf')
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        monkeypatch.chdir(tmp_path)
        return audit(['.'], Config())

    return audited


def only(result: Result, kind: str) -> Component:
    found = [component for component in result.components if component.kind.name == kind]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    ('value', 'others', 'expected', 'candidates'),
    [
        ('"200"', {}, 200, ()),
        ('var.most', {'variables': 'variable "most" {\n  default = 150\n}\n'}, 150, ()),
        ('"${local.most}"', {'locals': 'locals {\n  most = var.n\n}\nvariable "n" { default = 70 }\n'}, 70, ()),
        ('var.most', {'variables': 'variable "most" { default = 150 }\n', 'terraform_tfvars': 'most = 90\n'}, 90, ()),
        ('var.most', {'variables': 'variable "most" {}\n', 'dev_tfvars': 'most = 90\n', 'prod_tfvars': 'most = 400\n'}, None, (90, 400)),
        ('var.prod ? 500 : 100', {}, None, (500, 100)),
        ('var.most', {}, None, ()),
        ('"LEAST({DBInstanceClassMemory/9531392},5000)"', {}, None, ()),
        ('var.a', {'variables': 'variable "a" { default = local.a }\nlocals { a = var.a }\n'}, None, ()),
    ],
)  # fmt: skip
def test_a_value_comes_from_the_module(run, value: str, others: dict[str, str], expected: object, candidates: tuple[int, ...]) -> None:  # type: ignore[no-untyped-def]
    limit = only(run(main=_GROUP % value, **others), 'database')['max_connections']
    assert (limit.known_value if limit.is_known else None, limit.candidates) == (expected, candidates)
    assert limit.is_known is (expected is not None)


def test_a_module_takes_what_its_caller_gives(run) -> None:  # type: ignore[no-untyped-def]
    result = run(modules__rds__main=_GROUP % 'var.most' + 'variable "most" { default = 10 }\n', main='module "rds" {\n  source = "./modules/rds"\n  most = 333\n}\n')
    limit = only(result, 'database')['max_connections']
    assert (limit.value, limit.place.outermost().document.path) == (333, 'main.tf')


@pytest.mark.parametrize(
    ('text', 'product'),
    [
        ('resource "google_sql_database_instance" "a" {\n  database_version = "MYSQL_8_0"\n  settings {\n    database_flags {\n      name = "max_connections"\n      value = "7"\n    }\n  }\n}\n', 'mysql'),
        ('resource "azurerm_postgresql_flexible_server_configuration" "a" {\n  name = "max_connections"\n  server_id = azurerm_postgresql_flexible_server.b.id\n  value = "7"\n}\n', 'postgres'),
        ('module "db" {\n  source = "terraform-aws-modules/rds/aws"\n  family = "mariadb10.6"\n  parameters = [{ name = "max_connections", value = "7" }]\n}\n', 'mysql'),
        ('module "db" {\n  source = "GoogleCloudPlatform/sql-db/google//modules/postgresql"\n  database_version = "POSTGRES_15"\n  database_flags = [{ name = "max_connections", value = "7" }]\n}\n', 'postgres'),
    ],
)  # fmt: skip
def test_managed_databases(run, text: str, product: str) -> None:  # type: ignore[no-untyped-def]
    database = only(run(main=text), 'database')
    assert (database['product'].value, database['max_connections'].value) == (product, 7)


def test_a_load_balancer_of_packets_ends_no_answers(run) -> None:  # type: ignore[no-untyped-def]
    result = run(main='resource "aws_lb" "vllm" {\n  load_balancer_type = "network"\n}\n\nresource "google_compute_region_backend_service" "vllm" {\n  protocol = "TCP"\n}\n')
    assert [component.kind.name for component in result.components] == ['load-balancer']


def test_groups_of_targets_have_a_delay(run) -> None:  # type: ignore[no-untyped-def]
    result = run(main='resource "aws_lb_target_group" "a" {\n  deregistration_delay = 20\n}\n\nresource "aws_lb_target_group" "b" {\n  port = 80\n}\n')
    assert sorted(component['deregistration_delay_s'].value for component in result.components) == [20, 300]


_DYNAMIC = 'resource "aws_db_parameter_group" "main" {\n  family = "postgres15"\n  dynamic "parameter" {\n    for_each = %s\n    content {\n      name = %s\n      value = %s\n    }\n  }\n}\n'


@pytest.mark.parametrize(
    ('each', 'name', 'value', 'others', 'count'),
    [
        ('local.p', 'parameter.key', 'parameter.value', {'locals': 'locals {\n  p = { max_connections = "150" }\n}\n'}, 1),
        ('{ max_connections = 150 }', 'parameter.key', 'parameter.value', {}, 1),
        ('var.p', 'parameter.value.name', 'parameter.value.value', {'variables': 'variable "p" { default = [{ name = "max_connections", value = "150" }] }\n'}, 1),
        ('var.p', 'parameter.key', 'parameter.value', {'variables': 'variable "p" {}\n'}, 0),
        ('var.p', 'parameter.key', 'parameter.value', {'variables': 'variable "p" { default = { max_connections = 150 } }\n', 'prod_tfvars': 'p = { max_connections = 400 }\n'}, 0),
        ('local.p', 'lower(parameter.key)', 'parameter.value', {'locals': 'locals {\n  p = { max_connections = "150" }\n}\n'}, 0),
    ],
)  # fmt: skip
def test_parameters_that_a_dynamic_block_makes(run, each: str, name: str, value: str, others: dict[str, str], count: int) -> None:  # type: ignore[no-untyped-def]
    found = [component for component in run(main=_DYNAMIC % (each, name, value), **others).components if component.kind.name == 'database']
    assert [component['max_connections'].value for component in found] == [150] * count
