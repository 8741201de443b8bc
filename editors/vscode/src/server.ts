// Finds the server: in the interpreter of the workspace, or the copy in the extension run by any Python from 3.10.

import { execFile } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";
import type { ServerOptions } from "vscode-languageclient/node";

export class MissingServerError extends Error {}

const run = promisify(execFile);
const WAIT = 20_000;
// Prints the version of Python, and if modellint with its language server can be imported.
const PROBE =
  "import sys, importlib.util as u; find = lambda n: u.find_spec(n) is not None; " +
  "print(sys.version_info[0], sys.version_info[1], int(find('modellint') and find('pygls')))";
// The process imports nothing from the folder that it runs in.
const START = "import sys; sys.path[:] = [p for p in sys.path if p]; {insert}from modellint.__main__ import main; sys.argv[0] = 'modellint'; main(['server'])";

interface Python {
  command: string;
  hasModellint: boolean;
}

export async function findServer(context: vscode.ExtensionContext, log: vscode.LogOutputChannel): Promise<ServerOptions> {
  const settings = vscode.workspace.getConfiguration("modellint");
  const bundled = path.join(context.extensionPath, "bundled");
  const prefersOwn = settings.get<string>("importStrategy", "fromEnvironment") === "fromEnvironment";
  const named = (settings.get<string | null>("interpreter") ?? "").trim();
  const candidates = named ? [resolve(named)] : [...(await ofWorkspace()), ...(process.platform === "win32" ? ["py", "python"] : ["python3", "python"])];
  const found: Python[] = [];
  for (const command of new Set(candidates)) {
    const one = await probe(command, log);
    if (one === undefined) continue;
    found.push(one);
    if (prefersOwn && one.hasModellint) {
      log.info(`modellint of ${command}`);
      return server(command, "");
    }
  }
  if (found.length > 0 && fs.existsSync(bundled)) {
    log.info(`modellint of the extension, run by ${found[0].command}`);
    return server(found[0].command, `sys.path.insert(0, ${JSON.stringify(bundled)}); `);
  }
  if (found.length > 0) {
    throw new MissingServerError(`${found[0].command} has no modellint: run \`pip install 'modellint[lsp]'\` there, or name another interpreter in the setting modellint.interpreter.`);
  }
  const what = named ? `the interpreter \`${named}\` is no Python from 3.10 on` : "no Python from 3.10 on was found";
  throw new MissingServerError(`${what}. Install Python, or name an interpreter in the setting modellint.interpreter.`);
}

function server(command: string, insert: string): ServerOptions {
  const cwd = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  return { command, args: ["-c", START.replace("{insert}", insert)], options: { cwd, env: { ...process.env, PYTHONUNBUFFERED: "1" } } };
}

// A path of the settings, with the folder of the workspace filled in.
function resolve(named: string): string {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
  return named.replaceAll("${workspaceFolder}", folder).replace(/^~(?=\/|\\|$)/, process.env.HOME ?? "~");
}

// The interpreters of the workspace: the one that the Python extension has chosen, then those of usual folders.
async function ofWorkspace(): Promise<string[]> {
  const found: string[] = [];
  const extension = vscode.extensions.getExtension("ms-python.python");
  if (extension !== undefined) {
    try {
      const api = extension.isActive ? extension.exports : await extension.activate();
      const chosen: unknown = api?.environments?.getActiveEnvironmentPath?.(vscode.workspace.workspaceFolders?.[0]?.uri)?.path;
      if (typeof chosen === "string" && chosen) found.push(chosen);
    } catch {
      // An extension that cannot be activated names no interpreter.
    }
  }
  const bin = process.platform === "win32" ? ["Scripts", "python.exe"] : ["bin", "python"];
  for (const folder of vscode.workspace.workspaceFolders ?? []) {
    for (const name of [".venv", "venv"]) {
      const file = path.join(folder.uri.fsPath, name, ...bin);
      if (fs.existsSync(file)) found.push(file);
    }
  }
  return vscode.workspace.isTrusted ? found : [];
}

// What an interpreter says of itself; undefined for one that cannot run the server.
async function probe(command: string, log: vscode.LogOutputChannel): Promise<Python | undefined> {
  try {
    const { stdout } = await run(command, ["-I", "-c", PROBE], { timeout: WAIT });
    const [major, minor, has] = stdout.trim().split(" ").map(Number);
    if (major === 3 && minor >= 10) return { command, hasModellint: has === 1 };
    log.info(`${command} is Python ${major}.${minor}; expected 3.10 or later`);
  } catch (error) {
    log.info(`${command} cannot be run: ${error instanceof Error ? error.message.split("\n")[0] : error}`);
  }
  return undefined;
}
