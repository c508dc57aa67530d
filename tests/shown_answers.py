"""Answers that hold everything a page about an answer may have to show: what the HTML tests look at."""

from __future__ import annotations

from dataclasses import replace

from kbcite.html_answer import Archived
from kbcite.records import (
    Answer,
    Claim,
    Conflict,
    Freshness,
    Grounding,
    Marker,
    PageState,
    Quote,
    Refusal,
    RefusalReason,
    Retrieval,
    SnapshotReference,
    Source,
    SourceType,
    Verdict,
)

DIGEST = "a9dc287988991a9617fe86664db025e901dfb2135c477bb63c08117381d2b937"


def source(n: int, title: str, quote: str, chain: tuple[str, ...] = (), **changes: object) -> Source:
    fields = {
        "n": n,
        "block_id": f"b1{n:016}",
        "url": f"https://docs.example.com/guide/page-{n}.html",
        "title": title,
        "heading_chain": chain,
        "published_at": "2026-10-02",
        "fetched_at": "2026-11-30T18:53:23Z",
        "age_s": 60,
        "source_type": SourceType.WEB,
        "state": PageState.ALIVE,
        "quote": Quote(quote, 0, len(quote), True),
        "deep_link": f"https://docs.example.com/guide/page-{n}.html#:~:text=limits",
        "snapshot": SnapshotReference(DIGEST, 10960, 11098),
    }
    return Source(**{**fields, **changes})  # type: ignore[arg-type]


def compose(
    sentences: list[tuple[str, str, tuple[int, ...], Verdict]],
) -> tuple[str, tuple[Claim, ...]]:
    """Text and claims from (what stands before, sentence, numbers, verdict)."""
    text, claims = "", []
    for before, sentence, numbers, verdict in sentences:
        text += before
        start = len(text)
        text += sentence
        end = len(text)
        markers = []
        text += " " if numbers and text.isascii() else ""
        for n in numbers:
            markers.append(Marker(n, len(text), len(text) + len(f"[{n}]")))
            text += f"[{n}]"
        claims.append(Claim(start, end, tuple(markers), verdict, 0.9))
    return text, tuple(claims)


def answer(text: str, claims: tuple[Claim, ...], sources: tuple[Source, ...], **changes: object) -> Answer:
    fields = {
        "id": "ac3d086af16b4",
        "trace_id": "0" * 32,
        "created_at": "2026-11-30T18:53:44Z",
        "question": "How many keys may one Quillstore transaction touch, and what happens beyond that?",
        "lang": "en",
        "grounding": Grounding(1.0, 0.75),
        "retrieval": Retrieval(50, 5, 3, 0.45, 0.97),
        "freshness": Freshness("reference", None, "2026-10-02"),
    }
    return Answer(text=text, claims=claims, sources=sources, **{**fields, **changes})  # type: ignore[arg-type]


def english() -> tuple[Answer, dict[int, Archived]]:
    text, claims = compose(
        [
            ("", "One transaction may touch no more than 50,000 keys.", (1,), Verdict.SUPPORTED),
            (
                " ",
                "Writes beyond these limits fail with `LimitExceeded` and leave the store unchanged.",
                (1, 2),
                Verdict.SUPPORTED,
            ),
            (
                "\n",
                "To raise the limit, start the server like this:\n```\nquillstore serve --max-keys 80000\n```",
                (2,),
                Verdict.PARTIAL,
            ),
            ("\n- ", "The Team plan allows nine nodes.", (3,), Verdict.SUPPORTED),
            ("\n- ", "The price is 4 euros a month for each of them.", (3,), Verdict.CONTRADICTED),
        ]
    )
    sources = (
        source(
            1,
            "Quickstart",
            "A single value may be at most 16 MiB after compression, a key at most 1,024 bytes, and one transaction may touch no more than **50,000 keys**.",
            ("First transaction", "Limits"),
            also=("https://mirror.example.org/quickstart",),
        ),
        source(
            2,
            "Server reference",
            "```bash\nquillstore serve --max-keys 80000\n```",
            ("Options",),
            published_at=None,
            deep_link=None,
        ),
        source(
            3,
            "Plans and prices",
            "| Team | 9 | 29 € | 5 € |",
            ("Monthly plans",),
            source_type=SourceType.INTERNAL,
            state=PageState.DEAD,
        ),
    )
    made = answer(
        text,
        claims,
        sources,
        notices=("The newest source that was found is of 2026-10-02.",),
        conflicts=(Conflict("price", (("5 €", 3), ("4 €", 1)), "the internal document is taken"),),
    )
    archived = {
        1: Archived(
            "Limits are checked when a transaction is committed.",
            "Writes beyond these limits fail.",
            "",
            "kb/archived/x.html",
        ),
        2: Archived(link="kb/archived/y.html"),
        3: Archived(table_head="| Plan | Nodes | Price | Each further node |", link="kb/archived/z.html"),
    }
    return made, archived


def chinese() -> tuple[Answer, dict[int, Archived]]:
    text, claims = compose(
        [
            ("", "型号: QL-RO600; 建议更换周期: 24个月; 2026年价格: 149元。", (1,), Verdict.SUPPORTED),
            ("", "自签收之日起三十天内可以退货，运费由买家承担。", (2,), Verdict.SUPPORTED),
            ("\n", "更换滤芯前请先关闭进水阀，再按住泄压键三秒。", (3,), Verdict.PARTIAL),
        ]
    )
    sources = (
        source(
            1,
            "栖岚净水器2026年上门服务及配件价目表",
            "| RO反渗透滤芯 | QL-RO600 | 24个月 | 149 | 129 |",
            ("二、滤芯与配件",),
        ),
        source(
            2,
            "退货政策",
            "自签收之日起三十天内可以退货，运费由买家承担，特殊商品除外；退回的商品须保持原有包装，附件齐全。",
            ("售后", "退换货"),
            source_type=SourceType.INTERNAL,
        ),
        source(
            3,
            "自己动手更换栖岚600G净水器滤芯",
            "关闭进水阀，打开水龙头泄压，然后旋下滤瓶。",
            ("步骤",),
            published_at=None,
        ),
    )
    made = answer(
        text,
        claims,
        sources,
        question="栖岚RO反渗透滤芯现在多少钱？不合适能退吗？",
        lang="zh",
        notices=("找到的最新来源日期为 2026-10-02。",),
    )
    archived = {
        1: Archived(table_head="| 名称 | 型号 | 建议更换周期 | 2026年价格 | 2025年价格 |", link="kb/archived/x.html"),
        2: Archived(before="网上订单适用以下规定。", after="定制商品不予退货。", link="kb/archived/x.html"),
        3: Archived(link="kb/archived/x.html"),
    }
    return made, archived


def refused() -> Answer:
    refusal = Refusal(
        RefusalReason.BELOW_THRESHOLD,
        "我无法从提供的资料中确认这一点。请补充名称、时间或范围等细节；也可以转交人工处理。",
        0.31,
        needed=0.45,
    )
    made = answer("", (), (), question="谁获得了2035年的诺贝尔文学奖？", lang="zh", refusal=refusal)
    return replace(made, text=refusal.message)
