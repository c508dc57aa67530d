"""Words of questions and the other words in which pages answer them: `What does it weigh?` is answered by `Weight: 12.4 kg`."""

from __future__ import annotations

from collections.abc import Collection

from kbcite.answer.weights import stems


def _table(rows: str) -> dict[str, frozenset[str]]:
    """`weigh heavy: weight kg` → each word left of the colon with the terms that say it as well."""
    found: dict[str, frozenset[str]] = {}
    for row in rows.strip().splitlines():
        asked, said = row.split(":")
        for word in stems(asked):
            if len(word) > 1:
                found[word] = found.get(word, frozenset()) | frozenset(term for term in stems(said) if len(term) > 1)
    return found


SAID_AS = _table(
    """
    weigh heavy heavier lighter: weight
    weight: weigh
    long length: length duration
    high tall height: height altitude elevation high tall metres
    wide width: width wide
    deep depth: depth deep
    old: age
    big large size: size dimensions capacity area
    dimensions: size
    fast faster slower: speed
    longer shorter: length duration
    bigger larger smaller: size dimensions capacity area
    older younger: age
    cheaper dearer: price cost
    work works: employ employs employee employees staff work
    far: distance
    hot cold warm: temperature
    cost price pay expensive charge: cost price fee pay charge
    begin start: begin start begins began
    built build construct: built build construction construct
    pack bring carry: pack packing bring carry rucksack luggage bag
    keep kept retain: keep kept retain retention
    remove removed delete: remove removed delete
    write wrote written: author wrote written
    buy bought: price bought buy
    sold: sell sold
    made make: made make
    change set configure modify: change set configure modify edit setting
    install: install setup
    show display list print view see: show display list print view
    create make: create make
    start run launch: start run launch execute
    find search look: find search locate
    check: check verify test
    多重 重量: 重量
    多长 长度: 长度 全长
    多高 高度: 高度 海拔
    多宽 宽度: 宽度
    多深 深度: 深度
    多大: 面积 大小 容量 尺寸
    多快 速度: 速度 时速
    修改 更改 变更 改变: 修改 更改 变更 改变 设置 编辑
    删除 移除 去除 卸载: 删除 移除 去除 卸载
    查看 显示 列出: 查看 显示 列出 打印
    添加 新增 新建 创建 增加: 添加 新增 新建 创建 增加
    停止 关闭 结束 终止 杀死: 停止 关闭 结束 终止 杀死
    启动 开启 打开: 启动 开启 打开
    开门 关门 营业 开放: 开门 关门 营业 开放 闭馆
    少钱 价格 费用 票价 售价: 价格 票价 售价 费用
    """
)
"""A question's word and the words in which pages answer it: `What does it weigh?` is said by `Weight: 12.4 kg`."""


def is_said(term: str, said: Collection[str]) -> bool:
    """True where a term of a question is among the terms said, itself or by a word that stands for it."""
    return term in said or any(other in said for other in SAID_AS.get(term, ()))


def with_said(wanted: Collection[str], said: frozenset[str]) -> frozenset[str]:
    """The terms said, and those wanted ones that another of them stands for."""
    return said.union(term for term in wanted if term in SAID_AS and is_said(term, said))
