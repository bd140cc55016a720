import * as assert from "uvu/assert";
import { type Decider, fold } from "../../domain/decider.ts";

/** given(past).when(command).then(events) | .rejects(reason): pure, synchronous, no store. */
export const specFor =
  <S, C, E, R>(decider: Decider<S, C, E, R>) =>
  (...past: readonly E[]) => ({
    when: (command: C) => {
      const decision = decider.decide(command, fold(decider, past));
      return {
        // biome-ignore lint/suspicious/noThenProperty: given/when/then is how such tests are written; nothing awaits this
        then: (...expected: readonly E[]) => assert.equal(decision, { ok: true, events: expected }),
        thenNothing: () => assert.equal(decision, { ok: true, events: [] }),
        rejects: (rejection: R) => assert.equal(decision, { ok: false, rejection }),
      };
    },
  });
