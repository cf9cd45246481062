"""What the scripts that measure tables have in common."""

import datetime
import os
import platform


def number(text):
    """A number as it is written on a command line: 10M."""
    units = {"k": 1_000, "M": 1_000_000, "G": 1_000_000_000}
    return int(float(text[:-1]) * units[text[-1]]) if text[-1] in units else int(text)


def machine():
    """What figures depend on."""
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.processor())
    return {"cpu": model, "cores": os.cpu_count(), "kernel": platform.release(), "date": datetime.date.today().isoformat(), "load": os.getloadavg()}
