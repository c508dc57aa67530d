"""People named in a text: what answers `who`.

Chinese has no capitals, and every other sentence holds a surname followed by two characters; so a Chinese name counts
where it stands as one does, after a stop, a title or `由`, and before a stop, a particle or what people do.
"""

from __future__ import annotations

import re

from kbcite.patterns import pattern
from kbcite.words import CJK

SURNAMES = (
    "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许何吕施张孔曹严华金魏陶姜戚谢邹喻柏窦章苏潘葛范彭郎鲁韦马苗方俞任袁柳鲍史唐费廉岑薛雷贺倪汤"
    "滕殷罗毕郝安常乐于傅齐康伍余顾孟黄穆萧尹姚邵汪祁毛米戴宋庞熊纪舒屈项祝董梁杜阮蓝闵席季贾江童颜郭梅盛林钟徐邱骆高夏蔡田樊胡凌霍万"
    "柯卢莫房丁邓洪包左石崔龚程邢裴陆翁焦侯段谷车牛刘詹叶黎白蒲赖卓乔翟谭贺冉边习温耿关曾游肖"
)
_HAN = f"[{CJK}]"
_TITLE_END = "者员长席统理家手王帝演剧授士师人将星监客友妻夫子女相记"
"""Last characters of what people are: 导演, 主席, 记者, 选手."""
_NO_NAME = (
    "安全|安徽|安排|尤其|包[括含装容]|韩国|高[质端铁度中考级层]|关[心了于注系键闭内链]|于[是此]|廉洁|江苏|江南|项目|毕[竟业]|周[一二三四五六日年边期围末]|卫[生星]|任[何职务期]|何[时处地种必况]"
    "|白[天夜色]|齐[聚全]|方[面案式法向便]|万[人元个亿辆次名]|季[度后]|费用|史上|车[票站辆展主]|程[度序]|段[时的]|连续|常[住见常务]|马上|金[额融牌属]|毛利|水平|房[屋地产]|边[境缘]|华[社人]|陆[续地上军]"
    "|石[油]|乐队|温[度暖]|谷歌|顾[客问]|应当|平[均台]|许多|田径|雷达|游[戏客泳]|左右|梅花|林业|强[大调]|高兴"
)
_BEFORE = f'(?:^|(?<=[，。、；：:·“”"（()）《》\\s和与及由是为让给对被])|(?<=[{_TITLE_END}]))'
_AFTER = (
    '(?=$|[，。、；：:“”"（()）《》\\s！？]|[和与及等的在将于曾也又则就是因以对向从被获夺率任写著编称说]|担任|出任|当选|主演|执导|参演|领衔|饰|扮演|出演'
    "|先生|女士|表示|认为|指出|介绍|成为|接任|发明|创[立办作]|提出|发现|首次|宣布|凭借|[逝去]世|出生|签署|带领|领导|共同|分别|联合)"
)
_CHINESE = f"{_BEFORE}(?!{_NO_NAME})(?:欧阳|司马|上官|诸葛|慕容|令狐|皇甫|司徒|夏侯|[{SURNAMES}]){_HAN}{{1,2}}?{_AFTER}"
_TRANSLITERATED = f"{_HAN}{{2,7}}(?:[·•‧]{_HAN}{{1,9}})+|{_HAN}{{2,5}}[一二三四五六七八九十]世(?![纪界])"
PERSON = pattern(
    f"{_TRANSLITERATED}|{_CHINESE}|\\b[A-Z][\\w’'-]+(?:\\s+(?:[A-Z]\\.|[a-z]{{2,3}}(?=\\s+[A-Z])|[A-Z][\\w’'-]+)){{1,3}}\\b"
)
"""One person's name, as far as its form and its neighbours tell."""
LIKE_A_PERSON = pattern(
    f"[{SURNAMES}]{_HAN}{{1,2}}(?!{_HAN}*省)|{_HAN}{{2,}}(?=[等]?(?:担任|出任|当选|主演|执导|饰演|夺|获得))"
)

_ROLES = (
    ("导演|执导", "导演|执导"),
    ("主演|出演|饰演", "主演|领衔|出演|饰"),
    ("作者|作家|撰写|写的", "作者|著|撰|写"),
    ("编剧", "编剧"),
    ("创始|创办|创立|创建|成立", "创始|创办|创立|创建|成立|联手"),
    (
        "主席|总统|总理|首相|议长|市长|校长|院长|董事长",
        "主席|总统|总理|首相|议长|市长|校长|院长|董事长|当选|就任|出任|担任",
    ),
)
_NEAR = 8
"""Characters between a name and its role."""


def has_role(question: str, sentence: str) -> bool:
    """True where a person named stands beside the role that the question asks for, or it asks for none."""
    wanted = [said for asked, said in _ROLES if re.search(asked, question)]
    if not wanted:
        return True
    role = "|".join(wanted)
    names = (match.span() for match in PERSON.finditer(sentence))
    return any(re.search(role, sentence[max(0, start - _NEAR) : end + _NEAR]) for start, end in names)
