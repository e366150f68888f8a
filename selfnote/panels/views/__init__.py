"""The panels as widgets: each view mirrors one state; what a control does is an act of the state, and nothing else.

Every widget a test may look for has a class ``sn-<what>`` or ``sn-<what>-<id>``; in an id, what is neither a letter, a
digit, ``_`` nor ``-`` is written ``-`` (``slug``). Hidden widgets have the class ``sn-hidden`` too.

=============== ==========================================================================================
Where            Classes
=============== ==========================================================================================
all together     ``sn-panels``; the tabs ``sn-tabs``; ``sn-refresh``; what tells the page names and keeps the focus
                 ``sn-access``
every panel      ``sn-panel sn-<tab>``; what cannot be read ``sn-problems``; what stays in sight
                 ``sn-sticky``, with something written and not saved ``sn-unsaved``; what was done or refused
                 ``sn-notice`` (inside it ``sn-error`` or ``sn-message``); why controls are disabled ``sn-why``
a list           ``sn-list-<list>``; its pages ``sn-next-<list>``, ``sn-previous-<list>``, ``sn-page-<list>``
a field          the field itself ``sn-field-<key>``; ``sn-save-<key>``, ``sn-discard-<key>``,
                 ``sn-overwrite-<key>``, its count ``sn-count-<key>``, what changed elsewhere ``sn-elsewhere-<key>``
a row's source   ``sn-opened`` (what was said), ``sn-close-source``
memory           the parts open by ``sn-open-candidates``, ``sn-open-conflicts``, ``sn-open-approved``,
                 ``sn-open-retired``, ``sn-open-habits``; ``sn-undo``, ``sn-results``, ``sn-keys``
- candidates     ``sn-query``, ``sn-show``, ``sn-capture``, ``sn-trigger``, ``sn-sort``, ``sn-group-by``;
                 ``sn-approve-selected``, ``sn-retire-selected``, ``sn-select-page``, ``sn-select-none``
- a candidate    ``sn-card-<id>`` (at the cursor ``sn-at-cursor`` too): ``sn-approve-<id>``, ``sn-retire-<id>``,
                 ``sn-select-<id>``, ``sn-source-<id>``, ``sn-preview-<id>``, ``sn-edit-<id>``
- a group        ``sn-group-<key>``: ``sn-approve-group-<key>``, ``sn-retire-group-<key>``,
                 ``sn-open-group-<key>``; ``sn-close-group``
- a conflict     ``sn-conflict-<left>-<right>``: ``sn-keep-<kept>-over-<other>``,
                 ``sn-keep-both-<left>-<right>``, ``sn-preview-keep-<kept>-over-<other>``
- the editor     fields ``<id>:text``, ``<id>:tags``, ``<id>:importance`` (so ``sn-field-<id>-text``,
                 ``sn-save-<id>-text``), ``sn-close-editor``; drafts left elsewhere ``sn-open-draft``
- approved       ``sn-fact-<id>``: ``sn-edit-<id>``, ``sn-source-<id>``, ``sn-retire-<id>``; ``sn-approved-query``,
                 ``sn-approved-capture``, ``sn-approved-tag``, ``sn-approved-state``, ``sn-approved-sort``,
                 ``sn-retire-matching``
- retired        ``sn-retired-<id>``: ``sn-restore-<id>``, ``sn-source-<id>``
- habits         ``sn-offer-<tag>``: field ``habit:<tag>``, ``sn-promote-<tag>``; ``sn-habit-<id>``:
                 ``sn-revoke-<id>``
persona          fields ``l0``, ``l1``, ``l2``; over a limit ``sn-over``; ``sn-import-agent-file``, ``sn-save-persona``
- evidence       ``sn-evidence-<id>``: ``sn-tick-<id>``; ``sn-show-handled``, ``sn-write-rule``, ``sn-quotes``,
                 ``sn-rule``, ``sn-rule-room``, ``sn-add-rule``, ``sn-dismiss``; how rules fare ``sn-rules``
notes            ``sn-new-note``, ``sn-new-tier``, ``sn-new-pinned``, ``sn-add-note``, ``sn-tier``, ``sn-clear``,
                 ``sn-cancel-clear``, ``sn-ledger``
- a note         ``sn-note-<id>``: ``sn-delete-<id>``, ``sn-edit-<id>``, ``sn-pin-<id>``, ``sn-tier-<id>``; the
                 field ``<id>``
profile          ``sn-profile-text``, field ``override``, ``sn-start``, ``sn-still-holds``, ``sn-follow-facts``
injection        ``sn-text``, ``sn-bill``, ``sn-squeezed-<id>``: ``sn-fix-<id>``, ``sn-explain-<id>``;
                 ``sn-state``, ``sn-sort``, ``sn-attribution``
overview         ``sn-switch-<name>``, fields by the name of a setting, ``sn-bars``, ``sn-index``,
                 ``sn-rebuild-index``; ``sn-export``, ``sn-package``, ``sn-choose-package``, ``sn-keep-status``,
                 ``sn-plan``, ``sn-import``, ``sn-put-away``; ``sn-file-<key>`` (its path ``sn-path``):
                 ``sn-reveal-<key>``
=============== ==========================================================================================
"""

from __future__ import annotations

from selfnote.panels.views.injection import InjectionView
from selfnote.panels.views.memory import MemoryView
from selfnote.panels.views.notes import NotesView
from selfnote.panels.views.overview import OverviewView
from selfnote.panels.views.panel import PanelView
from selfnote.panels.views.persona import PersonaView
from selfnote.panels.views.profile import ProfileView
from selfnote.panels.views.together import PanelsView

__all__ = [
    "InjectionView",
    "MemoryView",
    "NotesView",
    "OverviewView",
    "PanelView",
    "PanelsView",
    "PersonaView",
    "ProfileView",
]
