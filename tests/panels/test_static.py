"""The panels without a kernel: pure, escaped, without ids; in a converted notebook; and where there are no widgets."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from html.parser import HTMLParser

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter

from selfnote import panels
from selfnote.demo import DEMO_NOW
from selfnote.panels import static
from selfnote.panels.states import TABS, States


class Words(HTMLParser):
    """What a reader reads of a page: no script, no style."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag, _):
        self._silent += tag in {"script", "style"}

    def handle_endtag(self, tag):
        self._silent -= tag in {"script", "style"}

    def handle_data(self, data):
        if not self._silent:
            self.told.append(data)


def read(page: str) -> str:
    words = Words()
    words.feed(page)
    return "".join(words.told)


@pytest.fixture
def states(demo, clock):
    found = States(demo, clock=clock)
    for state in found.in_order:
        state.awake = True
    return found


@pytest.mark.parametrize("tab", TABS)
def test_a_twin_is_pure_and_has_neither_ids_nor_scripts(states, demo, clock, tab):
    """COMPLAINTS 67; the same memory gives the same bytes."""
    one = static.twin(states.state(tab))
    again = States(demo, clock=clock)
    again.tab = tab
    assert one == static.twin(again.state(tab))
    assert not re.search(r"<script|\sid=|\son\w+=|https?://", one)
    assert states.state(tab).title in read(one)


def test_a_twin_tells_what_the_panel_shows(states):
    told = {tab: read(static.twin(states.state(tab))) for tab in TABS}
    for row in states.state("memory").cards.rows:
        assert row.text in told["memory"]
        assert row.source in told["memory"]
    for row in states.state("notes").rows.rows:
        assert row.text in told["notes"]
    assert "第 1 / 3 页，共 47 条" in told["notes"]
    for row in states.state("persona").evidence.rows:
        assert row.text in told["persona"]
    assert states.state("profile").text in told["profile"]
    assert states.state("injection").text in told["injection"]
    for row in states.state("injection").squeezed.rows:
        assert row.text in told["injection"]
    for row in states.state("overview").files:
        assert row.path in told["overview"]


def test_a_twin_tells_a_draft_as_the_panel_does(states):
    states.state("persona").write("l0", "写到一半")
    assert "写到一半" in read(static.twin(states.state("persona")))


def test_what_a_note_says_is_never_markup(demo, clock):
    demo.notes.add('<b onclick="x()">粗</b>', now=DEMO_NOW)
    found = States(demo, clock=clock)
    found.tab = "notes"
    told = static.twin(found.state("notes"))
    assert "<b " not in told
    assert html.escape('<b onclick="x()">') in told


def test_reading_all_leaves_the_tabs_as_they_were(demo, clock):
    """The tabs that are hidden are read for it, and sleep again."""
    found = States(demo, clock=clock)
    page = static.twin_of_all(found)
    assert all(state.title in read(page) for state in found.in_order)
    assert [state.name for state in found.in_order if state.awake] == ["memory"]


def test_text_and_html_come_from_the_same_rows(states):
    """STYLE, 6."""
    for tab in TABS:
        text = static.text_of(static.pieces_of(states.state(tab)), width=400)
        page = read(static.twin(states.state(tab)))
        for line in text.split("\n"):
            for word in line.split():
                assert word.strip("█░…") in page or set(word) <= set("█░─"), (tab, word)


def test_a_page_known_to_be_alive_is_spared_the_twin(demo, hand, monkeypatch):
    """What nobody will see costs the owner none of the time to the first paint."""
    shown: list[dict[str, object]] = []
    monkeypatch.setattr("IPython.display.display", lambda data, **_: shown.append(data))
    view = hand(panels.open(demo, now=DEMO_NOW)).view
    monkeypatch.setattr(static, "twin_of_all", lambda _: pytest.fail("the twin was made"))
    view.display_widget()
    assert set(shown[0]) == {"application/vnd.jupyter.widget-view+json", "text/plain"}


def test_a_view_is_a_widget_and_its_twin_in_one_bundle(demo, hand):
    """What knows widgets shows the widget, what does not reads the table."""
    for tab in TABS:
        view = hand(getattr(panels, tab)(demo, now=DEMO_NOW)).view
        bundle = view._repr_mimebundle_()
        assert set(bundle) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}
        assert bundle["text/html"] == view._repr_html_() == static.twin(view.state)


def test_a_converted_notebook_shows_every_panel(demo):
    """COMPLAINTS 67: executed, then read as a page where no kernel and no network is."""
    root = str(demo.home.root)
    opened = f"import selfnote.panels as panels\nm = selfnote.open_memory({root!r})"
    cells = [
        f"import selfnote\nfrom selfnote.demo import DEMO_NOW\n{opened}",
        "panels.open(m, now=DEMO_NOW)",
        "panels.notes(m, now=DEMO_NOW)",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client = NotebookClient(book, timeout=90, kernel_name="python3")
    client.create_kernel_manager()
    client.km.kernel_spec.argv[0] = sys.executable
    client.execute()
    assert [len(cell.outputs) for cell in book.cells] == [0, 2, 2]
    for state in (book, nbformat.from_dict({**book, "metadata": {}})):
        page, _ = HTMLExporter().from_notebook_node(state)
        told = read(page)
        for fact in demo.facts.candidates():
            assert told.count(fact.text) >= 1
        assert told.count("核心 10 条　稳定 17 条　临时 20 条") == 2
        assert demo.assemble(now=DEMO_NOW).text.split("\n")[2] in told
        assert ".sn-behind{display:none" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)


def test_without_ipywidgets_the_panels_are_read(demo, files_of):
    """COMPLAINTS 67: run with ipywidgets absent."""
    before = files_of(demo.home.root)
    code = (
        "import sys\n"
        "sys.modules['ipywidgets'] = None\n"
        "import selfnote, selfnote.panels as panels\n"
        "from selfnote.demo import DEMO_NOW\n"
        "m = selfnote.open_memory(sys.argv[1])\n"
        "every = panels.open(m, live=True, now=DEMO_NOW)\n"
        "one = panels.notes(m, now=DEMO_NOW)\n"
        "print(every); print(one); print(every._repr_html_()); print(one._repr_html_()); every.close(); one.close()\n"
    )
    ran = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code, str(demo.home.root)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    assert ran.stdout.count("没有装 ipywidgets") == 4
    for title in ("概览", "自述", "人格", "记忆", "画像", "注入"):
        assert f"\n{title}\n" in ran.stdout
        assert f"<h2>{title}</h2>" in ran.stdout
    assert ran.stderr == ""
    assert files_of(demo.home.root) == before


def test_importing_the_panels_costs_no_widgets():
    """T11: names are there, widgets come with the first panel."""
    code = "import sys, selfnote; selfnote.panels.open; print('ipywidgets' in sys.modules, 'pandas' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "False"]


def test_every_panel_can_be_opened_alone(demo, hand):
    for tab in TABS:
        assert hand(getattr(panels, tab)(demo, now=DEMO_NOW)).view.state.name == tab
    assert set(panels.__all__) == {"open", *TABS}
