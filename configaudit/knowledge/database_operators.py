"""Custom resources that make database servers: where they hold a server's parameters, under which names it is reached.

Sources: CloudNativePG API reference and docs "Service management", Zalando postgres-operator manifest reference, Crunchy PGO CRD
reference, Percona operators for PostgreSQL, MySQL and XtraDB, MariaDB operator and MySQL operator API references, StackGres CRDs.
"""

from typing import NamedTuple

Path = tuple[str, ...]


class Operator(NamedTuple):
    """How one kind of resource describes its server."""

    api: str
    """How its apiVersion begins."""
    product: str
    parameters: tuple[Path, ...] = ()
    """Mappings of parameters, the later one wins."""
    text: Path = ()
    """A my.cnf as text."""
    names: tuple[str, ...] = ('',)
    """Endings of the Services that lead to the primary."""
    readers: tuple[str, ...] = ()
    """Endings of those that lead to the replicas, which have limits of their own."""
    instances: Path = ()
    """The number of servers, or a list of sets with `replicas`."""
    secrets: tuple[str, ...] = ()
    """Parts of the names of its Secrets; {} is the resource's name."""
    derived: str = ''
    """Why max_connections is not the product's default where nobody sets it."""
    source: str = ''


_PATRONI: tuple[Path, ...] = (('spec', 'patroni', 'dynamicConfiguration', 'postgresql', 'parameters'), ('spec', 'config', 'parameters'))

OPERATORS: dict[str, Operator] = {
    'Cluster': Operator(
        'postgresql.cnpg.io/', 'postgres', (('spec', 'postgresql', 'parameters'),), names=('-rw',), readers=('-ro', '-r'),
        instances=('spec', 'instances'), secrets=('{}-app', '{}-superuser'), source='PostgreSQL default',
    ),
    'postgresql': Operator(
        'acid.zalan.do/', 'postgres', (('spec', 'postgresql', 'parameters'), ('spec', 'patroni', 'postgresql', 'parameters')), names=('',),
        readers=('-repl',), instances=('spec', 'numberOfInstances'), secrets=('.{}.credentials.',), derived='the operator sets max_connections',
    ),
    'PostgresCluster': Operator(
        'postgres-operator.crunchydata.com/', 'postgres', _PATRONI, names=('-primary', '-ha'), readers=('-replicas',), instances=('spec', 'instances'),
        secrets=('{}-pguser-',), source='Patroni default',
    ),
    'PerconaPGCluster': Operator(
        'pgv2.percona.com/', 'postgres', _PATRONI, names=('-primary', '-ha'), readers=('-replicas',), instances=('spec', 'instances'), secrets=('{}-pguser-',),
        source='Patroni default',
    ),
    'PerconaXtraDBCluster': Operator(
        'pxc.percona.com/', 'mysql', text=('spec', 'pxc', 'configuration'), names=('-haproxy', '-proxysql', '-pxc'), readers=('-haproxy-replicas',),
        instances=('spec', 'pxc', 'size'), derived='the operator derives max_connections from the memory limit',
    ),
    'PerconaServerMySQL': Operator(
        'ps.percona.com/', 'mysql', text=('spec', 'mysql', 'configuration'), names=('-haproxy', '-router', '-mysql-primary', '-mysql'),
        instances=('spec', 'mysql', 'size'), derived='the operator derives max_connections from the memory limit',
    ),
    'InnoDBCluster': Operator('mysql.oracle.com/', 'mysql', text=('spec', 'mycnf'), names=('',), instances=('spec', 'instances'), source='MySQL default'),
    'MariaDB': Operator(
        'k8s.mariadb.com/', 'mysql', text=('spec', 'myCnf'), names=('', '-primary'), readers=('-secondary',), instances=('spec', 'replicas'),
        source='MariaDB default',
    ),
    'SGCluster': Operator(
        'stackgres.io/', 'postgres', names=('', '-primary'), readers=('-replicas',), instances=('spec', 'instances'),
        derived='its SGPostgresConfig sets max_connections',
    ),
}  # fmt: skip
"""Kind -> how it is read."""
