"""Traefik's routes to the middlewares and transports that they name: what those set holds for the route."""

from collections.abc import Iterable, Mapping

from configaudit.link import nearest
from configaudit.model import Component, Peers

_DEPTH = 10
_TAKEN = ('buffering', 'retry_on', 'attempts')


def link_traefik(by_kind: Mapping[str, list[Component]]) -> None:
    """Give routes what their middlewares and transports set. Runs before routes are judged as streams."""
    middlewares, transports = _named(by_kind.get('proxy-middleware', ())), _named(by_kind.get('proxy-transport', ()))
    for route in by_kind.get('proxy-route', ()):
        if route['product'].known_value != 'traefik':
            continue
        names: tuple[str, ...] = route['middlewares'].known_value or ()  # type: ignore[assignment]
        for name in names:
            _take(route, name, middlewares, _DEPTH)
        found = _chosen(route, transports.get(str(route['transport'].known_value or ''), []))
        if found is not None:
            found.peer_map['proxy-route'] = Peers.of([*found.peers('proxy-route'), route], True)
            if found['first_byte_timeout_s'].is_set:
                route.settings['first_byte_timeout_s'] = found['first_byte_timeout_s']
            for upstream in route.peers('proxy-upstream') if found['idle_timeout_s'].is_set else ():
                upstream.settings['idle_timeout_s'] = found['idle_timeout_s']


def _named(components: Iterable[Component]) -> dict[str, list[Component]]:
    found: dict[str, list[Component]] = {}
    for component in components:
        found.setdefault(component.name.lower(), []).append(component)
    return found


def _take(route: Component, name: str, middlewares: Mapping[str, list[Component]], depth: int) -> None:
    found = _chosen(route, middlewares.get(name, []))
    if found is None or not depth:
        return
    for setting in _TAKEN:
        if found[setting].is_set:
            route.settings[setting] = found[setting]
    members: tuple[str, ...] = found['members'].known_value or ()  # type: ignore[assignment]
    for member in members:
        _take(route, member, middlewares, depth - 1)


def _chosen(route: Component, found: list[Component]) -> Component | None:
    """The one of a name in the route's namespace, or nearest to it; None where several may be meant."""
    same = [one for one in found if not one.scope or not route.scope or one.scope == route.scope]
    close = nearest(route, same)
    return close[0] if len(close) == 1 else None
