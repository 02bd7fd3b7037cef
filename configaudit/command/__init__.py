"""The subcommands, a module each; `configaudit.cli` imports the one that was called."""
