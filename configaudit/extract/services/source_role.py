"""What a source file is for: production code is judged; tests, examples, tools and documentation are not."""

from configaudit.patterns import regex

_NOT_SERVED = regex(
    r'(?:^|/)(?:(?:conftest|setup|noxfile|manage|env|tests?|test_[^/]*|[^/]*_test|train(?:ing|er)?|train_[^/]*|fine_?tune[^/]*|evaluat\w*|eval_[^/]*|[^/]*migrat[^/]*)\.py$|[^/]*_test\.go$|(?:tests?|testing|testdata|testutils?|e2e|integration|mocks?|fakes?|'
    r'fixtures|benchmarks?|bench|benches|hack|tools|scripts|cli|commands|docs?|notebooks?|alembic|[^/]*migrat\w*|[^/]*examples?|samples?|tutorials?|demos?|vendor|third_party|train|training|fine-?tun\w*|evals?|evaluation|llm_judge)/)', 2
)

_STANDS_IN = regex(r'(?:^|/)(?:(?:[^/]*[-_])?(?:mocks?|fakes?|benchmarks?|evals)(?:[-_][^/]*)?/|(?:mock|fake)_[^/]*$|(?:src-tauri|testonly)/)', 2)
"""Stand-ins for a server, measurements, and programs of a desktop."""

_SCRIPT = regex(r'\.[mc]?[jt]sx?$')
_NOT_SERVED_SCRIPT = regex(
    r'(?:^|/)(?:(?:[^/]+[-_])?tests?(?:[-_][^/]+)?|cli[-_][^/]+|dev-[^/]+|node_modules|dist|build|out|coverage|public|static|assets|www|__tests__|__mocks__|__fixtures__|specs?|cypress|playwright|storybook|stories|playground|sandbox|'
    r'seeds?|seeders?|components|codemods?|generators?|starters?|boilerplate|packages/create-[^/]+)/|(?:^|/)(?:ormconfig|setup[-.]?tests?|test[-.]\w+)\.[mc]?[jt]s$', 2
)


SHORT_LIVED = regex(r'migrat|seed|create_?database|drop_?database|health', 2)
"""Names of functions that open a pool for one piece of work."""


def is_served(path: str) -> bool:
    """Whether a file may be part of a service, by its path below the folder that a person named: `check examples/shop` judges the code there."""
    return _NOT_SERVED.search(path) is None and _STANDS_IN.search(path) is None and not (_SCRIPT.search(path) and _NOT_SERVED_SCRIPT.search(path))
