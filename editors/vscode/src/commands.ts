// The commands of the palette. Each sends a command of the server, with progress that can be cancelled.

import * as vscode from "vscode";
import { ExecuteCommandRequest, type LanguageClient } from "vscode-languageclient/node";

interface Page { title: string; html?: string; text?: string }
interface Verdict { fingerprint: string; status: string; device: string | null; detail: string | null }

type Running = () => LanguageClient | undefined;

export function addCommands(context: vscode.ExtensionContext, running: Running): void {
  const add = (name: string, work: (editor: vscode.TextEditor) => Promise<void>) =>
    context.subscriptions.push(
      vscode.commands.registerCommand(name, async () => {
        const editor = vscode.window.activeTextEditor;
        if (editor === undefined) return void vscode.window.showInformationMessage("modellint: open a file first.");
        try {
          await work(editor);
        } catch (error) {
          if (error instanceof vscode.CancellationError) return;
          vscode.window.showErrorMessage(`modellint: ${error instanceof Error ? error.message : error}`);
        }
      }),
    );

  add("modellint.fixFile", async (editor) => {
    const fixed = await ask<boolean>(running, "Fixing", "modellint.fixAll", editor);
    if (!fixed) vscode.window.showInformationMessage("modellint: there is nothing in this file that can be fixed safely.");
  });
  add("modellint.confirmFindings", async (editor) => {
    if (!vscode.workspace.isTrusted) throw new Error("confirming runs code: expected a trusted workspace.");
    const { verdicts } = await ask<{ verdicts: Verdict[] }>(running, "Confirming findings", "modellint.confirm", editor);
    const lines = verdicts.map((one) => `${one.status}${one.device ? ` (${one.device})` : ""}: ${one.detail ?? ""}`);
    await open({ title: "Verdicts", text: lines.join("\n") });
  });
  add("modellint.showMap", async (editor) => show(await ask<Page>(running, "Mapping", "modellint.map", editor)));
  add("modellint.showShapes", async (editor) => open(await ask<Page>(running, "Following shapes", "modellint.shapes", editor)));
  add("modellint.probeClass", async (editor) => {
    if (!vscode.workspace.isTrusted) throw new Error("a probe runs code: expected a trusted workspace.");
    await open(await ask<Page>(running, "Probing", "modellint.probe", editor));
  });
}

// The answer of the server to a command about the place of the cursor; files are saved before.
async function ask<T>(running: Running, title: string, command: string, editor: vscode.TextEditor): Promise<T> {
  const client = running();
  if (client === undefined || !client.isRunning()) throw new Error("the server is not running: run the command `modellint: Restart the Server`.");
  await editor.document.save();
  const uri = client.code2ProtocolConverter.asUri(editor.document.uri);
  const params = { command, arguments: [{ uri, line: editor.selection.active.line }] };
  return vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: `modellint: ${title}`, cancellable: true }, async (_, token) => {
    const answer: T = await client.sendRequest(ExecuteCommandRequest.type, params, token);
    if (token.isCancellationRequested) throw new vscode.CancellationError();
    return answer;
  });
}

// A page of modellint, which loads nothing and is shown as it is.
function show(page: Page): void {
  const panel = vscode.window.createWebviewPanel("modellint", page.title, vscode.ViewColumn.Beside, { enableScripts: true, localResourceRoots: [] });
  panel.webview.html = page.html ?? "";
}

async function open(page: Page): Promise<void> {
  const document = await vscode.workspace.openTextDocument({ content: `${page.title}\n\n${page.text ?? ""}\n`, language: "plaintext" });
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true, preserveFocus: true });
}
