"""The subcommands, a module each; `configaudit.command.group` imports the one that was called."""
