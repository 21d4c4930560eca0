"""What the core needs of the process: event loop bridge, text cache, pickling, warnings, duck typing."""
