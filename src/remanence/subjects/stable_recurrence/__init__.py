"""Stable recurrence: when a recurrent model need not be recurrent."""
