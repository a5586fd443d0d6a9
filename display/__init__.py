"""How programs look in notebooks and on pages: highlighted text, tables and pictures as HTML."""
