"""schema.prisma: the database that Prisma's own engine opens connections to.

Prisma up to 6 opens 2 x physical CPUs + 1 connections unless the URL says `connection_limit` (prisma.io/docs, connection pool). From 7 on the
schema holds no URL, and the driver that the program hands over has the pool.
"""

from configaudit.extract.process import Reading, nothing
from configaudit.extract.services.dsn import parse_dsn
from configaudit.extract.services.pool_drafts import Draft, add_url, component_of
from configaudit.extract.services.source_role import is_served
from configaudit.extract.words import Word
from configaudit.model import Setting
from configaudit.patterns import regex
from configaudit.places import Document, Place

_OWN = regex(r'(?:^|/)(?:schema\.prisma$|(?:[^/]*[-_])?prisma/(?:schema/)?[^/]+$)')
"""Where Prisma looks: other files of that name are data of a program."""
_SOURCE = regex(r'(?m)^[ \t]*datasource\s+\w+\s*\{([^{}]*)\}')
_FIELD = regex(r'(?m)^[ \t]*(provider|url)[ \t]*=[ \t]*(?:env\([ \t]*"(\w+)"[ \t]*\)|"([^"\n]*)")')
_COMMENT = regex(r'//[^\n]*')
_ADAPTER = regex(r'"driverAdapters"')
_PRODUCTS = {'postgresql': 'postgres', 'postgres': 'postgres', 'cockroachdb': 'postgres', 'mysql': 'mysql', 'sqlserver': 'mssql'}
_CPUS = 'Prisma opens 2 x physical CPUs of the node + 1 connections unless the URL says connection_limit'


def read(document: Document) -> Reading | None:
    """The pool of a schema; None without a URL in it, or for SQLite."""
    if not is_served(document.below) or not _OWN.search(document.path):
        return None
    text = _COMMENT.sub(lambda found: found[0] if '://' in found[0] or '"' in found[0] else ' ' * len(found[0]), document.text)
    source = _SOURCE.search(text)
    if source is None or _ADAPTER.search(text):
        return None
    fields = {found[1]: found for found in _FIELD.finditer(text, *source.span(1))}
    product = _PRODUCTS.get(fields['provider'][3] or '', '') if 'provider' in fields else ''
    url = fields.get('url')
    if not product or url is None:
        return None
    place = Place(document, *url.span(2 if url[2] else 3))
    settings = {'product': Setting('product', product, place), 'written_in': Setting('written_in', 'Node.js', place)}
    dsn = parse_dsn(Word(url[3], place)) if url[3] else None
    if dsn is not None:
        add_url(settings, dsn)
    if url[2]:
        settings['variable'] = Setting('variable', url[2], place)
        for name in ('max_open', 'statement_cache'):
            settings[name] = Setting(name, None, place, 'inherited', f'${url[2]} is not set in the files read')
    settings.setdefault('max_open', Setting('max_open', None, place, 'default', _CPUS))
    path = document.path
    reading = nothing()
    reading.components.append(component_of(Draft('datasource', 'prisma', settings, place), path.rpartition('/')[2], f'prisma/{path}', path, ''))
    return reading
