"""How the panels look: one small sheet over the notebook's own colours, light and dark, with contrast to read by."""

from __future__ import annotations

#: Colours stand beside the notebook's own, with fallbacks where there is none (Voilà's page, VS Code); AA on both.
SHEET = """
.sn-panel,.sn-panels{--sn-ink:var(--jp-content-font-color1,#1c1e21);--sn-dim:#55595f;--sn-line:#8a8f98;
--sn-paper:var(--jp-layout-color1,#fff);--sn-field:var(--jp-layout-color2,#f2f3f4);
--sn-good:#17663b;--sn-bad:#a3161d;--sn-warn:#7a4b00;--sn-info:#0b5a86;--sn-on:#fff;
color:var(--sn-ink);line-height:1.5;max-width:84em;overflow:visible}
[data-jp-theme-light="false"] .sn-panel,[data-jp-theme-light="false"] .sn-panels,
.vscode-dark .sn-panel,.vscode-dark .sn-panels{--sn-ink:var(--jp-content-font-color1,#e7e9ec);--sn-dim:#b4bac2;
--sn-line:#7d8590;--sn-paper:var(--jp-layout-color1,#15171a);--sn-field:var(--jp-layout-color2,#24272b);
--sn-good:#6fd39b;--sn-bad:#ff8f8f;--sn-warn:#f0b95a;--sn-info:#74c0ee;--sn-on:#111}
.sn-hidden,.sn-behind{display:none!important}
.jp-OutputArea-child:has(>.jp-RenderedHTMLCommon .sn-behind){display:none}
.sn-panel .widget-box,.sn-panel .jupyter-widget-box,.sn-panel.widget-box{overflow:visible}
.sn-panel .widget-html,.sn-panel .widget-html-content{height:auto;line-height:1.5;color:var(--sn-ink);
font-size:var(--jp-ui-font-size1,13px);min-width:0;max-width:100%}
.sn-panel .widget-html-content{overflow-wrap:anywhere;width:100%}
.sn-panel h3{font-size:1.08em;margin:.9em 0 .3em;line-height:1.3}
.sn-panel p{margin:.2em 0}
.sn-panel pre{white-space:pre-wrap;word-break:normal;overflow-wrap:break-word;
font-family:inherit;margin:.3em 0;padding:.6em .8em;
border:1px solid var(--sn-line);border-radius:4px;background:var(--sn-field);color:var(--sn-ink)}
.sn-panel .sn-bar{flex-flow:row wrap;gap:.2em .5em;align-items:center}
.sn-panel .sn-row{border:1px solid var(--sn-line);border-radius:4px;padding:.4em .7em;margin:.25em 2px;
background:var(--sn-paper)}
.sn-panel .sn-at-cursor{outline:3px solid var(--sn-info);outline-offset:-1px}
.sn-panels>.sn-lead,.sn-panel>.sn-lead,.sn-lead>.widget-html-content{height:auto;line-height:1.6}
.sn-panel .sn-said{font-size:1.08em}
.sn-panel .sn-dim,.sn-panel .sn-why{color:var(--sn-dim)}
.sn-panel .sn-badge{display:inline-block;border:1px solid currentColor;border-radius:3px;padding:0 .35em;
margin:0 .3em 0 0;font-size:.92em;color:var(--sn-ink)}
.sn-panel .sn-bad{color:var(--sn-bad);font-weight:600}
.sn-panel .sn-good{color:var(--sn-good)}
.sn-panel .sn-warn{color:var(--sn-warn);font-weight:600}
.sn-panel .sn-sticky{position:sticky;top:-10px;padding-top:10px;z-index:2;background:var(--sn-paper)}
.sn-tabs .widget-tab-contents,.sn-tabs .jupyter-widget-TabPanel-tabContents,.sn-tabs .widget-box,
.jp-OutputArea-output:has(.sn-panel),.jp-OutputArea-child:has(.sn-panel),.jp-Cell-outputArea:has(.sn-panel){
overflow:visible!important}
.jp-mod-outputsScrolled .jp-Cell-outputArea:has(.sn-panel){max-height:none!important;height:auto!important}
.jp-mod-outputsScrolled .jp-Cell-outputArea:has(.sn-panel)::after{display:none}
.sn-panel .sn-error{border-left:4px solid var(--sn-bad);padding:.2em .7em;background:var(--sn-field)}
.sn-panel .sn-message{border-left:4px solid var(--sn-good);padding:.2em .7em;background:var(--sn-field)}
.sn-panel .sn-problem{border-left:4px solid var(--sn-warn);padding:.2em .7em;background:var(--sn-field)}
.sn-panel .sn-two{display:grid;grid-template-columns:1fr 1fr;gap:1em}
.sn-panel .sn-two>div{border:1px solid var(--sn-line);border-radius:4px;padding:.3em .6em}
.sn-panel .sn-wide{overflow-x:auto}
.sn-panel table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:inherit}
.sn-panel caption{text-align:start;font-weight:600;padding:.3em 0;color:var(--sn-ink)}
.sn-panel th,.sn-panel td{text-align:start;vertical-align:top;padding:.2em .9em .2em 0;
border-bottom:1px solid var(--sn-line);background:transparent}
.sn-panel tbody th{font-weight:400;white-space:nowrap}
.sn-panel .number{text-align:end;white-space:nowrap}
.sn-panel .wide{overflow-x:auto}
.sn-panel td{min-width:5em;overflow-wrap:break-word}
.sn-panel .number,.sn-panel .sn-wide td:first-child{min-width:0}
.sn-panel .text{min-width:16em}
.sn-panel .sn-unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.sn-panel th:has(>.sn-unseen){padding:0;border:0;position:relative}
.sn-panel .bar{min-width:11em}
.sn-panel .bar span{display:block;height:.75em;margin-top:.4em;border:1px solid var(--sn-line)}
.sn-panel .bar i{display:block;height:100%;background:#2f8a57}
.sn-panel .jupyter-button,.sn-panel .widget-toggle-button,.sn-panels .sn-refresh{
width:auto;height:auto;min-height:28px;padding:0 .8em;
line-height:1.9;white-space:normal;color:var(--sn-ink);background:var(--sn-field);border:1px solid var(--sn-line);
border-radius:3px}
.sn-panel .jupyter-button:disabled{opacity:1;color:var(--sn-dim);border-style:dashed;cursor:not-allowed}
.sn-panel .jupyter-button.sn-primary:enabled{background:var(--sn-good);color:var(--sn-on);border-color:var(--sn-good)}
.sn-panel .jupyter-button.sn-danger:enabled{background:var(--sn-bad);color:var(--sn-on);border-color:var(--sn-bad)}
.sn-panel .widget-vbox>.jupyter-button{align-self:flex-start}
.sn-panel input::placeholder,.sn-panel textarea::placeholder{color:var(--sn-dim);opacity:1}
.sn-panel input:placeholder-shown{text-overflow:ellipsis}
.sn-panel .sn-section{font-weight:600;text-align:start;margin-top:.7em;width:calc(100% - 4px);max-width:none}
.sn-panels :is(button,[role=tab]):focus-visible,
.sn-panel :is(button,textarea,input,select,[tabindex]):focus-visible{
outline:3px solid var(--sn-info)!important;outline-offset:1px!important}
.sn-panels [role=tab]:focus-visible,
.sn-panel :is(textarea,select,input:not([type=checkbox])):focus-visible{outline-offset:-2px!important}
.sn-panel :is(button,textarea,input,select,[tabindex],.sn-row){scroll-margin:8em 0 1em}
.sn-panel :is(textarea,input,select){border-color:var(--sn-line)!important}
.sn-panel .widget-label,.sn-panel .widget-label-basic{color:var(--sn-ink);width:auto;max-width:none}
.sn-panel .widget-text,.sn-panel .widget-dropdown{width:auto}
.sn-panel .widget-text input{min-width:min(18em,100%)}
.sn-panel .widget-text input[type=number]{min-width:0;flex:0 0 7em}
.sn-panel .sn-query,.sn-panel .sn-approved-query{flex:1 1 34em}
.sn-panel .widget-dropdown select{min-width:8em}
.sn-panel .sn-field{flex-flow:column;width:calc(100% - 4px);max-width:none;align-items:stretch}
.sn-panel .sn-field .widget-label{text-align:start;height:auto;line-height:1.6;font-weight:600}
.sn-panel .sn-field textarea{min-height:3em;width:100%;box-sizing:border-box}
.sn-panel .widget-checkbox{width:auto}
.sn-panel .widget-checkbox .widget-label{display:none}
.sn-panel .sn-path{font:inherit;color:var(--sn-info);background:none;border:0;padding:0;text-align:start;
text-decoration:underline;cursor:copy;overflow-wrap:anywhere;user-select:all}
.sn-panel .sn-meter{display:grid;grid-template-columns:max-content minmax(6em,24em);gap:.15em .8em}
.sn-panel .sn-meter span{border:1px solid var(--sn-line);height:.8em;align-self:center}
.sn-panel .sn-meter i{display:block;height:100%;background:#2f8a57}
.sn-panels .lm-TabBar-content{flex-wrap:wrap;row-gap:2px}
.sn-panels .lm-TabBar-tab,.sn-panels .p-TabBar-tab{
min-width:7em!important;max-width:none!important;width:auto!important;flex:0 0 auto!important;
color:var(--sn-ink)!important}
.sn-panels .lm-TabBar-tab.lm-mod-current,.sn-panels .p-TabBar-tab.p-mod-current{font-weight:600}
"""
