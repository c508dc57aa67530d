"""A little club's site whose pages change: what live fetching is tried on."""

from __future__ import annotations

ABOUT = (
    "The Mill Street sports club has stood beside the river since 1962. It has a pool of twenty-five metres, a sauna, a gym and four "
    "courts, and is open on every day of the week. Members and guests are welcome, and the car park behind the house is free."
)

ROTA = (
    "Two trainers are on duty at any hour, one at the desk and one in the hall, and a nurse comes on Saturdays. Who wants to join the team "
    "sends a letter to the manager, who reads every one of them and answers within the month. Uniforms and training are paid for."
)
DICTIONARY = (
    "Words that beginners meet in their first lesson are explained here in plain language. Ask your teacher when one is not in the list, and "
    "it will be added to the next edition, which is printed every spring and lies in the hall for everybody to take home free of charge."
)
BOARD = (
    "What hangs on the board is put up by the office and taken down after a month. Private advertisements are not accepted, and lost property "
    "is kept for a year in the cupboard beside the door, where it may be claimed from the caretaker on any afternoon before six."
)


def page(title: str, body: str, head: str = "") -> str:
    return (
        f"<!doctype html><html lang='en'><head><title>{title}</title>{head}</head><body><main><h1>{title}</h1>{body}</main>"
        "</body></html>"
    )


def prices(day_ticket: str, published: str = "") -> str:
    head = f"<meta property='article:published_time' content='{published}'>" if published else ""
    return page(
        "Mill Street sports club: prices",
        f"<p>{ABOUT}</p><table><tr><th>Ticket</th><th>Price</th></tr><tr><td>Day ticket</td><td>{day_ticket} euros</td></tr>"
        "<tr><td>Monthly membership</td><td>49 euros</td></tr></table>",
        head,
    )


def staff(count: int) -> str:
    return page(
        "Mill Street sports club: staff", f"<p>{ROTA}</p><p>The Mill Street sports club has {count} employees.</p>"
    )


GLOSSARY = page(
    "Words of the water",
    f"<p>{DICTIONARY}</p><p>A lane rope is a line of floats that keeps the lanes of a pool apart and breaks the waves.</p>",
)


def notices(*links: tuple[str, str]) -> str:
    items = "".join(f"<li><a href='{path}'>{text}</a></li>" for path, text in links)
    return page("Mill Street sports club: notices", f"<p>{BOARD}</p><ul>{items}</ul>")


def notice(title: str, text: str, published: str) -> str:
    return page(
        title, f"<p>{text}</p><p>{BOARD}</p>", f"<meta property='article:published_time' content='{published}'>"
    )


CLUB = {
    "/": page(
        "Mill Street sports club", "".join(f"<a href='{p}.html'>{p}</a> " for p in ("/prices", "/staff", "/words"))
    ),
    "/prices.html": prices("6.50"),
    "/staff.html": staff(14),
    "/words.html": GLOSSARY,
}
BUILT = "2026-11-01T08:00:00Z"
PRICE = "How much is a day ticket of the Mill Street sports club?"
STAFF = "How many employees does the Mill Street sports club have?"
WORD = "What is a lane rope?"
