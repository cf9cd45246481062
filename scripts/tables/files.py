"""Files and directories that engines write."""

import os
import shutil


def size(path):
    if os.path.isdir(path):
        return sum(os.path.getsize(os.path.join(directory, file)) for directory, _, files in os.walk(path) for file in files)
    return os.path.getsize(path)


def remove(path):
    shutil.rmtree(path) if os.path.isdir(path) else os.path.exists(path) and os.remove(path)
