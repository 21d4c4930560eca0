"""The HTML around the widgets: the style of the page, status lines and headings."""

from __future__ import annotations

from enum import Enum
from xml.etree.ElementTree import Element, SubElement

from ctxopt_core.display.html import STYLE as SHEET_STYLE
from ctxopt_core.display.html import as_markup
from ctxopt_core.text.display_text import preview

_FAINT = "rgba(127,127,127,.35)"
_LAYOUT = """
.ctxopt-playground{container-type:inline-size;contain-intrinsic-inline-size:340px;width:100%;max-width:100%;box-sizing:border-box;overflow:visible;
font-family:var(--jp-ui-font-family,system-ui,sans-serif);color:var(--jp-ui-font-color1,inherit)}
.ctxopt-playground *,.ctxopt-playground *::before{box-sizing:border-box}
.ctxopt-playground .widget-html,.ctxopt-playground .widget-html-content{width:100%;min-width:0;height:auto;
line-height:1.45;overflow:visible}
.ctxopt-playground .widget-box{min-width:0;overflow:visible}
.ctxopt-playground .ctxopt-columns{display:grid;grid-template-columns:minmax(300px,370px) minmax(0,1fr);gap:0 28px;
align-items:start;width:100%}
@container (max-width:760px){.ctxopt-playground .ctxopt-columns{grid-template-columns:minmax(0,1fr)}}
.ctxopt-playground .ctxopt-group{padding:12px 0 10px;border-top:1px solid FAINT;width:100%}
.ctxopt-playground .ctxopt-heading{font-size:14px;font-weight:600;margin:0 0 6px;line-height:1.3}
.ctxopt-playground .ctxopt-status{margin:2px 0 6px;font-size:12.5px;color:var(--jp-ui-font-color2,inherit);
overflow-wrap:anywhere}
.ctxopt-playground .ctxopt-caution,.ctxopt-playground .ctxopt-problem{color:inherit;padding:5px 9px;
border-left:3px solid #E69F00;background:rgba(230,159,0,.14)}
.ctxopt-playground .ctxopt-problem{border-left-color:#D55E00;background:rgba(213,94,0,.16)}
.ctxopt-playground .widget-inline-hbox{width:100%;margin:1px 0;min-width:0;max-width:100%}
.ctxopt-playground .widget-inline-hbox .widget-label{width:8.2em;min-width:8.2em;text-align:left;font-size:13px}
.ctxopt-playground .widget-readout{min-width:4.2em;text-align:right;font-variant-numeric:tabular-nums}
.ctxopt-playground .widget-checkbox{width:auto;margin:0}
.ctxopt-playground .widget-checkbox .widget-label-basic{width:auto;padding:0;display:flex;align-items:center}
.ctxopt-playground .widget-checkbox input{margin:0 7px 0 0}
.ctxopt-playground .ctxopt-pasted .widget-textarea{flex-direction:column;height:auto}
.ctxopt-playground .ctxopt-pasted .widget-textarea .widget-label{position:absolute;width:1px;min-width:0;height:1px;
overflow:hidden;clip-path:inset(50%)}
.ctxopt-playground .ctxopt-pasted textarea{width:100%;height:172px;resize:vertical;
font:12px/1.45 var(--jp-code-font-family,ui-monospace,monospace)}
.ctxopt-playground .ctxopt-beneath{align-items:flex-start;gap:4px 12px;flex-flow:row wrap}
.ctxopt-playground .ctxopt-beneath .widget-html{flex:1 1 190px;width:auto}
.ctxopt-playground .ctxopt-beneath .widget-html:has(.ctxopt-problem){flex-basis:100%}
.ctxopt-playground .jupyter-button{width:auto;padding:0 12px;margin:2px 0;flex:0 0 auto;align-self:flex-start}
.ctxopt-playground .ctxopt-choices{display:flex;flex-flow:row wrap;gap:2px 18px;align-items:center}
.ctxopt-playground .ctxopt-choices .widget-html{width:auto}
.ctxopt-playground .widget-toggle-buttons{width:100%;height:auto}
.ctxopt-playground .widget-toggle-buttons .widget-toggle-button{width:auto;padding:0 12px;margin:0 6px 6px 0}
.ctxopt-playground .ctxopt-cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,245px),1fr));
gap:12px;margin:8px 0 6px}
.ctxopt-playground .ctxopt-card{border:1px solid FAINT;border-radius:6px;padding:10px 13px 12px;min-width:0;
background:var(--jp-layout-color1,transparent)}
.ctxopt-playground .ctxopt-chosen{outline:2px solid var(--jp-brand-color1,#1976d2);outline-offset:-1px}
.ctxopt-playground .ctxopt-card h4{margin:0;font:600 15px/1.3 var(--jp-ui-font-family,system-ui,sans-serif)}
.ctxopt-playground .ctxopt-card p.ctxopt-keeps{margin:1px 0 8px;font-size:12px;line-height:1.35;
color:var(--jp-ui-font-color2,inherit)}
@container (min-width:761px){.ctxopt-playground .ctxopt-card p.ctxopt-keeps{min-height:2.7em}}
.ctxopt-playground .ctxopt-card .ctxopt-total,.ctxopt-playground .ctxopt-card .ctxopt-title{margin:0 0 2px;
font-size:17px;font-weight:600;line-height:1.3;font-variant-numeric:tabular-nums}
.ctxopt-playground .ctxopt-card .ctxopt-why{font-size:12.5px;overflow-wrap:anywhere;margin:4px 0 0}
.ctxopt-playground .ctxopt-failed{border-left:3px solid #D55E00}
.ctxopt-playground .ctxopt-card .ctxopt-label{margin:7px 0 2px;font-size:12.5px}
.ctxopt-playground .ctxopt-card .ctxopt-bar{height:1.5em;font-size:12px}
.ctxopt-playground .ctxopt-card .ctxopt-segment{line-height:1.6em}
.ctxopt-playground .ctxopt-card table{width:100%;margin:8px 0 0;font-size:12.5px;min-width:0}
.ctxopt-playground .ctxopt-card caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.ctxopt-playground .ctxopt-card .ctxopt-report td{text-align:right;padding-right:0;font-variant-numeric:tabular-nums}
.ctxopt-playground .ctxopt-card tr:last-child>*{border-bottom:0}
.ctxopt-playground .ctxopt-legend{font-size:12px;margin:0 0 8px}
.ctxopt-playground .ctxopt-legend p{display:flex;flex-flow:row wrap;gap:2px 14px;margin:2px 0;align-items:center}
.ctxopt-playground .ctxopt-entry{display:inline-flex;align-items:center;gap:5px}
.ctxopt-playground .ctxopt-sample{width:1.2em;height:.95em;outline:1px solid rgba(127,127,127,.6)}
.ctxopt-playground .ctxopt-beside{display:none}
@container (max-width:760px){.ctxopt-playground .ctxopt-beside{display:flex;position:sticky;bottom:0;z-index:5;
background:var(--jp-layout-color1,Canvas);border-top:1px solid FAINT;box-shadow:0 -2px 8px rgba(0,0,0,.15)}}
.ctxopt-playground .ctxopt-summary{display:flex;flex-flow:row wrap;gap:1px 14px;margin:0;padding:6px 8px;
font-size:12px;font-variant-numeric:tabular-nums}
.ctxopt-playground .ctxopt-download{font-size:13px;color:var(--jp-content-link-color,#1976d2)}
.ctxopt-playground .ctxopt-next-turns table{width:100%;min-width:0;font-size:12.5px}
.ctxopt-playground .ctxopt-next-turns :is(th,td){white-space:normal;overflow-wrap:anywhere;padding:3px 6px 3px 0}
.ctxopt-playground .ctxopt-report .ctxopt-tables{gap:0 2.4em}
.ctxopt-playground .ctxopt-report .ctxopt-tables>table{max-width:100%}
"""


STYLE = SHEET_STYLE + _LAYOUT.replace("\n", "").replace("FAINT", _FAINT)
_LONGEST_SENTENCE = 600  # characters: a few lines beside a box, also for an error that quotes what was pasted


class Tone(Enum):
    """The tone of a status line, and the word that says it to readers who do not see the color."""

    PLAIN = ""
    CAUTION = "Note: "
    PROBLEM = "Problem: "


def status_line(sentence: str, tone: Tone = Tone.PLAIN) -> str:
    """Return a sentence as the HTML of a status line. Screen readers read out its changes."""
    line = Element("p", {"class": f"ctxopt-status ctxopt-{tone.name.lower()}", "role": "status"})
    if tone.value:
        SubElement(line, "b").text = tone.value
    SubElement(line, "span").text = preview(sentence, _LONGEST_SENTENCE)
    return as_markup(line)


def heading(text: str) -> str:
    """Return the heading of a group of widgets as HTML."""
    found = Element("h3", {"class": "ctxopt-heading"})
    found.text = text
    return as_markup(found)
