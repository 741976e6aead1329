"""Stable recurrence (Miller and Hardt 2019): when a recurrent model need not be recurrent."""
