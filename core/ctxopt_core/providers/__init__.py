"""What images, audio, files and tool schemas cost at each provider."""
