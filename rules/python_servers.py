"""Rules for the servers of Python programs: workers against the CPUs of the container, clocks against the time that a model takes."""

import math
from collections.abc import Iterator

from configaudit.model import Component, NotApplicable, Problem, Setting, rule

_CONTAINERS = ('container', 'compose-service', 'docker-run', 'dockerfile')
_PLAIN = ('sync', 'gunicorn.workers.sync.SyncWorker')
GUNICORN = 'gunicorn documentation, Settings'


@rule(
    'gunicorn-timeout-kills-answers', on='http-server', severity='warning', confidence='medium',
    source=f'{GUNICORN}, timeout: a worker that is silent for longer is killed and restarted; sync workers are silent while they handle a request; measured with gunicorn 27 and --timeout 3: a stream of 7 s ended after 3 s with status 200, with --threads 2 it was complete',
    effect='an answer may take as long as the model needs', side_effect='a request that hangs holds its worker for as long',
)  # fmt: skip
def gunicorn_timeout_kills_answers(server: Component, *, longest_generation_s: float = 0, roomy_s: float = 300) -> Iterator[Problem]:
    """A sync worker tells its master nothing while it handles a request: after `timeout` seconds (30 by default) gunicorn kills it with the
    answer, or the stream, that it was working on. Programs that wait for a model are over that as soon as the queue is long.

    Judged where the programs beside it ask for generated text. Workers with threads (`gthread`), of gevent and of uvicorn answer their master
    in between: there the timeout is no limit on a request.
    """
    if server['product'].value != 'gunicorn':
        raise NotApplicable('not gunicorn')
    asking = [client for client in server.peers('asks-for-text') if client['answers'].known_value]
    if not asking:
        raise NotApplicable('nothing shows that its programs wait for a model')
    if server['worker_class'].value not in _PLAIN or server['threads'].value > 1:
        raise NotApplicable('its workers answer their master while they handle requests')
    timeout = server['worker_timeout_s']
    if timeout.value == 0 or timeout.value >= (longest_generation_s or roomy_s):
        return
    unset = '' if timeout.is_set else ', the default,'
    yield Problem(
        timeout, 'a sync worker that handles one request for {value} s{unset} is killed with it, and its programs wait for a model', unset=unset,
        severity=None if timeout.is_set else 'advice', see=[('generated text is asked for', asking[0]['answers'])],
    )  # fmt: skip


@rule(
    'server-workers-from-node-cpus', on='http-server', severity='warning', confidence='medium',
    source='Python docs, os.cpu_count: the CPUs of the system; a quota of a cgroup is not seen by it, nor by nproc; gunicorn docs, How Many Workers',
    effect='as many processes as the container has CPUs for', side_effect='a number that somebody has to keep in step with the CPU limit',
)  # fmt: skip
def workers_from_node_cpus(server: Component) -> Iterator[Problem]:
    """The number of worker processes is worked out from the CPUs of the node, whatever the container may use of them: on 64 cores
    `cpu_count() * 2 + 1` starts 129 processes, each with its own memory, its own pools, and a share of one small quota.

    State the number, or take it from a variable that stands beside the CPU limit.
    """
    made = server['workers_from']
    if made.value != 'cpus' or (server['workers'].is_set and server['workers'].is_known):
        raise NotApplicable('the number of workers is stated')
    carriers = [carrier for carrier in server.peers('carrier') if carrier.kind.name in _CONTAINERS]
    if not carriers:
        raise NotApplicable('nothing shows that it runs in a container')
    limit = server['cpu_limit']
    if limit.is_set and limit.is_known:
        yield Problem(made, 'the workers follow the CPUs of the node, and the container may use {cpus}', cpus=limit.value, see=[('the CPU limit', limit)])
    else:
        yield Problem(made, 'the workers follow the CPUs of the node: in a container their number is that of the machine it lands on', severity='advice')


@rule(
    'server-workers-over-cpu-limit', on='http-server', severity='advice', confidence='medium',
    source=f'{GUNICORN} and Design, How Many Workers: (2 x cores) + 1; Linux CFS bandwidth control', effect='each worker has a share of a CPU that answers in time, and pools and memory count fewer processes',
    side_effect='fewer requests are worked on at once by sync workers',
)  # fmt: skip
def workers_over_cpu_limit(server: Component, *, per_cpu: float = 4) -> Iterator[Problem]:
    """Far more worker processes than the CPU limit can run: they share one quota, stand still together when it is used up, and each has memory and
    database pools of its own.

    gunicorn advises two for each CPU and one more; twice that is left alone, as workers that wait for others need little CPU.
    """
    workers, limit = server['workers'], server['cpu_limit']
    if not workers.is_set or not limit.is_set:
        raise NotApplicable('the number of workers or the CPU limit is not stated')
    if workers.value > per_cpu * math.ceil(limit.value) + 1:
        message = '{value} worker processes on {cpus} CPU{plural}: gunicorn advises {advised}, the others wait for the quota'
        cores = math.ceil(limit.value)
        yield Problem(workers, message, cpus=limit.value, plural='' if limit.value == 1 else 's', advised=2 * cores + 1, see=[('the CPU limit', limit)], fix=workers.set(2 * cores + 1))


@rule(
    'math-threads-over-cpu-limit', on='math-threads', severity='warning',
    source='OpenMP specification, OMP_NUM_THREADS; PyTorch docs, CPU threading; Linux CFS bandwidth control',
    effect='no throttling by the CPU quota, steadier latencies', side_effect='none below the limit: the quota allows no more anyway',
)  # fmt: skip
def math_threads_over_limit(process: Component) -> Iterator[Problem]:
    """Every parallel loop starts more threads than the CPU limit lets run: they use up the quota early, stand still for the rest of the
    period, and the loop waits for the last of them.

    Worker processes multiply it: each has its own pool of threads. Over twice the limit they are counted together.
    """
    threads, limit, workers = process['threads'], process['cpu_limit'], process['workers']
    if not limit.is_set or not threads.is_set:
        raise NotApplicable('no CPU limit, or no number of threads')
    cores, count = math.ceil(limit.value), int(workers.value) if workers.is_set else 1
    see: list[tuple[str, Setting]] = [('the CPU limit', limit)]
    if threads.value > cores:
        yield Problem(threads, '{name}={value} is over the limit of {cores} CPUs', name=process['variable'].value, cores=limit.value, see=see, fix=threads.set(cores))
    elif count > 1 and threads.value * count > cores * 2:
        message = '{workers} workers x {name}={value} are {total} threads on {cores} CPUs'
        total = int(threads.value) * count
        yield Problem(threads, message, workers=count, name=process['variable'].value, total=total, cores=limit.value, see=[*see, ('the workers', workers)], severity='advice')


@rule(
    'math-threads-unset', on='math-threads', severity='advice', confidence='medium',
    source='PyTorch docs, CPU threading: as many threads as the machine has cores unless OMP_NUM_THREADS or torch.set_num_threads says otherwise; Linux CFS bandwidth control',
    effect='no throttling by the CPU quota, steadier latencies', side_effect='none below the limit: the quota allows no more anyway',
)  # fmt: skip
def math_threads_unset(process: Component) -> Iterator[Problem]:
    """Without OMP_NUM_THREADS PyTorch starts a thread for every core of the node, whatever the CPU limit lets run: parallel loops on the CPU use
    the quota up early and stand still for the rest of the period.

    When it is wrong: the program calls torch.set_num_threads, or all its work is done on the GPU.
    """
    limit, library = process['cpu_limit'], process['library']
    if not library.is_set or process['threads'].value is not None or not limit.is_set:
        raise NotApplicable('the number of threads is stated, or nothing throttles')
    yield Problem(limit, '{library} starts a thread for every core of the node, and a limit of {cores} CPU lets so many run: set OMP_NUM_THREADS', library=library.value, cores=limit.value, see=[('the image', library)])


@rule(
    'gpu-workers-load-model-each', on='http-server', severity='warning', confidence='medium',
    source='uvicorn docs, Deployment: --workers starts processes of their own; PyTorch docs, CUDA in multiprocessing: no CUDA state is shared by a fork',
    effect='one copy of the model in the memory of the GPU', side_effect='one process answers all requests: batch them, or start more pods',
)  # fmt: skip
def gpu_workers_load_model_each(server: Component) -> Iterator[Problem]:
    """Every worker process loads the model into the memory of the same GPU: N copies, N CUDA contexts, no batching across them, and the last
    worker to start often dies with "CUDA out of memory".

    Judged where a container that asks for a GPU starts this server and no known engine. One worker for each GPU is left alone.

    When it is wrong: the program does not use the GPU in these processes, or gives each a part of it (MPS).
    """
    workers = server['workers']
    if not workers.is_set or workers.value <= 1:
        raise NotApplicable('one process')
    carriers = [one for one in server.peers('carrier') if one.kind.name in _WITH_GPUS and not one.peers('engine')]
    if not carriers or server['product'].value == 'litellm':
        raise NotApplicable('no container with GPUs, or an engine of its own')
    gpus, number = _gpus(carriers[0])
    if not number:
        raise NotApplicable('it asks for no GPU')
    if number == math.inf:
        message = '{value} worker processes see all GPUs of the machine: each loads the model by itself, and on the first GPU unless it chooses another'
        yield Problem(workers, message, severity='advice', see=[('the GPUs', gpus)])
    elif number < workers.value:
        message = '{value} worker processes share {gpus} GPU{plural}: each loads the model by itself'
        yield Problem(workers, message, gpus=number, plural='' if number == 1 else 's', see=[('the GPUs', gpus)])


_WITH_GPUS = ('container', 'compose-service', 'docker-run')


def _gpus(carrier: Component) -> tuple[Setting, float]:
    """The GPUs of a container and their number; without limit where it sees all of the machine."""
    own = carrier['gpu_limit' if carrier.kind.name == 'container' else 'gpus']
    found = own.value
    return own, found if isinstance(found, (int, float)) else math.inf if 'all' in found else len(found)
