"""Find the command lines in a POSIX or bash script, each argument with the place where a person would change it.

Nothing is executed. A loop is read as its first round, a function as its first call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from configaudit.parse.shell_builtins import inline_script, names, positional_arguments, without_exec
from configaudit.parse.shell_expand import Expander
from configaudit.parse.shell_grammar import parse
from configaudit.parse.shell_scope import Scope
from configaudit.parse.shell_token import Part, Source, Token, join
from configaudit.parse.shell_tree import Chain, Choice, Function, Group, Loop, Node, Pipeline, Simple, Word
from configaudit.units import HOLE

__all__ = ['Command', 'Part', 'Token', 'commands']

_DECLARATIONS = frozenset({'export', 'declare', 'typeset', 'local', 'readonly'})
_MAX_CALL_DEPTH = 10
# Expansion stops after this much work (a character copied costs 1, one read again 8): `A=$A$A` would double without end.
_WORK_PER_CHARACTER = 10
_WORK_ALLOWANCE = 300_000


class Command(NamedTuple):
    """One simple command.

    `environment` holds the variables that the command would see, passed-in ones included; a passed-in plain string
    has the place -1. `piped`: stdout goes into a pipe. `exec`: the word was there and is stripped from `argv`.
    `conditional`: inside if, while, for, case or a function, or after `||`.
    """

    argv: tuple[Token, ...]
    assignments: tuple[tuple[str, Token], ...]
    environment: Mapping[str, Token]
    start: int
    end: int
    piped: bool
    background: bool
    exec: bool
    conditional: bool


def commands(text: str, variables: Mapping[str, Token | str] | None = None) -> list[Command]:
    """Return the commands of a script in the order they would first run; `variables` is the container's environment.

    Commands of a substitution come before the command that uses it, those of `eval` and `sh -c` after it.
    """
    return list(_commands(text, tuple((variables or {}).items())))


@lru_cache(maxsize=16)  # overlays and presets repeat one script many times
def _commands(text: str, variables: tuple[tuple[str, Token | str], ...]) -> tuple[Command, ...]:
    known = dict(variables)
    script = _Script(known, _WORK_PER_CHARACTER * len(text) + _WORK_ALLOWANCE)
    script.run(parse(text, frozenset(known)), Source(text), _Flow(False, False, False))
    script.run_uncalled()
    return tuple(script.found)


class _Flow(NamedTuple):
    piped: bool
    background: bool
    conditional: bool


class _Definition(NamedTuple):
    function: Function
    source: Source


class _Script:
    def __init__(self, variables: Mapping[str, Token | str], budget: int) -> None:
        self.found: list[Command] = []
        self._scope = Scope(variables)
        self._expander = Expander(self._scope, budget, self._substitute)
        self._depth = 0
        self._definitions: list[_Definition] = []
        self._functions: dict[str, int] = {}
        self._effects: dict[int, frozenset[str]] = {}
        self._local: list[set[str]] = []
        self._flow = _Flow(False, False, False)

    def run(self, nodes: Sequence[Node], source: Source, flow: _Flow) -> None:
        self._depth += 1
        for node in nodes:
            self._run_node(node, source, flow)
        self._depth -= 1

    def run_uncalled(self) -> None:
        """Read the functions that no command of the script was seen to call."""
        number = 0
        while number < len(self._definitions):
            if number not in self._effects:
                self._scope.open()
                self._call(number, _Flow(False, False, True))
                self._scope.undo()
            number += 1

    def _run_node(self, node: Node, source: Source, flow: _Flow) -> None:
        if isinstance(node, Simple):
            self._simple(node, source, flow)
        elif isinstance(node, Pipeline):
            for number, stage in enumerate(node.stages):
                piped = flow.piped or number + 1 < len(node.stages)
                self._isolated([stage], source, flow._replace(piped=piped))
        elif isinstance(node, Chain):
            self._chain(node, source, flow)
        elif isinstance(node, Group):
            (self._isolated if node.subshell else self.run)(node.body, source, flow)
        elif isinstance(node, Choice):
            self._choice(node, source, flow._replace(conditional=True))
        elif isinstance(node, Loop):
            self._loop(node, source, flow._replace(conditional=True))
        else:
            self._functions[node.name] = len(self._definitions)
            self._definitions.append(_Definition(node, source))

    def _isolated(self, nodes: Sequence[Node], source: Source, flow: _Flow) -> None:
        """Run nodes in a subshell: what they assign is lost."""
        self._scope.open()
        self.run(nodes, source, flow)
        self._scope.undo()

    def _substitute(self, nodes: Sequence[Node], source: Source) -> None:
        flow = self._flow
        self._isolated(nodes, source, _Flow(False, False, flow.conditional))
        self._flow = flow

    def _chain(self, chain: Chain, source: Source, flow: _Flow) -> None:
        """Run `a && b || c`: what `b` and `c` assign is known only where it agrees with what was."""
        flow = flow._replace(background=flow.background or chain.background)
        self._scope.open()
        self._run_node(chain.items[0][1], source, flow)
        self._scope.open()
        for operator, node in chain.items[1:]:
            if operator == '||':
                self._scope.merge([self._scope.undo()], complete=False)
                self._scope.open()
                flow = flow._replace(conditional=True)
            self._run_node(node, source, flow)
        self._scope.merge([self._scope.undo()], complete=False)
        if chain.background:
            self._scope.undo()
        else:
            self._scope.keep(frozenset())

    def _choice(self, choice: Choice, source: Source, flow: _Flow) -> None:
        self._flow = flow
        if choice.subject:
            self._expander.value(choice.subject, source)
        branches = []
        for condition, body in choice.branches:
            self.run(condition, source, flow)
            self._scope.open()
            self.run(body, source, flow)
            branches.append(self._scope.undo())
        self._scope.merge(branches, choice.complete)

    def _loop(self, loop: Loop, source: Source, flow: _Flow) -> None:
        self._flow = flow
        values = [token for word in loop.words for token in self._expander.fields(word, source)]
        self._scope.open()
        if loop.name and len(values) == 1:
            self._scope.set(loop.name, values[0])
        elif loop.name:
            self._scope.forget(loop.name, f'variable ${loop.name} changes in each round of the loop')
        self.run(loop.body, source, flow)
        self._scope.merge([self._scope.undo()], complete=False)

    def _simple(self, node: Simple, source: Source, flow: _Flow) -> None:
        self._flow = flow
        count = next((index for index, word in enumerate(node.words) if not word.name), len(node.words))
        prefixes, words = node.words[:count], node.words[count:]
        argv = self._arguments(words, source)
        for target in node.redirections:
            self._expander.fields(target, source)
        if not argv:
            for word in prefixes:
                self._expander.assign(word, source)
            return
        assignments = tuple((word.name, self._expander.value(word.assigned(), source)) for word in prefixes)
        executes = argv[0].value == 'exec'
        arguments = without_exec(argv) if executes else argv
        if not arguments:
            return
        place = source.place(node.start, node.end)
        environment = self._scope.environment(dict(assignments))
        self.found.append(
            Command(arguments, assignments, environment, place.start, place.end, *flow[:2], executes, flow.conditional)
        )
        if not assignments:
            self._builtin(arguments, flow)
            return
        self._scope.open()
        for name, value in assignments:
            self._scope.set(name, value)
        self._builtin(arguments, flow)
        self._scope.keep(frozenset(name for name, _ in assignments))

    def _arguments(self, words: Sequence[Word], source: Source) -> tuple[Token, ...]:
        argv: list[Token] = []
        for word in words:
            if word.name and argv and argv[0].value in _DECLARATIONS:
                argv.append(self._expander.assign(word, source))
            else:
                argv += self._expander.fields(word, source)
        return tuple(argv)

    def _builtin(self, argv: Sequence[Token], flow: _Flow) -> None:
        """Follow what a command does to the variables, and the script that it runs."""
        name = argv[0].value
        if name in self._functions:
            self._call(self._functions[name], flow._replace(conditional=True))
        elif name == 'eval':
            self._nested(join(argv[1:], argv[0].use, ' '), flow)
        elif name in ('read', 'mapfile', 'readarray', 'getopts'):
            for variable in names(argv):
                self._scope.forget(variable, f'variable ${variable} is read from input')
        elif name == 'unset':
            for variable in names(argv):
                self._scope.set(variable, None)
        elif name == 'shift':
            self._scope.forget('@', 'the arguments of the script have been shifted')
        elif name == 'set':
            arguments = positional_arguments(argv)
            if arguments is not None:
                self._scope.set('@', arguments)
        elif name in _DECLARATIONS and name != 'export' and self._local:
            self._local[-1].update(names(argv))
        else:
            self._shell(argv, flow)

    def _shell(self, argv: Sequence[Token], flow: _Flow) -> None:
        index = inline_script(argv)
        if index is not None:
            self._scope.open()
            self._scope.set('@', list(argv[index + 2 :]))
            self._nested(argv[index], flow)
            self._scope.undo()

    def _nested(self, script: Token, flow: _Flow) -> None:
        if script.value.strip() not in ('', HOLE) and self._expander.spend(8 * len(script.value)):
            source = Source(script.value, script)
            self.run(parse(script.value, depth=self._depth), source, flow)

    def _call(self, number: int, flow: _Flow) -> None:
        """Read a function at its first call; a later call only makes unknown what the first one assigned."""
        if number in self._effects:
            changed = self._effects[number]
            for name in changed if self._expander.spend(40 * len(changed)) else ():
                self._scope.forget(name, f'variable ${name} is set by a function that runs more than once')
            return
        if self._depth > _MAX_CALL_DEPTH:
            return
        self._effects[number] = frozenset()
        function, source = self._definitions[number]
        self._scope.open()
        self._scope.forget('@', 'the arguments of a function are not known')
        self._local.append({'@'})
        self.run(function.body, source, flow)
        self._effects[number] = self._scope.keep(self._local.pop())
