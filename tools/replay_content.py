"""What is played for the replay fixture: one owner's memory, 21 turns of two sessions, and what happens between them.

The owner is invented: 阿禾, who keeps a weather station on a hill and its firmware, rainvane. Times are his,
``MM-DD HH:MM`` in 2026, Asia/Shanghai. Data for ``record_replay_home.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

CWD = "/home/owner/work/rainvane"
FIRST = "session-5eed0001-0a01-4000-8000-000000000001"
SECOND = "session-5eed0002-0b02-4000-8000-000000000002"

L0 = "你是阿禾的老搭档，守着同一座气象站。\n话少，先说结论。"
L1 = (
    "不确定就说不知道，不猜数。\n说到数字就带单位和时间。\n他累的时候只给一件该做的事。\n"
    "不夸人，也不道歉两次。\nKeep English terms in English; do not translate register names."
)
L2 = "你说话像山上的邻居，见过很多次大雨。\n你有一本旧值班日志，封面被水泡过。"

#: (local time, tier, pinned, text)
NOTES = (
    ("10-29 21:00", "core", False, "我第一次和他说话是在台风夜，站上的风杯停了。"),
    ("10-31 20:10", "stable", True, "他说“差不多”时，差的那一点要写出来。"),
    ("11-02 21:30", "stable", False, "我给的公式要附一个能手算的例子，他会真的去算。"),
    ("11-05 19:45", "stable", False, "上次我把雨量和雨强说混了，被他看出来；之后我每次都先写单位再写数。"),
    ("11-08 22:05", "stable", False, "他看图比看表快，先给图。"),
    ("11-10 20:30", "temp", False, "他这两周在换风杯，别催别的事。"),
    ("11-12 21:15", "stable", False, "He reads diffs bottom to top; put the reason in the last line."),
    ("11-17 20:00", "stable", False, "他问“为什么”时要原因，不要再给一个做法。"),
    ("11-21 21:40", "temp", False, "周末前等备件，传感器那条线先停。"),
)


@dataclass(frozen=True)
class PlannedFact:
    """One fact from before the first turn; ``approved`` None: it waits."""

    key: str
    staged: str
    text: str
    tags: tuple[str, ...] = ()
    approved: str | None = None
    channel: Literal["rel", "env"] = "rel"
    reason: Literal["convention", "prohibition", "preference", "correction"] | None = None
    detail: str | None = None
    importance: float = 1.0


# A table reads by its rows.
# fmt: off
FACTS: tuple[PlannedFact, ...] = (
    PlannedFact("conclusion", "10-27 10:00", "回答先给结论，再给一行理由", ("沟通",), "10-27 21:00", reason="convention", importance=2.0),
    PlannedFact("unknown", "10-27 10:05", "不确定时直说不知道，别猜", ("沟通",), "10-27 21:00", reason="prohibition"),
    PlannedFact("one-question", "10-28 09:30", "一次只问我一个问题", ("沟通",), "10-28 20:00", reason="preference"),
    PlannedFact("english-commits", "10-28 15:00", "Commit messages in English, imperative mood", ("提交",), "10-28 20:01", reason="convention"),
    PlannedFact("one-thing", "10-29 11:20", "一个提交只做一件事", ("提交",), "10-29 20:00", reason="convention"),
    PlannedFact("check-first", "10-29 11:25", "提交前先跑 make check", ("提交",), "10-29 20:00", reason="convention"),
    PlannedFact("axes", "10-30 16:10", "坐标轴都带单位", ("图表",), "10-30 20:30", reason="convention"),
    PlannedFact("four-lines", "10-30 16:15", "折线不超过四条，多了就分图", ("图表",), "10-30 20:30", reason="preference"),
    PlannedFact("names", "11-01 10:00", "变量名写全词，不用拼音", ("代码",), "11-01 21:00", reason="prohibition"),
    PlannedFact("forty", "11-01 10:40", "函数超过四十行先拆再改", ("代码",), "11-01 21:00", reason="convention"),
    PlannedFact("dataclasses", "11-03 14:00", "Prefer dataclasses over bare dicts", ("代码",), "11-03 20:00", reason="preference"),
    PlannedFact("wednesday", "11-04 09:00", "周三下午不约会，那时在山上修站", ("日程",), "11-04 20:00"),
    PlannedFact("quiet", "11-04 22:30", "晚上十点后别提醒我，第二天早上再说", ("日程",), "11-05 08:00", reason="prohibition"),
    PlannedFact("bucket", "11-06 15:00", "降雨量按筒口面积换算，不按外径", (), "11-06 20:00", reason="correction", importance=1.5),
    PlannedFact("missing", "11-07 10:00", "缺测记为空，不记为零；零是真的没下雨", (), "11-07 20:00", reason="correction"),
    PlannedFact("letters", "11-09 11:00", "写给同事的信不用感叹号", (), "11-09 20:00", reason="preference"),
    PlannedFact(
        "gusts", "11-11 09:00",
        "阵风取十分钟滑动窗里三秒平均的最大值，平均风速取同一窗的算术平均；两者写在同一行，先平均后阵风，单位都是米每秒，保留一位小数，静风写作零点零，缺测写作空，不补插值，也不拿邻站的数来代替，换站要另起一行",
        (), "11-11 20:00", reason="convention",
    ),
    PlannedFact("serial", "10-27 11:00", "气象站的串口是 /dev/ttyUSB1，波特率 115200", ("站",), "10-27 21:05", "env"),
    PlannedFact("trunk", "10-27 11:10", "固件仓库叫 rainvane，主分支是 trunk", ("仓库",), "10-27 21:05", "env"),
    PlannedFact("python", "10-29 09:00", "本机 Python 是 3.12，虚拟环境在 ~/.venvs/rain", ("工具",), "10-29 20:05", "env"),
    PlannedFact("tests", "10-29 09:10", "测试命令是 make check，约四十秒", ("工具",), "10-29 20:05", "env", detail="在旧机器上量的。"),
    PlannedFact("database", "10-31 18:00", "数据库在 ~/data/rain.sqlite，写前先备份", ("站",), "10-31 20:20", "env", importance=2.0),
    PlannedFact("printer", "11-02 10:00", "The lab printer only speaks PostScript", ("工具",), "11-02 20:00", "env"),
    PlannedFact("clock", "11-03 17:00", "站上的时钟走 UTC，报表用北京时间", ("站",), "11-03 20:05", "env"),
    PlannedFact("hill", "11-05 12:00", "远程主机 hill 只在早八到晚八开机", ("站",), "11-05 20:00", "env"),
    PlannedFact("thirty", "11-06 09:00", "风速的采样间隔是 30 秒", ("站",), "11-06 20:05", "env"),
    PlannedFact("sixty", "11-13 09:00", "风速的采样间隔是 60 秒", ("站",), "11-13 20:00", "env"),
    PlannedFact("disk", "11-14 10:00", "hill 的磁盘只剩 12 GB，日志每周清一次", ("站",), "11-14 20:00", "env"),
    PlannedFact("font", "11-15 10:00", "绘图字体装的是 Noto Sans SC", ("图表",), "11-15 20:00", "env"),
    PlannedFact("backup", "11-16 10:00", "备份盘叫 backup-b，周日凌晨同步", ("站",), "11-16 20:00", "env"),
    PlannedFact(
        "calibration", "11-18 10:00",
        "雨量筒每季度用蠕动泵标定一次，流量从每小时十毫米到一百毫米分五档，每档跑三遍取中位数，系数写进 calibration.toml 的新一节并注明日期和泵号；旧的一节不删，报表按采样日期选用对应的一节，没有对应的就报错停下，不用最近的那节代替，也不外推",
        ("站",), "11-18 20:00", "env",
    ),
    PlannedFact("summary", "11-21 18:00", "周报末尾附一句天气总评", ("图表",), None, reason="preference"),
    PlannedFact("metres", "11-22 09:30", "风速单位一律用 m/s，不用 km/h", ("图表",), None, reason="convention"),
    PlannedFact("router", "11-22 19:00", "路由器重启后 hill 的地址会变", ("站",), None, "env"),
    PlannedFact("old-board", "10-30 09:00", "旧主板的看门狗是坏的", ("站",), "10-30 20:00", "env"),
)
# fmt: on
#: Retired before the first turn.
RETIRED = (("11-19 21:00", "old-board"),)


@dataclass(frozen=True)
class Say:
    """One turn of the owner's: what he types, what the scripted model answers, and the cause the ledger must name.

    ``cause`` None: the text is the one of the turn before. ``tool``: the model first calls this tool of selfnote's.
    """

    at: str
    text: str
    reply: str
    cause: str | None = None
    tool: tuple[str, dict[str, Any]] | None = None


@dataclass(frozen=True)
class Compact:
    """The owner types ``/compact``; the model answers with a summary, or (None) with an error."""

    at: str
    summary: str | None


@dataclass(frozen=True)
class Act:
    """Something the owner does between two turns, in another process: a verb of ``record_replay_home.py``."""

    at: str
    verb: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Run:
    """One process of the harness: a session opened or resumed, and its steps."""

    session: str
    resume: bool
    steps: tuple[Say | Compact | Act, ...]


RUNS: tuple[Run, ...] = (
    Run(
        FIRST,
        resume=False,
        steps=(
            Say(
                "11-24 09:10",
                "早。昨晚那场雨一共多少？",
                "结论：18.6 毫米（11-23 20:00 至 11-24 08:00）。\n\n按筒口面积换算，缺测两段已留空。",
                "start",
            ),
            Say("11-24 09:14", "以后周报用中文写，图表标题用英文。", "好：周报中文，图表标题英文。"),
            Act("11-24 09:18", "stage_said", ("report", "以后周报用中文写，图表标题用英文", ("图表",), "convention")),
            Act("11-24 09:20", "approve", ("report",)),
            Say(
                "11-24 09:22",
                "画一张昨晚的雨强图。",
                "画好了：一条折线，单位 mm/h，标题 Rain rate, 23-24 Nov。",
                "edit",
            ),
            Say(
                "11-24 09:26",
                "你刚才把雨强写成了雨量，记一下。",
                "记下了。下次先写单位。",
                tool=("self_note", {"text": "11 月 24 日我又把雨强写成雨量；画图前先把单位念一遍。"}),
            ),
            Say("11-24 09:31", "再画一次。", "重画了：Rain rate，mm/h，峰值 9.2（03:40）。", "edit"),
            Act("11-24 09:34", "edit", ("backup", "备份盘叫 backup-b，周六夜里同步")),
            Say("11-24 09:36", "昨晚的数据备份了吗？", "还没有，周六夜里才同步。", "edit"),
            # The hour turns and the same facts are chosen again: counted, not changed.
            Say(
                "11-24 10:15", "Does the parser still accept the old header?", "Yes, until v3; it warns once per file."
            ),
            Act("11-24 10:18", "config", ({"timing_hint": "他改主意的时候，记一句他为什么改。"},)),
            Say("11-24 10:20", "那就 v3 再删，先不动。", "好，先不动。", "config"),
            Compact("11-24 10:24", "## 摘要\n昨晚降雨 18.6 毫米；雨强图已重画；旧 header 到 v3 再删。"),
            # Refill: other facts were chosen, but the ones from before the compaction are given once more.
            Say("11-24 11:20", "hill 现在开着吗？", "开着，早八到晚八。"),
            Say("11-24 11:24", "把昨晚的原始数据拉下来。", "拉好了，1440 行，缺测 2 段。", "refill"),
            Say("11-24 11:29", "行，先吃饭。", "好。"),
        ),
    ),
    Run(
        SECOND,
        resume=False,
        steps=(
            Say("11-24 22:40", "夜里还有一场雨，阵风怎么算的再说一遍？", "十分钟窗里三秒平均的最大值。", "start"),
            Say(
                "11-24 22:46",
                "查一下采样间隔写的是多少。",
                "两条写得不一样：30 秒和 60 秒，得你来定。",
                tool=("memory_search", {"query": "采样间隔"}),
            ),
            Act(
                "11-24 22:50",
                "persona",
                ({"l1": L1.replace("不夸人，也不道歉两次。", "不夸人；错了就改，只道歉一次。")},),
            ),
            Say("11-24 22:52", "你今天话有点多。", "好，收着。", "edit"),
            Say("11-24 23:50", "现在雨强多少？", "4.1 mm/h（23:45）。", "rotation"),
            Say("11-25 00:04", "过零点了，日报先不发。", "不发，天亮再说。", "date"),
            Act("11-25 00:07", "retire", ("thirty",)),
            Say("11-25 00:09", "采样间隔以 60 秒为准。", "好，60 秒。", "edit"),
            Compact("11-25 00:12", None),
            Say("11-25 00:15", "压缩没成就算了，接着说。", "好，接着。"),
            Act("11-25 00:18", "habit", ("提交", "提交前跑 make check，信息用英文")),
            Say("11-25 00:20", "Commit what we have.", "Committed: Use 60 s sampling for wind speed.", "edit"),
        ),
    ),
    Run(
        FIRST,
        resume=True,
        steps=(
            Say("11-25 09:30", "接着昨天：日报补发了吗？", "还没有，等你看过图。", "edit"),
            Act("11-25 09:36", "config", ({"language": "en"},)),
            Say(
                "11-25 09:38",
                "From here on in English, please.",
                "Sure. The daily report is ready for you to read.",
                "config",
            ),
        ),
    ),
)
