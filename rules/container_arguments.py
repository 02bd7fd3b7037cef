"""Rules on the words of a container's command line, whatever runs in it."""

from collections.abc import Iterator

from configaudit.model import Change, Component, Fix, Problem, Slot, rule


@rule('container-argument-not-string', on='container', severity='error', source='Kubernetes API reference, Container: args []string')
def argument_not_string(container: Component) -> Iterator[Problem]:
    """Items of command and args are strings: the API server refuses a bare number or truth value. Quote it."""
    for place in container['non_string_args'].value:
        fix = Fix((Change(Slot('yaml_edit', place), str(place.text), 'args'),), (), True)
        yield Problem(place, '{text} is not a string: the API server refuses the object; quote it', text=place.text, fix=fix, detail=str(place.text))
