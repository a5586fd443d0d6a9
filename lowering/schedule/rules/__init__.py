"""The default schedules: one rule a file, chosen by what blocks compute, never by names."""
