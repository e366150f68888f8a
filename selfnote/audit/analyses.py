"""What the frames of the analyses hold, as `schema` says it of the frames of a memory (UC-003..005)."""

from __future__ import annotations

from selfnote.audit.room_columns import ROOM
from selfnote.audit.schema import _CHANNEL, _CHARS, _LENGTH, _TAG, Column, _maybe

_ID = Column("id", "text", "Id of the fact", "事实 id")
_TEXT = Column("text", "text", "The sentence as stored", "原文")
_FLAG = _maybe("flag", "text", "What is amiss with this row; null when nothing is", "这一行有什么问题；没有则为空")
_GROUPED = (
    _maybe(
        "by", "text", "What the facts are grouped by: tag or channel; null: all together", "分组依据；全部合计则为空"
    ),
    _maybe(
        "group",
        "text",
        "The tag or channel; null for all together, or for facts without a tag",
        "标签或频道；全部合计、或没有标签则为空",
    ),
)
_DAYS = "days"

_STATE_NOW = (
    Column("heat_now", "number", "Heat with the half-life as it is set", "按现行半衰期的热度"),
    Column("rank_now", "count", "Place by that heat among the approved facts, from 1", "按现行半衰期的名次，从 1 起"),
    Column(
        "inside_now",
        "yes/no",
        "Whether it is in a text chosen afresh at this instant with the half-life as it is set",
        "按现行半衰期此刻重新挑选，它在不在注入里",
    ),
)
_STATE_THEN = (
    Column("heat", "number", "Heat with that half-life", "按该半衰期的热度"),
    Column("rank", "count", "Place by that heat among the approved facts, from 1", "按该半衰期的名次，从 1 起"),
    Column("change", "count", "rank_now − rank: places gained", "名次上升了几位"),
    Column("inside", "yes/no", "Whether it would be in the text", "按该半衰期它在不在注入里"),
    _maybe(
        "segment", "text", "The segment it would stand in, or be squeezed from", "按该半衰期所在的段，或从哪段被挤出"
    ),
    _maybe("moves", "text", "enters or leaves the text; null when neither", "enters 进、leaves 出；不变则为空"),
)

#: Analysis -> its columns, in order.
ANALYSES: dict[str, tuple[Column, ...]] = {
    "replay": (
        _maybe("session", "text", "Id of the session", "会话 id"),
        _maybe("turn", "text", "The turn the text was first given in", "首次给出的轮次"),
        _maybe("at", "instant", "From when the prompt held this text", "从何时起提示里是这段文字", "UTC"),
        _maybe("cause", "text", "Why the text changed", "变化原因"),
        Column("digest", "text", "sha256 of the text, by the ledger", "账本记下的文本 sha256"),
        _maybe(
            "rebuilt_digest",
            "text",
            "sha256 of the rebuilt text; null when the records do not give it",
            "重建文本的 sha256；重建不出则为空",
        ),
        _maybe("logged_digest", "text", "sha256 of our text in the harness's log", "宿主日志里我们那段的 sha256"),
        Column(
            "log",
            "text",
            "logged, without our text (a prompt, but none of ours in it), no prompt, no log or unreadable",
            "logged 有；without our text 有提示但没有我们的文字；no prompt 无提示；no log 无日志；unreadable 读不了",
        ),
        Column("status", "text", "equal, differs or cannot know", "equal 一致、differs 不一致、cannot know 无从得知"),
        _maybe(
            "reason",
            "text",
            "What contradicts the others: log, ledger, records, log or ledger, chars, digest (differs)",
            "谁与别的对不上：log、ledger、records、log or ledger、chars、digest（不一致时）",
        ),
        _maybe(
            "differs_at",
            "count",
            "Where the logged text parts from the rebuilt one, from 0",
            "日志里的文字从第几个字起不同，从 0 起",
            _CHARS,
        ),
        Column(
            "missing",
            "list",
            "What stands nowhere, or may have been another: segments and ids",
            "哪里都没有、或可能已不同的部分：段与 id",
        ),
        Column("why", "text", "The status and what is missing, in sentences", "用主人的语言说的结论与缘由"),
        Column("settings", "list", "Settings then that are others today", "当时与现在不同的设置"),
        Column("n_squeezed", "count", "Entries that found no place", "没挤进的条数"),
        _maybe("line", "count", "Number of the ledger line in its file, from 1", "账本行号，从 1 起"),
        _FLAG,
    ),
    "churn": (
        _maybe("session", "text", "Id of the session", "会话 id"),
        _maybe("turn", "text", "The turn from which on the text was another", "从哪一轮起文字不同"),
        _maybe("at", "instant", "When it changed", "变化时间", "UTC"),
        _maybe("cause", "text", "Why: edit, config, refill, date, rotation, start", "原因"),
        Column(
            "basis",
            "text",
            "What the numbers are from: logged, rebuilt, logged and rebuilt (both texts known), or segments (the "
            "ledger's ids and lengths only)",
            "数字由何而来：两段文字（logged、rebuilt、logged and rebuilt），或只有账本的 id 与字数（segments）",
        ),
        _maybe("chars", "count", "Length of the new text; null when not known", "新文字的长度；不明则为空", _CHARS),
        _maybe("used", "count", "Used by its six segments together, by the ledger", "六段合计用字（账本）", _CHARS),
        _maybe(
            "first_changed",
            "count",
            "Where the new text parts from the old one, from 0; null when either is not known",
            "从第几个字起与旧文字不同，从 0 起；任一不明则为空",
            _CHARS,
        ),
        _maybe("first_share", "number", "first_changed / chars: what a cache keeps", "缓存保得住的占比", "0 to 1"),
        _maybe(
            "resent",
            "count",
            "From there to the end of our text: what a prefix cache reads again of it; with basis segments what the "
            "first changed segment and those below it use; null when no segment tells a change",
            "从那里到我们文字末尾的字数，缓存要重读；basis 为 segments 时是最先变的段及其下各段的用字；看不出则为空",
            _CHARS,
        ),
        _maybe("minutes", "number", "Minutes since the text before began", "旧文字用了几分钟", "minutes"),
        Column(
            "segments",
            "list",
            "Segments whose part is another, as far as can be told; framing for header, hint and other fixed lines",
            "不同的段（能看出的）；framing 指页眉、提示等固定行",
        ),
        _maybe("line", "count", "Number of the ledger line in its file, from 1", "账本行号，从 1 起"),
        _FLAG,
    ),
    "churn_sessions": (
        _maybe("session", "text", "Id of the session", "会话 id"),
        Column("turns", "count", "Turns of the session", "轮数"),
        Column(
            "turns_from",
            "text",
            "log: counted in the session's log; ledger: the highest turn the ledger names, at least so many",
            "log 日志里数的；ledger 账本里最大的轮次，至少这么多",
        ),
        Column("texts", "count", "Distinct texts", "不同的文字数"),
        Column("changes", "count", "Changes of the text after its first", "首段文字之后的变化次数"),
        _maybe("per_100_turns", "number", "Changes per 100 turns", "每百轮的变化次数"),
        Column("edit", "count", "Changes by an edit", "因改动"),
        Column("config", "count", "Changes by a setting", "因设置"),
        Column("refill", "count", "Changes by a refill after a compaction", "因压缩后补回"),
        Column("date", "count", "Changes by a new day", "因过了一天"),
        Column("rotation", "count", "Changes by the hour", "因整点轮换"),
        Column("other", "count", "Changes with another cause, or none told", "其他或未写明原因"),
        _maybe(
            "first_share",
            "number",
            "Mean of first_share over the changes it is known of",
            "已知各次 first_share 的平均",
            "0 to 1",
        ),
        Column("resent", "count", "Sum of resent over the changes it is known of", "已知各次 resent 之和", _CHARS),
        Column("unknown", "count", "Changes of which it is not known", "resent 不明的次数"),
    ),
    "curves": (
        _ID,
        Column("at", "instant", "The instant looked at", "时刻", "UTC"),
        _maybe("hits", "count", "Injections counted by then; null where unknown", "到那时的注入计数；不明则为空"),
        Column("importance", "number", "Importance by then", "当时的重要度", "0 to 3"),
        _maybe("heat", "number", "Heat at that instant; null where unknown", "当时的热度；不明则为空"),
        Column(
            "hit",
            "yes/no",
            "Whether this is the instant just after a hit; the row before it is the instant just before",
            "是否为一次注入之后的一刻；前一行是之前的一刻",
        ),
        Column("approved", "yes/no", "Whether it was approved by then", "当时是否已采纳"),
        Column(
            "origin",
            "text",
            "ledger: every hit so far stands in the ledger; counter: those the ledger lacks are taken to be older than "
            "the first one whose time is known; unknown: before that one; projection: after now, without further hits",
            "ledger：每次注入账本都有；counter：账本缺的注入当作早于首次有时间的那次；unknown：更早，不明；"
            "projection：此刻之后，假定不再注入",
        ),
        _FLAG,
    ),
    "group_curves": (
        Column("by", "text", "What the facts are grouped by: tag, channel or segment", "分组依据"),
        _maybe(
            "group",
            "text",
            "The tag, channel or segment; null without a tag; out for a fact outside the text",
            "标签、频道或段；没有标签则为空；不在注入里为 out",
        ),
        Column("at", "instant", "The instant looked at", "时刻", "UTC"),
        Column("n", "count", "Facts approved by then whose heat is known", "当时已采纳且热度可知的事实数"),
        Column("unknown", "count", "Facts approved by then whose heat is not known", "当时已采纳但热度不明的事实数"),
        Column("total", "number", "Sum of their heat", "热度之和"),
        _maybe("median", "number", "Median of their heat", "热度中位数"),
        Column("projection", "yes/no", "Whether it lies after now", "是否在此刻之后"),
    ),
    "leaving": (
        Column(
            "scenario",
            "text",
            "idle: nobody talks to the agent until then; continued: turns go on at the pace of late, each hit counted",
            "idle：在那之前没有人说话；continued：照近来的节奏继续，每次注入照常计数",
        ),
        _maybe("per_day", "number", "Counting hours a day assumed (continued)", "假定每天计数几次（continued）"),
        Column("segment", "text", "The segment it first stands in", "最先所在的段"),
        Column("kind", "text", "fact, note, habit, persona or override", "类别"),
        Column("id", "text", "Id of the entry", "条目 id"),
        Column("text", "text", "The text as printed", "印出的文字"),
        Column("inside_now", "yes/no", "Whether it is in the text now", "此刻是否在注入里"),
        _maybe("enters_at", "instant", "When it first enters, if it is outside now", "此刻不在的，何时首次进入", "UTC"),
        _maybe(
            "leaves_at",
            "instant",
            "When it first leaves; null: not in this time",
            "何时首次离开；期内不离开则为空",
            "UTC",
        ),
        _maybe("in_days", "number", "Days from now to leaves_at", "几天后离开", _DAYS),
        _maybe(
            "reason",
            "text",
            "Why it is out then: expired, or the reason of the squeeze",
            "为何离开：expired 过期，或被挤出的原因",
        ),
        Column("by", "list", "Ids of what entered its segment at that instant", "同一时刻进入该段的条目 id"),
        _maybe("returns_at", "instant", "When it is in the text again after that", "之后何时再回来", "UTC"),
        Column("share", "number", "Share of the time in which it is in the text", "在注入里的时间占比", "0 to 1"),
        Column("until", "instant", "End of the time looked at", "推演到何时", "UTC"),
    ),
    "sweep": (
        _ID,
        _TEXT,
        _CHANNEL,
        _TAG,
        Column("half_life", "number", "Half-life supposed", "假定的半衰期", _DAYS),
        Column("current", "yes/no", "Whether it is the one that is set", "是否为现行设置"),
        *_STATE_THEN,
        *_STATE_NOW,
    ),
    "by_tag": (
        _ID,
        _TEXT,
        _CHANNEL,
        _TAG,
        Column("half_life", "number", "Half-life supposed for this fact", "为这条假定的半衰期", _DAYS),
        Column("changed", "yes/no", "Whether that is another than the one set", "是否与现行设置不同"),
        *_STATE_THEN,
        *_STATE_NOW,
    ),
    "demand": (
        _ID,
        _maybe("at", "instant", "When", "时间", "UTC"),
        Column(
            "kind",
            "text",
            "search: the model searched and found it; restated: the owner said it again; correction: the owner "
            "corrected the agent in its words. An injection is exposure, never demand",
            "search 模型检索到它；restated 主人又说了一遍；correction 主人的纠偏说的就是它。注入是曝光，不算需求",
        ),
        Column("count", "count", "How often: more than 1 only where but a counter tells", "几次；只有计数时可大于 1"),
        _maybe("session", "text", "Id of the session", "会话 id"),
        _maybe("seq", "count", "Number of the event in its session", "事件在会话中的序号"),
        _maybe("correction", "text", "Id of the correction", "纠偏 id"),
        _maybe("score", "number", "How alike the words are, 0 to 100 (correction)", "有多像，0 到 100（纠偏）"),
        Column(
            "origin", "text", "ledger, log, record or counter: what tells of it", "由什么得知：账本、日志、记录、计数"
        ),
        _maybe(
            "flag",
            "text",
            "Why it is not taken into account by spells; null when it is",
            "为何不计入 spells；计入则为空",
        ),
    ),
    "spells": (
        _ID,
        _CHANNEL,
        _TAG,
        Column(
            "start", "instant", "Approval, the beginning of the ledger, or a demand", "采纳、账本开始或一次需求", "UTC"
        ),
        Column("end", "instant", "The next demand, retirement or now", "下一次需求、停用或此刻", "UTC"),
        Column("days", "number", "From start to end", "起止天数", _DAYS),
        Column(
            "observed", "yes/no", "Whether a demand ended it; else it is right-censored", "是否以需求告终；否则为右删失"
        ),
        _maybe("kind", "text", "Kind of that demand", "那次需求的类别"),
    ),
    "survival": (
        *_GROUPED,
        Column("time_days", "number", "Days since approval or the last demand", "距采纳或上次需求的天数", _DAYS),
        Column("survival", "number", "Share not yet demanded again (Kaplan-Meier)", "尚未再被需要的占比", "0 to 1"),
        _maybe("low", "number", "Lower end of its 95 % band; null where undefined", "95% 带下沿；无定义则为空"),
        _maybe("high", "number", "Upper end of its 95 % band", "95% 带上沿；无定义则为空"),
        Column("at_risk", "count", "Spells at least as long", "至少这么长的段数"),
        Column("events", "count", "Spells that end in a demand just then", "恰在此时以需求告终的段数"),
        Column("n_spells", "count", "Spells of the group", "该组的段数"),
        Column("n_events", "count", "… that ended in a demand", "……以需求告终的段数"),
        _maybe("flag", "text", "Says so when there is not enough data", "数据不够时说明"),
    ),
    "fit": (
        *_GROUPED,
        Column("n_facts", "count", "Facts of the group", "该组事实数"),
        Column("n_spells", "count", "Their spells", "段数"),
        Column("n_events", "count", "Spells that ended in a demand", "以需求告终的段数"),
        Column("exposure_days", "number", "Length of all spells together", "各段总长", _DAYS),
        _maybe(
            "half_life",
            "number",
            "Days in which half is demanded again: ln 2 × exposure / events",
            "测得的半衰期",
            _DAYS,
        ),
        _maybe("low", "number", "Lower end of its interval", "区间下沿", _DAYS),
        _maybe("high", "number", "Upper end of its interval", "区间上沿", _DAYS),
        Column("level", "number", "Level of the interval", "置信水平", "0 to 1"),
        _maybe(
            "dispersion",
            "number",
            "Spread of the facts' counts over that of one common rate: far above 1, the facts differ and the interval "
            "is too narrow",
            "各事实次数的离散与同一速率下应有离散之比；远大于 1 说明事实间差别大，区间偏窄",
        ),
        Column("configured", "number", "Half-life as it is set", "现行半衰期", _DAYS),
        _maybe(
            "flag",
            "text",
            "Says so when there is not enough data; then nothing is fitted",
            "数据不够时说明，此时不拟合",
        ),
    ),
    "rule_effects": (
        Column("fingerprint", "text", "Fingerprint of the rule's line", "规则行的指纹"),
        _maybe("rule", "text", "The line of L1; null when it is there no more", "规则原文；已不在人格里则为空"),
        _maybe("saved_at", "instant", "When it was saved with its evidence", "连同证据保存的时间", "UTC"),
        Column("made_from", "list", "Ids of the corrections it was made from", "所据纠偏的 id"),
        Column(
            "counted",
            "count",
            "Corrections counted against it as they were heard (persona.evidence.json)",
            "听到时记在它名下的纠偏数",
        ),
        Column(
            "before",
            "count",
            "Corrections of the same thing before it, in logs that are here",
            "保存前同一件事的纠偏数（日志仍在的）",
        ),
        Column("after", "count", "… after it", "……保存后"),
        Column("before_ids", "list", "Their ids", "它们的 id"),
        Column("after_ids", "list", "Their ids", "它们的 id"),
        Column(
            "unlogged",
            "count",
            "… in sessions whose log is gone: in neither count",
            "日志已不在、未计入的同一件事的纠偏数",
        ),
        Column(
            "messages_before",
            "count",
            "Messages of the owner before it, in logs that are here",
            "保存前主人的消息数（日志仍在的）",
        ),
        Column("messages_after", "count", "… after it", "……保存后"),
        _maybe("rate_before", "number", "before per 100 of those messages", "每百条消息的纠偏数，保存前"),
        _maybe("rate_after", "number", "after per 100 of those messages", "每百条消息的纠偏数，保存后"),
        _maybe("ratio", "number", "rate_after / rate_before", "后与前之比"),
        _maybe("low", "number", "Lower end of its exact 95 % interval", "精确 95% 区间下沿"),
        _maybe("high", "number", "Upper end; null for no bound", "上沿；无上界则为空"),
        Column(
            "verdict",
            "text",
            "fewer, more, unclear, too few (not enough data), or no evidence (it was made from no correction)",
            "fewer 变少、more 变多、unclear 看不出、too few 数据不够、no evidence 没有所据纠偏",
        ),
        Column(
            "sentence", "text", "The verdict in the owner's language, with its counts", "用主人的语言说的结论，带计数"
        ),
    ),
    "pairs": (
        Column("id", "text", "Id of the one", "其一的 id"),
        Column("other", "text", "Id of the other", "另一的 id"),
        Column("kind", "text", "fact or note", "类别"),
        Column("other_kind", "text", "fact or note", "另一的类别"),
        Column("status", "text", "approved or candidate of a fact, tier of a note", "事实的状态或自述的层级"),
        Column("other_status", "text", "… of the other", "另一的"),
        Column("text", "text", "The one as stored", "其一原文"),
        Column("other_text", "text", "The other as stored", "另一原文"),
        Column("relation", "text", "same, near or conflict", "same 相同、near 近似、conflict 冲突"),
        Column("rule", "text", "By which rule", "依据"),
        Column("score", "number", "How alike, 0 to 100", "有多像，0 到 100"),
        _maybe(
            "linked", "text", "near or conflict as a stored link says; null without one", "已存链接的类别；没有则为空"
        ),
        _maybe(
            "resolved",
            "text",
            "How the owner resolved that link; null while open",
            "主人如何处理了该链接；未处理则为空",
        ),
        _maybe(
            "cluster",
            "count",
            "Number of their cluster in clusters; null for a conflict",
            "clusters 中的簇号；冲突则为空",
        ),
    ),
    "clusters": (
        Column("cluster", "count", "Number of the cluster, from 0", "簇号，从 0 起"),
        Column("size", "count", "Entries that say the same or nearly so", "说同一件事的条数"),
        Column("ids", "list", "Their ids, the one to keep first", "它们的 id，留下的在先"),
        Column("keep", "text", "Id of the one to keep", "留下哪条"),
        Column("text", "text", "What it says", "它说的"),
        Column("inside", "count", "How many of them are in the text now", "此刻在注入里的条数"),
        Column("stored", "count", "Length of all but the one kept", "其余各条的长度", _CHARS),
        Column(
            "wasted",
            "count",
            "What retiring all but one frees in the text now, separators and labels included",
            "只留一条在此刻的注入里能腾出的字数（含分隔与标签）",
            _CHARS,
        ),
        Column("entering", "list", "Ids of what would then come in", "腾出后会进来的条目 id"),
    ),
    "conflicts": (
        Column("id", "text", "Id of the one", "其一的 id"),
        Column("other", "text", "Id of the other", "另一的 id"),
        Column("status", "text", "approved or candidate", "状态"),
        Column("other_status", "text", "approved or candidate", "另一的状态"),
        Column("text", "text", "The one as stored", "其一原文"),
        Column("other_text", "text", "The other as stored", "另一原文"),
        _maybe("rule", "text", "By which rule they were linked", "链接的依据"),
        _maybe("score", "number", "How alike, 0 to 100", "有多像，0 到 100"),
        Column(
            "holds",
            "yes/no",
            "Whether it keeps both out of the text: both are approved",
            "是否使两条都不进注入（两条都已采纳）",
        ),
        Column(
            "if_only_this",
            "count",
            "Code points of the one in the text if the other were retired",
            "停用另一条后，这条在注入里的字数",
            _CHARS,
        ),
        Column(
            "if_only_other",
            "count",
            "Code points of the other in the text if the one were retired",
            "停用这条后，另一条在注入里的字数",
            _CHARS,
        ),
        Column(
            "held",
            "count",
            "Code points of both in the text if the owner resolved the link",
            "处理该链接后，两条在注入里的字数",
            _CHARS,
        ),
    ),
    "origins": (
        _ID,
        _TEXT,
        Column("status", "text", "candidate, approved or retired", "状态"),
        _CHANNEL,
        _maybe("source", "text", "Where it was first said", "首个来源"),
        Column(
            "origin",
            "text",
            "session: the working directory is known; session gone: neither log nor ledger tells it; import; owner; "
            "unknown",
            "session 目录可知；session gone 日志和账本都没有；import 导入；owner 主人所写；unknown 不明",
        ),
        Column("origin_cwds", "list", "Working directories of the sessions it was said in", "说它的会话的工作目录"),
        _maybe(
            "cwd", "text", "A working directory it was injected in; null when in none", "注入过的工作目录；没有则为空"
        ),
        Column("injections", "count", "Ledger lines there whose text held it", "那里有它的账本行数"),
        Column("sessions", "count", "Sessions there whose text held it", "那里有它的会话数"),
        Column("counted", "count", "… of those lines that raised its counter", "其中计数的行数"),
        _maybe("first_at", "instant", "The first of them", "首次", "UTC"),
        _maybe("last_at", "instant", "The last of them", "最近一次", "UTC"),
        _maybe(
            "foreign",
            "yes/no",
            "Whether that is a directory it was not said in; null when either is not known",
            "是否不是说它的目录；任一不明则为空",
        ),
    ),
    "review": (
        _ID,
        _TEXT,
        _LENGTH,
        _CHANNEL,
        _TAG,
        Column("state", "text", "active, silent, seen or never, as in attribution", "状态，同 attribution"),
        Column("inside", "yes/no", "Whether it is in the text now", "此刻是否在注入里"),
        Column("approved_at", "instant", "When the owner approved it", "采纳时间", "UTC"),
        Column("age_days", "number", "Days since then", "距今天数", _DAYS),
        Column(
            "confirmed_at",
            "instant",
            "The last sign from the owner that it holds: approval, a restatement, a correction in its words, a change "
            "of its importance, tags or detail",
            "主人最近一次表示它还成立：采纳、重说、说的就是它的纠偏、改重要度或标签或补充",
            "UTC",
        ),
        Column("confirmed_by", "text", "approval, restated, correction or change", "由什么表示"),
        Column("unconfirmed_days", "number", "Days since then", "距今天数", _DAYS),
        _maybe(
            "last_hit",
            "instant",
            "The last injection counted: no confirmation",
            "最近一次计入的注入（不算确认）",
            "UTC",
        ),
        _maybe(
            "last_seen", "instant", "The last search counted: no confirmation", "最近一次计入的检索（不算确认）", "UTC"
        ),
        Column("question", "text", "What to ask the owner", "问主人的话"),
    ),
    **ROOM,
}
