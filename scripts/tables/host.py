"""Helpers shared by the scripts that benchmark tables."""

import datetime
import os
import platform


def number(text):
    """Parses a number such as 10M."""
    units = {"k": 1_000, "M": 1_000_000, "G": 1_000_000_000}
    return int(float(text[:-1]) * units[text[-1]]) if text[-1] in units else int(text)


def machine():
    """The hardware and software that the figures depend on."""
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.processor())
    return {"cpu": model, "cores": os.cpu_count(), "kernel": platform.release(), "date": datetime.date.today().isoformat(), "load": os.getloadavg()}
