//! What a cell shows: figures, pictures, tables, formulas and what IPython's classes make, through the built program.
//!
//! Pictures are looked at inside: Pillow of the guest decodes them in a next cell, and knows their size and colours.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::tool::{Done, ready, run};

/// Says of each `0.png`, `1.png` and so on its size and how many colours it has.
const LOOK: &str = "
import itertools, os
from PIL import Image
for name in map('{}.png'.format, itertools.count()):
    if not os.path.exists(name):
        break
    image = Image.open(name)
    assert image.format == 'PNG', image.format
    print(*image.size, len(image.convert('RGB').getcolors(1 << 16) or range(1 << 16)))
";

#[track_caller]
fn cell(code: &str) -> Value {
    let outcome = run(&["exec", "--json", "--timeout", "60", "-c", code]).exits(0).json();
    assert_eq!((&outcome["status"], &outcome["stderr"]), (&json!("ok"), &json!("")), "{}", outcome["error"]);
    outcome
}

/// The texts of the displays.
fn texts(outcome: &Value) -> Vec<&str> {
    let displays = outcome["displays"].as_array().unwrap();
    displays.iter().map(|bundle| bundle["text/plain"].as_str().unwrap_or("")).collect()
}

/// Width, height and number of colours of each PNG among the displays and the result.
#[track_caller]
fn pictures(outcome: &Value) -> Vec<[u32; 3]> {
    let bundles = outcome["displays"].as_array().unwrap().iter().chain([&outcome["result"]]);
    let folder = tempfile::tempdir().unwrap();
    let mut arguments: Vec<String> = ["exec", "-c", LOOK].map(String::from).into();
    for (number, text) in bundles.filter_map(|bundle| bundle["image/png"].as_str()).enumerate() {
        let file = folder.path().join(format!("{number}.png"));
        std::fs::write(&file, STANDARD.decode(text).unwrap()).unwrap();
        arguments.extend(["--file".into(), file.to_str().unwrap().to_owned()]);
    }
    let looked = run(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).exits(0);
    let numbers = |line: &str| line.split(' ').map(|number| number.parse().unwrap()).collect::<Vec<_>>();
    looked.stdout.lines().map(|line| numbers(line).try_into().unwrap()).collect()
}

/// Whether pictures have about these sizes, and more than a background.
#[track_caller]
fn look_like(pictures: &[[u32; 3]], sizes: &[[u32; 2]]) {
    let near = |a: u32, b: u32| a.abs_diff(b) <= 40;
    let good = pictures.len() == sizes.len()
        && pictures
            .iter()
            .zip(sizes)
            .all(|(is, should)| near(is[0], should[0]) && near(is[1], should[1]) && is[2] > 20);
    assert!(good, "{pictures:?} for {sizes:?}");
}

#[test]
fn figures_are_shown_where_they_are_shown_and_at_the_end() {
    let outcome = cell(
        "
import matplotlib
matplotlib.use('Agg')
import matplotlib.pyplot as plt
plt.plot([1, 2, 3], label='a')
plt.legend()
plt.savefig('saved.png')
plt.show()
display('between')
fig, axes = plt.subplots(1, 2, figsize=(8, 3), tight_layout=True)
axes[0].hist([1, 1, 2])
image = axes[1].imshow([[1, 2], [3, 4]])
fig.colorbar(image)
fig.savefig('other.png')
plt.figure(5)
text = plt.title('$\\\\frac{1}{2}$')
",
    );
    let figure = |size, axes| format!("<Figure size {size} with {axes} Axes>");
    assert_eq!(texts(&outcome), [figure("640x480", 1), "'between'".into(), figure("800x300", 3), figure("640x480", 1)]);
    look_like(&pictures(&outcome), &[[560, 435], [800, 300], [560, 435]]);
    let files: Vec<_> = outcome["files"].as_array().unwrap().iter().map(|file| &file["path"]).collect();
    assert_eq!(files, ["other.png", "saved.png"]);
}

#[test]
fn a_figure_is_cut_as_jupyter_cuts_it() {
    // The sizes are those of `matplotlib_inline` with the same matplotlib.
    let outcome = cell(
        "
import matplotlib.pyplot as plt
plt.plot([1, 2, 3])
plt.show()
fig = plt.figure(figsize=(4, 2), dpi=150)
fig.text(-0.5, 0.5, 'far to the left')
line = fig.add_subplot().plot([1, 2])
",
    );
    let sizes = pictures(&outcome);
    assert_eq!([sizes[0][0], sizes[0][1]], [556, 413]);
    assert!(sizes[1][0] > 750, "what reaches over the edge is shown: {sizes:?}");
}

#[test]
fn a_figure_that_was_displayed_is_not_shown_twice() {
    let result = cell("import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.plot([1, 2])\nfig");
    assert_eq!(result["displays"], json!([]));
    look_like(&pictures(&result), &[[556, 413]]);
    let displayed =
        cell("import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.plot([1, 2])\ndisplay(fig)\nNone");
    assert_eq!(texts(&displayed).len(), 1);
    let text = cell("import matplotlib.pyplot as plt\nplt.plot([1, 2])");
    assert_eq!(text["result"].as_object().unwrap().keys().collect::<Vec<_>>(), ["text/plain"]);
    assert_eq!(texts(&text).len(), 1);
    let changed = cell("import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nfig.show()\nax.plot([1, 2])\nNone");
    assert_eq!(texts(&changed).len(), 2, "what was drawn later is shown too");
    let loops = "import matplotlib.pyplot as plt\nplt.ion()\nfig, ax = plt.subplots()\nplt.show()\n\
                 for i in range(3):\n    ax.plot([i, i + 1])\n    plt.pause(0.001)\nplt.ioff()";
    assert_eq!(texts(&cell(loops)).len(), 2);
}

#[test]
fn a_cell_that_raises_shows_its_figures_and_the_next_begins_without() {
    let code = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\n1 / 0";
    let done =
        run(&["exec", "--json", "--keep-going", "-c", code, "-c", "len(plt.get_fignums())", "-c", "plt.gcf(); None"]);
    let outcomes = done.exits(0).json();
    assert_eq!((&outcomes[0]["status"], texts(&outcomes[0]).len()), (&json!("error"), 1));
    assert_eq!(outcomes[1]["result"]["text/plain"], "0");
    assert_eq!(outcomes[2]["displays"], json!([{"text/plain": "<Figure size 640x480 with 0 Axes>"}]));
}

#[test]
fn what_cannot_be_drawn_is_told() {
    let failing = "import matplotlib.pyplot as plt\nplt.title('$\\\\frac$')\n";
    let shown = run(&["exec", "--json", "-c", &format!("{failing}plt.show()")]).exits(1).json();
    assert_eq!((&shown["error"]["type"], &shown["error"]["line"]), (&json!("ValueError"), &json!(3)));
    assert!(!shown["error"]["traceback"].as_str().unwrap().contains("_slm"), "{shown}");
    let open = run(&["exec", "--json", "-c", failing, "-c", "1"]).exits(0).json();
    assert!(open[0]["stderr"].as_str().unwrap().starts_with("Figure 1 could not be drawn: ValueError"), "{open}");
    let large =
        cell("import matplotlib.pyplot as plt\nfor side in (3000, 600): plt.figure(figsize=(side, side)).gca()");
    assert_eq!(
        texts(&large),
        [3000_u64, 600].map(|side| format!(
            "<Figure size {0}x{0} with 1 Axes> is too large to show: {1} megapixels are more than 34; a smaller figsize \
             or dpi helps",
            side * 100,
            side * side / 100
        ))
    );
    let noise = cell(
        "import numpy as np, matplotlib.pyplot as plt\nfig = plt.figure(figsize=(14, 14))\n\
         image = fig.add_axes([0, 0, 1, 1]).imshow(np.random.default_rng(0).random((1400, 1400, 3)))",
    );
    let [wide, ..] = pictures(&noise)[0];
    assert!((500..1400).contains(&wide), "6 MB of PNG are drawn anew with fewer pixels, {wide} wide");
}

#[test]
fn seaborn_pandas_networkx_and_sympy_draw() {
    let outcome = cell(
        "
import pandas as pd, seaborn as sns, networkx as nx, sympy
import matplotlib.pyplot as plt
table = pd.DataFrame({'a': [1, 2, 3], 'b': [3.0, 1, 2]}, index=['x', 'y', 'z'])
table.plot(kind='bar', title='Bars')
plt.show()
axes = sns.heatmap(table, annot=True)
plt.show()
nx.draw(nx.cycle_graph(5), with_labels=True)
plt.show()
x = sympy.Symbol('x')
plot = sympy.plot(x ** 2, (x, -1, 1), show=False)
plot.show()
",
    );
    assert_eq!(texts(&outcome).len(), 4, "{:?}", texts(&outcome));
    look_like(&pictures(&outcome)[..2], &[[550, 440], [510, 413]]);
    assert!(pictures(&outcome).iter().all(|[wide, high, colours]| *wide > 400 && *high > 300 && *colours > 20));
}

#[test]
fn tables_formulas_and_pictures_are_shown_richly() {
    let table = cell("import pandas as pd\ntable = pd.DataFrame({'a': [1]})\ndisplay(table, table.style)\ntable.a");
    assert!(table["displays"][0]["text/html"].as_str().unwrap().contains("<table border=\"1\""));
    assert!(table["displays"][1]["text/html"].as_str().unwrap().contains("<style type=\"text/css\">"));
    assert_eq!(table["result"].as_object().unwrap().keys().collect::<Vec<_>>(), ["text/plain"]);
    let formula = cell("import sympy\nsympy.sqrt(sympy.Symbol('x')) / 2");
    assert_eq!(
        formula["result"],
        json!({"text/plain": "sqrt(x)/2", "text/latex": r"$\displaystyle \frac{\sqrt{x}}{2}$"})
    );
    let picture =
        cell("from PIL import Image\nimport os\nImage.frombytes('RGB', (700, 700), os.urandom(3 * 700 * 700))");
    assert!(picture["result"]["image/png"].as_str().unwrap().len() > 1 << 20, "a result may be as large as a display");
    look_like(&pictures(&picture), &[[700, 700]]);
}

#[test]
fn ipythons_classes_are_there_and_its_shell_is_not() {
    let outcome = cell(
        "
from IPython.display import display, HTML, Markdown, Image, SVG, Latex, JSON, Math, Code, clear_output, Audio
from IPython.core.interactiveshell import InteractiveShell
InteractiveShell.ast_node_interactivity = 'all'
import IPython, IPython.core.display
assert IPython.get_ipython() is None and 'get_ipython' not in dir(__builtins__)
clear_output(wait=True)
display(HTML('<b>'), Markdown('# m'), Latex('$l$'), Math('x'), JSON({'k': [1]}), Code('x = 1', language='python'))
display(SVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>'), Image(data=b'\\x89PNG\\r\\n\\x1a\\n'))
display(Audio([0.0, 0.5], rate=8000))
handle = display('first', display_id=True)
handle.update('second')
IPython.display.display_html('<i>', raw=True)
",
    );
    let displays = outcome["displays"].as_array().unwrap();
    assert_eq!(displays[0], json!({"text/html": "<b>", "text/plain": "<IPython.core.display.HTML object>"}));
    let types =
        ["text/markdown", "text/latex", "text/latex", "application/json", "text/html", "image/svg+xml", "image/png"];
    for (display, mime) in displays[1..].iter().zip(types) {
        assert!(display.get(mime).is_some(), "{mime}: {display}");
    }
    assert_eq!(
        (&displays[3]["text/latex"], &displays[4]["application/json"]),
        (&json!(r"$\displaystyle x$"), &json!("{\"k\": [1]}"))
    );
    assert!(displays[8]["text/html"].as_str().unwrap().contains("data:audio/wav;base64,UklGR"));
    assert_eq!((&displays[9]["text/plain"], &displays[10]["text/plain"]), (&json!("'first'"), &json!("'second'")));
    assert_eq!(displays[11], json!({"text/html": "<i>"}));
    let failed = run(&["exec", "--json", "-c", "from IPython.display import Image\nImage('none.png')"]).exits(1).json();
    assert_eq!((&failed["error"]["type"], &failed["error"]["line"]), (&json!("FileNotFoundError"), &json!(2)));
    assert!(!failed["error"]["traceback"].as_str().unwrap().contains("_slm"), "{failed}");
    // One of the user's own goes first, and asking costs a plain program nothing that it could see.
    let own = "open('IPython.py', 'w').write('mine = 1')\nimport sys\nprint('IPython' in sys.modules)\nimport IPython\nprint(IPython.mine)";
    assert_eq!(cell(own)["stdout"], "False\n1\n");
}

#[test]
fn displays_are_written_as_files_and_named() {
    ready();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("results");
    let out = out.to_str().unwrap();
    let code = "
import matplotlib.pyplot as plt, pandas as pd
open('display-1.png', 'w').write('mine')
plt.plot([1, 2])
plt.show()
display(pd.DataFrame({'a': [1]}), 5)
";
    let image = "from PIL import Image\nImage.new('L', (2, 2))";
    let done: Done = run(&["exec", "--out", out, "-c", code, "-c", image]).exits(0);
    assert!(done.stderr.contains("display-1-2.png, display-2.html, display-3.txt, display-4.png\n"), "{}", done.stderr);
    let read = |name: &str| std::fs::read(std::path::Path::new(out).join(name)).unwrap();
    assert_eq!(read("display-1.png"), b"mine");
    for picture in ["display-1-2.png", "display-4.png"] {
        assert!(read(picture).starts_with(b"\x89PNG\r\n\x1a\n"), "{picture}");
    }
    assert!(read("display-2.html").starts_with(b"<div>") && read("display-3.txt") == b"5");
    // Without a terminal nobody is told of the flag.
    assert_eq!(run(&["exec", "-c", "import matplotlib.pyplot as plt\nf = plt.figure()"]).exits(0).stderr, "");
}
