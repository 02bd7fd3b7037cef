"""Rules for the user that runs vLLM's own image: whether the image knows it, and where it may write."""

from collections.abc import Iterator
from typing import NamedTuple

from configaudit.knowledge.images import identify
from configaudit.knowledge.versions import release as version_of
from configaudit.model import Component, NotApplicable, Problem, Setting, Unknown, rule
from configaudit.units import HOLE

from .engines import container_of
from .releases import is_among, release
from .serving import hub_model, stated_cache_path

IMAGE = 'vLLM docker/Dockerfile: USER root; user vllm (2000, home /home/vllm)'
OWN_USER = 2000
NAMES = ('LOGNAME', 'USER', 'LNAME', 'USERNAME')
"""Variables that Python's getpass reads before it asks for the user's entry."""
_NOT_WRITABLE = ('configMap', 'secret', 'downwardAPI', 'projected', 'image')
_FOR_ALL = ('/tmp', '/var/tmp', '/dev/shm')


class User(NamedTuple):
    """Who runs the container: number (0: root), where that is said (None: nowhere), home folder."""

    number: int
    said: Setting
    home: str


def _user(engine: Component, container: Component) -> User:
    """The user of a container of the project's own image; NotApplicable for other images."""
    if not identify(str(container['image'].known_value or '')).repository.endswith('vllm/vllm-openai'):
        raise NotApplicable("it is not the project's own image: what its user may do is not known")
    own, pod = container['run_as_user'], container.peer('pod')['run_as_user']
    said = own if own.is_set else pod
    number = int(said.value) if said.is_set else 0
    home = engine['environment'].value.get('HOME')
    if home is not None and not home.known:
        raise Unknown('HOME is not known')
    if home is None and container['imported'].value:
        raise Unknown('variables come from a ConfigMap or Secret')
    default = '/root' if number == 0 else '/home/vllm' if number == OWN_USER else ''
    return User(number, said, home.value.rstrip('/') if home is not None else default)


@rule('vllm-user-without-name', on='vllm', severity='error', source=f'{IMAGE}; torch 2.11 _inductor/runtime/cache_dir_utils.py; vllm#44548, dynamo#12457, llm-d-benchmark#1573')
def user_without_name(engine: Component) -> Iterator[Problem]:
    """The engine stops while it is imported: PyTorch 2.11 asks for the name of a user whom the image does not know ("getpwuid(): uid not found").

    Run it as 2000, the image's own user, or set USER. PyTorch 2.13, in vLLM 0.27, goes on without a name.
    """
    container = container_of(engine)
    user = _user(engine, container)
    if user.number < 1000 or user.number in (OWN_USER, 65534) or any(name in engine['environment'].value for name in NAMES):
        return
    if container['imported'].value:
        raise Unknown('variables come from a ConfigMap or Secret')
    if is_among(engine, '0.20.0', '0.27.0'):
        message = 'the image has no user {value}, and nothing sets USER: PyTorch in {engine} stops with "getpwuid(): uid not found"'
        yield Problem(user.said, message, engine=release(engine), see=[('the engine', engine.place)])


@rule('vllm-image-runs-as-root', on='vllm', severity='warning', source=f'{IMAGE}; Kubernetes docs, tasks/configure-pod-container/security-context', side_effect='the caches need a folder that this user may write')
def image_runs_as_root(engine: Component) -> Iterator[Problem]:
    """The kubelet refuses to start the container: runAsNonRoot is set, no user is given, and the image's own user is root.

    Give runAsUser: 2000, the image's own user vllm. When it is wrong: OpenShift gives every namespace a user.
    """
    container = container_of(engine)
    user = _user(engine, container)
    own, pod = container['run_as_non_root'], container.peer('pod')['run_as_non_root']
    asked = own if own.is_set else pod
    if asked.is_set and asked.value and not user.said.is_set:
        yield Problem(asked, "runAsNonRoot without runAsUser: the image's user is root, and the kubelet does not start it unless the cluster assigns a user, as OpenShift does", see=[('the image', container['image'])])


@rule('vllm-cache-not-writable', on='vllm', severity='error', source=f'{IMAGE}; vllm/envs.py VLLM_CACHE_ROOT; vllm#10185, inference-benchmarker#47', effect='the engine starts', side_effect='a volume more')
def cache_not_writable(engine: Component) -> Iterator[Problem]:
    """The engine may not write where it keeps downloads, compiled graphs or temporary files, and stops ("Permission denied: '/.cache'").

    A user whom the image does not know has / as home; a read-only root file system leaves only the volumes. Mount a volume (emptyDir) and
    point HOME to it. Compiled graphs alone are a warning: they are not written with --enforce-eager.
    """
    container = container_of(engine)
    user, read_only = _user(engine, container), container['read_only_root']
    if user.number == 0 and not read_only.value:
        raise NotApplicable('root may write everywhere')
    at = read_only if read_only.value else user.said
    temporary = engine['environment'].value.get('TMPDIR')
    temporary_paths = _FOR_ALL[:2] if temporary is None else (temporary.value,)
    if not any(_writable(container, user, path) for path in temporary_paths):
        yield Problem(at, 'no volume covers /tmp: {engine} finds no folder for temporary files and sockets, and stops', engine=release(engine), see=[('the engine', engine.place)], detail='tmp')
    model, downloads = hub_model(engine), stated_cache_path(engine) or f'{user.home}/.cache/huggingface'
    if model and not _offline(engine) and not _writable(container, user, downloads):
        yield Problem(at, '{model} is downloaded into {path}, where user {user} may not write: the engine stops', model=model, path=downloads, user=user.number, see=[('the engine', engine.place)], detail='downloads')
        return
    graphs = _graphs(engine, user)
    if graphs and not _writable(container, user, graphs):
        yield Problem(at, 'compiled graphs are kept in {path}, where user {user} may not write', path=graphs, user=user.number, see=[('the engine', engine.place)], severity='warning', detail='graphs')


def _offline(engine: Component) -> bool:
    word = engine['environment'].value.get('HF_HUB_OFFLINE')
    return word is not None and word.value.lower() in ('1', 'true', 'yes', 'on')


def _graphs(engine: Component, user: User) -> str:
    """Where compiled graphs go; '' when none are made, or the release is not known to make any."""
    if engine['enforce_eager'].known_value or engine.version is None or engine.version < version_of('0.8.0') or engine['generation'].known_value != 'V1':
        return ''
    environment = engine['environment'].value
    if 'VLLM_CACHE_ROOT' in environment:
        return str(environment['VLLM_CACHE_ROOT'].value)
    root = environment['XDG_CACHE_HOME'].value if 'XDG_CACHE_HOME' in environment else f'{user.home}/.cache'
    return f'{root}/vllm'


def _writable(container: Component, user: User, path: str) -> bool:
    """Whether the user may write there, as far as volumes and the image tell."""
    if HOLE in path:
        return True
    for mounted, mount in container['mounts'].value.items():
        if path == mounted or path.startswith(mounted + '/'):
            return mount['source'] not in _NOT_WRITABLE and not mount['read_only']
    if container['read_only_root'].value:
        return path.startswith('/dev/shm')
    return user.number == 0 or path.startswith(_FOR_ALL) or (user.number == OWN_USER and path.startswith('/home/vllm'))
