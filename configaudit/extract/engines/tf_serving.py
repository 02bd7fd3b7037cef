"""TensorFlow Serving: `tensorflow_model_server`, or its image's own entry point."""

from configaudit.context import Context
from configaudit.extract.arguments import Shape, parse_arguments
from configaudit.extract.commands import Invocation
from configaudit.extract.engines.component import engine_component, engine_settings
from configaudit.extract.engines.launch import Launch, anchor, launch_of, program_words
from configaudit.extract.engines.options import read_options, word_setting
from configaudit.extract.engines.servers import hidden_words, image_runs
from configaudit.extract.engines.version import engine_release
from configaudit.extract.environment import Stores
from configaudit.knowledge.engine_kinds import TF_SERVING
from configaudit.model import Component, Setting

SOURCE = 'tensorflow/serving tools/docker/Dockerfile'


def find(invocation: Invocation) -> Launch | None:
    """How this command line starts TensorFlow Serving, or None."""
    words = program_words(invocation, ('tensorflow_model_server', 'tf_serving_entrypoint.sh'))
    if words:
        return launch_of(words[0].place, words[1:], 'tensorflow_model_server' if 'tensorflow' in words[0].value else 'entrypoint')
    arguments = invocation.arguments
    if image_runs(invocation, 'tf-serving') and (not arguments or arguments[0].value.startswith('-')):
        return launch_of(anchor(invocation), arguments, 'entrypoint')
    return None


def read(invocation: Invocation, stores: Stores, context: Context) -> Component | None:
    """The TensorFlow Serving that an invocation starts."""
    launch = find(invocation)
    if launch is None:
        return None
    arguments = parse_arguments(launch.arguments, lambda option: Shape('--' + option[2:].replace('_', '-') if option.startswith('--') else option, 'optional'))
    settings = engine_settings(invocation, launch, arguments, context)
    read_options(TF_SERVING, arguments, launch, settings, {})
    settings['world_size'] = Setting('world_size', 1, launch.program, 'default')
    unseen = hidden_words(invocation, launch, arguments)
    port = arguments.last('--rest-api-port')
    if port is not None and port.value is not None:
        settings['port'] = word_setting('port', 'count', port.value)
    else:
        reason = unseen or ('' if launch.command == 'entrypoint' else 'it serves no REST port')
        settings['port'] = Setting('port', 8501, launch.program, 'default', reason, source=SOURCE)
    return engine_component(TF_SERVING, invocation, launch, settings, unseen, engine_release(invocation, 'tf-serving', context))
