"""Kernels: plain functions that run interpreted, compiled for the CPU, and inside CUDA kernels alike.

Nothing here knows the rest of the project. ``records.py`` names the arrays, ``target.py`` alone knows the targets.
"""
