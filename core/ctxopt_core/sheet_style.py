"""The styles of a sheet in a browser, all of them under one class of ours.

Where the class stands twice, JupyterLab has a rule of its own for what the output holds, and ours is to win.
"""

from __future__ import annotations

from ctxopt_core.palette import INK, LOOKS, Look

_LAYOUT = """
.ctxopt-report{font:13px/1.45 var(--jp-content-font-family,var(--vscode-font-family,system-ui,sans-serif));
color:var(--jp-content-font-color1,var(--vscode-editor-foreground,inherit));overflow-wrap:break-word}
.ctxopt-report:has(.ctxopt-bar){max-width:72em}
.ctxopt-report .ctxopt-foreign{overflow-wrap:anywhere;min-width:4.5em}
.ctxopt-report p{margin:.5em 0 .2em}
.ctxopt-report .ctxopt-title{font-size:1.1em;font-weight:600}
.ctxopt-report .ctxopt-bar{display:flex;height:1.8em;box-sizing:border-box;min-width:2px;
outline:1px solid rgba(127,127,127,.6);print-color-adjust:exact;-webkit-print-color-adjust:exact}
.ctxopt-report .ctxopt-segment{display:flex;flex-wrap:wrap;flex:0 1 auto;min-width:2px;height:100%;overflow:hidden;
box-sizing:border-box;border-right:1px solid rgba(127,127,127,.6);font-size:.92em;line-height:1.95em}
.ctxopt-report .ctxopt-segment .ctxopt-comma{display:none}
.ctxopt-report .ctxopt-segment::before{content:"";width:1px;height:100%}
.ctxopt-report .ctxopt-segment>span{white-space:nowrap;padding:0 .35em}
.ctxopt-report .ctxopt-tables{display:flex;flex-wrap:wrap;align-items:flex-start;gap:0 3em;overflow-x:auto}
.ctxopt-report table{border-collapse:collapse;margin:.9em 0 0;font-size:1em;max-width:100%;
min-width:min(100%,22em);table-layout:auto}
.ctxopt-report caption{caption-side:top;text-align:left;font-weight:600;padding:.2em 0;color:inherit}
.ctxopt-report.ctxopt-report th,.ctxopt-report.ctxopt-report td{
text-align:left;vertical-align:top;padding:.15em .7em .15em 0;font-weight:400;
border:0;border-bottom:1px solid rgba(127,127,127,.35);background:none;color:inherit;white-space:normal;max-width:44em}
.ctxopt-report.ctxopt-report thead th{font-weight:600;border-bottom:1px solid rgba(127,127,127,.8)}
.ctxopt-report.ctxopt-report .ctxopt-figure{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.ctxopt-report.ctxopt-report .ctxopt-marked{position:relative;padding-left:1.4em}
.ctxopt-report .ctxopt-mark{position:absolute;left:0;top:.35em;width:.9em;height:.9em;
outline:1px solid rgba(127,127,127,.6);print-color-adjust:exact;-webkit-print-color-adjust:exact}
"""
_STRIPE = "rgba(17,17,17,.16)"


def _rule(kind: str, look: Look) -> str:
    stripes = f"repeating-linear-gradient({look.angle}deg,transparent 0 4px,{_STRIPE} 4px 6px)"
    if look.colour is None:
        grey = stripes.replace(_STRIPE, "rgba(127,127,127,.3)")
        return f".ctxopt-report .ctxopt-{kind}{{background:{'none' if look.angle is None else grey}}}"
    background = look.colour if look.angle is None else f"{look.colour} {stripes}"
    return f".ctxopt-report .ctxopt-{kind}{{background:{background};color:{INK}}}"


STYLE = "".join((_LAYOUT.replace("\n", ""), *(_rule(kind, look) for kind, look in LOOKS.items())))
