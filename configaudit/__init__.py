"""configaudit audits the configuration of inference services."""

VERSION = '0.1.0'
