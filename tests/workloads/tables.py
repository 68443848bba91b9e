# SPDX-License-Identifier: Apache-2.0
"""SQLite files from rows that are dictionaries."""

import contextlib
import os
import sqlite3


class Database:
    """Collects tables in memory and writes them at once."""

    def __init__(self):
        self.tables = {}  # name -> (columns with types, rows)

    def table(self, name, columns):
        """`columns` are "name TYPE" texts; rows may leave some out."""
        self.tables[name] = ([c.split(" ", 1) for c in columns], [])

    def add(self, name, /, **row):
        rows = self.tables[name][1]
        rows.append(row)
        return len(rows)

    def drop(self, names):
        """Forgets columns of these names, in all tables."""
        for table, (columns, rows) in self.tables.items():
            self.tables[table] = ([c for c in columns if c[0] not in names],
                                  [{k: v for k, v in row.items()
                                    if k not in names} for row in rows])

    def write(self, path, views=(), lazy=False):
        """With `lazy`, tables without rows are left out."""
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)
        with contextlib.closing(sqlite3.connect(path)) as connection:
            for name, (columns, rows) in self.tables.items():
                if lazy and not rows:
                    continue
                texts = ", ".join(f'"{c}" {t}' for c, t in columns)
                connection.execute(f'CREATE TABLE "{name}" ({texts})')
                names = [column for column, _ in columns]
                marks = ", ".join("?" * len(names))
                for row in rows:
                    unknown = set(row) - set(names)
                    if unknown:
                        raise KeyError(f"{name} has no {unknown}")
                connection.executemany(
                    f'INSERT INTO "{name}" VALUES ({marks})',
                    [[row.get(column) for column in names] for row in rows])
            for view in views:
                connection.execute(view)
            connection.commit()


class Strings:
    """Text -> id, in a table of its own."""

    def __init__(self, first=1):
        self.ids = {}
        self.first = first

    def __call__(self, text):
        return self.ids.setdefault(text, self.first + len(self.ids))
