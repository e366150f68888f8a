"""What the frames about room hold: silence, squeeze, what-if, rotation (UC-004, UC-005)."""

from __future__ import annotations

from selfnote.audit.schema import (
    _CHANNEL,
    _CHARS,
    _IMPORTANCE,
    _LENGTH,
    _SEGMENT,
    _SQUEEZE_PARTS,
    _TAG,
    Column,
    _flag,
    _maybe,
)

_ID = Column("id", "text", "Id of the fact", "事实 id")
_TEXT = Column("text", "text", "The sentence as stored", "原文")
_ENTRY = (
    Column("kind", "text", "fact, note, habit, persona or override", "类别"),
    Column("id", "text", "Id of the entry", "条目 id"),
)
_PRINTED = Column("text", "text", "The text as it would be printed", "将印出的文字")
_HEAT = _maybe("heat", "number", "Heat of a fact", "事实的热度")
_STATE = Column(
    "state",
    "text",
    "active, silent, seen (found by a search only) or never",
    "active 在用、silent 静默、seen 只搜到过、never 从没进过",
)
_SHORT = Column(
    "short",
    "count",
    "needs − left: what is missing; 0 or less where room is not what keeps it out",
    "还差几个字",
    _CHARS,
)
_INSIDE_SEGMENT = _maybe("segment", "text", "The segment it stands in; null when it is out", "所在段；不在则为空")

#: Frame -> its columns, in order.
ROOM: dict[str, tuple[Column, ...]] = {
    # --- silence ----------------------------------------------------------------------------------
    "silence": (
        _ID,
        _TEXT,
        _LENGTH,
        _CHANNEL,
        _TAG,
        _STATE,
        Column(
            "cause",
            "text",
            "absorbed, conflict, in use, unprintable, too long, off, too new, next (goes in next turn), no chance (no "
            "text since), cold (it stood in texts and lost its place), squeezed (always); the first that holds",
            "absorbed 被画像吸收、conflict 有冲突、in use 在用、unprintable 无可读字、too long 太长、off 注入关闭、"
            "too new 太新、next 下回合就进、no chance 其后没有注入、cold 进过又冷了、squeezed 总被挤掉；取第一个成立的",
        ),
        Column(
            "chance",
            "text",
            "used: in use or absorbed; lost: it stood in a text before; none: it never did, so nothing tells whether "
            "it would have been of use",
            "used 在用或被吸收；lost 以前进过；none 从没进过，有没有用无从知道",
        ),
        Column(
            "zombie",
            "yes/no",
            "Approved before the grace period, neither in use nor absorbed nor ever searched, though texts were "
            "injected since",
            "过了宽限期、注入过别的，它却不在用、没被吸收、也没被检索到过",
        ),
        _maybe("segment", "text", "The segment it stands in, or is squeezed from", "所在段，或从哪段被挤出"),
        Column("inside", "yes/no", "Whether it is in the text at this instant", "此刻是否在注入文本里"),
        *_SQUEEZE_PARTS,
        Column(
            "opportunities",
            "count",
            "Texts recorded in the ledger since its approval (a line for each change and each hourly count)",
            "采纳以来账本记下的注入数（每次变化、每次整点计数一行）",
        ),
        Column("since_last", "count", "… of them since it last stood in one", "其中最近一次进去之后的"),
        Column("times_in", "count", "… of them it stood in, or was absorbed by", "其中它在里面（或被吸收）的"),
        Column("times_squeezed", "count", "… of them it had no room in", "其中它没挤进的"),
        _maybe(
            "least_short",
            "count",
            "The fewest characters that were ever missing, of those times",
            "历次里差得最少的一次差几个字",
            _CHARS,
        ),
        Column(
            "squeezed_by",
            "list",
            "Ids of the entries that most often stood in its segment then, most often first; squeezers has all counts",
            "那些时候最常占着该段的条目 id，最常的在先；全部次数见 squeezers",
        ),
        _maybe("squeezed_by_most", "count", "How often the first of them did", "其中第一条占着的次数"),
        Column(
            "last_reasons", "list", "Why it was out the last times, the latest first", "最近几次没进去的原因，新的在先"
        ),
        _IMPORTANCE,
        Column("heat", "number", "Heat at this instant", "此刻热度"),
        Column("injected", "count", "Injections counted: supply, not use", "注入计数（供给，不是使用）"),
        _maybe("last_injected", "instant", "The last of them", "最近一次", "UTC"),
        Column("searched", "count", "Searches of the model that found it", "模型检索到它的次数"),
        _maybe("last_searched", "instant", "The last of them", "最近一次", "UTC"),
        Column("restated", "count", "How often the owner said it again", "主人又说过几次"),
        _maybe("approved_at", "instant", "When the owner approved it", "采纳时间", "UTC"),
        _maybe("age_days", "number", "Days since then", "距今天数", "days"),
        *_flag(),
    ),
    "squeezers": (
        Column("id", "text", "Id of the fact that had no room", "没挤进的事实 id"),
        _SEGMENT._replace(nullable=False),
        Column("by", "text", "Id of an entry that stood in that segment then", "当时占着该段的条目 id"),
        _maybe("by_text", "text", "Its text now; null when it is stored no more", "它现在的文字；已不在则为空"),
        Column("times", "count", "In how many texts", "在多少次注入里"),
        Column("share", "number", "… of those in which the fact had no room there", "占它没挤进的次数之比", "0 to 1"),
    ),
    "next_characters": (
        Column("rank", "count", "Place by the rule of next_characters, from 1", "按 next_characters 的规则排的名次"),
        *_ENTRY,
        _SEGMENT._replace(nullable=False),
        _PRINTED,
        Column("length", "count", "Its length", "长度", _CHARS),
        Column("needs", "count", "What it needs: its length, separator and label", "需要的字数", _CHARS),
        _SHORT,
        Column("reason", "text", "Why it is out", "没进去的原因"),
        _maybe("state", "text", "Attribution state of a fact", "事实的归属状态"),
        _maybe("importance", "number", "Importance a person gave a fact", "人给事实的重要度", "0 to 3"),
        _maybe("searched", "count", "Searches that found the fact: demand", "检索到它的次数（需求）"),
        _maybe("restated", "count", "How often the owner said it again", "主人又说过几次"),
        _HEAT,
        Column(
            "eligible",
            "yes/no",
            "Whether characters are what it lacks: not in conflict, something printable, needs no more than there are",
            "缺的是不是字数：没有冲突、有可读的字、需要的不超过总数",
        ),
        Column(
            "gets", "yes/no", "Whether it gets its characters when they are given out by rank", "按名次发放是否轮到"
        ),
        Column("running", "count", "Characters given out by then", "到此已发出的字数", _CHARS),
        Column(
            "would_get",
            "yes/no",
            "Whether the composer itself would let it in if its segment alone had that many more: it goes by heat",
            "若只给它那一段加这么多字，合成器自己会不会让它进（它按热度）",
        ),
    ),
    # --- squeeze ----------------------------------------------------------------------------------
    "squeezed": (
        _SEGMENT._replace(nullable=False),
        *_ENTRY,
        _PRINTED,
        Column("length", "count", "Its length", "长度", _CHARS),
        *(column._replace(nullable=False) for column in _SQUEEZE_PARTS),
        _SHORT,
        Column("rank", "count", "Place among those squeezed from the segment, from 1", "该段被挤出者中的次序"),
        Column("budget", "count", "Budget of the segment", "该段预算", _CHARS),
        Column("used", "count", "Used of it", "已用", _CHARS),
        _HEAT,
        Column(
            "by_itself",
            "yes/no",
            "Whether it goes in without any change as soon as the facts are chosen afresh; then nothing else is asked",
            "下次重新挑选时它不用改就会进；那就不必再问别的",
        ),
        _maybe(
            "turns",
            "count",
            "Hours of use until it goes in without any change; null: not within those simulated",
            "照用下去几个小时后自己会进；推演期内不进则为空",
            "hours",
        ),
        _maybe("shorten_by", "count", "The fewest characters it must lose to go in", "至少短几个字就进", _CHARS),
        _maybe(
            "raise_by",
            "count",
            "The fewest characters its segment's budget must gain for it to go in",
            "该段预算至少加几个字就进",
            _CHARS,
        ),
        Column("retire", "list", "Ids of single entries whose retirement lets it in", "停用其中任一条它就进的条目 id"),
        Column(
            "replace",
            "list",
            "… of them, those it would simply take the place of: nothing else goes in or out",
            "其中它正好顶替的：别的都不动",
        ),
        Column(
            "holders",
            "list",
            "Ids of entries in the text that would have to go: together with rivals a set none of which may stay",
            "要让它进须离开的在场条目 id；与 rivals 合起来少一条都不行",
        ),
        Column(
            "rivals",
            "list",
            "Ids of squeezed entries that would have to go too, because they would take the room before it",
            "也须离开的被挤条目 id：不然它们先占走",
        ),
    ),
    "remedies": (
        *_ENTRY,
        Column(
            "remedy",
            "text",
            "shorten: its text by n; raise: the budget of segment by n; retire: the entry other",
            "shorten 把它缩短 n 字；raise 给 segment 的预算加 n 字；retire 停用 other",
        ),
        _maybe("segment", "text", "The segment whose budget is raised", "加预算的段"),
        _maybe("n", "count", "By how much; the least that does it", "多少；够用的最小数", _CHARS),
        _maybe("other", "text", "Id of the entry to retire", "要停用的条目 id"),
        _INSIDE_SEGMENT._replace(
            name="enters", meaning="The segment it goes in", meaning_zh="它进哪一段", nullable=False
        ),
        Column("gains", "list", "Ids of what else goes in", "还有谁进来"),
        Column("loses", "list", "Ids of what goes out", "谁出去（不算 other）"),
    ),
    "shadow_price": (
        _SEGMENT._replace(nullable=False),
        Column("step", "count", "Characters added to the segment's budget", "给该段预算加的字数", _CHARS),
        Column("budget", "count", "Its budget then", "加后的预算", _CHARS),
        Column(
            "room", "count", "… of which the 1000 of all segments leave this much", "全部 1000 字许它用到的", _CHARS
        ),
        Column("used", "count", "Used by the segment then", "加后该段用字", _CHARS),
        Column("used_more", "count", "… more than now", "比现在多用", _CHARS),
        Column("total", "count", "Used by the six together then", "加后六段合计用字", _CHARS),
        Column("gained", "list", "Ids of entries that go in, in any segment", "进来的条目 id（任何段）"),
        Column("lost", "list", "Ids of entries that go out, in any segment", "出去的条目 id（任何段）"),
        Column("n_gained", "count", "How many go in", "进来几条"),
        Column("n_lost", "count", "How many go out", "出去几条"),
        Column("heat_gained", "number", "Heat of the facts that go in", "进来的事实热度之和"),
        Column("heat_lost", "number", "Heat of the facts that go out", "出去的事实热度之和"),
        Column(
            "dropped",
            "list",
            "Ids that a smaller step had bought and this one does not: packing is not monotone",
            "更小的一步买到、这一步反而没有的 id：装填并不单调",
        ),
    ),
    # --- what if ----------------------------------------------------------------------------------
    "what_if": (
        *_ENTRY,
        _PRINTED,
        Column("length", "count", "Its length", "长度", _CHARS),
        Column(
            "change",
            "text",
            "in, out, moved, reworded or stays",
            "in 进、out 出、moved 换段、reworded 换措辞、stays 不动",
        ),
        _maybe("segment_before", "text", "Where it stands now; null when it is out", "现在所在段；不在则为空"),
        _maybe("segment_after", "text", "Where it would stand; null when it is out", "之后所在段；不在则为空"),
        _maybe("needs", "count", "What it would need then, if it is out", "之后不在的，需要的字数", _CHARS),
        _maybe("left", "count", "Room left for it then", "之后留给它的字数", _CHARS),
        _maybe("reason", "text", "Why it would be out; null when it is in, or no longer competes", "之后不在的原因"),
        _HEAT,
    ),
    "rank_flips": (
        _ID,
        _TEXT,
        _CHANNEL,
        Column(
            "rank_before",
            "count",
            "Place by heat among the facts approved before and after, from 1",
            "前后都已采纳的事实中的热度名次，从 1 起",
        ),
        Column("rank_after", "count", "Place among them then", "之后的名次"),
        Column("change", "count", "rank_before − rank_after: places gained", "上升了几位"),
        Column("heat_before", "number", "Heat now", "现在的热度"),
        Column("heat_after", "number", "Heat then", "之后的热度"),
        _maybe("segment_before", "text", "Where it stands now; null when it is out", "现在所在段；不在则为空"),
        _maybe("segment_after", "text", "Where it would stand; null when it is out", "之后所在段；不在则为空"),
    ),
    "what_if_chars": (
        _SEGMENT._replace(nullable=False),
        Column("budget_before", "count", "Budget now", "现在的预算", _CHARS),
        Column("budget_after", "count", "Budget then", "之后的预算", _CHARS),
        Column("used_before", "count", "Used now", "现在用字", _CHARS),
        Column("used_after", "count", "Used then", "之后用字", _CHARS),
        Column("change", "count", "used_after − used_before", "用字的变化", _CHARS),
        Column("entries_before", "count", "Entries now", "现在条数"),
        Column("entries_after", "count", "Entries then", "之后条数"),
        Column("squeezed_before", "count", "Squeezed now", "现在被挤出数"),
        Column("squeezed_after", "count", "Squeezed then", "之后被挤出数"),
    ),
    # --- rotation ---------------------------------------------------------------------------------
    "rotation": (
        Column("hour", "count", "Hour of use, from 0", "第几个使用小时，从 0 起"),
        Column("at", "instant", "Its instant", "时刻", "UTC"),
        _ID,
        _CHANNEL,
        _INSIDE_SEGMENT,
        Column("inside", "yes/no", "Whether it is in the text of that hour", "该小时是否在注入里"),
        Column("counted", "yes/no", "Whether its counter grew", "是否计数"),
        Column("hits", "count", "Its counter before that", "此前的注入计数"),
        Column("heat", "number", "Its heat before that", "此前的热度"),
    ),
    "rotation_facts": (
        _ID,
        _TEXT,
        _LENGTH,
        _CHANNEL,
        Column("times_in", "count", "Hours in the text", "在注入里的小时数"),
        Column("share", "number", "… of all hours", "占全部小时之比", "0 to 1"),
        _maybe("first_in", "count", "The first of them; null when never", "第一次进的小时；从不进则为空"),
        Column("longest_out", "count", "Longest run of hours out of the text", "连续不在的最长小时数"),
        _maybe("reason", "text", "Why it is out in the last hour; null when it is in", "最后一小时不在的原因"),
        Column("hits_before", "count", "Its counter at the start", "开始时的注入计数"),
        Column("hits_after", "count", "Its counter at the end", "结束时的注入计数"),
        Column("heat_before", "number", "Its heat at the start", "开始时的热度"),
        Column("heat_after", "number", "Its heat at the end", "结束时的热度"),
    ),
    "rotation_summary": (
        _CHANNEL,
        Column("facts", "count", "Facts that may go in: not in conflict, not absorbed", "可以进的事实数"),
        Column("hours", "count", "Hours simulated", "推演小时数"),
        _maybe("coverage", "number", "Share of the facts in the text at least once", "至少进过一次的占比", "0 to 1"),
        Column("never_in", "list", "Ids of those that never were", "从没进过的 id"),
        _maybe("fewest", "count", "Hours of the one that was in least", "进得最少的小时数"),
        _maybe("most", "count", "Hours of the one that was in most", "进得最多的小时数"),
        _maybe(
            "gini",
            "number",
            "Gini of the hours in the text: 0 all alike, near 1 one has everything",
            "在注入里小时数的基尼系数：0 均等，近 1 独占",
            "0 to 1",
        ),
        _maybe("fair", "yes/no", "Whether that is below the named limit", "是否低于约定的上限"),
        _maybe(
            "incumbents",
            "number",
            "Share of all places held by those in the text in hour 0: 1 is a closed popularity loop",
            "第 0 小时已在场者占去的位置之比：1 即越用越热、别人进不来",
            "0 to 1",
        ),
        _maybe(
            "heat_gap",
            "number",
            "Mean heat of those in hour 0 over that of the others, at the end; null when either is empty",
            "结束时，第 0 小时在场者与其余者平均热度之比",
        ),
    ),
}
