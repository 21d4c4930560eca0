"""The commands of the command line, one to a file; `program` puts them together. They need the extra `cli`."""
