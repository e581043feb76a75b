"""The HTTP API keeps what its OpenAPI document says: no 500, no answer that is not described, whatever is asked."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("INCROWD", str(ROOT / "target/debug/incrowd"))
N_EXAMPLES = os.environ.get("N_EXAMPLES", "40")


def read_document(stream):
    text = ""
    while line := stream.readline():
        text += line
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            continue
    sys.exit("incrowd serve ended before it said where it is")


def fetch(server, path):
    request = urllib.request.Request(server["url"].split("/#")[0] + path)
    request.add_header("Authorization", f"Bearer {server['token']}")
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def content(folder):
    """Every file of the served folder, with its bytes."""
    project = pathlib.Path(folder) / "project"
    return {path: path.read_bytes() for path in sorted(project.rglob("*")) if path.is_file()}


def with_project(node, project):
    """Most questions name a project: a random one would be refused at the door, and nothing behind it be tested."""
    if isinstance(node, dict):
        properties = node.get("properties")
        if isinstance(properties, dict) and properties.get("project") == {"type": "string"}:
            properties["project"] = {"type": "string", "enum": [project]}
        for child in node.values():
            with_project(child, project)
    elif isinstance(node, list):
        for child in node:
            with_project(child, project)


def main():
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples/ten_records", pathlib.Path(folder) / "project")
        command = [PROGRAM, "serve", "--json", "--quiet", f"{folder}/project"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            server = read_document(process.stdout)
            schema = fetch(server, "/api/v1/openapi.json")
            with_project(schema, fetch(server, "/api/v1/about")["project"]["id"])
            file = pathlib.Path(folder) / "openapi.json"
            file.write_text(json.dumps(schema))
            st = pathlib.Path(sys.executable).with_name("st")

            def run(token, excluded, n_examples):
                command = [
                    str(st), "run", str(file), "--url", server["url"].split("/#")[0],
                    "--header", f"Authorization: Bearer {token}",
                    "--checks", "all", "--exclude-checks", excluded,
                    "--max-examples", n_examples, "--phases", "examples,coverage,fuzzing", "--seed", "1",
                    "--request-timeout", "30", "--no-color",
                ]
                return subprocess.run(command, cwd=folder).returncode

            # Documents of a project are checked by their meaning, which a schema cannot say.
            excluded = "positive_data_acceptance,missing_required_header"
            # Guests first: they leave everything as it is, and what is not theirs is refused however it is asked for.
            before = content(folder)
            failed = run(server["guest_token"], f"{excluded},unsupported_method", str(max(1, int(N_EXAMPLES) // 4)))
            if content(folder) != before:
                sys.exit("a guest has changed what is in the served folder")
            sys.exit(run(server["token"], excluded, N_EXAMPLES) or failed)
        finally:
            process.terminate()


if __name__ == "__main__":
    main()
