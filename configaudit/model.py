"""The words every layer speaks: component, setting, place, rule, problem, finding, fix.

A rule imports this module and nothing else of the engine.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from configaudit.changes import REMOVE as REMOVE
from configaudit.changes import Change as Change
from configaudit.changes import Fix as Fix
from configaudit.changes import Slot as Slot
from configaudit.places import Place

Severity = Literal['error', 'warning', 'advice']
Confidence = Literal['high', 'medium', 'low']
Origin = Literal['explicit', 'default', 'inherited']
SEVERITIES: tuple[Severity, ...] = ('error', 'warning', 'advice')
CONFIDENCES: tuple[Confidence, ...] = ('high', 'medium', 'low')


class Unknown(Exception):
    """A rule asked for a value that cannot be known from what was read: the outcome is *not assessed*."""


class NotApplicable(Exception):
    """The rule has nothing to judge on this component."""


class UndeclaredSetting(Exception):
    """A rule asked for a name that its component's kind does not declare: a bug in the rule."""


class Setting(NamedTuple):
    """One named value of a component, where it stands, where it comes from, and whether it is known."""

    name: str
    known_value: object
    place: Place
    origin: Origin = 'explicit'
    reason: str = ''
    """Why the value is unknown; '' when it is known."""
    candidates: tuple[Any, ...] = ()
    """Of an unknown value: all that it can be, when that is a short list."""
    slot: Slot | None = None
    unit: str = ''
    source: str = ''
    """Of a default: what says so ('vLLM 0.10.2 defaults')."""
    uses: tuple[Place, ...] = ()
    """Other places that take their value from this one."""
    locked: str = ''
    """Why no fix may write here ('shared by 3 services'), or ''."""
    secret: bool = False

    @property
    def value(self) -> Any:
        """The value; raises Unknown when it cannot be known."""
        if self.reason:
            raise Unknown(f'{self.name}: {self.reason}')
        return self.known_value

    @property
    def is_known(self) -> bool:
        """Whether `.value` can be read."""
        return not self.reason

    @property
    def is_set(self) -> bool:
        """Whether somebody wrote it, known or not, rather than leaving the default."""
        return self.origin != 'default'

    def all(self, holds: Callable[[Any], bool]) -> bool:
        """Whether the value, or every candidate of an unknown one, passes; Unknown when nothing can be said."""
        if not self.reason:
            return holds(self.known_value)
        if self.candidates and all(map(holds, self.candidates)):
            return True
        if self.candidates and not any(map(holds, self.candidates)):
            return False
        raise Unknown(f'{self.name}: {self.reason}')

    def set(self, value: object, *, safe: bool = False, description: str = '') -> Fix:
        """A fix that writes this value, replacing or inserting."""
        return Fix((Change(self.slot, value, self.name, self.locked),), (), safe, description)

    def remove(self, *, safe: bool = False, description: str = '') -> Fix:
        """A fix that deletes the setting."""
        return self.set(REMOVE, safe=safe, description=description)


class SettingSpec(NamedTuple):
    """The declaration of a setting: unit, what holds when nobody sets it, and whether it is a ceiling."""

    unit: str = ''
    default: object = None
    path: tuple[str, ...] = ()
    """Where the setting stands below its component's mapping, in a format with mappings."""
    raise_only: bool = False
    source: str = ''


class Kind(NamedTuple):
    """The declaration of a component kind: its traits and every setting a rule may ask for."""

    name: str
    traits: tuple[str, ...]
    settings: Mapping[str, SettingSpec]


class Peers(tuple['Component', ...]):
    """The neighbours of a component, and whether these are all there are."""

    complete: bool = False
    unseen: str = ''

    @classmethod
    def of(cls, components: Iterable['Component'], complete: bool = False, unseen: str = '') -> 'Peers':
        """Neighbours with what is known about those not seen."""
        peers = cls(components)
        peers.complete = complete
        peers.unseen = unseen
        return peers

    def some(self) -> 'Peers':
        """The neighbours; Unknown when there are none and some may exist unseen."""
        if not self and not self.complete:
            raise Unknown(self.unseen or 'its counterpart is not among the files read')
        return self


class Component:
    """One thing that is configured: a vLLM engine, a pod, a connection pool, a proxy route, a sysctl file."""

    __slots__ = (
        '_absent', 'identity', 'kind', 'name', 'note', 'partial', 'peer_map', 'place', 'scope', 'settings', 'slots', 'version', 'version_from',
    )  # fmt: skip

    def __init__(
        self,
        kind: Kind,
        name: str,
        identity: str,
        place: Place,
        settings: dict[str, Setting],
        *,
        slot: Slot | None = None,
        partial: str = '',
        version: Any = None,
        version_from: str = '',
        scope: str = '',
    ) -> None:
        self.kind = kind
        self.name = name
        self.identity = identity
        """What the component is in the world, without file or line: 'Deployment/default/chat/containers/vllm'."""
        self.place = place
        """Where an absent setting is reported: the key of the innermost mapping, the program's word."""
        self.settings = settings
        self.slots = slot
        """The writer for settings that are not there yet; their declared path is appended."""
        self.partial = partial
        """Why nothing may be called missing here ('a kustomize patch'), or ''."""
        self.version = version
        self.version_from = version_from
        self.scope = scope
        """Namespace, compose project or host: names resolve inside one scope."""
        self.peer_map: dict[str, Peers] = {}
        self._absent: dict[str, Setting] = {}
        self.note = ''
        """What a reader of any finding here must know ('newer than the data (0.33.0)')."""

    def __repr__(self) -> str:
        return f'<{self.kind.name} {self.identity}>'

    def __getitem__(self, name: str) -> Setting:
        found = self.settings.get(name) or self._absent.get(name)
        if found is not None:
            return found
        spec = self.kind.settings.get(name)
        if spec is None:
            raise UndeclaredSetting(f'{self.kind.name} declares no setting {name!r}')
        slot = Slot(self.slots.format, self.slots.place, spec.path or (name,)) if self.slots else None
        made = Setting(name, spec.default, self.place, 'default', self.partial, (), slot, spec.unit, spec.source)
        self._absent[name] = made
        return made

    def peers(self, kind: str) -> Peers:
        """Neighbouring components of a kind or trait, as linking found them."""
        found = self.peer_map.get(kind)
        return Peers() if found is None else found

    def peer(self, kind: str) -> 'Component':
        """The one neighbour of a kind; Unknown when none or several are seen."""
        peers = self.peers(kind).some()
        if len(peers) != 1:
            raise Unknown(f'{len(peers)} components of kind {kind} are possible here')
        return peers[0]


class Problem:
    """What a rule yields: a place, a message template, the values that are its arithmetic.

    `{value}` in the template is the setting's own value, other names come from the keywords.
    `see` are related places with a word on each; `detail` tells two problems of one rule on one
    setting apart in fingerprints; `severity` and `confidence` may only lower the rule's own.
    """

    __slots__ = ('at', 'confidence', 'detail', 'fix', 'see', 'severity', 'template', 'values')

    def __init__(
        self,
        at: Setting | Place,
        template: str,
        /,
        *,
        see: Iterable[tuple[str, Setting | Place]] = (),
        fix: Fix | None = None,
        severity: Severity | None = None,
        confidence: Confidence | None = None,
        detail: str = '',
        **values: object,
    ) -> None:
        if isinstance(at, Setting) and 'value' not in values:
            values['value'] = at.known_value if at.is_known else ' or '.join(map(str, at.candidates)) or 'unknown'
        self.at = at
        self.template = template
        self.values = values
        self.see = tuple((word, where.place if isinstance(where, Setting) else where) for word, where in see)
        self.fix = fix
        self.severity = severity
        self.confidence = confidence
        self.detail = detail


Judge = Callable[..., Iterator[Problem]]


class Rule(NamedTuple):
    """A judgement on one kind of component, with what a person needs to weigh it."""

    id: str
    judge: Judge
    on: tuple[str, ...]
    severity: Severity
    confidence: Confidence
    source: str
    checklist: tuple[str, ...]
    versions: str
    doc: str
    effect: str
    side_effect: str
    options: Mapping[str, object]
    profiles: tuple[str, ...]
    aliases: tuple[str, ...]

    def __call__(self, component: Component, **options: object) -> Iterator[Problem]:
        return self.judge(component, **options)


def rule(
    id: str,  # noqa: A002 - what every report calls it
    *,
    on: str | tuple[str, ...],
    severity: Severity,
    source: str,
    confidence: Confidence = 'high',
    checklist: str | tuple[str, ...] = (),
    versions: str = '',
    effect: str = '',
    side_effect: str = '',
    profiles: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
) -> Callable[[Judge], Rule]:
    """Make a Rule of a generator function; its keyword-only parameters are the rule's options.

    `on` names kinds or traits; `versions` the engine versions it holds for ('>=0.8,<0.11.1');
    `profiles` limits it to some values of `--profile` (empty: all).
    """

    def make(judge: Judge) -> Rule:
        kinds = (on,) if isinstance(on, str) else on
        lists = (checklist,) if isinstance(checklist, str) else checklist
        options = dict(judge.__kwdefaults__ or {})
        return Rule(
            id, judge, kinds, severity, confidence, source, lists, versions,
            judge.__doc__ or '', effect, side_effect, options, profiles, aliases,
        )  # fmt: skip

    return make
