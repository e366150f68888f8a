"""What every frame holds: its columns, their types, units and meaning; the frames are built from this table (UC-002).

Two kinds of row that are not as they should be are kept and told apart by ``flag``: a row that could be read with
something amiss says what, and a line that could not be read at all has a ``flag``, where known its ``line``, and
nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

from selfnote.errors import NotFound
from selfnote.times import EPOCH

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

Kind = Literal["text", "count", "number", "yes/no", "instant", "day", "list"]

#: Kind -> dtype, the same under pandas 2.2 and 3. Instants are UTC to the millisecond; a calendar day of the owner's is
#: no instant and has no zone; a list is a tuple of texts in an object column.
DTYPES: dict[Kind, str] = {
    "text": "string",
    "count": "Int64",
    "number": "float64",
    "yes/no": "boolean",
    "instant": "datetime64[ms, UTC]",
    "day": "datetime64[ms]",
    "list": "object",
}


class Column(NamedTuple):
    """One column: ``nullable`` says whether a row that could be read may have no value here."""

    name: str
    kind: Kind
    meaning: str
    meaning_zh: str
    unit: str = ""
    nullable: bool = False


def _maybe(name: str, kind: Kind, meaning: str, meaning_zh: str, unit: str = "") -> Column:
    """A column that may have no value in a row that could be read."""
    return Column(name, kind, meaning, meaning_zh, unit, nullable=True)


def _flag(where: str = "the line", where_zh: str = "行") -> tuple[Column, Column]:
    return (
        _maybe("line", "count", f"Number of {where} in its file, from 1", f"{where_zh}在文件中的行号，从 1 起"),
        _maybe(
            "flag",
            "text",
            "What is amiss with this row; null when nothing is",
            "这一行有什么问题；没有则为空",
        ),
    )


_CHARS = "code points"
_CHARS_ZH_LENGTH = "按注入形式计的长度"
_LENGTH = Column("length", "count", "Length of the text as it would be injected", _CHARS_ZH_LENGTH, _CHARS)
_CHANNEL = Column("channel", "text", "rel (about the owner) or env (about the machine)", "rel（关于他）或 env（本机）")
_TAG = _maybe("tag", "text", "The first tag", "第一个标签")
_IMPORTANCE = Column("importance", "number", "Importance a person gave", "人给的重要度", "0 to 3")
_SESSION = _maybe("session", "text", "Id of the session", "会话 id")
_SEQ = _maybe("seq", "count", "Number of the event in its session", "事件在会话中的序号")
_COUNT_PARTS = (
    Column(
        "counted",
        "yes/no",
        "Whether this raised the fact's counter (at most once an hour, a search once in ten minutes)",
        "是否计入了这条事实的计数（注入每小时至多一次，检索每十分钟至多一次）",
    ),
    Column(
        "count",
        "count",
        "By how much: 1 where counted, else 0; in a row of origin counter what no ledger line tells",
        "计了几次：计入为 1，否则 0；origin 为 counter 的行是账本没有记载的次数",
    ),
    Column(
        "origin",
        "text",
        "ledger: a line of the ledger; counter: only the fact's counter tells, the when and where are unknown",
        "ledger：账本有一行；counter：只有计数，何时何地不明",
    ),
)
_SEGMENT = _maybe(
    "segment",
    "text",
    "persona, notes, profile, env, conclusions or habits",
    "段：persona、notes、profile、env、conclusions、habits",
)
_SQUEEZE_PARTS = (
    _maybe("needs", "count", "What it needs: its length, separator and label", "需要的字数（含分隔与标签）", _CHARS),
    _maybe("left", "count", "Room left in the segment when packing ended", "装完时该段余下的字数", _CHARS),
    _maybe("reason", "text", "Why it is out", "没进去的原因"),
)

#: Frame -> its columns, in order.
SCHEMA: dict[str, tuple[Column, ...]] = {
    "facts": (
        Column("id", "text", "Id of the fact", "事实 id"),
        Column("text", "text", "The sentence as stored", "原文"),
        _LENGTH,
        _maybe("detail", "text", "What the owner added to it; never injected", "补充说明（不注入）"),
        _CHANNEL,
        Column("status", "text", "candidate, approved or retired", "状态：candidate、approved、retired"),
        Column("tags", "list", "All tags", "全部标签"),
        _TAG,
        _IMPORTANCE,
        Column("occurrences", "count", "How often the owner said it", "说过几次"),
        Column("n_sources", "count", "Number of sources", "来源数"),
        _maybe(
            "source",
            "text",
            "Where it was first said: session#seq, import:file#line or owner:via",
            "首个来源",
        ),
        _maybe("source_kind", "text", "session, import or owner; null when of no known form", "来源类别"),
        _SESSION,
        _SEQ,
        _maybe("capture_source", "text", "What captured it", "由什么采集"),
        _maybe("capture_reason", "text", "convention, prohibition, preference or correction", "采集理由"),
        Column("red_flags", "list", "What is dangerous about it", "危险标记"),
        Column("hit_count", "count", "Injections counted", "注入计数"),
        _maybe("last_hit", "instant", "The last injection counted", "最近一次计入的注入", "UTC"),
        Column("seen_count", "count", "Searches counted", "检索计数"),
        _maybe("last_seen", "instant", "The last search counted", "最近一次计入的检索", "UTC"),
        _maybe("created_at", "instant", "When it was first kept", "首次留存时间", "UTC"),
        _maybe("approved_at", "instant", "When the owner approved it", "采纳时间", "UTC"),
        _maybe("changed_at", "instant", "Last change of status by the owner", "最近一次状态变更时间", "UTC"),
        _maybe("changed_via", "text", "… through what", "……经由"),
        _maybe("changed_from", "text", "… from which status", "……原状态"),
        _maybe("changed_to", "text", "… to which status", "……新状态"),
        _maybe("edited_at", "instant", "Last edit of its text by the owner", "原文最近一次改动时间", "UTC"),
        Column("n_changes", "count", "Length of its history", "历史条数"),
        Column("near_links", "count", "Links to facts that say nearly the same", "近似链接数"),
        Column(
            "conflict_links",
            "count",
            "Links to facts that say the opposite, resolved ones too",
            "冲突链接数（含已解决）",
        ),
        Column("near_ids", "list", "Ids of the facts that say nearly the same", "近似事实的 id"),
        Column("conflict_ids", "list", "Ids of the facts it is in an unresolved conflict with", "未解决冲突的事实 id"),
        *_flag(),
    ),
    "heat": (
        Column("id", "text", "Id of the fact", "事实 id"),
        Column("status", "text", "candidate, approved or retired", "状态"),
        _CHANNEL,
        _TAG,
        _LENGTH,
        Column("hits", "count", "Injections counted", "注入计数"),
        _IMPORTANCE,
        Column(
            "ref",
            "instant",
            "The latest of last hit, approval and creation not after now; 1970 when none can be used",
            "最近注入、采纳、留存三者中不晚于此刻的最晚者；都不可用则为 1970",
            "UTC",
        ),
        Column("idle_days", "number", "Days from ref to now", "距 ref 的天数", "days"),
        Column("half_life", "number", "Half-life used", "半衰期", "days"),
        Column(
            "heat",
            "number",
            "(1 + ln(1 + hits)) × 0.5^(idle_days / half_life) × (1 + 0.5 × importance)",
            "热度 =（1 + ln(1 + 次数)）× 0.5^(闲置天数/半衰期) ×（1 + 0.5 × 重要度）",
        ),
        _maybe(
            "rank",
            "count",
            "Place among the approved facts by heat, from 1",
            "已采纳事实中的热度名次，从 1 起",
        ),
        Column("future", "yes/no", "Whether a time in the future was left out", "是否有未来时间被忽略"),
        *_flag(),
    ),
    "hits": (
        _maybe("injection", "count", "Number of the injection, as in injections; null for counters", "注入序号"),
        _maybe("at", "instant", "From when the prompt held this text", "从何时起提示里是这段文字", "UTC"),
        _SESSION,
        _maybe("turn", "text", "The turn it was first given in", "首次给出的轮次"),
        _maybe("cwd", "text", "Working directory of the session", "会话的工作目录"),
        _maybe("digest", "text", "sha256 of the injected text", "注入文本的 sha256"),
        _maybe(
            "cause",
            "text",
            "Why the text changed; null for a count without a change",
            "文本变化的原因；只计数则为空",
        ),
        _SEGMENT,
        Column("kind", "text", "fact, note, habit, persona or override", "类别"),
        Column("id", "text", "Id of the entry", "条目 id"),
        Column(
            "state",
            "text",
            "in (printed), squeezed (no place), absorbed (a profile override speaks for it), mentioned (a core note, "
            "only counted by a doorplate); in for counters",
            "in 进了；squeezed 没挤进；absorbed 由画像改写代言；mentioned 只被门牌提到的核心自述",
        ),
        _maybe("position", "count", "Place in its segment as printed, from 0", "段内印出的位置，从 0 起"),
        Column("mentioned", "yes/no", "Whether a doorplate counted it (另有 N 条…)", "是否被门牌计入"),
        *_SQUEEZE_PARTS,
        *_COUNT_PARTS,
        *_flag("the ledger line", "账本行"),
    ),
    "searches": (
        _maybe("search", "count", "Number of the search, from 0; null for counters", "检索序号"),
        _maybe("at", "instant", "When the model searched", "检索时间", "UTC"),
        _SESSION,
        _maybe("via", "text", "The tool it searched with", "所用工具"),
        Column("id", "text", "Id of the fact found", "找到的事实 id"),
        _maybe("position", "count", "Place in the answer, from 0", "结果中的位置，从 0 起"),
        *_COUNT_PARTS,
        *_flag("the ledger line", "账本行"),
    ),
    "injections": (
        _maybe("injection", "count", "Number of the ledger line, from 0; null for logged prompts", "账本序号"),
        Column(
            "origin",
            "text",
            "ledger: a line of our ledger; log: a system prompt the harness logged",
            "ledger：我们的账本；log：宿主日志里的系统提示",
        ),
        _maybe("at", "instant", "When", "时间", "UTC"),
        _SESSION,
        _maybe("turn", "text", "The turn it was first given in (ledger)", "轮次（账本）"),
        _maybe("seq", "count", "Number of the event (log)", "事件序号（日志）"),
        _maybe("cwd", "text", "Working directory of the session", "会话的工作目录"),
        _maybe("digest", "text", "sha256 of our text", "我们那段文字的 sha256"),
        _maybe(
            "cause",
            "text",
            "Why the text changed: start, edit, config, refill, date, rotation; null for a count without a change",
            "变化原因：start、edit、config、refill、date、rotation；只计数则为空",
        ),
        _maybe(
            "request_reason",
            "text",
            "The harness's reason for sending the prompt again (log)",
            "宿主重发提示的理由（日志）",
        ),
        _maybe(
            "found",
            "text",
            "How our text was recognised: digest, sentences or not found (log)",
            "如何认出我们的文字（日志）",
        ),
        _maybe(
            "seeded",
            "yes/no",
            "Whether it was copied from the parent session (log)",
            "是否从父会话抄来（日志）",
        ),
        _maybe("persona", "count", "Used by the persona (ledger)", "人格段用字（账本）", _CHARS),
        _maybe("notes", "count", "Used by the notes", "自述段用字", _CHARS),
        _maybe("profile", "count", "Used by the profile", "画像段用字", _CHARS),
        _maybe("env", "count", "Used by env", "本机事实段用字", _CHARS),
        _maybe("conclusions", "count", "Used by the conclusions", "结论段用字", _CHARS),
        _maybe("habits", "count", "Used by the habits", "习惯段用字", _CHARS),
        _maybe("total", "count", "Used by the six together", "六段合计用字", _CHARS),
        _maybe("n_entries", "count", "Entries in the text (ledger)", "进去的条数（账本）"),
        _maybe("n_squeezed", "count", "Entries left out (ledger)", "没进去的条数（账本）"),
        _maybe("n_counted", "count", "Facts whose counter grew (ledger)", "计数增加的事实数（账本）"),
        _maybe("length", "count", "Length of our text (log)", "我们那段文字的长度（日志）", _CHARS),
        _maybe("text", "text", "Our text as logged (log)", "日志里我们的文字（日志）"),
        *_flag("the ledger line", "账本行"),
    ),
    "notes": (
        Column("id", "text", "Id of the note", "自述 id"),
        Column("text", "text", "The note", "自述"),
        _LENGTH,
        Column("tier", "text", "core, stable or temp", "层级：core、stable、temp"),
        Column("pinned", "yes/no", "Whether the owner pinned it", "是否置顶"),
        _maybe("on", "day", "Its calendar day", "日期", "the owner's calendar day"),
        _maybe("age_days", "count", "Days from that day to the owner's today", "距今天数", "days"),
        Column("expired", "yes/no", "Whether it is a temporary note past its shelf life", "是否已过期"),
        Column("archived", "yes/no", "Whether it left notes.md for the archive", "是否已归档"),
        Column("file", "text", "Name of the file it stands in", "所在文件"),
        *_flag(),
    ),
    "corrections": (
        Column("id", "text", "Id of the correction", "纠偏 id"),
        _SESSION,
        _SEQ,
        _maybe("at", "instant", "When it was said", "说的时间", "UTC"),
        Column("text", "text", "The owner's words", "原话"),
        Column("length", "count", "Length of the words", "长度", _CHARS),
        Column("strength", "text", "strong or weak", "强弱"),
        _maybe("rule", "text", "Id of the rule that heard it", "听出它的规则"),
        Column(
            "status",
            "text",
            "open, used (a persona rule was made of it) or dismissed",
            "open 未处理、used 已成规则、dismissed 已忽略",
        ),
        _maybe("used_at", "instant", "When a rule was made of it", "成为规则的时间", "UTC"),
        _maybe("rule_fingerprint", "text", "Fingerprint of the persona line made of it", "所成人格规则的指纹"),
        Column("archived", "yes/no", "Whether it left corrections.jsonl for the archive", "是否已归档"),
        Column("file", "text", "Name of the file it stands in", "所在文件"),
        *_flag(),
    ),
    "habits": (
        Column("id", "text", "Id of the habit", "习惯 id"),
        Column("tag", "text", "The tag it was made of", "来自哪个标签"),
        Column("text", "text", "The habit in the owner's words", "习惯"),
        _LENGTH,
        Column("fact_ids", "list", "Ids of the facts it was made of", "来源事实的 id"),
        Column("n_facts", "count", "Number of them", "来源事实数"),
        Column("n_approved", "count", "How many of them are approved now", "其中现在仍采纳的"),
        Column("active", "yes/no", "Whether it may be injected", "是否可注入"),
        _maybe("created_at", "instant", "When it was promoted", "成为习惯的时间", "UTC"),
        _maybe("revoked_at", "instant", "When it was revoked", "撤销时间", "UTC"),
        *_flag(),
    ),
    "summaries": (
        Column("id", "text", "Id of the summary", "摘要 id"),
        Column("text", "text", "What the model made of a conversation; never injected", "摘要（不注入）"),
        Column("length", "count", "Length of the text", "长度", _CHARS),
        _maybe("source", "text", "The message it points at: session#seq", "指向的消息"),
        _SESSION,
        _SEQ,
        Column("status", "text", "active or void", "active 有效、void 作废"),
        _maybe("created_at", "instant", "When it was written", "写下的时间", "UTC"),
        _maybe("voided_at", "instant", "When it was voided", "作废时间", "UTC"),
        *_flag(),
    ),
    "sessions": (
        Column("id", "text", "Id of the session", "会话 id"),
        _maybe("cwd", "text", "Working directory", "工作目录"),
        _maybe("created_at", "instant", "When it began", "开始时间", "UTC"),
        _maybe("last_at", "instant", "Its last event", "最后事件时间", "UTC"),
        Column("status", "text", "ok, torn, corrupt, ambiguous, newer or empty", "日志状态"),
        Column("events", "count", "Events, those copied from a parent too", "事件数（含从父会话抄来的）"),
        Column("turns", "count", "Turns that ended, those copied from a parent too", "结束的轮数（含抄来的）"),
        Column("messages", "count", "Messages of both sides, without copied ones", "消息数（不含抄来的）"),
        Column("owner_messages", "count", "Messages the owner typed", "主人亲手输入的消息数"),
        Column("delegated", "yes/no", "Whether another agent delegated it", "是否受托会话"),
        Column("depth", "count", "Depth of delegation", "委托深度"),
        _maybe("origin", "text", "Origin as the harness logged it", "来源"),
        _maybe("parent", "text", "Id of the parent session", "父会话 id"),
        Column("seed_length", "count", "Events copied from the parent", "从父会话抄来的事件数"),
        Column("size", "count", "Size of the log on disk", "日志大小", "bytes"),
        Column("path", "text", "The log", "日志路径"),
        _maybe("flag", "text", "What could not be read of it; null when nothing", "读不了的部分；没有则为空"),
    ),
    "messages": (
        _SESSION._replace(nullable=False),
        _SEQ._replace(nullable=False),
        _maybe("at", "instant", "When it was said", "时间", "UTC"),
        Column("role", "text", "user or assistant", "角色"),
        Column("by_owner", "yes/no", "Whether the owner typed it into a session of his own", "是否主人亲手输入"),
        _maybe("kind", "text", "Kind of its source as the harness logged it", "来源类别"),
        Column("length", "count", "Length of the text", "长度", _CHARS),
        Column("text", "text", "What was said", "内容"),
        Column("source", "text", "Pointer to it: session#seq", "指针"),
        *_flag("the line", "日志行"),
    ),
    "attribution": (
        Column("id", "text", "Id of the approved fact", "已采纳事实的 id"),
        Column("text", "text", "The sentence as stored", "原文"),
        _LENGTH,
        _CHANNEL,
        _TAG,
        _maybe("segment", "text", "The segment it stands in, or is squeezed from", "所在段，或从哪段被挤出"),
        Column("inside", "yes/no", "Whether it is in the text at this instant", "此刻是否在注入文本里"),
        Column("absorbed", "yes/no", "Whether a profile override speaks for it", "是否由画像改写代言"),
        *_SQUEEZE_PARTS,
        Column(
            "state",
            "text",
            "active, silent, seen (found by a search only) or never",
            "active 在用、silent 静默、seen 只搜到过、never 从没进过",
        ),
        _IMPORTANCE,
        Column("heat", "number", "Heat at this instant", "此刻热度"),
        Column("hit_count", "count", "Injections counted", "注入计数"),
        _maybe("last_hit", "instant", "The last injection counted", "最近一次计入的注入", "UTC"),
        Column("seen_count", "count", "Searches counted; never added to the injections", "检索计数；从不与注入相加"),
        _maybe("last_seen", "instant", "The last search counted", "最近一次计入的检索", "UTC"),
        _maybe("created_at", "instant", "When it was first kept", "首次留存时间", "UTC"),
        _maybe("approved_at", "instant", "When the owner approved it", "采纳时间", "UTC"),
        *_flag(),
    ),
    "squeeze": (
        _SEGMENT._replace(nullable=False),
        Column("kind", "text", "fact, note, habit or persona", "类别"),
        Column("id", "text", "Id of the entry", "条目 id"),
        Column("text", "text", "The text as it would be printed", "将印出的文字"),
        Column("length", "count", "Its length", "长度", _CHARS),
        *(column._replace(nullable=False) for column in _SQUEEZE_PARTS),
        Column(
            "short",
            "count",
            "needs − left: what is missing; 0 or less where room is not what keeps it out",
            "还差几个字",
            _CHARS,
        ),
        Column(
            "rank",
            "count",
            "Place among those squeezed from the segment, in packing order, from 1",
            "该段被挤出者中的次序，从 1 起",
        ),
        Column("budget", "count", "Budget of the segment", "该段预算", _CHARS),
        Column("used", "count", "Used of it", "已用", _CHARS),
        _maybe("heat", "number", "Heat of a fact", "事实的热度"),
        _maybe("flag", "text", "What could not be read; null when nothing", "读不了的部分；没有则为空"),
    ),
}

#: The column that tells the memories of ``audit.many`` apart.
HOME = Column("home", "text", "Name of the memory", "哪份记忆")


def columns_of(frame: str) -> tuple[Column, ...]:
    """The columns of a frame.

    Raises
    ------
    NotFound
        When no frame has that name.
    """
    from selfnote.audit.analyses import ANALYSES  # built of this module's columns

    known = {**SCHEMA, **ANALYSES}
    if frame not in known:
        raise NotFound(f"no frame is called {frame!r}; there are {', '.join(known)}")
    return known[frame]


def conform(frame: str, columns: Mapping[str, Sequence[Any] | np.ndarray], *, home: bool = False) -> pd.DataFrame:
    """A frame of exactly the documented columns and dtypes; with no rows it is typed all the same.

    ``columns`` gives every column, all of one length: texts, numbers and truth values with None for null; instants as
    integers of microseconds since 1970 UTC (or None), days as ``datetime.date``; lists as tuples.

    Raises
    ------
    NotFound
        When no frame has that name.
    ValueError
        When the columns are not exactly the documented ones, or differ in length.
    """
    import pandas as pd

    wanted = (*((HOME,) if home else ()), *columns_of(frame))
    names = [column.name for column in wanted]
    if set(names) != set(columns):
        raise ValueError(f"{frame}: columns {sorted(set(names) ^ set(columns))} are missing or not documented")
    lengths = {len(values) for values in columns.values()}
    if len(lengths) != 1:
        raise ValueError(f"{frame}: columns of different lengths {sorted(lengths)}")
    return pd.DataFrame({column.name: _typed(column.kind, columns[column.name]) for column in wanted})


def from_rows(frame: str, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The frame of these rows; what a row does not name is null. Values as `conform` takes them."""
    return conform(frame, {column.name: [row.get(column.name) for row in rows] for column in columns_of(frame)})


def to_rows(frame: str, table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame as `from_rows` takes them: plain values, None for null, instants in microseconds."""
    columns: dict[str, list[Any]] = {}
    for column in columns_of(frame):
        values, known = table[column.name], table[column.name].notna()
        if column.kind == "instant":
            plain = [value * 1000 for value in values.to_numpy("datetime64[ms]").astype("int64").tolist()]
        else:
            plain = values.astype(object).tolist()
        columns[column.name] = [value if there else None for value, there in zip(plain, known, strict=True)]
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def empty(frame: str, *, home: bool = False) -> pd.DataFrame:
    """The frame without a row."""
    wanted = (*((HOME,) if home else ()), *columns_of(frame))
    return conform(frame, {column.name: [] for column in wanted}, home=home)


def describe(frame: str) -> pd.DataFrame:
    """The documentation of a frame as a frame: column, dtype, unit, nullable, meaning, meaning_zh.

    Raises
    ------
    NotFound
        When no frame has that name.
    """
    import pandas as pd

    rows = columns_of(frame)
    texts: dict[str, list[Any]] = {
        "column": [row.name for row in rows],
        "dtype": [DTYPES[row.kind] for row in rows],
        "unit": [row.unit for row in rows],
        "nullable": [row.nullable for row in rows],
        "meaning": [row.meaning for row in rows],
        "meaning_zh": [row.meaning_zh for row in rows],
    }
    return pd.DataFrame(
        {name: _typed("yes/no" if name == "nullable" else "text", values) for name, values in texts.items()}
    )


def document(frame: str, language: str = "en") -> str:
    """The documentation of a frame as text, one column a line.

    Raises
    ------
    NotFound
        When no frame has that name.
    """
    rows = columns_of(frame)
    name_width = max(len(row.name) for row in rows)
    type_width = max(len(DTYPES[row.kind]) for row in rows)
    lines = [
        f"  {row.name:{name_width}}  {DTYPES[row.kind]:{type_width}}  "
        f"{row.meaning_zh if language == 'zh' else row.meaning}{f' [{row.unit}]' if row.unit else ''}"
        for row in rows
    ]
    return "\n".join([frame, *lines])


# --- types ----------------------------------------------------------------------------------------
#: Stands for no instant among microseconds, as numpy has it.
NO_TIME = -(2**63)
_MICROSECOND = timedelta(microseconds=1)


@overload
def microseconds(instant: datetime) -> int: ...
@overload
def microseconds(instant: None) -> None: ...
@overload
def microseconds(instant: datetime | None) -> int | None: ...
def microseconds(instant: datetime | None) -> int | None:
    """An aware instant in microseconds since 1970 UTC, exactly; None stays None."""
    return None if instant is None else (instant - EPOCH) // _MICROSECOND


def to_numbers(instants: Sequence[int | None] | np.ndarray) -> np.ndarray:
    """Microseconds as an array, ``NO_TIME`` for None."""
    import numpy as np

    if isinstance(instants, np.ndarray):
        return instants
    return np.array([NO_TIME if one is None else one for one in instants], dtype=np.int64)


def _typed(kind: Kind, values: Sequence[Any] | np.ndarray) -> Any:
    """``values`` as an array of the kind's dtype."""
    import numpy as np
    import pandas as pd

    match kind:
        case "instant":
            found = to_numbers(values)
            milliseconds = np.where(found == NO_TIME, NO_TIME, found // 1000)
            return pd.DatetimeIndex(milliseconds.astype("datetime64[ms]")).tz_localize("UTC")
        case "day":
            return np.array(["NaT" if one is None else one.isoformat() for one in values], dtype="datetime64[ms]")
        case "list":
            lists = np.empty(len(values), dtype=object)
            lists[:] = values
            return lists
        case "number":
            return np.array([np.nan if one is None else one for one in values], dtype=np.float64)
        case "text":
            # The storage is named, so that the frame does not depend on whether pyarrow happens to be installed.
            return pd.array(values, dtype=pd.StringDtype("python"))
        case _:
            return pd.array(values, dtype=DTYPES[kind])
