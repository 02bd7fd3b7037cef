"""A host as text: reading /proc, /sys and the files of /etc into a snapshot, which can be saved, carried and read again."""
