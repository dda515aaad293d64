"""What can be typed after `python build.py`, and the only place that asks the clock or the environment."""
