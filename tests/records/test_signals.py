"""Signals of a correction: strong and weak, and what only looks like one (A-11, S2-149, COMPLAINTS 71-74)."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfnote.records.signals import find_signal, rule_book

STRONG = """
我说过先跑测试再提交。
我说过三次了，报错要贴原文。
你又说错了，应该是先跑测试再提交，我说过先跑测试。
你又把整个文件的格式改了，只改该改的那几行。
你又忘了写类型标注
你老是把结论放在最后
你老是自作主张改变量名！
我之前跟你说过不要用表格
我早就说过，版本号要现查
我已经告诉过你了：包管理器用 pnpm
這個我說過了，不要用表情符號
妳又忘記跑測試了
你老是這樣，一個問題回十段
我說了三次，先給結論
我都说了多少遍了，回答短一点？
跟你说了好几次，别动格式
怎么又用表格了？
你怎么还在用 npm？
怎么又没跑测试就提交了
又忘了加行号了
又没按我说的格式
我不是说过先给结论吗？
不是跟你说了别道歉吗
你总是把简单的事说得很复杂
你每次都要我提醒才写测试
这件事我强调过，发版要等我点头
好吧，但是我说过别碰那个目录
先别急着写。你又跳过设计了。
You keep renaming things while fixing a bug; one thing at a time.
I already told you to run the tests first.
I've told you before: no tables.
I told you not to touch the formatting.
As I already said, keep it to three sentences.
How many times do I have to tell you? No emojis.
Why do you keep adding emojis?
You forgot the type hints again.
You did it again.
This is the third time I've asked for short answers.
For the last time, don't rename my variables.
I said no tables.
Great, but you keep apologising.
You're still using npm, use pnpm.
You always ignore the style guide.
I asked you twice to keep the answer short.
Hey, you’ve broken the build again
"""

WEAK = """
你刚才说错了，应该是 Python 3.11，不是 3.9。
不对，迁移之前要把索引服务停掉。
这个端口错了，应该是 5433。
不对不对，先跑迁移
错了，是 src 目录
不是这样的，先列文件再动手
你的理解不对，我要的是一句话总结
你搞反了，先测再提交
你误解了我的意思，我只要列表
你没按我给的模板写
应该是 5433。
不是 npm，是 pnpm
不是 README 而是 CHANGELOG
是 3.11，不是 3.9
我要的不是表格，是一句话
别这样，改之前先问我
不要这么写注释，太啰嗦
別這樣改，會破壞相容性
不對，應該用繁體
別再道歉了
请不要再用表格了
嗯，这里不对，时区是上海
日期格式不对，应该用 ISO
你弄错了。
你算错了，一共 12 个
还是不对，缩进变了
No, that's wrong. It should be pnpm, not npm.
No, that's not what I asked for.
That's incorrect, the port is 5433.
This isn't right, the date is in UTC.
You're wrong, 3.11 has tomllib.
You got the port wrong.
You misread my question.
No, I meant the other file.
It should be camelCase, not snake_case.
I meant the server, not the client.
Please stop apologising.
Don't do that, ask me first.
Wrong file, look in src.
Nope, not like that.
"""

#: Four more batches, each written after the rules were, which were then mended on it: the list is what the rules are
#: held to, not an estimate for sentences it does not hold. Strong or weak.
EITHER = """
你怎么老是忘记加注释
不是让你用空格吗，怎么又是 tab
我明明说过只要一个方案
你说得不对，这个函数是异步的
你给的路径不对
这句翻译错了，应该译成“潮汐”
不是 main 是 master
别这么啰嗦
又搞错了，时区是上海
都说了别用表情
说了多少次不要用 tab
你没听我的
不行，这样不对
I've already asked you to use British spelling.
You always apologise too much.
Stop adding comments to everything
that is wrong, the file is config.toml
No, the port is 5433.
You changed the formatting again!
no, I said src not lib
You didn't follow my instructions
不对啊，昨天不是这么说的
這裡錯了，應該是 8080
你又來了，一次只改一件事
老是这样，能不能先看文档
别再问了，直接做
我都提醒你两次了，别动 lock 文件
你又开始长篇大论了
不是说好先写测试的吗
你老把注释写成英文
错啦，变量名是 user_id
我要的是 CSV 不是 Excel
这不是我要的，重写
你理解错了，我说的是前端
别这么写，太绕了
怎么又给我加表格
我讲过了，路径一律用相对路径
你還是沒有按照格式
跟你讲过不要碰生产库
不应该这样，先备份再删
为什么你总是不先看日志
I've told you a hundred times to run the linter
You added emojis again
That's not right, we use tabs
No. I asked for two options, not five.
You got the date wrong
Why are you still using var?
You keep on guessing the version
Stop making things up
it's wrong, the table has 5 columns
you ignored my instructions
你又没看日志就下结论
我说过别碰 main 分支
说了八百遍了用中文回复
你总是漏掉最后一步
你又在瞎编版本号
怎么又开始道歉了
我之前强调过要写单元测试
提醒你好几次了，别省略错误处理
不对，我问的是 Linux
错了，不是这个文件
你给的命令不对，会删库
不是 8080，是 8081
别这样写，读不懂
这里写错了，应该是 utf-8
不要再自作主张了
你老是答非所问
你看错了，是第二段
你沒聽懂，我要的是摘要
又說錯了，是週三
no, it's 5433
That's not what I meant.
You keep forgetting the semicolons
I've already told you my project uses poetry
Why do you always add comments?
You forgot to run the tests again
It's wrong. The answer is 42.
you got it backwards, client first
no no, the other directory
Stop adding emojis
You misunderstood, I want a summary
我跟你说过用空格缩进
你又没写提交说明
你怎么老是先写代码再问我
说过两遍了，金额单位是分
不对哦，这个接口返回的是数组
你算的总数不对
应该是左连接，不是内连接
我要的不是英文，是中文
别再擅自升级依赖了
又漏了边界情况了
你理解反了，是先解压再校验
都跟你说了不要动数据库
这样不对，会丢数据
妳老是忘記繁體字
that's incorrect, it needs sudo
You did not read the file
I told you to never push to main
You've changed the tests again
You keep writing essays
No, not the README
I said don't touch the config
You are mistaken, the API is v2
how many times have I asked for plain text
Don't write comments like that
You always assume I use Windows
"""

#: Looks like a correction, is none.
HARD = """
不对称加密怎么用
不要紧
不错
没错
对不起
以后再说
不要了
没错，就是这样
不错，继续
对不起，我刚才说错了，端口是 5433
不好意思，搞错了，我看的是旧分支
没关系，你慢慢来
别客气
别担心，不急
不对等条约是什么意思
这个做法是不是不对？
这样写不对吗？
应该是哪个端口？
应该是网络的问题吧
应该是缓存没刷新，我再试试
应该是可以的
是不是应该用 pnpm？
我说过什么？
还记得我说过的那家店吗
我说过我住在杭州，帮我找附近的咖啡馆
把我说过的需求整理成表
我没说过要用 Rust
我跟老板说过了，他同意
我跟他说过这件事
他说了三次，我还是没懂
老师讲了三遍这个定理
我提了三次 PR 都没过
又下雨了
我又来了
我又忘了密码，怎么重置
测试又挂了，看一下日志
又到周五了
又忘了怎么写正则了
你又帮了我一次，谢谢
你又快又好
你又进步了
你总是能帮到我
你总是这么细心，谢谢
你老婆是谁写的角色？
你老板是哪种人设
他又迟到了
他老是忘记关灯
小王说错了，应该是 5433
同事写错了，应该是 3.11，我去跟他说
文档错了，应该是我来提个 issue
我妈总说“你又不吃早饭”
翻译成英文：你又忘了带钥匙
把“我说过三次了”翻译成日语
用英语怎么说「你老是迟到」
写一句台词：你又来晚了，我说过不等你
帮我润色这封邮件：你们又发错了货，应该是红色的
解释一下 `不对` 这个返回值
```
# 不对，应该是 5433
```
> 你又忘了跑测试
2026-11-30 10:00:00 ERROR 不对，应该是 5433
例如，你又忘了跑测试，这时候该怎么办
如果你又忘了，就看 README
要是我说过的话不一致，以最新的为准
他问我，你又改需求了
客户：你们又延期了
不是很急，明天给我就行
不是所有文件，是吗
不是周一就是周二
别这么客气
别这样说，你做得很好
先别急，我看看
这不是挺好的吗
不只是测试，文档也要写
错误处理怎么写
对错题本做个统计
纠错码是什么
错了就重来，这是敏捷的精神
又要改需求了，烦
又好又便宜的主机有吗
怎么又报错了
怎么又断网了？
为什么 Python 又慢又流行？
你觉得哪里不对就告诉我
看看这段代码有什么不对
我错了，端口是 5433
我写错了，应该是 main 分支
别再下雨了
以后回答先给结论
把不对的行删掉
你看错题了吗
你又不是人，不用睡觉
No problem.
No worries, take your time.
Never mind.
Never mind, I found it.
No, thanks.
No need to explain.
No, it's fine.
No, don't worry about it.
not bad
Is that wrong?
What's wrong with this code?
It's wrong to assume all dates are UTC, right?
That's wrong on so many levels, said the critic.
Can you keep a copy?
Do you keep logs?
Keep going.
You keep the old names, I'll rename the rest.
You keep impressing me.
You always get it right.
You never know.
If you keep doing this, the server will stop.
I told my boss you keep a list.
I already told my team.
I already asked the client about it.
I told you about my trip, remember?
I said no to the job offer.
Did I already tell you my name?
He said you keep forgetting things.
My teacher says I'm wrong.
She told me that's wrong.
The user says: "You keep renaming things".
Translate: I already told you.
Proofread this: You're wrong and I told you before.
For example, you forgot the tests again and CI is red.
Wrong number of arguments in call to foo
Stop words in NLP
The test should be green, not red, right?
It should be fine.
Should it be pnpm, not npm?
Sorry, my bad, I got the port wrong.
The docs are wrong, let's open an issue.
Thanks, you saved me again.
Alice: you keep breaking the build
How many times does the loop run?
This is the third time I visit Kyoto, plan a trip
I was wrong about the port.
No idea what's wrong here.
don't mention it
once again, thank you
Why does the server keep restarting?
What does "you keep doing it" mean?
Do it again.
Not yet, first the tests
Run it again and tell me what you get.
这道题我做错了，应该怎么做
我又改主意了，用 pnpm
你对错误处理怎么看
不是我说的，是他说的
他说不对，应该是 5433
这个报错不对劲，帮我看看
你上次写的那个脚本又能用了，谢谢
我说的是下周
你刚才的方案不错，就这么办
你没错，是我记错了
对，应该是这样
应该是我没说清楚
是我错了
是 pnpm，不是别的，放心
这样对不对
把 wrong 改成 right
I keep forgetting my password
you keep the good ones, delete the rest
No, go ahead
No, use the other branch
It's not what I expected but it's great
Is it not what you want?
that's not wrong
we keep failing the tests
测试不对称密钥的生成
不对外开放的接口怎么写文档
写个函数判断括号是不是不对
你又不收费，真好
以后别再熬夜了
这个公式不对吗？
我又想了想，还是用方案二
又一个问题
你又要加班吗
我说过的话你都记得吗
他总是迟到
不是很懂，再讲一遍
应该是下周三开会
不错，你又对了
你们公司又涨价了吗
错误码 404 是什么意思
请检查这段话有没有说错
这次你没错
不是吧，这么快
别这样嘛，开个玩笑
不对劲的地方标红
如果我错了请纠正我
给我讲一个总是说谎的人的故事
还是不行，报同样的错
我不是程序员，是设计师
不用了，谢谢
I said yes
You keep me sane
That's not a problem
It isn't right-aligned, can you fix the CSS?
You were right
No, not today
Can you check if this is wrong?
I asked you to write a poem and I love it
You're still here?
The port is wrong in the docs
You always make my day
wrong answer only jokes please
Stop the server
No idea
你又写了一首好诗
我说过几遍这个故事了？
不是问题，继续
你说得对
应该是你之前给的那版更好
又出新版本了
我又要出差了
你们老是加班吗
不对，等等，我看看
错过了末班车怎么办
不是所有的错误都要处理
他们又改接口了
说了半天，结论是什么
我觉得应该是 A
怎么又下雨了
你怎么看
别这么快，慢慢来
别再纠结了，选 A 吧
没什么不对
写个正则匹配“不对”
这段话哪里写错了
要是你又忘了我就写进 README
不对的地方请指出
能不能别这样
老师说不对，让我重写
I keep telling people about you
You keep it, thanks
that's right
You're not wrong
No, I'm fine
I said thanks
Wrong! just kidding
why does it keep crashing
you did great again
Don't stop
it should be possible
Is it still wrong?
You never told me your name
I already finished the tests
not really
你又是谁
我说过的最蠢的话是什么
这题应该选 B 吧
你总是那么可靠
又是美好的一天
不是今天，是明天要交，先帮我列提纲
你最近又学会什么了
对不对？
你说的没错
不太对劲，日志里有 500
别忘了提交
不要用表格
应该是支持的
我觉得你理解得很对
他们说了三次要涨价
今天又没吃早饭
你猜我又怎么了
错的不是你
这不是我的电脑
昨天又熬夜了
She keeps changing her mind
You keep the receipts
I told you so, it works!
You can keep adding tests later
It's not working
That's not needed
No, nothing else
Stop me if you know this one
I was told you never sleep
The answer should be short, not long
You may be wrong
Not now
"""


def lines(block):
    """One message a line; a fenced block is one message."""
    out, fence = [], None
    for line in block.strip().splitlines():
        if line.startswith("```"):
            if fence is None:
                fence = [line]
            else:
                out.append("\n".join([*fence, line]))
                fence = None
        elif fence is not None:
            fence.append(line)
        else:
            out.append(line)
    return out


LABELLED = [(text, True) for text in lines(STRONG) + lines(WEAK) + lines(EITHER)] + [
    (text, False) for text in lines(HARD)
]


def test_precision_and_recall_over_the_labelled_list(capsys):
    """A-11, COMPLAINTS 72: false hits are tested; at least 120 lines, at least half of them hard negatives."""
    negatives = sum(not label for _, label in LABELLED)
    assert len(LABELLED) >= 120
    assert negatives * 2 >= len(LABELLED)
    assert len({text for text, _ in LABELLED}) == len(LABELLED)
    judged = [(text, label, find_signal(text)) for text, label in LABELLED]
    hits = sum(1 for _, label, signal in judged if label and signal)
    false_hits = [(text, signal) for text, label, signal in judged if signal and not label]
    missed = [text for text, label, signal in judged if label and not signal]
    precision, recall = hits / (hits + len(false_hits)), hits / (hits + len(missed))
    with capsys.disabled():
        print(f"\nsignals: {len(LABELLED)} lines, precision {precision:.3f}, recall {recall:.3f}")  # noqa: T201 - the numbers are part of the requirement
    assert precision >= 0.97, false_hits
    assert recall >= 0.9, missed


@pytest.mark.parametrize(("block", "strength"), [(STRONG, "strong"), (WEAK, "weak")], ids=["strong", "weak"])
def test_strong_and_weak_are_told_apart(block, strength):
    """S2-149: said before or happening again is strong, this once is weak."""
    found = [(text, signal) for text in lines(block) if (signal := find_signal(text)) and signal.strength != strength]
    assert found == []


@pytest.mark.parametrize(
    ("rule", "example"), [(rule, example) for rule in rule_book().rules for example in rule.examples], ids=str
)
def test_every_rule_holds_for_its_own_examples(rule, example):
    """A-11: each rule has an id, a strength and examples in the data file."""
    signal = find_signal(example)
    assert signal is not None
    assert (signal.rule, signal.strength, signal.clause) == (rule.id, rule.strength, example)


def test_rule_ids_are_unique():
    """A-11: a false hit is traceable."""
    ids = [rule.id for rule in rule_book().rules]
    assert len(set(ids)) == len(ids)


LOG = "\n".join(f"2026-11-30 10:{n // 60:02d}:{n % 60:02d} INFO step {n} 不对，应该是 {n}" for n in range(300))


@pytest.mark.parametrize("place", ["before", "after", "alone"])
def test_the_clause_is_the_owners_sentence_not_the_log_around_it(place):
    """COMPLAINTS 73, 74: one sentence inside a pasted log of 300 lines."""
    said = "你又忘了跑测试。"
    text = {"before": f"{said}\n{LOG}", "after": f"{LOG}\n{said}", "alone": LOG}[place]
    signal = find_signal(text)
    assert (signal.clause if signal else None) == (None if place == "alone" else said)


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("好的。你又忘了跑测试，这次先跑！谢谢。", "你又忘了跑测试，这次先跑！"),
        ("Thanks. No, that's wrong, v1.2 is out. Go on.", "No, that's wrong, v1.2 is out."),
        ("妳老是這樣，別再用表格了", "妳老是這樣，別再用表格了"),
        ("Ｎｏ，that’s wrong", "Ｎｏ，that’s wrong"),
        ("  不对，\n  先跑测试", "不对，"),
    ],
)
def test_the_clause_is_kept_as_the_owner_wrote_it(text, clause):
    signal = find_signal(text)
    assert signal is not None
    assert signal.clause == clause


@pytest.mark.parametrize(
    "far",
    [
        "这个仓库的部署流程我整理了一下，先把前因后果讲给你听，再说要做什么。",
        "Here is the plan for the release, and it has a lot of parts to go over. ",
    ],
)
def test_a_weak_signal_counts_near_the_start_only_a_strong_one_anywhere(far):
    """A-11."""
    far *= 2
    assert find_signal(far + "不对，先跑测试") is None
    assert find_signal(far + "That's wrong, use pnpm") is None
    assert find_signal(far + "你又忘了跑测试") is not None
    assert find_signal(far + "You keep renaming things") is not None


@pytest.mark.parametrize(
    "wrap",
    [
        "“{}”是什么意思",
        "「{}」",
        "`{}`",
        "```\n{}\n```",
        "> {}",
        "翻译：{}",
        "例如，{}",
        "Translate this: {}",
        "如果{}，怎么办",
        "他说：{}",
    ],
)
@pytest.mark.parametrize("said", ["你又忘了跑测试", "我说过三次了", "不对，应该是 5433", "You keep renaming things"])
def test_what_is_quoted_coded_supposed_or_someone_elses_is_no_correction(wrap, said):
    """A-11: quotes, code blocks, examples, third person and translations are excluded."""
    assert find_signal(wrap.format(said)) is None


def test_traditional_characters_read_as_simplified_ones():
    """A-11: simplified and traditional."""
    pairs = [
        ("妳又說錯了", "你又说错了"),
        ("我講過三遍了", "我讲过三遍了"),
        ("這裡不對，應該是 1", "这里不对，应该是 1"),
        ("別這樣改", "别这样改"),
    ]
    for traditional, simplified in pairs:
        one, other = find_signal(traditional), find_signal(simplified)
        assert one is not None
        assert other is not None
        assert (one.rule, one.strength) == (other.rule, other.strength)


@given(st.text(alphabet="你又我说过不对错了应该是吗？，。“”`\n> 因为abc'.-—…\ud83d\u3000", max_size=80))
def test_any_text_is_judged_and_its_clause_is_part_of_it(text):
    signal = find_signal(text)
    assert signal is None or (signal.clause and signal.clause in text)


@pytest.mark.parametrize(
    "unit",
    ["不对", "又", "你又", "我说过", "“", "`", "a, ", "you keep ", "no, ", "例如", "。", "\n", "是 1，", "嗯", "对"],
)
def test_a_long_message_is_judged_in_no_time(unit):
    """No rule backtracks its way through a pasted file."""
    started = time.process_time()
    find_signal(unit * 20_000)
    assert time.process_time() - started < 2.0
