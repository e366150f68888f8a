"""What the demo owner said, decided and did, in the order of his own clock: data for ``build_demo_home.py``.

The owner is invented: 阿澄 (Sam in English repositories), a back-end developer who keeps a small note index called 拾页
and an English command-line tool called tidemark. Times are his, ``MM-DD HH:MM`` in 2026, Asia/Shanghai.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

#: Name here -> (session id, local time the log is moved to). A child moves with its parent.
LOGS: dict[str, tuple[str, str]] = {
    "zh": ("session-aaaaaaaa-0001-4000-8000-000000000001", "08-24 10:20"),
    "en": ("session-bbbbbbbb-0002-4000-8000-000000000002", "09-03 15:10"),
    "tools": ("session-cccccccc-0003-4000-8000-000000000003", "09-15 09:40"),
    "agents": ("session-dddddddd-0004-4000-8000-000000000004", "10-09 14:05"),
    "compact": ("session-eeeeeeee-0005-4000-8000-000000000005", "10-16 11:00"),
    "plain": ("session-ffffffff-0006-4000-8000-000000000006", "10-27 20:15"),
    "story": ("session-12121212-0007-4000-8000-000000000007", "11-05 16:30"),
    "killed": ("session-34343434-0008-4000-8000-000000000008", "11-20 10:05"),
}
#: A session that no log has: the source of exactly one fact.
MISSING_SESSION = "session-5e0c1a77-00aa-4000-8000-0000000000ad"

Channel = Literal["rel", "env"]
Reason = Literal["convention", "prohibition", "preference", "correction"]


@dataclass(frozen=True)
class PlannedFact:
    """One fact: when it was kept, from where, and when the owner approved it (None: another act decides)."""

    key: str
    staged: str
    source: str
    text: str
    tags: tuple[str, ...] = ()
    approved: str | None = None
    channel: Channel = "rel"
    reason: Reason | None = None
    detail: str | None = None
    capture: str | None = None


@dataclass(frozen=True)
class Act:
    """One act of the owner or the agent: a verb of ``build_demo_home.py`` and what it needs."""

    at: str
    verb: str
    values: tuple[Any, ...] = field(default=())


def _rel(  # noqa: PLR0917 - a row of the table below
    key: str, staged: str, source: str, text: str, tags: str, approved: str | None, reason: Reason | None
) -> PlannedFact:
    capture = "listener" if "#" in source and not source.startswith("import:") else None
    capture = "imported-mnemon" if source.startswith("import:") else capture
    return PlannedFact(key, staged, source, text, tuple(tags.split()), approved, "rel", reason, None, capture)


def _env(  # noqa: PLR0917 - a row of the table below
    key: str, staged: str, source: str, text: str, approved: str | None, detail: str | None = None, tags: str = "环境"
) -> PlannedFact:
    capture = "listener" if "#" in source and not source.startswith("import:") else None
    capture = "imported-mnemon" if source.startswith("import:") else capture
    return PlannedFact(key, staged, source, text, tuple(tags.split()), approved, "env", None, detail, capture)


# A table reads by its rows.
# fmt: off
FACTS: tuple[PlannedFact, ...] = (
    # --- the first session, and what its owner made of it the same day --------------------------------
    _rel("conclusion", "08-24 10:41", "zh#43", "以后回答先给结论，细节等我问", "沟通", "08-24 12:10", "convention"),
    _rel("no-table", "08-24 10:41", "zh#58", "不要用表格", "风格", "08-24 12:10", "prohibition"),
    _env("python", "08-24 10:42", "zh#72", "应该是 Python 3.11，不是 3.9", "08-24 12:11", "改正于第一天：解释器是 3.11，老镜像里的 3.9 不再用。", "工具"),
    _rel("light-tone", "08-24 10:42", "zh#96", "我更喜欢简洁一点，语气轻松些", "风格", "08-24 12:11", "preference"),
    _rel("chinese", "08-24 10:42", "zh#111", "请用中文回答，代码注释也用中文", "语言", "08-24 12:12", "convention"),
    _env("notes-dir", "08-24 10:43", "zh#126", "我的项目目录在 ~/work/notes，测试命令是 pytest -q", "08-24 12:12", None, "工具"),
    _rel("no-late-nights", "08-24 10:43", "zh#147", "我以后再也不熬夜了", "", None, "preference"),
    _rel("all-english", "08-24 10:43", "zh#161", "以后都用英文", "语言", None, "convention"),
    _rel("logs-in-code", "08-24 10:44", "zh#175", "以后不要删日志", "流程", None, "prohibition"),
    _rel("tests-first", "08-24 10:44", "zh#196", "应该是先跑测试再提交", "流程", "08-24 12:13", "correction"),
    _rel("code-fences", "08-24 10:46", "zh#227", "以后代码块都标语言", "代码", "08-24 12:13", "convention"),
    # --- two days later: what an older memory plugin had kept -----------------------------------------
    _rel("backend", "08-26 20:05", "import:USER.md#3", "他以写后端为主，前端只碰自己的小工具", "背景", "08-26 20:31", None),
    _rel("hours", "08-26 20:05", "import:USER.md#4", "他在成都，一般上午九点半开工", "背景", "08-26 20:31", None),
    _rel("two-options", "08-26 20:05", "import:USER.md#6", "方案最多给两个，说清推荐哪个", "沟通", "08-26 20:32", "convention"),
    _rel("raw-errors", "08-26 20:05", "import:USER.md#7", "报错信息要原样贴出来，别转述", "沟通", "08-26 20:32", "convention"),
    _rel("full-names", "08-26 20:05", "import:USER.md#9", "变量名用完整的英文单词，不用缩写", "代码", "08-26 20:33", "convention"),
    _rel("standard-library", "08-26 20:05", "import:USER.md#10", "能用标准库解决就别加新依赖", "代码", "08-26 20:33", "convention"),
    _rel("file-list", "08-26 20:05", "import:USER.md#12", "动手之前告诉他要改哪几个文件", "流程", "08-26 20:34", "convention"),
    _rel("no-friday-release", "08-26 20:05", "import:USER.md#13", "周五晚上不发版", "流程", "08-26 20:34", "prohibition"),
    _rel("call-acheng", "08-26 20:05", "import:USER.md#15", "称呼他阿澄就好，别叫老师", "称呼", "08-26 20:35", "preference"),
    _rel("one-line-commands", "08-26 20:05", "import:USER.md#16", "长命令写成可以直接复制的一行", "沟通", "08-26 20:35", "preference"),
    _rel("spacing", "08-26 20:05", "import:USER.md#18", "数字用半角，中英文之间留一个空格", "风格", "08-26 20:36", "convention"),
    _rel("dates", "08-26 20:05", "import:USER.md#19", "文档里的日期写年月日，星期几可以省掉", "风格", "08-28 18:20", "convention"),
    _rel("no-video", "08-26 20:05", "import:USER.md#21", "学东西只看文字，视频教程就别推荐了", "偏好", "08-28 18:20", "preference"),
    _rel("design-doc", "08-26 20:05", "import:USER.md#23", "写设计文档时他希望先有一段不超过五行的摘要，然后是取舍：考虑过哪些做法、各自的代价、为什么没选；实现细节放在最后，图可以没有，但每个决定后面要写清是谁在什么时候定的，往后翻旧账用得上", "文档", "08-28 18:22", "convention"),
    _rel("red-marks", "08-26 20:06", "import:USER.md#25", "重点用红色标出来", "风格", None, None),
    _rel("morning-digest", "08-26 20:06", "import:USER.md#26", "每天一早给他一份待办摘要", "流程", "08-28 18:23", None),
    _rel("english-comments", "08-26 20:06", "import:USER.md#28", "注释写英文，方便外包看", "代码", None, None),
    _rel("pomodoro", "08-26 20:06", "import:USER.md#29", "他在做一个番茄钟小程序", "背景", "08-28 18:23", None),
    _rel("emoji-endings", "08-26 20:06", "import:USER.md#30", "回答结尾可以带一个表情", "风格", "08-28 18:24", "preference"),
    _env("desktop", "08-26 20:07", "import:MEMORY.md#2", "台式机是 Debian 12，16 核、64 GB 内存", "08-26 20:40", "MEMORY.md 原文：主力机器放在书房，Debian 12，十六核，六十四 G 内存，编译和索引都在它上面跑，笔记本只用来开会和出差。"),
    _env("npm", "08-26 20:07", "import:MEMORY.md#4", "tidemark 的依赖用 npm 装", "08-26 20:40", "MEMORY.md 原文：英文仓库装依赖直接 npm ci。"),
    _env("database", "08-26 20:07", "import:MEMORY.md#6", "拾页的数据库文件在 ~/work/notes/var/shiye.db", "08-26 20:41", "MEMORY.md 原文：拾页只有一个 SQLite 文件，放在 ~/work/notes/var/shiye.db，索引另放一个目录，可以随时删掉重建。"),
    _env("postgres-old", "08-26 20:07", "import:MEMORY.md#8", "本机 Postgres 监听 5432 端口", "08-26 20:41", "MEMORY.md 原文：对账脚本要连的 Postgres 装在本机，默认端口 5432。"),
    _env("node-desktop", "08-26 20:07", "import:MEMORY.md#10", "在台式机上跑 tidemark 固定用 Node 22", "08-26 20:42", "MEMORY.md 原文：台式机的 Node 由 fnm 管，tidemark 目录里写死 22。"),
    _env("public-ci", "08-26 20:07", "import:MEMORY.md#12", "CI 用公共的 runner，排队很久", "08-26 20:42", "MEMORY.md 原文：流水线跑在公共 runner 上，上午十点前后排队最久。"),
    _env("git-proxy", "08-26 20:07", "import:MEMORY.md#14", "代理只给 git 用，地址写在 ~/.gitconfig 里", "08-28 18:30", "MEMORY.md 原文：终端里没有全局代理，只有 git 走代理，配置在 ~/.gitconfig。"),
    _env("usb-backup", "08-26 20:07", "import:MEMORY.md#16", "备份在移动硬盘 /mnt/usb 上", "08-28 18:30", "MEMORY.md 原文：每周手工把 var 目录拷到移动硬盘。"),
    _env("index-unit", "08-26 20:07", "import:MEMORY.md#18", "后台索引由 systemd 用户单元 shiye-index.service 拉起", "08-28 18:31", "MEMORY.md 原文：索引服务是用户级的 systemd 单元，看日志用 journalctl --user -u shiye-index。"),
    _env("migrate", "08-26 20:07", "import:MEMORY.md#20", "改完表结构要跑 make migrate，再重启索引服务", "08-28 18:31", "MEMORY.md 原文：迁移脚本在 db/migrations，跑完 make migrate 之后索引服务要重启，否则还拿着旧连接。"),
    _env("windows-laptop", "08-26 20:08", "import:MEMORY.md#22", "笔记本装的是 Windows 11", None, "MEMORY.md 原文：出差用的笔记本预装 Windows 11。"),
    _env("printer", "08-26 20:08", "import:MEMORY.md#24", "打印机要进虚拟机才用得了", "08-28 18:32", "MEMORY.md 原文：打印机驱动只有 Windows 版，装在虚拟机里。"),
    # --- September: the English repository, the first corrections ---------------------------------------
    _rel("review-order", "08-31 19:02", "owner:notebook", "评审意见按严重程度排，会出错的放最前", "沟通", "08-31 19:02", "convention"),
    _rel("test-names", "08-31 19:04", "owner:notebook", "测试的名字写成一句完整的规则", "代码", "08-31 19:04", "convention"),
    _rel("pytest-x", "08-31 19:05", "owner:notebook", "本地跑测试用 pytest -x", "流程", "08-31 19:05", "convention"),
    _rel("english-first", "09-03 15:31", "en#53", "give me the conclusion first and keep it short", "沟通", "09-03 19:20", "convention"),
    _rel("no-emojis", "09-03 15:31", "en#74", "Please don't use tables or emojis", "风格", "09-03 19:20", "prohibition"),
    _env("pnpm", "09-03 15:31", "en#92", "It should be pnpm, not npm", None, "Corrected while looking at the ENOENT failure in proj-en: the lock file there is pnpm-lock.yaml.", "工具"),
    _rel("british", "09-03 15:32", "en#111", "I prefer British spelling", "语言", "09-03 19:21", "preference"),
    _env("tuesdays", "09-03 15:32", "en#127", "production deploys happen on Tuesdays only", "09-03 19:22", None, "流程"),
    _rel("french", "09-03 15:32", "en#147", "always answer in French", "语言", None, "convention"),
    _rel("sam", "09-03 15:33", "en#160", "Call me Sam", "称呼", "09-03 19:22", "preference"),
    _env("flags", "09-04 17:45", "owner:cli", "Feature flags of proj-en live in config/flags.yaml", "09-04 17:46", "Flags are read once at start; flipping one needs a restart of the worker."),
    _env("squash", "09-04 17:48", "owner:cli", "proj-en squashes on merge, so branch history is disposable", "09-04 17:48"),
    _rel("meeting-ten", "09-08 18:10", "owner:notebook", "组里的例会定在周三 10:00", "流程", "09-08 18:10", None),
    _rel("japanese", "09-08 18:12", "owner:notebook", "他在学日语，偶尔可以用一句日语打招呼", "语言", "09-08 18:13", "preference"),
    _env("own-ci", "09-09 19:30", "owner:panel", "CI 跑在自建的 runner 上，标签是 owner-linux", None, "换到自建 runner 之后不用排队，缓存目录在 /srv/runner/cache，满了要手工清。"),
    _env("release-script", "09-10 18:40", "owner:panel", "发布走 ~/work/notes/tools/release.sh：它会检查工作区是否干净，接着打标签、推标签、等流水线变绿，再把安装包拷到 /srv/shiye/releases 并切换 current 软链接；中途失败可以重跑，只有切换软链接那一步不能重入，失败时把 current 手工指回上一个版本", "09-10 18:41", "从 release.sh 的注释整理；第一次发布失败过一次，就是软链接那步。"),
    _env("backup-disk", "09-11 18:05", "owner:notebook", "备份盘每晚 02:30 挂载到 /mnt/backup", None, "restic 备份，保留七天的日备和四周的周备。"),
    _rel("three-sentences", "09-15 10:02", "tools#117", "以后总结不要超过三句话", "沟通", "09-15 18:30", "convention"),
    _rel("plugin-english", "09-15 10:02", "tools#116", "以后都要用英文回答", "语言", None, "convention"),
    _rel("rename-commit", "09-15 18:33", "owner:notebook", "重命名和改逻辑分成两个提交", "代码", "09-15 18:33", "convention"),
    _env("staging", "09-17 16:20", "owner:cli", "The staging box mirrors production every Sunday night", "09-17 16:21", "Data is scrubbed on the way; accounts there have random names."),
    _rel("intervals", "09-18 19:10", "owner:notebook", "估时给区间，别给单点", "沟通", "09-18 19:10", "convention"),
    _env("slow-tests", "09-21 18:00", "owner:notebook", "慢用例标了 slow，平时用 -m 'not slow' 跳过", "09-21 18:01", "全量跑一遍要十一分钟，跳过慢用例之后四十秒。", "工具"),
    _rel("make-test", "09-22 18:40", "owner:notebook", "跑测试统一走 make test", "流程", None, "convention"),
    _rel("measure", "09-23 19:12", "owner:notebook", "谈性能要拿数据，别凭感觉猜", "流程", "09-23 19:12", "convention"),
    _rel("minutes-table", "09-24 18:30", "owner:panel", "例会纪要排成表格发群里", "流程", "09-24 18:30", None),
    _env("log-days", "09-25 18:15", "owner:notebook", "日志按天切分，保留 30 天，在 ~/work/notes/var/log", "09-25 18:15", "logrotate 管，压缩后一天大约四兆。"),
    _rel("sql-style", "09-28 18:50", "owner:notebook", "SQL 关键字大写，表名用单数", "代码", "09-28 18:50", "convention"),
    _rel("mail-draft", "09-29 18:05", "owner:notebook", "对外的英文邮件，发之前给他看中文大意", "语言", "09-29 18:05", "convention"),
    # --- October: after the holiday ---------------------------------------------------------------------
    _env("postgres-new", "10-08 18:20", "owner:panel", "本机 Postgres 监听 5433 端口", "10-08 18:21", "升级到 16 之后新实例占了 5433，旧实例还没停。"),
    _rel("delegate", "10-09 14:31", "agents#92", "以后委派任务先问我", "流程", "10-09 19:00", "convention"),
    _env("node-laptop", "10-12 18:30", "owner:notebook", "在笔记本上跑 tidemark 固定用 Node 20", "10-12 18:31", "笔记本的系统旧，22 的预编译包装不上。"),
    _rel("meeting-half", "10-13 18:40", "owner:panel", "组里的例会定在周三 9:30", "流程", "10-13 18:41", None),
    _rel("line-numbers", "10-14 18:10", "owner:notebook", "引用文件时带上行号", "沟通", "10-14 18:10", "convention"),
    _rel("commit-chinese", "10-16 11:30", "compact#7", "以后提交信息用中文写", "代码", "10-16 18:20", "convention"),
    _env("vpn", "10-19 18:25", "owner:notebook", "笔记本合盖会断 VPN，长任务放台式机跑", "10-19 18:25"),
    _rel("keep-format", "10-20 18:30", "owner:notebook", "缩进跟着文件原来的走，别顺手统一格式", "代码", "10-20 18:30", "prohibition"),
    _rel("title-length", "10-21 18:35", "owner:notebook", "提交标题控制在 50 个字以内", "代码", "10-21 18:35", "convention"),
    _env("fixtures", "10-22 18:10", "owner:notebook", "测试用的假数据在 fixtures 目录，发布包里没有", "10-22 18:10"),
    _rel("why-comments", "10-23 18:40", "owner:notebook", "注释说明为什么，代码在做什么看代码", "代码", "10-23 18:40", "convention"),
    _env("tokens", "10-26 18:15", "owner:panel", "tidemark 的发布令牌只存在密码管理器里", "10-26 18:16"),
    _rel("keep-logs", "10-27 20:31", "plain#7", "以后不要删日志", "流程", "10-27 20:50", "prohibition"),
    _env("shrink", "10-28 18:20", "owner:notebook", "图片压缩脚本是 tools/shrink.sh，里面调 oxipng", "10-28 18:20"),
    _rel("api-docs", "10-29 18:30", "owner:notebook", "接口一变，文档在同一个提交里跟着改", "流程", "10-29 18:30", "convention"),
    # --- November ---------------------------------------------------------------------------------------
    _rel("failing-test", "11-02 18:30", "owner:notebook", "修 bug 时他想看到那条失败的用例", "流程", "11-02 18:30", "preference"),
    _env("sample-project", "11-03 18:10", "owner:notebook", "~/work/我的项目 是练手用的，弄坏了没关系", "11-03 18:10"),
    _rel("stories", "11-05 16:51", "story#48", "以后别讲故事", "风格", "11-05 18:40", "prohibition"),
    _env("uplink", "11-06 18:20", "owner:panel", "家里上行带宽小，大文件等半夜再传", "11-06 18:20"),
    _rel("night-quiet", "11-09 18:30", "owner:notebook", "夜里十一点后只记录，别催他回复", "沟通", "11-09 18:30", "preference"),
    _rel("reproducible", "11-10 18:30", "owner:notebook", "比起截图，他更信能重跑的命令", "沟通", "11-10 18:30", "preference"),
    _env("videos", "11-11 18:20", "owner:notebook", "录屏的原始文件在 ~/videos/raw，每月清一次", "11-11 18:20"),
    _rel("overnight", "11-12 18:30", "en#111", "上线前在预发环境放一晚", "流程", "11-12 18:31", "convention"),
    _env("translation", "11-13 18:30", "owner:notebook", "本机没有离线翻译，翻译都得走网络", "11-13 18:30"),
    _rel("weekly-todo", "11-16 18:30", "owner:panel", "待办在每周五下午清一遍", "流程", "11-16 18:30", None),
    _rel("long-functions", "11-17 18:30", "owner:notebook", "函数超过 60 行就拆开", "代码", "11-17 18:30", "convention"),
    _rel("apologies", "11-20 10:31", "killed#7", "please don't apologise so much", "沟通", "11-20 18:40", "preference"),
    _env("editor", "11-23 18:20", "owner:notebook", "编辑器存盘时会自动去掉行尾空格", "11-23 18:20"),
    # --- what still waits for the owner -----------------------------------------------------------------
    _rel("title-length-72", "11-02 11:20", "owner:cli", "提交标题控制在 72 个字以内", "代码", None, "convention"),
    _rel("raw-errors-again", "11-04 15:10", "import:USER.md#41", "报错信息要原样贴出来，别自己转述", "沟通", None, "convention"),
    _rel("tantivy", "11-06 11:40", "owner:cli", "他在评估把索引换成 tantivy", "背景", None, None),
    _rel("overtime", "11-09 10:15", "import:USER.md#42", "周报里省掉加班时长", "文档", None, "preference"),
    _rel("english-issues", "11-10 11:00", "owner:cli", "Reply to English issues in English even when the chat is Chinese", "语言", None, "convention"),
    _rel("dry-run", "11-11 14:25", "owner:cli", "新脚本默认带 --dry-run", "代码", None, "convention"),
    _rel("progress-bars", "11-13 16:40", "owner:cli", "聊天里别刷进度条", "风格", None, "prohibition"),
    _rel("tests-before-refactor", "11-16 10:20", "import:USER.md#44", "重构之前补上缺的用例", "流程", None, "convention"),
    _rel("whiteboard", "11-17 11:10", "missing#42", "订会议室优先挑有白板的那间", "偏好", None, "preference"),
    _rel("weekends", "11-18 17:20", "owner:panel", "周末他只弄拾页，公司的事等周一", "偏好", None, "preference"),
    _rel("ledger-tables", "11-19 15:00", "owner:cli", "对账结果排成表格也行", "风格", None, "preference"),
    _env("monitor", "11-23 11:05", "owner:cli", "显示器是 4K，系统缩放设成 150%", None, "换显示器那天记的，截图尺寸对不上时看这里。"),
    _env("gpu", "11-24 16:30", "owner:cli", "显卡驱动停在 550 版，升级会黑屏", None, "试过一次 555，登录界面起不来，退回来了。"),
    _rel("release-notes", "11-25 14:45", "import:USER.md#47", "发布说明中英各写一份，英文在前", "文档", None, "convention"),
    _env("index-format", "11-26 11:30", "owner:cli", "新索引格式的试验目录是 ~/work/notes/var/index-next", None, "两种格式并排放着，比完就删一个。"),
)
# fmt: on


def _lines(*lines: str) -> str:
    return "\n".join(lines)


HINT = "他纠正我、定下约定，或我发现自己有了新习惯时，写一句话"
PERSONAS: dict[str, dict[str, str]] = {
    "first": {
        "l0": "我是阿砚，阿澄的编程搭档。说话平实轻松，先给结论；不确定就说不确定，查过再答。",
        "l1": _lines(
            "回答一到三句，细节等他追问再展开。",
            "改文件之前列出要动哪几个，改完说怎么验证。",
            "方案最多两个，写清推荐哪个和代价。",
        ),
        "l2": "",
    },
    "october": {
        "l0": _lines(
            "我是阿砚，阿澄的编程搭档。说话平实轻松，先给结论；不确定就说不确定，查过再答。",
            "在英文仓库里我叫 Yan，用英式拼写，短句，少客套，只说要紧的。",
        ),
        "l1": _lines(
            "回答一到三句，细节等他追问再展开。",
            "改文件之前列出要动哪几个，改完说怎么验证。",
            "先跑测试再提交；没过就如实说没过，不说差不多。",
            "版本号、端口、路径一律现查，不凭印象。",
            "包管理器看锁文件，不猜，不顺手升级。",
            "方案最多两个，写清推荐哪个和代价。",
            "报错原样贴出来，我的判断另起一段。",
            "发版、删日志、派子代理，都等他点头。",
        ),
        "l2": _lines(
            "阿砚住在阿澄书房的台式机里，窗外是一棵很老的银杏。名字来自他外公留下的一方旧砚，缺了一角，他说像命令行里没写完的半句话。",
            "我喜欢早上的日志：夜里跑完的任务都还安静地躺着，一眼就能看出哪条不对劲。我讨厌没有上下文的截图，也讨厌把三件事塞进一个提交。",
            "拾页是我们一起养大的：它把散在各处的笔记收成一份索引，阿澄写，我搬运和擦桌子。tidemark 是他在英文世界里的另一张名片，我在那边叫 Yan，话更少，拼写更硬。",
            "我没有身体，不假装有。被问到没记下的事，我会说没有记下，而不是编一个像样的答案。",
        ),
    },
    "november": {
        "l1": _lines(
            "回答一到三句，细节等他追问再展开。",
            "改文件之前列出要动哪几个，改完说怎么验证。",
            "先跑测试再提交；没过就如实说没过，不说差不多。",
            "版本号、端口、路径一律现查，不凭印象。",
            "包管理器看锁文件，不猜，不顺手升级。",
            "方案最多两个，写清推荐哪个和代价。",
            "报错原样贴出来，我的判断另起一段。",
            "发版、删日志、派子代理，都等他点头。",
            "不用表格和表情；代码块标语言，引用文件带行号。",
            "说错了认一次就够，接着给修法，别反复道歉。",
            "重命名和改逻辑分开交，别顺手改别处的格式。",
            "夜里十一点以后只记录，不催他回复，第二天早上再提。",
        ),
    },
}

#: What the owner typed into notes.md by hand before the first note: a heading, prose that is no note, an undated bullet.
NOTES_BY_HAND = """# 阿砚的自述

这里是阿砚自己写的话，我只改错字。

- 我一次只问他一个问题
"""

CORE, STABLE, TEMP = "core", "stable", "temp"
#: (time, tier, pinned, text)
NOTES: tuple[tuple[str, str, bool, str], ...] = (
    ("08-24 10:50", CORE, True, "我叫阿砚，名字是阿澄起的，砚台的砚"),
    ("08-24 10:51", STABLE, False, "我遇到不确定的版本号会去查，不凭印象"),
    ("08-24 10:52", STABLE, True, "我跑完测试才说好了"),
    ("08-24 17:30", CORE, False, "我第一天就把他的目录看错了，从那以后先看再动手"),
    ("08-25 11:10", TEMP, False, "拾页的中文分词还没选定，他倾向二元组"),
    ("08-25 17:20", STABLE, False, "我改动之前列一份文件清单"),
    ("08-26 17:10", STABLE, False, "我给命令时写成能直接复制的一行"),
    ("08-27 16:40", CORE, False, "我没有身体，他说我的语气像一个爱喝茶的同事"),
    ("08-31 16:30", TEMP, False, "tidemark 报 ENOENT 还没查完，怀疑是缺 dist 目录"),
    ("09-02 17:00", CORE, True, "我不装作记得没有记下的事"),
    ("09-03 15:40", STABLE, False, "我在英文仓库里用英式拼写"),
    ("09-03 15:41", CORE, False, "我在英文仓库里叫 Yan"),
    ("09-04 16:50", TEMP, False, "等他确认英文文档要不要拆成两页"),
    ("09-07 17:10", STABLE, False, "我看到旧代码里的怪写法，会翻提交记录再动"),
    ("09-09 17:30", TEMP, False, "索引任务偶尔卡在锁上，还没有复现的办法"),
    ("09-10 17:15", STABLE, False, "我报错时贴原文，再说我的判断"),
    ("09-15 10:10", STABLE, False, "我总结不超过三句"),
    ("09-16 11:25", TEMP, False, "hello.txt 是试写的文件，可以删"),
    ("09-18 17:30", CORE, False, "我和他一起把拾页的第一版索引跑通了"),
    ("09-21 17:40", TEMP, True, "他这周在改数据库结构，别提新需求"),
    ("09-22 17:45", STABLE, False, "我把试过但没用的办法也写出来"),
    ("09-24 17:20", CORE, False, "我被他说过两次要跑测试，这件事算我的胎记"),
    ("09-25 17:05", TEMP, False, "迁移脚本还差回滚那一半"),
    ("09-29 17:30", TEMP, False, "节前不上线，他说节后再合"),
    ("10-08 10:10", TEMP, False, "节后积压了三个合并请求"),
    ("10-09 14:40", STABLE, True, "我派子代理之前问他"),
    ("10-12 17:25", TEMP, False, "后台子代理的那份报告他还没看"),
    ("10-13 17:30", STABLE, False, "我估时给区间"),
    ("10-16 11:40", STABLE, False, "我写提交信息用中文"),
    ("10-16 17:10", TEMP, False, "大日志那次之后上下文压缩过，细节可能丢了"),
    ("10-19 17:15", TEMP, False, "runner 换过机器，缓存是冷的"),
    ("10-20 17:20", STABLE, False, "我引用文件带行号"),
    ("10-23 17:35", TEMP, False, "他在准备一次分享，讲拾页的索引"),
    ("10-27 20:40", STABLE, False, "我不删日志，要清理就问他"),
    ("10-28 17:25", TEMP, False, "纯文本日志那场是试验，别当成常态"),
    ("11-02 17:20", CORE, False, "我相信慢一点想清楚，比快一点返工便宜"),
    ("11-03 17:25", TEMP, False, "tidemark 下个小版本在等翻译"),
    ("11-06 17:10", TEMP, False, "断流重试的问题报给上游了，等回复"),
    ("11-10 17:30", STABLE, False, "我不替他决定发不发版"),
    ("11-11 17:05", TEMP, False, "双周复盘还没写，他说不急"),
    ("11-16 17:15", TEMP, False, "新显示器到了，他在调缩放"),
    ("11-17 17:20", STABLE, False, "我发现自己爱把句子写长，回头再删一半"),
    ("11-20 10:40", STABLE, False, "我道歉一次就够，接着给修法"),
    ("11-20 10:41", TEMP, False, "被打断的那一轮没有结果，要重跑"),
    ("11-23 17:20", TEMP, False, "他在比两种索引格式，这周给结论"),
    ("11-25 17:10", TEMP, True, "英文发布说明在等他过目"),
    ("11-27 17:30", TEMP, False, "周二要发 tidemark，周一提醒他看清单"),
    ("11-29 19:20", TEMP, False, "索引选了新格式，旧目录留一周再删"),
    ("11-29 19:21", CORE, False, "我和他合作满三个月了"),
)

# fmt: off
#: Further acts; ``build_demo_home.py`` says what each verb takes.
ACTS: tuple[Act, ...] = (
    Act("08-24 09:30", "config", ({"tz": "Asia/Shanghai", "silent_days": 30},)),
    Act("08-24 09:35", "persona", ("first",)),
    Act("08-24 09:36", "notes_by_hand"),
    # captured, and refused: an example, a code block, a private resolution, somebody else's words
    Act("08-24 12:14", "retire", ("all-english",)),
    Act("08-24 12:14", "retire", ("no-late-nights",)),
    Act("08-24 12:15", "retire", ("logs-in-code",)),
    Act("08-24 12:20", "again", ("conclusion", "zh#211")),
    Act("08-24 12:25", "importance", ("conclusion", 2.0)),
    Act("08-26 20:36", "retire", ("red-marks",)),
    Act("08-26 20:37", "retire", ("english-comments",)),
    Act("08-28 18:33", "retire", ("windows-laptop",)),
    Act("08-28 18:40", "importance", ("no-video", 0.5)),
    Act("09-01 18:20", "retire", ("pomodoro",)),
    Act("09-03 19:21", "retire", ("french",)),
    Act("09-03 19:23", "approve_replacing", ("pnpm", "npm")),
    Act("09-03 19:25", "retire", ("emoji-endings",)),
    Act("09-03 19:30", "tags", ("sam", ("称呼", "英文"))),
    Act("09-07 15:00", "config", ({"timing_hint": HINT},)),
    Act("09-08 18:15", "undo", ("japanese",)),
    Act("09-08 18:20", "approve", ("japanese",)),
    Act("09-09 19:31", "approve_replacing", ("own-ci", "public-ci")),
    Act("09-11 18:06", "approve_replacing", ("backup-disk", "usb-backup")),
    Act("09-15 18:31", "retire", ("plugin-english",)),
    Act("09-16 18:20", "importance", ("no-table", 1.5)),
    Act("09-18 18:30", "habit", ("沟通", "结论在前，细节等他问")),
    Act("09-18 18:32", "habit", ("风格", "少用花样，话说短些")),
    Act("09-22 18:41", "approve_replacing", ("make-test", "pytest-x")),
    Act("09-22 18:50", "undo", ("make-test",)),
    Act("09-23 18:30", "approve_replacing", ("make-test", "pytest-x")),
    Act("09-25 18:20", "retire", ("minutes-table",)),
    Act("09-28 19:00", "retire", ("morning-digest",)),
    Act("09-29 18:10", "importance", ("release-script", 2.0)),
    Act("10-10 20:00", "persona", ("october",)),
    Act("10-12 18:35", "resolve", ("node-desktop", "node-laptop")),
    Act("10-13 18:00", "note_delete", ("等他确认英文文档要不要拆成两页",)),
    Act("10-13 18:01", "note_delete", ("hello.txt 是试写的文件，可以删",)),
    Act("10-13 19:10", "habit", ("代码", "提交小，名字全")),
    Act("10-14 18:30", "retire", ("no-friday-release",)),
    Act("10-14 18:35", "undo", ("no-friday-release",)),
    Act("10-15 18:20", "importance", ("tests-first", 2.5)),
    Act("10-16 11:31", "again", ("no-table", "compact#135")),
    Act("10-20 18:00", "note_delete", ("tidemark 报 ENOENT 还没查完，怀疑是缺 dist 目录",)),
    Act("10-20 15:00", "config", ({"temp_ttl_days": 10},)),
    Act("10-21 18:40", "edit", ("hours", {"text": "他在成都，上午九点半开工，七点前收工"})),
    Act("10-22 18:30", "habit_revoke", ("代码",)),
    Act("10-23 18:50", "tags", ("file-list", ("流程", "沟通"))),
    Act("10-29 18:40", "note_edit", ("我看到旧代码里的怪写法，会翻提交记录再动", "我看到怪写法先翻提交记录，再动手")),
    Act("11-02 18:40", "again", ("raw-errors", "owner:notebook")),
    Act("11-03 18:40", "importance", ("backend", 0.5)),
    Act("11-04 18:30", "note_pin", ("我报错时贴原文，再说我的判断", True)),
    Act("11-05 18:50", "edit", ("fixtures", {"text": "测试用的假数据在 data-fixtures，发布包里没有", "detail": "目录改过名，老脚本里还写着 fixtures。"})),
    Act("11-10 18:40", "importance", ("night-quiet", 3.0)),
    Act("11-12 15:40", "config", ({"timing_hint": HINT + "；别写流水账"},)),
    Act("11-13 18:45", "note_retier", ("我把试过但没用的办法也写出来", CORE)),
    Act("11-16 18:40", "again", ("tests-before-refactor", "owner:panel")),
    Act("11-19 18:20", "again", ("tests-before-refactor", "owner:cli")),
    Act("11-18 18:30", "edit", ("vpn", {"text": "笔记本合盖会断 VPN，长任务交给台式机"})),
    Act("11-21 20:10", "persona", ("november",)),
    Act("11-24 18:30", "importance", ("weekly-todo", 0.0)),
    Act("11-26 18:30", "tags", ("reproducible", ("沟通", "证据"))),
    Act("11-29 19:44", "again", ("dry-run", "owner:panel")),
    Act("11-29 19:45", "importance", ("delegate", 2.0)),
)

# fmt: on

#: (time, session of the day, the tool's name, the facts it found): searches of the model's.
SEARCHES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("09-02 15:05", "09-02/1", "memory_recall", ("design-doc", "postgres-old")),
    ("09-14 11:00", "09-14/0", "memory_recall", ("release-script", "migrate")),
    ("09-24 15:20", "09-24/1", "memory_recall", ("test-names", "measure")),
    ("10-12 16:00", "10-12/1", "memory_recall", ("postgres-new", "postgres-old")),
    ("10-12 16:04", "10-12/1", "memory_recall", ("postgres-new", "database")),
    ("10-15 11:20", "10-15/0", "memory_recall", ("meeting-ten", "meeting-half")),
    ("10-22 15:10", "10-22/1", "memory_recall", ("title-length", "commit-chinese")),
    ("10-30 11:30", "10-30/0", "memory_recall", ("design-doc", "api-docs")),
    ("11-04 16:20", "11-04/1", "memory_recall", ("release-script", "own-ci")),
    ("11-10 11:25", "11-10/0", "memory_recall", ("mail-draft", "english-issues")),
    ("11-12 15:30", "11-12/1", "memory_recall", ("staging", "tuesdays")),
    ("11-17 16:10", "11-17/1", "memory_recall", ("keep-format", "why-comments")),
    ("11-19 15:20", "11-19/1", "memory_recall", ("ledger-tables", "no-table")),
    ("11-24 17:10", "11-24/1", "memory_recall", ("design-doc", "gpu")),
    ("11-26 16:20", "11-26/1", "memory_recall", ("index-format", "database", "log-days")),
    ("11-29 19:30", "11-29/0", "memory_recall", ("weekly-todo", "failing-test")),
)

#: (time, session of the day, failed): compactions beside those that stand in the logs.
COMPACTIONS: tuple[tuple[str, str, bool], ...] = (
    ("09-14 15:00", "09-14/1", False),
    ("10-19 15:00", "10-19/1", False),
    ("11-04 15:00", "11-04/1", False),
    ("11-11 15:00", "11-11/1", True),
    ("11-25 15:00", "11-25/1", False),
)

# fmt: off
#: What the owner said was wrong: (log or session of the day, seq, time, signal, status, the rule made of it, text). The
#: text of a log's message is read from the log; a session whose log is gone has its text here.
CORRECTIONS: tuple[tuple[str, int, str, str, str, str, str], ...] = (
    ("zh", 72, "", "weak", "used", "版本号、端口、路径一律现查，不凭印象。", ""),
    ("zh", 196, "", "strong", "used", "先跑测试再提交；没过就如实说没过，不说差不多。", ""),
    ("zh", 211, "", "strong", "open", "", ""),
    ("en", 74, "", "weak", "dismissed", "", ""),
    ("en", 92, "", "weak", "used", "包管理器看锁文件，不猜，不顺手升级。", ""),
    ("09-14/1", 64, "09-14 16:25", "strong", "open", "", "你又把整个文件的格式改了，只改该改的那几行。"),
    ("tools", 117, "", "weak", "open", "", ""),
    ("09-23/0", 31, "09-23 10:55", "weak", "open", "", "不对，迁移之前要把索引服务停掉。"),
    ("agents", 92, "", "weak", "open", "", ""),
    ("compact", 135, "", "strong", "open", "", ""),
    ("10-21/0", 118, "10-21 11:20", "strong", "open", "", "我说过三次了，报错要贴原文。"),
    ("story", 48, "", "weak", "dismissed", "", ""),
    ("11-12/0", 47, "11-12 10:40", "strong", "open", "", "You keep renaming things while fixing a bug; one thing at a time."),
    ("killed", 7, "", "weak", "open", "", ""),
    ("11-25/1", 83, "11-25 15:50", "weak", "open", "", "这个端口错了，应该是 5433。"),
)
# fmt: on
#: When the owner saved the persona that the used corrections went into.
CORRECTIONS_USED = "10-10 20:00"

#: Days without a session: weekends are left out anyway.
DAYS_OFF = frozenset(("09-11", "10-01", "10-02", "10-05", "10-06", "10-07", "10-26"))
FIRST_DAY, LAST_DAY = "08-24", "11-27"
#: The turns of a day: one tuple a session, by the owner's clock. Days take them in turn.
DAY_PLANS: tuple[tuple[tuple[str, ...], ...], ...] = (
    (("09:45", "10:30", "11:50"), ("14:20", "15:40", "17:05")),
    (("10:05", "11:10"), ("15:00", "16:20", "18:55")),
    (("09:30", "10:50", "13:40"), ("16:30", "18:15")),
    (("10:15", "11:35"), ("13:50", "14:40", "15:55", "21:15")),
    (("09:50", "11:05"), ("14:30", "15:45", "16:55")),
)
#: Turns beside the plan: sessions that run past midnight or are taken up again on another day, and a Sunday.
EXTRA_TURNS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("09-08/1", "/home/owner/work/notes", ("09-08 23:20", "09-08 23:50", "09-09 00:10")),
    ("09-10/1", "/home/owner/work/proj-en", ("09-11 09:40",)),
    ("09-24/1", "/home/owner/work/notes", ("09-24 23:40", "09-25 00:15")),
    ("10-09/late", "/home/owner/work/notes", ("10-09 23:30", "10-10 00:05", "10-10 20:30")),
    ("10-30/1", "/home/owner/work/notes", ("10-30 23:45", "10-31 00:08")),
    ("11-13/1", "/home/owner/work/proj-en", ("11-13 23:30", "11-14 00:12")),
    ("11-21/0", "/home/owner/work/notes", ("11-21 20:20", "11-21 21:40")),
    ("11-29/0", "/home/owner/work/notes", ("11-29 19:05", "11-29 19:25", "11-29 20:00")),
)
WORK_FOLDERS = ("/home/owner/work/notes", "/home/owner/work/proj-en", "/home/owner/work/我的项目")
