"""Source code that sets up what is judged: told by its extension and a look for words, before a parser sees it."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from configaudit.patterns import regex


class Program(NamedTuple):
    """A language: the format of its files, words of which one stands wherever `pattern` matches, and file names that are left out."""

    format: str
    words: tuple[bytes, ...]
    pattern: Any
    left_out: Any = None


_PYTHON = Program(
    'python',
    (b'_engine(', b'ConnectionPool(', b'create_pool(', b'grpc.', b'import grpc', b'from grpc', b'httpx', b'requests', b'aiohttp', b'OpenAI(', b'Anthropic(', b'DATABASES', b'SQLALCHEMY_ENGINE_OPTIONS', b'BaseSettings', b'uvicorn.', b'Pooled', b'Database('),
    regex(
        rb'\bcreate_(?:async_)?engine\(|\b\w*ConnectionPool\(|\bcreate_pool\(|\b(?:grpc|aio)\.(?:aio\.)?(?:(?:in)?secure_channel|server)\('
        rb'|\b(?:httpx|requests)\.(?:(?:Async)?Client|Timeout|[sS]ession|get|post|put|patch|delete|request|stream)\(|\bClientSession\(|\bAsyncClient\(|\b(?:OpenAI|Anthropic)\('
        rb'|\bDATABASES\s*[:=\[]|\bSQLALCHEMY_ENGINE_OPTIONS\b|\(BaseSettings\b|\buvicorn\.(?:run|Config)\(|\bPooled(?:Postgresql|MySQL)\w*\(|\bDatabase\(|\bAsync(?:Azure)?OpenAI\(|\b(?:grpc|channel)_options\s*=|\bAzureOpenAI\(|\bAsyncAnthropic\('
    ),
)
_GO = Program(
    'go',
    (
        b'grpc.', b'keepalive.', b'sql.Open', b'gorm.Open', b'sqlx.', b'pgxpool.', b'SetMaxOpenConns', b'SetConnMax', b'http.', b'http2.', b'httputil.', b'automaxprocs',
        b'automemlimit', b'gin.Context', b'echo.Context', b'runtime.GOMAXPROCS(', b'debug.SetMemoryLimit(',
    ),
    regex(
        rb'\bgrpc\.(?:Dial|NewClient|NewServer)|\bkeepalive\.|\b(?:sql|gorm|sqlx|otelsql)\.(?:Open|Connect|MustConnect)|\bpgxpool\.|\bSetMaxOpenConns\b|\bSetConnMax|'
        rb'\bhttp\.(?:Client\{|Transport\{|Server\{|ListenAndServe|Serve\(|ServeTLS\(|TimeoutHandler\(|DefaultClient\b|NewRequest\(|NewRequestWithContext\(context\.)|\bhttp2\.(?:Transport\{|With)|'
        rb'ReverseProxy\b|\bhttp\.Flusher\b|/auto(?:maxprocs|memlimit)["/]|\bruntime\.GOMAXPROCS\(|\bdebug\.SetMemoryLimit\(|'
        rb'\A(?s:(?=.*(?:\bNewRequestWithContext\(|\bhttp\.(?:Get|Head|Post|PostForm)\(|\bcontext\.(?:Background|TODO)\(\))).*\b(?:http\.ResponseWriter|gin\.Context|echo\.Context)\b)'
    ),
    regex(r'_test\.go$'),
)  # fmt: skip
_TERRAFORM = Program(
    'terraform',
    (b'aws_', b'google_', b'azurerm_', b'module'),
    regex(
        rb'"aws_(?:db_|rds_cluster|lb|alb)|"google_sql_database_instance"|"google_compute_(?:region_)?backend_service"|"azurerm_\w+_configuration"'
        rb'|(?m:^[ \t]*(?:parameters|database_flags|db_cluster_parameter_group_parameters)[ \t]*=[ \t]*\[)|"terraform-aws-modules/alb/aws'
    ),
)
_VALUES = Program('terraform', (), regex(rb'(?!)'))
"""Files of variables: opened when a folder's resources name one."""
_JVM_WORDS = (b'ChannelBuilder', b'ServerBuilder', b'io.grpc', b'Hikari', b'DruidDataSource', b'BasicDataSource', b'tomcat.jdbc', b'JedisPoolConfig', b'OkHttpClient', b'java.net.http', b'reactor.netty', b'RequestFactory')
_JVM = regex(
    rb'\b(?:(?:Managed|Netty|OkHttp)ChannelBuilder|(?:Netty|OkHttp)?ServerBuilder|Hikari(?:Config|DataSource)|DruidDataSource|BasicDataSource|PoolProperties|JedisPoolConfig|'
    rb'OkHttpClient|Grpc\.new\w+|HttpRequest\.newBuilder|HttpClient\.(?:new|create)\w*|\w+ClientHttpRequestFactory)\b'
)
_JAVA = Program('java', _JVM_WORDS, _JVM, regex(r'(?:Test|Tests|IT)\.java$'))
_KOTLIN = Program('kotlin', _JVM_WORDS, _JVM, regex(r'(?:Test|Tests|IT|Spec)\.kt$'))
_SCRIPT_WORDS = (
    b'Pool(', b'Sequelize', b'DataSource(', b'knex', b'Knex', b'postgres(', b'drizzle(', b'TypeOrmModule', b'PrismaPg(', b'PrismaMariaDb(', b'grpc-js', b'Transport.GRPC', b'OpenAI(', b'createServer(',
    b'.listen(', b'AbortSignal.timeout', b'axios.create(', b'Agent(', b'UV_THREADPOOL',
)  # fmt: skip
_SCRIPT_PATTERN = regex(
    rb'\bnew[ ]+(?:\w+\.)?(?:Pool|Sequelize|DataSource|PrismaPg|PrismaMariaDb|OpenAI|AzureOpenAI|Agent|HttpsAgent)\(|\bcreatePool\(|\b[kK]nex(?:["\']\))?\(|\bpostgres\(|'
    rb'\bdrizzle\(|\b(?:TypeOrm|Sequelize)Module\.forRoot|\bgrpc-js\b|\bTransport\.GRPC\b|\bcreateServer\(|\.listen\(|\bAbortSignal\.timeout\(|\baxios\.create\(|\bprocess\.env\.UV_THREADPOOL_SIZE\s*=[^=]'
)
_SCRIPT_NAMES = regex(
    r'\.d\.[mc]?ts$|[.\-_](?:min|test|tests|spec|specs|e2e|stories|story|bundle|chunk|umd|iife|mock|bench|seed)\.[mc]?[jt]sx?$|'
    r'^(?:seed|migrat)[\w.\-]*\.[mc]?[jt]s$|[.\-_]test[.\-_]|^(?:jest|vite|vitest|webpack|rollup|eslint|karma|babel|tsup|next|nuxt|tailwind|postcss|playwright|cypress|gulpfile|Gruntfile)(?:\.\w+)*\.[mc]?[jt]s$'
)
_RUST = Program(
    'rust', (b'tonic', b'PoolOptions', b'r2d2', b'bb8', b'reqwest'),
    regex(rb'\b(?:Endpoint|Channel)::(?:from_|new|builder)|\bServer::builder\(|\b(?:Pg|MySql)PoolOptions\b|\b(?:r2d2|bb8)::|\b(?:reqwest::)?Client(?:Builder)?::(?:builder|new)\('),
    regex(r'^(?:build|tests?|bench)\.rs$|_tests?\.rs$|^test_'),
)  # fmt: skip
_JAVASCRIPT, _TYPESCRIPT, _TSX = (Program(form, _SCRIPT_WORDS, _SCRIPT_PATTERN, _SCRIPT_NAMES) for form in ('javascript', 'typescript', 'tsx'))
PROGRAMS: dict[str, Program] = {
    'py': _PYTHON, 'go': _GO, 'tf': _TERRAFORM, 'tfvars': _VALUES, 'java': _JAVA, 'kt': _KOTLIN,
    'js': _JAVASCRIPT, 'mjs': _JAVASCRIPT, 'cjs': _JAVASCRIPT, 'ts': _TYPESCRIPT, 'mts': _TYPESCRIPT, 'cts': _TYPESCRIPT, 'tsx': _TSX,
    'rs': _RUST,
}  # fmt: skip
"""By extension. Words are many times faster to look for than the pattern."""
EXTENSIONS = tuple(f'.{extension}' for extension in PROGRAMS)
_GUNICORN = regex(r'gunicorn(?:[._-]\w+)*\.py$')
_PM2 = regex(r'(?:(?:ecosystem|pm2)\.config|knexfile)\.[cm]?[jt]s$')
_ENGINES = (b'vllm', b'sglang', b'LLMConfig')


def is_program(extension: str, name: str) -> bool:
    """Whether a file of this name may set up a service."""
    program = PROGRAMS.get(extension)
    return program is not None and (program.left_out is None or program.left_out.search(name) is None)


def program_format(extension: str, name: str, data: bytes) -> str:
    """The format of a source file that sets up something that is judged, else ''."""
    program = PROGRAMS[extension]
    if extension == 'py':
        if _GUNICORN.match(name):
            return 'python'
        if b'import' not in data:
            return ''
        if any(word in data for word in _ENGINES):
            return 'python'
    if _PM2.match(name):
        return program.format if b'apps' in data or b'client' in data else ''
    return program.format if _any(program.words, data) and program.pattern.search(data) else ''


def _any(words: Iterable[bytes], data: bytes) -> bool:
    return any(word in data for word in words)
