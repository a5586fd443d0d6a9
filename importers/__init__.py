"""Front ends for models of other frameworks, imported lazily."""
