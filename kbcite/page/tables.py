"""Which tables hold data, and their cells as a grid."""

from __future__ import annotations

from lxml import etree

from kbcite.page.tree import text_content

MAX_CELL_CHARS = 300
"""Mean characters of a cell above which a table is layout."""
MAX_SPAN = 50

Row = list["etree._Element | None"]


def data_rows(table: etree._Element) -> list[Row] | None:
    """The rows of a data table, each as wide as the widest, cells repeated over no span (None fills); None for layout."""
    if table.get("role") in ("presentation", "none"):
        return None
    rows = own_rows(table)
    if sum(len(row) >= 2 for row in rows) < 2:
        return None
    cells = [cell for row in rows for cell in row]
    if next(table.iterdescendants("table"), None) is not None or next(table.iterdescendants("pre"), None) is not None:
        return None
    lengths = [len(text_content(cell).strip()) for cell in cells]
    marked_up = (
        any(cell.tag == "th" for cell in cells) or table.find("thead") is not None or table.find("caption") is not None
    )
    if sum(lengths) / len(cells) > MAX_CELL_CHARS or (not marked_up and max(lengths) > 10 * MAX_CELL_CHARS):
        return None
    return _grid(rows)


def own_rows(table: etree._Element) -> list[list[etree._Element]]:
    """The table's rows of cells, without those of tables inside it."""
    rows = []
    for child in table:
        if child.tag == "tr":
            rows.append(child)
        elif child.tag in ("thead", "tbody", "tfoot"):
            rows.extend(child.iterchildren("tr"))
    found = [[cell for cell in row if cell.tag in ("td", "th")] for row in rows]
    return [row for row in found if row]


def _grid(rows: list[list[etree._Element]]) -> list[Row]:
    """Rows with spans laid out: a cell stands in its first place, the places it covers are empty."""
    grid: list[Row] = []
    covered: dict[int, int] = {}
    for row in rows:
        line: Row = []
        cells = iter(row)
        cell = next(cells, None)
        while cell is not None or covered.get(len(line), 0) > 0:
            column = len(line)
            if covered.get(column, 0) > 0:
                covered[column] -= 1
                line.append(None)
                continue
            assert cell is not None
            height = _span(cell, "rowspan")
            for offset in range(_span(cell, "colspan")):
                line.append(cell if offset == 0 else None)
                covered[column + offset] = height - 1
            cell = next(cells, None)
        grid.append(line)
    width = max(map(len, grid))
    return [[*line, *[None] * (width - len(line))] for line in grid]


def _span(cell: etree._Element, name: str) -> int:
    value = cell.get(name, "1").strip()
    return min(max(int(value), 1), MAX_SPAN) if value.isascii() and value.isdigit() and len(value) < 7 else 1
