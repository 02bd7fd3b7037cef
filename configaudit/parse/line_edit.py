"""Edits of the line formats: each format's own writer behind one signature."""


from configaudit.model import REMOVE
from configaudit.parse import dockerfile, dotenv, ini, limits, nginx, pbtxt, sysctl, systemd, terraform, toml, udev
from configaudit.parse.entries import Edit
from configaudit.parse.yaml_edit import CannotEdit
from configaudit.patterns import regex

_RAW = regex(r'[^\r\n]*\Z')
_ALONE = {'nginx': regex(r'[^;{}#]*;\s*(#.*)?\Z'), 'pbtxt': regex(r'[^,;{}#\[\]]*(\[[^\[\]{}#]*\])?[^,;{}#\[\]]*[,;]?\s*(#.*)?\Z')}
"""Formats in which a line may hold several statements: one that holds a single one."""


def edit(form: str, text: str, start: int, end: int, path: tuple[str, ...], value: object) -> list[Edit]:
    """The edits that write `value` at start..end (path empty) or add it where `path` says."""
    if value is REMOVE:
        return [_delete_line(form, text, start)]
    if form == 'toml' and path:
        return [toml.insert(text, toml.read(text), path[:-1], path[-1], value)]
    new = _spell(value)
    if not path:
        return [Edit(start, end, new)]
    return [_insert(form, text, start, path, new)]


def _spell(value: object) -> str:
    if isinstance(value, bool):
        return 'true' if value else 'false'
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    if not _RAW.match(text):
        raise CannotEdit('the value spreads over several lines')
    return text


def _delete_line(form: str, text: str, at: int) -> Edit:
    """The line that holds an offset, with its line end; refused where it holds more, or only a part."""
    begin = text.rfind('\n', 0, at) + 1
    stop = text.find('\n', at)
    line = text[begin:] if stop < 0 else text[begin:stop]
    alone = _ALONE.get(form)
    if line.rstrip().endswith('\\') or text[:begin].rstrip('\r\n').endswith('\\') or (alone is not None and not alone.match(line)):
        raise CannotEdit('it does not stand on a line of its own')
    return Edit(begin, len(text) if stop < 0 else stop + 1, '')


def _insert(form: str, text: str, at: int, path: tuple[str, ...], value: str) -> Edit:
    if form == 'systemd':
        return systemd.insert(text, path[0], path[1], value)
    if form == 'ini':
        return ini.insert(text, path[0], path[1], value)
    if form == 'sysctl':
        return sysctl.insert(text, path[0], value)
    if form == 'env':
        return dotenv.insert(text, path[0], value)
    if form == 'properties':
        return dotenv.insert_property(text, path[0], value)
    if form == 'limits':
        return limits.insert(text, path[0], path[1], path[2], value)
    if form == 'udev':
        return udev.insert(text, value)
    if form == 'pbtxt':
        return pbtxt.insert(text, _message(pbtxt.read(text).message, at), path[-1], value)
    if form == 'nginx':
        return nginx.insert(text, _block(nginx.read(text).directives, at), f'{path[-1]} {value};')
    if form == 'terraform':
        return terraform.insert(text, at, path[0], value)
    if form == 'dockerfile':
        return _dockerfile(text, at, path, value)
    raise CannotEdit(f'nothing can be added to a {form} file')


def _message(message: pbtxt.Message, at: int) -> pbtxt.Message:
    """The innermost message around an offset."""
    for field in message.fields:
        if isinstance(field.value, pbtxt.Message) and field.value.start <= at < field.value.end:
            return _message(field.value, at)
    return message


def _block(directives: tuple[nginx.Directive, ...], at: int) -> nginx.Directive | None:
    """The innermost block around an offset."""
    for directive in directives:
        if directive.block is not None and directive.start <= at < directive.end:
            return _block(directive.block, at) or directive
    return None


def _dockerfile(text: str, at: int, path: tuple[str, ...], value: str) -> Edit:
    instruction = next((found for found in dockerfile.read(text).instructions if found.start <= at < found.end), None)
    if instruction is None:
        raise CannotEdit('the instruction was not found')
    added = path[0] if value == 'true' else f'{path[0]}={value}'
    if instruction.words:
        return dockerfile.append_words(instruction, [added])
    return Edit(instruction.end, instruction.end, f' {added}')
