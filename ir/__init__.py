"""Modules and functions under the names that TVM gives them: thin views of xDSL operations."""
