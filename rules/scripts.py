"""Rules for scripts: what their shell does with words that were meant for a program."""

from collections.abc import Iterator

from configaudit.model import Change, Component, Fix, Problem, Slot, rule


@rule(
    'pip-bound-redirected', on='pip-install', severity='error', source='POSIX Shell Command Language, 2.7 Redirection; pip documentation, requirement specifiers',
    effect='the release that was meant is installed', side_effect='the bound holds from now on: an installation that lived on another release may fail',
)  # fmt: skip
def bound_redirected(installation: Component) -> Iterator[Problem]:
    """Unquoted, `>` and `<` are redirections: pip gets the bare name and installs any release, and its output goes into a file named like the version.

    With `<` the shell looks for a file of that name instead, and stops. Quote the requirement.
    """
    for bound in installation['bounds'].value:
        if bound.operator[0] == '>':
            message = 'pip gets {package} without a bound: the shell takes {bound} as a redirection into a file; quote it'
        else:
            message = 'the shell takes {bound} behind {package} as a file to read, finds none and stops; quote it'
        quoted = f'"{bound.package}{bound.operator}{bound.version}"'
        fix = Fix((Change(Slot('shell', bound.place), quoted, bound.package),), (), False, f'quote {quoted}')
        yield Problem(bound.place, message, package=bound.package, bound=bound.operator + bound.version, fix=fix, detail=bound.package)
