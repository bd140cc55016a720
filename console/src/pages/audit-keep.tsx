import type { ComponentType } from "preact";
import { useState } from "preact/hooks";
import { Loading } from "../../design/placeholders.tsx";
import { Copied, Section } from "../../design/text.tsx";
import { toast } from "../../design/toast.tsx";
import { callText } from "../api/api.ts";
import { useAnswer } from "../shell/use-answer.ts";

/** What an auditor takes along: the records with their proofs, and a checkpoint to hold against later ones. */
export const Keep = () => {
  const checkpoint = useAnswer<string>({ key: "checkpoint", on: null }, () => callText("GET /v1/audit/checkpoint"));
  const key = useAnswer<string>({ key: "key", on: null }, () => callText("GET /v1/audit/key"));
  const [Opened, setOpened] = useState<ComponentType<{ readonly onClose: () => void }> | null>(null);
  const open = async (name: "ExportRecords" | "EvidencePack"): Promise<void> => {
    const layers = await import("./audit-export.tsx").catch(() => null);
    if (layers === null) toast.value = { text: "Nothing can be exported without a connection." };
    else setOpened(() => layers[name]);
  };
  return (
    <Section title="Take it along">
      <div class="stack tight">
        <p>
          An export has every record with the proof that it is sealed. <code>countersign verify FILE --key KEY</code>{" "}
          checks it without this service, and says which record was changed, removed or put in, if one was. It does not
          say whether a record is true, or whether something was done without a record.
        </p>
        <p class="row">
          <a class="btn" href="/v1/audit/export" download="audit.ndjson">
            Export all records
          </a>
          <button class="btn" type="button" onClick={() => void open("ExportRecords")}>
            A period, or with payloads…
          </button>
          <button class="btn" type="button" onClick={() => void open("EvidencePack")}>
            Evidence pack…
          </button>
          <a class="btn" href="/verify.html" download="verify.html">
            Save the verifier
          </a>
        </p>
        {key.body === null ? (
          key.problem === null ? (
            <Loading rows={1} />
          ) : null
        ) : (
          <>
            <h3>The service's key</h3>
            <Copied value={key.body.trim()} />
          </>
        )}
        {checkpoint.body === null ? (
          checkpoint.problem === null ? (
            <Loading rows={2} />
          ) : (
            <p class="soft">{checkpoint.problem.detail}</p>
          )
        ) : (
          <>
            <h3>The newest checkpoint</h3>
            <p class="soft">
              Keep it outside. A later export that does not contain these records was rewritten, and the check says so.
            </p>
            <Copied value={checkpoint.body} />
          </>
        )}
      </div>
      {Opened === null ? null : <Opened onClose={() => setOpened(null)} />}
    </Section>
  );
};
