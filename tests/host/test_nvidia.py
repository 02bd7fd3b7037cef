"""What nvidia-smi and NVML say of GPUs, and what of it a snapshot keeps."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from configaudit import cli
from configaudit.errors import UsageError
from configaudit.host.nvidia import ask_driver, of_capture, read_report

TEXT = """\
==============NVSMI LOG==============

Driver Version                            : 545.23.08
Attached GPUs                             : 2
GPU 00000000:19:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Persistence Mode                      : Enabled
    MIG Mode
        Current                           : Disabled
        Pending                           : Enabled
    Serial Number                         : 1650000000001
    GPU UUID                              : GPU-00000000-0000-0000-0000-000000000001
    Clocks Event Reasons
        Idle                              : Active
        HW Slowdown                       : Active
            HW Thermal Slowdown           : Not Active
            HW Power Brake Slowdown       : Active
        SW Thermal Slowdown               : Active
    ECC Mode
        Current                           : Disabled
        Pending                           : Enabled
    GPU Power Readings
        Power Draw                        : 72.02 W
        Current Power Limit               : 650.00 W
        Default Power Limit               : 700.00 W
    Module Power Readings
        Current Power Limit               : 1.00 W
        Default Power Limit               : N/A
    Fabric
        State                             : Completed
        Status                            : Success
    Processes
        GPU instance ID                   : N/A
            Process ID                    : 4242
                Name                      : secret-model

GPU 00000000:1A:00.0
    Persistence Mode                      : Disabled
    Clocks Throttle Reasons
        HW Slowdown                       : Not Active
    Power Readings
        Power Limit                       : 250.00 W
        Default Power Limit               : 250.00 W
    ECC Mode
        Current                           : N/A
"""
XML = """\
<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
  <gpu id="00000000:19:00.0">
    <persistence_mode>Enabled</persistence_mode>
    <mig_mode><current_mig>Enabled</current_mig></mig_mode>
    <mig_devices>
      None
    </mig_devices>
    <uuid>GPU-00000000-0000-0000-0000-000000000001</uuid>
    <clocks_event_reasons>
      <clocks_event_reason_hw_slowdown>Not Active</clocks_event_reason_hw_slowdown>
      <clocks_event_reason_hw_thermal_slowdown>Active</clocks_event_reason_hw_thermal_slowdown>
    </clocks_event_reasons>
    <ecc_mode><current_ecc>Enabled</current_ecc></ecc_mode>
    <gpu_power_readings><current_power_limit>300.00 W</current_power_limit><default_power_limit>310.50 W</default_power_limit></gpu_power_readings>
    <fabric><state>N/A</state></fabric>
  </gpu>
  <gpu id="00000000:1A:00.0">
    <mig_mode><current_mig>Enabled</current_mig></mig_mode>
    <mig_devices><mig_device><index>0</index></mig_device></mig_devices>
    <clocks_throttle_reasons><clocks_throttle_reason_hw_slowdown>Active</clocks_throttle_reason_hw_slowdown></clocks_throttle_reasons>
    <power_readings><power_limit>70.00 W</power_limit><default_power_limit>70.00 W</default_power_limit></power_readings>
  </gpu>
</nvidia_smi_log>
"""


def test_the_text_of_two_driver_generations() -> None:
    first, second = json.loads(of_capture(TEXT))
    assert first == {
        'bus': '0000:19:00.0', 'persistence': 'Enabled', 'mig': 'Disabled', 'ecc': 'Disabled', 'slowdowns': ['hw_slowdown', 'hw_power_brake_slowdown'],
        'power_limit_w': 650.0, 'default_power_limit_w': 700.0, 'fabric': 'Completed',
    }  # fmt: skip
    assert second == {'bus': '0000:1a:00.0', 'persistence': 'Disabled', 'slowdowns': [], 'power_limit_w': 250.0, 'default_power_limit_w': 250.0}


def test_the_xml_of_two_driver_generations() -> None:
    first, second = json.loads(of_capture(XML))
    assert first == {
        'bus': '0000:19:00.0', 'persistence': 'Enabled', 'mig': 'Enabled', 'mig_devices': False, 'ecc': 'Enabled', 'slowdowns': ['hw_thermal_slowdown'],
        'power_limit_w': 300.0, 'default_power_limit_w': 310.5,
    }  # fmt: skip
    assert second == {'bus': '0000:1a:00.0', 'mig': 'Enabled', 'mig_devices': True, 'slowdowns': ['hw_slowdown'], 'power_limit_w': 70.0, 'default_power_limit_w': 70.0}


def test_no_identifier_and_no_process_is_kept() -> None:
    assert not [word for word in ('GPU-0000', '1650000', 'secret-model', '4242') if word in of_capture(TEXT) + of_capture(XML)]


@pytest.mark.parametrize('text', ['', 'NVIDIA-SMI has failed because it couldn\'t communicate', '<nvidia_smi_log>', XML[:400], '<!ENTITY a "b">' + XML, XML.replace('<gpu ', '<gpu' * 10_000)])
def test_what_says_nothing_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / 'x').write_text(text)
    with pytest.raises(UsageError, match='says nothing of a GPU'):
        read_report(str(tmp_path / 'x'))
    assert of_capture(text) == ''


class NvmlError(Exception):
    """What NVML raises."""


def unsupported(*words: Any) -> None:
    raise NvmlError('Not Supported')


def test_nvml_tells_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    nvml = SimpleNamespace(
        NVMLError=NvmlError, nvmlInit=lambda: None, nvmlShutdown=lambda: None, nvmlDeviceGetCount=lambda: 1, nvmlDeviceGetHandleByIndex=lambda number: number,
        nvmlDeviceGetPciInfo=lambda gpu: SimpleNamespace(busId=b'00000000:19:00.0'), nvmlDeviceGetPersistenceMode=lambda gpu: 1,
        nvmlDeviceGetEccMode=lambda gpu: (0, 1), nvmlDeviceGetMigMode=unsupported, nvmlDeviceGetCurrentClocksThrottleReasons=lambda gpu: 0x48,
        nvmlDeviceGetPowerManagementLimit=lambda gpu: 650_000, nvmlDeviceGetPowerManagementDefaultLimit=lambda gpu: 700_000,
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, 'pynvml', nvml)
    assert json.loads(ask_driver()) == [{
        'bus': '0000:19:00.0', 'persistence': 'Enabled', 'ecc': 'Disabled', 'slowdowns': ['hw_slowdown', 'hw_thermal_slowdown'], 'power_limit_w': 650.0, 'default_power_limit_w': 700.0,
    }]  # fmt: skip


def test_without_nvml_nvidia_smi_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'pynvml', None)
    monkeypatch.setenv('PATH', str(tmp_path))
    with pytest.raises(UsageError, match='no nvidia-smi here'):
        ask_driver()
    (tmp_path / 'nvidia-smi').write_text(f'#!/bin/sh\n[ "$*" = "-q -x" ] && printf "%s" \'{XML}\'\n')
    (tmp_path / 'nvidia-smi').chmod(0o755)
    assert len(json.loads(ask_driver())) == 2


def test_the_command_takes_the_output_beside_a_captured_host(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / 'smi').write_text(TEXT)
    (tmp_path / 'root').mkdir()
    assert cli.run(['node', '--no-config', '--sysroot', str(tmp_path / 'root'), '--nvidia-smi', str(tmp_path / 'smi'), '--save', f'{tmp_path}/kept.tgz']) == 1
    first = capsys.readouterr().out
    assert 'gpu-ecc-off' in first
    assert cli.run(['node', '--no-config', '--snapshot', f'{tmp_path}/kept.tgz']) == 1
    assert capsys.readouterr().out == first
    assert cli.run(['node', '--no-config', '--sysroot', str(tmp_path / 'root'), '--ask-gpus']) == 2
