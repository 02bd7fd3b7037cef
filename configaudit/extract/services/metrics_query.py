"""From queries in a document to one component that names the metrics they ask for."""

from collections.abc import Callable

from configaudit.extract.words import Word, word_of
from configaudit.knowledge.metric_kinds import METRIC_QUERY, MetricUse, Unread
from configaudit.model import Component, Setting
from configaudit.parse.tree import Node, Scalar
from configaudit.patterns import regex
from configaudit.places import Document, Place

_ASKS = regex(r'\b(?:vllm|sglang)[:_]|\btgi_|\bnv_|\bollama_')
_METRIC = regex(r'(?:vllm|sglang)[:_]\w|(?:tgi|nv|ollama)_\w')
MAX_QUERIES = 2000
"""For metrics of engines in one document; the largest dashboard of 30 public repositories has 200."""


class Queries:
    """The queries of one document, collected one by one."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self.uses: list[MetricUse] = []
        self.unread: list[Unread] = []
        self.defines: set[str] = set()
        self._count = 0

    def query(self, node: Node, role: str, unwrap: Callable[[str], tuple[int, str]] | None = None) -> None:
        """A query in PromQL. `unwrap` gives the part of the text that is one, and where it begins."""
        word = word_of(self._document, node)
        if word is None or not _ASKS.search(word.value):
            return
        from configaudit.parse.promql import MAX_LENGTH, read  # most autoscalers name a metric and hold no query

        self._count += 1
        if self._count > MAX_QUERIES or len(word.value) > MAX_LENGTH:
            reason = 'too long' if self._count <= MAX_QUERIES else f'more than {MAX_QUERIES} in one document'
            self.unread.append(Unread(word.place, reason, role, False))
            return
        offset, text = unwrap(word.value) if unwrap is not None else (0, word.value)
        found = read(text)
        if found.problem and found.problem != 'empty':
            self.unread.append(Unread(word.place, found.problem, role, found.broken and word.known))
        for name in found.names:
            if _METRIC.match(name.text):
                self._use(word, node, offset + name.start, name.text, role, name.alternatives)

    def name(self, word: Word | None, name: str, role: str) -> None:
        """A metric that is named outside of any query."""
        if word is not None and _METRIC.match(name) and name in word.value:
            self._use(word, None, word.value.index(name), name, role, frozenset())

    def _use(self, word: Word, node: Node, at: int, name: str, role: str, alternatives: frozenset[str]) -> None:
        exact = word.pure or (isinstance(node, Scalar) and node.value == word.value)
        place = word.place.part(at, at + len(name)) if exact else word.place
        locked = word.locked or ('' if word.pure else 'it is written by a template')
        self.uses.append(MetricUse(name, place, role, alternatives, locked=locked))

    def record(self, name: str | None) -> None:
        """A name that exists because a rule makes it."""
        if name:
            self.defines.add(name)

    def component(self, name: str, identity: str, place: Place, *, scope: str = '', target: str | None = None) -> list[Component]:
        """The component of all of these, or nothing where no engine's metric is met."""
        if not self.uses and not self.unread and not self.defines:
            return []
        settings = {
            'uses': Setting('uses', tuple(self.uses), place), 'unread': Setting('unread', tuple(self.unread), place),
            'defines': Setting('defines', frozenset(self.defines), place),
        }  # fmt: skip
        if target is not None:
            settings['target_name'] = Setting('target_name', target, place)
        return [Component(METRIC_QUERY, name, f'{identity}/queries', place, settings, scope=scope)]
