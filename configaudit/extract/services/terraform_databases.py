"""Managed databases in Terraform: parameter groups of RDS and Aurora, flags of Cloud SQL, server parameters of Azure.

Sources: AWS RDS user guide (parameter groups; max_connections by memory of the class), Google Cloud SQL database flags,
Azure Database flexible server parameters; the registry's modules terraform-aws-modules/rds, rds-aurora and
terraform-google-modules/sql-db, which take lists of such objects.
"""

from collections.abc import Iterator

from configaudit.extract.services.terraform import Module, default, parameters, setting, text_of
from configaudit.knowledge.service_kinds import DATABASE
from configaudit.model import Component, Setting
from configaudit.parse.terraform import Block, Expression
from configaudit.patterns import regex

_GROUPS = ('aws_db_parameter_group', 'aws_rds_cluster_parameter_group')
_SERVERS = ('aws_db_instance', 'aws_rds_cluster')
_AZURE = regex(r'azurerm_(postgresql|mysql|mariadb)(?:_flexible)?(?:_server)?_configuration$')
_MODULES = regex(r'(?:terraform-aws-modules/rds(?:-aurora)?/aws|(?:terraform-google-modules|GoogleCloudPlatform)/sql-db/google)')
_LISTS = ('parameters', 'db_cluster_parameter_group_parameters', 'db_parameter_group_parameters', 'database_flags')
_UNITS = {'max_connections': ('max_connections', 'count'), 'wait_timeout': ('wait_timeout_s', 's')}
_BY_MEMORY = 'RDS derives max_connections from the memory of the instance class'
_RESERVED = {'postgres': 3}


def databases(module: Module) -> Iterator[Component]:
    """Every database server of a module whose limits it sets."""
    for group in module.resources(*_GROUPS):
        product = _product(module, group.attributes.get('family'))
        users = [server for server in module.resources(*_SERVERS) if _takes(module, server, group)]
        yield from _database(module, group, product, [*parameters(group.inner('parameter'), None), *_dynamic(module, group, 'parameter')], users)
    for server in module.resources('google_sql_database_instance'):
        product = _product(module, server.attributes.get('database_version'))
        for settings in server.inner('settings'):
            given = [*parameters(settings.inner('database_flags'), settings.attributes.get('database_flags')), *_dynamic(module, settings, 'database_flags')]
            yield from _database(module, server, product, given, [server])
    for block in module.blocks:
        if block.kind == 'resource' and block.labels and _AZURE.match(block.labels[0]):
            yield from _azure(module, block)
        elif block.kind == 'module' and _MODULES.search(text_of(module, block.attributes.get('source'))):
            product = _product(module, block.attributes.get('family') or block.attributes.get('engine') or block.attributes.get('database_version'))
            given = [pair for name in _LISTS for pair in parameters(iter(()), module.whole(block.attributes.get(name)))]
            yield from _database(module, block, product, given, [block])


def _dynamic(module: Module, block: Block, kind: str) -> Iterator[tuple[str, Expression]]:
    """Name and value of what `dynamic "parameter" { for_each = local.settings ... }` makes of a map, or of a list of objects."""
    for made in block.inner('dynamic'):
        listed, content = module.whole(made.attributes.get('for_each')), next(made.inner('content'), None)
        if listed is None or content is None or made.labels != (kind,):
            continue
        each = made.attributes['iterator'].text if 'iterator' in made.attributes else kind
        name, value = (content.attributes[key].text if key in content.attributes else '' for key in ('name', 'value'))
        if (name, value) == (f'{each}.key', f'{each}.value'):
            yield from listed.fields.items()
        elif (name, value) == (f'{each}.value.name', f'{each}.value.value'):
            yield from parameters(iter(()), listed)


def _database(module: Module, block: Block, product: str, given: list[tuple[str, Expression]], servers: list[Block]) -> Iterator[Component]:
    """One component for a group whose parameters set a limit."""
    settings: dict[str, Setting] = {}
    for name, value in given:
        if name in _UNITS:
            target, unit = _UNITS[name]
            settings[target] = setting(module, target, value, unit)
            if 'DBInstanceClassMemory' in str(value.text):
                settings[target] = settings[target]._replace(known_value=None, reason=_BY_MEMORY)
    if not settings or not product:
        return
    settings.setdefault('max_connections', default(module, block, 'max_connections', '', None, '')._replace(reason=_BY_MEMORY, slot=None))
    names = tuple(dict.fromkeys(name for server in servers for name in _names(module, server)))
    settings['product'] = Setting('product', product, block.place)
    settings['names'] = Setting('names', names, block.place)
    settings['reserved'] = Setting('reserved', _RESERVED.get(product, 0), block.place, 'default')
    title = names[0] if names else block.labels[-1]
    yield Component(DATABASE, title, '/'.join(filter(None, (module.folder, *block.labels, 'database'))), block.place, settings)


def _azure(module: Module, block: Block) -> Iterator[Component]:
    found = _AZURE.match(block.labels[0])
    name, value = block.attributes.get('name'), block.attributes.get('value')
    if found is None or name is None or value is None:
        return
    server = module.resource(block.attributes.get('server_id'))
    product = 'postgres' if found[1] == 'postgresql' else 'mysql'
    yield from _database(module, block, product, [(text_of(module, name), value)], [server] if server is not None else [])


def _takes(module: Module, server: Block, group: Block) -> bool:
    """Whether a server names a parameter group."""
    names = ('parameter_group_name', 'db_cluster_parameter_group_name')
    return any(module.resource(server.attributes.get(name)) is group for name in names)


def _names(module: Module, server: Block) -> Iterator[str]:
    """What a server is called: its identifier is the first label of its host name on RDS."""
    for attribute in ('identifier', 'cluster_identifier', 'name'):
        text = text_of(module, server.attributes.get(attribute))
        if text:
            yield text


def _product(module: Module, expression: Expression | None) -> str:
    """'postgres' or 'mysql' of `postgres15`, `aurora-mysql8.0`, `POSTGRES_15`; '' for others."""
    text = expression.text.lower() if expression is not None and expression.kind == 'constant' else text_of(module, expression).lower()
    return 'postgres' if 'postgres' in text else 'mysql' if 'mysql' in text or 'mariadb' in text else ''
