"""The package itself: its types hold, and npm packs what it should."""

import json
import shutil
import subprocess

import pytest
from js.running import PACKAGE, run_script


def test_the_types_in_the_comments_hold(node):
    compiler = PACKAGE / "node_modules" / "typescript" / "bin" / "tsc"
    if not compiler.is_file():
        pytest.skip("typescript is not installed: npm install --prefix js")
    command = [node, str(compiler), "-p", "jsconfig.json"]
    done = subprocess.run(command, cwd=PACKAGE, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_npm_packs_the_modules_the_readme_and_the_licence():
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    command = [npm, "pack", "--dry-run", "--json", "--ignore-scripts", "--offline"]
    done = subprocess.run(command, cwd=PACKAGE, capture_output=True, text=True, check=True)
    packed = {file["path"] for file in json.loads(done.stdout)[0]["files"] if not file["path"].startswith("types/")}
    modules = {f"src/{path.name}" for path in (PACKAGE / "src").glob("*.js")}
    assert packed == modules | {"README.md", "LICENSE", "check.mjs", "package.json"}


def test_the_licence_is_that_of_the_repository():
    assert (PACKAGE / "LICENSE").read_text() == (PACKAGE.parent / "LICENSE").read_text()


def test_the_code_of_the_readme_runs(node, small_kit):
    code = (PACKAGE / "README.md").read_text(encoding="utf-8").split("```js\n")[1].split("```")[0]
    assert 'fromAddress("https://example.org/keyboard/kit/")' in code
    local = "async (name) => new Uint8Array(readFileSync(`${process.argv[1]}/${name}`)).buffer"
    code = code.replace('fromAddress("https://example.org/keyboard/kit/")', local)
    done = run_script(node, f'import {{ readFileSync }} from "node:fs";\n{code}', folder=small_kit)
    assert done.stderr == ""
    assert "candidates: [" in done.stdout  # of the explanation, which comes last
