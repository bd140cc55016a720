"""Writes a program that makes the calls of calls.json with the client that openapi-python-client has generated.

It prints a line for each call: the operation and its status. mypy knows the type of everything in it.
"""

import importlib
import inspect
import json
import sys
import typing
from pathlib import Path
from typing import Any

from openapi_python_client.strings import PythonIdentifier

HEAD = '''import httpx

from client import AuthenticatedClient, Client, errors
from client import models
from client.types import Response

URL = {url!r}
LIMIT = httpx.Timeout(30)
# A stream never ends, so the client gives up hearing it.
BRIEF = httpx.Timeout(1)
session = AuthenticatedClient(
    URL, {cookie!r}, prefix="", auth_header_name="cookie", headers={{"sec-fetch-site": "same-origin"}}, timeout=LIMIT
)
key = AuthenticatedClient(URL, {key!r}, timeout=LIMIT)
agent = AuthenticatedClient(URL, {agentKey!r}, timeout=LIMIT)
token = AuthenticatedClient(URL, {token!r}, timeout=LIMIT)
none = Client(URL, timeout=LIMIT)


def show(operation: str, status: int, parsed: object, is_empty: bool) -> None:
    if parsed is None and not is_empty and status != 204:
        raise TypeError(f"{{operation}} answers {{status}} with something that its types do not have")
    print(operation, status, getattr(parsed, "code", ""))


'''


def module_of(call: dict[str, Any]) -> str:
    tag = PythonIdentifier(call["tag"], "")
    return f"client.api.{tag}.{PythonIdentifier(call['operationId'], '')}"


def named(values: dict[str, Any]) -> list[str]:
    return [f"{PythonIdentifier(name, 'field_')}={value!r}" for name, value in values.items()]


def body_of(call: dict[str, Any], module: str) -> list[str]:
    if "body" not in call:
        return []
    annotation = inspect.signature(importlib.import_module(module).sync_detailed).parameters["body"].annotation
    models = [it.__name__ for it in typing.get_args(annotation) or [annotation] if hasattr(it, "from_dict")]
    value = repr(call["body"])
    return [f"body=models.{models[0]}.from_dict({value})" if models else f"body={value}"]


def written(call: dict[str, Any]) -> str:
    module = module_of(call)
    parameters = call["parameters"]
    given = [repr(value) for value in parameters["path"].values()]
    is_endless = call["contentType"] == "text/event-stream"
    client = f"{call['credential']}.with_timeout(BRIEF)" if is_endless else call["credential"]
    given += [f"client={client}", *named(parameters["query"]), *named(parameters["header"]), *body_of(call, module)]
    name = call["operationId"]
    line = f"{module}.sync_detailed({', '.join(given)})"
    if is_endless:
        return f"try:\n    {line}\nexcept httpx.ReadTimeout:\n    show({name!r}, 200, None, True)\n"
    is_empty = "True" if call["contentType"] is None else "False"
    variable = PythonIdentifier(name, "")
    return f"{variable} = {line}\nshow({name!r}, {variable}.status_code, {variable}.parsed, {is_empty})\n"


def main() -> None:
    folder = Path(sys.argv[1])
    sys.path.insert(0, str(folder))
    given = json.loads((folder / "calls.json").read_text())
    calls = given["calls"]
    imports = sorted({f"import {module_of(call)}\n" for call in calls})
    text = "".join(imports) + HEAD.format(**given["world"]) + "".join(written(call) for call in calls)
    (folder / "calls.py").write_text(text)


main()
