// The extension: starts the language server, shows its state, and offers commands over `workspace/executeCommand`.

import * as vscode from "vscode";
import { LanguageClient, State, type LanguageClientOptions } from "vscode-languageclient/node";

import { addCommands } from "./commands";
import { findServer, MissingServerError } from "./server";

const LANGUAGES = ["python", "yaml", "json", "jsonc", "toml"];
const DOCUMENTS = [
  ...LANGUAGES.map((language) => ({ scheme: "file", language })),
  { notebook: "jupyter-notebook", language: "python" },
];

let client: LanguageClient | undefined;
let status: vscode.StatusBarItem;
let log: vscode.LogOutputChannel;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  log = vscode.window.createOutputChannel("modellint", { log: true });
  status = vscode.window.createStatusBarItem("modellint", vscode.StatusBarAlignment.Right, 90);
  status.name = "modellint";
  status.command = "modellint.showLog";
  context.subscriptions.push(
    log,
    status,
    vscode.commands.registerCommand("modellint.restart", () => restart(context)),
    vscode.commands.registerCommand("modellint.showLog", () => log.show()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      const starts = ["modellint.interpreter", "modellint.importStrategy", "modellint.enable"];
      if (starts.some((name) => event.affectsConfiguration(name))) void restart(context);
    }),
    vscode.languages.onDidChangeDiagnostics(() => show()),
    vscode.window.onDidChangeActiveTextEditor(() => show()),
  );
  addCommands(context, () => client);
  await restart(context);
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function restart(context: vscode.ExtensionContext): Promise<void> {
  const old = client;
  client = undefined;
  await old?.stop().catch((error: unknown) => log.error(String(error)));
  if (!vscode.workspace.getConfiguration("modellint").get<boolean>("enable", true)) {
    status.hide();
    return;
  }
  show("starting");
  try {
    const found = await findServer(context, log);
    const options: LanguageClientOptions = {
      documentSelector: DOCUMENTS,
      outputChannel: log,
      initializationOptions: settings(),
      synchronize: { configurationSection: "modellint" },
    };
    const started = new LanguageClient("modellint", "modellint", found, options);
    started.onDidChangeState(({ newState }) => {
      if (started === client) show(newState === State.Running ? undefined : newState === State.Starting ? "starting" : "stopped");
    });
    client = started;
    await started.start();
    show();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    log.error(message);
    show("stopped", message);
    await complain(error, message);
  }
}

// One message with what to do.
async function complain(error: unknown, message: string): Promise<void> {
  const actions = error instanceof MissingServerError ? ["Open Settings", "Show Log"] : ["Restart", "Show Log"];
  const chosen = await vscode.window.showErrorMessage(`modellint: ${message}`, ...actions);
  if (chosen === "Open Settings") await vscode.commands.executeCommand("workbench.action.openSettings", "modellint.interpreter");
  if (chosen === "Restart") await vscode.commands.executeCommand("modellint.restart");
  if (chosen === "Show Log") log.show();
}

// The settings of the server; those of the extension alone stay here.
function settings(): Record<string, unknown> {
  const all = vscode.workspace.getConfiguration("modellint");
  const names: string[] = Object.keys(vscode.extensions.getExtension("modellint.modellint")?.packageJSON?.contributes?.configuration?.properties ?? {});
  const own = new Set(["enable", "interpreter", "importStrategy", "trace.server"]);
  const found: Record<string, unknown> = {};
  for (const name of names.map((one) => one.replace(/^modellint\./, ""))) {
    const value = all.inspect(name);
    const set = value?.workspaceFolderValue ?? value?.workspaceValue ?? value?.globalValue;
    if (!own.has(name) && set !== undefined) found[name] = set;
  }
  return found;
}

// The status item: the number of findings in the active file, or the state of the server.
function show(state?: "starting" | "stopped", reason = ""): void {
  const document = vscode.window.activeTextEditor?.document;
  if (state === undefined && client?.state !== State.Running) return;
  const findings = document === undefined ? [] : vscode.languages.getDiagnostics(document.uri).filter((one) => one.source === "modellint");
  status.text = state === "starting" ? "$(loading~spin) modellint" : state === "stopped" ? "$(error) modellint" : findings.length ? `$(warning) modellint ${findings.length}` : "$(check) modellint";
  status.tooltip = state === "stopped" ? `modellint is not running. ${reason}` : state === "starting" ? "modellint is starting" : `${findings.length} finding${findings.length === 1 ? "" : "s"} in this file`;
  status.accessibilityInformation = { label: `modellint: ${status.tooltip}`, role: "button" };
  status.show();
}
