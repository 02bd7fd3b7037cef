"""Whether h2 is installed is looked up in the folders above a client."""

from pathlib import Path

from configaudit.audit import audit
from configaudit.config import Config

_CLIENT = 'import httpx\n\nclient = httpx.AsyncClient(http2=True)\n'


def test_the_search_ends_at_the_root_of_an_absolute_path(tmp_path: Path) -> None:
    (tmp_path / 'a.py').write_text(_CLIENT)
    (tmp_path / 'requirements.txt').write_text('fastapi\n')
    (client,) = (component for component in audit([str(tmp_path)], Config()).components if component.kind.name == 'http-client')
    assert 'h2_installed' not in client.settings
