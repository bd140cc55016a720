export type { ActionTypes, AnyActions, PayloadOf, ResultOf } from "./actions.ts";
export type { Bundle, EndedBundle, FromResult, LeftStep, PendingBundle, Referring, Step, StepDone } from "./bundle.ts";
export { Countersign } from "./countersign.ts";
export { CountersignError, ERROR_CODES, type ErrorCode, type FieldError, isCountersignError } from "./errors.ts";
export {
  type ActionResult,
  type Ended,
  type Execution,
  type Failure,
  type GateResult,
  hasEnded,
  type Pending,
  type Verdict,
} from "./execution.ts";
export type {
  BundleOptions,
  CallOptions,
  ExecuteOptions,
  ExecutionOptions,
  Options,
  WaitOptions,
} from "./options.ts";
export type { Fetch, FetchAnswer, FetchCall } from "./platform.ts";
