/** Runs the verifier apart from the page, which so stays alive while a large export is read. */
import { type InputFile, inWords, platformHere, verifyFiles, wrongInput } from "../../src/verifier/index.ts";
import type { Answer, Question } from "./messages.ts";

const answer = (message: Answer): void => globalThis.postMessage(message);

/** Bytes between two reports of progress. */
const STEP_BYTES = 4 * 1024 * 1024;

let bytesRead = 0;
let bytesTold = 0;
const count = (bytes: number): void => {
  bytesRead += bytes;
  if (bytesRead - bytesTold < STEP_BYTES) return;
  bytesTold = bytesRead;
  answer({ kind: "progress", bytes: bytesRead });
};

async function* bytesOf(file: File): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      count(value.length);
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}

const inputFile = (file: File): InputFile => ({ name: file.name, size: file.size, bytes: () => bytesOf(file) });

const checked = async ({ files, previous, keys, witnesses }: Question): Promise<Answer> => {
  const kept = await Promise.all(previous.map((file) => file.text()));
  const [inputs, options] = [files.map(inputFile), { keys, witnesses, previous: kept }];
  const wrong = await wrongInput(inputs, options, platformHere());
  if (wrong !== null) return { kind: "failure", reason: wrong };
  const report = await verifyFiles(inputs, options, platformHere());
  return { kind: "report", verdict: report.verdict, lines: inWords(report) };
};

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.name === "NotSupportedError"
    ? "This browser cannot check Ed25519 signatures. Use a newer one, or the command."
    : `${error.name}: ${error.message}`;
};

globalThis.onmessage = ({ data }: MessageEvent<Question>) => {
  checked(data).then(answer, (error) => answer({ kind: "failure", reason: reasonOf(error) }));
};
