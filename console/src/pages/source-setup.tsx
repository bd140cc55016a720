import { useState } from "preact/hooks";
import { Field } from "../../design/field.tsx";
import type { Filter } from "../../design/filter-values.ts";
import { StateMark } from "../../design/mark.tsx";
import { Loading } from "../../design/placeholders.tsx";
import { Secret } from "../../design/secret.tsx";
import { Breaking, Copied, Head, Section } from "../../design/text.tsx";
import { type AnswerOf, call } from "../api/api.ts";
import { mayIt } from "../api/may-decide.ts";
import { useNames } from "../api/names.ts";
import { hrefOf } from "../shell/addresses.ts";
import type { PageProps } from "../shell/page-props.ts";
import { go } from "../shell/router.ts";
import { useAnswer } from "../shell/use-answer.ts";
import { Act, whyNotAdmin } from "./act.tsx";
import { AddressCheck } from "./address-check.tsx";
import { useEndpointChoices, usePolicyChoices } from "./choices.ts";
import { FirstEvent } from "./first-event.tsx";
import { Choice, SendForm } from "./form.tsx";
import { Thing } from "./listing.tsx";

type Provider = AnswerOf<"GET /v1/capabilities">["providers"][number];
type Source = AnswerOf<"GET /v1/sources/{id}">;

const NAME_MAX = 100;
const SECRET_MAX = 512;
const NEW_ENDPOINT = "new";

/** What was made here and is shown once. It lives as long as the page, and nowhere else. */
type Made = { readonly source: string | null; readonly endpoint: string | null };
const NOTHING_MADE: Made = { source: null, endpoint: null };

const stepHref = (source: string, step: string): string => hrefOf("/sources/new", { source, step });

const ChooseProvider = ({
  providers,
  onMade,
}: {
  readonly providers: readonly Provider[];
  readonly onMade: (made: AnswerOf<"POST /v1/sources">) => void;
}) => (
  <SendForm
    label="Provider"
    button="Go on"
    send={({ type = "", name = "" }) => call("POST /v1/sources", { body: { type, name } })}
    onDone={onMade}
  >
    {(faultOf) => (
      <>
        <fieldset class="field">
          <legend class="lab">Who sends the events?</legend>
          <div class="pick">
            {providers.map(({ type, label }, at) => (
              <label key={type}>
                <input type="radio" name="type" value={type} defaultChecked={at === 0} /> {label}
              </label>
            ))}
          </div>
        </fieldset>
        <Field
          label="Name"
          name="name"
          required
          maxLength={NAME_MAX}
          fault={faultOf("name")}
          hint="People see it in every list, such as shop-stripe."
        />
      </>
    )}
  </SendForm>
);

type StepProps = { readonly source: Source; readonly onMade: (secret: string) => void };

const Destination = ({ source, onMade }: StepProps) => {
  const endpoints = useEndpointChoices();
  const policies = usePolicyChoices();
  const [picked, setPicked] = useState<string | null>(null);
  if (endpoints === null || policies === null) return <Loading rows={2} />;
  const chosen = picked ?? source.endpoint_id ?? endpoints[0]?.value ?? NEW_ENDPOINT;
  const send = async ({ endpoint = "", policy = "", name = "", url = "" }: Readonly<Record<string, string>>) => {
    let id = endpoint;
    if (endpoint === NEW_ENDPOINT) {
      const made = await call("POST /v1/endpoints", { body: { name, url } });
      if (!made.ok) return made;
      onMade(made.body.signing_secret);
      setPicked(made.body.id);
      ({ id } = made.body);
    }
    const body = { endpoint_id: id === "" ? null : id, policy_id: policy === "" ? null : policy };
    return call("PATCH /v1/sources/{id}", { params: { id: source.id }, body });
  };
  return (
    <SendForm label="Policy and endpoint" button="Go on" send={send} onDone={() => go(stepHref(source.id, "3"))}>
      {(faultOf) => (
        <>
          <Choice
            label="Where are its events sent?"
            name="endpoint"
            value={chosen}
            onChoose={setPicked}
            choices={[
              ...endpoints,
              { value: NEW_ENDPOINT, word: "A new endpoint" },
              { value: "", word: "Nowhere: they are recorded only" },
            ]}
          />
          {chosen === NEW_ENDPOINT ? (
            <>
              <Field
                label="Name of the endpoint"
                name="name"
                required
                maxLength={NAME_MAX}
                fault={faultOf("name")}
                hint="The application that receives, such as billing-app."
              />
              <Field
                label="Its address"
                name="url"
                type="url"
                required
                fault={faultOf("url")}
                hint="Each event is posted there, signed."
              />
            </>
          ) : null}
          <Choice label="Which policy decides?" name="policy" value={source.policy_id ?? ""} choices={policies} />
          <p class="meta">
            <a href="/policies/new" target="_blank" rel="noopener">
              Write a policy
            </a>{" "}
            in another tab if none of them fits; it is offered here once it is published.
          </p>
        </>
      )}
    </SendForm>
  );
};

type AddressProps = {
  readonly source: Source;
  readonly provider: Provider;
  readonly made: string | null;
  readonly onMade: (secret: string) => void;
  readonly onStored: () => void;
};

/** The first secret is gone when the page was left before it was stored: another is made, and shown once. */
const AnotherSecret = ({ source, onMade }: StepProps) => (
  <Act
    label="Make a new secret"
    act={() => call("POST /v1/sources/{id}/secret", { params: { id: source.id }, body: {} })}
    done={null}
    onDone={({ secret }) => {
      if (secret !== undefined) onMade(secret);
    }}
    why={whyNotAdmin()}
  />
);

const Address = ({ source, provider, made, onMade, onStored }: AddressProps) => {
  const isTheirs = provider.secret_from === "provider";
  const why = whyNotAdmin();
  const [isReplacing, setReplacing] = useState(false);
  return (
    <>
      <ol class="plain">
        {provider.steps.map((it) => (
          <li key={it}>{it}</li>
        ))}
      </ol>
      <Copied value={source.ingest_url} />
      {made !== null && !isTheirs ? (
        <Secret
          secret={made}
          title="This secret is shown once."
          text="It is stored sealed. If you lose it, make a new one on the page of the source."
          variable="WEBHOOK_SECRET"
          onDone={onStored}
        />
      ) : null}
      {why !== null ? (
        <p class="soft">{why}</p>
      ) : isTheirs || isReplacing ? (
        <SendForm
          label="Secret"
          button="Store the secret"
          send={({ secret = "" }) =>
            call("POST /v1/sources/{id}/secret", { params: { id: source.id }, body: { secret } })
          }
          done="The secret is stored."
          onDone={() => setReplacing(false)}
        >
          {(faultOf) => (
            <Field
              label={isTheirs ? `Signing secret from ${provider.label}` : "Secret of the sender"}
              name="secret"
              type="password"
              autocomplete="off"
              required
              maxLength={SECRET_MAX}
              fault={faultOf("secret")}
              hint="It is stored sealed and never shown again."
            />
          )}
        </SendForm>
      ) : (
        <p class="row">
          {made === null ? <AnotherSecret source={source} onMade={onMade} /> : null}
          <button class="btn" type="button" onClick={() => setReplacing(true)}>
            Paste another secret
          </button>
          {made === null ? (
            <span class="meta">
              The first one was shown once, if at all. If you have not kept it, make another: the first stays valid for
              24 h after that.
            </span>
          ) : null}
        </p>
      )}
    </>
  );
};

type DoneProps = {
  readonly nth: number;
  readonly what: string;
  readonly is: string;
  /** Where it is changed; null if it stays as it is, or this member may not change it. */
  readonly href: string | null;
};

/** A step that is done: one line. */
const Done = ({ nth, what, is, href }: DoneProps) => (
  <li class="done">
    <span aria-hidden="true">{nth}</span>
    <div>
      <div class="row">
        <StateMark value="delivered" word={what} />
        <span class="soft">
          <Breaking text={is} />
        </span>
        {href === null ? null : (
          <a class="end" href={href}>
            Change<span class="vh"> the {what.toLowerCase()}</span>
          </a>
        )}
      </div>
    </div>
  </li>
);

type StepsProps = {
  readonly source: Source;
  readonly provider: Provider;
  readonly step: string;
  readonly made: Made;
  readonly setMade: (made: Made) => void;
};

const Steps = ({ source, provider, step, made, setMade }: StepsProps) => {
  const nameOf = useNames();
  const { id } = source;
  const first = <Done nth={1} what="Provider" is={`${provider.label}, named ${source.name}`} href={null} />;
  if (step === "2")
    return (
      <ol class="setup">
        {first}
        <li>
          <span aria-hidden="true">2</span>
          <div>
            <h2>Policy and endpoint</h2>
            <Destination source={source} onMade={(endpoint) => setMade({ ...made, endpoint })} />
          </div>
        </li>
      </ol>
    );
  const decides =
    source.policy_id === null ? "no policy decides" : `${nameOf(source.policy_id) ?? "its policy"} decides`;
  const receives =
    source.endpoint_id === null
      ? "events are recorded only"
      : `${nameOf(source.endpoint_id) ?? "its endpoint"} receives`;
  return (
    <ol class="setup">
      {first}
      <Done
        nth={2}
        what="Policy and endpoint"
        is={`${decides}, ${receives}`}
        href={mayIt("admin") ? stepHref(id, "2") : null}
      />
      <li>
        <span aria-hidden="true">3</span>
        <div>
          {made.endpoint === null ? null : (
            <Secret
              secret={made.endpoint}
              title="The endpoint's signing secret is shown once."
              text="Your application checks with it that a request came from here."
              variable="COUNTERSIGN_SIGNING_SECRET"
              onDone={() => setMade({ ...made, endpoint: null })}
            />
          )}
          <h2>Give {provider.label} this address</h2>
          <Address
            source={source}
            provider={provider}
            made={made.source}
            onMade={(secret) => setMade({ ...made, source: secret })}
            onStored={() => setMade({ ...made, source: null })}
          />
        </div>
      </li>
      <li>
        <span aria-hidden="true">4</span>
        <div>
          <h2>Send a first event</h2>
          <FirstEvent id={id} from={provider.label} sampleTypes={provider.sample_types} />
        </div>
      </li>
    </ol>
  );
};

const SetUp = (
  props: Omit<StepsProps, "source"> & {
    readonly id: string;
    readonly providers: readonly Provider[];
    readonly query: PageProps["query"];
  },
) => {
  const { id, providers } = props;
  // The key has the step, because the step before changes the source.
  const shown = useAnswer<Source>({ key: `${id} ${props.step}`, on: { topic: "sources", id } }, () =>
    call("GET /v1/sources/{id}", { params: { id } }),
  );
  return (
    <Thing what="The source" shown={shown}>
      {(source) => (
        <>
          <Head
            title="Set up a source"
            meta={<span>Four steps. You can leave and come back at this address; only a shown secret is lost.</span>}
          />
          <AddressCheck filters={[stepFilter(true)]} query={props.query} />
          <Steps
            {...props}
            source={source}
            provider={providers.find((it) => it.type === source.type) ?? props.provider}
          />
        </>
      )}
    </Thing>
  );
};

const COMMANDS = [
  `countersign login --url ${location.origin}`,
  "countersign listen --forward http://localhost:3000",
  "countersign send --source shop payment_intent.succeeded",
  "countersign events show evt_…",
];

const STEPS = ["2", "3", "4"];
/** The first step is done once there is a source, and the only one before. */
const stepFilter = (hasSource: boolean): Filter => ({
  ...{ name: "step", label: "Step" },
  choices: (hasSource ? STEPS : ["1"]).map((value) => ({ value, word: value })),
  expects: hasSource ? "Choose one of the steps 2, 3 and 4." : "Without a source there is only step 1.",
});

/** The same without this page. */
const FromTerminal = () => (
  <Section title="Or try it from your terminal, in four commands">
    <p class="soft narrow">
      They sign you in, forward each event to a program on your machine, send a sample, and show what was decided. The
      third needs a source: set one up above first, and put its name for shop and one of its events' types last. Its
      answer has the id for the fourth.
    </p>
    <ol class="plain narrow">
      {COMMANDS.map((command) => (
        <li key={command}>
          <Copied value={command} />
        </li>
      ))}
    </ol>
  </Section>
);

/** Does it arrive? */
const SourceSetup = ({ query }: PageProps) => {
  const [made, setMade] = useState(NOTHING_MADE);
  const read = useAnswer<AnswerOf<"GET /v1/capabilities">>({ key: "capabilities", on: null }, () =>
    call("GET /v1/capabilities"),
  );
  return (
    <Thing what="The list of providers" shown={read}>
      {({ providers }) => {
        const [provider] = providers;
        if (provider === undefined) return null;
        if (query.source !== undefined)
          return (
            <SetUp id={query.source} step={query.step ?? "3"} {...{ query, providers, provider, made, setMade }} />
          );
        return (
          <>
            <Head title="Set up a source" meta={<span>Four steps; the last one waits for your first event.</span>} />
            <AddressCheck filters={[stepFilter(false)]} query={query} />
            <ol class="setup">
              <li>
                <span aria-hidden="true">1</span>
                <div>
                  <h2>Provider</h2>
                  <ChooseProvider
                    providers={providers}
                    onMade={({ id, secret = null }) => {
                      setMade({ ...NOTHING_MADE, source: secret });
                      go(stepHref(id, "2"), { isReplaced: true });
                    }}
                  />
                </div>
              </li>
            </ol>
            {mayIt("admin") ? <FromTerminal /> : null}
          </>
        );
      }}
    </Thing>
  );
};

export default SourceSetup;
