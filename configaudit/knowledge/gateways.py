"""Implementations of the Gateway API: how to tell them, and how long an answer may take when a route does not say."""

import math
from typing import NamedTuple


class DefaultTimeout(NamedTuple):
    """Seconds that a whole answer may take where nothing sets it (inf: no limit), and what says so."""

    seconds: float
    source: str


_CONTROLLERS = {
    'gateway.envoyproxy.io/': 'Envoy Gateway', 'istio.io/': 'Istio', 'networking.gke.io/': 'GKE', 'agentgateway.dev/': 'agentgateway',
}  # fmt: skip
_CLASSES = {'eg': 'Envoy Gateway', 'envoy-gateway': 'Envoy Gateway', 'envoygateway': 'Envoy Gateway', 'istio': 'Istio', 'istio-waypoint': 'Istio'}
_DEFAULTS = {
    'Envoy Gateway': DefaultTimeout(15, 'Envoy Gateway documentation, HTTP Timeouts; envoyproxy/gateway#1169'),
    'Istio': DefaultTimeout(math.inf, 'Istio documentation, Request Timeouts: disabled by default'),
    'GKE': DefaultTimeout(30, 'Google Cloud documentation, GCPBackendPolicy: 30 s unless timeoutSec says otherwise'),
}


def implementation(class_name: str, controller: str, gateway_name: str) -> str:
    """The implementation behind a GatewayClass, by its controller or by its usual name; '' when it cannot be told.

    A Gateway that is not seen itself is told by the name that Envoy Gateway's quickstart gives it.
    """
    known = next((product for prefix, product in _CONTROLLERS.items() if controller.startswith(prefix)), '')
    if known or controller:
        return known
    if class_name.startswith('gke-l7-'):
        return 'GKE'
    return _CLASSES.get(class_name) or ('Envoy Gateway' if gateway_name in ('eg', 'envoy-gateway') else '')


def default_timeout(product: str) -> DefaultTimeout | None:
    """What holds without a timeout on the route; None where it is not known."""
    return _DEFAULTS.get(product)
