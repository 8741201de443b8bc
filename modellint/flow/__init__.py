"""Running definitions on paper: what their values may be, what their objects hold, in which order things happen."""
