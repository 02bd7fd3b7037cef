"""Rules for the files that set kernel parameters: which one holds, and whether the host shows it."""

from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, Unknown, rule


@rule('sysctl-overridden-elsewhere', on='sysctl', severity='advice', source='sysctl.d(5): files are read by name, whatever folder they are in, and later assignments win; procps sysctl --system reads /etc/sysctl.conf last')
def overridden_elsewhere(entry: Component) -> Iterator[Problem]:
    """Another file, read later, sets the key to something else: whoever edits this line changes nothing.

    When it is wrong: defaults of a distribution below /usr/lib are meant to be overridden, and are not judged.
    """
    path = entry.place.document.called
    others = [other for other in entry.peers('later') if other.place.document.called != path]
    if not others or '/usr/lib/' in f'/{path}' or any(other.place.document.called == path for other in entry.peers('later')):
        raise NotApplicable('it holds, or is a default of the distribution')
    last = others[-1]
    if last['value'].value != entry['value'].value:
        where = last.place.document.called
        yield Problem(entry['value'], '{name} = {value} has no effect: {where}, which is read later, sets {last}', name=entry.name, where=where, last=last['value'].value, see=[('this one holds', last['value'])])


OWNED = (
    'net.netfilter.nf_conntrack', 'net.nf_conntrack_max', 'net.ipv4.conf.', 'net.ipv6.conf.', 'kernel.core_pattern', 'net.ipv4.ip_forward', 'net.bridge.',
    'vm.overcommit_memory', 'vm.panic_on_oom', 'kernel.panic', 'kernel.keys.root_max',
)  # fmt: skip
"""Parameters that kube-proxy, the network plugin, kubelet or a crash handler set again after boot."""


@rule('sysctl-live-differs', on='sysctl', severity='warning', source='sysctl.d(5): files are applied at boot, in order; later assignments win')
def live_differs(entry: Component) -> Iterator[Problem]:
    """The value in force is not the one that the files set: the next boot changes the node, or the file was never applied.

    A tuned profile, a container with privileges or a person may have written it. Parameters that kube-proxy, kubelet and network
    plugins set are advice.
    """
    if not entry.peers('setter'):
        raise NotApplicable('no file sets it')
    setter, value = entry.peers('setter')[0]['value'], entry['value']
    if str(setter.value) != str(value.value):
        where = setter.place.outermost().document.path
        yield Problem(value, '{name} is {value}, and {where} sets {wanted}', name=entry.name, where=where, wanted=setter.value, severity='advice' if entry.name.startswith(OWNED) else None, see=[('the file', setter)])


@rule('sysctl-not-in-force', on='sysctl', severity='warning', source='sysctl.d(5): keys of modules that are not loaded at boot are silently not applied')
def not_in_force(entry: Component) -> Iterator[Problem]:
    """The kernel has no parameter of that name: its module was not loaded when the file was applied, or the name is wrong.

    nf_conntrack and bridge parameters appear with their module: load it from /etc/modules-load.d.
    """
    if entry['form'].value != 'file' or not entry.peers('host') or '*' in entry.name or '?' in entry.name:
        raise NotApplicable('it is judged without its host')
    host = entry.peers('host')[0]
    if entry.name.startswith('net.') and host['netns'].value != 'host':
        raise Unknown('wrong namespace: the parameters of the network are those of a container')
    names = {other.name for other in host.peers('sysctl')}
    if len(names) < MANY:
        raise Unknown('only some parameters of the host were read')
    if entry.name not in names and not entry.peers('hidden') and not any(part in f'.{entry.name}.' for part in NOT_READ):
        yield Problem(entry['name'], 'the kernel has no {name}: the line has no effect', name=entry.name)


MANY = 200
"""A live kernel has hundreds of parameters; a snapshot with fewer is a part of one."""
NOT_READ = ('.conf.', '.neigh.', '.tcp_fastopen_key.', '.random.', '.debug.', '.usermodehelper.', '.sunrpc.')
"""Parts of names that the reader of the host leaves out."""
