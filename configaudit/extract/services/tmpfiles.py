"""Lines of tmpfiles.d that write into /sys and /proc at boot. Source: tmpfiles.d(5), type `w`."""

from configaudit.extract.process import Reading, nothing
from configaudit.extract.services.sysctl import is_node, sysctl_component
from configaudit.extract.services.tuned import huge_page_mode
from configaudit.extract.services.udev import scheduler_component
from configaudit.patterns import regex
from configaudit.places import Document, Place

_LINE = regex(r'(?m)^[ \t]*w[+!-]*[ \t]+(?P<path>/\S+)[ \t]+(?:\S+[ \t]+){4}(?P<value>[^\n]*)')
_HUGE_PAGES = '/sys/kernel/mm/transparent_hugepage/'
_SCHEDULER = regex(r'/sys/block/(?P<device>[^/]+)/queue/scheduler')


def read(document: Document) -> Reading:
    """Kernel parameters, schedulers and modes of huge pages."""
    reading = nothing()
    owner = document.called.rpartition('/')[2]
    for line in _LINE.finditer(document.text):
        value = line['value'].rstrip()
        path, place = line['path'], Place(document, line.start('value'), line.start('value') + len(value))
        device = _SCHEDULER.fullmatch(path)
        if path.startswith('/proc/sys/'):
            name = Place(document, *line.span('path'))
            key = path.removeprefix('/proc/sys/').replace('/', '.')
            reading.components.append(sysctl_component(key, value, place, name, owner, form='command', node=is_node(document)))
        elif path in (f'{_HUGE_PAGES}enabled', f'{_HUGE_PAGES}defrag'):
            reading.components.append(huge_page_mode(value, path.rpartition('/')[2], place, owner))
        elif device is not None:
            reading.components.append(scheduler_component(value, device['device'], place, owner))
    return reading
