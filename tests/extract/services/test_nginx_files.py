"""nginx's includes: what other files of the run bring to a block, and what stays unknown."""

from collections.abc import Callable

import pytest

from configaudit.model import Component
from configaudit.places import locate
from configaudit.result import Result

Run = Callable[..., Result]
MAIN = 'events {}\nhttp {\n  proxy_read_timeout 9m;\n  include /etc/nginx/conf.d/*.conf;\n}\n'
SITE = 'server {\n  listen 80;\n  location / {\n    proxy_pass http://10.0.0.1:8000;\n    OWN\n  }\n}\n'


def routes(result: Result) -> list[Component]:
    return [component for component in result.components if component.kind.name == 'proxy-route']


@pytest.mark.parametrize(('main', 'site'), [('nginx.conf', 'conf.d/a.conf'), ('deploy/nginx.conf', 'deploy/conf.d/a.conf'), ('x/nginx/nginx.conf', 'x/nginx/conf.d/a.conf.template')])
def test_a_site_inherits_from_the_file_that_includes_it(run: Run, main: str, site: str) -> None:
    (route,) = routes(run({main: MAIN, site: SITE.replace('OWN', '')}))
    assert route['read_timeout_s'].value == 540
    assert locate(route['read_timeout_s'].place).path.endswith('nginx.conf')
    assert locate(route.place).path.endswith(site.rpartition('/')[2])


def test_a_snippet_belongs_to_the_block_that_includes_it(run: Run) -> None:
    files = {'nginx.conf': MAIN, 'conf.d/a.conf': SITE.replace('OWN', 'include snippets/proxy.conf; proxy_set_header Host $host;'), 'snippets/proxy.conf': 'proxy_set_header Connection "";\nproxy_read_timeout 7s;\n'}
    (route,) = routes(run(files))
    assert (route['read_timeout_s'].value, route['connection'].value) == (7, '')


def test_headers_of_a_snippet_hide_those_around_the_block(run: Run) -> None:
    site = SITE.replace('listen 80;', 'listen 80; proxy_set_header Connection "";').replace('OWN', 'include proxy.conf;')
    (route,) = routes(run({'conf.d/a.conf': site, 'proxy.conf': 'proxy_set_header Host $host;\n'}))
    assert (route['connection'].value, route['connection'].origin) == ('close', 'default')


@pytest.mark.parametrize('argument', ['/srv/own/proxy.conf', 'missing.conf', '$name.conf'])
def test_what_is_not_among_the_files_stays_unknown(run: Run, argument: str) -> None:
    (route,) = routes(run({'site.conf': SITE.replace('OWN', f'include {argument};'), 'other.conf': 'gzip on;\n'}))
    assert not route['read_timeout_s'].is_known


def test_files_that_include_each_other_end(run: Run) -> None:
    files = {'nginx.conf': 'http {\n  include a.conf;\n  server { location / { proxy_pass http://b:1; include a.conf; } }\n}\n', 'a.conf': 'include b.conf;\nproxy_read_timeout 3s;\n', 'b.conf': 'include a.conf;\n'}
    (route,) = routes(run(files))
    assert route['read_timeout_s'].value == 3


def test_a_site_that_two_files_include_is_reported_once(run: Run) -> None:
    files = {'nginx.conf': MAIN, 'nginx-dev.conf': MAIN, 'conf.d/a.conf': SITE.replace('OWN', 'proxy_read_timeout 30s;').replace('location /', 'location /v1/chat/completions')}
    found = [item for item in run(files).findings if item.rule.id == 'first-token-after-read-timeout']
    assert len(found) == 1


def test_upstreams_of_one_file_serve_the_sites_of_another(run: Run) -> None:
    files = {'nginx.conf': MAIN, 'conf.d/a.conf': SITE.replace('10.0.0.1:8000', 'pool').replace('OWN', ''), 'conf.d/b.conf': 'upstream pool {\n  server c:1;\n  keepalive 8;\n}\n'}
    (route,) = routes(run(files))
    (upstream,) = route.peers('proxy-upstream')
    assert (upstream['keepalive'].value, upstream['targets'].value) == (8, (('c', '1'),))
