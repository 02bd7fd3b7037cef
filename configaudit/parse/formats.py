"""Which format a file is, by its name and, where that says nothing, by its first bytes."""

import re

from configaudit.parse.programs import PROGRAMS, is_program, program_format
from configaudit.patterns import regex

_BY_EXTENSION = {
    'yaml': 'yaml', 'yml': 'yaml', 'json': 'json', 'tpl': 'yaml', 'j2': 'yaml', 'jinja': 'yaml', 'jinja2': 'yaml', 'gotmpl': 'yaml', 'tmpl': 'yaml',
    'sh': 'shell', 'bash': 'shell', 'ksh': 'shell', 'service': 'systemd', 'pbtxt': 'pbtxt', 'env': 'env', 'properties': 'properties',
    'caddy': 'caddyfile', 'caddyfile': 'caddyfile', 'bu': 'yaml', 'ign': 'json', 'container': 'systemd', 'dockerfile': 'dockerfile', 'containerfile': 'dockerfile', 'slice': 'systemd', 'prisma': 'prisma',
}  # fmt: skip
_BY_NAME = {
    'Kustomization': 'yaml', 'Dockerfile': 'dockerfile', 'Containerfile': 'dockerfile', 'dockerfile': 'dockerfile', 'sysctl.conf': 'sysctl', 'limits.conf': 'limits',
    'nginx.conf': 'nginx', 'haproxy.cfg': 'haproxy', 'Caddyfile': 'caddyfile', 'daemon.json': 'docker-daemon', 'config.toml': 'containerd', 'crio.conf': 'crio', 'go.mod': 'gomod', '.env': 'env',
    'my.cnf': 'mysql', 'mysqld.cnf': 'mysql', 'postgresql.conf': 'postgresql', 'pgbouncer.ini': 'pgbouncer', 'redis.conf': 'redis', 'puma.rb': 'puma', 'pgpool.conf': 'pgpool', 'odyssey.conf': 'odyssey', 'proxysql.cnf': 'proxysql',
    'config.properties': 'torchserve', 'batching_parameters.txt': 'tf-batching', 'batching.config': 'tf-batching', 'system.conf': 'systemd', 'user.conf': 'systemd', 'tuned.conf': 'tuned', 'tuned-main.conf': 'tuned', 'active_profile': 'tuned', 'grub': 'grub',
}  # fmt: skip
_IN_FOLDER = (
    ('sysctl.d', 'conf', 'sysctl'), ('limits.d', 'conf', 'limits'), ('tmpfiles.d', 'conf', 'tmpfiles'), ('rules.d', 'rules', 'udev'), ('crio.conf.d', 'conf', 'crio'),
    ('conf.d', 'conf', 'nginx'), ('sites-enabled', '', 'nginx'), ('sites-available', '', 'nginx'), ('postgresql', 'conf', 'postgresql'),
    ('my.cnf.d', 'cnf', 'mysql'), ('mysql.conf.d', 'cnf', 'mysql'), ('mariadb.conf.d', 'cnf', 'mysql'),
)  # fmt: skip
_MAYBE = frozenset(('conf', 'rules', 'cnf', 'toml', 'ini', 'txt', 'cfg', 'config'))
_BESIDE = frozenset(('uv.lock', 'poetry.lock', 'Pipfile', 'Pipfile.lock'))
"""Files that are opened when a program beside them asks."""
_STARTS = frozenset(('start', 'startup', 'run', 'serve', 'entrypoint', 'docker-entrypoint'))
"""Scripts that an image starts, without an ending; their first line says whether they are any."""
_LINE_FORMATS = ('.toml', '.ini', '.cnf', '.rules')
"""Formats of their own, which quote YAML at most."""
_MIME = (b'MIME-Version:', b'Content-Type: multipart/')
"""Starts of cloud user data in several parts, whatever its file is called."""
_SYSCTL_LINE = regex(rb'^[ \t]*-?(?:net|vm|fs|kernel|user|dev|abi)[./][\w./*-]+\s*=', re.MULTILINE)
_LIMITS_LINE = regex(rb'^[ \t]*[*@%\w.:-]+\s+(?:soft|hard|-)\s+(?:nofile|nproc|memlock|stack|core)\b', re.MULTILINE)
_UDEV_LINE = regex(rb'^[ \t]*(?:ACTION|KERNEL|SUBSYSTEM|ATTR\{)[^\n]*==', re.MULTILINE)
_NGINX_BLOCK = regex(rb'^[ \t]*(?:http|server|upstream\s+\S+|events|location\s[^{]*|stream)\s*\{', re.MULTILINE)
_UNIT = regex(rb'^[ \t]*\[(?:Service|Manager|Unit)\]', re.MULTILINE)
_CONTAINERD = regex(rb'io\.containerd\.|^[ \t]*\[plugins\b|^[ \t]*\[crio\b', re.MULTILINE)
_BOTTLEROCKET = regex(rb'^[ \t]*\[settings\.(?:kernel|kubernetes|boot|oci-defaults)\b|^settings\.(?:kernel|kubernetes)\.', re.MULTILINE)
_HAPROXY = regex(rb'^(?:defaults|frontend|backend|listen)\b[^\n{]*\n(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]+(?:mode|bind|balance|server|timeout|option|log|default_backend|acl|maxconn|retries)[ \t]', re.MULTILINE)
_TRAEFIK = regex(rb'^[ \t]*\[\[?(?:entryPoints|serversTransport|http\.(?:routers|services|middlewares|serversTransports))\b', re.MULTILINE | re.IGNORECASE)
_GRUB = regex(rb'^GRUB_CMDLINE_LINUX(?:_DEFAULT)?=', re.MULTILINE)
_BATCHING = regex(rb'^[ \t]*(?:max_batch_size|batch_timeout_micros|max_enqueued_batches)\s*\{', re.MULTILINE)
_TRITON = regex(rb'^[ \t]*(?:backend|platform|max_batch_size|instance_group|dynamic_batching)\s*[:{\[]', re.MULTILINE)


def is_wanted(path: str) -> bool:
    """Whether a file of this name may be configuration: a cheap look before anything is opened."""
    folder, _, name = path.rpartition('/')
    stem, _, extension = name.rpartition('.')
    if extension in PROGRAMS:
        return is_program(extension, name)
    if extension.lower() in _BY_EXTENSION or name in _BY_NAME or extension in _MAYBE or name in _BESIDE or name in _STARTS:
        return True
    if name.endswith('.conf.template'):  # what the official image of nginx fills in
        return True
    return name.startswith(('Dockerfile', 'Containerfile', '.env', 'Caddyfile.')) or (not stem and folder.endswith(('sites-enabled', 'sites-available')))


def format_of(path: str, data: bytes) -> str:
    """The format of a file ('yaml', 'systemd', 'sysctl' ...), or '' when it is none that is read."""
    folder, _, name = path.rpartition('/')
    stem, _, extension = name.rpartition('.')
    extension = extension.lower() if stem else ''
    if extension in ('yaml', 'yml') and not name.startswith('.'):
        return 'mime' if data.startswith(_MIME) else 'yaml'
    if extension == 'conf' and folder.endswith('.d') and folder.rpartition('/')[2] not in ('sysctl.d', 'limits.d') and _UNIT.search(data[:65536]):
        return 'systemd'
    if name in _BY_NAME:
        found = _BY_NAME[name]
        return found if found not in ('containerd', 'systemd', 'torchserve', 'grub') or _confirms(found, data) else ''
    if name.startswith(('Dockerfile', 'Containerfile')) and extension not in ('md', 'py', 'sh', 'yaml', 'yml'):
        return 'dockerfile'
    if name.startswith('.env') or name.endswith('.env'):
        return 'env'
    if name.startswith('Caddyfile.') and extension not in ('md', 'go', 'py', 'sh'):
        return 'caddyfile'
    for part, ending, found in _IN_FOLDER:
        if folder.rpartition('/')[2] == part and (extension == ending or not ending):
            return found if found != 'nginx' or _NGINX_BLOCK.search(data[:65536]) else ''
    if name.endswith('.conf.template'):
        return 'nginx' if _NGINX_BLOCK.search(data[:65536]) else ''
    if extension in ('j2', 'jinja', 'jinja2', 'tmpl', 'gotmpl', 'tpl'):
        inner = format_of(path[: -len(extension) - 1], data)
        return inner or ('yaml' if '.' not in stem and (extension != 'tpl' or b'kind:' in data) else '')
    if extension in PROGRAMS:
        return program_format(extension, name, data)
    if extension in _BY_EXTENSION:
        found = _BY_EXTENSION[extension]
        return found if found != 'pbtxt' or _TRITON.search(data) else ''
    return _by_content(data, name)


def is_dashboard(data: bytes) -> bool:
    """Whether JSON is a Grafana dashboard, in which braces name labels and are no template's."""
    return b'"panels"' in data and (b'"schemaVersion"' in data or b'"templating"' in data) and b'{{ .Values' not in data


def _confirms(found: str, data: bytes) -> bool:
    pattern = {'containerd': _CONTAINERD, 'systemd': _UNIT, 'grub': _GRUB}.get(found)
    return pattern.search(data) is not None if pattern else b'=' in data


def _by_content(data: bytes, name: str) -> str:
    if name == 'NOTES.txt':  # a chart's closing words, which quote commands and manifests
        return ''
    head = data[:65536]
    if head.startswith(_MIME):
        return 'mime'
    if head.startswith((b'#cloud-config\n', b'#cloud-config\r', b'## template: jinja')):
        return 'yaml'
    if head[:2] == b'#!':
        return 'shell' if re.match(rb'#![^\n]*\b(?:ba|da|k|z|a)?sh\b', head) else ''
    start = head.lstrip(b'\xef\xbb\xbf \t\r\n')[:2]
    if start[:1] == b'{' and start not in (b'{{', b'{%', b'{#'):
        return 'json'
    for pattern, found in (
        (_UNIT, 'systemd'), (_SYSCTL_LINE, 'sysctl'), (_LIMITS_LINE, 'limits'), (_UDEV_LINE, 'udev'), (_BATCHING, 'tf-batching'),
        (_NGINX_BLOCK, 'nginx'), (_CONTAINERD, 'containerd'), (_BOTTLEROCKET, 'bottlerocket'), (_GRUB, 'grub'), (_TRAEFIK, 'traefik'), (_HAPROXY, 'haproxy'),
    ):  # fmt: skip
        if pattern.search(head):
            return found
    if not name.endswith(_LINE_FORMATS) and re.search(rb'^[ \t]*apiVersion:', head, re.MULTILINE) and re.search(rb'^[ \t]*kind:', head, re.MULTILINE):
        return 'yaml'
    if re.search(rb'^groups:', head, re.MULTILINE) and re.search(rb'^[ \t]+(?:- )?expr:', head, re.MULTILINE):  # Prometheus' own rules
        return 'yaml'
    return _database(head, name)


def _database(head: bytes, name: str) -> str:
    if re.search(rb'^[ \t]*\[mysqld\]', head, re.MULTILINE):
        return 'mysql'
    if re.search(rb'^[ \t]*\[pgbouncer\]', head, re.MULTILINE):
        return 'pgbouncer'
    if re.search(rb'^[ \t]*max_connections\s*=?\s*\d+', head, re.MULTILINE) and re.search(rb'^[ \t]*(?:shared_buffers|listen_addresses|wal_level)', head, re.MULTILINE):
        return 'postgresql'
    return ''
