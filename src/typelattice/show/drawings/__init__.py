"""Drawings of orders, of answers, of two systems in one, and of programs: what `rendering` lays out."""
