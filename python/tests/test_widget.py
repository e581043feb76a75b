"""Three knobs in a notebook: Python answers as they are turned, and the page of the widget turns them."""

import json
import os
import shutil
import subprocess
import sys

import pyarrow as pa
import pytest
from conftest import ROOT, patients, roles

import incrowd as ic

anywidget = pytest.importorskip("anywidget")


@pytest.fixture
def lattice():
    return ic.Table(pa.table(patients()), **roles()).annotate()


def test_the_answer_is_that_of_the_lattice_whatever_is_turned(lattice):
    widget = lattice.widget(k=5, max_suppressed=0.05, max_level={"age": 2}, l=2)
    tops = {"age": 4, "zip": 4, "town": 2, "seen": 3}
    assert widget.max_level == {**tops, "age": 2} and widget.k_max == 400
    held = {"l": 2}
    for turned in ({}, {"k": 40}, {"max_suppressed": 0.0}, {"max_level": {**tops, "zip": 1, "age": 0}}, {"k": 2}):
        for name, value in turned.items():
            setattr(widget, name, value)
        asked = {"k": widget.k, "max_suppressed": widget.max_suppressed, "max_level": widget.max_level}
        expected = lattice.negotiate(**asked, **held)
        assert widget.answer == expected and widget.answer_html == expected._repr_html_(), turned
    widget.k, widget.max_level = 5, tops
    assert lattice.table.publish(widget.answer).verify().holds


def test_what_cannot_be_asked_is_said_and_not_raised(lattice):
    widget = lattice.widget()
    widget.max_level = {"nowhere": 1}
    assert widget.answer is None and "nowhere" in widget.answer_html
    with pytest.raises(ic.Error, match="no attribute"):
        lattice.widget(max_level={"nowhere": 1})


def test_without_anywidget_it_says_what_to_install():
    code = ("import sys; sys.modules['anywidget'] = None\nimport incrowd as ic\n"
            "try:\n    ic.Table({'age': [1, 1]}, ['age']).annotate().widget()\nexcept ic.Error as error:\n    print(error.hint)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "pip install 'incrowd[widget]'", done.stderr


PAGE = """<!doctype html><meta charset="utf-8"><body><script type="module">
const source = %s;
const widget = (await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })))).default;
const state = %s;
const acts = {};
let n_saved = 0;
const model = {
  get: (name) => state[name],
  set: (name, value) => { state[name] = value; (acts[`change:${name}`] || []).forEach((act) => act()); },
  save_changes: () => { n_saved += 1; },
  on: (name, act) => { (acts[name] ||= []).push(act); },
  off: (name, act) => { acts[name] = acts[name].filter((other) => other !== act); },
};
const el = document.createElement("div");
const end = widget.render({ model, el });
document.body.append(el);
const knobs = [...el.querySelectorAll("input[type=range]")];
const turn = (knob, value) => { knob.value = value; knob.dispatchEvent(new Event("input")); };
const seen = { names: [...el.querySelectorAll("label span")].map((span) => span.textContent), first: el.textContent };
turn(knobs[0], 1);
turn(knobs[1], 2.5);
turn(knobs[2], 1);
seen.state = { k: state.k, max_suppressed: state.max_suppressed, max_level: { ...state.max_level } };
seen.said = [...el.querySelectorAll("output")].map((output) => output.textContent);
model.set("answer_html", "<b>other</b>");
seen.other = el.querySelector("b").textContent;
model.set("k", 2);
seen.k = knobs[0].value;
end();
seen.left = Object.values(acts).flat().length;
seen.n_saved = n_saved;
const shown = document.createElement("pre");
shown.textContent = JSON.stringify(seen);
document.body.replaceChildren(shown);
</script>"""


def test_the_knobs_turn_what_python_is_asked(lattice, tmp_path):
    browser = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no browser can be had here")
    widget = lattice.widget(k=5, max_suppressed=0.01)
    state = {name: getattr(widget, name) for name in ("attributes", "k_max", "k", "max_suppressed", "max_level", "answer_html")}
    source = (ROOT / "python/incrowd/_widget.js").read_text()
    page = tmp_path / "page.html"
    page.write_text(PAGE % tuple(json.dumps(part).replace("<", "\\u003c") for part in (source, state)))
    done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/profile",
                           "--virtual-time-budget=5000", "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=60)
    seen = json.loads(done.stdout.split("<pre>")[1].split("</pre>")[0].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    assert seen["names"] == ["privacy", "records lost", "age", "zip", "town", "seen"]
    assert "k = 5" in seen["first"] and "at most 1 %" in seen["first"] and "promised" in seen["first"]
    assert seen["state"] == {"k": 400, "max_suppressed": 0.025, "max_level": {**state["max_level"], "age": 1}}
    assert seen["said"][:3] == ["k = 400", "at most 2.5 %", "up to width 5"]
    assert seen["other"] == "other" and float(seen["k"]) == 0 and seen["left"] == 0 and seen["n_saved"] == 3
