"""Spring's configuration: profiles as layers, the web server's end, pools of R2DBC and Redis, the gateway's client, gRPC in both spellings."""

import math
from collections.abc import Callable

import pytest

from configaudit.model import Component
from configaudit.result import Result

Run = Callable[..., Result]


def of(result: Result, kind: str) -> list[Component]:
    return [component for component in result.components if component.kind.name == kind]


URL = 'spring.datasource.url=jdbc:postgresql://pg/a\n'


@pytest.mark.parametrize(
    ('text', 'seconds'),
    [
        ('server.shutdown=graceful\nspring.lifecycle.timeout-per-shutdown-phase=45s\n', 45),
        ('server.shutdown=graceful\nspring.lifecycle.timeoutPerShutdownPhase=PT1M30S\n', 90),
        ('server.shutdown=graceful\nspring.lifecycle.timeout-per-shutdown-phase=20000\n', 20),
        ('server.shutdown=graceful\n', 30),
        ('server.shutdown=immediate\n', 0),
        ('spring.lifecycle.timeout-per-shutdown-phase=45s\n', None),
        ('server.shutdown=${MODE}\n', None),
        ('server.shutdown=${MODE:graceful}\n', 30),
        ('server.tomcat.keep-alive-timeout=75s\n', None),
    ],
)
def test_how_long_requests_may_finish(run: Run, text: str, seconds: float | None) -> None:
    (server,) = of(run({'application.properties': text}), 'http-server')
    graceful = server['graceful_s']
    assert (graceful.known_value if graceful.is_known else None) == seconds


@pytest.mark.parametrize(
    ('text', 'seconds'),
    [
        ('server:\n  tomcat:\n    keep-alive-timeout: 75s\n', 75), ('server:\n  tomcat:\n    keepAliveTimeout: -1\n', math.inf), ('server:\n  netty:\n    idle-timeout: 90000\n', 90),
        ('server:\n  jetty:\n    connection-idle-timeout: 2m\n', 120), ('server:\n  shutdown: graceful\n', None),
    ],
)  # fmt: skip
def test_how_long_idle_connections_are_kept(run: Run, text: str, seconds: float | None) -> None:
    (server,) = of(run({'application.yml': text}), 'http-server')
    idle = server['idle_timeout_s']
    assert (idle.known_value if idle.is_known else None) == seconds


def test_the_environment_of_a_process_says_it_too(run: Run) -> None:
    text = 'services:\n  api:\n    image: example.com/api:1\n    environment:\n      SERVER_SHUTDOWN: graceful\n      SPRING_LIFECYCLE_TIMEOUT_PER_SHUTDOWN_PHASE: 50s\n'
    (server,) = of(run({'compose.yaml': text}), 'http-server')
    assert (server['graceful_s'].value, server.peers('carrier')[0].name) == (50, 'api')


@pytest.mark.parametrize(
    ('text', 'library', 'size', 'wait'),
    [
        ('spring:\n  r2dbc:\n    url: r2dbc:pool:postgresql://pg/a\n    pool:\n      max-size: 30\n      max-acquire-time: 3s\n', 'r2dbc', 30, 3),
        ('spring:\n  r2dbc:\n    url: r2dbc:mysql://db/a\n', 'r2dbc', 10, None),
        ('spring:\n  data:\n    redis:\n      host: cache\n      lettuce:\n        pool:\n          max-active: 16\n          max-wait: -1ms\n', 'spring-redis', 16, math.inf),
        ('spring:\n  redis:\n    jedis:\n      pool:\n        max-active: -1\n        max-wait: 2000\n', 'spring-redis', math.inf, 2),
    ],
)  # fmt: skip
def test_pools_of_other_clients(run: Run, text: str, library: str, size: float, wait: float | None) -> None:
    (pool,) = of(run({'application.yml': text}), 'pool')
    assert (pool['library'].value, pool['max_open'].value, pool['wait_timeout_s'].value) == (library, size, wait)


def test_a_redis_without_a_pool_of_its_own_is_none(run: Run) -> None:
    assert not of(run({'application.yml': 'spring:\n  data:\n    redis:\n      host: cache\n      lettuce:\n        shutdown-timeout: 1s\n'}), 'pool')


def test_a_fix_of_a_duration_has_a_unit(run: Run) -> None:
    result = run({'application.yml': 'spring:\n  redis:\n    lettuce:\n      pool:\n        max-active: 8\n        max-wait: -1ms\n'})
    (finding,) = (finding for finding in result.findings if finding.rule.id == 'db-wait-unbounded')
    assert finding.fix is not None
    assert [change.value for change in finding.fix.changes] == ['5s']


def test_the_gateways_limit_runs_until_the_head_of_the_answer(run: Run) -> None:
    (client,) = of(run({'application.yml': 'spring:\n  cloud:\n    gateway:\n      httpclient:\n        response-timeout: 30s\n        pool: {max-connections: 500}\n'}), 'http-client')
    assert (client['first_byte_timeout_s'].value, client['timeout_s'].value) == (30, math.inf)


@pytest.mark.parametrize(
    ('path', 'judged'),
    [
        ('application.properties', 1), ('application-prod.properties', 1), ('application-dev.properties', 0), ('application-local.properties', 0), ('application-test.properties', 0),
        ('src/test/resources/application.properties', 0), ('src/integTest/resources/application.properties', 0), ('config/shop-dev.properties', 0), ('config/shop-prod.properties', 1),
    ],
)  # fmt: skip
def test_what_developers_and_tests_run_with_is_not_judged(run: Run, path: str, judged: int) -> None:
    assert len(of(run({path: URL}), 'pool')) == judged


def test_a_profile_in_the_same_file(run: Run) -> None:
    text = 'spring:\n  datasource:\n    url: jdbc:mysql://db/a\n    hikari: {maximum-pool-size: 20, max-lifetime: 900000}\n---\nspring:\n  config:\n    activate:\n      on-profile: dev\n  datasource:\n    url: jdbc:mysql://localhost/a\n'
    assert [pool['host'].value for pool in of(run({'application.yml': text}), 'pool')] == ['db']
    text = text.replace('on-profile: dev', 'on-profile: prod').replace('localhost', 'db2')
    (pool,) = of(run({'application.yml': text}), 'pool')
    assert (pool['host'].value, pool['max_open'].value, pool['max_lifetime_s'].value, pool.partial) == ('db2', 20, 900, '')


def test_a_production_profile_is_laid_over_the_main_file(run: Run) -> None:
    files = {'a/application.properties': URL + 'spring.datasource.hikari.maximum-pool-size=20\n', 'a/application-prod.yml': 'spring:\n  datasource:\n    hikari:\n      maximum-pool-size: 50\n', 'b/application.properties': URL}
    found = of(run(files), 'pool')
    assert sorted((pool['max_open'].value, pool['host'].value) for pool in found) == [(10, 'pg'), (50, 'pg')]


def test_other_profiles_do_not_hide_the_main_file(run: Run) -> None:
    found = of(run({'application.properties': URL, 'application-eu.properties': URL.replace('pg', 'eu')}), 'pool')
    assert sorted(pool['host'].value for pool in found) == ['eu', 'pg']


def test_what_maven_fills_in_is_not_known(run: Run) -> None:
    result = run({'application.yml': 'info:\n  version: @project.version@\nspring:\n  datasource:\n    url: jdbc:mysql://db/a\n    hikari:\n      maximum-pool-size: @pool.size@\n      max-lifetime: 600000\n'})
    assert not result.errors
    (pool,) = of(result, 'pool')
    assert (pool['max_open'].is_known, pool['max_lifetime_s'].value) == (False, 600)


def test_properties_are_latin_1(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    from configaudit.audit import audit
    from configaudit.config import Config

    (tmp_path / 'application.properties').write_bytes(b'# h\xf6chstens\n' + URL.encode() + b'spring.datasource.hikari.maximum-pool-size=12\n')
    monkeypatch.chdir(tmp_path)
    result = audit(['.'], Config())
    assert not result.errors
    assert [pool['max_open'].value for pool in of(result, 'pool')] == [12]


@pytest.mark.parametrize(
    ('text', 'time', 'timeout'),
    [
        ('spring:\n  grpc:\n    client:\n      channels:\n        stock:\n          address: dns:///stock:9000\n          enable-keep-alive: true\n          keep-alive-time: 6m\n          keep-alive-timeout: 15s\n', 360, 15),
        ('spring:\n  grpc:\n    client:\n      channel:\n        stock:\n          target: dns:///stock:9000\n          keepalive:\n            time: 400\n            timeout: 15\n', 400, 15),
        ('grpc:\n  client:\n    GLOBAL:\n      enableKeepAlive: true\n      keepAliveTime: 6m\n    stock:\n      address: dns:///stock:9000\n      keepAliveTimeout: 15\n', 360, 15),
    ],
)  # fmt: skip
def test_channels_of_spring_grpc(run: Run, text: str, time: float, timeout: float) -> None:
    (client,) = of(run({'application.yml': text}), 'grpc-client')
    assert (client.name, client['time_s'].value, client['timeout_s'].value) == ('stock', time, timeout)


@pytest.mark.parametrize(
    'text',
    ['spring.grpc.server.keep-alive.permit-time=20s\nspring.grpc.server.keep-alive.max-age=10m\n', 'spring.grpc.server.keepalive.permit.time=20\nspring.grpc.server.keepalive.max-age=600\n', 'grpc.server.permit-keep-alive-time=20\ngrpc.server.max-connection-age=10m\n'],
)
def test_servers_of_spring_grpc(run: Run, text: str) -> None:
    (server,) = of(run({'application.properties': text}), 'grpc-server')
    assert (server['min_time_s'].value, server['max_connection_age_s'].value) == (20, 600)


def compose(environment: str, name: str = 'orders') -> str:
    return f'services:\n  {name}:\n    image: example.com/{name}:1\n    deploy: {{replicas: 3}}\n    environment:\n      SPRING_DATASOURCE_URL: jdbc:postgresql://pg/orders\n{environment}'


SIZED = 'spring.application.name=orders\nspring.datasource.url=jdbc:postgresql://localhost/orders\nspring.datasource.hikari.maximum-pool-size=40\n'


def test_the_file_of_an_application_sizes_the_pool_that_its_process_reaches(run: Run) -> None:
    (pool,) = of(run({'compose.yaml': compose(''), 'src/main/resources/application.properties': SIZED}), 'pool')
    assert (pool['host'].value, pool['max_open'].value, pool.peers('carrier')[0].name) == ('pg', 40, 'orders')


def test_the_environment_wins_over_the_file(run: Run) -> None:
    (pool,) = of(run({'compose.yaml': compose('      SPRING_DATASOURCE_HIKARI_MAXIMUM_POOL_SIZE: "15"\n'), 'src/main/resources/application.properties': SIZED}), 'pool')
    assert pool['max_open'].value == 15


def test_several_applications_are_told_by_name_or_folder(run: Run) -> None:
    files = {
        'a.compose.yaml': compose(''), 'b.compose.yaml': compose('', 'billing'), 'orders/src/main/resources/application.properties': SIZED.replace('spring.application.name=orders\n', ''),
        'pay/src/main/resources/application.properties': SIZED.replace('name=orders', 'name=billing').replace('=40', '=50'), 'other/application.properties': SIZED.replace('name=orders', 'name=other').replace('=40', '=60'),
    }  # fmt: skip
    found = of(run(files), 'pool')
    assert sorted((pool['max_open'].value, bool(pool.peers('carrier'))) for pool in found) == [(40, True), (50, True), (60, False)]


def test_connection_strings_of_aspnet(run: Run) -> None:
    text = '{"ConnectionStrings": {"A": "Host=pg;Username=u;Database=a;Maximum Pool Size=30;Connection Lifetime=0", "B": "Host=pg;Username=u;Database=b", "C": "Host=pg;Username=u;Database=b", "D": "Host=pg;Username=u;Database=d;Pooling=false"}}'
    found = of(run({'appsettings.json': text}), 'pool')
    assert [(pool['max_open'].value, pool['max_lifetime_s'].value, pool['wait_timeout_s'].value) for pool in found] == [(30, math.inf, 15), (100, None, 15)]


def test_the_environments_of_aspnet(run: Run) -> None:
    text = '{{"ConnectionStrings": {{"A": "Host={};Username=u;Database=a;Maximum Pool Size=30"}}}}'
    assert not of(run({'appsettings.Development.json': text.format('localhost')}), 'pool')
    found = of(run({'appsettings.json': text.format('localhost'), 'appsettings.Production.json': text.format('pg').replace(';Maximum Pool Size=30', '')}), 'pool')
    assert [(pool['host'].value, pool['max_open'].value) for pool in found] == [('pg', 100)]


def test_what_a_program_does_to_the_builder_of_a_starter(run: Run) -> None:
    code = (
        'package shop;\nimport io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;\nimport java.util.concurrent.TimeUnit;\nclass Config {\n  Object configurer() {\n'
        '    return b -> { ((NettyServerBuilder) b).permitKeepAliveTime(20, TimeUnit.SECONDS).permitKeepAliveWithoutCalls(true); };\n  }\n}\n'
    )
    files = {
        'stock/src/main/resources/application.yml': 'spring:\n  application: {name: stock}\ngrpc:\n  server:\n    port: 9000\n', 'stock/src/main/java/shop/Config.java': code,
        'shop/src/main/resources/application.yml': 'grpc:\n  client:\n    stock:\n      enableKeepAlive: true\n      keepAliveTime: 30\n      keepAliveWithoutCalls: true\n',
    }  # fmt: skip
    result = run(files)
    (server,) = of(result, 'grpc-server')
    assert (server['min_time_s'].value, server['permit_without_stream'].value, server['time_s'].value) == (20, True, 7200)
    assert not [finding for finding in result.findings if finding.rule.id.startswith('grpc-')]


@pytest.mark.parametrize('target', ['static://localhost:9000', 'static://0.0.0.0:${port:9000}', 'dns:///127.0.0.1:9000'])
def test_a_channel_to_this_machine_is_not_judged(run: Run, target: str) -> None:
    assert not of(run({'application.yml': f'spring:\n  grpc:\n    client:\n      channel:\n        stock:\n          target: {target}\n'}), 'grpc-client')


def test_other_starters_have_other_keys(run: Run) -> None:
    assert not of(run({'application.yml': 'spring:\n  grpc:\n    client:\n      stock:\n        host: stock\n        keep-alive-timeout: 10\n'}), 'grpc-client')


@pytest.mark.parametrize(
    ('variables', 'library', 'size'),
    [
        ('SPRING_DATA_REDIS_HOST: cache, SPRING_DATA_REDIS_LETTUCE_POOL_MAX_ACTIVE: "12", SPRING_DATA_REDIS_LETTUCE_POOL_MAXWAIT: 3s', 'spring-redis', 12),
        ('SPRING_R2DBC_URL: "r2dbc:postgresql://pg/a", SPRING_R2DBC_POOL_MAX_SIZE: "14"', 'r2dbc', 14),
    ],
)
def test_the_environment_names_those_pools_too(run: Run, variables: str, library: str, size: int) -> None:
    (pool,) = of(run({'compose.yaml': f'services:\n  api:\n    image: example.com/api:1\n    environment: {{{variables}}}\n'}), 'pool')
    assert (pool['library'].value, pool['max_open'].value, pool.peers('carrier')[0].name) == (library, size, 'api')


PODS = """apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data:
  application.yml: |
    server: {shutdown: graceful}
    spring: {lifecycle: {timeout-per-shutdown-phase: 30s}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      containers:
      - name: shop
        image: example.com/shop:1.0
        command: [java, -jar, /app.jar]
        lifecycle: {preStop: {exec: {command: [sleep, "10"]}}}
        volumeMounts: [{name: settings, mountPath: /config}]
      volumes: [{name: settings, configMap: {name: %s}}]
"""


@pytest.mark.parametrize(('mounted', 'is_found'), [('settings', True), ('other', False)])
def test_the_server_of_a_mounted_file_runs_in_the_pod_that_mounts_it(run: Run, mounted: str, is_found: bool) -> None:
    result = run({'shop.yaml': PODS % mounted})
    assert ('drain-timeout-exceeds-grace' in {item.rule.id for item in result.findings}) is is_found
    (server,) = of(result, 'http-server')
    assert [carrier.name for carrier in server.peers('carrier')] == (['shop'] if is_found else [])


def test_of_two_pods_that_mount_a_file_none_is_chosen(run: Run) -> None:
    text = PODS % 'settings'
    result = run({'shop.yaml': text + '---\n' + text.partition('---\n')[2].replace('shop', 'store')})
    (server,) = of(result, 'http-server')
    assert not server.peers('carrier')


def test_a_profile_of_a_configuration_server_is_no_whole_configuration(run: Run) -> None:
    text = 'spring:\n  datasource:\n    url: jdbc:mysql://db:3306/mall?connectTimeout=1000&socketTimeout=60000\n'
    served, whole = run({'config/orders/orders-prod.yaml': text}), run({'config/orders/orders-service.yaml': text})
    assert [{finding.rule.id for finding in result.findings if finding.rule.id == 'db-pool-unstated'} for result in (served, whole)] == [set(), {'db-pool-unstated'}]
