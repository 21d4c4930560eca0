"""Values as tables and bars: HTML, terminal, plain text, figure."""
